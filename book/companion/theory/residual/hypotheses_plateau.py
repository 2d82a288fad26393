"""Controls of the escape from the plateau and of large residual coefficients: networks of one or two dimensions."""

import math

import torch
from jaxtyping import Float
from torch import Tensor

from companion.theory.residual.hypotheses import SMOOTH, matrix, six, stepped
from shallowformer.residual import gradients, model
from shallowformer.residual.parameters import Parameters, Setting
from shallowformer.residual.smoothed import RELU, SmoothedReLU

Sides = tuple[float, float]

#: Two tokens ±1, a mean of 0, and outputs that cannot differ while attention is silent: 𝓜 = −2U(g_f + ½W_1W_2)V = −5/2.
PAIR, WANTED = matrix([1.0], [-1.0])[None], matrix([1.0], [-1.0])[None]
PLATEAU, MU, EPSILON = Setting(0.0, 1.0, SMOOTH), 0.1, 1e-8
REACHED = 1000 * EPSILON
BESIDE = (-2.0, -0.5)  # W_1, W_2


def largest_pair(
    Y: Float[Tensor, "..."], setting: Setting, sign: float, w: tuple[float, float] = (1.0, 0.5)
) -> float:
    """The largest ‖(W_Q, W_K)‖ in 500 steps of 1/10 from W_Q = ε/√2 = ±W_K, V = U = 1; ε = 10⁻⁸."""
    e = EPSILON / math.sqrt(2)
    theta = six(W_Q=[[e]], W_K=[[sign * e]], W_V=[[1.0]], W_1=[[w[0]]], W_2=[[w[1]]], W_U=[[1.0]])
    most = 0.0
    for _ in range(500):
        theta = stepped(PAIR, Y, theta, setting, MU)
        most = max(most, math.hypot(float(theta.W_Q), float(theta.W_K)))
        if most >= REACHED:
            break
    return most


def wrong_direction(kept: bool) -> Sides:
    """The size r = 1000ε against the largest pair: W_Q = −W_K, orthogonal to what grows (ϖ = 0), or W_Q = W_K, all of it (ϖ = 1).

    W_Q = −W_K is kept by every step, so W_QW_K ≤ 0 stays on the side where 𝓜 drives it back to 0. For ϖ = 1 the theorem asks for at most
    log(2000)/log(1 + μ·5/2) + 1 = 35 steps.
    """
    return REACHED, largest_pair(WANTED, PLATEAU, 1.0 if kept else -1.0)


def no_coupling(kept: bool) -> Sides:
    """The same for targets 0, where 𝓜 = 0 and nothing moves, or for targets ±1."""
    return REACHED, largest_pair(WANTED if kept else 0 * WANTED, PLATEAU, 1.0)


def moving_rest(kept: bool) -> Sides:
    """The same from other blocks that are not stationary: g = 1 and targets a tenth further out than the outputs; or on the plateau.

    W_1 = −2, W_2 = −½: there the Hessian of the four blocks is positive semidefinite, below 8 (``hessian_of_rest``), and 𝓜 = −0.3, so the
    theorem's formula would give 258 steps. But the loss falls to 0, and with it 𝓜.
    """
    if kept:
        return REACHED, largest_pair(WANTED, PLATEAU, 1.0)
    with_residual = Setting(1.0, 1.0, SMOOTH)
    return REACHED, largest_pair(_further_out(with_residual), with_residual, 1.0, BESIDE)


def _further_out(setting: Setting) -> Tensor:
    """Targets 0.1 beyond the outputs at silent attention."""
    theta = six(W_Q=[[0.0]], W_K=[[0.0]], W_V=[[1.0]], W_1=[[BESIDE[0]]], W_2=[[BESIDE[1]]], W_U=[[1.0]])
    return model.outputs(PAIR, theta, setting) + 0.1 * PAIR


def hessian_of_rest() -> Float[Tensor, " k"]:
    """Eigenvalues of the Hessian in (W_V, W_1, W_2, W_U) at the start of ``moving_rest``."""
    setting = Setting(1.0, 1.0, SMOOTH)
    Y = _further_out(setting)

    def loss(z: Tensor) -> Tensor:
        zero = torch.zeros(1, 1, dtype=z.dtype)
        theta = Parameters(zero, zero, *(part.reshape(1, 1) for part in z))
        return (model.unchecked(PAIR, theta, setting).F - Y).square().sum() / 2

    return torch.linalg.eigvalsh(torch.func.hessian(loss)(torch.tensor([1.0, *BESIDE, 1.0]).double()))


# Coefficients.
def negative_coefficient(kept: bool) -> Sides:
    """|F_g − F_1 with W_V/g and gW_U| against 0, for ReLU, one token 1, V = 0, W_1 = W_2 = U = 1, g_f = 1, g = −2 or 2; by hand."""
    g = 2 if kept else -2
    relu = lambda x: max(x, 0)
    return abs((g + relu(g)) - (1 + relu(1)) * g), 0


def fixed_step(kept: bool) -> Sides:
    """|Φ_g(1)/g² − ℓ_1| against 10/g at g = 1000 for the step ½ or ½/g²: one token 1, target 0, V = 0, U = g_f = 1, and W_1 = W_2 = 0, which stay.

    F = (g + V)U, so V_1 = −μg and U_1 = 1 − μg²; h = U and ℓ_1 = 1/8.
    """
    g = 1000.0
    mu = 0.5 / g**2 if kept else 0.5
    return abs(((1 - mu) * (1 - mu * g**2)) ** 2 / 2 - 1 / 8), 10 / g


def growing_start(kept: bool) -> Sides:
    """|Φ_g(0)/g² − ℓ_0| against 10/g at g = 1000 for the start V = g or V = 1 of the same network; ℓ_0 = ½."""
    g = 1000.0
    return abs((1 + (1.0 if kept else g) / g) ** 2 / 2 - 0.5), 10 / g


def silent_outputs(kept: bool) -> Sides:
    """The size g against Φ_g(0) at g = 1000, which should tend to ∞, for U = 0, where ℓ_0 = 0, or U = 1: the same network, target 1."""
    g = 1000.0
    return g, (g * (1.0 if kept else 0.0) - 1) ** 2 / 2


def at_the_corner(kept: bool) -> Sides:
    """|Φ_g(1)/g² − ℓ_1| against 10/g at g = 10⁴, c = 1/10, for ReLU or the smoothed ReLU of width g, at a start with XW_1 = 0 and XW_V W_1 = 1.

    The token of the limit network sits on the corner, where its neuron is off; every g < ∞ moves it to the right, where it is on.
    """
    g, c, zero = 1e4, 0.1, [[0.0], [0.0]]
    theta = six(
        W_Q=zero, W_K=zero, W_V=[[0.0, 1.0], [0.0, 0.0]], W_1=[[0.0], [1.0]], W_2=[[0.0, -2.0]], W_U=[[1.0], [1.0]]
    )  # fmt: skip
    X, Y = matrix([1.0, 0.0])[None], matrix([0.0])[None]
    setting = Setting(g, 1.0, SmoothedReLU(g) if kept else RELU)
    after = stepped(X, Y, theta, setting, c / g**2)
    # The attention-free network is the same with g = 1, V = 0; its V is not trained.
    free = Setting(1.0, 1.0, SMOOTH if kept else RELU)
    quiet = theta._replace(W_V=torch.zeros(2, 2).double())
    slope = gradients.gradients(X, Y, quiet, free)
    limit = Parameters(*(W - c * D for W, D in zip(quiet, slope, strict=True)))._replace(W_V=quiet.W_V)
    return abs(float(model.loss(X, Y, after, setting)) / g**2 - float(model.loss(X, Y, limit, free))), 10 / g

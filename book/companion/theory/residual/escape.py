"""The plateau of silent attention and the way out: the coupling matrix 𝓜 = ∂Φ/∂(W_QW_Kᵀ), and how many steps its norm allows."""

import math

import torch
from jaxtyping import Float
from torch import Generator, Tensor

from companion.theory.residual.collapse import centred
from shallowformer import arguments
from shallowformer.contracts import Count, Positive, contract
from shallowformer.residual import gradients, model
from shallowformer.residual.gradients import summed
from shallowformer.residual.parameters import Parameters, Setting


def coupling(
    X: Float[Tensor, "*s P N d"], Y: Float[Tensor, "*s P N K"], theta: Parameters, setting: Setting
) -> Float[Tensor, "*s d d"]:
    """𝓜 = ∂Φ/∂(W_QW_Kᵀ) = T⁻¹ Σ_p X_pᵀ T_p X_p, with ∇_{W_Q} = 𝓜W_K and ∇_{W_K} = 𝓜ᵀW_Q. Source: Ours."""
    now = gradients.backward(X, Y, theta, setting)
    return summed(X, now.T @ X) / setting.divisor(theta)


def coupling_at_means(
    X: Float[Tensor, "P N d"], Y: Float[Tensor, "P N K"], theta: Parameters, setting: Setting
) -> Float[Tensor, "d d"]:
    """𝓜 on the plateau, W_Q = W_K = 0 = g and means fitted: −(1/(NT)) Σ_p (X_pᵀΠY_p) J_p W_Vᵀ (X_pᵀΠX_p).

    J_p = W_Uᵀ(g_f I + W_2ᵀ diag φ′(W_1ᵀz_p) W_1ᵀ) is the slope of what comes behind attention, at z_p = W_Vᵀx̄_p; the arguments' own
    W_Q, W_K and g are not used. Source: Ours.
    """
    model.check(X, theta, setting, Y)
    total = torch.zeros_like(theta.W_V)
    for tokens, targets in zip(X, Y, strict=True):
        slope = setting.activation.first(tokens.mean(0) @ theta.W_V @ theta.W_1)
        J = theta.W_U.T @ (setting.g_f * torch.eye(len(theta.W_V)).to(X) + (theta.W_1 * slope @ theta.W_2).T)
        total -= tokens.T @ centred(targets) @ J @ theta.W_V.T @ (tokens.T @ centred(tokens))
    return total / (X.shape[1] * setting.divisor(theta))


@contract
def plateau(
    X: Float[Tensor, "P N d"],
    theta: Parameters,
    setting: Setting,
    generator: Generator,
    deviation: Positive = 1.0,
) -> Float[Tensor, "P N K"]:
    """Targets that put θ with W_Q = W_K = 0 = g on the plateau: its outputs, plus Gaussian numbers whose mean over each sequence is 0.

    The means are then fitted exactly: the other four blocks are at a minimum of the one-token problem, Φ is Φ_floor. The arguments' own
    W_Q, W_K and g are not used.

    Args:
        deviation: standard deviation of the Gaussian numbers.
    """
    model.check(X, theta, setting)
    mean = X.mean(1, keepdim=True).expand_as(X)
    outputs = model.unchecked(
        mean, theta, Setting(0.0, setting.g_f, setting.activation, setting.temperature)
    ).F
    noise = torch.randn(outputs.shape, generator=generator, dtype=X.dtype, device=X.device)
    return outputs + deviation * centred(noise)


@contract
def growth(M: Float[Tensor, "d d"], mu: Positive) -> float:
    """The factor q = 1 + μ‖𝓜‖ by which W_Q and W_K grow a step."""
    return 1 + mu * float(torch.linalg.matrix_norm(M, 2))


def aligned(M: Float[Tensor, "d d"], W_Q: Float[Tensor, "d d_k"], W_K: Float[Tensor, "d d_k"]) -> float:
    """The share y = ‖uᵀW_Q − vᵀW_K‖/(√2 ‖(W_Q, W_K)‖_F) of a start that grows fastest, u and v the first singular vectors of 𝓜.

    The first singular value of 𝓜 is simple, and the start not 0.
    """
    U, _, Vt = torch.linalg.svd(M)
    size = arguments.positive("the norm of W_Q and W_K", math.hypot(float(W_Q.norm()), float(W_K.norm())))
    return float((U[:, 0] @ W_Q - Vt[0] @ W_K).norm()) / (math.sqrt(2) * size)


@contract
def times(eps: Positive, r: float, y: Positive, q: float) -> tuple[float, float, float]:
    """Bounds on the first step at which ‖(W_Q, W_K)‖_F ≥ r from size ε, and the prediction log(r/(yε))/log q between them.

    Returns: (log(r/ε) − log(1 + y/2))/log q, the prediction, and log(2r/(yε))/log q + 1; y ≤ 1 is the share of the start that grows,
    q > 1 its growth a step.
    """
    arguments.at_least("r", r, eps)
    arguments.at_most("y", y, "1", 1.0 + 1e-12)
    unit = math.log(arguments.at_least("q", q, 1 + 1e-15))
    decades = math.log(r / eps)
    return (
        (decades - math.log1p(y / 2)) / unit,
        (decades - math.log(y)) / unit,
        (decades + math.log(2 / y)) / unit + 1,
    )


@contract
def steps_until(
    X: Float[Tensor, "*s P N d"],
    Y: Float[Tensor, "*s P N K"],
    theta: Parameters,
    setting: Setting,
    *,
    mu: Positive,
    r: Positive,
    limit: Count,
) -> list[int]:
    """The first step, of at most ``limit``, at which ‖(W_Q, W_K)‖_F ≥ r, by running; of every network side by side."""
    model.check(X, theta, setting, Y)
    first = torch.full(X.shape[:-3], -1)
    for step in range(limit + 1):
        size = (theta.W_Q.square().sum((-2, -1)) + theta.W_K.square().sum((-2, -1))).sqrt()
        first = torch.where((first < 0) & (size >= r), step, first)
        if bool((first >= 0).all()):
            return first.reshape(-1).tolist()
        slope = gradients.unchecked(X, Y, theta, setting).gradients
        theta = Parameters(*(W - mu * change for W, change in zip(theta, slope, strict=True)))
    raise ValueError(f"limit must be large enough for every network to reach r = {r:g}, got {limit}")

"""A certified bound on the Hessian over a ball: how fast each layer can move there, and how much that can bend, block by block.

A direction δ has six block norms n = (‖δ_Q‖_F, …, ‖δ_U‖_F). Each derivative of a layer is below a linear form ℓᵀn, each second derivative
below a quadratic form nᵀMn, with coefficients of at least 0 that hold on the whole ball: ‖ℓ‖ and λ_max(M) bound them for unit δ. The bounds
are proved; what is computed of them is subject to rounding only (and to Lanczos having found the largest eigenvalue, which it meets to rounding).
"""

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from torch import Tensor

from shallowformer import arguments
from shallowformer.residual import curvature, model
from shallowformer.residual.parameters import BLOCKS, Parameters, Setting
from shallowformer.residual.spectra import largest, stacked

#: ‖D²softmax[u, u]‖ ≤ ‖u‖²: its entries s_i(y_i² − v), with y centred and v = Σ s_i y_i², add up in size to at most 2v, and v ≤ ½‖u‖².
SOFTMAX_CURVATURE = 1.0


@dataclass(frozen=True)
class Local:
    """What holds everywhere on a ball around θ⁽⁰⁾.

    Args:
        radius: of the ball.
        first_Z: ℓ with ‖DZ̄[δ]‖_F ≤ ℓᵀn.
        first_A: the same of Ā.
        first_H: the same of H̄.
        first_F: the same of all outputs.
        second_F: M with ‖D²F̄[δ, δ]‖_F ≤ nᵀMn.
    """

    radius: float
    first_Z: Float[np.ndarray, "6"]
    first_A: Float[np.ndarray, "6"]
    first_H: Float[np.ndarray, "6"]
    first_F: Float[np.ndarray, "6"]
    second_F: Float[np.ndarray, "6 6"]

    @property
    def lipschitz_A(self) -> float:
        """‖Ā(θ) − Ā(θ′)‖_F ≤ this times ‖θ − θ′‖ on the ball."""
        return float(np.linalg.norm(self.first_A))

    @property
    def bend(self) -> float:
        """‖J(θ) − J(θ′)‖ ≤ this times ‖θ − θ′‖ on the ball, J the Jacobian of all outputs."""
        return float(np.linalg.eigvalsh(self.second_F)[-1])


def local(X: Float[Tensor, "P N d"], theta: Parameters, setting: Setting, radius: float) -> Local:
    """The forms, from norms at the centre and what the radius can add to them.

    Args:
        X: tokens.
        theta: centre.
        setting: coefficients, activation, temperature.
        radius: of the ball, at least 0.

    Raises:
        ValueError: as ``model.forward``; an activation whose derivative is not Lipschitz (τ = 0); ``radius`` below 0.
    """
    r = arguments.at_least("radius", radius, 0.0)
    now, T = model.forward(X, theta, setting), setting.divisor(theta)
    if setting.activation.tau == 0:
        raise ValueError(
            "activation must have a Lipschitz derivative (tau above 0) to bend by a bounded amount, got tau = 0, ReLU"
        )
    Q, K, V, W_1, W_2, U = np.eye(len(BLOCKS))
    w = Parameters(*(float(largest(W)) + r for W in theta))
    at_start = lambda M: float(largest(stacked(M)))
    x, values = largest(X), largest(X @ theta.W_V) + largest(X) * r
    over_all = lambda squares: math.sqrt(float(squares.sum()))

    # Logits: ‖dL_p‖ ≤ ‖X_p‖² ℓᵀn, ‖d²L_p‖ ≤ ‖X_p‖² nᵀMn; weights move by half of it.
    first_L, second_L = (w.W_K * Q + w.W_Q * K) / T, 2 / T * _sym(Q, K)
    pooled = at_start(now.S @ X) + r * over_all(x**6) * float(np.linalg.norm(first_L)) / 2
    first_Z = over_all(x**4 * values**2) / 2 * first_L + pooled * V
    second_Z = (
        SOFTMAX_CURVATURE * over_all(x**8 * values**2) * _sym(first_L, first_L)
        + over_all(x**4 * values**2) / 2 * second_L
        + over_all(x**6) * _sym(first_L, V)
    )
    z = at_start(now.Z) + r * float(np.linalg.norm(first_Z))
    first_A = w.W_1 * first_Z + z * W_1
    second_A = setting.activation.beta * _sym(first_A, first_A) + w.W_1 * second_Z + 2 * _sym(first_Z, W_1)
    a = at_start(now.A) + r * float(np.linalg.norm(first_A))
    first_H = setting.g_f * first_Z + w.W_2 * first_A + a * W_2
    second_H = setting.g_f * second_Z + w.W_2 * second_A + 2 * _sym(first_A, W_2)
    h = at_start(now.H) + r * float(np.linalg.norm(first_H))
    first_F = w.W_U * first_H + h * U
    second_F = w.W_U * second_H + 2 * _sym(first_H, U)
    return Local(r, first_Z, first_A, first_H, first_F, second_F)


def smoothness(
    X: Float[Tensor, "P N d"],
    Y: Float[Tensor, "P N K"],
    theta: Parameters,
    setting: Setting,
    radius: float,
) -> float:
    """L ≥ max ‖∇²Φ‖ over the ball, certified: any step μ ≤ 1/L is one that the theorems allow.

    With the Jacobian J₀ and the errors e₀ = √(2Φ) at the centre and H the ``bend``: (‖J₀‖ + rH)² + (e₀ + r‖J₀‖ + ½r²H)H.

    Args:
        X: tokens.
        Y: targets.
        theta: centre.
        setting: coefficients, activation, temperature.
        radius: of the ball, at least 0.

    Raises:
        ValueError: as ``local`` and ``curvature.largest``.
    """
    e = math.sqrt(2 * float(model.loss(X, Y, theta, setting)))
    r, H = radius, local(X, theta, setting, radius).bend
    # Where every error is 0 the Hessian is JᵀJ.
    J = math.sqrt(curvature.largest(X, model.outputs(X, theta, setting), theta, setting))
    return (J + r * H) ** 2 + (e + r * J + r**2 * H / 2) * H


def _sym(u: np.ndarray, v: np.ndarray) -> np.ndarray:
    """The matrix of the form (uᵀn)(vᵀn)."""
    return (np.outer(u, v) + np.outer(v, u)) / 2

"""Certificates in closed form: from which errors and with which steps descent provably ends at zero loss, by four singular values.

Throughout, theta is θ⁽⁰⁾, whose blocks may be 0, and delta δ, in (0, 1), which comes out smaller where it says so.
"""

import math
from collections.abc import Callable

from jaxtyping import Float
from scipy.optimize import brentq
from torch import Tensor

from companion.theory.residual import derivatives, tangent
from companion.theory.residual.path_length import Certificate
from shallowformer import arguments
from shallowformer.contracts import Level, contract
from shallowformer.residual import model
from shallowformer.residual.parameters import Parameters, Setting
from shallowformer.residual.spectra import check_pl_2, smallest, stacked


def by_kernel(
    X: Float[Tensor, "P N d"], theta: Parameters, setting: Setting, delta: float = 0.5
) -> Certificate:
    """Theorem E: s_0 = σ_min(J_0), which falls by at most M_2 a unit of length."""
    s_0, J_0 = tangent.ends(X, theta, setting)
    _full("the Jacobian of all outputs", s_0, J_0)
    bend = lambda r: float(derivatives.forms(X, theta, setting, r).M_2)
    r = _solved(s_0, bend, delta)
    return Certificate(s_0, bend(r), r, J_0, bend(r))


def by_layers(
    X: Float[Tensor, "P N d"],
    theta: Parameters,
    setting: Setting,
    delta: float = 0.75,
    one_sided: bool = False,
) -> Certificate:
    """Theorem D: s_0 = σ_min(Ā)σ_min(W_U), which falls by at most (σ_A² + ℓ_A²σ_U²)^{1/2} a unit of length.

    Args:
        one_sided: for ReLU: keep to the ball on which no entry of Z̄W_1 can change its sign; δ may come out smaller.
    """
    now = model.forward(X, theta, setting)
    check_pl_2(X, theta)
    on = lambda r: derivatives.forms(X, theta, setting, r, one_sided)
    A, U = stacked(now.A), theta.W_U
    sigma_A, sigma_U = float(smallest(A)), float(smallest(U))
    _full("hidden layer A", sigma_A, float(A.norm()))
    _full("W_U", sigma_U, float(U.norm()))
    slope = lambda r: math.hypot(sigma_A, float(on(r).ell_A) * sigma_U)
    r = _solved(sigma_A * sigma_U, slope, delta)
    if one_sided:
        nearest = float(now.pre.abs().min())
        arguments.positive("the smallest entry of ZW_1 in size", nearest)
        # Just below, so that no entry reaches 0.
        r = min(r, _solved(nearest, lambda r: float(on(r).ell_A), 1 - 1e-9))
    return Certificate(sigma_A * sigma_U, slope(r), r, tangent.ends(X, theta, setting)[1], float(on(r).M_2))


def by_unembedding(
    X: Float[Tensor, "P N d"], theta: Parameters, setting: Setting, delta: float = 0.75
) -> Certificate:
    """Theorem F: s_0 = σ_min(H̄), which falls by at most ℓ_H a unit of length; for any number K of outputs."""
    now = model.forward(X, theta, setting)
    P, N, d = X.shape
    arguments.at_most("P·N", P * N, "d", d)
    H = stacked(now.H)
    s_0 = float(smallest(H))
    _full("H", s_0, float(H.norm()))
    slope = lambda r: float(derivatives.forms(X, theta, setting, r).ell_H)
    r = _solved(s_0, slope, delta)
    return Certificate(
        s_0, slope(r), r, tangent.ends(X, theta, setting)[1], float(derivatives.forms(X, theta, setting, r).M_2)
    )  # fmt: skip


@contract
def by_both(
    X: Float[Tensor, "P N d"],
    theta: Parameters,
    setting: Setting,
    delta: float = 0.75,
    share: Level = 0.5,
) -> Certificate:
    """Theorem F, with both readouts: s_0² = λ_min(H̄H̄ᵀ + c²ĀĀᵀ), c a share of σ_U.

    s_0 falls by at most (ℓ_H² + c²ℓ_A²)^{1/2} a unit of length. As r is at most σ_U − c, δ may come out smaller.
    """
    arguments.at_most("K", theta.W_U.shape[-1], "d", theta.W_U.shape[0])
    sigma_U = float(smallest(theta.W_U))
    c = share * sigma_U
    s_0 = math.sqrt(float(tangent.readout(X, theta, setting, c)))
    now = model.forward(X, theta, setting)
    _full("[H, cA]", s_0, math.hypot(float(now.H.norm()), c * float(now.A.norm())), 1e-7)

    def slope(r: float) -> float:
        found = derivatives.forms(X, theta, setting, r)
        return math.hypot(float(found.ell_H), c * float(found.ell_A))

    r = min(_solved(s_0, slope, delta), sigma_U - c)
    return Certificate(
        s_0, slope(r), r, tangent.ends(X, theta, setting)[1], float(derivatives.forms(X, theta, setting, r).M_2)
    )  # fmt: skip


def smoothness(
    X: Float[Tensor, "P N d"],
    Y: Float[Tensor, "P N K"],
    theta: Parameters,
    setting: Setting,
    radius: float,
) -> float:
    """L = (‖J_0‖ + M_2R)² + e_0M_2 ≥ ‖∇²Φ‖ wherever in the ball of radius R the loss is not above Φ(θ⁽⁰⁾)."""
    e = math.sqrt(2 * float(model.loss(X, Y, theta, setting)))
    M_2 = float(derivatives.forms(X, theta, setting, radius).M_2)
    return (tangent.ends(X, theta, setting)[1] + M_2 * radius) ** 2 + e * M_2


@contract
def _solved(s_0: float, slope: Callable[[float], float], delta: Level) -> float:
    """The r with r·slope(r) = δs_0; a slope that does not fall makes it the only one."""
    most = delta * s_0 / slope(0.0)
    return float(brentq(lambda r: r * slope(r) / (delta * s_0) - 1, 0.0, most, xtol=1e-14 * most, rtol=1e-12))


def _full(name: str, value: float, size: float, rounding: float = 1e-13) -> None:
    """Refuse a smallest singular value that rounding alone can make."""
    if not value > rounding * size:
        raise ValueError(
            f"{name} must have full rank at the start, σ_min above rounding ({rounding * size:.3g}), got {value:.3g}"
        )

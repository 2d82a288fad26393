"""The bounds of this part in closed form: what can be said before anything is drawn.

All hold with probability 1 − δ over the initialisation; R̄ bounds the root mean square of the lengths ‖U_i‖ over Ω_ρ. Proofs: the
chapter *How vacuous is it?*.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from shallowformer import arguments
from shallowformer.kernel_regime import approximation, envelopes, linearisation, norm_event, theorem_1, width
from shallowformer.kernel_regime.activations import TANH, Activation
from shallowformer.kernel_regime.cumulants import KAPPA
from shallowformer.kernel_regime.neighbourhood import radii
from shallowformer.kernel_regime.self_bounding import bound
from shallowformer.kernel_regime.theorem_1 import Constants

Radii = Sequence[float]


def length(m: int, d: int, rho_u: float, x: float) -> float:
    """R̄, which bounds ((1/m) Σ_i R_i²)^{1/2}, R_i = ‖U_i⁽⁰⁾‖ + ρ_u/√m, with probability 1 − ½ exp(−x).

    Args:
        m: number of heads, even.
        d: dimension, at least 1.
        rho_u: at least 0.
        x: at least 0.

    Returns:
        The root of ``norm_event.mean_square_bound``, plus ρ_u/√m.

    Raises:
        ValueError: an odd ``m``, ``d`` below 1, ``rho_u`` or ``x`` below 0.
    """
    return math.sqrt(norm_event.mean_square_bound(m, d, x)) + arguments.at_least("rho_u", rho_u, 0.0) / m**0.5


def first(R: float, r: Radii) -> float:
    """γ̄ = (r_u² + r_w²R²)^{1/2}, at least the average of G₁(R_i; r_u, r_w) over heads whose R_i have root mean square R.

    Args:
        R: at least 0.
        r: (r_c, r_u, r_w), each at least 0; r_c is not used.

    Returns:
        γ̄.

    Raises:
        ValueError: an argument below 0.
    """
    _, u, w = radii(r, 1)
    return math.hypot(u, w * arguments.at_least("R", R, 0.0))


def second(R: float, r: Radii, other: Radii, sigma: Activation = TANH) -> float:
    """σ₂γ̄_rγ̄_o + σ₁(r_uo_w + o_ur_w + κr_wo_wR), at least the average of G₂(R_i; r, o).

    Args:
        R: root mean square of the R_i, at least 0.
        r: (r_c, r_u, r_w), radii of one direction, each at least 0; r_c is not used.
        other: those of the other.
        sigma: the activation.

    Returns:
        The bound.

    Raises:
        ValueError: an argument below 0.
    """
    (_, u, w), (_, o_u, o_w) = radii(r, 1), radii(other, 1)
    return sigma.bounds[2] * first(R, r) * first(R, other) + sigma.bounds[1] * (
        u * o_w + o_u * w + KAPPA * w * o_w * R
    )


def turn(R: float, m: int, rho: Radii, nu: Radii, sigma: Activation = TANH) -> float:
    """Theorem B's bound on the turn |e(φ) − e(φ⁽⁰⁾)|, ``width.turn``, at a root mean square of the lengths.

    m^{−1/2} {σ₁[ρ_cγ̄_ν̄ + (ν̄_c + ρ_c)γ̄_ρ] + (1 + ρ_c/√m)[G(ρ, ν̄) + ½G(ρ, ρ)]}, γ̄ = ``first``, G = ``second``.

    Args:
        R: root mean square of the R_i, at least 0.
        m: number of heads.
        rho: (ρ_c, ρ_u, ρ_w), each at least 0.
        nu: radii ν̄ of the comparator, each at least 0.
        sigma: the activation.

    Returns:
        The bound.

    Raises:
        ValueError: an argument out of range.
    """
    (c, _, _), (far, _, _) = radii(rho, 1), radii(nu, 1)
    root = arguments.count("m", m) ** 0.5
    lines = sigma.bounds[1] * (c * first(R, nu) + (far + c) * first(R, rho))
    return (lines + (1 + c / root) * (second(R, rho, nu, sigma) + second(R, rho, rho, sigma) / 2)) / root


def remainder(R: float, m: int, rho: Radii, nu: Radii, sigma: Activation = TANH) -> float:
    """``theorem_1.B_rem`` at a root mean square of the lengths.

    m^{−1/2} {σ₁(ν̄_c + ρ_c)γ̄ + ½(1 + ρ_c/√m)G(ν̄ + ρ, ν̄ + ρ)}, γ̄ at ν̄ + ρ.

    Args:
        R: root mean square of the R_i, at least 0.
        m: number of heads.
        rho: (ρ_c, ρ_u, ρ_w), each at least 0.
        nu: radii ν̄ of the comparator, each at least 0.
        sigma: the activation.

    Returns:
        The bound.

    Raises:
        ValueError: an argument out of range.
    """
    wide = tuple(a + b for a, b in zip(radii(rho, 1), radii(nu, 1), strict=True))
    root = arguments.count("m", m) ** 0.5
    bend = (1 + rho[0] / root) * second(R, wide, wide, sigma) / 2
    return (sigma.bounds[1] * wide[0] * first(R, wide) + bend) / root


def _events(delta: float) -> tuple[float, float]:
    """δ/2 for Lemma 5, and x with ½ exp(−x) = δ/2 for the lengths."""
    return arguments.probability("delta", delta) / 2, -math.log(delta)


def paper(d: int, m: int, n: int, delta: float, rho: Radii, nu: Radii, sigma: Activation = TANH) -> Constants:
    """The paper's constants, δ shared equally among its two events.

    Args:
        d: dimension of a token, at least 1.
        m: number of heads, even.
        n: number of samples, at least 1.
        delta: probability of failure, in (0, 1).
        rho: (ρ_c, ρ_u, ρ_w), each at least 0.
        nu: sup norms ν̄ of the mapping, at most those of ``rho``.
        sigma: the activation.

    Returns:
        ``theorem_1.paper``.

    Raises:
        ValueError: an argument out of range, or a norm above its radius.
    """
    half = _events(delta)[0]
    return theorem_1.paper(n, d, m, rho, nu, half, half, sigma)


def sharp(d: int, m: int, delta: float, rho: Radii, nu: Radii, sigma: Activation = TANH) -> Constants:
    """Constants for the same proof that are sharper than the paper's, without n and without log m.

    Args:
        d: dimension of a token, at least 1.
        m: number of heads, even.
        delta: probability of failure, in (0, 1).
        rho: (ρ_c, ρ_u, ρ_w), each at least 0.
        nu: sup norms ν̄ of the mapping, at most those of ``rho``.
        sigma: the activation.

    Returns:
        The constants; each is at least that of ``theorem_1.sharp`` if the lengths have the root mean square R̄ that they may have.

    Raises:
        ValueError: an argument out of range, or a norm above its radius.
    """
    theorem_1.require_inside(rho, nu)
    half, x = _events(delta)
    R = length(m, d, rho[1], x)
    return Constants(
        f_max=sigma.bounds[0] * rho[0] + sigma.bounds[1] * first(R, rho),
        y_max=envelopes.y_max(nu, sigma),
        A=width.gradient_no_log(m, d, rho, x, sigma) ** 0.5,
        app=approximation.rms_bernstein(tuple(nu), m, half, sigma),
        lin=linearisation.B_lin_no_log(m, d, nu, x, sigma),
        cof=remainder(R, m, rho, nu, sigma),
        lin_average=linearisation.B_lin_no_log(m, d, rho, x, sigma),
        V0=sum(norm**2 for norm in nu),
    )


@dataclass(frozen=True)
class Inputs:
    """What Theorem A needs.

    Args:
        epsilon: bound on ε.
        square: bound on Ā².
        V0: bound on ‖φ⁽⁰⁾ − φ̃‖².
    """

    epsilon: float
    square: float
    V0: float

    def at(self, eta: float, steps: int) -> float:
        """Theorem A's bound on the mean loss; infinite if ηĀ² ≥ 1.

        Args:
            eta: step size η, above 0.
            steps: number of steps τ, at least 1.

        Returns:
            The bound.

        Raises:
            ValueError: an argument out of range.
        """
        theta = arguments.positive("eta", eta) * self.square
        return bound(self.epsilon, self.V0, eta, steps, theta) ** 2 if theta < 1 else math.inf

    def halfway(self, steps: int) -> float:
        """The bound for η = 1/(2Ā²): (ε + (ε² + Ā²V₀/τ)^{1/2})².

        Args:
            steps: number of steps τ, at least 1.

        Returns:
            The bound.

        Raises:
            ValueError: ``steps`` below 1.
        """
        return self.at(1 / (2 * self.square), steps)


def self_bounding(d: int, m: int, delta: float, rho: Radii, nu: Radii, sigma: Activation = TANH) -> Inputs:
    """Theorems A and B with the transported point for comparator.

    Args:
        d: dimension of a token, at least 1.
        m: number of heads, even.
        delta: probability of failure, in (0, 1).
        rho: (ρ_c, ρ_u, ρ_w), each at least 0.
        nu: sup norms ν̄ of the mapping, at most those of ``rho``.
        sigma: the activation.

    Returns:
        What Theorem A needs.

    Raises:
        ValueError: an argument out of range, or a norm above its radius.
    """
    theorem_1.require_inside(rho, nu)
    half, x = _events(delta)
    R = length(m, d, rho[1], x)
    return Inputs(
        epsilon=approximation.rms_bernstein(tuple(nu), m, half, sigma) + turn(R, m, rho, nu, sigma),
        square=width.gradient_no_log(m, d, rho, x, sigma),
        V0=sum(norm**2 for norm in nu),
    )


def smallest_even(holds: Callable[[int], bool], most: int = 2**80) -> int:
    """The smallest even number from which on something holds, if it holds from some number on.

    Args:
        holds: even number → whether; once it holds, it holds for all larger ones.
        most: where the search ends.

    Returns:
        The number.

    Raises:
        ValueError: it does not hold for ``most``.
    """
    if not holds(most):
        raise ValueError(f"holds must be true for some even number up to {most}, got none")
    low, high = 0, 2
    while not holds(high):
        low, high = high, 2 * high
    while high - low > 2:
        middle = 2 * ((low + high) // 4)
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high

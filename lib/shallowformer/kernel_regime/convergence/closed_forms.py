"""The theorems in closed form: what can be said before anything is drawn.

All hold with probability 1 − δ over the initialisation; R̄, ``norm_event.root_mean_square_bound``, bounds the root mean square of the lengths
‖U_i‖ over Ω_ρ. Symbols for numbers give formulas (see ``formulas``). Proofs: the chapter *How vacuous is it?*.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

from shallowformer.activations import TANH, Activation
from shallowformer.contracts import Count, Level, Positive, Triple, contract
from shallowformer.formulas import log, when
from shallowformer.kernel_regime.bounds import approximation, envelopes, linearisation
from shallowformer.kernel_regime.convergence import change_of_features, gradient_norms, no_logs, theorem_1
from shallowformer.kernel_regime.convergence.theorem_1 import Constants
from shallowformer.kernel_regime.neighbourhood import norm_event
from shallowformer.training import self_bounding as theorem_a


@contract
def _events(delta: Level) -> tuple[float, float]:
    """δ/2 for Lemma 5, and x with ½ exp(−x) = δ/2 for the lengths."""
    return delta / 2, -log(delta)


@contract
def paper(
    d: int, m: int, n: int, delta: float, rho: Triple, nu: Triple, sigma: Activation = TANH
) -> Constants:
    """The paper's constants, δ shared equally among its two events. Returns: ``theorem_1.paper``."""
    half = _events(delta)[0]
    return theorem_1.paper(n, d, m, rho, nu, half, half, sigma)


@contract
def sharp(d: int, m: int, delta: float, rho: Triple, nu: Triple, sigma: Activation = TANH) -> Constants:
    """Constants for the same proof that are sharper than the paper's, without n and without log m.

    Each is at least that of ``theorem_1.sharp`` if the lengths have the root mean square R̄ that they may have.
    """
    change_of_features.require_inside(rho, nu)
    half, x = _events(delta)
    R = norm_event.root_mean_square_bound(m, d, x, rho[1])
    return Constants(
        f_max=envelopes.f_max_closed(R, rho, sigma),
        y_max=envelopes.y_max(nu, sigma),
        A=gradient_norms.gradient_no_log(m, d, rho, x, sigma) ** 0.5,
        app=approximation.rms_bernstein(tuple(nu), m, half, sigma),
        lin=linearisation.B_lin_no_log(m, d, nu, x, sigma),
        cof=change_of_features.B_rem_closed(R, m, rho, nu, sigma),
        lin_average=linearisation.B_lin_closed(R, m, rho, sigma),
        V0=sum(norm**2 for norm in nu),
    )


@dataclass(frozen=True)
class Inputs:
    """What Theorem A needs to know of a run."""

    epsilon: float  # bound on ε
    square: float  # bound on Ā²
    V0: float  # bound on ‖φ⁽⁰⁾ − φ̃‖²

    @contract
    def at(self, eta: Positive, steps: int) -> float:
        """Theorem A's bound on the mean loss; infinite if ηĀ² ≥ 1."""
        theta = eta * self.square
        return when(
            theta < 1, lambda: theorem_a.bound(self.epsilon, self.V0, eta, steps, theta) ** 2, math.inf
        )

    def halfway(self, steps: int) -> float:
        """The bound for η = 1/(2Ā²): (ε + (ε² + Ā²V₀/τ)^{1/2})²."""
        return self.at(1 / (2 * self.square), steps)

    @contract
    def best(self, steps: Count) -> float:
        """The bound for the best constant step size: (ε + Ā(V₀/τ)^{1/2})². Source: Theorem A, step sizes, 3."""
        return (self.epsilon + (self.square * self.V0 / steps) ** 0.5) ** 2


@contract
def self_bounding(d: int, m: int, delta: float, rho: Triple, nu: Triple, sigma: Activation = TANH) -> Inputs:
    """Theorems A and B with the transported point for comparator."""
    change_of_features.require_inside(rho, nu)
    half, x = _events(delta)
    R = norm_event.root_mean_square_bound(m, d, x, rho[1])
    return Inputs(
        epsilon=approximation.rms_bernstein(tuple(nu), m, half, sigma)
        + no_logs.turn_closed(R, m, rho, nu, sigma),
        square=gradient_norms.gradient_no_log(m, d, rho, x, sigma),
        V0=sum(norm**2 for norm in nu),
    )


def smallest_even(holds: Callable[[int], bool], most: int = 2**80) -> int:
    """The smallest even number, up to ``most``, at which something holds that, once it holds, holds for all larger ones."""
    if not holds(most):
        raise ValueError(f"holds must be true for some even number up to {most}, got none")
    low, high = 0, 2
    while not holds(high):
        low, high = high, 2 * high
    while high - low > 2:
        middle = 2 * ((low + high) // 4)
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high

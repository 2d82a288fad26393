"""How large a head's U is at initialisation: the event E_{U,m}(δ'), the paper's radius and sharper ones.

The m heads come in m/2 pairs that share U, and the U of a pair is a standard Gaussian vector of ℝ^d. Source of ``laurent_massart_radius``
and ``mean_square_bound``: Laurent and Massart 2000, Lemma 1.
"""

from shallowformer.contracts import Count, Even, Level, NonNegative, contract
from shallowformer.formulas import log, maximum
from shallowformer.kernel_regime.model.parameters import Parameters
from shallowformer.probability import gaussian_norms


def _log_ratio(m: int, delta: float) -> float:
    """log(m/(2δ')) without a quotient that could overflow."""
    return log(m // 2) - log(delta)


def _half_log_ratio(m: int, delta: float) -> float:
    """max(0, log(m/(4δ')))."""
    return maximum(_log_ratio(m, delta) - log(2), 0.0)


@contract
def coverage(radius: NonNegative, m: Even, d: Count) -> float:
    """P(max_i ‖U_i⁽⁰⁾‖ ≤ radius), exactly: the chi distribution function to the power m/2."""
    return 1 - failure(radius, m, d)


@contract
def failure(radius: NonNegative, m: Even, d: Count) -> float:
    """P(max_i ‖U_i⁽⁰⁾‖ > radius), exactly; accurate also where it is tiny."""
    return gaussian_norms.tail_of_largest(radius, m // 2, d)


@contract
def exact_radius(m: Even, d: Count, delta: Level) -> float:
    """The smallest radius that holds all heads with probability 1 − δ': F_{χ_d}(B)^{m/2} = 1 − δ'."""
    return gaussian_norms.quantile_of_largest(m // 2, d, delta)


@contract
def paper_radius(m: Even, d: Count, delta: Level) -> float:
    """The paper's √d + √(2 log(m/(2δ'))). Source: Definition 1."""
    return d**0.5 + (2 * _log_ratio(m, delta)) ** 0.5


@contract
def half_tail_radius(m: Even, d: Count, delta: Level) -> float:
    """√d + √(2 log(m/(4δ'))), from P(‖G‖ ≥ √d + t) ≤ ½ exp(−t²/2): always below the paper's (√d if m ≤ 4δ')."""
    return d**0.5 + (2 * _half_log_ratio(m, delta)) ** 0.5


@contract
def laurent_massart_radius(m: Even, d: Count, delta: Level) -> float:
    """(d + 2√(dL) + 2L)^{1/2} with L = log(m/(2δ')), by a union bound over pairs: below the paper's for all m, d and δ'."""
    return gaussian_norms.laurent_massart(d, _log_ratio(m, delta)) ** 0.5


@contract
def closed_form_radius(m: Even, d: Count, delta: Level) -> float:
    """(d + 2√(dL') + 2L')^{1/2} with L' = max(0, log(m/(4δ'))): from P(‖G‖² ≥ d + 2√(dx) + 2x) ≤ ½ exp(−x); at most the two before."""
    return gaussian_norms.laurent_massart(d, _half_log_ratio(m, delta)) ** 0.5


@contract
def mean_square_bound(m: Even, d: Count, x: NonNegative) -> float:
    """A bound on (1/m) Σ_i ‖U_i⁽⁰⁾‖² that fails with probability at most ½ exp(−x): d + 2√(2dx/m) + 4x/m (½, not 1: dm/2 degrees of freedom)."""
    return gaussian_norms.mean_square_bound(m // 2, d, x)


@contract
def root_mean_square_bound(m: Even, d: Count, x: NonNegative, rho_u: NonNegative) -> float:
    """R̄ ≥ ((1/m) Σ_i R_i²)^{1/2}, R_i = ‖U_i⁽⁰⁾‖ + ρ_u/√m, with probability 1 − ½ exp(−x): what B_{U,m} is to the largest."""
    return mean_square_bound(m, d, x) ** 0.5 + rho_u / m**0.5


@contract
def B_U(m: Even, d: Count, delta: Level, rho_u: NonNegative) -> float:
    """The paper's B_{U,m}(δ') = √d + √(2 log(m/(2δ'))) + ρ_u/√m: no ‖U_i‖ in Ω_ρ is larger on E_{U,m}(δ'). Source: Remark 7."""
    return paper_radius(m, d, delta) + rho_u / m**0.5


@contract
def holds(phi0: Parameters, delta: Level) -> bool:
    """Whether a symmetric initialisation lies in the event E_{U,m}(δ'). Source: Definition 1."""
    return bool(phi0.U.norm(dim=-1).max() <= paper_radius(phi0.m, phi0.d, delta))

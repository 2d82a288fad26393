"""How large a head's U is at initialisation: the event E_{U,m}(δ'), the paper's radius and sharper ones.

Throughout, m heads come in m/2 pairs that share U, and the U of a pair is a standard Gaussian vector of ℝ^d.
"""

from shallowformer import arguments
from shallowformer.formulas import log, maximum
from shallowformer.kernel_regime.model.parameters import Parameters
from shallowformer.probability import gaussian_norms


def _pairs(m: int) -> int:
    """Number of pairs."""
    return arguments.even("m", m) // 2


def _log_ratio(m: int, delta: float) -> float:
    """log(m/(2δ')) without a quotient that could overflow."""
    return log(_pairs(m)) - log(arguments.probability("delta", delta))


def coverage(radius: float, m: int, d: int) -> float:
    """P(max_i ‖U_i⁽⁰⁾‖ ≤ radius), exactly: the chi distribution function to the power m/2."""
    return 1 - failure(radius, m, d)


def failure(radius: float, m: int, d: int) -> float:
    """P(max_i ‖U_i⁽⁰⁾‖ > radius), exactly; accurate also where it is tiny."""
    return gaussian_norms.tail_of_largest(radius, _pairs(m), d)


def exact_radius(m: int, d: int, delta: float) -> float:
    """The smallest radius that holds all heads with probability 1 − δ': F_{χ_d}(B)^{m/2} = 1 − δ'."""
    return gaussian_norms.quantile_of_largest(_pairs(m), d, delta)


def paper_radius(m: int, d: int, delta: float) -> float:
    """The paper's √d + √(2 log(m/(2δ'))). Source: Arda, Cayci, Eryilmaz 2026, Definition 1."""
    return arguments.count("d", d) ** 0.5 + (2 * _log_ratio(m, delta)) ** 0.5


def half_tail_radius(m: int, d: int, delta: float) -> float:
    """√d + √(2 log(m/(4δ'))), from P(‖G‖ ≥ √d + t) ≤ ½ exp(−t²/2): always below the paper's (√d if m ≤ 4δ')."""
    return arguments.count("d", d) ** 0.5 + (2 * _half_log_ratio(m, delta)) ** 0.5


def laurent_massart_radius(m: int, d: int, delta: float) -> float:
    """(d + 2√(dL) + 2L)^{1/2} with L = log(m/(2δ')): a closed form below the paper's for all m, d and δ'.

    Source: Laurent and Massart 2000, Lemma 1, with a union bound over pairs.
    """
    return gaussian_norms.laurent_massart(d, _log_ratio(m, delta)) ** 0.5


def closed_form_radius(m: int, d: int, delta: float) -> float:
    """(d + 2√(dL') + 2L')^{1/2} with L' = max(0, log(m/(4δ'))): from P(‖G‖² ≥ d + 2√(dx) + 2x) ≤ ½ exp(−x).

    At most ``laurent_massart_radius`` and ``half_tail_radius``.
    """
    return gaussian_norms.laurent_massart(d, _half_log_ratio(m, delta)) ** 0.5


def _half_log_ratio(m: int, delta: float) -> float:
    """max(0, log(m/(4δ')))."""
    return maximum(_log_ratio(m, delta) - log(2), 0.0)


def mean_square_bound(m: int, d: int, x: float) -> float:
    """A bound on (1/m) Σ_i ‖U_i⁽⁰⁾‖² that fails with probability at most ½ exp(−x): d + 2√(2dx/m) + 4x/m.

    Source: Laurent and Massart 2000, Lemma 1 (with 1 for ½), for the chi-square law with dm/2 degrees of freedom.
    """
    return gaussian_norms.mean_square_bound(_pairs(m), d, x)


def root_mean_square_bound(m: int, d: int, x: float, rho_u: float) -> float:
    """R̄ ≥ ((1/m) Σ_i R_i²)^{1/2}, R_i = ‖U_i⁽⁰⁾‖ + ρ_u/√m, with probability 1 − ½ exp(−x): what B_{U,m} is to the largest."""
    return mean_square_bound(m, d, x) ** 0.5 + arguments.at_least("rho_u", rho_u, 0.0) / m**0.5


def B_U(m: int, d: int, delta: float, rho_u: float) -> float:
    """The paper's B_{U,m}(δ') = √d + √(2 log(m/(2δ'))) + ρ_u/√m: no ‖U_i‖ in Ω_ρ is larger on the event E_{U,m}(δ').

    Source: Arda, Cayci, Eryilmaz 2026, Remark 7.
    """
    return paper_radius(m, d, delta) + arguments.at_least("rho_u", rho_u, 0.0) / m**0.5


def holds(phi0: Parameters, delta: float) -> bool:
    """Whether an initialisation lies in the event E_{U,m}(δ'). Source: Arda, Cayci, Eryilmaz 2026, Definition 1.

    Args:
        phi0: a symmetric initialisation, m even.
    """
    return bool(phi0.U.norm(dim=-1).max() <= paper_radius(phi0.m, phi0.d, delta))

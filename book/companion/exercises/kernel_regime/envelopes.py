"""Exercises of the chapter *Envelopes*."""

import functools
import math
from collections.abc import Callable

from shallowformer.exercises.feedback import Answer, Feedback, judge, judge_number
from shallowformer.kernel_regime.bounds import envelopes
from shallowformer.kernel_regime.neighbourhood import norm_event
from shallowformer.probability import gaussian_means, gaussian_norms

#: What people answer instead, by the hint they get.
ISOTROPIC_MISTAKES = {
    "that is E‖U‖; M = I/d divides by d.": gaussian_norms.mean_norm,
    "√(E‖U‖²) = √d is above E‖U‖ (Jensen); the mean of a chi variable is a ratio of gamma functions.": lambda d: d**-0.5,
    "that is the bound √(2/π), attained for rank one only.": lambda d: gaussian_means.MEAN_ABS,
    "M = I/d, not I/√d: the trace is 1.": lambda d: gaussian_norms.mean_norm(d) / d**0.5,
}  # fmt: skip


def check_isotropic(isotropic: Callable[[int], float]) -> Feedback:
    """Exercise *Spread over all directions*: E‖U‖/d; d → E‖MU‖ for M = I/d."""
    cases = [(f"d = {d}", (d,)) for d in (2, 8, 64)]
    return judge(
        "ex-envelopes-isotropic",
        isotropic,
        lambda d: gaussian_norms.mean_norm(d) / d,
        cases,
        ISOTROPIC_MISTAKES,
    )


def _target(nu_c: float, nu_u: float, nu_w: float) -> float:
    return envelopes.y_max((nu_c, nu_u, nu_w))


def _unclipped(nu_c: float, nu_u: float, nu_w: float) -> float:
    beta = gaussian_means.MEAN_ABS * nu_w
    return nu_c + beta + nu_u**2 / (4 * beta)


#: What people answer instead, by the hint they get.
TARGET_ENVELOPE_MISTAKES = {
    "s is at most 1: for a large ν̄_u the peak of the parabola is out of reach.": _unclipped,
    "that is the sum of both maxima; a and M share one budget.": lambda c, u, w: c + u + gaussian_means.MEAN_ABS * w,
    "the factor √(2/π) of E‖MU‖ is missing.": lambda c, u, w: envelopes.y_max((c, u, w / gaussian_means.MEAN_ABS)),
    "only one end of the interval: compare with the peak in between.": lambda c, u, w: c + max(u, gaussian_means.MEAN_ABS * w),
}  # fmt: skip


def check_target_envelope(target_envelope: Callable[[float, float, float], float]) -> Feedback:
    """Exercise *The envelope in closed form*: the first bound of the envelope of the targets, for tanh; ν̄_c, ν̄_u, ν̄_w → the bound."""
    cases = [
        (f"ν̄ = ({c:g}, {u:g}, {w:g})", (c, u, w))
        for c, u, w in ((3.0, 3.0, 3.0), (1.0, 4.0, 1.0), (0.0, 0.5, 2.0))
    ]
    return judge("ex-envelopes-target", target_envelope, _target, cases, TARGET_ENVELOPE_MISTAKES)


@functools.cache
def _crossover() -> int:
    m = 2
    while envelopes.f_max_paper(norm_event.B_U(m, 8, 0.05, 3.0), (3.0, 3.0, 3.0)) > math.sqrt(m) + 3:
        m += 2
    return m


def check_crossover(width: Answer) -> Feedback:
    """Exercise *When does the trivial bound stop winning?*: the width where the paper's f^max falls below √m + ρ_c."""
    right = _crossover()
    mistakes = {"that is √m at the crossing; give m": math.sqrt(right)}

    def otherwise(number: float) -> str:
        if abs(number - right) <= 0.1 * right:
            return "close: B_{U,m} itself depends on m, so evaluate it at every width"
        return f"{number:g} is not it; compare both bounds on a grid of widths, with ρ_c on both sides"

    praise = f"from m = {right} on the paper's bound is the smaller one"
    return judge_number(
        "ex-envelopes-crossover",
        width,
        right,
        mistakes,
        otherwise,
        praise,
        tolerance=0.0,
        near=0.03,
        begin="go through even m and compare the two bounds at each; the radius B_U depends on m as well.",
    )


def check_tenfold(d: Answer) -> Feedback:
    """Exercise *What the dimension costs on paper*: the least d with √d at least ten times √(2/π)."""
    mistakes = {
        "at 63 the quotient is just below ten: √63/0.798 = 9.95": 63,
        "that is √d = 10: the right factor is not 1 but √(2/π)": 100,
        "that is √(π/2) in the place of √(2/π): E|G| of a Gaussian number is below 1": 158,
        "that is without the root: √d against 2/π": 41,
        "that is d itself ten times √(2/π); the paper's factor is √d": 8,
    }
    return judge_number(
        "ex-envelopes-tenfold",
        d,
        64,
        mistakes,
        "compare √d, the paper's factor of σ₁ν̄_w, with E|G| = √(2/π)",
        "8 against 0.798",
        tolerance=0.0,
        near=0.0,
    )


def check_least_seen(mean: Answer) -> Feedback:
    """Exercise *Which covariance sees least?*: the smallest E‖MU‖ of trace 1 in three dimensions."""
    right = gaussian_norms.mean_norm(3) / 3
    mistakes = {
        "that is attained by rank one, where the mean is largest": gaussian_means.MEAN_ABS,
        "√(E‖MU‖²) = 1/√d is above the mean (Jensen)": 3**-0.5,
        "that is E‖U‖: M has trace 1, not M = I": gaussian_norms.mean_norm(3),
        "that spreads the trace over two directions; three see less": gaussian_norms.mean_norm(2) / 2,
        "a mean over one direction, divided by three: the three numbers add up as squares": gaussian_means.MEAN_ABS
        / 3,
    }
    return judge_number(
        "ex-envelopes-least",
        mean,
        right,
        mistakes,
        "E‖MU‖ is a convex function of the eigenvalues and does not know their order: what does averaging over all orders do?",
        "E‖U‖/3",
    )

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
    """Exercise *Spread over all directions*: E‖U‖/d.

    Args:
        isotropic: d → E‖MU‖ for M = I/d.
    """
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
    """Exercise *The envelope in closed form*: the first bound of the envelope of the targets, for tanh.

    Args:
        target_envelope: ν̄_c, ν̄_u, ν̄_w → the bound.
    """
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

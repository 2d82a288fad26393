"""Exercises of the chapter *How vacuous is it?*."""

import math
from collections.abc import Callable

from shallowformer.exercises.feedback import Answer, Feedback, judge, judge_number

#: What people answer instead, by the hint they get; arguments ε₀, V₀, ητ.
RIDGE_MISTAKES = {
    "dε₀² is 2ε₀ dε₀; a factor 2 went lost, or was found twice.": lambda e, V, h: e / ((e + math.sqrt(e**2 + V / h)) / 2 * h),
    "that is what one gets where V₀ is negligible; solve for λ in general.": lambda e, V, h: 1 / (2 * h),
    "ℓ is the root of the bound; here stands the bound itself.": lambda e, V, h: e / (2 * ((e + math.sqrt(e**2 + V / h)) / 2) ** 2 * h),
    "that is ε₀²/V₀, a number with the right units only.": lambda e, V, h: e**2 / V,
    "the quadratic equation has another root, above 0.": lambda e, V, h: -(e**2) / V * (math.sqrt(1 + V / (h * e**2)) + 1),
    "right for V₀ > 0; for V₀ = 0 expand the fraction by the conjugate of its numerator.": lambda e, V, h: (
        e**2 / V * (math.sqrt(1 + V / (h * e**2)) - 1) if V else math.nan
    ),
}  # fmt: skip


def ridge_parameter(epsilon: float, V0: float, horizon: float) -> float:
    """λ = ε₀/(2ℓητ) with ℓ = (ε₀ + √(ε₀² + V₀/(ητ)))/2."""
    return epsilon / ((epsilon + math.sqrt(epsilon**2 + V0 / horizon)) * horizon)


def check_ridge_parameter(answer: Callable[[float, float, float], float]) -> Feedback:
    """Exercise *Where to stop on the ridge path*: ε₀, V₀, ητ → λ."""
    cases = [
        ("V₀ = 1, ε₀ = 1, ητ = 1", (1.0, 1.0, 1.0)),
        ("a long run", (0.02, 0.1, 63.0)),
        ("a short one", (0.05, 0.01, 0.5)),
        ("V₀ = 0", (0.3, 0.0, 2.0)),
    ]
    return judge("ex-vacuous-ridge", answer, ridge_parameter, cases, RIDGE_MISTAKES)


#: What people answer instead, by the hint they get; arguments ε₀, V₀, ητ, t and L₀.
SCALE_MISTAKES = {
    "the way to the comparator costs something, too: V₀/(ητ).": lambda e, V, h, t, L: (math.sqrt(L) - e) / t,
    "Theorem A bounds the root of the mean loss: compare it with √L₀.": lambda e, V, h, t, L: (L - V / (4 * h * L) - e) / t,
    "there is a factor 4: put ε = √L₀ − x under the root and see what x is.": lambda e, V, h, t, L: (math.sqrt(L) - V / (h * math.sqrt(L)) - e) / t,
    "where ε = √L₀ − x is put under the root, (√L₀ + x)² = ε² + V₀/(ητ): the way takes something away from ε.": lambda e, V, h, t, L: (math.sqrt(L) + V / (4 * h * math.sqrt(L)) - e) / t,
    "the bound is half of the sum: ε + √(ε² + V₀/(ητ)) is 2√L₀.": lambda e, V, h, t, L: (math.sqrt(L) / 2 - V / (2 * h * math.sqrt(L)) - e) / t,
    "a factor 2 is missing in the second part: square 2√L₀ − ε with care.": lambda e, V, h, t, L: (math.sqrt(L) - V / (2 * h * math.sqrt(L)) - e) / t,
    "ε is ε₀ + st: here its first part is missing.": lambda e, V, h, t, L: (math.sqrt(L) - V / (4 * h * math.sqrt(L))) / t,
    "ε + √(V₀/(4ητ)) is larger than the bound; the two are added as squares: solve for ε once more.": lambda e, V, h, t, L: (math.sqrt(L) - math.sqrt(V / (4 * h)) - e) / t,
    "ε₀, √V₀ and √L₀ are multiplied by s as well: divide by s, and one s is left at the turn.": lambda e, V, h, t, L: math.sqrt(label_scale(e, V, h, t, L)),
    "that is 1/s.": lambda e, V, h, t, L: t / (math.sqrt(L) - V / (4 * h * math.sqrt(L)) - e),
}  # fmt: skip


def label_scale(epsilon: float, V0: float, horizon: float, turn: float, trivial: float) -> float:
    """The s at which ½(ε + √(ε² + V₀/(ητ))), ε = ε₀ + st, is √L₀."""
    root = math.sqrt(trivial)
    return (root - V0 / (4 * horizon * root) - epsilon) / turn


def check_label_scale(answer: Callable[[float, float, float, float, float], float]) -> Feedback:
    """Exercise *How small must labels be?*: ε₀, V₀, ητ, t, L₀ → s."""
    cases = [
        ("ε₀ = ½, V₀ = 1, ητ = 1, t = 1, L₀ = 1", (0.5, 1.0, 1.0, 1.0, 1.0)),
        ("many steps", (0.02, 0.09, 63.0, 0.3, 0.002)),
        ("few steps", (0.1, 0.5, 2.0, 7.0, 1.5)),
    ]
    return judge("ex-vacuous-scale", answer, label_scale, cases, SCALE_MISTAKES, tolerance=1e-6)


#: What people answer instead, by the hint they get.
FLOOR_MISTAKES = {"that is a/c.": 64.0}


def check_floor(answer: Answer) -> Feedback:
    """Exercise *A slope of one half*: c/a such that a/m + c falls by the factor 8 from m = 8 to m = 512."""

    def otherwise(number: float) -> str:
        if not number > 0:
            return "c and a are above 0."
        slope = math.log((1 / 8 + number) / (1 / 512 + number)) / math.log(64)
        return f"with this c/a the slope between the two widths is {-slope:.2f}, not -0.50."

    praise = "1/8 + x = 8 (1/512 + x) at x = 1/64."
    return judge_number(
        "ex-vacuous-slope",
        answer,
        1 / 64,
        FLOOR_MISTAKES,
        otherwise,
        praise,
        tolerance=0.01 / 64,
        begin="write both ends: (a/8 + c)/(a/512 + c) = 8, and solve for c/a.",
    )

"""Exercises of the chapter *What a residual really does*."""

import math
from collections.abc import Callable

from shallowformer.exercises.feedback import Answer, Feedback, judge, judge_number


def _escape(eps: float, r: float, mu: float, sigma: float) -> float:
    return math.log(r / eps) / math.log1p(mu * sigma)


#: What people answer instead, by the hint they get.
ESCAPE_MISTAKES = {
    "that is the gradient flow: a step of length μ multiplies by 1 + μσ, not by e^{μσ}.": lambda eps, r, mu, sigma: (
        math.log(r / eps) / (mu * sigma)
    ),
    "the size itself grows by 1 + μσ a step; its square is not needed.": lambda eps, r, mu, sigma: (
        math.log(r / eps) / (2 * math.log1p(mu * sigma))
    ),
    "logarithms of one base: natural above and below, or 10 above and below.": lambda eps, r, mu, sigma: (
        math.log10(r / eps) / math.log1p(mu * sigma)
    ),
    "the way is from ε to r, not from ε to 1.": lambda eps, r, mu, sigma: (
        math.log(1 / eps) / math.log1p(mu * sigma)
    ),
    "a sign: r is above ε, and the time is positive.": lambda eps, r, mu, sigma: (
        math.log(eps / r) / math.log1p(mu * sigma)
    ),
    "growth is multiplied up, step by step: take logarithms.": lambda eps, r, mu, sigma: (
        (r - eps) / (mu * sigma)
    ),
}


def check_escape(escape: Callable[[float, float, float, float], float]) -> Feedback:
    """Exercise *How long does it wait?*: steps from size ε to size r at growth 1 + μσ; ε, r, μ, σ → a number."""
    cases = [
        (f"ε = {eps:g}, r = {r:g}, μσ = {mu * sigma:g}", (eps, r, mu, sigma))
        for eps, r, mu, sigma in (
            (1e-3, 0.1, 0.01, 10.0),
            (1e-6, 0.05, 0.005, 40.0),
            (1e-2, 0.5, 0.2, 1.5),
        )
    ]
    return judge("ex-residuals-escape", escape, _escape, cases, ESCAPE_MISTAKES)


#: What people answer instead, by the hint they get.
LEAKY_MISTAKES = {
    "that is the odd part alone, ((1 + a)/2)²; the even part helps as well": 0.5625,
    "that is the second moment: the mean belongs to the term r = 0, which does not count": 0.625,
    "that is ReLU; here a quarter of the negative side's energy passes too": 0.5 - 0.5 / math.pi,
    "the even part is (1 − a)/2 times |x|, and Var|G| = 1 − 2/π: square the factor": 0.5625
    + 0.25 * (1 - 2 / math.pi),
}


def check_leaky(constant: Answer) -> Feedback:
    """Exercise *A leak*: the best constant for the leaky ReLU of slope ½."""
    return judge_number(
        "ex-residuals-leaky",
        constant,
        0.5625 + 0.0625 * (1 - 2 / math.pi),
        LEAKY_MISTAKES,
        "it is Var φ(G), for a φ with φ(cx) = cφ(x), c > 0",
        "(1 + a)²/4 + (1 − a)²/4 · (1 − 2/π) at a = ½",
        tolerance=1e-4,
        near=1e-3,
    )


#: What people answer instead, by the hint they get.
RANK_MISTAKES = {
    "one vector of ones for the whole sequence would cost one; each document has a vector of its own": 11,
    "that is the number of dimensions that are lost": 3,
    "I − S is singular, so some rank is lost": 12,
    "the tokens are not averaged here: differences within a document survive": 6,
}


def check_rank(rank: Answer) -> Feedback:
    """Exercise *Masks*: the rank of g(I − S)X with three documents in one sequence of 12 tokens."""
    return judge_number(
        "ex-residuals-masks",
        rank,
        9,
        RANK_MISTAKES,
        "count the vectors v with Sv = v: they are constant on each document",
        "12 tokens less 3 documents",
        tolerance=0.0,
        near=0.0,
    )

"""Exercises of the chapter *Bad starts, dependent tokens, real sentences*."""

from collections.abc import Callable

from shallowformer.exercises.feedback import Answer, Feedback, judge, judge_number


def _gap(G: list[list[float]], kept: int, other: int) -> float:
    return G[other][kept] / G[kept][kept]


#: What people answer instead, by the hint they get.
GAP_MISTAKES = {
    "the shortest matrix with gap 1 for the kept sample is a multiple of its own E: divide by its entry of G.": lambda G, kept, other: (
        G[other][kept] / G[other][other]
    ),
    "that is a cosine: the matrix is not scaled to norm 1 but to a gap of 1 for the kept sample.": lambda G, kept, other: (
        G[other][kept] / (G[kept][kept] * G[other][other]) ** 0.5
    ),
    "a sign: pulling another back means a negative gap.": lambda G, kept, other: -_gap(G, kept, other),
    "the matrix still has to be scaled to a gap of 1 for the kept sample.": lambda G, kept, other: G[other][
        kept
    ],
    "the quotient is upside down: a gap of 1 for the kept sample means dividing by its own entry of G.": lambda G, kept, other: (
        G[kept][kept] / G[other][kept]
    ),
    "scaled to norm 1; it should have a gap of 1 for the kept sample.": lambda G, kept, other: (
        G[other][kept] / G[kept][kept] ** 0.5
    ),
}


def check_gap(gap: Callable[[list[list[float]], int, int], float]) -> Feedback:
    """Exercise *One sample is kept*: the other's gap under W_A, T = 2.

    Args:
        gap: Gram matrix, index of the kept sample, index of another → a number.
    """
    two = [[9.0, -2.0], [-2.0, 1.0]]
    three = [[4.0, 1.5, -3.0], [1.5, 2.0, -0.5], [-3.0, -0.5, 5.0]]
    cases = [
        ("two samples, the second kept", (two, 1, 0)),
        ("two samples, the first kept", (two, 0, 1)),
        ("three samples, the third kept", (three, 2, 0)),
    ]
    return judge("ex-real-tokens-gap", gap, _gap, cases, GAP_MISTAKES)


#: What people answer instead, by the hint they get.
PULL_MISTAKES = {
    "that is what a single kept sample needs: here two pull together": 1.0,
    "the two kept samples are not orthogonal: they pull each other back, so both multipliers exceed 1": 0.5,
    "the sign of G₁₂: both gaps are λ(1 − ¼) = 1": 0.625,
    "that is the condition of the corollary, g/(2N − 1) with N = 2: sufficient for safety, and decided by all entries at once": 1
    / 3,
    "a gap of −1 is where the two weights are equal, and −2cλ = −1: λ is 1/(1 − ¼), not 1 − ¼": 2 / 3,
    "give c, the size of the negative entry": -0.375,
}


def check_pull(c: Answer) -> Feedback:
    """Exercise *Two against one*: the c beyond which the third sample can be lost."""
    return judge_number(
        "ex-real-tokens-pull",
        c,
        0.375,
        PULL_MISTAKES,
        "solve λ(G₁₁ + G₁₂) = 1 for the two kept samples, then −2cλ ≤ −1",
        "λ = 4/3 for both, and 2c · 4/3 = 1",
    )


#: What people answer instead, by the hint they get.
MEAN_MISTAKES = {
    "both queries have length √(1 + M): G₂₂ holds 1 + M, not 1": 0.625,
    "keep the sample with the short difference; the other then has the gap −1.6 M/(1 + M)": -5 / 3,
    "at least −1 is not what is asked: solve 1.6 M = 1 + M": 0.6,
    "⟨𝖽₁, 𝖽₂⟩ is −1.6, not the cosine −0.8: no M ≥ 0 would do with that": -5.0,
    "solve 1.6 M = 1 + M: the gap of −1.6 M/(1 + M) is measured against −1, not M/(1 + M) against 0.8": 4.0,
}


def check_mean(M: Answer) -> Feedback:
    """Exercise *What a common mean does*: the least M = ‖m‖² at which a sample can be lost."""
    return judge_number(
        "ex-real-tokens-mean",
        M,
        5 / 3,
        MEAN_MISTAKES,
        "write G with the queries m + z_i: ⟨q_1, q_2⟩ = M, ‖q_i‖² = 1 + M; keep sample 1 alone",
        "1.6 M/(1 + M) = 1",
    )

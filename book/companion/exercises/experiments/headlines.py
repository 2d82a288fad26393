"""Exercises of the chapter *The two headlines, tested*."""

import math
from collections.abc import Callable

from shallowformer.exercises.feedback import Answer, Feedback, judge, judge_number

#: What people answer instead, by the hint they get.
DOUBLE_MISTAKES = {
    "the square root is doubled when log 2n is four times as large, not twice.": lambda n: 2 * n**2,
    "the 2 inside the logarithm is raised to the fourth power as well.": lambda n: n**4,
    "the 2 inside the logarithm stands on both sides: divide by it once.": lambda n: 16 * n**4,
    "the maximum grows like the root of a logarithm, not of n.": lambda n: 4 * n,
}


def inputs_for_double(n: int) -> float:
    """The n′ with √(log 2n′) = 2√(log 2n): 8n⁴."""
    return 8 * n**4


def check_inputs_for_double(answer: Callable[[int], float]) -> Feedback:
    """Exercise *Twice the maximum*: how many inputs double √(log 2n); n → n′."""
    cases = [("one input", (1,)), ("ten inputs", (10,)), ("a hundred", (100,))]
    return judge("ex-headlines-double", answer, inputs_for_double, cases, DOUBLE_MISTAKES)


#: How often the maximum over 100 000 inputs is renewed, the first input counted.
RECORDS = sum(1 / j for j in range(1, 100_001))

#: What people answer instead, by the hint they get.
RECORDS_MISTAKES = {
    "the first input counts as well: it is the largest so far.": RECORDS - 1,
    "that is the logarithm; the sum is larger by Euler's constant, 0.58.": math.log(100_000),
}


def check_records(answer: Answer) -> Feedback:
    """Exercise *Records*: how often, on average, the maximum over a stream of 100 000 inputs is renewed, the first input counted."""

    def otherwise(number: float) -> str:
        if number > 1000:
            return "far fewer: with what probability is the j-th input the largest of the first j?"
        return "add up the probabilities that the j-th input is the largest of the first j."

    praise = f"1 + 1/2 + … + 1/100000 = {RECORDS:.2f}."
    return judge_number(
        "ex-headlines-records",
        answer,
        RECORDS,
        RECORDS_MISTAKES,
        otherwise,
        praise,
        tolerance=0.06,
        near=0.005,
        begin="add up, over j, the probability that the j-th input is the largest of the first j.",
    )


#: What people answer instead, by the hint they get; arguments α and k.
MASS_MISTAKES = {
    "that is the mass of one of the copies; they are k.": lambda a, k: a / (1 + (k - 1) * a),
    "the exponentials of the other tokens are still there: divide by the new sum.": lambda a, k: k * a,
    "only this token is repeated; with all of them repeated nothing would change.": lambda a, k: a,
    "the new sum of exponentials is 1 + (k − 1)α times the old one.": lambda a, k: k * a / (1 + k * a),
}


def repeated_mass(alpha: float, copies: int) -> float:
    """The attention on a token of weight α, all its copies together, when it alone is repeated: kα/(1 + (k − 1)α)."""
    return copies * alpha / (1 + (copies - 1) * alpha)


def check_repeated_mass(answer: Callable[[float, int], float]) -> Feedback:
    """Exercise *Padding that lies*: the attention on a token that alone is repeated; α, k → mass of all copies."""
    cases = [
        ("α = 1/4, k = 2", (0.25, 2)),
        ("one token of sixteen, 49 copies", (1 / 16, 49)),
        ("a weight near 1", (0.9, 5)),
    ]
    return judge("ex-headlines-padding", answer, repeated_mass, cases, MASS_MISTAKES)


#: What people answer instead, by the hint they get; arguments n, N, k and the factor of the lengths.
WIDTH_MISTAKES = {
    "the width grows like the logarithm of the number of inputs, not like the number.": lambda n, N, k, longer: k**2 * N / n,
    "an error that falls like m^{−1/2} takes k² times as many heads, not k times.": lambda n, N, k, longer: k * math.log(2 * N) / math.log(2 * n),
    "the logarithm is under a root in the error, not in the number of heads.": lambda n, N, k, longer: k**2 * (math.log(2 * N) / math.log(2 * n)) ** 0.5,
    "the maximum is over 2n numbers, e and −e of every input.": lambda n, N, k, longer: k**2 * math.log(N) / math.log(n),
    "the length is in none of the constants: no head more for longer sequences.": lambda n, N, k, longer: longer * width_factor(n, N, k, longer),
    "a logarithm of the length does not enter either: the maximum is over inputs, not over tokens.": lambda n, N, k, longer: k**2 * math.log(2 * N * longer) / math.log(2 * n),
}  # fmt: skip


def width_factor(n: int, N: int, k: float, longer: float) -> float:
    """How many times as many heads part 2 of the lemma asks for: k² log 2N / log 2n, from n to N inputs, for an error that falls by k.

    Args:
        longer: factor by which sequences grow; it does not enter.
    """
    return k**2 * math.log(2 * N) / math.log(2 * n)


def check_width_factor(answer: Callable[[int, int, float, float], float]) -> Feedback:
    """Exercise *What the headlines ask for*: the factor in the number of heads that are enough.

    Args:
        answer: n, N, k and the factor of the lengths → a number.
    """
    cases = [
        ("5 000 inputs instead of 50, half the error, lengths as before", (50, 5000, 2.0, 1.0)),
        ("50 inputs, a third of the error, lengths times 4", (50, 50, 3.0, 4.0)),
        ("10⁶ inputs instead of 10³, the same error, lengths times 100", (1000, 1_000_000, 1.0, 100.0)),
    ]
    return judge("ex-headlines-width", answer, width_factor, cases, WIDTH_MISTAKES)

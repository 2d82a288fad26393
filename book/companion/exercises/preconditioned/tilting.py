"""Exercises of the chapter *Softmax of Gaussians is linear*."""

import math
from collections.abc import Callable

from shallowformer.exercises.feedback import Answer, Feedback, judge, judge_number


def _tilted(tokens: list[float], q: float) -> float:
    weights = [math.exp(q * x) for x in tokens]
    return sum(w * x for w, x in zip(weights, tokens, strict=True)) / sum(weights)


#: What people answer instead, by the hint they get.
TILTED_MISTAKES = {
    "divide by the sum of the weights, not by the number of tokens.": lambda tokens, q: (
        sum(math.exp(q * x) * x for x in tokens) / len(tokens)
    ),
    "the weights must sum to 1: divide by their sum.": lambda tokens, q: sum(
        math.exp(q * x) * x for x in tokens
    ),
    "that is the plain mean: weigh the tokens.": lambda tokens, q: sum(tokens) / len(tokens),
    "a sign: the weight of a token grows with q times the token.": lambda tokens, q: _tilted(tokens, -q),
    "that is q itself, the limit for Gaussian tokens; these are a few given numbers.": lambda tokens, q: q,
}


def check_tilted_mean(tilted_mean: Callable[[list[float], float], float]) -> Feedback:
    """Exercise *Tokens that are not Gaussian*: Σ x_j e^{q x_j} / Σ e^{q x_j}; tokens, q → a number."""
    cases = [
        ("the tokens ±1, q = 0.7", ([-1.0, 1.0], 0.7)),
        ("three tokens, q = −1.2", ([0.3, -0.5, 2.0], -1.2)),
        ("one token", ([0.4], 3.0)),
    ]
    return judge("ex-tilting-tilted", tilted_mean, _tilted, cases, TILTED_MISTAKES)


#: What people answer instead, by the hint they get.
HALF_MISTAKES = {
    "that is where the risk falls like 1/n": 2**-0.5,
    "that comes from queries at the edge ρ² = log n alone; the cost of a dominating token depends on ρ too": 1.0,
    "that counts only queries with ρ² = 2 log n, for which attention is certain to fail; shorter ones contribute more": 2
    ** 0.5,
    "that is b²; take the root": 4 / 3,
    "invert 1 + 4/b² = 4": 3**0.5 / 2,
}


def check_half(b: Answer) -> Feedback:
    """Exercise *When the error falls like the root of n*: the b with α(b) = ½."""
    return judge_number(
        "ex-tilting-half",
        b,
        2 / math.sqrt(3),
        HALF_MISTAKES,
        "minimise the sum of both exponents over r, and set the minimum to ½",
        "1 + 4/b² = 4 there",
    )


#: What people answer instead, by the hint they get.
LAPLACE_MISTAKES = {
    "that is what a Gaussian law of the same variance, 2, gives; the tilted mean is the derivative of log E e^{qx}": 1.0,
    "that is what a standard Gaussian law gives; the tilted mean is the derivative of log E e^{qx}": 0.5,
    "that is E e^{qx}·2q, the derivative of E e^{qx} itself: divide by E e^{qx}": 16 / 9,
    "a factor 2: the derivative of −log(1 − q²)": 2 / 3,
}


def check_laplace(mean: Answer) -> Feedback:
    """Exercise *Only Gaussians are linear*: the tilted mean of the Laplace law at q = ½."""
    return judge_number(
        "ex-tilting-converse",
        mean,
        4 / 3,
        LAPLACE_MISTAKES,
        "E e^{qx} = 1/(1 − q²); differentiate its logarithm",
        "2q/(1 − q²) at q = ½",
    )

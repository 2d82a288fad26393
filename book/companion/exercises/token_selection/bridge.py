"""Exercises of the chapter *From the kernel regime to selection*."""

import math
from collections.abc import Callable

import torch
from jaxtyping import Float, Int
from torch import Tensor

from shallowformer.exercises.feedback import Answer, Feedback, judge, judge_number

Scores = Float[Tensor, "n m T"]


def _best(scores: Scores) -> Int[Tensor, "n m"]:
    return scores.argmax(-1)


def _outputs(X: Tensor, U: Tensor) -> Scores:
    return torch.einsum("ntd,md->nmt", X, U)


#: What people answer instead, by the hint they get.
OWN_MISTAKES = {
    "the readout is missing: a head with c_i < 0 wants the token with the smallest product.": (
        lambda X, y, c, U: _best(y[:, None, None] * _outputs(X, U))
    ),
    "the label is missing: a sample with label −1 wants the output small.": (
        lambda X, y, c, U: _best(c[:, None] * _outputs(X, U))
    ),
    "a sign: the score is what the token would add to y f, and the best one has the largest.": (
        lambda X, y, c, U: _best(-y[:, None, None] * c[:, None] * _outputs(X, U))
    ),
    "that is the token with the largest product in size; its sign decides whether it helps.": (
        lambda X, y, c, U: _best(_outputs(X, U).abs())
    ),
    "that is the longest token: which token is best depends on the head.": (
        lambda X, y, c, U: X.norm(dim=-1).argmax(-1)[:, None].expand(-1, len(c))
    ),
}


def check_own_tokens(
    own_tokens: Callable[
        [Float[Tensor, "n T d"], Float[Tensor, " n"], Float[Tensor, " m"], Float[Tensor, "m d"]],
        Int[Tensor, "n m"],
    ],
) -> Feedback:
    """Exercise *A head's own token*: argmax_t y_j c_i ⟨U_i, x_{j,t}⟩; X, y, c, U → indices."""
    generator = torch.Generator().manual_seed(0)
    draw = lambda *shape: torch.randn(*shape, generator=generator, dtype=torch.float64)
    signs = lambda size: torch.where(draw(size) > 0, 1.0, -1.0).double()
    cases = [
        (f"{n} samples of {T} tokens, {m} heads", (draw(n, T, d), signs(n), signs(m), draw(m, d)))
        for n, T, d, m in ((12, 4, 3, 6), (5, 2, 8, 16))
    ]
    right = lambda X, y, c, U: _best(y[:, None, None] * c[:, None] * _outputs(X, U))
    return judge("ex-bridge-own", own_tokens, right, cases, OWN_MISTAKES)


def _decoder(gained: float, query: float) -> float:
    """|u| at which o + ln o has gained so much."""
    return math.sqrt(2 * gained) / query


_ODDS = 9 + math.log(9)
_START = 1 / 3 + math.log(1 / 3)
DECODER = _decoder(_ODDS - _START, 0.5)

#: What people answer instead, by the hint they get.
DECODER_MISTAKES = {
    "that is u², take the root": DECODER**2,
    "at the start attention is uniform over four tokens: the odds are 1 : 3, not 1 : 1": _decoder(
        _ODDS - 1, 0.5
    ),
    "the start has a value of o + ln o, too: subtract it": _decoder(_ODDS, 0.5),
    "the query has length ½: its square stands before u²": _decoder(_ODDS - _START, 1.0),
    "a factor √2: ½‖q‖²u² has gained, with the half, and with the square of the query's length": _decoder(
        _ODDS - _START, math.sqrt(0.5)
    ),
    "the odds of 0.9 are 9 : 1": _decoder(0.9 + math.log(0.9) - _START, 0.5),
}


def check_decoder(u: Answer) -> Feedback:
    """Exercise *How far must the decoder go?*: u = √(8 (9 + ln 9 − 1/3 + ln 3))."""
    return judge_number(
        "ex-bridge-decoder",
        u,
        DECODER,
        DECODER_MISTAKES,
        "put odds 1/3 and u = 0 into the conserved quantity, then odds 9",
        "attention of 0.9 takes |u| = 9.78, and tanh has been flat since 3",
        tolerance=0.01,
        near=0.002,
    )


#: What people answer instead, by the hint they get.
SLOW_MISTAKES = {
    "the conserved quantity has half of u²: 1 − p is about 2/u²": 1.0,
    "z grows like ln c, not like ½ ln c: e^{2z} is about 4c²": 8.0,
    "z grows like ln c, not like 2 ln c: e^{2z} is about 4c², not e^z": 0.5,
    "it does not vanish: the odds grow like a square of u, u like a logarithm": 0.0,
}


def check_slow(limit: Answer) -> Feedback:
    """Exercise *A logarithm of a logarithm*: (1 − p)(ln c)² → 2."""
    return judge_number(
        "ex-bridge-slow",
        limit,
        2.0,
        SLOW_MISTAKES,
        "first u against ln c, then the odds against u",
        "odds ½u², u about ln c",
        tolerance=0.02,
        near=0.02,
    )

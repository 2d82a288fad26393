"""Exercises of the chapter *From the kernel regime to selection*: right answers pass, other routes to them too."""

import math

import torch
from scipy.optimize import brentq

from companion.exercises.token_selection import bridge


def one_by_one(X, y, c, U):
    """By the outputs themselves, head by head and token by token."""
    found = torch.zeros(len(X), len(c), dtype=torch.long)
    for j, tokens in enumerate(X):
        for i in range(len(c)):
            found[j, i] = max(
                range(len(tokens)), key=lambda t: float(y[j] * c[i] * torch.tanh(U[i] @ tokens[t] / 10))
            )
    return found


def test_own_tokens_by_the_outputs_of_heads_are_right():
    assert bridge.check_own_tokens(one_by_one).passed


def test_the_decoder_solves_the_law():
    gained = lambda u: u**2 / 8 - (9 + math.log(9)) + (1 / 3 + math.log(1 / 3))
    assert bridge.check_decoder(brentq(gained, 1, 100)).passed


def test_the_limit_is_that_of_a_run():
    assert bridge.check_slow(2.0).passed
    assert not bridge.check_slow(1.9).passed

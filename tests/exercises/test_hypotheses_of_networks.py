"""Exercises about hypotheses, residual connections and preconditioned attention: right answers by other routes."""

import itertools
import math

import numpy as np
import pytest

from companion.exercises.preconditioned import hypotheses as attention
from companion.exercises.residual import hypotheses as residual


def test_what_is_left_by_a_run():
    def left(y):
        p, q = 0.3, 0.2
        for _ in range(4000):
            E = p * p * (1 + q * q) - y
            p, q = p - 0.02 * E * (1 + q * q) * p, q - 0.02 * E * p * p * q
        return (p * p * (1 + q * q) - y) ** 2 / 2 if y < 0 else 0.0

    assert residual.check_left(left).passed


@pytest.mark.parametrize(("bc", "rises"), [(4.9, False), (5.1, True)])
def test_the_corner_by_a_step(bc, rises):
    m = 1e-4
    assert ((1 - m) ** 3 - 1 - 2 * m + m**2 + bc * m > 0) == rises
    assert residual.check_corner(5.0).passed


def test_the_other_block_outruns_the_pair_above_the_threshold():
    def size(h):
        v, delta = 1e-12, 0.0
        for _ in range(round(math.log(1e8) / math.log(1.1))):
            v, delta = (1 + 0.1 * (1 - delta)) * v, (1 + 0.1 * h) * delta + 0.1 * v**2
        return v

    assert size(1.6) > 0.9e-4
    assert size(4.0) < 0.9e-4
    assert residual.check_runaway(2.1).passed


def test_two_coins_by_their_four_cases():
    def mean(q):
        pairs = itertools.product((-1, 1), repeat=2)
        return sum(np.average(pair, weights=np.exp(q * np.array(pair))) for pair in pairs) / 4

    assert attention.check_mean(mean).passed


def test_wrong_numbers_are_told():
    assert "4λ" in attention.check_weak(0.5).message
    assert attention.check_weak(0.25).state == "wrong"
    assert attention.check_flat((2 - 8**0.5) / 2).passed
    assert attention.check_flat(0.0).state == "wrong"

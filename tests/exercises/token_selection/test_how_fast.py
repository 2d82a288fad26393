"""Exercises of the chapter *How fast*: right answers pass, other routes to them too."""

import math

import torch

from companion.exercises.token_selection import how_fast


def by_chord(W, best):
    """1 − cos = ½‖difference of the unit matrices‖², without cancellation in the difference's direction."""
    along = (W * best).sum() / best.norm() ** 2
    tangent = (W - along * best).norm() / (along * best.norm())
    return float(2 * torch.sin(torch.atan(tangent) / 2) ** 2)


def test_another_formula_for_the_angle_is_right():
    assert how_fast.check_angle(by_chord).passed


def test_the_numbers_are_right():
    beta, v = 0.9, 0.0
    for _ in range(500):
        v = beta * v + 1
    assert how_fast.check_momentum(v**2).passed
    sums = [sum((t + 1) ** -0.5 for t in range(steps)) for steps in (10_000, 1_000_000)]
    assert abs(-2 * math.log(sums[1] / sums[0]) / math.log(100) + 1) < 0.01
    assert how_fast.check_decay(0.5).passed


def test_no_hint_says_what_is_not_so():
    """1 − corr falls like t^{−2(1 − p)}: the exponents that the hints name."""
    for p, said in ((0.25, "t^{−3/2}"), (2 / 3, "t^{−2/3}")):
        assert said in how_fast.check_decay(p).told
    assert "fell like 1/S_t" in how_fast.check_decay(0.0).told

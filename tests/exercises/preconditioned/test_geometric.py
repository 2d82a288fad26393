"""Right answers pass, as the mathematics gives them anew; others are told where to look."""

import pytest
import torch

from companion.exercises.preconditioned import geometric
from companion.theory.preconditioned import biased
from shallowformer.preconditioned import bounds


def test_the_factor_is_the_packages():
    def by_package(s, f0):
        s = torch.tensor(s, dtype=torch.float64)
        return bounds.contraction(s, bounds.step(s, f0), f0)

    assert geometric.check_factor(by_package).passed


@pytest.mark.parametrize(("hint", "mistaken"), geometric.FACTOR_MISTAKES.items())
def test_each_mistake_gets_its_hint(hint, mistaken):
    feedback = geometric.check_factor(mistaken)
    assert feedback.state == "wrong"
    assert hint in feedback.told


def test_samples_are_those_below_which_the_barrier_is_gone():
    s = torch.tensor([0.5], dtype=torch.float64)
    answer = next(n for n in range(1, 1000) if 20 / n < biased.most_bias(s) ** 2 * (1 - 1e-12))
    assert geometric.check_samples(answer).passed
    floor, barrier = biased.floor_and_barrier(s, (20 / answer) ** 0.5)
    assert floor < 1 / 18 < barrier


def test_the_length_is_that_of_the_scalar_flow():
    s, x, length, step = 0.5, (2 * 0.5 * 0.25) ** 0.5, 0.0, 1e-3
    while abs(x**2 - 2 * s) > 1e-9:
        move = -step * (x**2 - 2 * s) * x / 2
        x, length = x + move, length + abs(move)
    assert geometric.check_length(length).passed


@pytest.mark.parametrize(
    ("check", "mistakes"),
    [
        (geometric.check_samples, geometric.SAMPLES_MISTAKES),
        (geometric.check_length, geometric.LENGTH_MISTAKES),
    ],
)
def test_known_numbers_get_their_hints(check, mistakes):
    for hint, number in mistakes.items():
        assert check(number).hint(2) == hint

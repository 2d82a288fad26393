"""Right answers pass, as the mathematics gives them anew; others are told where to look."""

import numpy as np
import pytest

from companion.exercises.residual import climate


def test_hours_pass_in_any_order_of_thought():
    assert climate.check_hours(lambda minutes: [m for m in minutes if m % 60 == 0]).passed
    assert climate.check_hours(lambda minutes: sorted(set(minutes) & set(range(0, 1440, 60)))).passed
    twice = climate.check_hours(lambda minutes: 2 * [m for m in minutes if m % 60 == 0])
    assert twice.state == "wrong"


def test_the_number_of_steps_is_that_of_three_runs():
    sigma = np.array([1.0, 0.3, 0.1])
    y = np.array([1.0, -2.0, 0.7])

    def run(g, mu, steps):
        w = np.zeros(3)
        for _ in range(steps):
            w = w - mu * g * sigma * (g * sigma * w - y)
        return np.square(g * sigma * w - y).sum() / np.square(y).sum()

    goal = run(2, 1 / 4, 400)  # the step of coefficient 2: 1 over its curvature of 4
    with_that_step = next(t for t in range(1, 4000) if run(1, 1 / 4, t) <= goal * (1 + 1e-9))
    own = next(t for t in range(1, 4000) if run(1, 1.0, t) <= goal * (1 + 1e-9))
    assert with_that_step == pytest.approx(1600, abs=10)
    assert climate.check_steps(own).passed


def test_the_ill_conditioned_problem_is_ahead_for_so_long():
    def losses(squares, y):
        w = np.zeros(2)
        while True:
            error = np.sqrt(squares) * w - y
            yield np.square(error).sum() / 2
            w = w - np.sqrt(squares) * error

    A = losses(np.array([1, 1e-6]), np.sqrt([0.999, 0.001]))
    B = losses(np.array([1, 0.01]), np.array([0.0, 1.0]))
    pairs = [(next(A), next(B)) for _ in range(600)]
    behind = [t for t, (a, b) in enumerate(pairs) if t and b < a]
    assert behind == list(range(behind[0], 600))
    assert climate.check_ahead(behind[0]).passed

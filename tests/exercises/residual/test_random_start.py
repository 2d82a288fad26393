"""Right answers pass, as the mathematics gives them anew."""

import numpy as np
from scipy.integrate import quad

from companion.exercises.residual import random_start


def test_a_waste_found_by_a_search_over_errors_passes():
    def waste(lam, mu):
        K = np.array(lam)
        shares = np.random.default_rng(0).dirichlet(np.full(len(lam), 0.1), 5000)
        shares = np.concatenate([shares, np.eye(len(lam))])
        left = np.sqrt(shares @ (1 - mu * K) ** 2) + mu * np.sqrt(K.min() * (shares @ K))
        return 1 - left.min()

    assert random_start.check_waste(waste).passed


def test_the_width_is_that_of_the_integral():
    area = lambda d_1: quad(lambda x: ((d_1 / 4) ** 0.5 - 2 * x) ** 2, 0, (d_1 / 4) ** 0.5 / 2)[0]
    answer = next(d_1 for d_1 in range(1, 1000) if area(d_1) >= 9)
    assert random_start.check_width(answer).passed


def test_the_longest_step_is_where_a_search_over_errors_begins_to_fail():
    angles = np.linspace(0, np.pi / 2, 20_001)
    E, lam = np.stack([np.cos(angles), np.sin(angles)]), np.array([[1.0], [4.0]])
    worst = lambda mu: (
        np.linalg.norm((1 - mu * lam) * E, axis=0) + mu * np.linalg.norm(lam**0.5 * E, axis=0)
    ).max()
    assert worst(0.25) <= 1 + 1e-12
    assert worst(0.2505) > 1 + 1e-9
    assert random_start.check_step(0.25).passed

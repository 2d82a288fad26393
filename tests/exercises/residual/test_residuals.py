"""Right answers pass, as the mathematics gives them anew; others are told where to look."""

import math

import torch

from companion.exercises.residual import residuals


def test_counting_steps_passes_up_to_their_whole_number():
    def by_growing(eps, r, mu, sigma):
        size, steps = eps, 0
        while size * (1 + mu * sigma) <= r:
            size, steps = size * (1 + mu * sigma), steps + 1
        return steps + math.log(r / size) / math.log(1 + mu * sigma)

    assert residuals.check_escape(by_growing).passed


def test_the_leak_by_integration():
    x = torch.arange(-9, 9, 1e-3, dtype=torch.float64)
    mass = torch.exp(-x.square() / 2) * 1e-3 / math.sqrt(2 * math.pi)
    values = torch.where(x > 0, x, x / 2)
    mean = mass @ values
    assert residuals.check_leaky(float(mass @ (values - mean).square())).passed
    assert "odd part" in residuals.check_leaky(9 / 16).told


def test_the_rank_of_three_documents():
    S = torch.block_diag(*[torch.full((4, 4), 0.25, dtype=torch.float64)] * 3)
    rank = int(torch.linalg.matrix_rank(torch.eye(12, dtype=torch.float64) - S))
    assert residuals.check_rank(rank).passed
    assert "vector of its own" in residuals.check_rank(11).told

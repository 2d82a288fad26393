"""A product that forms the matrix is told so, and a search passes."""

import torch

from companion.exercises.kernel_regime import smoothness


def test_forming_the_third_cumulant_is_noticed():
    def answer(X, alpha, U, w):
        Y = X - alpha @ X
        return (Y.T * (alpha * (Y @ U))) @ Y @ w

    assert "d²" in smoothness.check_skewness_product(answer).told


def test_the_constant_of_a_ball_by_a_search_over_splits_passes():
    def constant(L1, L2):
        split = torch.linspace(0, torch.pi / 2, 200_001, dtype=torch.float64)
        return (L2 / 2 * split.cos() ** 2 + L1 * split.sin() * split.cos()).max()

    assert smoothness.check_ball_constant(constant).passed

"""A number is told where to look, and a product that forms the matrix is told so."""

import pytest
import torch

from companion.exercises.kernel_regime import smoothness


@pytest.mark.parametrize(
    ("number", "word"),
    [
        (2.38, "worst case"),
        (0.5, "too large"),
        (0.2, "too small"),
    ],
)
def test_typical_curvature_is_told_where_to_look(number, word):
    feedback = smoothness.check_typical_curvature(number)
    assert feedback.state == "wrong"
    assert word in feedback.told


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

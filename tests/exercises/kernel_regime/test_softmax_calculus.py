"""A scale is told which way to go, and a product that forms the matrix is told so."""

import pytest
import torch

from shallowformer.exercises.kernel_regime import softmax_calculus


@pytest.mark.parametrize(
    ("number", "word"),
    [
        (1.0, "larger"),
        (12.0, "smaller"),
        (-1.0, "above 0"),
    ],
)
def test_insensitive_scale_is_told_where_to_look(number, word):
    feedback = softmax_calculus.check_insensitive_scale(number)
    assert feedback.state == "wrong"
    assert word in feedback.told


def test_forming_the_matrix_is_noticed():
    def answer(X, alpha, U):
        Y = X - alpha @ X
        return (Y.T * alpha) @ Y @ U

    assert "d²" in softmax_calculus.check_covariance_product(answer).told


def test_a_norm_by_a_solver_is_refused():
    def by_solver(z):
        p = torch.softmax(z, 0)
        return torch.linalg.eigvalsh(torch.diag(p) - torch.outer(p, p))[-1]

    assert "find the formula" in softmax_calculus.check_spectral_norm(by_solver).message

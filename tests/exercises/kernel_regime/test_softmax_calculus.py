"""A scale is told which way to go, and a product that forms the matrix is told so."""

import pytest
import torch

from companion.exercises.kernel_regime import softmax_calculus
from shallowformer import softmax


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


def test_a_search_over_weights_of_at_most_a_fifth_finds_nothing_below_the_least_norm():
    draw = torch.Generator().manual_seed(0)
    least = 1.0
    for T in range(5, 11):
        alpha = torch.rand(4000, T, generator=draw, dtype=torch.float64) ** 0.3
        alpha = torch.cat(
            [alpha / alpha.sum(-1, keepdim=True), torch.full((1, T), 1 / T, dtype=torch.float64)]
        )
        alpha = alpha[alpha.amax(-1) <= 0.2 + 1e-9]
        least = min(least, float(softmax.inf_to_one_norm(alpha.log()).min()))
    assert softmax_calculus.check_least_norm(least).passed

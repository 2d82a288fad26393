"""A product that forms the matrix is told so, a solver is refused, and a search finds nothing below."""

import torch

from companion.exercises.kernel_regime import softmax_calculus
from shallowformer import softmax


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

"""Exercises of the chapter *What each ingredient buys*: right answers pass, by other routes too."""

import torch

from companion.exercises.preconditioned import ingredients as exercises
from shallowformer.preconditioned import covariances, problems
from shallowformer.preconditioned.limit import Population


def by_square_roots(M):
    """V = (MᵀM)^¼ and U = MV⁻¹, without singular vectors."""
    values, basis = torch.linalg.eigh(M.T @ M)
    V = basis * values**0.25 @ basis.T
    return torch.cat([M @ torch.linalg.inv(V), V])


def test_polar_factors_by_square_roots_are_right():
    assert exercises.check_polar(by_square_roots).passed


def test_the_condition_number_is_that_of_the_gradient_s_derivative():
    Sigma = torch.tensor([0.01, 1.0], dtype=torch.float64).diag()
    half = torch.tensor([1.0, 0.5], dtype=torch.float64).diag()
    inverse = covariances.roots(Sigma)[1]
    objective = Population(problems.Problem(Sigma, half @ half @ inverse))
    A, B = half @ inverse, inverse @ half @ inverse

    def slope(flat):
        _, found = objective.losses_and_gradient(tuple(flat.view(2, 2, 2)))
        return torch.stack(found).flatten()

    H = torch.autograd.functional.jacobian(slope, torch.stack([A, B]).flatten())
    values = torch.linalg.eigvalsh((H + H.T) / 2)
    assert exercises.check_raw(values[-1] / values[4]).passed


def test_the_ridge_s_factor_is_that_of_whitened_tokens():
    longer = [float(t * (torch.tensor(t**2 + 0.21).double()) ** -0.5) for t in (1e8, 1.0)]
    assert exercises.check_ridge(longer[0] / longer[1]).passed

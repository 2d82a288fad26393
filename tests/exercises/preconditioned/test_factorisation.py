"""Exercises of the chapter *The factorisation problem*: right answers pass, other routes to them too."""

import itertools
import math

import torch

from companion.exercises.preconditioned import factorisation as exercises
from shallowformer.preconditioned import factorisation, flow


def by_autograd(U, V, M, lam):
    U, V = U.requires_grad_(), V.requires_grad_()
    return torch.cat(torch.autograd.grad(factorisation.value(U, V, M, lam), (U, V)))


def test_a_gradient_by_automatic_differentiation_is_right():
    assert exercises.check_gradient(by_autograd).passed


def test_the_wait_is_that_of_the_flow():
    time = math.log(1e6 - 1)
    factor = torch.full((1, 1), 1e-3 / 2**0.5, dtype=torch.float64)
    ((U, V),) = flow.solve(factor, factor, torch.full((1, 1), 0.5, dtype=torch.float64), [time])
    assert abs(float((U + V) ** 2 / 2) - 0.5) < 1e-6
    assert exercises.check_wait(time).passed


def test_no_narrow_saddle_is_flatter_than_the_exercise_says():
    """Hessians at all sets of two, and of fewer."""
    s, flattest = torch.tensor([3.0, 2.0, 1.9, 0.5], dtype=torch.float64), -math.inf
    for size in range(3):
        for kept in itertools.combinations(range(4), size):
            if kept == (0, 1):
                continue
            factor = torch.zeros(4, 2, dtype=torch.float64)
            for column, row in enumerate(kept):
                factor[row, column] = s[row].sqrt()
            H = factorisation.hessian(factor, factor, s.diag())
            flattest = max(flattest, float(torch.linalg.eigvalsh(H)[0]))
    assert exercises.check_narrow(flattest).passed

"""Automatic differentiation is noticed in each of its forms, a solver of eigenvalues under each of its names. Entries of what a computation makes are counted."""

import pytest
import torch
from torch.autograd import forward_ad

from shallowformer.exercises.feedback import Feedback
from shallowformer.exercises.memory import largest_tensor, without_matrix
from shallowformer.exercises.unaided import without_autograd, without_solver

PASSED = Feedback("ex", "passed", "")
x = torch.arange(3, dtype=torch.float64)


def f(x):
    return torch.tanh(x).sum()


def by_hand(x):
    return 1 - torch.tanh(x) ** 2


def backward(x):
    x = x.clone().requires_grad_()
    f(x).backward()
    return x.grad


def by_grad(x):
    x = torch.nn.Parameter(x)
    return torch.autograd.grad(f(x), x)[0]


def by_dual(x):
    slopes = []
    for k in range(len(x)):
        with forward_ad.dual_level():
            slopes.append(
                forward_ad.unpack_dual(f(forward_ad.make_dual(x, torch.eye(3).double()[k]))).tangent
            )
    return torch.stack(slopes)


WAYS = {
    "backward": backward,
    "grad": by_grad,
    "jacobian": lambda x: torch.autograd.functional.jacobian(f, x),
    "func.grad": lambda x: torch.func.grad(f)(x),
    "func.jacfwd": lambda x: torch.func.jacfwd(f)(x),
    "func.jvp": lambda x: torch.stack([torch.func.jvp(f, (x,), (e,))[1] for e in torch.eye(3).double()]),
    "dual numbers": by_dual,
    "in a map": lambda x: torch.vmap(torch.func.grad(lambda t: torch.tanh(t)))(x),
}


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_automatic_differentiation_is_noticed(way):
    assert torch.allclose(way(x), by_hand(x))
    told = without_autograd(PASSED, way, (x,))
    assert told.state == "wrong"
    assert "write the derivative out" in told.message


def test_what_does_not_differentiate_is_left_alone():
    wrong = Feedback("ex", "wrong", "no")
    assert without_autograd(PASSED, by_hand, (x,)) is PASSED
    assert without_autograd(PASSED, torch.vmap(torch.tanh), (x,)) is PASSED
    assert without_autograd(PASSED, lambda x: x.detach().numpy() + 1, (x,)) is PASSED
    assert without_autograd(wrong, backward, (x,)) is wrong
    assert without_solver(wrong, torch.linalg.eigvalsh, (torch.eye(2),)) is wrong
    assert without_solver(PASSED, lambda A: A.norm(), (torch.eye(2),)) is PASSED


SOLVERS = {
    "eigvalsh": torch.linalg.eigvalsh,
    "eig": torch.linalg.eig,
    "svdvals": torch.linalg.svdvals,
    "matrix norm": lambda A: torch.linalg.matrix_norm(A, 2),
    "norm": lambda A: torch.linalg.norm(A, 2),
    "condition": torch.linalg.cond,
}


@pytest.mark.parametrize("solver", SOLVERS.values(), ids=SOLVERS)
def test_a_solver_is_noticed(solver):
    assert "solver" in without_solver(PASSED, solver, (torch.eye(2).double(),)).message


X, U = torch.ones(3, 50), torch.ones(50)


def test_what_is_made_counts_and_views_do_not():
    assert largest_tensor(lambda a: a[:, None] * a, U) == 50 * 50
    assert largest_tensor(lambda a: a.expand(1000, 50).T[:2], U) == 0
    assert largest_tensor(lambda a, b: a.T @ (a @ b), X, U) == 50


def test_only_what_is_right_is_judged_by_its_memory():
    passed, wrong = Feedback("ex", "passed", ""), Feedback("ex", "wrong", "no")
    matrix, lean = (lambda X, U: (X.T @ X) @ U), (lambda X, U: X.T @ (X @ U))
    assert without_matrix(passed, lean, (X, U), "instead") is passed
    assert without_matrix(wrong, matrix, (X, U), "instead") is wrong
    assert without_matrix(passed, matrix, (X, U), "instead").message == (
        "right, but for d = 50 you make a tensor of d² entries: instead"
    )

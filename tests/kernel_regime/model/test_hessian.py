"""The derivatives of a head against autograd, and against the cumulants computed token by token."""

import pytest
import torch
from torch import Generator

from checks import assert_agrees, refused
from shallowformer import activations, softmax
from shallowformer.kernel_regime.model import hessian

SHAPES = [(1, 1), (1, 3), (4, 1), (3, 2), (6, 4)]


def draw(seed, *shape):
    return torch.randn(*shape, generator=Generator().manual_seed(seed), dtype=torch.float64)


def case(T, d):
    X = torch.nn.functional.normalize(draw(1, T, d), dim=-1) * 0.9
    return X, 0.8 * torch.nn.functional.normalize(draw(2, d), dim=-1), 2 * draw(3, d), draw(4, d, d)


def head(X, q, sigma):
    return lambda U, W: sigma(U @ (torch.softmax(X @ W @ q, 0) @ X))


def large_hessian(X, q, U, W, sigma):
    d = len(q)
    h = head(X, q, sigma)
    theta = torch.cat([U, W.flatten()])
    return torch.func.hessian(lambda t: h(t[:d], t[d:].reshape(d, d)))(theta)


@pytest.mark.parametrize("sigma", activations.ALL, ids=lambda sigma: sigma.name)
@pytest.mark.parametrize(("T", "d"), SHAPES)
def test_the_dense_matrix_is_autograds(T, d, sigma):
    X, q, U, W = case(T, d)
    alpha = torch.softmax(X @ W @ q, 0)
    assert_agrees(hessian.dense(X, alpha, U, q, sigma), large_hessian(X, q, U, W, sigma), factor=512)


@pytest.mark.parametrize(("T", "d"), SHAPES)
def test_the_small_matrix_has_its_eigenvalues(T, d):
    X, q, U, W = case(T, d)
    alpha = torch.softmax(X @ W @ q, 0)
    large = torch.linalg.eigvalsh(large_hessian(X, q, U, W, activations.TANH))
    small = torch.linalg.eigvalsh(hessian.hidden(X, alpha, U, float(q.norm())))
    zeros = torch.zeros(d * d - d, dtype=torch.float64)
    assert_agrees(torch.cat([small, zeros]).sort().values, large, factor=512)


@pytest.mark.parametrize(("T", "d"), SHAPES)
def test_the_product_is_the_matrix_times_the_direction(T, d):
    X, q, U, W = case(T, d)
    alpha, u, delta = torch.softmax(X @ W @ q, 0), draw(5, d), draw(6, d, d)
    left, right = hessian.product(X, alpha, U, q, u, delta)
    expected = large_hessian(X, q, U, W, activations.TANH) @ torch.cat([u, delta.flatten()])
    assert_agrees(torch.cat([left, right.flatten()]), expected, factor=512)


def test_everything_is_batched():
    X, alpha = draw(1, 5, 1, 4, 3), torch.softmax(draw(2, 5, 2, 4), -1)
    U, q, u, delta = draw(3, 2, 3), draw(4, 5, 1, 3), draw(5, 3), draw(6, 3, 3)
    left, right = hessian.product(X, alpha, U, q, u, delta)
    assert left.shape == (5, 2, 3)
    assert right.shape == (5, 2, 3, 3)
    small = hessian.hidden(X, alpha, U)
    for i in range(5):
        for j in range(2):
            one = hessian.product(X[i, 0], alpha[i, j], U[j], q[i, 0], u, delta)
            assert_agrees(left[i, j], one[0])
            assert_agrees(right[i, j], one[1])
            assert_agrees(small[i, j], hessian.hidden(X[i, 0], alpha[i, j], U[j]))


@pytest.mark.parametrize("sigma", activations.ALL, ids=lambda sigma: sigma.name)
@pytest.mark.parametrize(("T", "d"), SHAPES)
def test_the_third_derivative_is_autograds(T, d, sigma):
    X, q, U, W = case(T, d)
    u, delta = draw(7, d), draw(8, d, d)
    h = head(X, q, sigma)
    along = torch.func.grad(torch.func.grad(torch.func.grad(lambda t: h(U + t * u, W + t * delta))))
    third = hessian.third(X, torch.softmax(X @ W @ q, 0), U, u, delta @ q, sigma)
    assert_agrees(third, along(torch.tensor(0.0, dtype=torch.float64)), factor=4096)


def test_the_fourth_cumulant_is_the_derivative_of_the_third():
    X, lam, u, w = draw(1, 5, 3), draw(2, 3), draw(3, 3), draw(4, 3)
    third = lambda t: softmax.third_cumulant_form(X, torch.softmax(X @ (lam + t * w), 0), u, w, w)
    derivative = torch.func.grad(third)(torch.tensor(0.0, dtype=torch.float64))
    assert_agrees(hessian.fourth_cumulant_form(X, torch.softmax(X @ lam, 0), u, w), derivative, factor=512)


def test_one_token_has_no_second_derivative():
    X, alpha = draw(1, 1, 3), torch.ones(1, dtype=torch.float64)
    assert torch.equal(hessian.preactivation(X, alpha, draw(2, 3)), torch.zeros(6, 6, dtype=torch.float64))


@pytest.mark.parametrize(
    ("call", "name", "given", "allowed"),
    [
        (lambda X, a, U: hessian.hidden(X, a, U[:2]), "U", "2", "d = 3"),
        (lambda X, a, U: hessian.product(X, a, U, U, U, draw(1, 2, 2)), "delta", "(2, 2)", "d = 3"),
        (lambda X, a, U: hessian.product(X, a, U, U, U, U), "delta", "(3,)", "d"),
        (lambda X, a, U: hessian.dense(X[None], a, U, U), "X", "(1, 4, 3)", "[T d]"),
        (lambda X, a, U: hessian.product(X, a, U, U, U[:1], draw(1, 3, 3)), "u", "1", "d = 3"),
        (lambda X, a, U: hessian.product(X, a, U, U[:2], U, draw(1, 3, 3)), "q", "2", "d = 3"),
        (lambda X, a, U: hessian.third(X, a, U, U[:1], U), "u", "1", "d = 3"),
        (lambda X, a, U: hessian.fourth_cumulant_form(X, a, U, U[:1]), "w", "1", "d = 3"),
    ],
)
def test_what_does_not_fit_is_refused(call, name, given, allowed):
    refused(name, given, allowed, call, draw(1, 4, 3), torch.softmax(draw(2, 4), 0), draw(3, 3))

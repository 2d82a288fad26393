"""The coupling matrix by automatic differentiation, the plateau it is taken on, and escape by counting."""

import math

import pytest
import torch

from checks import refused
from companion.theory.residual import escape, plateau
from shallowformer.residual import gradients, model, starts


def by_autograd(one):
    X, Y, theta, setting = one.all
    B = (theta.W_Q @ theta.W_K.T).requires_grad_()
    S = torch.softmax(X @ B @ X.mT / setting.divisor(theta), -1)
    Z = setting.g * X + S @ X @ theta.W_V
    H = setting.g_f * Z + setting.activation(Z @ theta.W_1) @ theta.W_2
    return torch.autograd.grad((H @ theta.W_U - Y).square().sum() / 2, B)[0]


@pytest.mark.parametrize("g", [0.0, 0.7])
def test_coupling_is_the_slope_in_the_product(case, g):
    one = case(g=g, temperature=1.3)
    M = escape.coupling(*one.all)
    assert torch.allclose(M, by_autograd(one), rtol=1e-11, atol=1e-12)
    slope = gradients.gradients(*one.all)
    assert torch.allclose(slope.W_Q, M @ one.theta.W_K)
    assert torch.allclose(slope.W_K, M.T @ one.theta.W_Q)


def on_plateau(case, **more):
    one = case(N=4, g=0.0, g_f=0.6, scales={"W_Q": 0.0, "W_K": 0.0}, **more)
    return one, escape.plateau(one.X, one.theta, one.setting, one.generator)


def test_made_targets_put_a_network_on_the_floor(case):
    one, Y = on_plateau(case)
    found = gradients.backward(one.X, Y, one.theta, one.setting)
    assert float(found.loss) == pytest.approx(float(plateau.floor(Y)), rel=1e-12)
    assert max(float(block.abs().max()) for block in found.gradients) < 1e-12
    there = escape.coupling(one.X, Y, one.theta, one.setting)
    assert torch.allclose(escape.coupling_at_means(one.X, Y, one.theta, one.setting), there)


def test_escape_takes_the_time_that_the_coupling_says(case, long):
    one, Y = on_plateau(case, seed=4)
    M, mu = escape.coupling_at_means(one.X, Y, one.theta, one.setting), 2e-3
    drawn = case(N=4, g=0.0, seed=9).theta
    sizes, norm = (1e-7, 1e-5), math.hypot(float(drawn.W_Q.norm()), float(drawn.W_K.norm()))
    begin = [one.theta._replace(W_Q=e * drawn.W_Q / norm, W_K=e * drawn.W_K / norm) for e in sizes]
    many = lambda A: A.expand(2, *A.shape)
    found = escape.steps_until(
        many(one.X), many(Y), starts.side_by_side(begin), one.setting, mu=mu, r=0.02, limit=20_000
    )
    q, y = escape.growth(M, mu), escape.aligned(M, drawn.W_Q, drawn.W_K)
    for steps, eps in zip(found, sizes, strict=True):
        low, middle, high = escape.times(eps, 0.02, y, q)
        assert low <= steps <= high
        assert abs(steps - middle) <= 0.02 * middle + 2


def test_alone_or_side_by_side(case):
    one, Y = on_plateau(case, seed=4)
    drawn = case(N=4, g=0.0, seed=9).theta
    begin = one.theta._replace(W_Q=0.01 * drawn.W_Q, W_K=0.01 * drawn.W_K)
    assert len(escape.steps_until(one.X, Y, begin, one.setting, mu=1e-2, r=0.05, limit=4000)) == 1
    with refused("limit", "3", "reach r"):
        escape.steps_until(one.X, Y, begin, one.setting, mu=1e-2, r=0.5, limit=3)


def test_the_fastest_start_is_aligned_and_its_opposite_is_not():
    M = torch.diag(torch.tensor([3.0, 1.0], dtype=torch.float64))
    W = torch.tensor([[1.0], [0.0]], dtype=torch.float64)
    assert escape.aligned(M, W, -W) == pytest.approx(1.0)
    assert escape.aligned(M, W, W) == pytest.approx(0.0, abs=1e-15)
    assert escape.growth(M, 0.1) == pytest.approx(1.3)


def test_what_is_refused(case):
    refused("r", "0.001", "at least 0.01", escape.times, 0.01, 0.001, 0.5, 1.1)
    refused("q", "1.0", "at least 1", escape.times, 0.01, 0.1, 0.5, 1.0)
    one = case()
    assert model.loss(*one.all).shape == ()

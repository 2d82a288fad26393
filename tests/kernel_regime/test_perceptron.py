"""The two-layer network against automatic differentiation, and its certificate at its edges."""

import math

import pytest
import torch

from companion.experiments.kernel_regime import linearised_attention
from companion.theory.kernel_regime import perceptron, perceptron_run
from shallowformer.kernel_regime.linear_run import known


def posed(n=6, d=4, pairs=5, seed=0):
    source = torch.Generator().manual_seed(seed)
    X = perceptron.unit_rows(torch.randn(n, d, generator=source, dtype=torch.float64))
    return X, torch.randn(n, generator=source, dtype=torch.float64), perceptron.start(pairs, d, source)


def f(X, plus, minus, act):
    return (act.value(X @ plus.mT) - act.value(X @ minus.mT)).sum(1) / (2 * len(plus)) ** 0.5


@pytest.mark.parametrize("name", perceptron.ACTIVATIONS)
def test_kernel_and_descent_against_automatic_differentiation(name):
    X, y, w = posed()
    act = perceptron.ACTIVATIONS[name]
    jacobian = torch.cat(
        [
            block.flatten(1)
            for block in torch.autograd.functional.jacobian(lambda a, b: f(X, a, b, act), (w, w))
        ],
        1,
    )
    torch.testing.assert_close(jacobian @ jacobian.mT, perceptron.kernel(X, w, act.slope))
    run = perceptron.train(X, y, w, act, 0.3, 3)
    plus, minus = w.clone(), w.clone()
    for s in range(3):
        plus, minus = plus.requires_grad_(), minus.requires_grad_()
        r = f(X, plus, minus, act) - y
        torch.testing.assert_close(run.r[s], r.detach())
        up, down = torch.autograd.grad(r.square().mean(), (plus, minus))
        plus, minus = (plus - 0.3 * up).detach(), (minus - 0.3 * down).detach()
    torch.testing.assert_close(run.plus, plus)
    torch.testing.assert_close(run.minus, minus)


def test_bounds_on_derivatives_are_attained():
    z = torch.linspace(-8, 8, 4001, dtype=torch.float64)
    values = perceptron.SOFTPLUS.slope(z)
    for most, slack in zip(perceptron.SOFTPLUS.most, (1e-3, 1e-4, 1e-4, 1e-3), strict=True):
        assert most * (1 - 2 * slack) - 1e-3 < float(values.abs().max()) < most * (1 + 1e-5)
        values = values.diff() / (z[1] - z[0])
        z = z[1:]
    assert not perceptron.RELU.smooth
    assert perceptron.SOFTPLUS.smooth


def test_limit_kernel_is_that_of_many_units():
    X, _, w = posed(pairs=200_000)
    torch.testing.assert_close(
        perceptron.kernel(X, w, perceptron.RELU.slope), perceptron.limit_kernel(X), atol=5e-3, rtol=0
    )
    assert float(perceptron.limit_kernel(X).diagonal().sub(0.5).abs().max()) < 1e-12


@pytest.mark.parametrize("name", perceptron.ACTIVATIONS)
def test_a_bound_that_says_nothing_is_infinite_from_there_on(name):
    X, y, w = posed(pairs=1)
    act = perceptron.ACTIVATIONS[name]
    G = perceptron.kernel(X, w, act.slope) / len(X)
    eta = float(0.5 / torch.linalg.eigvalsh(G)[-1])
    sure = perceptron_run.certificate(X, w, known.linear_run(G, 50 * y, eta, 40), act, eta)
    assert sure.E[0] == 0
    assert math.isinf(sure.E[-1])
    assert sure.alpha.shape == sure.beta.shape == (41, 1)
    assert math.isinf(sure.alpha[-1, 0])


def test_numbers_of_a_row():
    config = linearised_attention.Config(False, "relu", 16, 3, n=20, steps=5)
    X, seen, y, _ = linearised_attention.posed(config)
    torch.testing.assert_close(X.norm(dim=1), torch.ones(20).double())
    assert X is seen
    assert set(y.tolist()) == {-1.0, 1.0}
    found = linearised_attention.compute(config, torch.device("cpu"))
    assert len(found["distance"]) == len(found["bound"]) == 3
    assert found["spectrum"]["kappa"] == found["spectrum"]["kappa_seen"]
    assert all(
        0 <= far <= bound * (1 + 1e-9) or bound < 0
        for far, bound in zip(found["distance"], found["bound"], strict=True)
    )
    after = perceptron.attended(X)
    torch.testing.assert_close(
        linearised_attention.posed(linearised_attention.Config(True, "relu", 16, 3, n=20))[1],
        after / after.norm(dim=1, keepdim=True),
    )

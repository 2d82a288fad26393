"""The linear model: against the gradients, automatic differentiation, and head by head; and directional derivatives in a pass over the data."""

import pytest
import torch
from torch import Generator

from checks import assert_agrees
from shallowformer import activations, data, queries
from shallowformer.kernel_regime.kernel import transportation
from shallowformer.kernel_regime.model import gradients, linear_model, parameters, transformer
from shallowformer.kernel_regime.model.loss import Loss
from shallowformer.kernel_regime.model.parameters import Parameters, difference
from shallowformer.kernel_regime.model.students import Students
from shallowformer.training import autograd, points


def point(seed=0, n=3, T=4, d=3, m=6):
    generator = torch.Generator().manual_seed(seed)
    X = data.clipped_gaussian(n, T, d, generator)
    return X, parameters.random(m, d, generator), parameters.random(m, d, generator).map(lambda block: 0.3 * block)  # fmt: skip


@pytest.mark.parametrize("sigma", activations.ALL, ids=lambda sigma: sigma.name)
@pytest.mark.parametrize(("T", "d", "m"), [(1, 1, 1), (4, 3, 6), (16, 8, 2)])
def test_the_heads_add_up_to_the_error_of_the_model(sigma, T, d, m):
    X, phi, delta = point(T=T, d=d, m=m)
    change = transformer.f(X, parameters.plus(phi, delta), sigma=sigma) - transformer.f(X, phi, sigma=sigma)
    gradient = gradients.per_sample_gradient(X, phi, sigma=sigma)
    slope = sum((g * step).flatten(1).sum(1) for g, step in zip(gradient, delta.blocks, strict=True))
    errors = linear_model.head_errors(X, phi, delta, sigma=sigma)
    assert errors.shape == (len(X), m)
    assert torch.allclose(errors.sum(1), change - slope, rtol=0, atol=1e-13)


def test_one_head_alone_errs_as_the_model_with_that_head_does():
    X, phi, delta = point()
    alone = lambda p, i: p.map(lambda block: block[i : i + 1])
    for i in range(phi.m):
        one = linear_model.head_errors(X, alone(phi, i), alone(delta, i))[:, 0] / phi.m**0.5
        assert torch.allclose(one, linear_model.head_errors(X, phi, delta)[:, i], rtol=0, atol=1e-14)


def test_a_pair_that_moves_alike_misses_the_product_of_its_two_changes():
    generator = torch.Generator().manual_seed(2)
    X, phi = data.sphere(1, 5, 3, generator), parameters.symmetric(8, 3, generator)
    half = parameters.random(4, 3, generator)
    delta = Parameters(half.c.repeat(2), half.U.repeat(2, 1), half.W.repeat(2, 1, 1))
    rise = transformer.hidden(X, parameters.plus(phi, delta)) - transformer.hidden(X, phi)
    pair = linear_model.head_errors(X, phi, delta).reshape(2, 4).sum(0)
    assert torch.allclose(pair, 2 * (delta.c * rise[0])[:4] / 8**0.5, rtol=0, atol=1e-14)


def test_no_perturbation_no_error():
    X, phi, delta = point()
    assert linear_model.head_errors(X, phi, delta.map(torch.zeros_like)).abs().max() == 0


def test_a_perturbation_of_another_shape_is_refused():
    X, phi, _ = point()
    other = point(m=4)[2]
    with pytest.raises(ValueError, match=r"delta.W must have shape \(6, 3, 3\)"):
        linear_model.head_errors(X, phi, other)


@pytest.mark.parametrize("start", [parameters.symmetric, parameters.random])
@pytest.mark.parametrize("sigma", activations.ALL, ids=lambda sigma: sigma.name)
def test_the_linear_model_is_the_tangent(start, sigma):
    X, phi, _ = point()
    phi0 = start(6, 3, torch.Generator().manual_seed(4))
    output = lambda *blocks: transformer.f(X, Parameters(*blocks), sigma=sigma)
    step = difference(phi, phi0).blocks
    value, slope = torch.autograd.functional.jvp(output, phi0.blocks, step)
    found = linear_model.f_lin(X, phi, phi0, sigma=sigma)
    assert torch.allclose(found, value + slope, rtol=0, atol=1e-13)


def test_model_and_linear_model_differ_by_the_heads():
    X, phi0, delta = point()
    phi = parameters.plus(phi0, delta)
    gap = transformer.f(X, phi) - linear_model.f_lin(X, phi, phi0)
    assert torch.allclose(gap, linear_model.head_errors(X, phi0, delta).sum(1), rtol=0, atol=1e-14)


def test_the_linear_model_needs_parameters_of_one_shape():
    X, phi, _ = point()
    with pytest.raises(ValueError, match=r"phi.W must have shape"):
        linear_model.f_lin(X, phi, parameters.random(4, 3, torch.Generator().manual_seed(0)))


@pytest.mark.parametrize("sigma", [activations.TANH, activations.LOGISTIC], ids=lambda sigma: sigma.name)
@pytest.mark.parametrize("query", [queries.last_token, queries.seeded(3, 1)], ids=["last", "seeded"])
def test_directional_derivatives_are_those_of_forward_differentiation(sigma, query):
    X, phi, delta = point()
    feature = gradients.features(X, phi, query, sigma)
    f = lambda blocks: transformer.f(X, Parameters(*blocks), query, sigma)
    expected = autograd.along(f, phi.blocks, delta.blocks)
    assert_agrees(linear_model.along(feature, phi.c, delta), expected, 10)
    h = lambda blocks: transformer.hidden(X, Parameters(phi.c, *blocks), query, sigma)
    heads = autograd.along(h, phi.blocks[1:], delta.blocks[1:])
    assert_agrees(linear_model.slopes(feature, delta), heads, 10)


def test_pulling_back_is_the_transpose_of_going_along():
    X, phi, delta = point(n=7)
    feature, weights = gradients.features(X, phi), torch.linspace(-1, 1, 7, dtype=torch.float64)
    back = linear_model.pull_back(feature, weights)
    gradient = (back.c, phi.c[:, None] * back.U, phi.c[:, None, None] * back.W)
    inner = points.inner(gradient, delta.blocks) / 6**0.5
    assert_agrees(inner, weights @ linear_model.along(feature, phi.c, delta), 10)


@pytest.mark.parametrize("chunk", [None, 2])
@pytest.mark.parametrize("sigma", [activations.TANH, activations.LOGISTIC], ids=lambda sigma: sigma.name)
@pytest.mark.parametrize("query", [queries.last_token, queries.seeded(3, 1)], ids=["last", "seeded"])
def test_directional_derivatives_made_in_passing_are_those_from_features(query, sigma, chunk):
    X, phi, delta = point(n=7)
    other = parameters.random(6, 3, Generator().manual_seed(5))
    loss = Loss(X, torch.linspace(-1, 1, 7, dtype=torch.float64), query, sigma, chunk)
    value, gradient, f, along = loss.with_slopes(Students.of(phi), [Students.of(delta), Students.of(other)])
    feature = gradients.features(X, phi, query, sigma)
    assert_agrees(f, transformer.f(X, phi, query, sigma), 10)
    for found, direction in zip(along, (delta, other), strict=True):
        assert_agrees(found, linear_model.along(feature, phi.c, direction), 10)
    plain, slope = loss(phi)
    assert value[0].equal(plain)
    assert all(a.equal(b) for a, b in zip(gradient.apart()[0].blocks, slope.blocks, strict=True))
    for now, g in loss.pairings(Students.of(phi), Students.of(delta)):
        assert_agrees(g, transportation.pairing(feature, delta)[now], 10)


def test_a_direction_of_another_shape_is_refused():
    X, phi, _ = point()
    with pytest.raises(ValueError, match=r"delta.U must have shape \(6, 3\)"):
        linear_model.slopes(gradients.features(X, phi), point(m=4)[2])

"""Any differentiable function as a model: against finite differences, and as the oracle of the model that has closed forms."""

import pytest
import torch
from torch import Generator

from checks import assert_agrees, refused
from shallowformer import data
from shallowformer.kernel_regime.convergence.descent import SideBySide
from shallowformer.kernel_regime.model import gradients, linear_model, parameters, transformer
from shallowformer.kernel_regime.model.loss import Loss
from shallowformer.kernel_regime.model.parameters import Parameters
from shallowformer.kernel_regime.model.students import Students
from shallowformer.training import autograd, points
from simple_models import network


def test_directional_derivatives_are_limits_of_quotients():
    objective, point = network()
    step = points.mapped(torch.cos, point)
    f = lambda p: objective.model(objective.X, p)
    quotient = (f(points.plus(point, step, 1e-5)) - f(points.plus(point, step, -1e-5))) / 2e-5
    assert torch.allclose(autograd.along(f, point, step), quotient, rtol=0, atol=1e-9)


def test_pulling_back_is_the_transpose_of_going_along():
    objective, point = network()
    step, weights = points.mapped(torch.cos, point), torch.arange(7, dtype=torch.float64)
    f = lambda p: objective.model(objective.X, p)
    assert_agrees(
        points.inner(autograd.pull_back(f, point, weights), step),
        weights @ autograd.along(f, point, step),
        10,
    )


def test_the_gradient_of_the_loss_is_the_pulled_back_residual():
    objective, point = network()
    tangent = objective.tangent(point)
    losses, gradient = objective.losses_and_gradient(point)
    assert_agrees(losses, tangent.residual.square().mean()[None])
    assert_agrees(objective.losses(point), losses)
    pulled = autograd.pull_back(tangent.outputs, point, 2 / 7 * tangent.residual)
    for name, block in gradient.items():
        assert_agrees(block, pulled[name], 10)


def test_a_batch_counts_repeated_samples_as_often_as_drawn():
    objective, point = network()
    rows = torch.tensor([2, 2, 5])
    again = autograd.Autograd(objective.model, objective.X[rows], objective.y[rows])
    some, all_of_them = objective.losses_and_gradient(point, rows), again.losses_and_gradient(point)
    assert some[0].equal(all_of_them[0])
    assert all(some[1][name].equal(block) for name, block in all_of_them[1].items())


def test_another_loss_may_be_handed_in():
    objective, point = network()
    exponential = lambda f, y: torch.exp(-y * f)
    found = autograd.Autograd(objective.model, objective.X, objective.y.sign(), exponential).losses(point)
    by_hand = torch.exp(-objective.y.sign() * objective.model(objective.X, point)).mean()
    assert found.tolist() == [float(by_hand)]


def test_outputs_of_another_shape_than_the_labels_are_refused():
    """[n, 1] and [n] would be broadcast to a table of n × n differences."""
    objective, point = network()
    column = autograd.Autograd(lambda X, p: objective.model(X, p)[:, None], objective.X, objective.y)
    for use in (column.losses, column.losses_and_gradient, column.tangent):
        refused("outputs", "(7, 1)", "(7,)", use, point)
    hinge = autograd.Autograd(column.model, column.X, column.y, lambda f, y: (1 - y * f).clamp(min=0))
    refused("loss", "(7, 7)", "(7, 1)", hinge.losses, point)
    refused("y", "7", "1", autograd.Autograd, objective.model, objective.X, objective.y[:1], hinge.loss)


@pytest.mark.parametrize("widths", [(4,), (2, 6)])
def test_it_is_the_oracle_of_closed_forms(widths):
    generator = Generator().manual_seed(0)
    X = data.clipped_gaussian(9, 4, 3, generator)
    y = torch.randn(9, generator=generator, dtype=torch.float64)
    phis = [parameters.random(m, 3, generator) for m in widths]
    together = Students.of(*phis)
    losses, gradient = SideBySide(Loss(X, y), widths).losses_and_gradient(together.blocks)
    slopes = Students(*gradient, widths).apart()
    oracle = autograd.Autograd(lambda X, point: transformer.f(X, Parameters(*point)), X, y)
    for k, phi in enumerate(phis):
        loss, expected = oracle.losses_and_gradient(phi.blocks)
        assert_agrees(losses[k : k + 1], loss, 10)
        for found, block in zip(slopes[k].blocks, expected, strict=True):
            assert_agrees(found, block, 10)
        ours = linear_model.Tangent(gradients.features(X, phi), phi.c, y)
        theirs = oracle.tangent(phi.blocks)
        steps = [block[None] for block in parameters.random(phi.m, 3, generator).blocks]
        for a, b in (
            (ours.residual, theirs.residual),
            (ours.along(steps), theirs.along(tuple(steps))),
            (ours.gram(), theirs.gram()),
        ):
            assert_agrees(a, b, 10)

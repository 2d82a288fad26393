"""Theorem A: quantities against autograd and plain formulas, the drift and the certificates along runs, refusals."""

import math

import pytest
import torch
from torch import Generator

from checks import assert_agrees, refused
from shallowformer.kernel_regime import (
    comparators,
    data,
    gradients,
    model,
    neighbourhood,
    pairs,
    parameters,
)
from shallowformer.kernel_regime import self_bounding as theorem
from shallowformer.kernel_regime.loss import Loss
from shallowformer.kernel_regime.parameters import Parameters

RHO = (0.6, 0.5, 0.4)


def problem(n=6, m=6, d=3, T=4, seed=0):
    generator = Generator().manual_seed(seed)
    X = data.clipped_gaussian(n, T, d, generator)
    loss = Loss(X, 0.3 * torch.randn(n, generator=generator, dtype=torch.float64))
    phi0 = parameters.symmetric(m, d, generator)
    inside = neighbourhood.random_interior(phi0, RHO, generator)
    return loss, phi0, [comparators.ridge(loss, phi0, 0.1), inside]


def jacobian(X, phi):
    return torch.cat([block.flatten(1) for block in gradients.per_sample_gradient(X, phi)], 1)


def test_bound_solves_the_quadratic():
    for epsilon, V0, eta, steps, theta in (
        (0.3, 2.0, 0.5, 7, 0.4),
        (0.0, 1.0, 1.0, 1, 0.0),
        (0.2, 0.0, 1.0, 3, 0.9),
    ):
        root = theorem.bound(epsilon, V0, eta, steps, theta)
        assert (1 - theta) * root**2 - epsilon * root == pytest.approx(V0 / (4 * eta * steps))
        assert root <= epsilon / (1 - theta) + math.sqrt(V0 / (4 * (1 - theta) * eta * steps)) + 1e-15


def test_misfit_is_the_comparators_error_less_the_remainder(case):
    step = parameters.random(case.phi.m, case.phi.d, Generator().manual_seed(3))
    point = Parameters(*(a + 0.1 * b for a, b in zip(case.phi.blocks, step.blocks, strict=True)))
    value = theorem.misfit(case.X, case.y, case.phi, point, case.query)
    f = lambda c, U, W: model.f(case.X, Parameters(c, U, W), case.query)
    delta = pairs.difference(point, case.phi)
    here, slope = torch.func.jvp(f, case.phi.blocks, delta.blocks)
    remainder = f(*point.blocks) - here - slope
    assert_agrees(value, f(*point.blocks) - case.y - remainder, case.logit, 512)


def test_gram_is_that_of_the_gradients(case):
    J = torch.cat([b.flatten(1) for b in gradients.per_sample_gradient(case.X, case.phi, case.query)], 1)
    feature = gradients.features(case.X, case.phi, case.query)
    assert_agrees(theorem.jacobian_gram(feature, case.phi.c), J @ J.T, case.logit)


def test_forms_bound_the_gradient_in_order():
    loss, phi0, _ = problem()
    J, residual = (
        jacobian(loss.X, phi0),
        torch.randn(6, generator=Generator().manual_seed(2), dtype=torch.float64),
    )
    form = theorem.forms(J @ J.T, residual)
    gradient = 2 / 6 * residual @ J
    assert_agrees(gradient.square().sum(), 4 * form["along"] * residual.square().mean())
    assert form["along"] <= form["gram"] <= form["trace"]
    assert_agrees(form["gram"], torch.linalg.matrix_norm(J, 2) ** 2 / 6)
    assert float(theorem.forms(J @ J.T, 0 * residual)["along"]) == 0.0


@pytest.mark.parametrize("rho", [None, RHO, (0.02, 0.02, 0.02)])
@pytest.mark.parametrize("eta", [0.1, 1.0])
def test_drift_and_certificates_hold_along_runs(rho, eta):
    loss, phi0, points = problem()
    if rho is not None:
        points = [neighbourhood.project(point, phi0, rho) for point in points]
    seen = theorem.follow(loss, phi0, points, eta=eta, steps=40, rho=rho)
    drift = seen.V[1:] - seen.V[:-1]
    for form in theorem.FORMS:
        assert float((drift - seen.drift_bound(form)).max()) < 1e-14
        for certificate in (seen.certificate(form), seen.averaged_certificate(form)):
            assert (certificate >= seen.mean_losses()[:, None] * (1 - 1e-12)).all()
    if rho is None:
        x2, along = seen.losses[:-1, None], seen.theta("along")[:, None]
        assert_agrees(drift, -4 * eta * ((1 - along) * x2 - seen.gain[:-1]))
    elif rho[0] < 0.1:
        assert float(seen.run.active[-1].max()) == 1.0


def test_what_is_followed_is_what_the_formulas_say():
    loss, phi0, points = problem()
    seen = theorem.follow(loss, phi0, points, eta=0.5, steps=5, rho=RHO)
    assert seen.steps == 5
    assert_agrees(seen.losses, seen.run.losses[:, 0])
    last = seen.run.phi[0]
    for k, point in enumerate(points):
        assert_agrees(seen.V[-1, k], pairs.norm(pairs.difference(last, point)) ** 2)
        e = theorem.misfit(loss.X, loss.y[:, 0], last, point)
        assert_agrees(seen.epsilon[-1, k], e.square().mean().sqrt())
    assert_agrees(seen.mean_losses()[-1], seen.losses[:-1].mean())
    t, theta = 3, float(seen.theta("gram")[:3].max())
    epsilon = float(seen.epsilon[:3, 0].max())
    assert float(seen.certificate("gram")[t - 1, 0]) == pytest.approx(
        theorem.bound(epsilon, float(seen.V[0, 0]), 0.5, t, theta) ** 2
    )


def test_a_step_that_is_too_large_has_no_certificate():
    loss, phi0, points = problem()
    seen = theorem.follow(loss, phi0, points, eta=50.0, steps=3, rho=RHO)
    assert seen.certificate("trace").isinf().all()
    assert seen.averaged_certificate("trace").isinf().all()


def test_arguments_are_checked():
    loss, phi0, points = problem()
    with refused("theta", "1.0", "below 1"):
        theorem.bound(0.1, 1.0, 0.1, 5, 1.0)
    with refused("epsilon", "-0.1", "at least 0"):
        theorem.bound(-0.1, 1.0, 0.1, 5, 0.5)
    with refused("V0", "nan", "at least 0"):
        theorem.bound(0.1, math.nan, 0.1, 5, 0.5)
    with refused("eta", "0.0", "above 0"):
        theorem.bound(0.1, 1.0, 0.0, 5, 0.5)
    with refused("steps", "0", "at least 1"):
        theorem.bound(0.1, 1.0, 0.1, 0, 0.5)
    with refused("comparators", "none", "at least one"):
        theorem.follow(loss, phi0, [], eta=0.1, steps=2, rho=None)
    with refused("y", "(5,)", "(6,)"):
        theorem.misfit(loss.X, loss.y[:5, 0], phi0, points[0])
    seen = theorem.follow(loss, phi0, points, eta=0.1, steps=2, rho=None)
    with refused("form", "'Gram'", "gram"):
        seen.theta("Gram")

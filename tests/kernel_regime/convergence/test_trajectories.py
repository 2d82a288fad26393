"""Theorem A: quantities against autograd and plain formulas, the drift and the certificates along runs, refusals."""

import pytest
import torch
from torch import Generator

from checks import assert_agrees, refused
from shallowformer import data
from shallowformer.kernel_regime.convergence import comparators, trajectories
from shallowformer.kernel_regime.model import parameters, transformer
from shallowformer.kernel_regime.model.loss import Loss
from shallowformer.kernel_regime.model.parameters import Parameters
from shallowformer.kernel_regime.neighbourhood import region
from shallowformer.training import self_bounding

RHO = (0.6, 0.5, 0.4)


def problem(n=6, m=6, d=3, T=4, seed=0):
    generator = Generator().manual_seed(seed)
    X = data.clipped_gaussian(n, T, d, generator)
    loss = Loss(X, 0.3 * torch.randn(n, generator=generator, dtype=torch.float64))
    phi0 = parameters.symmetric(m, d, generator)
    inside = region.random_interior(phi0, RHO, generator)
    return loss, phi0, [comparators.ridge(loss, phi0, 0.1), inside]


def test_misfit_is_the_comparators_error_less_the_remainder(case):
    step = parameters.random(case.phi.m, case.phi.d, Generator().manual_seed(3))
    point = Parameters(*(a + 0.1 * b for a, b in zip(case.phi.blocks, step.blocks, strict=True)))
    value = trajectories.misfit(case.X, case.y, case.phi, point, case.query)
    f = lambda c, U, W: transformer.f(case.X, Parameters(c, U, W), case.query)
    delta = parameters.difference(point, case.phi)
    here, slope = torch.func.jvp(f, case.phi.blocks, delta.blocks)
    remainder = f(*point.blocks) - here - slope
    assert_agrees(value, f(*point.blocks) - case.y - remainder, case.logit, 512)


@pytest.mark.parametrize("rho", [None, RHO, (0.02, 0.02, 0.02)])
@pytest.mark.parametrize("eta", [0.1, 1.0])
def test_drift_and_certificates_hold_along_runs(rho, eta):
    loss, phi0, points = problem()
    if rho is not None:
        points = [region.project(point, phi0, rho) for point in points]
    seen = trajectories.follow(loss, phi0, points, eta=eta, steps=40, rho=rho)
    drift = seen.V[1:] - seen.V[:-1]
    for form in self_bounding.FORMS:
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
    seen = trajectories.follow(loss, phi0, points, eta=0.5, steps=5, rho=RHO)
    assert seen.steps == 5
    assert_agrees(seen.losses, seen.run.losses[:, 0])
    last = seen.run.phi[0]
    for k, point in enumerate(points):
        assert_agrees(seen.V[-1, k], parameters.squared_distance(last, point))
        e = trajectories.misfit(loss.X, loss.y[:, 0], last, point)
        assert_agrees(seen.epsilon[-1, k], e.square().mean().sqrt())
    assert_agrees(seen.mean_losses()[-1], seen.losses[:-1].mean())
    t, theta = 3, float(seen.theta("gram")[:3].max())
    epsilon = float(seen.epsilon[:3, 0].max())
    assert float(seen.certificate("gram")[t - 1, 0]) == pytest.approx(
        self_bounding.bound(epsilon, float(seen.V[0, 0]), 0.5, t, theta) ** 2
    )


def test_a_step_that_is_too_large_has_no_certificate():
    loss, phi0, points = problem()
    seen = trajectories.follow(loss, phi0, points, eta=50.0, steps=3, rho=RHO)
    assert seen.certificate("trace").isinf().all()
    assert seen.averaged_certificate("trace").isinf().all()


def test_arguments_are_checked():
    loss, phi0, points = problem()
    with refused("comparators", "none", "at least one"):
        trajectories.follow(loss, phi0, [], eta=0.1, steps=2, rho=None)
    refused("y", "(5,)", "(6,)", trajectories.misfit, loss.X, loss.y[:5, 0], phi0, points[0])
    refused("loss", "2", "one student", trajectories.observer, Loss(loss.X, loss.y.expand(-1, 2)), points)

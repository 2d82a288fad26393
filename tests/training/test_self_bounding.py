"""Theorem A on a model that is no Transformer: its bound, its forms, and drift and certificates along runs."""

import math

import pytest
import torch
from torch import Generator

from checks import assert_agrees, refused
from shallowformer.training import balls, descent, points
from shallowformer.training import self_bounding as theorem
from simple_models import network


def test_bound_solves_the_quadratic():
    for epsilon, V0, eta, steps, theta in (
        (0.3, 2.0, 0.5, 7, 0.4),
        (0.0, 1.0, 1.0, 1, 0.0),
        (0.2, 0.0, 1.0, 3, 0.9),
    ):
        root = theorem.bound(epsilon, V0, eta, steps, theta)
        assert (1 - theta) * root**2 - epsilon * root == pytest.approx(V0 / (4 * eta * steps))
        assert root <= epsilon / (1 - theta) + math.sqrt(V0 / (4 * (1 - theta) * eta * steps)) + 1e-15


def test_forms_bound_the_gradient_in_order():
    J = torch.randn(6, 20, generator=Generator().manual_seed(1), dtype=torch.float64)
    residual = torch.randn(6, generator=Generator().manual_seed(2), dtype=torch.float64)
    form = theorem.forms(J @ J.T, residual)
    gradient = 2 / 6 * residual @ J
    assert_agrees(gradient.square().sum(), 4 * form["along"] * residual.square().mean(), 10)
    assert form["along"] <= form["gram"] <= form["trace"]
    assert_agrees(form["gram"], torch.linalg.matrix_norm(J, 2) ** 2 / 6, 10)
    assert float(theorem.forms(J @ J.T, 0 * residual)["along"]) == 0.0


def followed(radius, eta, steps=40):
    objective, start = network()
    generator = Generator().manual_seed(3)
    away = points.mapped(
        lambda block: torch.randn(block.shape, generator=generator, dtype=block.dtype), start
    )
    project = None if radius is None else balls.Balls(start, [radius] * 2)
    comparators = [points.plus(start, away, 0.3), points.plus(start, away, -0.1)]
    if project is not None:
        comparators = [project(point)[0] for point in comparators]
    watch = theorem.observer(objective.tangent, comparators)
    run = descent.run(objective, start, eta=eta, steps=steps, project=project, every=1, observe=watch)
    return theorem.Trajectory.of(run, eta), objective, comparators


@pytest.mark.parametrize("radius", [None, 0.5, 0.02])
@pytest.mark.parametrize("eta", [0.02, 0.1])
def test_drift_and_certificates_hold_along_runs(radius, eta):
    seen, *_ = followed(radius, eta)
    drift = seen.V[1:] - seen.V[:-1]
    for form in theorem.FORMS:
        assert float((drift - seen.drift_bound(form)).max()) < 1e-13
        for certificate in (seen.certificate(form), seen.averaged_certificate(form)):
            assert (certificate >= seen.mean_losses()[:, None] * (1 - 1e-12)).all()
    if radius is None:
        x2, along = seen.losses[:-1, None], seen.theta("along")[:, None]
        assert_agrees(drift, -4 * eta * ((1 - along) * x2 - seen.gain[:-1]), 10)
    elif radius < 0.1:
        assert float(seen.run.active[-1].max()) > 0.5


def test_bounds_along_a_run_are_exactly_these():
    seen, *_ = followed(0.5, 0.1, steps=5)
    x = seen.losses[:-1].sqrt()
    for form in theorem.FORMS:
        squares, epsilon = getattr(seen, form)[:-1], seen.epsilon[:-1, 0]
        pulls = epsilon * x
        assert_agrees(seen.drift_bound(form)[:, 0], 0.4 * (0.1 * squares - 1) * x**2 + 0.4 * pulls)
        for t in range(1, 6):
            slack = (pulls[:t].sum() + seen.V[0, 0] / 0.4) / t
            assert_agrees(seen.averaged_certificate(form)[t - 1, 0] * (1 - 0.1 * squares[:t].max()), slack)


def test_what_is_followed_is_what_the_formulas_say():
    seen, objective, comparators = followed(0.5, 0.1, steps=5)
    assert seen.steps == 5
    assert_agrees(seen.losses, seen.run.losses[:, 0])
    tangent = objective.tangent(seen.run.end)
    for k, there in enumerate(comparators):
        away = points.mapped(lambda a, b: (a - b)[None], there, seen.run.end)
        (e,) = theorem.misfit(tangent, away)
        assert_agrees(seen.V[-1, k], points.squared_distance(seen.run.end, there))
        assert_agrees(seen.epsilon[-1, k], e.square().mean().sqrt())
        assert_agrees(seen.gain[-1, k], e @ tangent.residual / 7)
    t, theta = 3, float(seen.theta("gram")[:3].max())
    epsilon = float(seen.epsilon[:3, 0].max())
    assert float(seen.certificate("gram")[t - 1, 0]) == pytest.approx(
        theorem.bound(epsilon, float(seen.V[0, 0]), 0.1, t, theta) ** 2
    )


def test_arguments_are_checked():
    refused("theta", "1.0", "below 1", theorem.bound, 0.1, 1.0, 0.1, 5, 1.0)
    refused("epsilon", "-0.1", "at least 0", theorem.bound, -0.1, 1.0, 0.1, 5, 0.5)
    refused("V0", "nan", "at least 0", theorem.bound, 0.1, math.nan, 0.1, 5, 0.5)
    refused("eta", "0.0", "above 0", theorem.bound, 0.1, 1.0, 0.0, 5, 0.5)
    refused("steps", "0", "at least 1", theorem.bound, 0.1, 1.0, 0.1, 0, 0.5)
    refused("comparators", "none", "at least one", theorem.observer, lambda point: None, [])
    refused("form", "'Gram'", "gram", followed(None, 0.1, steps=2)[0].theta, "Gram")

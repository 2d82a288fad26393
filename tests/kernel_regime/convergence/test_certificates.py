"""Certificates: the fast route measures what the slow one measures, and what is foreseen is not exceeded."""

import math

import pytest
import torch

from shallowformer import data
from shallowformer.kernel_regime.convergence import (
    cancellation,
    certificates,
    comparators,
    no_logs,
    trajectories,
)
from shallowformer.kernel_regime.kernel import tangent_kernel
from shallowformer.kernel_regime.model import parameters
from shallowformer.kernel_regime.model.loss import Loss
from shallowformer.kernel_regime.neighbourhood import region

RHO = (0.3, 0.2, 0.1)


def problem(m=6, n=7, d=3, size=1.0, chunk=None):
    generator = torch.Generator().manual_seed(m + n)
    X = data.clipped_gaussian(n, 4, d, generator)
    y = size * torch.randn(n, generator=generator, dtype=torch.float64)
    return Loss(X, y, chunk=chunk), parameters.symmetric(m, d, generator)


@pytest.mark.parametrize("rho", [RHO, None])
@pytest.mark.parametrize("chunk", [None, 2])
def test_measured_in_passing_is_what_is_measured_apart(chunk, rho):
    loss, phi0 = problem(chunk=chunk)
    points = [comparators.ridge(loss, phi0, lam) for lam in (0.1, 1.0)]
    if rho is not None:
        points = [region.project(point, phi0, rho) for point in points]
    fast = certificates.follow(loss, phi0, points, eta=0.3, steps=9, rho=rho)
    slow = trajectories.follow(loss, phi0, points, eta=0.3, steps=9, rho=rho)
    assert fast.epsilon.shape == (9, 2)
    torch.testing.assert_close(fast.epsilon, slow.epsilon[:-1], rtol=1e-12, atol=1e-14)
    torch.testing.assert_close(fast.theta, slow.theta("along"), rtol=1e-12, atol=1e-14)
    torch.testing.assert_close(fast.losses, slow.losses[:-1], rtol=1e-12, atol=1e-14)
    torch.testing.assert_close(fast.V0, slow.V[0])
    assert fast.trace == pytest.approx(float(slow.trace.max()))
    for t in (1, 4, 9):
        expected = slow.certificate("along")[t - 1]
        assert fast.certificate(t) == pytest.approx(expected.tolist())
        assert min(fast.certificate(t)) >= float(fast.losses[:t].mean())
    assert fast.certificate() == fast.certificate(9)


def test_a_step_that_is_too_long_certifies_nothing():
    loss, phi0 = problem()
    seen = certificates.follow(loss, phi0, [phi0], eta=40.0, steps=3, rho=RHO)
    assert float(seen.theta.max()) >= 1
    assert seen.certificate() == [math.inf]


def test_a_run_that_starts_at_a_minimum_is_certified_to_stay():
    X = data.clipped_gaussian(6, 3, 2, torch.Generator().manual_seed(0))
    phi0 = parameters.symmetric(4, 2, torch.Generator().manual_seed(1))
    run = certificates.follow(
        Loss(X, torch.zeros(6, dtype=X.dtype)), phi0, [phi0], eta=0.1, steps=3, rho=None
    )
    assert (run.theta == 0).all()
    assert float(run.certificate()[-1]) == 0


def test_certificates_refuse_what_they_cannot_do():
    loss, phi0 = problem()
    with pytest.raises(ValueError, match="comparators must be at least one set of parameters, got none"):
        certificates.follow(loss, phi0, [], eta=0.1, steps=3, rho=None)
    seen = certificates.follow(loss, phi0, [phi0], eta=0.1, steps=3, rho=None)
    with pytest.raises(ValueError, match="steps must be at most 3, got 4"):
        seen.certificate(4)


def foreseen(size, eta=1.0, steps=20):
    loss, phi0 = problem(size=size)
    ridge = comparators.best_ridge(loss, phi0, eta, steps)
    moves = zip(ridge.point.blocks, phi0.blocks, strict=True)
    nu = tuple(float((a - b).reshape(6, -1).norm(dim=1).max()) * 6**0.5 for a, b in moves)
    rho = tuple(move * (1 + 1e-9) for move in nu)
    A0 = float(torch.linalg.eigvalsh(tangent_kernel.finite(loss.X, phi0).total)[-1] / loss.n) ** 0.5
    R = region.longest(phi0, rho[1])
    known = certificates.prior(R, A0, ridge.epsilon, ridge.V0, nu, eta=eta, steps=steps, rho=rho)
    seen = certificates.follow(loss, phi0, [ridge.point], eta=eta, steps=steps, rho=rho)
    return known, seen, (R, nu, rho, ridge)


@pytest.mark.parametrize("size", [1e-2, 1e-3])
def test_what_is_foreseen_is_not_exceeded(size):
    known, seen, (R, nu, rho, ridge) = foreseen(size)
    assert float(seen.epsilon.max()) <= known.epsilon
    assert float(seen.theta.max()) <= known.A**2
    assert float(seen.losses.mean()) <= seen.certificate()[0] <= known.value < math.inf
    # By pairs, it solves its own equation.
    Gamma = cancellation.travel(20.0, ridge.V0, known.by_pairs, known.A**2)
    again = ridge.epsilon + float(cancellation.turn_of_pairs(R, rho, nu, Gamma))
    assert known.by_pairs == pytest.approx(again, rel=1e-9)


def test_nothing_is_foreseen_where_steps_are_too_long():
    R = torch.full((4,), 3.0, dtype=torch.float64)
    none = certificates.prior(R, 1.0, 0.1, 0.1, (0.1,) * 3, eta=2.0, steps=5, rho=(0.1,) * 3)
    assert none.value == none.by_pairs == math.inf
    assert none.epsilon == 0.1 + float(no_logs.turn_over_heads(R, (0.1,) * 3, (0.1,) * 3))


def test_a_comparator_outside_is_refused():
    R = torch.full((4,), 3.0, dtype=torch.float64)
    with pytest.raises(
        ValueError, match=r"nu must not exceed rho = \(0.1, 0.1, 0.1\), got \(0.1, 0.2, 0.1\)"
    ):
        certificates.prior(R, 1.0, 0.1, 0.1, (0.1, 0.2, 0.1), eta=0.1, steps=5, rho=(0.1,) * 3)

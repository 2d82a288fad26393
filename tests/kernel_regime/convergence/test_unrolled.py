"""Unrolled descent against the package's own model, gradients, projection and runs."""

import pytest
import torch
from torch import Generator

from checks import assert_agrees, refused
from shallowformer import data, verify
from shallowformer.kernel_regime.convergence import trajectories, unrolled
from shallowformer.kernel_regime.model import gradients, parameters, transformer
from shallowformer.kernel_regime.model.loss import Loss
from shallowformer.kernel_regime.neighbourhood import region

RHO = (0.3, 0.2, 0.1)
RATE = torch.tensor([0.4], dtype=torch.float64)


def flat(phi):
    return torch.cat([block.flatten() for block in phi.blocks])[None]


def problem(n=5, m=3, d=2, T=4):
    generator = Generator().manual_seed(n + m)
    X = data.clipped_gaussian(n, T, d, generator)
    y = torch.randn(n, generator=generator, dtype=torch.float64)
    return X, y, parameters.random(m, d, generator), parameters.random(m, d, generator)


@pytest.mark.parametrize("sizes", [(5, 3, 2, 4), (1, 1, 1, 1), (2, 4, 3, 1)])
def test_outputs_and_gradients_are_those_of_lemma_1(sizes):
    X, _, phi, _ = problem(*sizes)
    f, J = unrolled.outputs(X[None], flat(phi), phi.m)
    assert_agrees(f[0], transformer.f(X, phi), 10)
    expected = torch.cat([b.flatten(1) for b in gradients.per_sample_gradient(X, phi)], 1)
    assert_agrees(J[0], expected, 10)


def test_the_projection_is_that_of_the_neighbourhood():
    _, _, phi, phi0 = problem()
    assert_agrees(unrolled.project(flat(phi), flat(phi0), 3, 2, RHO), flat(region.project(phi, phi0, RHO)))


@pytest.mark.parametrize("rho", [None, RHO])
def test_the_path_is_that_of_a_run(rho):
    X, y, phi0, point = problem()
    loss = Loss(X, y)
    seen = trajectories.follow(loss, phi0, [point], eta=0.4, steps=6, rho=rho)
    path = unrolled.descend(X[None], y[None], flat(phi0), flat(point), 3, RATE, 6, rho)
    for actual, expected in (
        (path.losses[0], seen.losses),
        (path.V[0], seen.V[:, 0]),
        (path.epsilon[0], seen.epsilon[:, 0]),
        (path.trace[0], seen.trace),
        (path.top[0], seen.gram),
    ):
        assert_agrees(actual, expected, 100)
    assert (path.largest >= path.trace).all()


def test_batches_are_averaged():
    X, y, phi0, point = problem()
    rows = torch.tensor([[0, 0, 3], [1, 2, 4]])
    path = unrolled.descend(X[None], y[None], flat(phi0), flat(point), 3, RATE, 2, None, rows[None])
    phi = phi0
    for now in rows:
        _, slope = gradients.loss_and_gradient(X[now], y[now], phi)
        phi = parameters.Parameters(*(a - 0.4 * b for a, b in zip(phi.blocks, slope.blocks, strict=True)))
    assert_agrees(path.V[0, -1], parameters.squared_distance(phi, point), 10)


def test_the_eigenvalue_in_closed_form():
    X, y, phi0, point = problem(n=2)
    path = unrolled.descend(X[None], y[None], flat(phi0), flat(point), 3, RATE, 1)
    assert_agrees(path.top[0], torch.linalg.eigvalsh(path.gram[0])[:, -1] / 2, 10)


def test_all_batches_are_all_of_them():
    rows = unrolled.all_batches(3, 2, 2)
    assert rows.shape == (81, 2, 2)
    assert len({tuple(row.flatten().tolist()) for row in rows}) == 81


def test_arguments_are_checked():
    X, *_ = problem()
    refused("phi", "(1, 5)", "m(1 + d + d²)", unrolled.outputs, X[None], torch.zeros(1, 5, dtype=X.dtype), 3)


def chosen(r=3, n=2, m=2):
    problems = unrolled.problems(n, 3, 2, m, aside=verify.free(7 * m), misfit=verify.ball(n))
    return problems.draw(r, Generator().manual_seed(0))


def test_posed_problems_have_the_misfit_that_was_asked_for():
    known = chosen()
    posed = unrolled.pose(**known, rho=RHO)
    path = posed.run(RATE.expand(3), 1)
    assert_agrees(path.misfit[:, 0], known["misfit"], 10)
    assert_agrees(posed.start, known["scale"][:, None] * known["phi"])
    assert_agrees(unrolled.project(posed.comparator, posed.start, 2, 2, RHO), posed.comparator)
    assert_agrees(
        unrolled.pose(**known | {"misfit": None}).run(RATE.expand(3), 0).misfit + 1, torch.ones(3, 1, 2), 10
    )


def test_each_step_may_have_its_own_size():
    posed = unrolled.pose(**chosen())
    sizes = torch.tensor([[0.1, 0.7]], dtype=torch.float64).expand(3, -1)
    both, first = posed.run(sizes, 2), posed.run(sizes[:, 0], 1)
    assert_agrees(both.V[:, 1], first.V[:, 1])
    assert float((both.V[:, 2] - posed.run(sizes[:, 0], 2).V[:, 2]).abs().min()) > 1e-6


def test_all_batches_are_run_problem_by_problem():
    posed, rate = unrolled.pose(**chosen()), RATE.expand(3)
    path, rows = posed.run_on_all_batches(rate, 2)
    assert len(path.V) == len(rows) == 12
    step = descended(posed, 1, rows[5])
    assert_agrees(path.V[5, 1:], step)


def descended(posed, which, rows):
    """V along one sequence of single samples, by hand."""
    phi, found = posed.start[which : which + 1], []
    for (j,) in rows.tolist():
        f, J = unrolled.outputs(posed.X[which : which + 1], phi, posed.m)
        phi = phi - 2 * 0.4 * (f[:, j] - posed.y[which, j]) * J[:, j]
        phi = unrolled.project(phi, posed.start[which : which + 1], posed.m, 2, posed.rho)
        found.append((phi - posed.comparator[which]).square().sum())
    return torch.stack(found)

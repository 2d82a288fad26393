"""Runs against a loop by hand, everything that is recorded, networks side by side, batches; the plateau; data."""

import math

import pytest
import torch

from checks import refused
from companion.theory.residual import plateau
from shallowformer.residual import datasets, descent, gradients, model, spectra, starts
from shallowformer.residual.parameters import Parameters, Setting
from shallowformer.residual.smoothed import SmoothedReLU
from shallowformer.training import checkpoints, points
from shallowformer.training import descent as training
from shallowformer.training.autograd import Autograd


def test_a_run_is_a_loop_and_its_records_are_true(case):
    one, mu, steps = case(), 0.01, 12
    run = descent.run(*one.all, mu=mu, steps=steps, every=4)
    theta, path = one.theta, 0.0
    for t in range(steps + 1):
        slope = gradients.gradients(one.X, one.Y, theta, one.setting)
        if t % 4 == 0:
            k, seen = t // 4, spectra.spectrum(one.X, theta, one.setting)
            assert int(run.steps[k]) == t
            assert float(run.loss[k]) == pytest.approx(float(model.loss(one.X, one.Y, theta, one.setting)))
            for name in ("sigma_A", "sigma_U", "smallest_Z", "largest_Z", "condition_Z"):
                assert torch.allclose(getattr(run, name)[k], getattr(seen, name))
            assert run.norms[k].tolist() == pytest.approx(
                [float(torch.linalg.matrix_norm(W, 2)) for W in theta]
            )
            apart = [float((W - start).norm()) for W, start in zip(theta, one.theta, strict=True)]
            assert run.displacements[k].tolist() == pytest.approx(apart)
            assert float(run.displacement[k]) == pytest.approx(math.hypot(*apart))
            assert float(run.gradient[k]) == pytest.approx(float(points.norm(tuple(slope))))
            assert float(run.path[k]) == pytest.approx(path)
        if t < steps:
            path += mu * float(points.norm(tuple(slope)))
            theta = Parameters(*points.plus(theta, slope, -mu))
    assert all(torch.allclose(a, b) for a, b in zip(run.end, theta, strict=True))
    short = descent.run(*one.all, mu=mu, steps=steps, every=4, path=False)
    assert torch.equal(short.loss, run.loss)
    assert bool(short.path.isnan().all())


def test_the_last_step_is_recorded(case):
    for path in (True, False):
        run = descent.run(*case().all, mu=0.01, steps=7, every=3, path=path)
        assert run.steps.tolist() == [0, 3, 6, 7]


def test_descent_by_autograd(case):
    one = case()
    N, K = one.Y.shape[1:]
    outputs = lambda X, point: model.unchecked(X, Parameters(*point), one.setting).F
    half_sum = lambda F, Y: 2 * N * K / 2 * (F - Y).square()  # the mean over P·N·K entries becomes Φ
    by_autograd = training.run(
        Autograd(outputs, one.X, one.Y, half_sum), tuple(one.theta), eta=0.01, steps=20
    )
    run = descent.run(*one.all, mu=0.01, steps=20)
    assert torch.allclose(run.loss, by_autograd.losses[:, 0], rtol=1e-12)


def test_networks_side_by_side_run_as_they_would_alone(case):
    several = [case(seed=seed, g=g) for seed, g in enumerate((0.0, 0.5, 1.0))]
    setting = Setting(torch.tensor([0.0, 0.5, 1.0]).double(), 1.0, SmoothedReLU(0.3))
    X, Y = (torch.stack([getattr(one, name) for one in several]) for name in "XY")
    theta = starts.side_by_side([one.theta for one in several])
    together = descent.run(X, Y, theta, setting, mu=0.005, steps=15, every=5)
    assert together.loss.shape == (4, 3)
    for i, one in enumerate(several):
        alone = descent.run(*one.all, mu=0.005, steps=15, every=5)
        for name in ("loss", "sigma_A", "smallest_Z", "norms", "displacements", "gradient", "path"):
            assert torch.allclose(getattr(together, name)[:, i], getattr(alone, name), rtol=1e-8), name


def test_a_batch_is_a_part_of_the_sum(case):
    one = case(P=4)
    objective = descent.Regression(one.X, one.Y, one.setting)
    point = tuple(one.theta)
    parts = [objective.losses_and_gradient(point, torch.tensor(rows)) for rows in ([0, 3], [2, 1])]
    whole = objective.losses_and_gradient(point)
    assert objective.n == 4
    assert isinstance(objective, training.Objective)
    assert float(parts[0][0] + parts[1][0]) == pytest.approx(float(whole[0]))
    for a, b, c in zip(parts[0][1], parts[1][1], whole[1], strict=True):
        assert torch.allclose(a + b, c)
    assert torch.equal(objective.losses(point), whole[0])
    assert checkpoints.fingerprint(objective) != checkpoints.fingerprint(
        descent.Regression(one.X, 2 * one.Y, one.setting)
    )


def test_too_long_steps_diverge_by_name(case):
    with pytest.raises(training.Diverged, match="steps are too long"):
        descent.run(*case().all, mu=10.0, steps=50)


def test_what_is_refused(case):
    one = case()
    refused("eta", "0", "above 0", descent.run, *one.all, mu=0.0, steps=3)
    with refused("Y", "(2, 2, 2)", "(2, 3, 2)"):
        descent.run(one.X, one.Y[:, 1:], one.theta, one.setting, mu=0.1, steps=1)
    with refused("X", "(1, 1, 2, 3, 5)", "[s, P, N, d]"):
        descent.Regression(one.X[None, None], one.Y[None, None], one.setting)


# The plateau ----------------------------------------------------------------------------------------------------------


def collapsed(factors, g, steps=300):
    """The sizes of the note's experiment E-C, more briefly."""
    source = torch.Generator().manual_seed(0)
    X = datasets.gaussian(8, 8, 16, source, deviation=1.0)
    setting = Setting(g)
    Y = datasets.taught(X, starts.gaussian(16, 8, 96, 4, source), Setting(1.0))
    theta = starts.gaussian(16, 8, 96, 4, source, **factors)
    return X, Y, descent.run(X, Y, theta, setting, mu=2e-4, steps=steps, path=False)


@pytest.mark.usefixtures("long")
def test_without_attention_and_residual_nothing_distinguishes_tokens():
    X, Y, run = collapsed({"W_Q": 0.0, "W_K": 0.0}, g=0.0)
    assert not bool(run.end.W_Q.any())
    assert not bool(run.end.W_K.any())
    now = model.forward(X, run.end, Setting(0.0))
    for M in (now.F, now.Z):
        assert float(plateau.spread(M).max()) < 1e-14
    assert bool((run.loss >= plateau.floor(Y)).all())
    assert float(plateau.spread(now.S).max()) < 1e-14


@pytest.mark.usefixtures("long")
@pytest.mark.parametrize("factors", [{"W_Q": 0.0}, {"W_K": 0.0}, {"W_Q": 1e-3, "W_K": 1e-3}])
def test_anything_else_moves_attention(factors):
    _, _, run = collapsed(factors, g=0.0, steps=50)
    assert bool((run.displacements[-1, :2] > 0).any())
    for name in factors:
        assert bool(getattr(run.end, name).any())


def test_the_floor_is_what_equal_rows_leave(case):
    Y = case().Y
    rows = torch.randn(2, 1, 2, generator=torch.Generator().manual_seed(3), dtype=torch.float64)
    best = Y.mean(-2, keepdim=True)
    floor = float(plateau.floor(Y))
    assert floor == pytest.approx(float(model.half_square(best.expand_as(Y) - Y)))
    assert floor < float(model.half_square((best + 1e-3 * rows).expand_as(Y) - Y))
    expected = sum((y[k] - sum(row[k] for row in rows) / 3) ** 2 for rows in Y.tolist() for y in rows for k in range(2)) / 2  # fmt: skip
    assert floor == pytest.approx(expected)


def test_the_spread_of_rows():
    M = torch.tensor([[[1.0, 2.0], [1.0, 2.0]], [[1.0, 0.0], [-1.0, 0.0]], [[0.0, 0.0], [0.0, 0.0]], [[1.0, 0.0], [0.0, 0.0]]])  # fmt: skip
    assert plateau.spread(M.double()).tolist() == pytest.approx([0.0, 1.0, 0.0, math.sqrt(0.5)])
    refused("M", "(2,)", "P N k", plateau.spread, torch.ones(2))
    refused("Y", "NaN", "finite", plateau.floor, torch.full((1, 1, 1), math.nan))


# Data -----------------------------------------------------------------------------------------------------------------


def test_gaussian_tokens():
    source = torch.Generator().manual_seed(0)
    X = datasets.gaussian(50, 40, 30, source)
    assert float(X.square().sum(-1).mean()) == pytest.approx(1, abs=5 * math.sqrt(2 / X.numel()))
    assert float(datasets.gaussian(50, 40, 30, source, deviation=2.0).std()) == pytest.approx(2, rel=0.02)


def test_autoregressive_tokens():
    """Covariance aᵏ WWᵀ between tokens k apart, from many sequences; W is the first draw."""
    source = lambda: torch.Generator().manual_seed(0)
    W = torch.randn(3, 3, generator=source(), dtype=torch.float64) / math.sqrt(3)
    X = datasets.autoregressive(200_000, 4, 3, source(), memory=0.7)
    assert torch.equal(X[:3], datasets.autoregressive(200_000, 4, 3, source(), memory=0.7)[:3])
    alone = datasets.autoregressive(40_000, 2, 2, source(), memory=0.0)
    assert float(torch.einsum("pa,pa->p", alone[:, 0], alone[:, 1]).mean().abs()) < 0.05
    for k in range(4):
        found = X[:, 0].T @ X[:, k] / len(X)
        assert torch.allclose(found, 0.7**k * W @ W.T, rtol=0, atol=0.03)
    refused("memory", "1.0", "below 1", datasets.autoregressive, 1, 1, 1, source(), memory=1.0)
    refused("memory", "-0.1", "at least 0", datasets.autoregressive, 1, 1, 1, source(), memory=-0.1)


def test_a_teacher(case):
    one = case()
    Y = datasets.taught(*one.model)
    assert float(Y.square().sum()) == pytest.approx(Y.numel())
    F = model.outputs(*one.model)
    assert torch.allclose(Y / Y.norm(), F / F.norm())
    with refused("teacher", "norm 0", "output"):
        datasets.taught(one.X, starts.scaled(one.theta, W_U=0.0), one.setting)


# The note's experiments, more briefly ---------------------------------------------------------------------------------


@pytest.mark.usefixtures("long")
@pytest.mark.parametrize("seed", range(2))
def test_a_residual_conditions_and_speeds_up(seed):
    """E-B: side by side over the coefficient; κ(Z_p) falls with it, σ_min rises, and so does what 300 steps achieve."""
    source = torch.Generator().manual_seed(seed)
    g = torch.tensor([0.0, 0.25, 0.5, 0.75, 1.0, 1.5], dtype=torch.float64)
    X = datasets.autoregressive(8, 8, 16, source)
    Y = datasets.taught(X, starts.gaussian(16, 8, 96, 4, source), Setting())
    theta = starts.gaussian(16, 8, 96, 4, source)
    copies = lambda M: M.expand(6, *M.shape).contiguous()
    theta = Parameters(*map(copies, theta))
    run = descent.run(copies(X), copies(Y), theta, Setting(g), mu=2e-4, steps=300, every=300, path=False)
    start = run.condition_Z[0].mean(-1)
    assert float(start[0]) > 1e3
    assert bool((start.diff() < 0).all())
    assert bool((run.smallest_Z[0].amin(-1).diff() > 0).all())
    assert bool((run.sigma_A[0].diff() > 0).all())
    assert bool((run.loss[-1].diff() < 0).all())

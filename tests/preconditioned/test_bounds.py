"""What theorems say, held against f itself on points of sublevel sets and along runs."""

import math

import pytest
import torch

from checks import refused, unchecked
from shallowformer.preconditioned import bounds, factorisation, landscape, moments, problems, starts
from shallowformer.training import descent, points

S = torch.tensor([2.0, 1.0, 0.5], dtype=torch.float64)
TARGET = S.diag()


def near(f0, generator):
    """Square factors with f = f0, about an optimum, in a random direction."""
    U, V = landscape.optimum(TARGET)
    X, Y = (torch.randn(3, 3, generator=generator, dtype=torch.float64) for _ in range(2))
    low, high = 0.0, 10.0
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (
            (middle, high)
            if factorisation.value(U + middle * X, V + middle * Y, TARGET) < f0
            else (low, middle)
        )
    return U + low * X, V + low * Y


@pytest.mark.parametrize("f0", [0.001, 1 / 64, 1 / 16, 0.5])
def test_a_sublevel_set(f0, generator):
    g = generator()
    low, high = bounds.factor_range(S, f0)
    with unchecked():
        for _ in range(100):
            U, V = near(f0, g)
            f = float(factorisation.value(U, V, TARGET))
            assert f <= f0
            for factor in (U, V):
                squares = torch.linalg.svdvals(factor).square()
                assert low <= float(squares[-1])
                assert float(squares[0]) <= high
            slope = factorisation.gradient(U, V, TARGET)
            square = sum(float(each.square().sum()) for each in slope)
            assert square >= bounds.pl_constant(S, f0) * f
            top = float(torch.linalg.eigvalsh(factorisation.hessian(U, V, TARGET))[-1])
            assert top <= bounds.curvature(S, f0)


def test_curvature_and_pl_are_met_at_the_optimum():
    H = factorisation.hessian(*landscape.optimum(TARGET), TARGET)
    values = torch.linalg.eigvalsh(H)
    assert bounds.curvature(S, 0.0) == pytest.approx(float(values[-1]))
    # ‖∇f‖² ≈ 2h · f along an eigenvector h: twice the least that is not 0.
    assert bounds.pl_constant(S, 0.0) == pytest.approx(2 * float(values[values > 1e-9][0]))


def test_linear_convergence_from_the_basin(generator):
    g = generator()
    eta = bounds.step(S)
    with unchecked():
        for _ in range(20):
            run = descent.run(
                factorisation.Factorisation(TARGET), near(bounds.basin(S), g), eta=eta, steps=40, every=1
            )
            assert (run.losses[1:] <= bounds.contraction(S, eta) * run.losses[:-1]).all()


@pytest.mark.parametrize("eta", [0.1, 0.3, 0.4])
def test_the_factor_in_the_end(eta, generator):
    run = descent.run(
        factorisation.Factorisation(TARGET), near(1e-3, generator()), eta=eta, steps=40, every=1
    )
    factor = float(run.losses[30] / run.losses[29])
    assert factor == pytest.approx(bounds.asymptotic_factor(S, eta), rel=0.02)


def test_the_best_step():
    best = bounds.best_step(S)
    kappa = 4.0
    assert bounds.asymptotic_factor(S, best) == pytest.approx(((kappa - 1) / (kappa + 1)) ** 2)
    for other in (0.95 * best, 1.05 * best):
        assert bounds.asymptotic_factor(S, other) > bounds.asymptotic_factor(S, best)


@pytest.mark.parametrize("theorem", [bounds.biased, bounds.biased_sharper])
def test_biased_descent_against_the_worst_direction(theorem, generator):
    """The bias δ points against −∇f at every step, which keeps f as large as can be."""
    s_least = float(S[-1])
    limits = theorem(S, 1e-3, 0.0)
    eta, delta = limits.most_eta, limits.most_delta
    bound = theorem(S, eta, delta)
    assert bound.contraction == pytest.approx(
        1 - eta * s_least * (1 if theorem is bounds.biased_sharper else 0.58)
    )
    with unchecked():
        U, V = near(bound.most_f0, generator())
        f0 = float(factorisation.value(U, V, TARGET))
        worst = 0.0
        for t in range(300):
            f = float(factorisation.value(U, V, TARGET))
            worst = max(worst, f / bound.at(t, f0))
            slope = factorisation.gradient(U, V, TARGET)
            size = float(points.norm(slope))
            U, V = points.plus((U, V), slope, -eta * (1 - delta / size))
        assert 0.2 < worst <= 1


def test_the_sharper_biased_theorems_margins():
    """On the way f exceeds the basin by ηδ²/2, and there the curvature is still below 1/η: what the docstring says."""
    for s in (S, torch.ones(1, dtype=torch.float64), torch.tensor([100.0, 1.0], dtype=torch.float64)):
        eta, least = bounds.step(s), float(s.min())
        delta = bounds.biased_sharper(s, eta, 0.0).most_delta
        excess = eta * delta**2 / 2
        assert excess <= least**2 / 456 * (1 + 1e-12)
        assert bounds.curvature(s, bounds.basin(s) + excess) < 1 / eta


def test_the_spectral_start(generator):
    """Given the covariates, noise adds mdσ²/(2n) exactly: mean over 2000 draws of noise, 5 standard errors."""
    problem = problems.random(S, 10.0, generator(1))
    X = problem.covariates(60, generator(2))
    g = generator(3)
    clean = moments.Moments.of(X, X @ problem.M.T).target - problem.target
    off = []
    with unchecked():
        for _ in range(2000):
            Y = X @ problem.M.T + 0.3 * torch.randn(60, 3, generator=g, dtype=torch.float64)
            off.append(factorisation.value(*starts.spectral(moments.Moments.of(X, Y)), problem.target))
    off = torch.stack(off)
    expected = bounds.spectral_noise(3, 3, 0.3, 60) + float(clean.square().sum()) / 2
    assert abs(float(off.mean()) - expected) < 5 * float(off.std()) / 2000**0.5


@pytest.mark.parametrize("condition", [1.0, 1000.0])
def test_the_covariates_part(condition, generator):
    problem = problems.random(S, condition, generator(1))
    g, n = generator(4), 2000
    off = torch.stack([
        (moments.Moments.of(X, X @ problem.M.T).target - problem.target).square().sum() / 2
        for X in (problem.covariates(n, g) for _ in range(100))
    ])  # fmt: skip
    ratio = float(off.mean()) / bounds.spectral_covariance(S, 3, n)
    assert 0.1 < ratio < 1


def test_refused():
    with refused("s", "0", "above 0"):
        bounds.basin(torch.tensor([1.0, 0.0]))
    with refused("eta", "1", "its limit"):
        bounds.biased(S, 1.0, 0.0)
    with refused("delta", "1", "its limit"):
        bounds.biased_sharper(S, 0.01, 1.0)
    with refused("f0", "-1", "at least 0"):
        bounds.curvature(S, -1.0)
    with refused("f0", "1", "most_f0"):
        bounds.biased(S, 0.01, 0.0).at(3, 1.0)
    with refused("n", "0", "at least 1"):
        bounds.spectral_noise(1, 1, 1.0, 0)
    assert bounds.pl_constant(S, 1.0) == 0
    assert math.isfinite(bounds.step(S))

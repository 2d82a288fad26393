"""What theorems say, held against f itself on points of sublevel sets and along runs."""

import math

import pytest
import torch

from checks import numbers, refused, unchecked
from shallowformer.preconditioned import bounds, factorisation, flow, landscape, moments, problems, starts
from shallowformer.training import descent

S = numbers(2.0, 1.0, 0.5)
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


def one_off(f0, i=2):
    """The optimum but for one direction, that of s_i, with f = f0: where PL and envelope are attained."""
    squares = 2 * S.clone()
    squares[i] += -2 * (2 * f0) ** 0.5 if i else 2 * (2 * f0) ** 0.5
    return (squares / 2).sqrt().diag(), (squares / 2).sqrt().diag()


@pytest.mark.parametrize("f0", [0.001, 0.05, 0.12])
def test_constants_are_attained_with_one_direction_off(f0):
    slope = factorisation.gradient(*one_off(f0), TARGET)
    square = sum(float(each.square().sum()) for each in slope)
    assert factorisation.value(*one_off(f0), TARGET) == pytest.approx(f0)
    assert square == pytest.approx(bounds.pl_constant(S, f0) * f0)
    top = torch.linalg.eigvalsh(factorisation.hessian(*one_off(f0, 0), TARGET))[-1]
    assert float(top) == pytest.approx(bounds.curvature(S, f0))
    for (U, V), t in zip(flow.solve(*one_off(f0), TARGET, [0.5, 2.0, 7.0]), [0.5, 2.0, 7.0], strict=True):
        assert float(factorisation.value(U, V, TARGET)) == pytest.approx(bounds.envelope(S, f0, t), rel=1e-7)


def test_steps_from_anywhere_below_the_saddles(generator):
    g = generator()
    f0 = 0.95 * bounds.saddle_free(S)
    eta = bounds.step(S, f0)
    with unchecked():
        for _ in range(10):
            losses = descent.run(
                factorisation.Factorisation(TARGET), near(f0, g), eta=eta, steps=60, every=1
            ).losses[:, 0]
            factors = [bounds.contraction(S, eta, float(f)) for f in losses[:-1]]
            assert (losses[1:] <= torch.tensor(factors, dtype=torch.float64) * losses[:-1]).all()


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
    """Mean of ½‖M̃(K^½ − I)‖² over 400 draws of n = 60: below the bound, and near the quarter of it that large n give."""
    problem = problems.random(S, condition, generator(1))
    g, n = generator(4), 60
    off = []
    for _ in range(400):
        K = (problem.covariates(n, g) @ problem.inverse_root).T
        values, vectors = torch.linalg.eigh(K @ K.T / n)
        root = vectors * values.sqrt() @ vectors.T
        off.append((problem.target @ root - problem.target).square().sum() / 2)
    ratio = float(torch.stack(off).mean()) / bounds.spectral_covariance(S, 3, n)
    assert ratio == pytest.approx(0.25, rel=0.15)


def test_refused():
    refused("s", "0", "above 0", bounds.basin, torch.tensor([1.0, 0.0]))
    refused("f", "1", "saddle_free", bounds.contraction, S, 0.1, 1.0)
    refused("f0", "1", "saddle_free", bounds.envelope, S, 1.0, 1.0)
    assert bounds.pl_constant(S, 1.0) == 0
    assert math.isfinite(bounds.step(S))

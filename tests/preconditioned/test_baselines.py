"""Raw descent: steps counted as a loop counts them, and the best of a grid."""

import torch

from checks import refused
from companion.theory.preconditioned import baselines
from shallowformer.preconditioned import factorisation, landscape

TARGET = torch.tensor([2.0, 0.5], dtype=torch.float64).diag()


def objective():
    return factorisation.Factorisation(TARGET)


def start(draw):
    U, V = landscape.optimum(TARGET)
    return U + 0.1 * draw(2, 2), V + 0.1 * draw(2, 2, seed=1)


def f(point):
    return float(factorisation.value(*point, TARGET))


def by_loop(point, eta, threshold, most):
    for step in range(most + 1):
        if f(point) <= threshold:
            return step
        slope = factorisation.gradient(*point, TARGET)
        point = tuple(block - eta * each for block, each in zip(point, slope, strict=True))
    return None


def test_steps_are_counted(draw):
    for eta in (0.05, 0.3):
        expected = by_loop(start(draw), eta, 1e-8, 500)
        assert baselines.steps_to(objective(), start(draw), eta, f, 1e-8, 500) == expected
        assert baselines.steps_to(objective(), start(draw), eta, f, 1e-8, expected - 1) is None
    assert baselines.steps_to(objective(), landscape.optimum(TARGET), 0.1, f, 1e-8, 5) == 0


def test_divergence_is_never(draw):
    assert baselines.steps_to(objective(), start(draw), 30.0, f, 1e-8, 500) is None


def test_the_best_of_a_grid(draw):
    grid = [0.02, 0.1, 0.3, 0.4, 0.6, 30.0]
    counts = {eta: by_loop(start(draw), eta, 1e-8, 500) for eta in grid[:4]}
    found = baselines.best_of(objective(), start(draw), grid, f, 1e-8, 500)
    assert found.steps == min(counts.values())
    assert counts[found.eta] == found.steps
    assert baselines.best_of(objective(), start(draw), [30.0], f, 1e-8, 5) == baselines.Best(None, None)


def test_small_starts(generator):
    A, B = baselines.small_random(2, 100, 0.1, generator())
    assert (A.shape, B.shape) == ((2, 100), (100, 100))
    assert abs(float(B.std()) - 0.1) < 0.01


def test_refused(draw):
    refused("etas", "none", "at least one", baselines.best_of, objective(), start(draw), [], f, 1e-8, 5)
    refused("eta", "0", "above 0", baselines.steps_to, objective(), start(draw), 0.0, f, 1e-8, 5)

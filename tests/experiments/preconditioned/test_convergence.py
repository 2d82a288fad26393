"""Starts are where they should be, and what a row records is what the algorithm does."""

import pytest
import torch

from checks import refused, unchecked
from companion.experiments.preconditioned import convergence
from shallowformer.preconditioned import algorithm, factorisation, limit
from shallowformer.preconditioned.moments import Moments

CPU = torch.device("cpu")


def test_the_basin_start_has_the_value_it_is_said_to_have():
    config = convergence.Config(80, 3, 0.5, 0.75, "basin", d=3)
    problem, (X, Y) = convergence.posed(config)
    aim = convergence.target(problem, Moments.of(X, Y))
    f = factorisation.value(*convergence.start(config, X, Y, aim), aim)
    assert float(f) == pytest.approx(0.9 / 8 * float(torch.linalg.svdvals(aim)[-1]) ** 2)


@pytest.mark.parametrize("start", convergence.STARTS)
def test_a_row_is_that_of_the_algorithm(start):
    config = convergence.Config(80, 3, 0.5, 0.75, start, d=2, steps=3, queries=20)
    with unchecked():
        found = convergence.compute(config, CPU)
        problem, (X, Y) = convergence.posed(config)
        aim = convergence.target(problem, Moments.of(X, Y))
        method = algorithm.Algorithm(X, Y, radius=0.4)
        U, V = convergence.start(config, X, Y, aim)
        for t in range(3):
            assert found["value"][t] == pytest.approx(float(factorisation.value(U, V, aim)))
            error = limit.error(*method.parameters((U, V)), problem)
            assert found["error"][t] == pytest.approx(float(error))
            _, (g, h) = method.losses_and_gradient((U, V))
            exact = factorisation.gradient(U, V, aim)
            off = ((g - exact[0]).square().sum() + (h - exact[1]).square().sum()).sqrt()
            assert float(off) <= found["bias"] * (1 + 1e-9)
            U, V = U - found["eta"] * g, V - found["eta"] * h
        assert found["value"][3] == pytest.approx(float(factorisation.value(U, V, aim)))


def test_starts_have_names():
    config = convergence.Config(80, 0, 0.5, start="far", d=2)
    problem, (X, Y) = convergence.posed(config)
    refused("start", "far", "coarse", convergence.start, config, X, Y, problem.target)

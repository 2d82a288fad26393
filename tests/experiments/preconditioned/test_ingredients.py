"""Ingredients removed in turn: each row is the run that it says it is."""

import dataclasses

import pytest
import torch

from companion.experiments.preconditioned import ingredients, radius
from companion.theory.preconditioned import least_squares
from shallowformer.preconditioned import algorithm, limit, risk

CPU = torch.device("cpu")


def data(config):
    problem = ingredients.posed(config.d, config.condition, config.sigma)
    return problem, *problem.samples(config.n, torch.Generator().manual_seed(100 + config.seed))


def config(removed, condition=10.0):
    return ingredients.Config(removed, condition, 1, n=60, d=3, steps=8, most=20, queries=200)


@pytest.mark.parametrize("removed", ["nothing", "regulariser", "start", "balance"])
def test_a_run_does_not_see_the_covariance_unless_its_start_does(removed):
    rows = [ingredients.compute(config(removed, condition), CPU) for condition in (1.0, 50.0)]
    # Small random factors are drawn in whitened coordinates: they do not turn along.
    same = removed != "start"
    assert (rows[0]["error"] == pytest.approx(rows[1]["error"], rel=1e-8)) is same


def test_the_start_by_singular_vectors_sees_the_covariance():
    rows = [ingredients.compute(config("gauge", condition), CPU) for condition in (1.0, 50.0)]
    assert rows[0]["error"] != pytest.approx(rows[1]["error"], rel=1e-4)


def test_all_starts_of_the_same_product_are_at_the_same_error():
    at = {
        removed: ingredients.compute(config(removed), CPU)["start"]
        for removed in ("nothing", "preconditioner", "all", "all, balanced", "radius", "balance")
    }
    assert len({round(value, 10) for value in at.values()}) == 1


def test_plain_descent_is_plain_descent():
    case = config("all")
    _, X, Y = data(case)
    method, start, _ = ingredients.without(case, X, Y)
    A, B = method.parameters(method.point(*start))
    ours, begin, _ = ingredients.without(dataclasses.replace(case, removed="nothing"), X, Y)
    for found, wanted in zip((A, B), ours.parameters(ours.point(*begin)), strict=True):
        torch.testing.assert_close(found, wanted)
    _, (of_A, of_B) = method.losses_and_gradient((A, B))
    _, (wanted_A, wanted_B) = method._regression.losses_and_gradient((A, B))
    torch.testing.assert_close(of_A, wanted_A)
    torch.testing.assert_close(of_B, wanted_B)


def test_imbalance_and_radius_are_what_is_left():
    rows = {
        removed: ingredients.compute(config(removed), CPU)
        for removed in ("balance", "balance and regulariser")
    }
    assert rows["balance"]["imbalance"] < 0.5 * rows["balance and regulariser"]["imbalance"]
    assert rows["balance"]["b"] == pytest.approx(0.4)


def test_a_row_of_radii_is_the_run_and_least_squares():
    case = radius.Radius(0.3, 50, 2, d=3, steps=5, queries=200)
    row = radius.at_radius(case, CPU)
    problem, X, Y = data(case)
    method = algorithm.Algorithm(X, Y, radius=0.3)
    P, s, Qt = torch.linalg.svd(method.moments.target)
    run = algorithm.run(method, (P * s.sqrt() @ Qt, Qt.T * s.sqrt() @ Qt), 5)
    fresh = risk.excess(run.A, run.B, X, problem, 200, torch.Generator().manual_seed(2))
    assert row["risk"] == pytest.approx(float(fresh.mean()))
    assert row["error"] == pytest.approx(float(limit.error(run.A, run.B, problem)))
    assert row["squares"] == pytest.approx(float(least_squares.error(method.moments.M, problem)))


def test_a_run_that_diverges_says_so():
    row = radius.at_radius(radius.Radius(0.01, 40, 0, d=3, steps=30, queries=20), CPU)
    assert {row[name] for name in ("error", "risk", "imbalance", "b")} == {"diverged"}


def test_an_unknown_ingredient_is_refused():
    case = config("salt")
    _, X, Y = data(case)
    with pytest.raises(ValueError, match="salt"):
        ingredients.without(case, X, Y)

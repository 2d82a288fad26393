"""Stored certificates, of runs, of linear runs and by Theorem E: whole, consistent, and as good as the page says."""

import math

import pytest
import torch

from companion.experiments.kernel_regime import certificates, linear_runs, problems, training_loss
from companion.experiments.kernel_regime import theorem_e as experiment
from shallowformer.experiments.experiment import stored
from shallowformer.kernel_regime.convergence import certificates as convergence
from shallowformer.kernel_regime.convergence import comparators
from shallowformer.kernel_regime.kernel import tangent_kernel
from shallowformer.kernel_regime.linear_run.theorem_f import certify
from shallowformer.kernel_regime.model.loss import Loss
from shallowformer.kernel_regime.neighbourhood import region

ROWS = stored(certificates.EXPERIMENT)
PAPER = [row for row in ROWS if row["steps"] == certificates.PAPER[1]]


def test_scales_contain_one_another():
    laptop, paper = (certificates.plan(scale) for scale in ("laptop", "paper"))
    assert set(laptop) < set(paper)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['m']}-{row['seed']}-{row['steps']}")
def test_a_row_is_consistent(row):
    assert row["min"] == row["mins"][-1] <= row["mean"] == row["means"][-1]
    assert row["horizons"][-1] == row["steps"]
    assert row["means"][0] == row["mins"][0] == pytest.approx(row["trivial"], rel=1e-5)
    assert all(a >= b for a, b in zip(row["mins"], row["mins"][1:], strict=False))
    for comparator in ("ridge", "transported"):
        seen = row[comparator]
        assert seen["epsilon"] >= seen["epsilon_start"]
        assert max(seen["displacement"]) <= 3.0
        root, horizon, rest = seen["epsilon"], row["eta"] * row["steps"], 1 - row["theta"]
        bound = (root + math.sqrt(root**2 + rest * seen["V0"] / horizon)) / (2 * rest)
        assert seen["certificate"] == pytest.approx(bound**2)
        assert row["mean"] <= seen["certificate"]
    ridge = row["ridge"]
    ell = (ridge["epsilon_start"] + math.sqrt(ridge["epsilon_start"] ** 2 + ridge["V0"] / horizon)) / 2
    # Six rounds of the iteration; at its end the bound is flat in λ.
    assert row["lambda"] == pytest.approx(ridge["epsilon_start"] / (2 * ell * horizon), rel=0.1)


def test_at_the_paper_s_step_certificates_are_within_a_fifth():
    assert max(row["ridge"]["certificate"] / row["mean"] for row in PAPER) < 1.2
    assert all(row["ridge"]["certificate"] < row["trivial"] for row in PAPER)


def test_a_tiny_row_is_of_the_size_asked_for():
    config = certificates.plan("smoke")[0]
    row = certificates.compute(config, torch.device("cpu"))
    assert (config.m, config.n, row["horizons"]) == (4, 12, [1, 4, 10])


CPU = torch.device("cpu")


def test_a_row_by_a_plain_route():
    config = linear_runs.Config(8, 1, 20, 64, 25, every=3)
    row, given = linear_runs.compute(config, CPU), problems.problem("paper", 1, 20, 64)
    sure = certify(given.X, given.labels.mean.flatten(), problems.start(8, 1), 0.2, 25, 3)
    assert row["horizons"] == [1, 4, 10, 25]
    assert row["mu"] == [float(sure.mu[t - 1]) for t in (1, 4, 10, 25)]
    assert row["E"] == [float(sure.E[t - 1]) for t in (1, 4, 10, 25)]
    assert row["mu"][0] ** 2 == pytest.approx(row["trivial"], rel=1e-9)
    assert row["E"][0] < 1e-4 * row["mu"][0]
    assert row["best"] == float(sure.upper.min())
    assert row["explodes"] == -1


def test_coarse_steps_have_the_same_length():
    fine, coarse = (linear_runs.Config(8, 0, 20, 64, 100, k, every=5) for k in (1, 5))
    first, second = (linear_runs.compute(config, CPU) for config in (fine, coarse))
    assert second["best"] == pytest.approx(first["best"], rel=0.05)


def test_problems_and_starts_of_linear_runs_are_those_of_the_stored_runs():
    runs = training_loss.collected()
    rows = stored(linear_runs.EXPERIMENT)
    assert rows
    for row in rows:
        assert row["best"] < row["trivial"], "says nothing"
        run = runs.get(("paper", row["m"], row["seed"]))
        if run:
            assert run["trivial"] == pytest.approx(row["trivial"], rel=1e-6)
            assert run["horizons"] == row["horizons"]


def test_the_distance_falls_with_the_width():
    rows = {(row["m"], row["seed"]): row for row in stored(linear_runs.EXPERIMENT)}
    for (m, seed), row in rows.items():
        wider = rows.get((2 * m, seed))
        if wider and row["E"][-1] > 0:
            assert 0 < wider["E"][-1] < row["E"][-1]


def test_a_row_by_the_route_of_the_narrow_runs():
    eta, steps = certificates.PAPER
    given, phi0 = problems.problem("paper", 1, 20, 64), problems.start(16, 1)
    loss = Loss(given.X, given.labels.mean)
    ridge = comparators.best_ridge(loss, phi0, eta, steps)
    nu = [4 * float(moves.max()) for moves in region.displacement(ridge.point, phi0)]
    rho = [move * (1 + 1e-9) for move in nu]
    A0 = float(tangent_kernel.diagonal(given.X, phi0).total.mean()) ** 0.5
    R = region.longest(phi0, rho[1])
    known = convergence.prior(R, A0, ridge.epsilon, ridge.V0, nu, eta=eta, steps=steps, rho=rho)
    row = experiment.compute(experiment.Config(16, 1, 20, 64), torch.device("cpu"))
    assert row["displacement"] == pytest.approx(nu)
    assert row["by_width"] == pytest.approx(known.by_width)
    assert min(
        row[f"value_by_{way}"] for way in ("width", "pairs") if row[f"value_by_{way}"] > 0
    ) == pytest.approx(known.value)


def test_comparators_are_those_of_the_stored_runs():
    runs = {(row["m"], row["seed"]): row for row in stored(certificates.EXPERIMENT) if row["steps"] == 4000}
    rows = stored(experiment.EXPERIMENT)
    assert rows
    for row in rows:
        run = runs.get((row["m"], row["seed"]))
        if run:
            assert row["trivial"] == pytest.approx(run["trivial"], rel=1e-6)
            assert row["V0"] == pytest.approx(run["ridge"]["V0"], rel=1e-4)
            assert row["displacement"] == pytest.approx(run["ridge"]["displacement"], rel=1e-4)

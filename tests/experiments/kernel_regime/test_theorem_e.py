"""Theorem E at true random starts: rows as the page reads them."""

import pytest
import torch

from companion.experiments.kernel_regime import certificates, problems
from companion.experiments.kernel_regime import theorem_e as experiment
from shallowformer.experiments.experiment import stored
from shallowformer.kernel_regime.convergence import certificates as convergence
from shallowformer.kernel_regime.convergence import comparators
from shallowformer.kernel_regime.kernel import tangent_kernel
from shallowformer.kernel_regime.model.loss import Loss
from shallowformer.kernel_regime.neighbourhood import region


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

"""The stored certificates: whole, consistent, and as good as the page says."""

import math

import pytest
import torch

from companion.experiments.kernel_regime import certificates
from shallowformer.experiments.experiment import stored

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

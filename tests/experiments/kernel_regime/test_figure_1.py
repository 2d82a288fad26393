"""Figure 1: rows as the page reads them, what is expected, and what is stored."""

import math

import pytest
import torch

from companion.experiments.kernel_regime import (
    approximation_error,
    certificates,
    linearisation_error,
    training_loss,
)
from shallowformer.experiments import SCALES
from shallowformer.experiments.experiment import stored


def test_expected_errors():
    assert approximation_error.expected(2.0, 4, 8) == pytest.approx(math.sqrt(2 * (1 / 2 + 1 / 8)))
    assert approximation_error.expected(2.0, 4, 8, "released") == pytest.approx(
        math.sqrt(2 * (1 / 4 + 1 / 8))
    )


@pytest.mark.parametrize("row", stored(approximation_error.EXPERIMENT), ids=lambda row: f"{row['variant']}-{row['m']}-{row['seed']}")  # fmt: skip
def test_stored_errors_are_near_what_is_expected(row):
    usual = approximation_error.expected(row["variance"], row["m"], row["heads"], row["variant"])
    assert row["rms"] < row["sup"]
    assert 0.2 < row["rms"] / usual < 5


@pytest.mark.parametrize("panel", [approximation_error, linearisation_error, training_loss])
@pytest.mark.parametrize("scale", SCALES)
def test_narrow_models_come_first(panel, scale):
    widths = [config.m for config in panel.plan(scale)]
    assert widths == sorted(widths)


@pytest.mark.parametrize(
    "row", stored(linearisation_error.EXPERIMENT), ids=lambda row: f"{row['m']}-{row['seed']}"
)
def test_no_stored_gap_is_above_the_bound(row):
    gaps = [*row["adversarial"], *(row[way]["sup"] for way in linearisation_error.WAYS)]
    assert max(gaps) < row["bound"]
    assert all(row[way]["mean"] < row[way]["sup"] for way in linearisation_error.WAYS)


CPU = torch.device("cpu")


def test_the_paper_s_plan_is_of_the_paper_s_size_and_leaves_out_what_is_held():
    plan = training_loss.plan("paper")
    assert {(c.n, c.heads, c.steps) for c in plan} == {(5000, 8192, 4000)}
    held = {(c.m, c.seed) for c in certificates.plan("paper") if c.steps == training_loss.STEPS}
    assert held == training_loss.HELD
    assert not held & {(c.m, c.seed) for c in plan if c.variant == "paper"}


def test_losses_of_a_run_are_ordered():
    row = training_loss.compute(training_loss.Config("released", 8, 0, 25, 32, 30), CPU)
    assert row["horizons"] == [1, 4, 10, 25]
    assert row["mins"][0] == row["means"][0] == pytest.approx(row["trivial"], rel=1e-5)
    assert all(low <= mean for low, mean in zip(row["mins"], row["means"], strict=True))
    assert len(row["unseen"]) == 2


def test_first_steps_are_those_of_the_run():
    config = training_loss.Config("paper", 4, 0, 25, 32, 30)
    row, first = training_loss.compute(config, CPU), training_loss.steps_of(config, 25)
    assert first["trivial"] == row["trivial"]
    assert first["mean"] == pytest.approx(row["means"][-1], rel=1e-6)


@pytest.mark.parametrize("scale", ["laptop", "paper"])
def test_stored_runs_descend(scale):
    runs = training_loss.collected(scale)
    assert runs
    for run in runs.values():
        # A run of coarse steps has no horizon shorter than one of them.
        assert run["horizons"] == sorted(set(run["horizons"]))
        assert run["horizons"][-1] == training_loss.HORIZONS[-1]
        assert len(run["mins"]) == len(run["means"]) == len(run["horizons"])
        assert all(a >= b for a, b in zip(run["mins"], run["mins"][1:], strict=False))
        assert run["means"][-1] < run["trivial"]


@pytest.mark.parametrize("variant", ["paper", "released"])
def test_longer_runs_are_read_at_lengths_of_the_paper_s_variant(variant):
    config = training_loss.Config(variant, 4, 0, 25, 32, training_loss.LONGER, 100)
    read = training_loss.horizons(config)
    assert all(t % config.coarse == 0 for t in read)
    assert read == sorted(set(read))
    assert read[-1] == config.steps
    step = {"paper": 1, "released": 1.75}[variant]
    lengths = [step * t / config.steps**0.5 for t in read]
    for wanted in (63.2, 158.9, 632.5):
        assert min(abs(length / wanted - 1) for length in lengths) < 0.01


def test_a_longer_run_begins_as_the_small_copy_does():
    coarse = training_loss.Config("paper", 4, 0, 25, 32, training_loss.STEPS, 10)
    long = training_loss.Config("paper", 4, 0, 25, 32, training_loss.LONGER, 100)
    first, second = (training_loss.steps_of(config, 40)["mean"] for config in (coarse, long))
    assert first == pytest.approx(second, rel=1e-6)


def test_every_longer_run_is_stored():
    plan = training_loss.plan_long("paper")
    assert len(stored(training_loss.LONG)) == len(plan)
    assert {config.seed for config in plan} == set(range(10))

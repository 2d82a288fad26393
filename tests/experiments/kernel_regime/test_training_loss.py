"""Figure 1(c): rows as the page reads them, and what is stored."""

import pytest
import torch

from shallowformer.experiments import registry
from shallowformer.experiments.kernel_regime import certificates, training_loss

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


@pytest.mark.parametrize("scale", registry.SCALES)
def test_narrow_models_come_first(scale):
    widths = [config.m for config in training_loss.plan(scale)]
    assert widths == sorted(widths)

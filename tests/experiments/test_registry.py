"""Every registered experiment is what its entry says, runs at scale smoke, and has its rows stored."""

from contextlib import nullcontext

import pytest
from encoding import encoded_once

from checks import skip_without_data
from shallowformer.experiments import registry, store, sweep, verification
from shallowformer.experiments.experiment import planned

#: Experiments whose laptop scale has smaller problems than the paper's; that of the others is a part of it.
SMALLER = (
    "approximation_error",
    "joint_selection",
    "linear_runs",
    "linearisation_error",
    "memory_at_start",
    "prices",
    "recurrence",
    "sample_size",
    "theorem_e",
    "training_loss",
)

#: Experiments whose sentences are encoded as those of ``sentence_selection``, where they are encoded anew for each row.
ENCODED_ONCE = ("sentence_controls", "sentence_geometry", "sentence_joint")

#: Experiments of which a part is stored so far; the same command computes the rest.
UNDER_WAY = ("recurrence",)

every_experiment = pytest.mark.parametrize("name", registry.EXPERIMENTS)


@every_experiment
def test_an_experiment_is_what_its_entry_says(name):
    found = registry.get(name)
    assert (found.name, found.title) == (name, registry.EXPERIMENTS[name].title)
    laptop, paper = (planned(found, scale) for scale in ("laptop", "paper"))
    inputs = [sum(getattr(config, "n", 1) for config in plan.values()) for plan in (laptop, paper)]
    assert inputs[0] <= inputs[1]


@every_experiment
def test_a_tiny_sweep_is_run_and_confirmed(name, tmp_path, monkeypatch):
    # On one machine nothing differs but what has a tolerance of its own, and, seen once, a row of beyond_theory.
    monkeypatch.setattr(verification, "TOLERANCE", 1e-5 if name == "beyond_theory" else 0.0)
    found = registry.get(name)
    with encoded_once() if name in ENCODED_ONCE else nullcontext():
        report = sweep.run(found, "smoke", tmp_path)
        skip_without_data(*(outcome.error for outcome in report.failed))
        assert report.computed == report.planned > 0 == len(report.failed)
        again = list(verification.verify(found, 1.0, 0, tmp_path))
    assert [compared.differences for compared in again] == [()] * report.planned


@every_experiment
def test_whole_scales_are_stored_and_nothing_else(name):
    paper, laptop = (set(planned(registry.get(name), scale)) for scale in ("paper", "laptop"))
    rows = {row["key"] for row in store.load(name)}
    assert rows <= paper if name in UNDER_WAY else rows in (paper, paper | laptop)
    assert (laptop < paper) == (name not in SMALLER)

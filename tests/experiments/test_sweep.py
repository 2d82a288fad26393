"""Sweeps are resumed, go on where a row fails, and lose nothing when they are killed."""

import contextlib
import dataclasses
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import toys

from shallowformer.experiments import store, sweep
from shallowformer.experiments.experiment import stored
from shallowformer.experiments.store import StoreError

pytestmark = pytest.mark.first


def numbers(results):
    return sorted(row["config"]["number"] for row in store.load("toy", results))


def test_a_larger_scale_computes_only_what_is_missing(tmp_path, traces):
    for scale, before, computed in (("smoke", 0, 2), ("paper", 2, 4), ("paper", 6, 0)):
        report = sweep.run(toys.SQUARES, scale, tmp_path)
        assert (report.before, report.computed) == (before, computed)
    assert sum(toys.begun(number) for number in range(6)) == 7  # where nothing was missing, one is looked at
    assert [row["square"] for row in stored(toys.SQUARES, "paper", tmp_path)] == [0, 1, 4, 9, 16, 25]
    assert [row["number"] for row in stored(toys.SQUARES, "smoke", tmp_path)] == [0, 1]
    with pytest.raises(StoreError, match=r"nowhere/toy.json; there are 0 of scale smoke"):
        stored(toys.SQUARES, "paper", tmp_path / "nowhere")


def test_rows_that_fail_are_listed_and_the_others_stored(tmp_path, traces):
    report = sweep.run(toys.FAILING, "paper", tmp_path)
    assert numbers(tmp_path) == [0, 2, 4, 5]
    assert report.computed == 4
    failed, infinite = report.failed
    assert failed.config == "number = 1, does = fail"
    assert failed.error == "ArithmeticError: the loss is not finite"
    assert "toys.py" in failed.trace
    assert (
        "toy, number = 3, does = overflow: result inside.values[1] must be finite, got inf" in infinite.error
    )
    again = sweep.run(toys.FAILING, "paper", tmp_path)
    assert (again.before, again.computed, len(again.failed)) == (4, 0, 2)


def wider(toy, columns):
    """An experiment whose rows have more results."""

    def compute(config, device):
        return toy.compute(config, device) | columns(config.number)

    return dataclasses.replace(toy, compute=compute)


@pytest.mark.parametrize("scale", ["smoke", "paper"])
def test_results_that_stored_rows_lack_are_told(tmp_path, traces, scale):
    assert sweep.run(toys.SQUARES, "smoke", tmp_path).lacking == ()
    assert sweep.run(toys.SQUARES, scale, tmp_path).lacking == ()
    (tmp_path / "toy.json").unlink()
    sweep.run(toys.SQUARES, "smoke", tmp_path)
    before = store.load("toy", tmp_path)
    report = sweep.run(wider(toys.SQUARES, lambda number: {"cube": number**3}), scale, tmp_path)
    assert report.lacking == ("cube",)
    assert report.computed == (0 if scale == "smoke" else 4)
    assert store.load("toy", tmp_path)[:2] == before


def test_results_of_some_configurations_are_not_lacking_in_others(tmp_path, traces):
    some = wider(toys.SQUARES, lambda number: {"half": number // 2} if number % 2 == 0 else {})
    for scale in ("smoke", "paper", "paper"):
        assert sweep.run(some, scale, tmp_path).lacking == ()


def test_what_takes_long_is_not_looked_at(tmp_path, traces, monkeypatch):
    monkeypatch.setattr(sweep, "GLANCE", -1)
    sweep.run(toys.SQUARES, "smoke", tmp_path)
    sweep.run(toys.SQUARES, "smoke", tmp_path)
    assert [toys.begun(number) for number in range(2)] == [1, 1]


def test_nothing_is_computed_for_a_corrupted_store(tmp_path, traces):
    store.path("toy", tmp_path).write_text('{"experiment": "toy", "rows": [')
    with pytest.raises(store.StoreError, match="not JSON"):
        sweep.run(toys.SQUARES, "smoke", tmp_path)
    assert not toys.begun(0)


def test_a_folder_that_cannot_be_written_to_is_found_before_any_work(tmp_path, traces):
    (tmp_path / "file").touch()
    with pytest.raises(OSError, match="file"):
        sweep.run(toys.SQUARES, "smoke", tmp_path / "file")
    assert not toys.begun(0)


def alive(process):
    try:
        os.kill(process, 0)
        return "zombie" not in Path(f"/proc/{process}/status").read_text(
            "utf-8"
        )  # whom no one has waited for
    except (ProcessLookupError, FileNotFoundError):  # it may end in between
        return False


@pytest.fixture
def waiting(tmp_path, traces):
    """A sweep in two processes that has stored three rows, and waits in the others."""
    arguments = ["run", "toys:WAITING", "--scale", "paper", "--results", tmp_path, "--jobs", 2, "--quiet"]
    running = subprocess.Popen(
        [sys.executable, "-m", "shallowformer", *map(str, arguments)],
        start_new_session=True,
        # What runs in a shell's background ignores Ctrl-C, what runs under nohup the end of the terminal; both hand that down.
        preexec_fn=lambda: [
            signal.signal(ignored, signal.SIG_DFL) for ignored in (signal.SIGINT, signal.SIGHUP)
        ],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    toys.wait_for(lambda: numbers(tmp_path) == [0, 1, 2] and toys.begun(3))
    yield running
    running.kill()
    running.wait()


def test_a_killed_sweep_goes_on_and_computes_no_stored_row_twice(tmp_path, traces, waiting):
    os.killpg(waiting.pid, signal.SIGKILL)
    waiting.communicate()
    assert numbers(tmp_path) == [0, 1, 2]
    (traces / "go").touch()
    report = sweep.run(toys.WAITING, "paper", tmp_path)
    assert (report.planned, report.before, report.computed, report.failed) == (6, 3, 3, ())
    assert numbers(tmp_path) == list(range(6))
    assert [toys.begun(number) for number in range(3)] == [1] * 3
    assert all(toys.begun(number) <= 2 for number in range(3, 6))


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interrupted_sweep_keeps_its_rows_and_no_worker(tmp_path, traces, waiting, sent):
    if sent == signal.SIGINT:  # from the keyboard, to all
        os.killpg(waiting.pid, sent)
    else:
        os.kill(waiting.pid, sent)
    _, complaints = waiting.communicate(timeout=toys.PATIENCE)
    assert waiting.returncode == 130
    _, said, after = complaints.partition(
        "interrupted; finished rows are kept, the same command goes on with the others\n"
    )
    assert said
    assert "Traceback" not in after  # joblib may warn of a folder that two of its processes wanted to remove
    assert numbers(tmp_path) == [0, 1, 2]
    toys.wait_for(lambda: not alive(toys.process_of(3)))


@pytest.mark.parametrize(("ignores", "refused"), [(True, True), (False, False)])
def test_rows_that_ignore_their_seed_are_refused(ignores, refused, tmp_path, traces):
    seeded = toys.DEAF if ignores else toys.SEEDED
    with pytest.raises(StoreError, match="same for seeds 0 and 1") if refused else contextlib.nullcontext():
        sweep.run(seeded, "paper", tmp_path)
    with pytest.raises(StoreError, match="compute ignores it") if refused else contextlib.nullcontext():
        stored(seeded, "paper", tmp_path)

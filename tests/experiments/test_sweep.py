"""Sweeps are resumed, go on where a row fails, and lose nothing when they, or a worker, are killed."""

import logging
import os
import signal
import subprocess
import sys
from dataclasses import replace

import pytest
import torch
import toys

from shallowformer.experiments import experiment as experiments
from shallowformer.experiments import registry, store, sweep, workers
from shallowformer.experiments.experiment import planned, stored

CPU = torch.device("cpu")


def numbers(results, name="toy"):
    return sorted(row["config"]["number"] for row in store.load(name, results))


def test_a_row_says_what_it_was_computed_with(tmp_path, traces):
    report = sweep.run(toys.SQUARES, "smoke", tmp_path)
    assert (report.planned, report.before, report.computed, report.failed) == (2, 0, 2, ())
    row = store.load("toy", tmp_path)[1]
    assert row["config"] == {"number": 1, "does": "square"}
    assert row["result"] == {"square": 1, "root": 1.0, "label": "toy", "list": [1, 2.5]}
    known = {"dtype", "device", "threads", "shallowformer", "commit", "python", "torch", "numpy", "seconds"}
    assert known - {"commit"} <= set(row["provenance"]) <= known
    assert (row["provenance"]["dtype"], row["provenance"]["device"]) == ("float64", "cpu")


def test_a_larger_scale_computes_only_what_is_missing(tmp_path, traces):
    for scale, before, computed in (("smoke", 0, 2), ("paper", 2, 4), ("paper", 6, 0)):
        report = sweep.run(toys.SQUARES, scale, tmp_path)
        assert (report.before, report.computed) == (before, computed)
    assert [toys.begun(number) for number in range(6)] == [1] * 6
    assert [row["square"] for row in stored(toys.SQUARES, "paper", tmp_path)] == [0, 1, 4, 9, 16, 25]
    assert [row["number"] for row in stored(toys.SQUARES, "smoke", tmp_path)] == [0, 1]


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


def test_processes_give_the_rows_of_one(tmp_path, traces):
    one, two = (sweep.run(toys.FAILING, "paper", tmp_path / str(jobs), jobs=jobs) for jobs in (1, 2))
    assert one.computed == two.computed == 4
    assert {(o.config, o.error) for o in one.failed} == {(o.config, o.error) for o in two.failed}
    assert stored(toys.FAILING, "paper", tmp_path / "1") == stored(toys.FAILING, "paper", tmp_path / "2")
    assert {row["provenance"]["threads"] for row in store.load("toy", tmp_path / "2")} == {1}


@pytest.mark.parametrize(
    ("result", "message"),
    [
        ({"x": float("nan")}, r'result x must be finite, got nan; store the string "nan"'),
        ({"a": {"b": object()}}, r"result a\.b must be a number, a string, or a list or mapping.*got object"),
        ({"x": None}, "result x must be a number"),
        ({1: 2}, "a row must be a mapping from names"),
        (3.0, "a row must be a mapping from names"),
        ({"number": 3}, "must not have names of configuration fields, got number"),
    ],
)
def test_results_that_cannot_be_stored_are_refused(result, message):
    odd = replace(toys.SQUARES, compute=lambda config, device: result)
    with pytest.raises(ValueError, match=message):
        experiments.row(odd, toys.Toy(1), experiments.torch.device("cpu"))


def test_a_word_for_infinity_is_stored(tmp_path):
    odd = replace(toys.SQUARES, compute=lambda config, device: {"x": "inf", "pair": (1, 2), "yes": True})
    sweep.run(odd, "smoke", tmp_path)
    assert store.load("toy", tmp_path)[0]["result"] == {"x": "inf", "pair": [1, 2], "yes": True}


def test_an_experiment_says_its_dtype(tmp_path, traces):
    report = sweep.run(replace(toys.SQUARES, dtype=None), "smoke", tmp_path)
    assert "experiment toy must say its dtype" in report.failed[0].error


def test_plans_are_checked():
    with pytest.raises(ValueError, match="scale must be one of smoke, laptop, paper, got 'huge'"):
        planned(toys.SQUARES, "huge")
    with pytest.raises(ValueError, match="number = 1, does = square is there twice"):
        planned(replace(toys.SQUARES, plan=lambda scale: [toys.Toy(1), toys.Toy(1)]), "smoke")


def test_nothing_is_computed_for_a_corrupted_store(tmp_path, traces):
    store.path("toy", tmp_path).write_text('{"experiment": "toy", "rows": [')
    with pytest.raises(store.StoreError, match="not JSON"):
        sweep.run(toys.SQUARES, "smoke", tmp_path)
    assert not toys.begun(0)


@pytest.fixture
def waiting(tmp_path, traces):
    """A sweep in two processes that has stored three rows, and waits in the others."""
    arguments = ["run", "toys:WAITING", "--scale", "paper", "--results", tmp_path, "--jobs", 2, "--quiet"]
    running = subprocess.Popen(
        [sys.executable, "-m", "shallowformer", *map(str, arguments)],
        start_new_session=True,
        # What runs in a shell's background ignores Ctrl-C, and hands that down.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
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


def test_an_interrupted_sweep_keeps_its_rows(tmp_path, waiting):
    os.killpg(waiting.pid, signal.SIGINT)
    _, complaints = waiting.communicate(timeout=toys.PATIENCE)
    assert waiting.returncode == 130
    assert complaints.endswith(
        "interrupted; finished rows are kept, the same command goes on with the others\n"
    )
    assert numbers(tmp_path) == [0, 1, 2]


def test_a_worker_that_is_killed_costs_no_finished_row(tmp_path, traces):
    with pytest.raises(workers.Unavailable, match="Finished rows are kept"):
        sweep.run(toys.DYING, "paper", tmp_path, jobs=2)
    kept = numbers(tmp_path)
    report = sweep.run(toys.DYING, "paper", tmp_path)
    assert (report.before, report.computed) == (len(kept), 8 - len(kept))
    assert numbers(tmp_path) == list(range(8))
    assert all(toys.begun(number) == 1 for number in kept)


def cluster(workers):
    distributed = pytest.importorskip("distributed", reason='pip install "shallowformer[distributed]"')
    return distributed.LocalCluster(
        n_workers=workers,
        threads_per_worker=1,
        processes=True,
        dashboard_address=None,
        silence_logs=logging.CRITICAL,
    )


def test_a_killed_dask_worker_costs_nothing(tmp_path, traces):
    with cluster(2) as two:
        report = sweep.run(toys.DYING, "paper", tmp_path, scheduler=two.scheduler_address)
    assert (report.computed, report.failed) == (8, ())
    assert [row["square"] for row in stored(toys.DYING, "paper", tmp_path)] == [k**2 for k in range(8)]
    assert toys.begun(3) == 2


def test_a_cluster_of_one_thread_computes_the_rows_itself(tmp_path, traces):
    """Other engines may take a single thread for no cluster at all, and compute here."""
    telling = replace(toys.SQUARES, compute=toys.process)
    with cluster(1) as one:
        sweep.run(telling, "laptop", tmp_path, scheduler=one.scheduler_address)
    found = {row["process"] for row in stored(telling, "laptop", tmp_path)}
    assert len(found) == 1
    assert os.getpid() not in found


def test_workers_that_cannot_import_the_experiment_are_refused(tmp_path, traces, monkeypatch):
    with cluster(1) as one:
        monkeypatch.setattr(toys.process, "__module__", "only_here")
        with pytest.raises(workers.Unavailable, match="cannot import only_here"):
            sweep.run(
                replace(toys.SQUARES, compute=toys.process),
                "smoke",
                tmp_path,
                scheduler=one.scheduler_address,
            )


def test_a_cluster_without_workers_is_left(tmp_path, traces, monkeypatch):
    monkeypatch.setattr(workers, "PATIENCE", 0.5)
    monkeypatch.setattr(workers, "LOOK", 0.1)
    with cluster(0) as none, pytest.raises(workers.Unavailable, match="no worker has joined"):
        sweep.run(toys.SQUARES, "smoke", tmp_path, scheduler=none.scheduler_address)
    with cluster(1) as one:
        running = workers.outcomes(
            toys.WAITING, list(planned(toys.WAITING, "paper").values()), CPU, scheduler=one.scheduler_address
        )
        assert next(running).row["config"]["number"] == 0
        one.scale(0)
        with pytest.raises(workers.Unavailable, match="without workers"):
            list(running)


def test_no_scheduler_is_said(tmp_path, traces, monkeypatch):
    pytest.importorskip("distributed")
    monkeypatch.setattr(workers, "ANSWER", 1)
    with pytest.raises(ValueError, match=r"must look like tcp://10\.0\.0\.1:8786, got 'nowhere'"):
        sweep.run(toys.SQUARES, "smoke", tmp_path, scheduler="nowhere")
    with pytest.raises(workers.Unavailable, match=r"no Dask scheduler answers at 'tcp://127\.0\.0\.1:1'"):
        sweep.run(toys.SQUARES, "smoke", tmp_path, scheduler="tcp://127.0.0.1:1")


@pytest.mark.parametrize("jobs", [0, -2])
def test_no_processes_are_refused(tmp_path, traces, jobs):
    with pytest.raises(ValueError, match="jobs must be at least 1, or -1"):
        sweep.run(toys.SQUARES, "smoke", tmp_path, jobs=jobs)


def test_a_folder_that_cannot_be_written_to_is_found_before_any_work(tmp_path, traces):
    (tmp_path / "file").touch()
    with pytest.raises(OSError, match="file"):
        sweep.run(toys.SQUARES, "smoke", tmp_path / "file")
    assert not toys.begun(0)


@pytest.mark.parametrize("name", ["", "a/b", "../up", "two words"])
def test_a_name_that_is_no_file_is_refused(name):
    with pytest.raises(ValueError, match="letters, digits and underscores"):
        toys.experiment(name=name)


@pytest.mark.parametrize("name", registry.EXPERIMENTS)
def test_a_registered_experiment_is_what_its_entry_says(name):
    found = registry.get(name)
    assert (found.name, found.title) == (name, registry.EXPERIMENTS[name].title)
    smoke, laptop, paper = (planned(found, scale) for scale in registry.SCALES)
    assert smoke
    inputs = [sum(getattr(config, "n", 1) for config in plan.values()) for plan in (laptop, paper)]
    assert inputs[0] <= inputs[1]
    store.load(name)

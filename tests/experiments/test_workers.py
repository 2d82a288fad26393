"""Rows are computed in processes and on clusters as here, and workers that die, or cannot be had, cost no finished row."""

import logging
import os
import signal
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
import torch
import toys

from shallowformer.experiments import store, sweep, workers
from shallowformer.experiments.experiment import planned, stored

pytestmark = pytest.mark.first

CPU = torch.device("cpu")


def test_processes_give_the_rows_of_one(tmp_path, traces):
    one, two = (sweep.run(toys.FAILING, "paper", tmp_path / str(jobs), jobs=jobs) for jobs in (1, 2))
    assert one.computed == two.computed == 4
    assert {(o.config, o.error) for o in one.failed} == {(o.config, o.error) for o in two.failed}
    assert stored(toys.FAILING, "paper", tmp_path / "1") == stored(toys.FAILING, "paper", tmp_path / "2")
    assert {row["provenance"]["threads"] for row in store.load("toy", tmp_path / "2")} == {1}


def test_a_worker_that_is_killed_costs_no_finished_row(tmp_path, traces):
    def kill():
        """Not before there is a row to lose."""
        toys.wait_for(store.path("toy", tmp_path).exists)
        (traces / "go").touch()

    with ThreadPoolExecutor(1) as pool:
        pool.submit(kill)
        with pytest.raises(workers.Unavailable, match="Finished rows are kept"):
            sweep.run(toys.DYING, "paper", tmp_path, jobs=2)
    kept = [row["number"] for row in stored(toys.DYING, "paper", tmp_path)]
    report = sweep.run(toys.DYING, "paper", tmp_path)
    assert (report.before, report.computed) == (len(kept), 8 - len(kept))
    assert len(stored(toys.DYING, "paper", tmp_path)) == 8
    assert all(toys.begun(number) == 1 for number in kept)


@pytest.mark.parametrize("jobs", [0, -2])
def test_no_processes_are_refused(tmp_path, traces, jobs):
    with pytest.raises(ValueError, match="jobs must be at least 1, or -1"):
        sweep.run(toys.SQUARES, "smoke", tmp_path, jobs=jobs)


def start(workers):
    """A Dask cluster on this machine, whose workers are processes of one thread."""
    distributed = pytest.importorskip("distributed", reason='pip install "shallowformer[distributed]"')
    return distributed.LocalCluster(
        n_workers=workers,
        threads_per_worker=1,
        processes=True,
        dashboard_address=":0",
        silence_logs=logging.CRITICAL,
    )


@pytest.fixture(scope="module")
def cluster(shared):
    """A cluster of one worker. Processes are forked from one that has imported what rows need, as they die often here."""
    dask = pytest.importorskip("dask")
    with dask.config.set({"distributed.worker.multiprocessing-method": "forkserver"}):
        from distributed.utils import get_mp_context

        get_mp_context().set_forkserver_preload(["distributed", "toys"])
        with start(1) as cluster:
            yield cluster


def scale(cluster, workers):
    """Have so many workers; one that died just before is started again by itself."""
    cluster.scale(workers)
    toys.wait_for(lambda: len(cluster.scheduler_info["workers"]) == workers)


def test_a_cluster_of_one_thread_computes_the_rows_itself(cluster, tmp_path, traces):
    """Other engines may take a single thread for no cluster at all, and compute here."""
    sweep.run(toys.SQUARES, "laptop", tmp_path, scheduler=cluster.scheduler_address)
    assert len({toys.process_of(number) for number in range(4)} - {os.getpid()}) == 1


def test_workers_that_cannot_import_the_experiment_are_refused(cluster, tmp_path, traces, monkeypatch):
    monkeypatch.setattr(toys.process, "__module__", "only_here")
    with pytest.raises(workers.Unavailable, match="cannot import only_here"):
        sweep.run(
            replace(toys.SQUARES, compute=toys.process),
            "smoke",
            tmp_path,
            scheduler=cluster.scheduler_address,
        )


def test_rows_that_were_handed_over_are_not_computed_again(cluster, traces):
    rows = list(planned(toys.WAITING, "paper").values())
    running = workers.outcomes(toys.WAITING, rows, CPU, scheduler=cluster.scheduler_address)
    assert [next(running).row["config"]["number"] for _ in range(3)] == [0, 1, 2]
    toys.wait_for(lambda: toys.begun(3))
    os.kill(toys.process_of(3), signal.SIGKILL)
    (traces / "go").touch()
    assert sorted(outcome.row["config"]["number"] for outcome in running) == [3, 4, 5]
    assert [toys.begun(number) for number in range(3)] == [1] * 3


@pytest.mark.parametrize("experiment", [toys.DYING, toys.DEADLY], ids=["computing", "handing over"])
def test_a_worker_that_is_killed_costs_a_cluster_nothing(cluster, tmp_path, traces, experiment):
    scale(cluster, 2)
    (traces / "go").touch()
    report = sweep.run(experiment, "paper", tmp_path, scheduler=cluster.scheduler_address)
    assert (report.computed, report.failed) == (8, ())
    assert [row["square"] for row in stored(experiment, "paper", tmp_path)] == [k**2 for k in range(8)]
    assert toys.begun(3) == 2


def test_a_cluster_that_loses_its_workers_is_left(cluster, traces, monkeypatch):
    scale(cluster, 1)
    monkeypatch.setattr(workers, "PATIENCE", 0.5)
    monkeypatch.setattr(workers, "LOOK", 0.1)
    rows = list(planned(toys.WAITING, "paper").values())
    running = workers.outcomes(toys.WAITING, rows, CPU, scheduler=cluster.scheduler_address)
    assert next(running).row["config"]["number"] in range(3)
    scale(cluster, 0)
    with pytest.raises(workers.Unavailable, match="without workers"):
        list(running)


def test_a_cluster_without_workers_is_left(tmp_path, traces, monkeypatch):
    monkeypatch.setattr(workers, "PATIENCE", 0.5)
    with start(0) as none, pytest.raises(workers.Unavailable, match="no worker has joined"):
        sweep.run(toys.SQUARES, "smoke", tmp_path, scheduler=none.scheduler_address)


def test_no_scheduler_is_said(tmp_path, traces, monkeypatch):
    pytest.importorskip("distributed")
    monkeypatch.setattr(workers, "ANSWER", 1)
    with pytest.raises(ValueError, match=r"must look like tcp://10\.0\.0\.1:8786, got 'nowhere'"):
        sweep.run(toys.SQUARES, "smoke", tmp_path, scheduler="nowhere")
    with pytest.raises(workers.Unavailable, match=r"no Dask scheduler answers at 'tcp://127\.0\.0\.1:1'"):
        sweep.run(toys.SQUARES, "smoke", tmp_path, scheduler="tcp://127.0.0.1:1")

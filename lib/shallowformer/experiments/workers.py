"""Where rows are computed: in this process, in several on this machine, or on a Dask cluster."""

import contextlib
import importlib
import pickle
import queue
import re
import time
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import joblib
import torch

from shallowformer.experiments import keys
from shallowformer.experiments.experiment import Config, Experiment, row

#: How long a scheduler may take to answer, and a cluster be without workers, in seconds; and how often to look.
ANSWER, PATIENCE, LOOK = 30, 120, 5


class Unavailable(RuntimeError):
    """Workers that cannot be had, or died."""


@dataclass(frozen=True)
class Outcome:
    """What became of a configuration."""

    config: str  # the configuration in words
    row: dict | None  # the row, or None if it failed
    error: str = ""  # what went wrong, in a line; empty if nothing did
    trace: str = ""  # where it went wrong


def outcomes(
    experiment: Experiment,
    configs: Sequence[Config],
    device: torch.device,
    jobs: int = 1,
    scheduler: str | None = None,
) -> Iterator[Outcome]:
    """Compute rows; each is handed out as soon as it is finished. A row whose Dask worker dies is computed again by another."""
    if jobs == 0 or jobs < -1:
        raise ValueError(f"jobs must be at least 1, or -1 for one a core, got {jobs}")
    if scheduler is not None:
        address(scheduler)
    if not configs:
        return
    if scheduler is None and jobs == 1:
        yield from (_attempt(experiment, config, device) for config in configs)
        return
    try:
        if scheduler is None:
            yield from _in_processes(experiment, configs, device, jobs)
        else:
            yield from _on_cluster(experiment, configs, device, scheduler)
    except Unavailable:
        raise
    except Exception as error:  # of the machinery: what compute raises is an outcome
        raise Unavailable(
            f"a worker died or cannot be had ({type(error).__name__}: {error}); out of memory? Finished rows are "
            "kept; run again to go on, perhaps with fewer jobs"
        ) from error


def address(scheduler: str) -> str:
    """An address of a Dask scheduler as it is, if it can be one."""
    if not re.fullmatch(r"\w+://[^/\s]+:\d+", scheduler):
        raise ValueError(f"the scheduler's address must look like tcp://10.0.0.1:8786, got {scheduler!r}")
    return scheduler


def _in_processes(
    experiment: Experiment, configs: Sequence[Config], device: torch.device, jobs: int
) -> Iterator[Outcome]:
    # One row a task, so that no finished row waits for, or dies with, another.
    parallel = joblib.Parallel(jobs, return_as="generator_unordered", batch_size=1, pre_dispatch="2 * n_jobs")
    task = joblib.delayed(_alone)
    with contextlib.closing(parallel(task(experiment, config, device) for config in configs)) as finished:
        yield from finished


def _on_cluster(
    experiment: Experiment, configs: Sequence[Config], device: torch.device, scheduler: str
) -> Iterator[Outcome]:
    """All rows are handed over at once, so that the cluster may grow; Dask computes those of a dead worker again.

    (Not by joblib's Dask backend: where the cluster has a single thread, that one computes here instead. Nor by Dask's own
    ``as_completed``: its timeout runs from its call, not from the last row; and with results, a row that cannot be read here takes
    others with it, and it waits for all of them for ever.)
    """
    with _client(scheduler) as client:
        import cloudpickle  # comes with Dask

        _ready(client, experiment, scheduler)
        packets = (cloudpickle.dumps((experiment, config, device)) for config in configs)
        submitted = (client.submit(_unpacked, packet, pure=False) for packet in packets)
        waiting, finished = {future.key: future for future in submitted}, queue.SimpleQueue()
        for key in waiting:
            waiting[key].add_done_callback(finished.put)
        seen = time.monotonic()
        while waiting:
            outcome = _fetched(finished, waiting)
            if outcome is not None:
                yield outcome
            if outcome is not None or client.nthreads():
                seen = time.monotonic()
            elif time.monotonic() - seen > PATIENCE:
                raise Unavailable(
                    f"the Dask scheduler at {scheduler} has been without workers for {PATIENCE} s. Finished rows are kept; start "
                    "workers, and run again to go on"
                )


def _fetched(finished: queue.SimpleQueue, waiting: dict) -> Outcome | None:
    """What a cluster finished next; None if it is not here soon."""
    try:
        future = finished.get(timeout=LOOK)
        outcome = future.result(timeout=LOOK)
    except queue.Empty:
        return None
    except TimeoutError:  # its worker died before it handed the row over, and another computes it again
        future.add_done_callback(finished.put)
        return None
    del waiting[future.key]  # Dask lets go of it: else it would compute the row again when this worker dies
    return outcome


def _ready(client: object, experiment: Experiment, scheduler: str) -> None:
    """Refuse a cluster whose workers do not come, or cannot import what they shall compute: they would die of it without a word."""
    try:
        client.wait_for_workers(1, timeout=PATIENCE)
    except TimeoutError as error:
        raise Unavailable(
            f"no worker has joined the Dask scheduler at {scheduler} for {PATIENCE} s"
        ) from error
    module = getattr(experiment.compute, "__module__", "__main__")
    try:
        client.run(_imports, module)
    except ImportError as error:
        raise Unavailable(
            f"the workers of {scheduler} cannot import {module} ({error}); install it there, or start them in its folder"
        ) from error


def _imports(module: str) -> None:
    if module != "__main__":  # a script's own functions travel with the row
        importlib.import_module(module)


def _alone(experiment: Experiment, config: Config, device: torch.device) -> Outcome:
    """A row, by one thread: its neighbours have the others."""
    torch.set_num_threads(1)
    return _attempt(experiment, config, device)


def _unpacked(packed: bytes) -> Outcome:
    """The same for a row that came in a packet, as the scheduler in between need not know the experiment."""
    return _alone(*pickle.loads(packed))


def _attempt(experiment: Experiment, config: Config, device: torch.device) -> Outcome:
    named = keys.words(keys.described(config))
    try:
        return Outcome(named, row(experiment, config, device))
    except Exception as error:  # any: the sweep goes on, and lists them at its end
        return Outcome(named, None, f"{type(error).__name__}: {error}", traceback.format_exc())


def _client(scheduler: str) -> contextlib.AbstractContextManager:
    try:
        from dask.distributed import Client
    except ImportError as error:
        raise Unavailable('Dask is not installed: pip install "shallowformer[distributed]"') from error
    try:
        return Client(scheduler, set_as_default=False, timeout=ANSWER)
    except (OSError, ValueError) as error:
        raise Unavailable(f"no Dask scheduler answers at {scheduler!r}: {error}") from error

"""Where rows are computed: in this process, in several on this machine, or on a Dask cluster."""

import contextlib
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import joblib
import torch

from shallowformer.experiments import keys
from shallowformer.experiments.experiment import Config, Experiment, row


class Unavailable(RuntimeError):
    """Workers that cannot be had, or died."""


@dataclass(frozen=True)
class Outcome:
    """What became of a configuration.

    Args:
        config: the configuration in words.
        row: the row, or None if it failed.
        error: what went wrong, in a line; empty if nothing did.
        trace: where it went wrong.
    """

    config: str
    row: dict | None
    error: str = ""
    trace: str = ""


def outcomes(
    experiment: Experiment,
    configs: Sequence[Config],
    device: torch.device,
    jobs: int = 1,
    scheduler: str | None = None,
) -> Iterator[Outcome]:
    """Compute rows; each is handed out as soon as it is finished.

    Args:
        experiment: the experiment.
        configs: which rows.
        device: where each is computed.
        jobs: processes on this machine, one torch thread each; with one, this process and all its threads.
        scheduler: address of a Dask scheduler, e.g. ``tcp://10.0.0.1:8786``; its workers take the place of ``jobs``. A row whose worker
            dies is computed again by another.

    Yields:
        One outcome a configuration, in the order of finishing.

    Raises:
        Unavailable: no scheduler there, Dask is not installed, or a worker died for good.
    """
    if not configs:
        return
    if jobs == 1 and scheduler is None:
        yield from (_attempt(experiment, config, device) for config in configs)
        return
    with contextlib.ExitStack() as stack:
        if scheduler is not None:
            client = stack.enter_context(_client(scheduler))
            stack.enter_context(joblib.parallel_config(backend="dask", client=client))
            # All at once, so that a cluster that grows finds work; one row a task, so that no finished row dies with another.
            parallel = joblib.Parallel(return_as="generator_unordered", pre_dispatch="all", batch_size=1)
        else:
            parallel = joblib.Parallel(jobs, return_as="generator_unordered", batch_size=1, max_nbytes=None)
        task = joblib.delayed(_alone)
        running = stack.enter_context(
            contextlib.closing(parallel(task(experiment, config, device) for config in configs))
        )
        try:
            yield from running
        except KeyboardInterrupt:
            raise
        except Exception as error:  # of the machinery: what compute raises is an outcome
            raise Unavailable(
                f"a worker died or was lost ({type(error).__name__}: {error}); out of memory? Finished rows are kept; "
                "run again to go on, perhaps with fewer jobs"
            ) from error


def _alone(experiment: Experiment, config: Config, device: torch.device) -> Outcome:
    """A row, by one thread: its neighbours have the others."""
    torch.set_num_threads(1)
    return _attempt(experiment, config, device)


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
        return Client(scheduler, set_as_default=False)
    except (OSError, ValueError) as error:
        raise Unavailable(f"no Dask scheduler answers at {scheduler!r}: {error}") from error

"""Experiments for tests: rows that count how often they are begun, fail, wait or kill, as their configuration says."""

import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path

from shallowformer.experiments.experiment import Experiment

PATIENCE = 120  # seconds after which a test that waits gives up


@dataclass(frozen=True)
class Toy:
    number: int
    does: str = "square"


def folder() -> Path:
    """Where rows leave traces; workers inherit the variable."""
    return Path(os.environ["TOY_FOLDER"])


def begun(number: int) -> int:
    """How often a row was begun."""
    trace = folder() / f"begun-{number}"
    return len(trace.read_text().splitlines()) if trace.exists() else 0


def process_of(number: int) -> int:
    """Where a row was begun last."""
    return int((folder() / f"begun-{number}").read_text().split()[-1])


def wait_for(condition) -> None:
    until = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < until, "waited in vain"
        time.sleep(0.02)


class Deadly(str):
    """A label whose first handing over kills its process, after the row is finished."""

    def __reduce__(self):
        handed = folder() / "handed"
        if not handed.exists():
            handed.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return str, (str(self),)


def compute(config, device):
    with (folder() / f"begun-{config.number}").open("a") as trace:
        print(os.getpid(), file=trace)
    if config.does == "fail":
        raise ArithmeticError("the loss is not finite")
    if config.does == "overflow":
        return {"square": 1.0, "inside": {"values": [0.0, float("inf")]}}
    if config.does in ("wait", "die once"):
        wait_for((folder() / "go").exists)
    if config.does == "die once" and begun(config.number) == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    label = Deadly("toy") if config.does == "die handing over" else "toy"
    return {"square": config.number**2, "root": config.number**0.5, "label": label, "list": [1, 2.5]}


def process(config, device):
    """Where a row is computed."""
    return {"process": os.getpid()}


def experiment(does=lambda number: "square", size=6, name="toy"):
    return Experiment(
        name=name,
        title="Squares of small numbers",
        plan=lambda scale: [
            Toy(number, does(number)) for number in range({"smoke": 2, "laptop": 4, "paper": size}[scale])
        ],
        compute=compute,
        tolerance={"root": 1e-6},
        dtype="float64",
    )


SQUARES = experiment()
FAILING = experiment(lambda number: {1: "fail", 3: "overflow"}.get(number, "square"))
WAITING = experiment(lambda number: "wait" if number >= 3 else "square")
DYING = experiment(lambda number: "die once" if number == 3 else "square", size=8)
DEADLY = experiment(lambda number: "die handing over" if number == 3 else "square", size=8)
RUNAWAY = experiment(name="runaway")


@dataclass(frozen=True)
class Seeded:
    size: int
    seed: int


def seeded(compute):
    """Two sizes, three seeds."""
    return Experiment(
        name="seeded",
        title="Sizes and seeds",
        plan=lambda scale: [Seeded(size, seed) for size in (4, 8) for seed in range(3)],
        compute=compute,
        dtype="float64",
    )


SEEDED = seeded(lambda config, device: {"large": config.size * config.seed > 4})
DEAF = seeded(lambda config, device: {"twice": 2 * config.size})

"""Projected gradient descent on any model, full-batch or stochastic: runs that are recorded, can be stopped, and go on bit for bit."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, runtime_checkable

import torch
from jaxtyping import Float, Int
from torch import Generator, Tensor
from tqdm import tqdm

from shallowformer import arguments
from shallowformer.training import checkpoints, points
from shallowformer.training.points import Point
from shallowformer.training.step_sizes import Constant, StepSize


@runtime_checkable
class Objective(Protocol):
    """What descent asks of a model: losses and their gradient.

    A point may hold several models that do not touch one another, students side by side: each has a loss of its own, and the gradient
    of the sum holds all their gradients. A run with a checkpoint also asks that ``checkpoints.fingerprint`` can tell it from others: a
    frozen dataclass, or an ``identity``.
    """

    #: Number of samples, of which batches are drawn.
    n: int

    def losses(self, point: Point) -> Float[Tensor, " s"]:
        """Loss of each student on all samples."""

    def losses_and_gradient(
        self, point: Point, rows: Int[Tensor, " b"] | None
    ) -> tuple[Float[Tensor, " s"], Point]:
        """The same on some samples, repeated as they are drawn, or on all; with the gradient."""


#: Π: point → the nearest admissible point, and which share of every block's units it moved, student by student.
Projection = Callable[[Point], tuple[Point, Float[Tensor, "s b"]]]

#: What a caller may record on the way: step and point → tensors, numbers, and tuples and mappings of them.
Observer = Callable[[int, Point], object]


class Diverged(ArithmeticError):
    """A loss is NaN or infinite."""


@dataclass(frozen=True)
class Run:
    """What a run left behind; s students, b blocks, τ steps, k records."""

    start: Point  # φ⁽⁰⁾
    end: Point  # φ⁽τ⁾
    average: Point  # the average iterate, (1/τ) Σ_{s<τ} φ⁽ˢ⁾
    #: loss that each step descended on, before it; with batches, on the batch
    step_losses: Float[Tensor, "τ s"]
    step_sizes: Float[Tensor, "τ b"]  # η_s of every block
    steps: Int[Tensor, " k"]  # when the following were recorded: 0, every so often, and τ
    losses: Float[Tensor, "k s"]  # loss on all samples
    active: Float[Tensor, "k s b"]  # share of each block's units that the last projection moved
    observed: list  # what the observer said, k entries; none without an observer


@torch.no_grad()
def run(
    objective: Objective,
    start: Point,
    *,
    eta: float | StepSize,
    steps: int,
    project: Projection | None = None,
    batch: int | None = None,
    seed: int = 0,
    every: int | None = None,
    observe: Observer | None = None,
    checkpoint: Path | str | None = None,
    save_every: int = 500,
    progress: bool = False,
) -> Run:
    """Run φ ← Π(φ − η_s ∇L̂(φ)) for τ steps.

    Args:
        eta: step size η, above 0, or a rule for it (``step_sizes``).
        project: Π; none if not given.
        batch: samples a step, drawn with replacement; all of them, each once, if None.
        every: record after each so many steps, with what ``observe`` adds; about 100 records if not given.
        checkpoint: a file that the run is saved to each ``save_every`` steps, and goes on from if it is there: stopped at any time, or
            asked for more steps later, it ends with the same numbers bit for bit (on the same machine, with as many threads; records are
            as far apart as at first). It is written whole or not at all.
    """
    rule = eta if callable(eta) else Constant(eta)
    arguments.count("steps", steps)
    arguments.count("save_every", save_every)
    if batch is not None:
        arguments.count("batch", batch)
    state = _State(start, seed, max(1, steps // 100) if every is None else arguments.count("every", every))
    saved = None if checkpoint is None else Path(checkpoint)
    if saved is not None:
        parts = dict(
            objective=objective, start=start, eta=rule, project=project, batch=batch, seed=seed, every=every
        )
        plan = {name: checkpoints.fingerprint(part) for name, part in parts.items()}
        if saved.exists():
            state.restore(checkpoints.restore(saved, plan, points.blocks(start)[0].device))
            arguments.count("steps", steps, state.step)  # as many as the checkpoint has
            if state.step < steps:
                state.forget_its_end()

    def record(losses: Tensor | None = None) -> None:
        losses = _finite(objective.losses(state.now) if losses is None else losses, state.step, rule)
        nothing = losses.new_zeros(len(losses), len(points.blocks(start)))
        state.steps.append(state.step)
        state.losses.append(losses)
        state.active.append(nothing if state.moved is None else state.moved)
        if observe is not None:
            state.observed.append(observe(state.step, state.now))

    with tqdm(total=steps, initial=state.step, disable=not progress, unit="step") as bar:
        while state.step < steps:
            rows = None if batch is None else torch.randint(objective.n, (batch,), generator=state.generator)
            losses, gradient = objective.losses_and_gradient(state.now, rows)
            state.step_losses.append(_finite(losses, state.step, rule))
            if state.step % state.every == 0:
                record(losses if rows is None else None)
            state.descend(gradient, rule(state.step, losses, gradient), project)
            bar.update()
            if saved is not None and state.step % save_every == 0:
                checkpoints.save(saved, plan, state.kept())
    if state.steps[-1:] != [steps]:
        record()
        if saved is not None:
            checkpoints.save(saved, plan, state.kept())
    return state.report(start)


class _State:
    """All that a run must know to go on."""

    _RECORDS = ("step_losses", "step_sizes", "steps", "losses", "active", "observed")

    def __init__(self, start: Point, seed: int, every: int) -> None:
        self.step, self.every = 0, every
        self.now, self.average = (
            points.mapped(function, start) for function in (torch.clone, torch.zeros_like)
        )
        self.moved: Tensor | None = None
        self.generator = Generator().manual_seed(seed)
        for name in self._RECORDS:
            setattr(self, name, [])

    def descend(self, gradient: Point, rate: float | Sequence[float], project: Projection | None) -> None:
        """One step, its projection, and the running mean of the iterates before it."""
        self.step += 1
        self.average = points.mapped(
            lambda mean, now: mean + (now - mean) / self.step, self.average, self.now
        )
        rates = [rate] * len(points.blocks(gradient)) if isinstance(rate, (int, float)) else list(rate)
        self.step_sizes.append(rates)
        self.now = points.mapped(
            lambda now, slope, rate: torch.add(now, slope, alpha=-rate),
            self.now, gradient, points.one_each("step sizes", rates, gradient),
        )  # fmt: skip
        if project is not None:
            self.now, self.moved = project(self.now)

    def forget_its_end(self) -> None:
        """Drop what a shorter run has recorded at its end: a longer one records there only if it is due."""
        if self.steps[-1:] == [self.step]:
            for name in ("steps", "losses", "active", "observed"):
                del getattr(self, name)[-1:]

    def report(self, start: Point) -> Run:
        stacked = {name: torch.stack(getattr(self, name)) for name in ("step_losses", "losses", "active")}
        rates = torch.tensor(self.step_sizes, dtype=torch.float64)
        return Run(
            start, self.now, self.average, step_sizes=rates, steps=torch.tensor(self.steps), observed=self.observed, **stacked
        )  # fmt: skip

    def kept(self) -> dict[str, object]:
        return vars(self) | {"generator": self.generator.get_state()}

    def restore(self, kept: dict[str, object]) -> None:
        self.generator.set_state(kept.pop("generator").cpu())
        vars(self).update(kept)


def _finite(losses: Tensor, step: int, rule: StepSize) -> Tensor:
    if not torch.isfinite(losses).all():
        which = int((~torch.isfinite(losses)).nonzero()[0])
        raise Diverged(
            f"the loss of student {which} is {float(losses[which])} at step {step}: most likely steps are too long, {rule} (for a mean "
            "squared loss those below 1/λ, λ the largest eigenvalue of the tangent kernel over n, are safe near the start), or labels are huge"
        )
    return losses

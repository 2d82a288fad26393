"""Projected gradient descent, full-batch or stochastic: runs that are recorded, can be stopped, and go on bit for bit."""

import hashlib
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Generator, Tensor
from tqdm import tqdm

from shallowformer import arguments
from shallowformer.kernel_regime.heads import Heads
from shallowformer.kernel_regime.loss import Loss
from shallowformer.kernel_regime.neighbourhood import radii
from shallowformer.kernel_regime.parameters import Parameters

#: What a caller may record on the way: step and students → numbers or tensors by name.
Observer = Callable[[int, tuple[Parameters, ...]], Mapping[str, Tensor | float]]


class Diverged(ArithmeticError):
    """A loss is NaN or infinite."""


@dataclass(frozen=True)
class Run:
    """What a run left behind; s students, τ steps, k records.

    Args:
        phi0: the students at the start, φ⁽⁰⁾.
        phi: the students at the end, φ⁽τ⁾.
        average: the average iterates, (1/τ) Σ_{s<τ} φ⁽ˢ⁾.
        step_losses: loss that each step descended on, before it; with batches, on the batch. Float[Tensor, "τ s"].
        steps: when the following were recorded: 0, every so often, and τ. Int[Tensor, "k"].
        losses: loss on all samples, Float[Tensor, "k s"].
        displacement: √m times the longest displacement of a head in c, U and W, in the units of ρ, Float[Tensor, "k s 3"].
        active: share of the heads on the boundary of their ball after the last projection, in c, U and W, Float[Tensor, "k s 3"].
        observed: what the observer said, a list of k mappings; empty without an observer.
    """

    phi0: tuple[Parameters, ...]
    phi: tuple[Parameters, ...]
    average: tuple[Parameters, ...]
    step_losses: Tensor
    steps: Tensor
    losses: Tensor
    displacement: Tensor
    active: Tensor
    observed: list[Mapping[str, Tensor | float]]


@torch.no_grad()
def run(
    loss: Loss,
    students: Parameters | Sequence[Parameters],
    *,
    eta: float,
    steps: int,
    rho: Sequence[float] | None,
    batch: int | None = None,
    seed: int = 0,
    every: int | None = None,
    observe: Observer | None = None,
    checkpoint: Path | str | None = None,
    save_every: int = 500,
    progress: bool = False,
) -> Run:
    """Run φ ← Π(φ − η ∇L̂(φ)) for τ steps, each student around its own initialisation.

    Args:
        loss: the data set and its loss.
        students: where to start, φ⁽⁰⁾; several run side by side, on the same batches, as each would alone up to rounding.
        eta: step size η, above 0.
        steps: number of steps τ, at least 1.
        rho: (ρ_c, ρ_u, ρ_w), radii of the set Ω_ρ that Π projects on; without projection if None.
        batch: samples a step, drawn with replacement (Proposition 1 has 1); all of them, each once, if None.
        seed: seeds the batches.
        every: record after each so many steps; about 100 records if not given.
        observe: further things to record, at the same times.
        checkpoint: a file that the run is saved to now and then, and goes on from if it is there: stopped at any time, it ends with
            the same numbers bit for bit (on the same machine, with as many threads). It is written whole or not at all.
        save_every: steps between two saves.
        progress: show a bar with the time left.

    Returns:
        What was recorded.

    Raises:
        ValueError: an argument out of range; a checkpoint of another run.
        Diverged: a loss is not finite; what was saved before is kept.

    Source:
        Arda, Cayci, Eryilmaz 2026, section 3.3.
    """
    students = (students,) if isinstance(students, Parameters) else tuple(students)
    arguments.positive("eta", eta)
    arguments.count("steps", steps)
    arguments.count("save_every", save_every)
    every = max(1, steps // 100) if every is None else arguments.count("every", every)
    if batch is not None:
        arguments.count("batch", batch)
    start = Heads.of(*students)
    limits = None if rho is None else _limits(start, rho)
    state = _State(start, seed)
    plan = _fingerprint(loss, start, eta, steps, rho, batch, seed, every)
    saved = None if checkpoint is None else Path(checkpoint)
    if saved is not None and saved.exists():
        state.restore(saved, plan)

    def record() -> None:
        state.steps.append(state.step)
        state.losses.append(_finite(loss.losses(state.now), state.step, eta))
        state.displacement.append(_longest(start, state.now))
        state.active.append(state.on_boundary.clone())
        if observe is not None:
            state.observed.append(dict(observe(state.step, state.now.students())))

    with tqdm(total=steps, initial=state.step, disable=not progress, unit="step") as bar:
        while state.step < steps:
            if state.step % every == 0 and state.steps[-1:] != [state.step]:
                record()
            rows = None if batch is None else torch.randint(loss.n, (batch,), generator=state.generator)
            values, gradient = loss.of(state.now, rows if rows is None else rows.to(loss.X.device))
            state.step_losses.append(_finite(values, state.step, eta))
            state.descend(gradient, eta, start, limits)
            bar.update()
            if saved is not None and state.step % save_every == 0:
                state.save(saved, plan)
    if state.steps[-1:] != [steps]:
        record()
        if saved is not None:
            state.save(saved, plan)
    return state.report(students)


class _State:
    """All that a run must know to go on."""

    _LISTS = ("step_losses", "steps", "losses", "displacement", "active", "observed")

    def __init__(self, start: Heads, seed: int) -> None:
        self.step = 0
        self.now, self.average = start.map(torch.clone), start.map(torch.zeros_like)
        self.on_boundary = start.c.new_zeros(len(start.widths), 3)
        self.generator = Generator().manual_seed(seed)
        for name in self._LISTS:
            setattr(self, name, [])

    def descend(self, gradient: Heads, eta: float, start: Heads, limits: Heads | None) -> None:
        """One step, its projection, and the running mean of the iterates before it."""
        self.step += 1
        self.average = self.average.map(lambda mean, now: mean + (now - mean) / self.step, self.now)
        self.now = self.now.map(lambda now, slope: torch.add(now, slope, alpha=-eta), gradient)
        if limits is not None:
            self.now, self.on_boundary = _project(self.now, start, limits)

    def report(self, students: tuple[Parameters, ...]) -> Run:
        stacked = {
            name: torch.stack(getattr(self, name))
            for name in ("step_losses", "losses", "displacement", "active")
        }
        return Run(
            students, self.now.students(), self.average.students(), steps=torch.tensor(self.steps), observed=self.observed, **stacked
        )  # fmt: skip

    def save(self, path: Path, plan: str) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        fresh = path.with_name(f"{path.name}.{os.getpid()}.part")
        lists = {name: getattr(self, name) for name in self._LISTS}
        state = {
            "plan": plan,
            "step": self.step,
            "now": self.now.blocks,
            "average": self.average.blocks,
            "on_boundary": self.on_boundary,
            "generator": self.generator.get_state(),
        }
        torch.save(state | lists, fresh)
        fresh.replace(path)

    def restore(self, path: Path, plan: str) -> None:
        state = torch.load(path, map_location=self.now.c.device, weights_only=True)
        if state["plan"] != plan:
            raise ValueError(
                f"checkpoint must belong to this run, but {path} was written with other data, students or settings; "
                "name another file, or delete it"
            )
        self.step, self.on_boundary = state["step"], state["on_boundary"]
        self.now, self.average = (Heads(*state[name], self.now.widths) for name in ("now", "average"))
        self.generator.set_state(state["generator"].cpu())
        for name in self._LISTS:
            setattr(self, name, state[name])


def _limits(heads: Heads, rho: Sequence[float]) -> Heads:
    """How far each head may move, in c, U and W."""
    return Heads(
        *(heads.spread(values) for values in zip(*(radii(rho, m) for m in heads.widths), strict=True)),
        heads.widths,
    )


def _lengths(block: Tensor) -> Tensor:
    """Norm of each head's part, Float[Tensor, "M"]."""
    return torch.linalg.vector_norm(block.reshape(-1, block.shape[-1]), dim=0)


def _project(heads: Heads, start: Heads, limits: Heads) -> tuple[Heads, Tensor]:
    """Π, and which share of each student's heads it moved; what lies inside stays bit for bit."""
    blocks, moved = [], []
    for now, centre, limit in zip(heads.blocks, start.blocks, limits.blocks, strict=True):
        step = now - centre
        length = _lengths(step)
        outside = length > limit
        pulled = centre + step * (limit / torch.where(outside, length, 1.0))
        blocks.append(torch.where(outside, pulled, now))
        moved.append(torch.stack([part.float().mean() for part in outside.split(heads.widths)]))
    return Heads(*blocks, heads.widths), torch.stack(moved, -1).to(heads.c.dtype)


def _longest(start: Heads, now: Heads) -> Tensor:
    """√m times the longest displacement of each student, Float[Tensor, "s 3"]."""
    lengths = (
        _lengths(block - centre).split(now.widths)
        for block, centre in zip(now.blocks, start.blocks, strict=True)
    )
    return torch.stack(
        [torch.stack([part.max() * len(part) ** 0.5 for part in parts]) for parts in lengths], -1
    )


def _finite(values: Tensor, step: int, eta: float) -> Tensor:
    if not torch.isfinite(values).all():
        which = int((~torch.isfinite(values)).nonzero()[0])
        raise Diverged(
            f"the loss of student {which} is {float(values[which])} at step {step}: most likely eta = {eta:g} is too large "
            "(steps below 1/λ, λ the largest eigenvalue of the tangent kernel over n, are safe near the start), or labels are huge"
        )
    return values


def _fingerprint(loss: Loss, start: Heads, *settings: object) -> str:
    """Names a run: a checkpoint of another one is refused."""
    sha = hashlib.sha256(repr((start.widths, loss.sigma.name, *settings)).encode())
    for tensor in (loss.X, loss.y, loss.q, *start.blocks):
        sha.update(tensor.detach().cpu().contiguous().numpy().tobytes())
    return sha.hexdigest()

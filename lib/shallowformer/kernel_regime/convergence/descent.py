"""Projected gradient descent of students side by side: ``training.descent`` on the losses of this room, with the projection on Ω_ρ."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, runtime_checkable

import torch
from jaxtyping import Float, Int
from torch import Tensor

from shallowformer.formulas import Number
from shallowformer.kernel_regime.model.parameters import Parameters
from shallowformer.kernel_regime.model.students import Students
from shallowformer.kernel_regime.neighbourhood.projection import Projection, longest_displacements
from shallowformer.training import descent
from shallowformer.training.points import Point
from shallowformer.training.step_sizes import StepSize

#: What a caller may record on the way: step and students → numbers or tensors by name.
Observer = Callable[[int, tuple[Parameters, ...]], Mapping[str, Number]]


@runtime_checkable
class Losses(Protocol):
    """What a run asks of a loss, as ``model.loss.Loss`` answers it."""

    #: Number of samples.
    n: int

    def losses(self, students: Students) -> Float[Tensor, " s"]:
        """Loss of each student on all samples."""

    def losses_and_gradient(
        self, students: Students, rows: Int[Tensor, " b"] | None
    ) -> tuple[Float[Tensor, " s"], Students]:
        """Loss and gradient of each student, on all samples or some."""


@dataclass(frozen=True)
class Run:
    """What a run left behind; s students, τ steps, k records."""

    phi0: tuple[Parameters, ...]  # the students at the start, φ⁽⁰⁾
    phi: tuple[Parameters, ...]  # the students at the end, φ⁽τ⁾
    average: tuple[Parameters, ...]  # the average iterates, (1/τ) Σ_{s<τ} φ⁽ˢ⁾
    #: loss that each step descended on, before it; with batches, on the batch
    step_losses: Float[Tensor, "τ s"]
    step_sizes: Float[Tensor, "τ 3"]  # η_s of c, U and W
    steps: Int[Tensor, " k"]  # when the following were recorded: 0, every so often, and τ
    losses: Float[Tensor, "k s"]  # loss on all samples
    #: √m times the longest displacement of a head in c, U and W, in the units of ρ
    displacement: Float[Tensor, "k s 3"]
    #: share of the heads on the boundary of their ball after the last projection, in c, U and W
    active: Float[Tensor, "k s 3"]
    observed: list[Mapping[str, Number]]  # what the observer said, k mappings; none without an observer


@dataclass(frozen=True)
class SideBySide:
    """The losses of students side by side as a function of their blocks: what ``training.descent`` asks for."""

    loss: Losses  # the data set and its loss
    widths: tuple[int, ...]  # number of heads of each student

    @property
    def n(self) -> int:
        """Number of samples."""
        return self.loss.n

    def losses(self, point: Point) -> Float[Tensor, " s"]:
        """Loss of each student on all samples."""
        return self.loss.losses(Students(*point, self.widths))

    def losses_and_gradient(
        self, point: Point, rows: Int[Tensor, " b"] | None = None
    ) -> tuple[Float[Tensor, " s"], Point]:
        """Loss of each student, and the gradients, on all samples or some."""
        losses, gradient = self.loss.losses_and_gradient(Students(*point, self.widths), rows)
        return losses, gradient.blocks


def run(
    loss: Losses,
    students: Parameters | Sequence[Parameters],
    *,
    eta: float | StepSize,
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
    """Run φ ← Π(φ − η ∇L̂(φ)) for τ steps, each student around its own initialisation. Source: Arda, Cayci, Eryilmaz 2026, section 3.3.

    Args:
        students: where to start, φ⁽⁰⁾; several run side by side, on the same batches, as each would alone up to rounding.
        eta: step size η, above 0, or, for one student, a rule for it (``training.step_sizes``).
        rho: (ρ_c, ρ_u, ρ_w), radii of the set Ω_ρ that Π projects on; without projection if None.
        batch: samples a step, drawn with replacement (Proposition 1 has 1); all of them, each once, if None.
        every: record after each so many steps, with what ``observe`` adds; about 100 records if not given.
        checkpoint: a file that the run is saved to each ``save_every`` steps, and goes on from if it is there, bit for bit
            (``training.descent.run``).
    """
    students = (students,) if isinstance(students, Parameters) else tuple(students)
    start = Students.of(*students)
    apart = lambda point: Students(*point, start.widths).apart()

    def look(step: int, point: Point) -> tuple[Float[Tensor, "s 3"], Mapping | None]:
        seen = None if observe is None else dict(observe(step, apart(point)))
        return longest_displacements(start, point), seen

    done = descent.run(
        SideBySide(loss, start.widths),
        start.blocks,
        eta=eta,
        steps=steps,
        project=None if rho is None else Projection(start, rho),
        batch=batch,
        seed=seed,
        every=every,
        observe=look,
        checkpoint=checkpoint,
        save_every=save_every,
        progress=progress,
    )
    displacement, observed = zip(*done.observed, strict=True)
    return Run(
        phi0=students,
        phi=apart(done.end),
        average=apart(done.average),
        step_losses=done.step_losses,
        step_sizes=done.step_sizes,
        steps=done.steps,
        losses=done.losses,
        displacement=torch.stack(displacement),
        active=done.active,
        observed=[] if observe is None else list(observed),
    )

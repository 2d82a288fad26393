"""Gradient descent with one constant step on all six blocks, and everything that the theorems speak of recorded on the way."""

from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor

from shallowformer import arguments
from shallowformer.contracts import Count, contract
from shallowformer.residual import gradients, model
from shallowformer.residual.parameters import Parameters, Setting
from shallowformer.residual.spectra import Spectrum, largest
from shallowformer.training import descent
from shallowformer.training.points import Point


@dataclass(frozen=True)
class Regression:
    """Φ as an objective of ``training.descent``: a sum over the sequences it is asked for, so a batch's gradient is a part of the whole."""

    X: Float[Tensor, "*s P N d"]  # tokens
    Y: Float[Tensor, "*s P N K"]  # targets
    setting: Setting  # coefficients, activation, temperature

    def __post_init__(self) -> None:
        """Check that the data fit together."""
        arguments.floating("X", self.X, "... P N d")
        arguments.floating("Y", self.Y, "... P N K")
        if self.X.ndim not in (3, 4):
            raise ValueError(f"X must have shape [P, N, d] or [s, P, N, d], got {tuple(self.X.shape)}")
        wanted = (*self.X.shape[:-1], self.Y.shape[-1])
        arguments.shape("Y", self.Y, wanted, "[P, N, K], as X")
        arguments.same_kind("X", self.X, Y=self.Y)

    @property
    def n(self) -> int:
        """Number of sequences."""
        return self.X.shape[-3]

    def losses(self, point: Point) -> Float[Tensor, " s"]:
        """Φ of every network."""
        F = model.unchecked(self.X, Parameters(*point), self.setting).F
        return torch.atleast_1d(model.half_square(F - self.Y))

    def losses_and_gradient(
        self, point: Point, rows: Int[Tensor, " b"] | None = None
    ) -> tuple[Float[Tensor, " s"], Point]:
        """Φ and its gradient, over all sequences or some."""
        X, Y = (self.X, self.Y) if rows is None else (self.X[..., rows, :, :], self.Y[..., rows, :, :])
        now = gradients.unchecked(X, Y, Parameters(*point), self.setting)
        return torch.atleast_1d(now.loss), tuple(now.gradients)


@dataclass(frozen=True)
class Trajectory:
    """What a run went through, at k records; *s networks side by side."""

    steps: Int[Tensor, " k"]  # t, how many steps had been made
    loss: Float[Tensor, " k *s"]  # Φ
    sigma_A: Float[Tensor, " k *s"]  # σ_min of the stacked hidden layer
    sigma_U: Float[Tensor, " k *s"]  # σ_min(W_U)
    smallest_Z: Float[Tensor, " k *s P"]  # σ_min(Z_p)
    largest_Z: Float[Tensor, " k *s P"]  # ‖Z_p‖
    norms: Float[Tensor, " k *s 6"]  # ‖W‖ of every block
    displacements: Float[Tensor, " k *s 6"]  # ‖W − W⁽⁰⁾‖_F of every block
    displacement: Float[Tensor, " k *s"]  # ‖θ − θ⁽⁰⁾‖
    gradient: Float[Tensor, " k *s"]  # ‖∇Φ‖
    path: Float[Tensor, " k *s"]  # Σ ‖θ⁽ˢ⁺¹⁾ − θ⁽ˢ⁾‖ up to here; NaN if it was not asked for
    end: Parameters  # θ after the last step

    @property
    def condition_Z(self) -> Float[Tensor, " k *s P"]:
        """κ(Z_p)."""
        return self.largest_Z / self.smallest_Z


@contract
def run(
    X: Float[Tensor, "*s P N d"],
    Y: Float[Tensor, "*s P N K"],
    theta: Parameters,
    setting: Setting,
    *,
    mu: float,
    steps: Count,
    every: Count | None = None,
    path: bool = True,
) -> Trajectory:
    """W ← W − μ∇_WΦ for all six blocks at once. Source: Qin, Zhou, Jiang, Zhu 2025, section 2, in our reading.

    Args:
        every: record after each so many steps, and at both ends; about 100 records if not given.
        path: whether to add up the length of the path, which takes about half as long again.
    """
    model.check(X, theta, setting, Y)
    every = max(1, steps // 100) if every is None else every
    watch = _Watch(X, Y, theta, setting, steps, every)
    objective = Regression(X, Y, setting)
    done = descent.run(
        objective, theta, eta=mu, steps=steps, every=1 if path else every, observe=watch if path else watch.record
    )  # fmt: skip
    seen = {name: torch.stack([record[name] for record in watch.kept]) for name in watch.kept[0]}
    if not path:
        seen["path"] = torch.full_like(seen["loss"], torch.nan)
    return Trajectory(**seen, end=Parameters(*done.end))


class _Watch:
    """Adds up the path at every step, and measures the rest every so often."""

    def __init__(
        self, X: Tensor, Y: Tensor, start: Parameters, setting: Setting, steps: int, every: int
    ) -> None:
        self.data, self.start, self.setting = (X, Y), start, setting
        self.steps, self.every = steps, every
        self.last, self.path, self.kept = tuple(start), X.new_zeros(X.shape[:-3]), []

    def __call__(self, step: int, point: Point) -> None:
        self.path = self.path + _sizes(point, self.last).norm(dim=-1)
        self.last = tuple(point)
        if step % self.every == 0 or step == self.steps:
            self.record(step, point)

    def record(self, step: int, point: Point) -> None:
        theta = Parameters(*point)
        now = gradients.unchecked(*self.data, theta, self.setting)
        seen = Spectrum.of(now.forward, theta)
        apart = _sizes(point, self.start)
        self.kept.append({
            "steps": torch.tensor(step), "loss": now.loss, "sigma_A": seen.sigma_A, "sigma_U": seen.sigma_U,
            "smallest_Z": seen.smallest_Z, "largest_Z": seen.largest_Z,
            "norms": torch.stack([largest(W) for W in theta], -1), "displacements": apart, "displacement": apart.norm(dim=-1),
            "gradient": torch.stack([W.norm(dim=(-2, -1)) for W in now.gradients], -1).norm(dim=-1), "path": self.path,
        })  # fmt: skip


def _sizes(point: Point, other: Point) -> Tensor:
    """‖W − W′‖_F of every block."""
    return torch.stack([(a - b).norm(dim=(-2, -1)) for a, b in zip(point, other, strict=True)], -1)

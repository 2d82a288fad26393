"""Theorem A: the mean loss of projected gradient descent, against any comparator, with a gradient bounded by the loss itself.

With x_s² = L̂(φ⁽ˢ⁾) a mean squared loss, V_s = ‖φ⁽ˢ⁾ − φ̃‖² and ε_s the error of the comparator in the tangent model at φ⁽ˢ⁾,
V_{s+1} − V_s ≤ −4η[(1 − ηA_s²) x_s² − ε_s x_s]. An ``observer`` measures all of this at every step of a run, ``Trajectory`` holds it.
A ``form`` of A² is ``along``, ``gram`` or ``trace``, see ``forms``.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import torch
from jaxtyping import Float
from torch import Tensor

from shallowformer import arguments
from shallowformer.training import points
from shallowformer.training.points import Point

#: The three ways to bound ‖∇L̂‖² ≤ 4A²L̂, from the one that is measured along the gradient itself to the loosest.
FORMS = ("along", "gram", "trace")


@runtime_checkable
class Tangent(Protocol):
    """What Theorem A asks of a model at a point φ."""

    #: r_j = f_j − y_j.
    residual: Float[Tensor, " n"]

    def along(self, steps: Point) -> Float[Tensor, "k n"]:
        """⟨∇f_j, δ⟩ of every output, for k directions stacked block by block."""

    def gram(self) -> Float[Tensor, "n n"]:
        """⟨∇f_j, ∇f_k⟩ of every two outputs."""


def bound(epsilon: float, V0: float, eta: float, steps: int, theta: float) -> float:
    """Theorem A: a bound on the root of the mean loss, ((1/τ) Σ_{s<τ} L̂(φ⁽ˢ⁾))^{1/2}.

    [ε + √(ε² + (1 − θ)V₀/(ητ))] / (2(1 − θ)).

    Args:
        epsilon: ε, at least 0, the largest error of the comparator along the run.
        V0: ‖φ⁽⁰⁾ − φ̃‖², at least 0.
        theta: θ ≥ ηA_s² for all s < τ, at least 0 and below 1.
    """
    arguments.at_least("epsilon", epsilon, 0.0)
    arguments.at_least("V0", V0, 0.0)
    arguments.positive("eta", eta)
    arguments.count("steps", steps)
    rest = 1 - arguments.below_one("theta", theta)
    return (epsilon + (epsilon**2 + rest * V0 / (eta * steps)) ** 0.5) / (2 * rest)


def misfit(tangent: Tangent, away: Point) -> Float[Tensor, "k n"]:
    """e_j = r_j + ⟨∇f_j, φ̃ − φ⟩: what the tangent model at φ makes of each of k comparators, less the label; ε is their root mean square.

    Args:
        away: φ̃ − φ of k comparators, stacked block by block.
    """
    return tangent.residual + tangent.along(away)


def forms(gram: Float[Tensor, "n n"], residual: Float[Tensor, " n"]) -> dict[str, Float[Tensor, ""]]:
    """The three A² with ‖∇L̂‖² ≤ 4A²L̂, from the Gram matrix of the gradients and the residuals r_j = f_j − y_j.

    ``along``: rᵀGr/(n‖r‖²), with equality (0 if r = 0); ``gram``: the largest eigenvalue over n; ``trace``: the mean of ‖∇f_j‖².
    """
    n, square = len(residual), residual @ residual
    along = residual @ gram @ residual / (n * square) if square > 0 else square
    return {
        "along": along,
        "gram": torch.linalg.eigvalsh(gram)[-1] / n,
        "trace": gram.diagonal().mean(),
    }


@dataclass(frozen=True)
class Trajectory:
    """The quantities of Theorem A at every iterate s = 0, …, τ of one run, against k comparators."""

    eta: float  # step size
    losses: Float[Tensor, " s"]  # L̂(φ⁽ˢ⁾)
    V: Float[Tensor, "s k"]  # ‖φ⁽ˢ⁾ − φ̃‖²
    epsilon: Float[Tensor, "s k"]  # ε_s
    gain: Float[Tensor, "s k"]  # ⟨r, e⟩/n of residuals and misfits, at most x_s ε_s
    along: Float[Tensor, " s"]  # A_s² along the gradient
    gram: Float[Tensor, " s"]  # A_s² as an eigenvalue
    trace: Float[Tensor, " s"]  # A_s² as a trace
    run: object  # what was recorded of it

    @classmethod
    def of(cls, run: object, eta: float) -> "Trajectory":
        """From a run with step size η of which ``run.observed`` is what an ``observer`` said at every step."""
        seen = {name: torch.stack([now[name] for now in run.observed]) for name in run.observed[0]}
        return cls(eta, run=run, **seen)

    @property
    def steps(self) -> int:
        """Number of steps τ."""
        return len(self.losses) - 1

    def theta(self, form: str = "gram") -> Float[Tensor, " τ"]:
        """ηA_s² before each step; the form is ``along``, ``gram`` or ``trace``."""
        if form not in FORMS:
            raise ValueError(f"form must be one of {', '.join(FORMS)}, got {form!r}")
        return self.eta * getattr(self, form)[:-1]

    def drift_bound(self, form: str = "gram") -> Float[Tensor, "τ k"]:
        """−4η[(1 − θ_s) x_s² − ε_s x_s], which V_{s+1} − V_s does not exceed; the form is ``along``, ``gram`` or ``trace``."""
        x = self.losses[:-1, None].sqrt()
        return -4 * self.eta * ((1 - self.theta(form)[:, None]) * x**2 - self.epsilon[:-1] * x)

    def mean_losses(self) -> Float[Tensor, " τ"]:
        """(1/t) Σ_{s<t} L̂(φ⁽ˢ⁾) for t = 1, …, τ."""
        return self.losses[:-1].cumsum(0) / torch.arange(1, self.steps + 1, dtype=self.losses.dtype)

    def certificate(self, form: str = "gram") -> Float[Tensor, "τ k"]:
        """Theorem A's bound on ``mean_losses`` with everything measured, for every t; infinite from where θ ≥ 1.

        Args:
            form: ``along``, ``gram`` or ``trace``.
        """
        t = torch.arange(1, self.steps + 1, dtype=self.losses.dtype)[:, None]
        rest = 1 - self.theta(form).cummax(0).values[:, None]
        epsilon = self.epsilon[:-1].cummax(0).values
        root = epsilon + (epsilon**2 + rest.clamp(min=0) * self.V[0] / (self.eta * t)).sqrt()
        return torch.where(rest > 0, (root / (2 * rest)) ** 2, math.inf)

    def averaged_certificate(self, form: str = "gram") -> Float[Tensor, "τ k"]:
        """The bound on ``mean_losses`` before the maximum of ε_s is taken: the mean of ε_s x_s plus V₀/(4ηt), over 1 − max θ_s.

        Args:
            form: ``along``, ``gram`` or ``trace``.
        """
        t = torch.arange(1, self.steps + 1, dtype=self.losses.dtype)[:, None]
        rest = 1 - self.theta(form).cummax(0).values[:, None]
        pull = (self.epsilon[:-1] * self.losses[:-1, None].sqrt()).cumsum(0) / t
        return torch.where(rest > 0, (pull + self.V[0] / (4 * self.eta * t)) / rest, math.inf)


def observer(
    tangent: Callable[[Point], Tangent], comparators: Sequence[Point]
) -> Callable[[int, Point], Mapping[str, Float[Tensor, "..."]]]:
    """What ``descent.run`` is to record of a single model for Theorem A with one or more φ̃; its entries are those of ``Trajectory``."""
    if not comparators:
        raise ValueError("comparators must be at least one point, got none")
    all_of_them = points.mapped(lambda *parts: torch.stack(parts), *comparators)

    def observe(step: int, point: Point) -> Mapping[str, Float[Tensor, "..."]]:
        here = tangent(point)
        away = points.mapped(torch.sub, all_of_them, point)
        errors, residual = misfit(here, away), here.residual
        return {
            "losses": residual.square().mean(),
            "V": sum(block.square().flatten(1).sum(1) for block in points.blocks(away)),
            "epsilon": errors.square().mean(1).sqrt(),
            "gain": errors @ residual / len(residual),
            **forms(here.gram(), residual),
        }

    return observe

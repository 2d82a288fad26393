"""Step rules for weights whose gradient may be e^{−2580}: each turns log ‖∇L‖ and log(L − L*) into the length of a step.

A step goes along −∇L/‖∇L‖; its length is the multiplier η_t times ‖∇L‖. ``Multiplier`` makes any rule one for ``training.descent``.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from shallowformer import arguments
from shallowformer.contracts import Count, Positive, contract, contracted
from shallowformer.training.points import Point, norm

Numbers = Float[np.ndarray, "..."] | np.floating


@runtime_checkable
class Rule(Protocol):
    """How long a step is."""

    def length(self, step: int, log_norm: Numbers, log_excess: Numbers) -> Numbers:
        """Length of step t = 0, 1, …, from log ‖∇L‖ and log(L − L*)."""


@contracted
@dataclass(frozen=True)
class GD:
    """Gradient descent: η_t = η."""

    eta: Positive  # η

    def length(self, step: int, log_norm: Numbers, log_excess: Numbers) -> Numbers:
        """η‖∇L‖."""
        return self.eta * np.exp(log_norm)


@contracted
@dataclass(frozen=True)
class NGD:
    """Normalised gradient descent: η_t = η/‖∇L‖."""

    eta: Positive  # η

    def length(self, step: int, log_norm: Numbers, log_excess: Numbers) -> Numbers:
        """η."""
        return np.full_like(log_norm, self.eta)


@contracted
@dataclass(frozen=True)
class Polyak:
    """Polyak's step: η_t = factor · (L − L*)/‖∇L‖²."""

    factor: Positive = 0.5  # the paper's is ½ in our reading

    def length(self, step: int, log_norm: Numbers, log_excess: Numbers) -> Numbers:
        """The factor times (L − L*)/‖∇L‖."""
        with np.errstate(over="ignore", invalid="ignore"):
            return self.factor * np.where(
                np.isneginf(log_norm), 0.0, np.exp(log_excess - log_norm)
            )  # 0 where the gradient is 0


@contracted
@dataclass(frozen=True)
class CapMultiplier:
    """A rule whose multiplier η_t is cut at a largest one, as is done in practice: it ends as gradient descent."""

    rule: Rule  # the rule
    most: Positive  # η_max

    def length(self, step: int, log_norm: Numbers, log_excess: Numbers) -> Numbers:
        """The rule's length, but at most η_max‖∇L‖."""
        return np.minimum(self.rule.length(step, log_norm, log_excess), self.most * np.exp(log_norm))


@contracted
@dataclass(frozen=True)
class CapLength:
    """A rule whose steps are cut at a largest length, as Lemma 3 asks."""

    rule: Rule  # the rule
    most: Positive  # s_max

    def length(self, step: int, log_norm: Numbers, log_excess: Numbers) -> Numbers:
        """The rule's length, but at most s_max."""
        return np.minimum(self.rule.length(step, log_norm, log_excess), self.most)


@dataclass(frozen=True)
class Momentum:
    """A rule with momentum: v ← βv + step, W ← W + v."""

    rule: Rule  # the rule
    beta: float = 0.9  # β, at least 0 and below 1

    def __post_init__(self) -> None:
        """Check the number."""
        arguments.below_one("beta", self.beta)

    def length(self, step: int, log_norm: Numbers, log_excess: Numbers) -> Numbers:
        """The rule's length, which is added to the velocity."""
        return self.rule.length(step, log_norm, log_excess)


@dataclass(frozen=True)
class Multiplier:
    """A rule as a step size of ``training.descent``, where gradients are numbers; 0 where the gradient is 0."""

    rule: Rule  # without momentum
    least: float = 0.0  # L*

    def __post_init__(self) -> None:
        """Refuse what a step size cannot do."""
        if isinstance(self.rule, Momentum):
            raise ValueError(f"rule must be without momentum, which a step size cannot keep, got {self.rule}")

    def __call__(self, step: int, losses: Float[Tensor, " s"], gradient: Point) -> float | Sequence[float]:
        """η_t."""
        size = float(norm(gradient))
        if size == 0:
            return 0.0
        with np.errstate(divide="ignore"):
            log_excess = np.log(np.maximum(losses.double().numpy() - self.least, 0.0))
        return float(self.rule.length(step, np.log(np.full(1, size)), log_excess)[0]) / size


@contract
def recorded_steps(steps: Count, a_decade: Count = 20) -> list[int]:
    """Steps to record: 0, then evenly spaced logarithms, ``a_decade`` between 1 and 10, 10 and 100, …, up to the last, as whole numbers."""
    logs = torch.arange(0, np.log10(steps), 1 / a_decade, dtype=torch.float64)
    return sorted({0, steps, *(round(10 ** float(each)) for each in logs)})

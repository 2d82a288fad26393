"""Step rules of joint training: the lengths of the two steps, of u along −∇_u L and of W along −∇_W L.

Every rule gives length 0 where a gradient is 0 (0/0 := 0): W has none at t = 0 if u starts at 0.
"""

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from shallowformer.contracts import NonNegative, Positive, contracted


@runtime_checkable
class Rule(Protocol):
    """How long the two steps are."""

    def lengths(self, step: int, log_u: float, log_W: float, log_loss: float) -> tuple[float, float]:
        """Lengths of step t = 0, 1, … of u and of W, from log ‖∇_u L‖, log ‖∇_W L‖ and log L."""


@contracted
@dataclass(frozen=True)
class Scheduled:
    """Both gradients normalised, with decay: η_u = η(t + 1)^{−p}/‖∇_u L‖, η_W = η(t + 1)^{−q}/‖∇_W L‖; p = q = 0 is plain NGD.

    Source: Vasudeva, Deora, Thrampoulidis 2024, updates (10), in our reading.
    """

    eta: Positive  # η
    p: NonNegative = 2 / 3  # 2/3 in the paper, in our reading
    q: NonNegative = 1.0  # 1 in the paper, in our reading

    def lengths(self, step: int, log_u: float, log_W: float, log_loss: float) -> tuple[float, float]:
        """η(t + 1)^{−p} and η(t + 1)^{−q}."""
        of = lambda log_norm, power: self.eta * (step + 1) ** -power if log_norm > -np.inf else 0.0
        return of(log_u, self.p), of(log_W, self.q)


@dataclass(frozen=True)
class _Together:
    def log_multiplier(self, log_norm: float, log_loss: float) -> float:
        """Log η_t from the log norm of the whole gradient."""
        raise NotImplementedError

    def lengths(self, step: int, log_u: float, log_W: float, log_loss: float) -> tuple[float, float]:
        """η_t‖∇_u L‖ and η_t‖∇_W L‖."""
        log_norm = np.logaddexp(2 * log_u, 2 * log_W) / 2
        if log_norm == -np.inf:
            return 0.0, 0.0
        log_eta = self.log_multiplier(log_norm, log_loss)
        with np.errstate(over="ignore"):
            return float(np.exp(log_eta + log_u)), float(np.exp(log_eta + log_W))


@contracted
@dataclass(frozen=True)
class GD(_Together):
    """Gradient descent on both: η_t = η."""

    eta: Positive  # η

    def log_multiplier(self, log_norm: float, log_loss: float) -> float:
        """Log η."""
        return np.log(self.eta)


@contracted
@dataclass(frozen=True)
class JointNGD(_Together):
    """One norm for the gradient in (u, W): η_t = η/‖∇L‖."""

    eta: Positive  # η

    def log_multiplier(self, log_norm: float, log_loss: float) -> float:
        """Log η/‖∇L‖."""
        return np.log(self.eta) - log_norm


@contracted
@dataclass(frozen=True)
class Polyak(_Together):
    """Polyak's step for both, L* = 0: η_t = min(factor · L/‖∇L‖², η_max)."""

    factor: Positive = 0.5
    most: float = float("inf")  # η_max, above 0; infinite if there is no cap

    def __post_init__(self) -> None:
        if not self.most > 0:
            raise ValueError(f"most must be above 0, infinite for no cap, got {self.most!r}")

    def log_multiplier(self, log_norm: float, log_loss: float) -> float:
        """Log of the multiplier."""
        return min(np.log(self.factor) + log_loss - 2 * log_norm, np.log(self.most))

"""What is proved of descent from a start: how far it may move while a singular value shrinks, and from which errors it ends at zero loss.

Let s_0 > 0 be a lower bound on σ_min(J) at the start, where J is the Jacobian of all outputs, that falls by at most ``slope`` a unit of length.
While descent has not moved further than r = δs_0/slope the bound is at least (1 − δ)s_0. An error that a step removes is worth at least the
bound times the step's length, up to a remainder of M_2/2 times its square. So the path is at most r long, if the errors e at the start are
below ∫_0^r (s_0 − slope·u)du, with e/(1 − μM_2e) in the place of e where the remainder is not a part of the slope.

Everywhere 0 ≤ e ≤ ``error``, and ``now`` is e_t, from 0 to e.
"""

import math
from dataclasses import dataclass

from jaxtyping import Float
from torch import Tensor

from shallowformer import arguments
from shallowformer.contracts import NonNegative, Positive, contract


@dataclass(frozen=True)
class Certificate:
    """A start with what is proved of descent from there; e = √(2Φ(θ⁽⁰⁾)) throughout."""

    s_0: float  # the lower bound on σ_min(J) at θ⁽⁰⁾
    slope: float  # how fast it can fall; ``M_2`` itself, or the Lipschitz constant of what s_0 is made of
    r: float  # length that the path does not exceed; at most s_0/slope
    J_0: float  # ‖J‖ at θ⁽⁰⁾
    M_2: float  # Lipschitz constant of J on the ball of radius r

    @property
    def delta(self) -> float:
        """δ: the share of s_0 that may be lost."""
        return self.slope * self.r / self.s_0

    @property
    def mu(self) -> float:
        """The largest step that is certified beforehand, 1/(‖J_0‖ + M_2 r)²."""
        return (self.J_0 + self.M_2 * self.r) ** -2

    @property
    def error(self) -> float:
        """The theorem holds for all e below this, at the step ``mu``."""
        budget = self.s_0 * self.r - self.slope * self.r**2 / 2
        return budget if self.slope == self.M_2 else budget / (1 + self.mu * self.M_2 * budget)

    @property
    def loss(self) -> float:
        """Φ(θ⁽⁰⁾) at ``error``."""
        return self.error**2 / 2

    @contract
    def spent(self, e: NonNegative) -> float:
        """A bound on ∫ (s_0 − slope·u)du along the whole path: e, or e/(1 − μM_2e)."""
        arguments.at_most("e", e, "error", self.error)
        return e if self.slope == self.M_2 else e / (1 - self.mu * self.M_2 * e)

    def least(self, e: float) -> float:
        """A bound below σ_min(J) along the whole run: (s_0² − 2·slope·spent)^{1/2}, at least (1 − δ)s_0."""
        return math.sqrt(self.s_0**2 - 2 * self.slope * self.spent(e))

    def path(self, e: float) -> float:
        """A bound on the length of the whole path, (s_0 − ``least``)/slope."""
        return 2 * self.spent(e) / (self.s_0 + self.least(e))

    def distance(self, e: float, now: float) -> float:
        """A bound on the length of the rest of the path, from e_t ≤ e ``now``, and so on ‖θ⁽ᵗ⁾ − θ*‖: ``spent``(e_t)/``least``(e)."""
        return self.spent(now) / self.least(e)

    @contract
    def factor(
        self, e: float, now: float | Float[Tensor, "*n"], mu: Positive | None = None
    ) -> float | Float[Tensor, "*n"]:
        """What the next step multiplies Φ by at most: (1 − μ·least²(1 − ½μM_2 e_t))².

        Args:
            now: e_t, from 0 to e.
            mu: step, at most ``mu``, which it is if not given.
        """
        step = self.mu if mu is None else arguments.at_most("mu", mu, "mu", self.mu)
        return (1 - step * self.least(e) ** 2 * (1 - step * self.M_2 * now / 2)) ** 2

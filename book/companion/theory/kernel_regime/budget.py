"""The waste budget of Theorem 1: from its right side down to the measured loss, one replacement after another.

The mean loss of a run is, exactly, an optimisation term plus a width term (``Sheet``). Each is bounded in steps, and each step can be
undone: ``width`` and ``optimisation`` list what is left after every replacement. The losses of the two do not add up.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from companion.theory.kernel_regime.comparison import Terms
from shallowformer.contracts import Positive, contracted
from shallowformer.formulas import Number
from shallowformer.kernel_regime.convergence.theorem_1 import Constants


@dataclass(frozen=True)
class Entry:
    """One step of a run, in numbers."""

    loss: float  # L̂(φ⁽ˢ⁾)
    earned: float  # (1/n) Σ_j r_j e_j, the width term of the step
    error: float  # root mean square of the e_j
    slope: float  # ‖∇L̂(φ⁽ˢ⁾)‖²
    squares: float  # (1/n) Σ_j ‖∇f(X⁽ʲ⁾; φ⁽ˢ⁾)‖²
    distance: float  # V(φ⁽ˢ⁾) before the step
    pulled: float  # by how much the projection after the step reduced V


def entry(terms: Terms, pulled: Number) -> Entry:
    """Enter a step: terms of the iterate before it, and how much its projection ``pulled`` (``Comparison.pulled``), 0 without one."""
    errors = terms.errors
    return Entry(
        loss=float(terms.loss),
        earned=float((terms.residual * errors).mean()),
        error=float(errors.square().mean().sqrt()),
        slope=float(terms.slope),
        squares=float(terms.squares.mean()),
        distance=float(terms.distance),
        pulled=float(pulled),
    )


@contracted
@dataclass(frozen=True)
class Sheet:
    """All steps of a run of projected gradient descent."""

    entries: Sequence[Entry]  # one a step, s = 0, …, τ − 1
    last: float  # V(φ⁽τ⁾)
    eta: Positive  # step size η

    def __post_init__(self) -> None:
        if not self.entries:
            raise ValueError("entries must be at least one, got none")

    @property
    def steps(self) -> int:
        """τ."""
        return len(self.entries)

    def mean(self, value) -> float:
        """Average over the steps."""
        return sum(value(e) for e in self.entries) / self.steps

    @property
    def loss(self) -> float:
        """Mean loss over the steps."""
        return self.mean(lambda e: e.loss)

    @property
    def width(self) -> float:
        """Mean over the steps of (1/n) Σ_j r_j e_j."""
        return self.mean(lambda e: e.earned)

    @property
    def optimisation(self) -> float:
        """(V₀ − V_τ)/(4ητ) + (η/4) mean ‖∇L̂‖² − mean of what projections reduced /(4η)."""
        travelled = (self.entries[0].distance - self.last) / (4 * self.eta * self.steps)
        return travelled + self.mean(lambda e: self.eta * e.slope / 4 - e.pulled / (4 * self.eta))


def width(sheet: Sheet, paper: Constants, sharp: Constants) -> dict[str, float]:
    """What is left of the width term after every replacement, the paper's bound first, the exact term last.

    Returns: what has been replaced → what is left. All but the last bound the mean of (1/n) Σ_j r_j e_j from above.
    """
    worst = max(e.error for e in sheet.entries)
    return {
        "as printed": paper.width,
        "sharper error bounds": paper.envelope * sharp.errors,
        "sharper envelopes": sharp.envelope * sharp.errors,
        "measured errors": sharp.envelope * worst,
        "measured residuals": sheet.mean(lambda e: e.loss**0.5 * e.error),
        "exact": sheet.width,
    }


def optimisation(sheet: Sheet, paper: Constants, sharp: Constants) -> dict[str, float]:
    """What is left of the optimisation term after every replacement, the paper's bound first, the exact term last.

    Returns: what has been replaced → what is left. All but the last bound the optimisation term of the run from above.
    """
    eta, horizon = sheet.eta, 4 * sheet.eta * sheet.steps
    start, slope = sheet.entries[0].distance, sheet.mean(lambda e: e.slope)
    travel = paper.V0 / horizon
    return {
        "as printed": travel + eta * (paper.envelope * paper.A) ** 2,
        "sharper gradient bound": travel + eta * (paper.envelope * sharp.A) ** 2,
        "sharper envelopes": travel + eta * (sharp.envelope * sharp.A) ** 2,
        "measured residuals": travel + eta * sharp.A**2 * sheet.loss,
        "measured gradients of f": travel + eta * sheet.mean(lambda e: e.squares * e.loss),
        "measured gradients of the loss": travel + eta / 4 * slope,
        "measured distance": start / horizon + eta / 4 * slope,
        "exact": sheet.optimisation,
    }

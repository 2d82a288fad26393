"""Marching the comparison system until the area under the guaranteed rate has paid for the distance, or something gives way."""

from dataclasses import dataclass

from shallowformer.contracts import Count, contract
from shallowformer.residual.random_start.slopes import Budgets, Slopes, slopes
from shallowformer.residual.random_start.start import Start

#: How much more than was found a budget is raised to, so that sums end on the safe side of their roundings.
SAFE = 1e-9
#: Rounds in which the budgets of a cell must close.
ROUNDS = 100


@dataclass(frozen=True)
class Cell:
    """A stretch of x."""

    x: float  # where it begins
    budgets: Budgets  # there
    slopes: Slopes  # valid for every step that begins or ends on it
    area: float  # ∫α up to x
    alpha: float  # the rate on it


@dataclass(frozen=True)
class Certificate:
    """What is certain before the first step."""

    holds: bool  # whether descent reaches zero loss for every step μ up to ``mu``
    why: str  # what gave way if not
    X: float  # Σ μ‖E‖_F stays below it
    alpha: float  # ‖E_t‖_F ≤ (1 − μα)^t ‖E_0‖_F
    mu: float  # the largest step that is covered
    distance: float  # y_0, what the area had to reach
    cells: tuple[Cell, ...]  # from 0 to beyond X

    @property
    def budgets(self) -> Budgets:
        """Bounds on how far everything moves in the whole run, or up to where something gave way."""
        return self.cells[-1].budgets if self.cells else Budgets()


@contract
def certify(s: Start, cells: Count = 300, margin: float = 1.5) -> Certificate:
    """Whether the area theorem holds at this start.

    Cells are at least as long as a step. A step that begins on a cell ends on it or on the next one; so the area that enters a cell's
    slopes is that of where the cell before begins, and its budgets are those of one step beyond its end.

    Args:
        cells: how finely to march, in cells on 4‖E‖_F/(σ_Aσ_U)²; more of them cost time and certify a little more.
        margin: the step is 1/(margin ‖A‖‖W_U‖)², above 1.
    """
    if margin <= 1:
        raise ValueError(f"margin must be above 1, or A and W_U could not grow, got {margin!r}")
    mu = (margin * s.a * s.u) ** -2
    step = mu * s.e
    length = max(4 * s.e / s.rate / cells, step)
    budgets, area, before, x, alpha = Budgets(), 0.0, 0.0, 0.0, float("inf")
    done: list[Cell] = []
    ended = lambda why="": Certificate(not why, why, x, alpha, mu, s.distance, tuple(done))
    while before < s.distance:
        found = _closed(s, budgets, x, length + step, before)
        if isinstance(found, str):
            return ended(found)
        now, ahead = found
        alpha = min(alpha, now.alpha)
        if alpha <= 0:
            return ended("the other five blocks can outweigh W_2")
        if (s.a + ahead.A) * (s.u + ahead.U) > margin * s.a * s.u:
            return ended("the step could become too long")
        done.append(Cell(x, budgets, now, area, alpha))
        budgets = Budgets(*(b + slope * length for b, slope in zip(budgets, now.grows, strict=True)))
        x, before, area = x + length, area, area + alpha * length
    x -= length  # the last cell began with the distance paid; it was there for the step that ends beyond X
    return ended()


def _closed(s: Start, b: Budgets, x: float, ahead: float, area: float) -> tuple[Slopes, Budgets] | str:
    """Slopes that hold up to ``ahead`` beyond x, and budgets there that they do not exceed; or what gave way."""
    guess = b
    for _ in range(ROUNDS):
        now = slopes(s, guess, x + ahead, area)
        if now is None:
            return "a least singular value can reach 0"
        found = Budgets(*(have + slope * ahead for have, slope in zip(b, now.grows, strict=True)))
        if all(f <= g for f, g in zip(found, guess, strict=True)):
            return now, guess
        guess = Budgets(*(max(g, f * (1 + SAFE) + 1e-300) for f, g in zip(found, guess, strict=True)))
    return "the budgets do not close"

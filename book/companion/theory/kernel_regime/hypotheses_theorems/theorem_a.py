"""Theorem A and its forms, each without one hypothesis: runs of models with one parameter or two.

What is compared is the root of the mean loss with the bound, for one input unless said otherwise. A model is its residual.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from shallowformer.training import self_bounding

Number = float | Fraction
TENTH, QUARTER = Fraction(1, 10), Fraction(1, 4)


@dataclass(frozen=True)
class Model:
    """A residual r(p), its slope, and the set that is projected on."""

    residual: Callable[[Number], Number]
    slope: Callable[[Number], Number]
    project: Callable[[Number], Number] = lambda p: p


IDENTITY = Model(lambda p: p, lambda p: 1)


@dataclass(frozen=True)
class Path:
    """What Theorem A measures along a run against a comparator."""

    losses: list[Number]
    misfits: list[Number]  # |e|
    squares: list[Number]  # A²
    V: list[Number]


def walk(model: Model, p: Number, eta: Number, steps: int, comparator: Number) -> Path:
    """Projected gradient descent p ← Π(p − 2ηrr′)."""
    losses, misfits, squares, V = [], [], [], [(p - comparator) ** 2]
    for _ in range(steps):
        r, slope = model.residual(p), model.slope(p)
        losses.append(r**2)
        misfits.append(abs(r + slope * (comparator - p)))
        squares.append(slope**2)
        p = model.project(p - 2 * eta * r * slope)
        V.append((p - comparator) ** 2)
    return Path(losses, misfits, squares, V)


def mean(values: list[Number]) -> Number:
    """The mean of some numbers."""
    return sum(values) / len(values)


def root_and_bound(path: Path, eta: float) -> tuple[float, float]:
    """Root of the mean loss and the first bound of Theorem A, with ε and Ā² measured."""
    loss = mean(path.losses)
    epsilon, theta = float(max(path.misfits)), eta * float(max(path.squares))
    return float(loss) ** 0.5, self_bounding.bound(epsilon, float(path.V[0]), eta, len(path.losses), theta)


def long_step(kept: bool) -> tuple[float, float]:
    """For r = p, from 1, ε = 0: η = ½ (kept) or 2, θ = η, 20 steps; the second bound, √(V₀/(4|1 − θ|ητ))."""
    eta = 0.5 if kept else 2.0
    path = walk(IDENTITY, 1.0, eta, 20, 0.0)
    return mean(path.losses) ** 0.5, (1 / (4 * abs(1 - eta) * eta * 20)) ** 0.5


def _fenced(kept: bool, steps: int = 100) -> Path:
    """R = p − y from p = 1 on Ω = [−1, 1], η = ¼, against φ̃ = y, for y = ½ (kept) or 2, where p stays at 1."""
    y = Fraction(1, 2) if kept else Fraction(2)
    model = Model(lambda p: p - y, lambda p: 1, lambda p: max(Fraction(-1), min(Fraction(1), p)))
    return walk(model, Fraction(1), QUARTER, steps, y)


def outside(kept: bool) -> tuple[float, float]:
    """R = p − y from 1 on Ω = [−1, 1], against φ̃ = y = ½ (kept) or 2, which Ω lacks: there the run stays at 1 with loss 1, and ε = 0."""
    return root_and_bound(_fenced(kept), 0.25)


def outside_smallest(kept: bool) -> tuple[float, float]:
    """Smallest loss and (2ε + Ā√(V₀/τ))², the first part, η = 1/(2Ā²) with Ā² = 2: the same run."""
    path = _fenced(kept)
    return min(path.losses), 2 * path.V[0] / 100


def outside_step(kept: bool) -> tuple[float, float]:
    """V₁ − V₀ and its bound −4η(1 − η)x² in the first step of the same run (ε = 0)."""
    path = _fenced(kept, 1)
    return path.V[1] - path.V[0], -4 * QUARTER * (1 - QUARTER) * path.losses[0]


def _gap(kept: bool, steps: int = 100) -> Path:
    """R = p − 1 from 0, η = 1/10, φ̃ = 1, projected on the line (kept) or on it without the open interval from 0 to 1."""
    nearest = lambda p: p if p <= 0 or p >= 1 else round(p)
    return walk(
        Model(lambda p: p - 1, lambda p: 1, (lambda p: p) if kept else nearest),
        Fraction(0),
        TENTH,
        steps,
        Fraction(1),
    )


def not_convex(kept: bool) -> tuple[float, float]:
    """R = p − 1 from 0, against φ̃ = 1, on the line (kept) or with the interval (0, 1) cut out: each step is taken back, and ε = 0."""
    return root_and_bound(_gap(kept), 0.1)


def not_convex_step(kept: bool) -> tuple[float, float]:
    """V₁ − V₀ and its bound −4η(1 − η)x² in the first step of the same run."""
    path = _gap(kept, 1)
    return path.V[1] - path.V[0], -4 * TENTH * (1 - TENTH) * path.losses[0]


def projected_identity(kept: bool) -> tuple[float, float]:
    """Distance of the sides of the drift's identity for r = p from 1, φ̃ = ¾, η = ¼: the step to ½ is taken (kept), or stopped by Ω = [¾, 1]."""
    model = IDENTITY if kept else Model(lambda p: p, lambda p: 1, lambda p: max(Fraction(3, 4), p))
    eta, comparator = Fraction(1, 4), Fraction(3, 4)
    path = walk(model, Fraction(1), eta, 1, comparator)
    misfit = Fraction(1) + comparator - 1
    return abs(path.V[1] - path.V[0] + 4 * eta * ((1 - eta) - misfit)), 0


def another_slope(kept: bool) -> tuple[Fraction, Fraction]:
    """Distance of the sides of the drift's identity for two inputs, residuals p and q, from (1, 0), φ̃ = 0: A² along the gradient, ½ (kept), or tr G/n = 1."""
    square = Fraction(1, 2) if kept else Fraction(1)
    change = (1 - QUARTER) ** 2 - 1  # the gradient is (p, q), and no input is misfitted
    return abs(change + 4 * QUARTER * (1 - QUARTER * square) * Fraction(1, 2)), Fraction(0)


def misfit_at_the_start(kept: bool) -> tuple[float, float]:
    """F = sin p with the label 2, from 0, against φ̃ = 2, where f_lin = p fits; ε measured at every step (kept) or at the first, where it is 0."""
    model = Model(lambda p: math.sin(p) - 2, lambda p: math.cos(p))
    path = walk(model, 0.0, 0.1, 200, 2.0)
    epsilon = max(path.misfits) if kept else path.misfits[0]
    return mean(path.losses) ** 0.5, self_bounding.bound(epsilon, 4.0, 0.1, 200, 0.1)


def slope_at_the_start(kept: bool) -> tuple[float, float]:
    """Two inputs, residuals p and 2q, from (1, 10⁻⁹), φ̃ = 0: Ā² along the gradient over the run with η = ¼ (kept), or at the first step, η = 0.8.

    At the start A² is ½ up to 10⁻¹⁷; along q it is 2, and q is multiplied by 1 − 4η = −2.2 a step.
    """
    eta, p, q, losses, squares = (0.25 if kept else 0.8), 1.0, 1e-9, [], []
    for _ in range(60):
        losses.append((p**2 + 4 * q**2) / 2)
        squares.append((p**2 + 16 * q**2) / (2 * (p**2 + 4 * q**2)))
        p, q = (1 - eta) * p, (1 - 4 * eta) * q
    theta = eta * (max(squares) if kept else squares[0])
    return mean(losses) ** 0.5, self_bounding.bound(0.0, 1.0, eta, 60, theta)


def one_sample(kept: bool) -> tuple[float, float]:
    """Two inputs with the residuals p and q, from (1, 1), φ̃ = 0, η = ¼: full gradients (kept), or always the first sample."""
    eta, p, q, losses = 0.25, 1.0, 1.0, []
    for _ in range(100):
        losses.append((p**2 + q**2) / 2)
        p, q = ((1 - eta) * p, (1 - eta) * q) if kept else ((1 - 2 * eta) * p, q)
    return mean(losses) ** 0.5, self_bounding.bound(0.0, 2.0, eta, 100, eta)


def one_sample_step(kept: bool) -> tuple[float, float]:
    """V₁ − V₀ and −4η(1 − η/2)x² for the residuals p and q at (0, 1), full gradient (kept) or the first sample's, which is fitted."""
    eta = Fraction(1, 4)
    q = 1 - eta if kept else Fraction(1)
    return q**2 - 1, -4 * eta * (1 - eta / 2) / 2


def early_paper_step(kept: bool) -> tuple[Fraction, Fraction]:
    """Smallest loss and V₀/(2√τ) for r = ap from 1, ε = 0, τ = 4, η = ½: θ = a²/2 is ½, √τ = 2a² (kept), or 9/10.

    p is multiplied by 1 − 2θ = −4/5 a step, so the loss 9/5 falls by (16/25)³ in three steps, and not enough.
    """
    square = Fraction(1) if kept else Fraction(9, 5)
    path = walk(IDENTITY, Fraction(1), square / 2, 4, Fraction(0))  # in units in which a = 1
    return square * min(path.losses), Fraction(1, 4)


def _coordinates(draws: Callable[[int], int], eta: float, steps: int) -> float:
    """Mean loss for two inputs with the residuals p and q, from (1, 1), where step s is on the sample draws(s)."""
    point, losses = [1.0, 1.0], []
    for s in range(steps):
        losses.append((point[0] ** 2 + point[1] ** 2) / 2)
        point[draws(s)] *= 1 - 2 * eta
    return mean(losses)


def _fresh(eta: float, steps: int) -> float:
    """The expected mean loss for fresh fair samples: each square is multiplied by (1 + (1 − 2η)²)/2 a step, on average."""
    factor = (1 + (1 - 2 * eta) ** 2) / 2
    return mean([factor**s for s in range(steps)])


def repeated_batch(kept: bool) -> tuple[float, float]:
    """Root of the expected mean loss, and the bound, for the residuals p and q: fresh samples (kept), or the first draw repeated, η = ¼."""
    expected = (
        _fresh(0.25, 100) if kept else mean([_coordinates(lambda s, j=j: j, 0.25, 100) for j in (0, 1)])
    )
    return expected**0.5, self_bounding.bound(0.0, 2.0, 0.25, 100, 0.25)


def not_uniform(kept: bool) -> tuple[float, float]:
    """The same, where every step draws fairly (kept), or the first sample."""
    expected = _fresh(0.25, 100) if kept else _coordinates(lambda s: 0, 0.25, 100)
    return expected**0.5, self_bounding.bound(0.0, 2.0, 0.25, 100, 0.25)


def gram_for_largest(kept: bool) -> tuple[float, float]:
    """The same for Ā² = max ‖∇f_j‖² = 1 and η = ¾ (kept), or Ā² = λ_max(G)/n = ½ and η = 1.5: fitting one sample overshoots."""
    eta = 0.75 if kept else 1.5
    return _fresh(eta, 100) ** 0.5, self_bounding.bound(0.0, 2.0, eta, 100, 0.75)


def bump(kept: bool) -> tuple[float, float]:
    """Root loss at the average, and root mean loss + 2B_lin, where descent jumps between 1 and −1: r = √(1 + p²/η) + 100(1 − p²)², η = 2.

    The bump has neither height nor slope at ±1. The average is 0. B_lin bounds |f − f_lin| on [−1, 1] (kept), or at the iterates.
    """
    eta, height = 2.0, 100.0
    r = lambda p: math.sqrt(1 + p**2 / eta) + height * (1 - p**2) ** 2
    slope = 1 / (eta * math.sqrt(1 + 1 / eta))
    gap = lambda p: abs(r(p) - r(1.0) - slope * (p - 1))
    B_lin = max(gap(k / 100) for k in range(-100, 101)) if kept else gap(-1.0)
    return r(0.0), r(1.0) + 2 * B_lin

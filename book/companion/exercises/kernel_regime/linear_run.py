"""Exercises of the chapter *The whole run, known before the first step*."""

import itertools
import math
from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor

from shallowformer.exercises.feedback import Feedback, judge


def unfitted(G: Float[Tensor, "n n"], y: Float[Tensor, " n"]) -> float:
    """What of ‖(I − 2ηG)ˢ y‖/√n stays as s → ∞: the part of y on which G is zero; G is a Gram matrix over n, maybe singular."""
    sizes, axes = torch.linalg.eigh(G)
    return float(((axes.mT @ y)[sizes <= 1e-9 * sizes.max()]).norm()) / len(y) ** 0.5


def _all_of(y: Tensor) -> float:
    return float(y.square().mean().sqrt())


#: What people answer instead, by the hint they get; arguments G and y.
UNFITTED_MISTAKES = {
    "only if G₀ has no eigenvalue 0: on such an eigenvector 1 − 2ηλ is 1, at every step.": lambda G, y: 0.0,
    "that is the part that is fitted; asked for is the rest.": lambda G, y: (
        max(_all_of(y) ** 2 - unfitted(G, y) ** 2, 0.0) ** 0.5
    ),
    "a root *mean* square divides by √n.": lambda G, y: len(y) ** 0.5 * unfitted(G, y),
    "that is the loss, asked for is its root.": lambda G, y: unfitted(G, y) ** 2,
    "that is where the run starts; what lies along eigenvectors with λ > 0 goes to zero.": lambda G, y: (
        _all_of(y)
    ),
}


def check_unfitted(answer: Callable[[Float[Tensor, "n n"], Float[Tensor, " n"]], float]) -> Feedback:
    """Exercise *What the linear run never learns*: the limit of ‖u⁽ˢ⁾‖/√n; G₀, y → a number."""
    draw = torch.Generator().manual_seed(0)
    J, y = (torch.randn(4, k, generator=draw, dtype=torch.float64) for k in (6, 1))
    twins = torch.ones(2, 2, dtype=torch.float64)
    cases = [
        ("an input twice, with the labels 2 and −1", (twins, torch.tensor([2.0, -1.0], dtype=torch.float64))),
        ("four inputs, two parameters", (J[:, :2] @ J[:, :2].mT / 4, y[:, 0])),
        ("four inputs, six parameters", (J @ J.mT / 4, y[:, 0])),
    ]
    return judge("ex-linear-run-residuals", answer, unfitted, cases, UNFITTED_MISTAKES, tolerance=1e-6)


def forgets(eta: float, s: int) -> float:
    """The largest √λ(1 − 2ηλ)ˢ with 2ηλ ≤ 1."""
    x = 1 / (2 * s + 1)
    return (x / (2 * eta)) ** 0.5 * (1 - x) ** s


#: What people answer instead, by the hint they get; arguments η and s.
FORGETS_MISTAKES = {
    "that is the λ, asked for is the maximum.": lambda eta, s: 1 / (2 * eta * (2 * s + 1)),
    "λ = x/(2η): the root of it, not of x, stands in front.": lambda eta, s: (1 / (2 * s + 1)) ** 0.5 * (2 * s / (2 * s + 1)) ** s,
    "that is the limit for many steps; give the exact maximum.": lambda eta, s: (4 * 2.718281828459045 * eta * s) ** -0.5,
    "at that λ the factor (1 − 2ηλ)ˢ is not 1.": lambda eta, s: (2 * eta * (2 * s + 1)) ** -0.5,
    "√λ stands in front, here it is λ.": lambda eta, s: (s / (s + 1)) ** s / (2 * eta * (s + 1)),
    "the gradient of a mean of squares has a factor 2: the factor is 1 − 2ηλ.": lambda eta, s: forgets(eta / 2, s),
    "that is the square of the maximum.": lambda eta, s: forgets(eta, s) ** 2,
    "differentiate ½ log x + s log(1 − x): the ½ went lost.": lambda eta, s: (1 / (2 * eta * (s + 1))) ** 0.5 * (s / (s + 1)) ** s,
}  # fmt: skip


def check_forgets(answer: Callable[[float, int], float]) -> Feedback:
    """Exercise *What the linear run forgets least*: ν_s; η, s → a number."""
    cases = [("one step", (0.5, 1)), ("ten steps", (0.5, 10)), ("small steps", (0.02, 300))]
    return judge("ex-linear-run-forgets", answer, forgets, cases, FORGETS_MISTAKES)


def readout_move(path: Float[Tensor, "steps p"], c0: float) -> float:
    """χ after the last point, step by step; the first point of the path of α is 0, and c0 is 1 or −1."""
    chi = 0.0
    for now, after in itertools.pairwise(path):
        chi += c0 * float((after - now) @ now)
    return chi


def _squares(path: Tensor) -> tuple[float, float]:
    """‖α‖² at the end, and the sum of the squared steps."""
    return float(path[-1].square().sum()), float(path.diff(dim=0).square().sum())


#: What people answer instead, by the hint they get; arguments path and c⁰.
READOUT_MISTAKES = {
    "that is what is left for small steps.": lambda path, c0: c0 * _squares(path)[0] / 2,
    "the sign of the readout went lost.": lambda path, c0: (_squares(path)[0] - _squares(path)[1]) / 2,
    "the squared steps are subtracted.": lambda path, c0: c0 * (_squares(path)[0] + _squares(path)[1]) / 2,
    "the squares of the steps are added up, not their lengths.": lambda path, c0: (
        c0 * (_squares(path)[0] - float(path.diff(dim=0).norm(dim=1).sum()) ** 2) / 2
    ),
    "there is a ½: 2⟨α′ − α, α⟩ is a difference of squares.": lambda path, c0: (
        c0 * (_squares(path)[0] - _squares(path)[1])
    ),
}


def check_readout_move(answer: Callable[[Float[Tensor, "steps k"], float], float]) -> Feedback:
    """Exercise *Readouts know how far their pair has gone*: χ from the path of α; path, c⁰ → a number."""
    draw = torch.Generator().manual_seed(1)
    path = torch.randn(6, 3, generator=draw, dtype=torch.float64).cumsum(0)
    path[0] = 0
    cases = [("readout −1", (path, -1.0)), ("readout 1", (path, 1.0)), ("one step", (path[:2], -1.0))]
    return judge("ex-linear-run-balance", answer, readout_move, cases, READOUT_MISTAKES)


def departure(before: float, now: float, after: float) -> float:
    """The least E at one of three consecutive steps that the roots of their losses prove."""
    return max(0.0, (now**2 - before * after) / (before + 2 * now + after))


#: What people answer instead, by the hint they get; arguments the roots of three losses.
DEPARTURE_MISTAKES = {
    "if the loss slows down, nothing is proved: the bound is 0, not negative.": lambda a, b, c: (b**2 - a * c) / (a + 2 * b + c),
    "a bound, but not the best: μ_s is at most the geometric mean of its neighbours, which is below the arithmetic one.": lambda a, b, c: max(0.0, (2 * b - a - c) / 4),
    "all three steps may be off: ℓ_s by −E, and both neighbours by E.": lambda a, b, c: max(0.0, b - (a * c) ** 0.5),
    "the neighbours may be off as well: both grow by E.": lambda a, b, c: max(0.0, (b**2 - a * c) / (2 * b)),
    "μ_s may be off as well: it is only known to be at least ℓ_s − E.": lambda a, b, c: max(0.0, (math.hypot(a - c, 2 * b) - a - c) / 2),
}  # fmt: skip


def check_departure(answer: Callable[[float, float, float], float]) -> Feedback:
    """Exercise *A linear run never speeds up*: what three losses prove about the distance to it; ℓ_{s−1}, ℓ_s, ℓ_{s+1} → a number."""
    cases = [
        ("a plateau, then a fall", (1.0, 1.0, 0.5)),
        ("slowing down", (1.0, 0.5, 0.4)),
        ("a rise before a fall", (0.8, 0.9, 0.3)),
        ("one factor at every step", (1.0, 0.5, 0.25)),
    ]
    return judge("ex-linear-run-convex", answer, departure, cases, DEPARTURE_MISTAKES)

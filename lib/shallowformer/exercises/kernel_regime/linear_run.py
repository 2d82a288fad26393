"""Exercises of the chapter *The whole run, known before the first step*."""

import itertools
from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor

from shallowformer.exercises.feedback import Feedback, judge


def linear_loss(G: Float[Tensor, "n n"], y: Float[Tensor, " n"], eta: float, s: int) -> float:
    """‖(I − 2ηG)ˢ y‖/√n, step by step.

    Args:
        G: Gram matrix over n.
        y: labels.
        eta: step size.
        s: steps.
    """
    u = y.clone()
    for _ in range(s):
        u = u - 2 * eta * G @ u
    return float(u.square().mean().sqrt())


#: What people answer instead, by the hint they get; arguments G, y, η and s.
LOSS_MISTAKES = {
    "the gradient of a mean of squares has a factor 2.": lambda G, y, eta, s: linear_loss(G, y, eta / 2, s),
    "a root *mean* square divides by √n.": lambda G, y, eta, s: len(y) ** 0.5 * linear_loss(G, y, eta, s),
    "that is the loss, asked for is its root.": lambda G, y, eta, s: linear_loss(G, y, eta, s) ** 2,
    "G₀ is over n already.": lambda G, y, eta, s: linear_loss(G / len(y), y, eta, s),
    "the error shrinks: mind the sign.": lambda G, y, eta, s: linear_loss(-G, y, eta, s),
}


def check_linear_loss(
    answer: Callable[[Float[Tensor, "n n"], Float[Tensor, " n"], float, int], float],
) -> Feedback:
    """Exercise *The linear run*: ‖u⁽ˢ⁾‖/√n.

    Args:
        answer: G₀, y, η, s → a number.
    """
    draw = torch.Generator().manual_seed(0)
    J, y = (torch.randn(4, k, generator=draw, dtype=torch.float64) for k in (6, 1))
    G = J @ J.T / 24
    cases = [(f"after {s} steps", (G, y[:, 0], 0.3, s)) for s in (1, 2, 7)]
    return judge("ex-linear-run-residuals", answer, linear_loss, cases, LOSS_MISTAKES)


def forgets(eta: float, s: int) -> float:
    """The largest √λ(1 − 2ηλ)ˢ with 2ηλ ≤ 1.

    Args:
        eta: step size, above 0.
        s: steps, at least 1.
    """
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
    """Exercise *What the linear run forgets least*: ν_s.

    Args:
        answer: η, s → a number.
    """
    cases = [("one step", (0.5, 1)), ("ten steps", (0.5, 10)), ("small steps", (0.02, 300))]
    return judge("ex-linear-run-forgets", answer, forgets, cases, FORGETS_MISTAKES)


def readout_move(path: Float[Tensor, "steps p"], c0: float) -> float:
    """χ after the last point, step by step.

    Args:
        path: the points of α, the first of them 0.
        c0: 1 or −1.
    """
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
    """Exercise *Readouts know how far their pair has gone*: χ from the path of α.

    Args:
        answer: path, c⁰ → a number.
    """
    draw = torch.Generator().manual_seed(1)
    path = torch.randn(6, 3, generator=draw, dtype=torch.float64).cumsum(0)
    path[0] = 0
    cases = [("readout −1", (path, -1.0)), ("readout 1", (path, 1.0)), ("one step", (path[:2], -1.0))]
    return judge("ex-linear-run-balance", answer, readout_move, cases, READOUT_MISTAKES)

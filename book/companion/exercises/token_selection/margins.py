"""Exercises of the chapter *Which margin? The norm of a step*."""

import math
from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor

from shallowformer.exercises.feedback import Answer, Feedback, judge, judge_number


def _rows(G: Tensor) -> Tensor:
    size = G.norm(dim=1, keepdim=True)
    return G / torch.where(size > 0, size, 1.0)


#: What people answer instead, by the hint they get.
ROW_MISTAKES = {
    "that is steepest in the Euclidean norm: every row may have length 1 here, whatever the others do.": lambda G: (
        G / G.norm()
    ),
    "that is steepest for the largest entry: a row of signs has length √d, not 1.": torch.sign,
    "columns and rows are exchanged.": lambda G: _rows(G.T).T,
    "only one row moves; but the longest row may be 1 in all rows at once.": lambda G: (
        _rows(G) * (G.norm(dim=1, keepdim=True) == G.norm(dim=1).max())
    ),
    "divide a row by its length, not by the sum of its entries' sizes.": lambda G: (
        G / G.abs().sum(1, keepdim=True).clamp(min=1e-300)
    ),
    "a row of zeros divided by its length is not a number: leave it 0.": lambda G: (
        G / G.norm(dim=1, keepdim=True)
    ),
}


def check_steepest_rows(
    steepest_rows: Callable[[Float[Tensor, "d d"]], Float[Tensor, "d d"]],
) -> Feedback:
    """Exercise *One more norm*: the steepest direction where ‖W‖ is the largest length of a row."""
    make = lambda *rows: torch.tensor(rows, dtype=torch.float64)
    cases = [
        ("two rows", (make([3.0, 4.0], [0.0, -2.0]),)),
        ("three rows", (make([1.0, 2.0, 2.0], [-0.5, 0.1, 0.3], [4.0, 0.0, 3.0]),)),
        ("a row of zeros", (make([1.0, -1.0], [0.0, 0.0]),)),
    ]
    return judge("ex-margins-rows", steepest_rows, _rows, cases, ROW_MISTAKES, tolerance=1e-12)


def pace(rho: float, beta: float, square: float) -> float:
    """m/√v of a gradient that falls by e^{−ρ} a step."""
    return (
        (1 - beta) / (1 - beta * math.exp(rho)) * math.sqrt((1 - square * math.exp(2 * rho)) / (1 - square))
    )


#: ρ, β₁, β₂ of the exercise.
ASKED = (0.004, 0.9, 0.99)
#: What people answer instead, by the hint they get.
PACE_MISTAKES = {
    "the gradient was larger before: j steps ago by e^{ρj}, and its square by e^{2ρj}": pace(
        -0.004, 0.9, 0.99
    ),
    "the square of the gradient falls by e^{−2ρ} a step": 0.1
    / (1 - 0.9 * math.exp(0.004))
    * math.sqrt((1 - 0.99 * math.exp(0.004)) / 0.01),
    "that is v/g² upside down": 0.1
    / (1 - 0.9 * math.exp(0.004))
    / math.sqrt((1 - 0.99 * math.exp(0.008)) / 0.01),
    "the root of v is missing": 0.1 / (1 - 0.9 * math.exp(0.004)) * (1 - 0.99 * math.exp(0.008)) / 0.01,
    "m remembers larger gradients, too": math.sqrt((1 - 0.99 * math.exp(0.008)) / 0.01),
    "with a gradient that does not change it would be 1": 1.0,
}


def check_pace(number: Answer) -> Feedback:
    """Exercise *Adam's pace*: m/√v at ρ = 0.004, β₁ = 0.9, β₂ = 0.99."""
    return judge_number(
        "ex-margins-pace",
        number,
        pace(*ASKED),
        PACE_MISTAKES,
        "m and v are geometric series in βe^ρ and β₂e^{2ρ}",
        "0.1/(1 − 0.9 e^{0.004}) · √((1 − 0.99 e^{0.008})/0.01)",
        tolerance=2e-3,
        near=1e-4,
    )


#: What people answer instead, by the hint they get.
FAMILY_MISTAKES = {
    "that is the cosine of W_mm with itself; spectral descent does not stop at W_mm's direction": 1.0,
    "divide by both lengths: ‖I‖ = √2 and ‖W_mm‖ = √5/2": 1.5,
    "the shortest W has gaps of 1 in both pairs: its second entry is ½, not 1 or 2": 1 / math.sqrt(2),
    "that is the squared cosine": 0.9,
}


def check_family(cosine: Answer) -> Feedback:
    """Exercise *A margin is not a direction*: the cosine of I and diag(1, ½), 3/√10."""
    return judge_number(
        "ex-margins-family",
        cosine,
        3 / math.sqrt(10),
        FAMILY_MISTAKES,
        "the gradient is diagonal with positive entries; what are its polar factor and its signs?",
        "⟨I, diag(1, ½)⟩/(√2 · √5/2) = 3/√10",
        tolerance=2e-3,
    )

"""Exercises of the chapter *The factorisation problem*."""

import math
from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor

from shallowformer.exercises.feedback import Answer, Feedback, judge, judge_number


def _gradient(U: Tensor, V: Tensor, M: Tensor, lam: float) -> Tensor:
    D, C = U @ V.T - M, U.T @ U - V.T @ V
    return torch.cat([D @ V + lam * U @ C, D.T @ U - lam * V @ C])


#: What people answer instead, by the hint they get.
GRADIENT_MISTAKES = {
    "a sign: C contains −VᵀV, so the regulariser contributes −λVC to the lower block.": lambda U, V, M, lam: (
        _gradient(U, V, M, lam) + 2 * lam * torch.cat([0 * U, V @ (U.T @ U - V.T @ V)])
    ),
    "the regulariser is missing from both blocks.": lambda U, V, M, lam: _gradient(U, V, M, 0.0),
    "a factor: ¼‖C‖² is quadratic in C, and C quadratic in U; 2 · 2/4 = 1 is left.": lambda U, V, M, lam: (
        _gradient(U, V, M, lam / 2)
    ),
    "a factor: the ¼ of the regulariser takes away the 2 of each square.": lambda U, V, M, lam: (
        _gradient(U, V, M, 4 * lam)
    ),
    "the error enters with the wrong sign: D is UVᵀ − M.": lambda U, V, M, lam: (
        2 * _gradient(U, V, M, lam) - _gradient(U, V, M, lam) - 2 * _gradient(U, V, M, 0.0)
    ),
    "a factor: ½‖D‖² has the derivative D, not 2D.": lambda U, V, M, lam: (
        _gradient(U, V, M, lam) + _gradient(U, V, M, 0.0)
    ),
    "the lower block needs Dᵀ: D is m × d.": lambda U, V, M, lam: (
        _gradient(U, V, M, lam)
        + torch.cat([0 * U, (U @ V.T - M) @ U - (U @ V.T - M).T @ U])
    ),
}  # fmt: skip


def check_gradient(gradient: Callable[..., Float[Tensor, "p r"]]) -> Feedback:
    """Exercise *The gradient*: ∇f_λ as one matrix; U "m r", V "d r", M "m d", λ → "m + d, r"."""
    generator = torch.Generator().manual_seed(3)
    draw = lambda *shape: torch.randn(*shape, generator=generator, dtype=torch.float64)
    cases = [
        (f"U {m} × {r}, V {d} × {r}, λ = {lam:g}", (draw(m, r), draw(d, r), draw(m, d), lam))
        for m, d, r, lam in ((2, 2, 2, 0.5), (3, 3, 2, 1.3), (3, 2, 4, 0.2))
    ]
    return judge("ex-factorisation-gradient", gradient, _gradient, cases, GRADIENT_MISTAKES)


#: What people answer instead, by the hint they get.
WAIT_MISTAKES = {
    "that is the time by the linearised flow until x itself reaches √s_d: it stops growing exponentially before": 2
    * math.log(0.5**0.5 / 1e-3),
    "x² grows at the rate 2s_d, twice that of x": 2 * math.log(1e6 - 1),
    "x_0 enters squared: the equation is one for x²": math.log(1e3),
    "the limit of x² is 2s_d = 1, half of it s_d": math.log((0.25 / 0.75) * (1 - 1e-6) / 1e-6),
}


def check_wait(time: Answer) -> Feedback:
    """Exercise *How long at the saddle?*: when x² is half of its limit."""
    return judge_number(
        "ex-factorisation-wait",
        time,
        math.log(1e6 - 1),
        WAIT_MISTAKES,
        "ẋ = s_d x − x³/2; write it for x², and separate variables",
        "x²/(2s_d − x²) grows like exp(2s_d t), from 10⁻⁶ to 1",
        near=1e-3,
    )


#: What people answer instead, by the hint they get.
NARROW_MISTAKES = {
    "that is an upper bound where a column is unused; with all columns used, saddles can be flatter": -2.0,
    "that is the bound for r ≥ k; here the rest cannot be reached at all": -0.5,
    "close: that gap belongs to the first and second value, and swapping them leaves the same set": -1.0,
    "that keeps the last value; a better saddle keeps the third": -1.5,
    "a saddle has a negative least eigenvalue": 0.1,
}


def check_narrow(curvature: Answer) -> Feedback:
    """Exercise *Too narrow*: the largest least eigenvalue among saddles, for s = (3, 2, 1.9, 0.5) and r = 2."""
    return judge_number(
        "ex-factorisation-narrow",
        curvature,
        -0.1,
        NARROW_MISTAKES,
        "go through the sets of two: the least kept value minus the largest missed one",
        "−(s₂ − s₃): two neighbours are swapped",
    )

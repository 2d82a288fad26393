"""Exercises of the chapter *What each ingredient buys*."""

from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor

from shallowformer.exercises.feedback import Answer, Feedback, judge, judge_number


def _parts(M: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    return torch.linalg.svd(M, full_matrices=False)


def _polar(M: Tensor) -> Tensor:
    P, s, Qt = _parts(M)
    return torch.cat([P * s.sqrt() @ Qt, Qt.T * s.sqrt() @ Qt])


def _no_turn(M: Tensor) -> Tensor:
    P, s, Qt = _parts(M)
    return torch.cat([P * s.sqrt(), Qt.T * s.sqrt()])


def _all_in_one(M: Tensor) -> Tensor:
    P, s, Qt = _parts(M)
    return torch.cat([P @ Qt, Qt.T * s @ Qt])


def _no_roots(M: Tensor) -> Tensor:
    P, s, Qt = _parts(M)
    return torch.cat([P * s @ Qt, Qt.T * s @ Qt])


def _half_turned(M: Tensor) -> Tensor:
    P, s, Qt = _parts(M)
    return torch.cat([P * s.sqrt() @ Qt, Qt.T * s.sqrt()])


def _upside_down(M: Tensor) -> Tensor:
    found = _polar(M)
    return torch.cat([found[len(M) :], found[: len(M)]])


#: What people answer instead, by the hint they get.
POLAR_MISTAKES = {
    "that is the start by singular vectors, which sees the axes: multiply both factors by Qᵀ from the right.": _no_turn,
    "all of S went to V: each factor gets its square root.": _all_in_one,
    "S enters both factors by its square root, or UVᵀ is not M.": _no_roots,
    "V needs Qᵀ at its right as well.": _half_turned,
    "U comes first, V below.": _upside_down,
}


def check_polar(polar: Callable[[Float[Tensor, "m d"]], Float[Tensor, "p d"]]) -> Feedback:
    """Exercise *A start that does not see the axes*: polar factors, one below the other; M "m d" → "m + d, d"."""
    generator = torch.Generator().manual_seed(5)
    draw = lambda m, d: torch.randn(m, d, generator=generator, dtype=torch.float64)
    cases = [(f"M {m} × {d}", (draw(m, d),)) for m, d in ((2, 2), (3, 3), (4, 2))]
    return judge("ex-ingredients-polar", polar, _polar, cases, POLAR_MISTAKES)


#: What people answer instead, by the hint they get.
RAW_MISTAKES = {
    "that is the same order, Σ = diag(1, 1/100): here its small eigenvalue meets the large singular value": 400 * 2 / 1.01,
    "κ(Σ) alone is not it: the singular values enter": 100.0,
    "κ(Σ)/κ(M̃) is the limit for small c; here c = 1": 25.0,
    "κ(Σ)κ(M̃) is no eigenvalue's quotient: list all four": 400.0,
    "four eigenvalues, not two: i and j vary independently": 0.26 / 0.0101,
}  # fmt: skip


def check_raw(condition: Answer) -> Feedback:
    """Exercise *Opposite orders*: the condition number that raw descent sees."""
    return judge_number(
        "ex-ingredients-raw",
        condition,
        0.5 / 0.0101,
        RAW_MISTAKES,
        "the eigenvalues are λ_j(s_j + s_i λ_i), for i, j = 1, 2",
        "0.5/0.0101",
        tolerance=0.05,
    )


#: What people answer instead, by the hint they get.
RIDGE_MISTAKES = {
    "tokens are whitened by a root": 1.21,
    "the other way round: tokens are longer after the stretch": 1 / 1.1,
    "only without a ridge: with one, whitening does not undo the stretch": 1.0,
}


def check_ridge(factor: Answer) -> Feedback:
    """Exercise *A ridge sees the covariance*: how much longer whitened tokens get."""
    return judge_number(
        "ex-ingredients-ridge",
        factor,
        1.1,
        RIDGE_MISTAKES,
        "compare t/√(t² + ε) with 1/√(1 + ε)",
        "√1.21 = 1.1",
    )

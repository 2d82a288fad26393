"""Exercises of the chapter *On real sequences*."""

import math
from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor

from shallowformer.exercises.feedback import Feedback, judge


def share(K: Float[Tensor, "n n"], y: Float[Tensor, " n"], k: int) -> float:
    """Of ‖y‖², what lies in the span of the k leading eigenvectors of K."""
    vectors = torch.linalg.eigh(K)[1][:, -k:]
    return float((vectors.mT @ y).square().sum() / y.square().sum())


#: What people answer instead, by the hint they get; arguments K, y, k.
SHARE_MISTAKES = {
    "eigenvalues come in ascending order: those are the last directions, not the leading ones.": lambda K, y, k: (
        float((torch.linalg.eigh(K)[1][:, :k].mT @ y).square().sum() / y.square().sum())
    ),
    "a share is a part of ‖y‖²: divide by it.": lambda K, y, k: float(
        (torch.linalg.eigh(K)[1][:, -k:].mT @ y).square().sum()
    ),
    "that is a quotient of norms; asked for is that of their squares.": lambda K, y, k: share(K, y, k) ** 0.5,
    "eigenvectors are columns, not rows.": lambda K, y, k: float(
        (torch.linalg.eigh(K)[1][-k:] @ y).square().sum() / y.square().sum()
    ),
    "that is a share of the kernel; asked for is one of the labels.": lambda K, y, k: float(
        torch.linalg.eigvalsh(K)[-k:].sum() / torch.linalg.eigvalsh(K).sum()
    ),
}


def check_share(answer: Callable[[Float[Tensor, "n n"], Float[Tensor, " n"], int], float]) -> Feedback:
    """Exercise *Where the labels lie*: K, y, k → the share."""
    draw = torch.Generator().manual_seed(0)
    J, y = (torch.randn(5, k, generator=draw, dtype=torch.float64) for k in (5, 1))
    diagonal = torch.tensor([3.0, 1.0, 2.0], dtype=torch.float64).diag()
    cases = [
        (
            "a diagonal matrix, one direction",
            (diagonal, torch.tensor([1.0, 2.0, 2.0], dtype=torch.float64), 1),
        ),
        ("the same, two directions", (diagonal, torch.tensor([1.0, 2.0, 2.0], dtype=torch.float64), 2)),
        ("five inputs", (J @ J.mT, y[:, 0], 2)),
    ]
    return judge("ex-real-sequences-share", answer, share, cases, SHARE_MISTAKES)


def heads_needed(band: float, m: int, size: float, larger: float, allowed: float) -> int:
    """The smallest even number of heads with band·(m/heads)·(larger/size)² ≤ allowed, where E/μ = band at m heads and labels of that size."""
    return 2 * math.ceil(m * band / allowed * (larger / size) ** 2 / 2)


#: What people answer instead, by the hint they get; arguments band, m, size, larger, allowed.
HEADS_MISTAKES = {
    "E grows like the cube of the labels, but μ grows with them.": lambda band, m, size, larger, allowed: (
        2 * math.ceil(m * band / allowed * (larger / size) ** 3 / 2)
    ),
    "moves grow with the labels, and what they cost is of third order in them: E/μ is not linear in the labels.": (
        lambda band, m, size, larger, allowed: 2 * math.ceil(m * band / allowed * larger / size / 2)
    ),
    "partners cancel: E falls like 1/m, not like the root of it.": lambda band, m, size, larger, allowed: (
        2 * math.ceil(m * (band / allowed * (larger / size) ** 2) ** 2 / 2)
    ),
    "heads come in pairs: the number must be even, and large enough.": lambda band, m, size, larger, allowed: (
        m * band / allowed * (larger / size) ** 2
    ),
}


def check_heads_needed(answer: Callable[[float, int, float, float, float], int]) -> Feedback:
    """Exercise *What larger labels cost in heads*: band, m, size, larger, allowed → an even number of heads."""
    cases = [
        ("the same labels, a band that is to be halved", (0.02, 64, 0.1, 0.1, 0.0101)),
        ("labels three times as large", (0.05, 64, 0.1, 0.3, 0.05001)),
        ("labels ±1 instead of ±0.04", (0.006, 1024, 0.04, 1.0, 0.1001)),
        ("fewer heads will do", (0.01, 256, 0.1, 0.1, 0.1)),
    ]
    return judge("ex-real-sequences-heads", answer, heads_needed, cases, HEADS_MISTAKES)


def mean_square(v: float, T: int) -> float:
    """E‖a‖² of the average of T independent tokens with mean 0 and mean square v."""
    return v / T


#: What people answer instead, by the hint they get; arguments v, T.
AVERAGE_MISTAKES = {
    "that is the mean square of one token; the average of several is shorter.": lambda v, T: v,
    "that is the sum's; an average divides it by T².": lambda v, T: v * T,
    "weights are squared, but there are T of them.": lambda v, T: v / T**2,
    "that is the length, asked for is its square.": lambda v, T: (v / T) ** 0.5,
}


def check_mean_square(answer: Callable[[float, int], float]) -> Feedback:
    """Exercise *An average of words is short*: v, T → E‖a‖²."""
    cases = [("four tokens", (0.5, 4)), ("one token", (0.3, 1)), ("24 tokens", (0.16, 24))]
    return judge("ex-real-sequences-average", answer, mean_square, cases, AVERAGE_MISTAKES)

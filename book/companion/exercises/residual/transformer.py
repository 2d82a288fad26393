"""Exercises of the chapter *A complete Transformer and its six gradients*."""

from collections.abc import Callable

import torch
from jaxtyping import Float64
from torch import Tensor

from shallowformer.exercises.feedback import Answer, Feedback, judge, judge_number

Square = Float64[Tensor, "N N"]


def _through_softmax(S: Tensor, M: Tensor) -> Tensor:
    return S * (M - (S * M).sum(-1, keepdim=True))


#: What people answer instead, by the hint they get.
THROUGH_SOFTMAX_MISTAKES = {
    "that is diag(s) M alone: the weights of a row sum to 1, so a constant in a row of M must not matter.": lambda S, M: (
        S * M
    ),
    "a row's mean is taken under its own attention weights, not with 1/N.": lambda S, M: (
        S * (M - M.mean(-1, keepdim=True))
    ),
    "softmax acts on rows: sum over the last index, not over the first.": lambda S, M: (
        S * (M - (S * M).sum(-2, keepdim=True))
    ),
    "that is the transpose: T has the shape of the logits, row i belongs to query i.": lambda S, M: (
        _through_softmax(S, M).T
    ),
    "the mean is to be weighed by S as well: S ⊙ (M − mean), not S ⊙ M − mean.": lambda S, M: (
        S * M - (S * M).sum(-1, keepdim=True)
    ),
    "a sign: the mean is taken off.": lambda S, M: S * (M + (S * M).sum(-1, keepdim=True)),
}


def check_through_softmax(through_softmax: Callable[[Square, Square], Square]) -> Feedback:
    """Exercise *Back through the softmax*: from ∂Φ/∂S to ∂Φ/∂L; S, M → T."""
    generator = torch.Generator().manual_seed(0)
    draw = lambda N: torch.randn(N, N, generator=generator, dtype=torch.float64)
    cases = [
        (f"{N} tokens, {words}", (torch.softmax(scale * draw(N), -1), draw(N)))
        for N, scale, words in (
            (2, 1.0, "some attention"),
            (4, 3.0, "sharp attention"),
            (3, 0.0, "uniform attention"),
        )
    ]
    return judge("ex-transformer-softmax", through_softmax, _through_softmax, cases, THROUGH_SOFTMAX_MISTAKES)


#: What people answer instead, by the hint they get.
KINK_MISTAKES = {
    "the curvature has two terms: φ′(0)² does not vanish": 0.049868,
    "φ′(0) is ½ for a smoothed ReLU, not 1": 0.056992,
    "the largest φ″ is 1/(τ√(2π)), not 1/τ": 0.129032,
    "the Gaussian density at 0 has √(2π), not √π, below it": 0.072799,
    "φ′(0) enters squared": 0.053192,
}


def check_kink(tau: Answer) -> Feedback:
    """Exercise *How sharp a corner*: the width at which the curvature at 0 is 8."""
    return judge_number(
        "ex-transformer-kink",
        tau,
        0.0514764,
        KINK_MISTAKES,
        "differentiate (1 + φ(w))φ′(w) once more, at w = 0",
        "¼ + 1/(τ√(2π)) = 8",
        tolerance=1e-4,
        near=0.005,
    )


#: What people answer instead, by the hint they get.
LEAK_MISTAKES = {
    "that is the constant without a leak": 2.5,
    "that bounds |M|, or any slope between −1 and 1: here slopes lie between λ and 1": 4.0,
    "that holds in the Frobenius norm; in the spectral norm the part of a slope that differs from its middle costs √n": 1.0,
    "the middle of the slopes is (1 + λ)/2, not ½": 2.3,
    "half the range of the slopes is (1 − λ)/2, not ½": 2.55,
    "the middle of the slopes is (1 + λ)/2; only their deviation from it has 1 − λ": 2.25,
}


def check_leak(constant: Answer) -> Feedback:
    """Exercise *A leak*: the spectral Lipschitz constant of leaky ReLU, leak 0.1, on 16×16 matrices."""
    return judge_number(
        "ex-transformer-leak",
        constant,
        2.35,
        LEAK_MISTAKES,
        "split a slope into the middle of its range and the deviation from it",
        "0.55 + 0.45·4",
        near=0.002,
    )

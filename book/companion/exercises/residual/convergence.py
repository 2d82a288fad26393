"""Exercises of the chapter *Why it converges*."""

from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Generator, Tensor

from shallowformer.exercises.feedback import Answer, Feedback, judge, judge_number


def _singular(M: Tensor) -> Tensor:
    return torch.linalg.svdvals(M)


def _rate(A: Tensor, W_U: Tensor, mu: float) -> Tensor:
    return 1 - mu * (_singular(A)[-1] * _singular(W_U)[-1]) ** 2


#: What people answer instead, by the hint they get.
RATE_MISTAKES = {
    "that is the paper's α, with both singular values halved: at one point nothing has to be halved.": lambda A, W_U, mu: (
        1 - mu * (_singular(A)[-1] * _singular(W_U)[-1]) ** 2 / 16
    ),
    "the squared gradient is at least 2s²Φ, but the descent lemma keeps only half of μ times it.": lambda A, W_U, mu: (
        1 - 2 * mu * (_singular(A)[-1] * _singular(W_U)[-1]) ** 2
    ),
    "the singular values enter squared: ‖∇Φ‖² ≥ 2σ²_min(A)σ²_min(W_U)Φ.": lambda A, W_U, mu: (
        1 - mu * _singular(A)[-1] * _singular(W_U)[-1]
    ),
    "the smallest singular values count: the targets may lie in the slowest direction.": lambda A, W_U, mu: (
        1 - mu * (_singular(A)[0] * _singular(W_U)[0]) ** 2
    ),
    "that is how much the loss falls; the factor is 1 minus it.": lambda A, W_U, mu: (
        mu * (_singular(A)[-1] * _singular(W_U)[-1]) ** 2
    ),
    "the errors pass through W_U as well: ∇_{W_2}Φ = AᵀE W_Uᵀ.": lambda A, W_U, mu: (
        1 - mu * _singular(A)[-1] ** 2
    ),
    "that is the factor of the error e; Φ = ½e² has its square.": lambda A, W_U, mu: (
        (1 - mu * (_singular(A)[-1] * _singular(W_U)[-1]) ** 2) ** 0.5
    ),
}


def check_rate(
    rate: Callable[[Float[Tensor, "n d_1"], Float[Tensor, "d K"], float], Float[Tensor, ""] | float],
) -> Feedback:
    """Exercise *The constant of the readout*: what one step multiplies Φ by at most.

    Args:
        rate: hidden layer [PN, d_1], unembedding [d, K], step → a number.
    """
    source = Generator().manual_seed(0)
    draw = lambda *shape: torch.randn(*shape, generator=source, dtype=torch.float64)
    cases = [
        (f"PN, d_1, d, K = {n}, {d_1}, {d}, {K}", (draw(n, d_1), draw(d, K), 0.02))
        for n, d_1, d, K in ((2, 5, 3, 1), (6, 40, 6, 2), (1, 1, 1, 1))
    ]
    return judge("ex-convergence-constant", rate, _rate, cases, RATE_MISTAKES)


#: What people answer instead, by the hint they get.
SHARE_MISTAKES = {
    "that halves the singular value; maximise x(1 − x) for x = (1 − δ)², not for 1 − δ": 0.5,
    "that is 1 − δ: how much of s_0 is kept": 0.7071068,
    "the error is admitted by the area δ − ½δ², not by δ alone": 1 / 3,
    "at δ = 1 the error is largest and nothing is guaranteed": 1.0,
    "at δ = 0 the rate is best and no error is admitted": 0.0,
}


def check_share(delta: Answer) -> Feedback:
    """Exercise *How much to lose*: the δ with the largest product of admitted error and guaranteed rate."""
    return judge_number(
        "ex-convergence-share",
        delta,
        1 - 0.5**0.5,
        SHARE_MISTAKES,
        "write both factors by x = (1 − δ)²",
        "x = ½: half of the largest error for half of the best rate",
        tolerance=2e-3,
    )


#: What people answer instead, by the hint they get.
FROZEN_MISTAKES = {
    "that is what M_2 gains alone: s_0 belongs to the Jacobian of the four blocks as well, and falls a little": 2.2589,
    "that is what s_0 loses alone: M_2 loses the rows and columns of W_Q and W_K as well": 0.96468,
    "that is the factor of the error: the loss is half its square": 1.4762,
    "turn it round: frozen over all": 0.45889,
}


def check_frozen(factor: Answer) -> Feedback:
    """Exercise *Freeze attention*: the admitted loss of Theorem E without W_Q and W_K, over that with them."""
    return judge_number(
        "ex-convergence-frozen",
        factor,
        2.1792,
        FROZEN_MISTAKES,
        "e is (δ − ½δ²)s_0²/M_2 with r M_2(r) = δ s_0; take s_0 and M_2 of the four blocks, and square",
        "attention owns a third of M_2 and hardly any of s_0",
        tolerance=5e-3,
        near=1e-3,
    )

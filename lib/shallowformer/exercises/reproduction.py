"""Exercises of the chapter *Reproduction notes*."""

from collections.abc import Callable

import torch
from torch import Generator, Tensor

from shallowformer.exercises.feedback import Feedback, judge, judge_number


def _logits(X: Tensor, W: Tensor) -> Tensor:
    return torch.einsum("nta,hab,nb->nht", X, W, X[:, -1])


#: What people answer instead, by the hint they get; arguments are tokens [n T d] and matrices [H d d].
LOGITS_MISTAKES = {
    "W carries one letter twice: that takes its diagonal.": lambda X, W: torch.einsum("nta,haa,na->nht", X, W, X[:, -1]),
    "that is ⟨X_t, Wᵀ q⟩; the query belongs to the columns of W.": lambda X, W: torch.einsum("nta,hba,nb->nht", X, W, X[:, -1]),
    "the query is the last token, X[:, -1].": lambda X, W: torch.einsum("nta,hab,nb->nht", X, W, X[:, 0]),
    "the axes are inputs, heads, tokens, in this order.": lambda X, W: torch.einsum("nta,hab,nb->nth", X, W, X[:, -1]),
}  # fmt: skip


def check_logits(logits: Callable[[Tensor, Tensor], Tensor]) -> Feedback:
    """Exercise *Index letters*: all logits ⟨X_t, W_h X_T⟩ at once.

    Args:
        logits: tokens [n T d], matrices [H d d] → [n H T].

    Returns:
        The feedback.
    """
    generator = Generator().manual_seed(0)
    draw = lambda *shape: torch.randn(shape, generator=generator, dtype=torch.float64)
    cases = [
        (f"{n} inputs of {T} tokens in dimension {d}, {H} heads", (draw(n, T, d), draw(H, d, d)))
        for n, T, d, H in ((1, 2, 2, 1), (3, 4, 2, 5), (2, 5, 3, 4))
    ]
    return judge("ex-reproduction-logits", logits, _logits, cases, LOGITS_MISTAKES)


def _pair_variance(cosine: float, d: int) -> float:
    return (1 + 2 * cosine**2) / (d + 2)


#: What people answer instead, by the hint they get; arguments are the cosine between x and q, and d.
PAIR_VARIANCE_MISTAKES = {
    "that holds for independent x and q only; here their angle is fixed.": lambda cosine, d: 1 / d,
    "that is the case x = q, a cosine of 1.": lambda cosine, d: 3 / (d + 2),
    "at a cosine of 1 the mean must be 3/(d + 2): look at Σ E[q_a⁴] again.": lambda cosine, d: (1 - cosine**2) / (d + 2) + cosine**2 / d,
    "the two parts mix with cos² and 1 − cos², not with cos and 1 − cos.": lambda cosine, d: (1 + 2 * abs(cosine)) / (d + 2),
}  # fmt: skip


def check_pair_variance(pair_variance: Callable[[float, int], float]) -> Feedback:
    """Exercise *At a given angle*: the mean of Σ x_a² q_a² over all pairs of unit vectors with a given cosine.

    Args:
        pair_variance: cosine in [−1, 1], d ≥ 2 → a number.

    Returns:
        The feedback.
    """
    cases = [(f"cosine {c}, d = {d}", (c, d)) for c, d in ((1.0, 8), (0.0, 8), (-0.5, 3), (0.3, 2))]
    return judge("ex-reproduction-angle", pair_variance, _pair_variance, cases, PAIR_VARIANCE_MISTAKES)


def check_teacher(heads: int) -> Feedback:
    """Exercise *How large a teacher?*: heads so that its own noise adds at most 1 % to the RMS error at m = 512.

    Args:
        heads: the reader's answer.

    Returns:
        The feedback.
    """
    name = "ex-reproduction-teacher"

    def verdict(heads: float) -> Feedback:
        if 12737 <= heads <= 12800:
            return Feedback(name, "passed", "√(1 + 256/12737) = 1.01")
        if 12700 <= heads < 12737:
            return Feedback(name, "wrong", "nearly: round up")
        if 25_400 <= heads <= 25_600:
            return Feedback(name, "wrong", "m heads of a symmetric initialisation hold m/2 independent ones")
        if 2_000_000 <= heads <= 6_000_000:
            return Feedback(name, "wrong", "independent errors add in squares, not in size")
        return Feedback(name, "wrong", "the two errors are independent: compare the variances 2V/m and V/m̃")

    return judge_number(name, heads, verdict)

"""Exercises of the chapter *The gradients*."""

import functools
from collections.abc import Callable

import torch
from torch import Generator, Tensor

from shallowformer import data, softmax
from shallowformer.exercises.feedback import Answer, Feedback, judge, judge_number
from shallowformer.exercises.heads import Matrix, Tokens, Vector, at_start, head


def _cases(seed: int) -> list[tuple[str, tuple]]:
    generator = Generator().manual_seed(seed)

    def case(T: int, d: int) -> tuple:
        draw = lambda *shape: torch.randn(*shape, generator=generator, dtype=torch.float64)
        X = data.sphere(1, T, d, generator)[0]
        return X, 0.8 * data.sphere(1, 1, d, generator)[0, 0], draw(d), draw(d, d)

    return [(f"T = {T}, d = {d}", case(T, d)) for T, d in ((2, 2), (5, 3), (16, 8), (1, 4))]


def _weight_feature(X: Tensor, q: Tensor, U: Tensor, W: Tensor) -> Tensor:
    one = head(X, q, U, W)
    return one.slope * torch.outer(one.MU, q)


#: What people answer instead, by the hint they get.
WEIGHT_FEATURE_MISTAKES = {
    "the outer product is the wrong way round: W multiplies q from the left, so q belongs on the right.": lambda X, q, U, W: _weight_feature(X, q, U, W).T,
    "σ′ at ⟨U, a⟩ is missing.": lambda X, q, U, W: torch.outer(head(X, q, U, W).MU, q),
    "the mean must be subtracted: M is a covariance, not a second moment.": lambda X, q, U, W: head(X, q, U, W).slope * torch.outer((head(X, q, U, W).alpha * (X @ U)) @ X, q),
    "the weights do not stand still when W moves: differentiate the softmax as well.": lambda X, q, U, W: head(X, q, U, W).slope * torch.outer(head(X, q, U, W).alpha @ X, q),
}  # fmt: skip


def check_weight_feature(weight_feature: Callable[[Tokens, Vector, Vector, Matrix], Matrix]) -> Feedback:
    """Exercise *The attention feature*: φ_w = σ′(⟨U, a⟩) (MU) qᵀ of one head with σ = tanh, without autograd.

    Args:
        weight_feature: X, q, U, W → φ_w.
    """
    return judge("ex-gradient-feature", weight_feature, _weight_feature, _cases(0), WEIGHT_FEATURE_MISTAKES)


def _query_gradient(X: Tensor, q: Tensor, U: Tensor, W: Tensor) -> Tensor:
    one = head(X, q, U, W)
    return one.slope * W.T @ one.MU


#: What people answer instead, by the hint they get.
QUERY_GRADIENT_MISTAKES = {
    "W has to be transposed: ⟨X_t, Wq⟩ = ⟨WᵀX_t, q⟩.": lambda X, q, U, W: head(X, q, U, W).slope * W @ head(X, q, U, W).MU,
    "σ′ at ⟨U, a⟩ is missing.": lambda X, q, U, W: W.T @ head(X, q, U, W).MU,
    "this is the gradient in λ = Wq; one more step of the chain rule leads to q.": lambda X, q, U, W: head(X, q, U, W).slope * head(X, q, U, W).MU,
}  # fmt: skip


def check_query_gradient(query_gradient: Callable[[Tokens, Vector, Vector, Matrix], Vector]) -> Feedback:
    """Exercise *Train the query*: ∇_q σ(⟨U, a⟩) of one head with σ = tanh, without autograd.

    Args:
        query_gradient: X, q, U, W → the gradient.
    """
    return judge("ex-gradient-query", query_gradient, _query_gradient, _cases(1), QUERY_GRADIENT_MISTAKES)


@functools.cache
def mean_square(T: int, d: int = 8, draws: int = 500, seed: int = 0) -> float:
    """Mean of ‖MU‖² at initialisation: tokens uniform on the sphere, q = X_T, entries of U and W standard Gaussian.

    Args:
        T: tokens.
        d: dimension of a token.
        draws: how many inputs, each with a head of its own.
        seed: of the draws.
    """
    X, alpha, U = at_start(draws, T, d, seed)
    return float((softmax.covariance_product(X, alpha, U) ** 2).sum(-1).mean())


#: What people answer instead, by the hint they get.
LONG_SEQUENCE_LIMIT_MISTAKES = {
    "1/d is the answer for uniform attention; softmax tilts the tokens towards Wq, which narrows their covariance": 1
    / 8
}


def check_long_sequence_limit(limit: Answer) -> Feedback:
    """Exercise *The typical gradient*: the value that E‖MU‖² approaches for long sequences, d = 8."""
    right = mean_square(T=1024, draws=1000, seed=1)

    def otherwise(number: float) -> str:
        if number > right:
            return f"{number:.3f} is too large: is T long enough? The mean still falls beyond T = 64"
        return f"{number:.3f} is too small: the limit is not 0; average over more inputs"

    return judge_number(
        "ex-gradient-typical",
        limit,
        right,
        LONG_SEQUENCE_LIMIT_MISTAKES,
        otherwise,
        f"{right:.3f} at T = 1024, over inputs of our own",
        tolerance=0.01,
        near=0.04,
    )

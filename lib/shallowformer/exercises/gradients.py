"""Exercises of the chapter *The gradients*."""

from collections.abc import Callable

import torch
from torch import Generator, Tensor

from shallowformer import softmax
from shallowformer.exercises.feedback import Feedback, judge, judge_number
from shallowformer.kernel_regime import data


def _head(X: Tensor, q: Tensor, U: Tensor, W: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Weights, slope σ′(⟨U, a⟩) for tanh, and MU of one head on one sample."""
    alpha = torch.softmax(X @ W @ q, 0)
    z = U @ (alpha @ X)
    return alpha, 1 - torch.tanh(z) ** 2, softmax.covariance_product(X, alpha, U)


def _cases(seed: int) -> list[tuple[str, tuple]]:
    generator = Generator().manual_seed(seed)

    def case(T: int, d: int) -> tuple:
        draw = lambda *shape: torch.randn(*shape, generator=generator, dtype=torch.float64)
        X = data.sphere(1, T, d, generator)[0]
        return X, 0.8 * data.sphere(1, 1, d, generator)[0, 0], draw(d), draw(d, d)

    return [(f"T = {T}, d = {d}", case(T, d)) for T, d in ((2, 2), (5, 3), (16, 8), (1, 4))]


def _weight_feature(X: Tensor, q: Tensor, U: Tensor, W: Tensor) -> Tensor:
    _, slope, MU = _head(X, q, U, W)
    return slope * torch.outer(MU, q)


#: What people answer instead, by the hint they get.
WEIGHT_FEATURE_MISTAKES = {
    "the outer product is the wrong way round: W multiplies q from the left, so q belongs on the right.": lambda X, q, U, W: _weight_feature(X, q, U, W).T,
    "σ′ at ⟨U, a⟩ is missing.": lambda X, q, U, W: torch.outer(_head(X, q, U, W)[2], q),
    "the mean must be subtracted: M is a covariance, not a second moment.": lambda X, q, U, W: _head(X, q, U, W)[1] * torch.outer((_head(X, q, U, W)[0] * (X @ U)) @ X, q),
    "the weights do not stand still when W moves: differentiate the softmax as well.": lambda X, q, U, W: _head(X, q, U, W)[1] * torch.outer(_head(X, q, U, W)[0] @ X, q),
}  # fmt: skip


def check_weight_feature(weight_feature: Callable[..., Tensor]) -> Feedback:
    """Exercise *The attention feature*: φ_w = σ′(⟨U, a⟩) (MU) qᵀ of one head with σ = tanh, without autograd.

    Args:
        weight_feature: X, Float64[Tensor, "T d"]; q and U, Float64[Tensor, "d"]; W, Float64[Tensor, "d d"] →
            Float64[Tensor, "d d"].

    Returns:
        The feedback.
    """
    return judge("ex-gradient-feature", weight_feature, _weight_feature, _cases(0), WEIGHT_FEATURE_MISTAKES)


def _query_gradient(X: Tensor, q: Tensor, U: Tensor, W: Tensor) -> Tensor:
    _, slope, MU = _head(X, q, U, W)
    return slope * W.T @ MU


#: What people answer instead, by the hint they get.
QUERY_GRADIENT_MISTAKES = {
    "W has to be transposed: ⟨X_t, Wq⟩ = ⟨WᵀX_t, q⟩.": lambda X, q, U, W: _head(X, q, U, W)[1] * W @ _head(X, q, U, W)[2],
    "σ′ at ⟨U, a⟩ is missing.": lambda X, q, U, W: W.T @ _head(X, q, U, W)[2],
    "this is the gradient in λ = Wq; one more step of the chain rule leads to q.": lambda X, q, U, W: _head(X, q, U, W)[1] * _head(X, q, U, W)[2],
}  # fmt: skip


def check_query_gradient(query_gradient: Callable[..., Tensor]) -> Feedback:
    """Exercise *Train the query*: ∇_q σ(⟨U, a⟩) of one head with σ = tanh, without autograd.

    Args:
        query_gradient: X, Float64[Tensor, "T d"]; q and U, Float64[Tensor, "d"]; W, Float64[Tensor, "d d"] →
            Float64[Tensor, "d"].

    Returns:
        The feedback.
    """
    return judge("ex-gradient-query", query_gradient, _query_gradient, _cases(1), QUERY_GRADIENT_MISTAKES)


def mean_square(T: int, d: int = 8, draws: int = 500, seed: int = 0) -> float:
    """Mean of ‖MU‖² at initialisation: tokens uniform on the sphere, q = X_T, entries of U and W standard Gaussian.

    Args:
        T: tokens.
        d: dimension of a token.
        draws: how many inputs, each with a head of its own.
        seed: of the draws.

    Returns:
        The mean.
    """
    generator = Generator().manual_seed(seed)
    X = data.sphere(draws, T, d, generator)
    W = torch.randn(draws, d, d, generator=generator, dtype=torch.float64)
    U = torch.randn(draws, d, generator=generator, dtype=torch.float64)
    alpha = torch.softmax((X @ (W @ X[:, -1, :, None]))[..., 0], -1)
    return float((softmax.covariance_product(X, alpha, U) ** 2).sum(-1).mean())


def check_long_sequence_limit(limit: float) -> Feedback:
    """Exercise *The typical gradient*: the value that E‖MU‖² approaches for long sequences, d = 8.

    Args:
        limit: the reader's answer.

    Returns:
        The feedback.
    """

    def verdict(limit: float) -> Feedback:
        right = mean_square(T=1024, draws=1000, seed=1)
        if abs(limit - right) <= 0.01:
            return Feedback(
                "ex-gradient-typical", "passed", f"{right:.3f} at T = 1024, over inputs of our own"
            )
        if abs(limit - 0.125) <= 0.005:
            return Feedback(
                "ex-gradient-typical",
                "wrong",
                "1/d is the answer for uniform attention; softmax tilts the tokens towards Wq, which narrows their covariance",
            )
        if limit > right + 0.01:
            return Feedback(
                "ex-gradient-typical",
                "wrong",
                f"{limit:.3f} is too large: is T long enough? The mean still falls beyond T = 64",
            )
        return Feedback(
            "ex-gradient-typical",
            "wrong",
            f"{limit:.3f} is too small: the limit is not 0; average over more inputs",
        )

    return judge_number("ex-gradient-typical", limit, verdict)

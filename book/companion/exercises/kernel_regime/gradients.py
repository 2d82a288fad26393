"""Exercises of the chapter *The gradients*."""

import functools
from collections.abc import Callable

import torch
from jaxtyping import Float64
from torch import Generator, Tensor

from shallowformer import data, softmax
from shallowformer.exercises.feedback import Answer, Feedback, judge, judge_number
from shallowformer.exercises.heads import Matrix, Tokens, Vector, at_start, head
from shallowformer.exercises.unaided import without_autograd


def _cases(seed: int) -> list[tuple[str, tuple]]:
    generator = Generator().manual_seed(seed)

    def case(T: int, d: int) -> tuple:
        draw = lambda *shape: torch.randn(*shape, generator=generator, dtype=torch.float64)
        X = data.sphere(1, T, d, generator)[0]
        return X, 0.8 * data.sphere(1, 1, d, generator)[0, 0], draw(d), draw(d, d)

    return [(f"T = {T}, d = {d}", case(T, d)) for T, d in ((2, 2), (5, 3), (16, 8), (1, 4))]


def _token_gradient(X: Tensor, q: Tensor, U: Tensor, W: Tensor) -> Tensor:
    one = head(X, q, U, W)
    return one.slope * one.alpha[:, None] * (U + torch.outer(X @ U - one.a @ U, W @ q))


def _itself(X: Tensor, q: Tensor, U: Tensor, W: Tensor) -> Tensor:
    """What comes from the tokens in the mean."""
    one = head(X, q, U, W)
    return one.slope * torch.outer(one.alpha, U)


#: What people answer instead, by the hint they get.
TOKEN_GRADIENT_MISTAKES = {
    "a token that moves also changes its logit, and with it all the weights.": _itself,
    "weights move, but so does the token that they weigh: z = Σ α_t⟨U, X_t⟩ has X_t twice.": lambda X, q, U, W: _token_gradient(X, q, U, W) - _itself(X, q, U, W),
    "the derivative of a softmax is centred: a weight that grows takes from the others.": lambda X, q, U, W: head(X, q, U, W).slope * head(X, q, U, W).alpha[:, None] * (U + torch.outer(X @ U, W @ q)),
    "σ′ at ⟨U, a⟩ is missing.": lambda X, q, U, W: _token_gradient(X, q, U, W) / head(X, q, U, W).slope,
    "the logit is ⟨X_t, Wq⟩: its gradient in X_t is Wq, and not Wᵀq.": lambda X, q, U, W: head(X, q, U, W).slope * head(X, q, U, W).alpha[:, None] * (U + torch.outer(X @ U - head(X, q, U, W).a @ U, W.T @ q)),
    "each token counts with its weight α_t.": lambda X, q, U, W: _token_gradient(X, q, U, W) / head(X, q, U, W).alpha[:, None],
    "tokens are rows: the gradient in X_t belongs into row t.": lambda X, q, U, W: _token_gradient(X, q, U, W).T,
}  # fmt: skip


def check_token_gradient(
    token_gradient: Callable[[Tokens, Vector, Vector, Matrix], Float64[Tensor, "T d"]],
) -> Feedback:
    """Exercise *Move a token*: the gradients of one head with σ = tanh in its tokens, q fixed, without autograd.

    Args:
        token_gradient: X, q, U, W → σ′(z)α_t(U + (⟨U, X_t⟩ − z) Wq) in row t.
    """
    cases = _cases(0)
    feedback = judge("ex-gradient-token", token_gradient, _token_gradient, cases, TOKEN_GRADIENT_MISTAKES)
    return without_autograd(feedback, token_gradient, cases[0][1])


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
    """Exercise *Train the query*: ∇_q σ(⟨U, a⟩) of one head with σ = tanh, without autograd; X, q, U, W → the gradient."""
    cases = _cases(1)
    feedback = judge("ex-gradient-query", query_gradient, _query_gradient, cases, QUERY_GRADIENT_MISTAKES)
    return without_autograd(feedback, query_gradient, cases[0][1])


@functools.cache
def mean_square(T: int, d: int = 8, draws: int = 500, seed: int = 0) -> float:
    """Mean of ‖MU‖² at initialisation: tokens uniform on the sphere, q = X_T, U and W standard Gaussian, drawn anew for every input."""
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
        begin="print exercises.mean_square(T) for T = 64, 256, 1024: it settles slowly, and below 1/d.",
    )

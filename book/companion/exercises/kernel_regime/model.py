"""Exercises of the chapter *The model*."""

import functools
from collections.abc import Callable

import torch
from jaxtyping import Float64
from torch import Generator, Tensor

from shallowformer import data
from shallowformer.exercises.feedback import Answer, Feedback, judge, judge_number
from shallowformer.exercises.heads import Matrix, Tokens, Vector
from shallowformer.kernel_regime.model import parameters, transformer

#: What people answer instead, by the hint they get.
MERGE_MISTAKES = {
    "which of the two multiplies the token, and which the query? Write the logit as X_tᵀ (…) q.": lambda Q, K, V, u, beta: (V.T @ u, beta * Q.T @ K),
    "the softmax scaling β belongs into W.": lambda Q, K, V, u, beta: (V.T @ u, K.T @ Q),
    "the value matrix acts on the token before U does: ⟨u, W_V a⟩ = ⟨…, a⟩. U needs no β.": lambda Q, K, V, u, beta: (beta * V.T @ u, beta * K.T @ Q),
}  # fmt: skip


def check_merge(
    merge: Callable[
        [
            Float64[Tensor, "k d"],
            Float64[Tensor, "k d"],
            Float64[Tensor, "k d"],
            Float64[Tensor, " k"],
            float,
        ],
        tuple[Vector, Matrix],
    ],
) -> Feedback:
    """Exercise *Merge a head*: (U, W) of one head from its query, key and value matrices; W_Q, W_K, W_V, u, β → (U, W)."""
    generator = Generator().manual_seed(0)

    def case(k: int, d: int) -> tuple:
        draw = lambda *shape: torch.randn(*shape, generator=generator, dtype=torch.float64)
        return draw(k, d), draw(k, d), draw(k, d), draw(k), k**-0.5

    def flat(pair: object, Q: Tensor, *_: object) -> Tensor:
        if not (isinstance(pair, (tuple, list)) and len(pair) == 2):
            raise TypeError("the function must return the pair (U, W)")
        (U, W), d = pair, Q.shape[1]
        if U.shape != (d,) or W.shape != (d, d):
            raise TypeError(
                f"U must have shape {(d,)} and W {(d, d)}, got {tuple(U.shape)} and {tuple(W.shape)}"
            )
        return torch.cat([W.flatten(), U])

    def reference(Q: Tensor, K: Tensor, V: Tensor, u: Tensor, beta: float) -> Tensor:
        return torch.cat([(beta * K.T @ Q).flatten(), V.T @ u])

    cases = [(f"key dimension {k}, d = {d}", case(k, d)) for k, d in ((3, 3), (2, 5), (6, 4))]
    return judge("ex-model-merge", merge, reference, cases, MERGE_MISTAKES, seen=flat)


def _output(X: Tensor, phi: parameters.Parameters) -> Tensor:
    return transformer.f(X[None], phi)[0]


#: What people answer instead, by the hint they get; each returns a padded sequence.
PAD_MISTAKES = {
    "zero tokens still take attention mass, and here they take the query's place too: q is the last token.": lambda X, k: torch.cat([X, torch.zeros((k - 1) * len(X), X.shape[1], dtype=X.dtype)]),
    "zero tokens still take attention mass: e⁰ = 1 in the softmax.": lambda X, k: torch.cat([torch.zeros((k - 1) * len(X), X.shape[1], dtype=X.dtype), X]),
    "the last token must stay the last one: it is the query.": lambda X, k: X.flip(0).repeat(k, 1),
    "every token must be repeated equally often, or the repeated ones gain attention.": lambda X, k: torch.cat([X, X[-1:].expand((k - 1) * len(X), -1)]),
}  # fmt: skip


def check_pad(pad: Callable[[Tokens, int], Float64[Tensor, "r*T d"]]) -> Feedback:
    """Exercise *A longer sequence that is the same*: T tokens made into rT without changing f.

    Args:
        pad: X, r → the longer sequence, for which f with last-token query is the same.
    """
    generator = Generator().manual_seed(0)
    phi = parameters.random(6, 3, generator)

    def output(longer: Tensor, X: Tensor, r: int) -> Tensor:
        if longer.shape != (r * X.shape[0], X.shape[1]):
            raise ValueError(f"expected shape {(r * X.shape[0], X.shape[1])}, got {tuple(longer.shape)}")
        return _output(longer, phi)

    cases = [
        (f"T = {T}, r = {r}", (data.sphere(1, T, 3, generator)[0], r)) for T, r in ((3, 2), (5, 4), (1, 3))
    ]
    return judge(
        "ex-model-pad", pad, lambda X, r: _output(X, phi), cases, PAD_MISTAKES, seen=output, slips=False
    )


@functools.cache
def _kept_fraction(power: int = 2) -> float:
    W = torch.randn(2000, 8, 8, generator=Generator().manual_seed(0), dtype=torch.float64)
    energy = torch.linalg.svdvals(W) ** power
    return float((energy[:, :4].sum(-1) / energy.sum(-1)).mean())


def check_kept_fraction(fraction: Answer) -> Feedback:
    """Exercise *A narrow key*: the mean fraction in (0, 1) of ‖W‖²_F that the best rank-4 matrix keeps, for Gaussian 8×8 W."""
    right = _kept_fraction()
    mistakes = {
        "half of the rank keeps more than half of the energy: singular values are not equal": 0.5,
        "square the singular values: ‖W‖²_F is the sum of their squares": _kept_fraction(power=1),
        "that is the root: ‖W‖²_F is the sum of the squares of the singular values": right**0.5,
        "that is the fraction that is lost": 1 - right,
    }

    def otherwise(number: float) -> str:
        if not 0 < number < 1:
            return f"expected a number between 0 and 1, got {number!r}"
        if abs(number - right) < 0.05:
            return f"{number:.3f} is near, but off by more than 0.01; average over at least 500 matrices"
        return f"{number:.3f} is off by more than 0.01, and not for want of matrices"

    praise = f"{right:.3f} over 2000 matrices of our own"
    return judge_number(
        "ex-model-rank",
        fraction,
        right,
        mistakes,
        otherwise,
        praise,
        tolerance=0.01,
        near=0.02,
        begin="the best rank-4 matrix keeps the four largest singular values: `torch.linalg.svdvals` of a batch of matrices, squared, first four over all.",
    )


def check_told_apart(classes: Answer) -> Feedback:
    """Exercise *What all heads together see*: classes of inputs of six tokens from three, with the last-token query."""
    mistakes = {
        "that is for a fixed query; here the last token asks, and who asks is seen": 28,
        "that counts all orders: the five tokens before the last may be permuted": 729,
        "of the five tokens before the last only the counts are seen, not their order; and three tokens can be the last": 21,
        "which tokens occur is not all: how often counts as well": 7,
        "the last token is one of the six: five are left, not six": 84,
    }
    return judge_number(
        "ex-model-classes",
        classes,
        63,
        mistakes,
        "a class is a last token and how often each of the three stands among the five before",
        "3 last tokens, times C(7, 2) = 21 ways to fill five places",
        tolerance=0.0,
        near=0.0,
    )

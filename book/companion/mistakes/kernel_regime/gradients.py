"""Mistakes planted in the chapter *The gradients*: what its checks must notice."""

from dataclasses import replace

import torch

from shallowformer import softmax
from shallowformer.kernel_regime.model import gradients
from shallowformer.verify.mistakes import Mistake, formula, package


def _second_moment(X, alpha):
    return torch.einsum("...t,...ti,...tj->...ij", alpha, X, X)


def _uncentred_product(X, alpha, U):
    return torch.einsum("...t,...td->...d", alpha * torch.einsum("...td,...d->...t", X, U), X)


_right_loss = gradients.loss_and_gradient


def _loss_without_two(*args, **options):
    loss, gradient = _right_loss(*args, **options)
    return loss, gradient.map(lambda block: block / 2)


def _uncentred_lemma(value, case):
    """Lemma 1 with the second moment for M."""
    X, q, c, U, W = (case[name] for name in ("X", "q", "c", "U", "W"))
    alpha = softmax.weights(X, W, q)
    z = ((alpha @ X) * U).sum(-1)
    product = _uncentred_product(X[:, None], alpha, U)
    slope = (len(c) ** -0.5 * c * (1 - torch.tanh(z) ** 2))[..., None, None]
    return value[0], value[1], slope * product[..., None] * q[:, None, None, :]


_right_mean = softmax.mean


def _sum_of_tokens(X, alpha):
    return X.sum(-2)


#: Check → mistakes that must turn it red.
MISTAKES: dict[str, list[Mistake]] = {
    "kr-corollary-a": [package("second moment for covariance", softmax, "covariance", _second_moment)],
    "kr-remark-5": [package("tokens added up, not averaged", softmax, "mean", _sum_of_tokens)],
    "kr-lemma-1": [
        formula("M without its mean", _uncentred_lemma),
        formula("m^{−1/2} lost in one block", lambda value, case: (value[0], value[1] * len(case["c"]) ** 0.5, value[2])),
        formula("q and MU exchanged", lambda value, case: (value[0], value[1], value[2].mT)),
    ],
    "kr-lemma-1/loss": [package("the 2 of the square lost", gradients, "loss_and_gradient", _loss_without_two)],
    "kr-remark-4/covariance": [package("M without its mean", softmax, "covariance", _second_moment)],
    "kr-remark-4-attained/point": [formula("σ₁ lost", lambda value, case: (value[0] / case["sigma"].bounds[1] * 1.001, value[1]))],
    "kr-remark-4-streaming": [
        formula("MU without its mean", lambda value, case: (value[0], value[1] + (case["U"] @ value[0]) * value[0])),
        package("a zero token joins", softmax, "mean", lambda X, alpha: _right_mean(X, alpha) * X.shape[-2] / (X.shape[-2] + 1)),
    ],
    "kr-remark-4-streaming/memory": [formula("one token forgotten", lambda value, case: value - case["X"].shape[1])],
    "kr-proposition-c/recursion": [formula("h_{t−1} lost", lambda value, case: value - case["states"][-2] * (1 - case["states"][-1] ** 2))],
    "kr-proposition-c/growth": [formula("√T for √(T/2)", lambda value, case: value / 2**0.5)],
    "kr-proposition-c/explosion": [
        Mistake("K from C_t ≥ 1 alone", lambda check: replace(check, rhs=lambda w: 1 + 1 / w)),
    ],
    "kr-proposition-c/explosion-below": [Mistake("|w|^T for |w|^{T−1}", lambda check: replace(check, lhs=lambda w: check.lhs(w) * w))],
    "kr-proposition-c/limit": [formula("1/(1 − w)", lambda value, case: torch.tensor(1 / (1 - case["w"]), dtype=torch.float64))],
}  # fmt: skip

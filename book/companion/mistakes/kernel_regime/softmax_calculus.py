"""Mistakes planted in the chapter *Softmax calculus*: what its checks must notice."""

from dataclasses import replace

import torch

from shallowformer import softmax
from shallowformer.verify.mistakes import Mistake, formula, package


def _second_moment(X, alpha):
    return torch.einsum("...t,...ti,...tj->...ij", alpha, X, X)


def _uncentred_product(X, alpha, U):
    return softmax._average(alpha * softmax._scores(X, U), X)


_right_cumulant = softmax.third_cumulant


def _sum_of_tokens(X, alpha):
    return X.sum(-2)


#: Check → mistakes that must turn it red.
MISTAKES: dict[str, list[Mistake]] = {
    "kr-fact-2": [package("tokens added up, not averaged", softmax, "mean", _sum_of_tokens)],
    "kr-proposition-b": [
        package("M without its mean", softmax, "covariance", _second_moment),
        package("K_U with the wrong sign", softmax, "third_cumulant", lambda X, alpha, U: -_right_cumulant(X, alpha, U)),
        package("K_U of uncentred tokens", softmax, "third_cumulant",
                lambda X, alpha, U: torch.einsum("...t,...ti,...tj->...ij", alpha * torch.einsum("...td,...d->...t", X, U), X, X)),
    ],
    "kr-fact-1/jacobian": [package("J_s without ααᵀ", softmax, "jacobian", lambda z: torch.diag_embed(torch.softmax(z, -1)))],
    "kr-fact-1-sharp/formula": [formula("2p(1 − p)", lambda value, case: value / 2)],
    "kr-fact-3/forms": [
        package("M without its mean", softmax, "covariance", _second_moment),
        package("MU without its mean", softmax, "covariance_product", _uncentred_product),
    ],
    "kr-fact-3-sharp": [
        Mistake("‖a‖ for ‖a‖²", lambda check: replace(check, lhs=lambda X, z: check.lhs(X, z)
               - softmax.mean(X, torch.softmax(z, -1)).pow(2).sum(-1) + softmax.mean(X, torch.softmax(z, -1)).norm(dim=-1))),
    ],
    "kr-fact-3-sharp/camps": [package("M without its mean", softmax, "covariance", _second_moment)],
}  # fmt: skip

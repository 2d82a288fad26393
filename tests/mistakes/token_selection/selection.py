"""Mistakes planted in the chapter *Attention as token selection*: what its checks must notice."""

from dataclasses import replace

import torch

from shallowformer.token_selection import constants, datasets, gradients, svm
from shallowformer.token_selection.batches import Batch
from shallowformer.token_selection.instances import Instance
from shallowformer.verify.mistakes import Mistake, formula, measured, package

_right_shortest = svm.shortest
_right_example = datasets.example_1
_right_gaps = Batch.gaps


def _more(part):
    return Mistake(
        f"{part:.0%} more", lambda check: replace(check, lhs=lambda **p: (1 + part) * check.lhs(**p))
    )


def _all_active(A, which="A z ≥ 1"):
    """Every constraint met with equality, multipliers of any sign."""
    lam = torch.linalg.pinv(A @ A.T, rtol=1e-9, hermitian=True) @ torch.ones(len(A), dtype=A.dtype)
    return svm.Separator(A, A.T @ lam, lam)


def _one_active(A, which="A z ≥ 1"):
    """Only the constraint that is hardest by itself."""
    hardest = A.norm(dim=1).argmin()
    lam = torch.zeros(len(A), dtype=A.dtype)
    lam[hardest] = 1 / A[hardest].square().sum()
    return svm.Separator(A, A.T @ lam, lam)


def _decoder_of_norm(*sizes, **more):
    """The decoder is μ₊ − μ₋, not divided by U²."""
    data = _right_example(*sizes, **more)
    return Instance(data.X, data.y, data.u * data.X.norm(dim=-1).max() ** 2)


def _common_noise(*sizes, **more):
    """Noise tokens that share a tenth of their variance."""
    data = _right_example(*sizes, **more)
    X, noise = data.X.clone(), data.scores < 0.5
    X[noise] += X[noise][0] * 0.1
    return Instance(X, data.y, data.u)


#: Check → mistakes that must turn it red.
MISTAKES: dict[str, list[Mistake]] = {
    "ts-definition-1": [
        package("the loss at the mean score", gradients, "infimum", lambda data: torch.exp(-data.scores.mean(1)).mean()),
        formula("5 % more in one part", lambda value, case: (value[0], 1.05 * value[1], value[2])),
    ],
    "ts-definition-1-infimum": [_more(0.01)],
    "ts-definition-1-infimum/above": [_more(0.01)],
    "ts-definition-1-svm": [
        package("all constraints active", svm, "shortest", _all_active),
        package("one constraint active", svm, "shortest", _one_active),
    ],
    "ts-definition-1-svm/decoder": [package("one constraint active", svm, "shortest", _one_active)],
    "ts-definition-1-svm/average": [
        package("W transposed", Batch, "gaps", lambda self, W: _right_gaps(self, W.mT)),
        _more(0.01),
    ],
    "ts-definition-1-farkas": [
        package("gives up too early", svm, "SEPARABLE", 0.1),
        package("never gives up", svm, "SEPARABLE", -1.0),
    ],
    "ts-definition-1-feasible": [
        package("queries left out of the Gram matrix", Batch, "gram", property(lambda self: self.D.flatten(1, 2) @ self.D.flatten(1, 2).mT)),
        _more(0.01),
    ],
    "ts-definition-1-path": [
        package("W transposed", Batch, "gaps", lambda self, W: _right_gaps(self, W.mT)),
        _more(0.01),
    ],
    "ts-definition-1-path/along": [_more(0.01)],
    "ts-definition-1-path/minimisers": [measured("the angle's root for its square", lambda value: value**0.25)],
    "ts-definition-1-gradient": [
        package("scores not centred", gradients, "centred", lambda phi, gamma: phi * gamma),
        package("centred at the plain mean", gradients, "centred", lambda phi, gamma: phi * (gamma - gamma.mean(-1, keepdim=True))),
    ],
    "ts-definition-a2": [
        package("scores not centred", gradients, "centred", lambda phi, gamma: phi * gamma),
        formula("5 % more", lambda value, case: 1.05 * value),
    ],
    "ts-definition-a1": [
        package("all tokens as if not optimal", constants, "_optimal", lambda data: torch.zeros(data.n * data.T, dtype=torch.bool)),
        package("a smaller Υ", constants, "upsilon", lambda data: 1.0),
    ],
    "ts-definition-a1-sufficient": [
        package("optimal tokens taken for orthogonal", constants, "M_o", lambda data: 0.0),
        package("the longest query", constants, "s_1", lambda data: float(data.queries.square().sum(1).max())),
    ],
    "ts-definition-a1-sufficient/simple": [_more(0.01)],
    "ts-remark-e1": [package("u = μ₊ − μ₋", datasets, "example_1", _decoder_of_norm)],
    "ts-lemma-6": [package("noise with a common part", datasets, "example_1", _common_noise)],
    "ts-lemma-6/sufficient": [package("noise with a common part", datasets, "example_1", _common_noise)],
    "ts-definition-1-strict": [
        package("the smallest multiplier over all constraints", svm.Separator, "strict_complementarity",
                lambda self: float(self.multipliers.min() / self.multipliers.mean())),
        formula("5 % more", lambda value, case: 1.05 * value),
    ],
}  # fmt: skip

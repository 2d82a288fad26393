"""Mistakes planted in the chapter *The two headlines, tested*: what its checks must notice."""

import math
from dataclasses import replace

import torch

from shallowformer import data, softmax
from shallowformer.verify.mistakes import Mistake, package

_right_cumulant = softmax.third_cumulant


#: Check → mistakes that must turn it red.
MISTAKES: dict[str, list[Mistake]] = {
    "kr-lemma-5-sample-size/quotient": [
        Mistake("the maximum itself", lambda check: replace(check, measure=lambda n, seed: check.measure(n, seed) * math.sqrt(math.log(2 * n)))),
        Mistake("over log 2n", lambda check: replace(check, measure=lambda n, seed: check.measure(n, seed) / math.sqrt(math.log(2 * n)))),
    ],
    "kr-lemma-5-sample-size/mean": [
        Mistake("a mean square that grows like log n", lambda check: replace(check, measure=lambda n, seed: check.measure(n, seed) * math.log(n))),
    ],
    "kr-lemma-5-sample-size/filled": [
        Mistake("never filled", lambda check: replace(check, measure=lambda n, seed: check.measure(n, seed) * n**0.03)),
    ],
    "kr-theorem-b-sample-size": [
        Mistake("a mean over one sample too few", lambda check: replace(check, lhs=lambda **point: check.lhs(**point) * 4 / 3)),
    ],
    "kr-theorem-1-length": [
        package("zeros before the first token", data, "repeated", lambda X, k: torch.cat([0 * X.repeat(1, k - 1, 1), X], 1)),
        package("the last token again and again", data, "repeated", lambda X, k: torch.cat([X, X[:, -1:].repeat(1, k, 1)], 1)),
        package("another query", data, "repeated", lambda X, k: X.repeat(1, k, 1).flip(1)),
    ],
    "kr-remark-4-length": [
        package("not centred", softmax, "covariance_product", lambda X, alpha, U: torch.einsum("...t,...td->...d", alpha * torch.einsum("...td,...d->...t", X, U), 2 * X)),
    ],
    "kr-remark-4-length/curvature": [
        package("no third cumulant", softmax, "third_cumulant", lambda X, alpha, U: 0 * _right_cumulant(X, alpha, U)),
    ],
}  # fmt: skip

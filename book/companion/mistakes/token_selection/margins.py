"""Mistakes planted in the chapter *Which margin? The norm of a step*: what its checks must notice."""

from dataclasses import replace

import numpy as np
import torch

from companion.mistakes import larger
from companion.theory.token_selection import best_margins, norms, optimisers
from shallowformer.verify.mistakes import Mistake, formula, measured, package

_right_barrier = best_margins._by_barrier
_right_shrunk = optimisers._shrunk


def _early(instance, gap=1e-9):
    """The barrier's path, left where the gap is a thousandth."""
    return _right_barrier(instance, 1e-3)


def _columns(G):
    """Singular values of 1, by normalising columns."""
    size = np.sqrt((G * G).sum(-2, keepdims=True))
    return G / np.where(size > 0, size, 1.0)


def _hidden(check):
    """The bound without −2, and the gaps' speed 3 % lower than it is."""

    def more(name, seed):
        found = check.formula(name, seed)
        return found + torch.tensor([1.0, 0.0], dtype=torch.float64)

    return replace(check, formula=more)


def _forgetful(log_ratio):
    """Memory that is not rescaled as the gradient shrinks."""
    return 1.0


_steepest = replace(norms.NORMS["spectral"], steepest=_columns)
_five = formula("5 % more", lambda value, case: 1.05 * value)

#: Check → mistakes that must turn it red.
MISTAKES: dict[str, list[Mistake]] = {
    "ts-proposition-d-dual": [
        package("a barrier that stops early", best_margins, "_by_barrier", _early),
        formula("1 % more", lambda value, case: 1.01 * value),
    ],
    **{
        f"ts-lemma-d{part}": [larger(1.02)]
        for part in ("", "/euclidean", "/max", "/spectral", "/gradient", "/curvature")
    },
    **{
        f"{claim}{part}": [larger(1.02)]
        for claim in ("ts-theorem-d", "ts-theorem-d-momentum")
        for part in ("", "/max", "/spectral")
    },
    "ts-theorem-d/runs": [Mistake("one run more below the bound", _hidden)],
    "ts-proposition-d-pace": [
        package("memory that does not shrink", optimisers, "_shrunk", _forgetful),
        _five,
    ],
    "ts-proposition-d-pace/adam": [
        package("memory that does not shrink", optimisers, "_shrunk", _forgetful),
        _five,
    ],
    "ts-remark-d": [formula("the next norm", lambda value, case: (value + 1) % 3)],
    "ts-remark-d/again": [
        formula("1 % more", lambda value, case: 1.01 * value),
    ],
    **{
        f"ts-theorem-d/rate{part}": [measured("its square", lambda value: value**2)]
        for part in ("", "/sign", "/polar")
    },
}

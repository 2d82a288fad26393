"""Mistakes planted in the chapter *Why every step helps*: what its checks must notice."""

import dataclasses
import math
from dataclasses import replace

import torch

from companion.mistakes import larger
from companion.theory.token_selection import limits
from shallowformer.token_selection import bounds, gaps, rates, svm
from shallowformer.token_selection.batches import Batch
from shallowformer.verify.mistakes import Mistake, formula, package

_across = limits.across
_right_gaps = Batch.gaps
_right_pulls = Batch.pulls
_right_problem = gaps.problem


def _upside_down(self, h):
    """Weights as if the gaps had the other sign."""
    return _right_pulls(self, -h)


def _only_first(self, h):
    """The optimal weights without the other tokens' competition: one rival instead of all."""
    pulls = _right_pulls(self, h)
    return dataclasses.replace(pulls, log_best=torch.nn.functional.logsigmoid(h.amin(-1)))


def _forgets_scores(self, h):
    """Weights a_i all 1."""
    pulls = _right_pulls(self, h)
    return dataclasses.replace(pulls, log_a=0 * pulls.log_a)


def _overlap_of_others(instance, *rest, **more):
    """The simulator with E_1 and E_2 at a right angle."""
    found = _right_problem(instance, *rest, **more)
    R = found.R.copy()
    R[0] -= R[0] @ R[1] / (R[1] @ R[1]) * R[1]
    return dataclasses.replace(found, R=R)


def beyond(what, name, factor):
    """One variable beyond its limit: a weaker condition in the claim."""
    return Mistake(
        what,
        lambda check: replace(check, lhs=lambda **point: check.lhs(**(point | {name: factor * point[name]}))),
    )


_PLAIN_GRAM = property(lambda self: self.D.flatten(1, 2) @ self.D.flatten(1, 2).mT)

#: Check → mistakes that must turn it red.
MISTAKES: dict[str, list[Mistake]] = {
    "ts-proposition-e-only-limit": [
        larger(1.02),
        package("2n − 4 for 2n − 3", limits, "across", lambda gram, n: _across(gram, n) * (2 * n - 4) / (2 * n - 3)),
    ],
    "ts-lemma-2": [
        package("four times the start", bounds, "start_scale", lambda B: 2 * math.log(2) / B**2),
        package("gaps of the other sign, doubled", Batch, "gaps", lambda self, W: 2 * _right_gaps(self, W)),
    ],
    "ts-lemma-2/gaussian": [package("no union over pairs", bounds, "gaussian_start_scale", lambda B, n, T, delta: math.log(2) / 2 / B**2)],
    "ts-lemma-2-sharp": [
        package("doubled gaps", Batch, "gaps", lambda self, W: 2 * _right_gaps(self, W)),
        larger(1.01),
    ],
    "ts-lemma-4": [larger(1.01)],
    "ts-lemma-4/length": [
        package("queries left out of the Gram matrix", Batch, "gram", _PLAIN_GRAM),
        larger(1.01),
    ],
    "ts-lemma-4/weights": [
        package("weights without the scores", Batch, "pulls", _forgets_scores),
        package("one rival instead of all", Batch, "pulls", _only_first),
    ],
    "ts-lemma-4/angle": [
        package("‖W_mm‖ left out", bounds, "rho_star", lambda B, norm: 1.0),
        larger(1.01),
    ],
    "ts-lemma-5": [package("queries left out of the Gram matrix", Batch, "gram", _PLAIN_GRAM), larger(1.01)],
    "ts-lemma-7-sharp": [
        package("weights of the other sign", Batch, "pulls", _upside_down),
        larger(1.01),
    ],
    "ts-lemma-7-sharp/root": [
        package("without the e", rates, "best_Lambda_0", lambda K, upsilon, phi_min: math.log1p((K - 1) * upsilon / phi_min**2)),
    ],
    "ts-lemma-7": [package("weights of the other sign", Batch, "pulls", _upside_down), larger(1.05)],
    "ts-lemma-3": [
        beyond("(A1′) missed by a twentieth", "fill", 1.05),
        beyond("φ_min doubled", "least", 2.0),
        package("one rival instead of all", Batch, "pulls", _only_first),
        larger(1.01),
    ],
    "ts-lemma-3/others": [package("queries left out of the Gram matrix", Batch, "gram", _PLAIN_GRAM), larger(1.01)],
    "ts-lemma-3/far": [larger(1.01)],
    "ts-remark-1": [
        Mistake("only the smallest share", lambda check: replace(check, rhs=lambda **p: 2 * check.rhs(**p))),
    ],
    "ts-definition-a1-single": [larger(1.05)],
    "ts-definition-a1-needed": [
        formula("a gap forgotten in W_mm", lambda value, case: (value[0], value[1] * 1.05, *value[2:])),
        package("a solution with one support token", svm, "shortest", lambda A, which="": svm.Separator(
            A, A[1] / (A[1] @ A[1]), torch.eye(len(A), dtype=A.dtype)[1] / (A[1] @ A[1]))),
    ],
    "ts-definition-a1-needed/any-steps": [
        Mistake("twice as much", lambda check: replace(check, lhs=lambda **p: 2 * check.lhs(**p))),
        larger(1.05),
    ],
    "ts-definition-a1-needed/cone": [larger(1.01)],
    "ts-definition-a1-needed/rules": [
        package("no overlap", gaps, "problem", _overlap_of_others),
        formula("5 % more", lambda value, case: 1.05 * value),
    ],
    "ts-definition-a1-exact": [formula("the other fate", lambda value, case: 1 - value)],
    "ts-definition-a1-exact/tool": [larger(1.01)],
    "ts-definition-a1-flow": [formula("the other fate", lambda value, case: 1 - value)],
    "ts-definition-a1-flow/long": [package("no overlap", gaps, "problem", _overlap_of_others)],
    "ts-definition-a1-equal": [package("no overlap", gaps, "problem", _overlap_of_others)],
}  # fmt: skip

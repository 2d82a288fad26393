"""Mistakes planted in the chapter *Attention as token selection*: what its checks must notice."""

import math
from dataclasses import replace

import torch
from scipy.special import lambertw

from companion.mistakes import larger
from shallowformer.token_selection import constants, datasets, gradients, svm
from shallowformer.token_selection.batches import Batch
from shallowformer.token_selection.instances import Instance
from shallowformer.verify.mistakes import Mistake, formula, measured, package

_right_shortest = svm.shortest
_right_example = datasets.example_1
_right_gaps = Batch.gaps
_right_assumption = constants.assumption_1


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


def _noise_everywhere(*sizes, **more):
    """Noise along the means' sum, which no score sees."""
    data = _right_example(*sizes, **more)
    X, noise = data.X.clone(), data.scores < 0.5
    X[noise] += X.new_tensor([1.0, 1.0] + [0.0] * (data.d - 2))
    return Instance(X, data.y, data.u)


def _one_mean(*sizes, **more):
    """μ₋ = −μ₊."""
    data = _right_example(*sizes, **more)
    X = data.X.clone()
    X[..., 0] += X[..., 1]
    X[..., 1] = 0
    return Instance(X * data.y[:, None, None], data.y, data.u)


def _common_noise(*sizes, **more):
    """A tenth of the first noise token is added to all."""
    data = _right_example(*sizes, **more)
    X, noise = data.X.clone(), data.scores < 0.5
    X[noise] += X[noise][0] * 0.1
    return Instance(X, data.y, data.u)


def _times(what, factor):
    """The left side times a function of the point: another constant in the claim."""
    return Mistake(
        what, lambda check: replace(check, lhs=lambda **point: factor(**point) * check.lhs(**point))
    )


def _moved(what, name, by):
    """One variable moved: another condition in the claim."""
    return Mistake(
        what,
        lambda check: replace(check, lhs=lambda **point: check.lhs(**(point | {name: point[name] + by}))),
    )


def _low(best, ahead, smallest):
    """Log Ψ_min, with the smallest difference of scores of a sample or with another one."""
    return (smallest(ahead, -1) - best).amin(-1)


_largest_for_smallest = _times(
    "Ψ_min with the largest difference of each sample",
    lambda best, ahead, **rest: (_low(best, ahead, torch.amax) - _low(best, ahead, torch.amin)).exp(),
)


def _at_best(best, ahead, **rest):
    """Ψ_max over what it is with e^{−γ_opt} for e^{−γ_t}."""
    right, wrong = ahead - best[..., None] + ahead.exp(), ahead - best[..., None]
    return (right.flatten(1).amax(-1) - wrong.flatten(1).amax(-1)).exp()


def _log_off(h):
    return torch.nn.functional.logsigmoid(-h)


def _without_count(R, ahead, **rest):
    """Off(R/‖W_mm‖ − log(T − 1)) over off(R/‖W_mm‖)."""
    count = math.log(ahead.shape[-1])
    return (_log_off(R[:, 0] - count) - _log_off(R[:, 0])).exp()


class _Zero(svm.Infeasible):
    """A certificate of zeros, which proves nothing."""

    def __init__(self, which, certificate, residual):
        super().__init__(which, 0 * certificate, residual)


def _near_orthogonality(instance, phi_min, room=3, samples=None):
    """(A1′) with another number for 3ν, or with n for n − 1."""
    nu, size = constants.nu(instance), constants.m_o(instance)
    wide = size - room * nu
    count = instance.n - 1 if samples is None else samples(instance)
    weight = count * constants.upsilon(instance) / (2 * phi_min)
    right = weight * nu * (constants.M_o(instance) + room * nu)
    return constants.NearOrthogonality(wide * constants.s_1(instance), right, wide)


def _assumption_1(change):
    return lambda instance: replace(
        _right_assumption(instance), **change(_right_assumption(instance), instance)
    )


#: Check → mistakes that must turn it red.
MISTAKES: dict[str, list[Mistake]] = {
    "ts-definition-1": [
        package("the loss at the mean score", gradients, "infimum", lambda data: torch.exp(-data.scores.mean(1)).mean()),
        formula("5 % more in one part", lambda value, case: (value[0], 1.05 * value[1], value[2])),
    ],
    "ts-definition-1-infimum": [larger(1.01), _largest_for_smallest, _times("1/n forgotten", lambda h, **rest: float(h.shape[1]))],
    "ts-definition-1-infimum/above": [larger(1.01), _times("Ψ_max with e^{−γ_opt}", _at_best)],
    "ts-definition-1-svm": [
        package("all constraints active", svm, "shortest", _all_active),
        package("one constraint active", svm, "shortest", _one_active),
    ],
    "ts-definition-1-svm/decoder": [package("one constraint active", svm, "shortest", _one_active)],
    "ts-definition-1-svm/average": [
        package("W transposed", Batch, "gaps", lambda self, W: _right_gaps(self, W.mT)),
        larger(1.01),
    ],
    "ts-definition-1-farkas": [
        package("gives up too early", svm, "SEPARABLE", 0.1),
        package("never gives up", svm, "SEPARABLE", -1.0),
        package("a certificate of zeros", svm, "Infeasible", _Zero),
    ],
    "ts-definition-1-feasible": [
        _times("the mean difference of scores for the smallest", lambda ahead, **rest: ahead.exp().flatten(1).mean(1) / ahead.exp().flatten(1).amin(1)),
        package("queries left out of the Gram matrix", Batch, "gram", property(lambda self: self.D.flatten(1, 2) @ self.D.flatten(1, 2).mT)),
        larger(1.01),
    ],
    "ts-definition-1-path": [
        _largest_for_smallest,
        package("W transposed", Batch, "gaps", lambda self, W: _right_gaps(self, W.mT)),
        larger(1.01),
    ],
    "ts-definition-1-path/along": [_times("log(T − 1) dropped", _without_count), _times("Ψ_max with e^{−γ_opt}", _at_best)],
    "ts-definition-1-path/aligned": [
        _moved("R from ‖W_mm‖ log(nTΥ) on", "more", -math.log(2)),
        Mistake("the bound without its 2", lambda check: replace(check, rhs=lambda **p: check.rhs(**p) - math.log(2))),
        Mistake("the bound without n", lambda check: replace(check, rhs=lambda n, **p: check.rhs(n=0 * n, **p))),
        Mistake("the bound without T − 1", lambda check: replace(check, rhs=lambda T, **p: check.rhs(T=0 * T + math.log(2), **p))),
    ],
    "ts-definition-1-square": [
        measured("the angle for its square", lambda value: value**0.5),
    ],
    "ts-definition-1-square/touching": [
        formula("b e^b = a: the 1 forgotten", lambda value, case: torch.tensor(float(lambertw(case["R"]).real), dtype=torch.float64)),
        formula("log R: the leading term only", lambda value, case: torch.tensor(math.log(case["R"]), dtype=torch.float64)),
    ],
    "ts-definition-1-order": [
        package("one constraint active", svm, "shortest", _one_active),
        formula("half of it: β²/4", lambda value, case: value / 2),
        formula("the limit of large Υ", lambda value, case: torch.tensor(case["L"] / 4, dtype=torch.float64)),
    ],
    "ts-definition-1-order/quarter": [_times("β² for β²/2", lambda **point: 2.0)],
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
        package("optimal tokens of one label apart", constants, "assumption_1", _assumption_1(lambda found, data: {"together": abs(found.together)})),
        package("T in the last sentence too", constants, "assumption_1", _assumption_1(lambda found, data: {"apart": found.apart / data.T})),
    ],
    "ts-definition-a1-sufficient": [
        package("optimal tokens taken for orthogonal", constants, "M_o", lambda data: 0.0),
        package("2ν for 3ν", constants, "near_orthogonality", lambda data, phi_min: _near_orthogonality(data, phi_min, room=2)),
        package("n for n − 1", constants, "near_orthogonality", lambda data, phi_min: _near_orthogonality(data, phi_min, samples=lambda data: data.n)),
        package("the longest query", constants, "s_1", lambda data: float(data.queries.square().sum(1).max())),
    ],
    "ts-definition-a1-sufficient/simple": [larger(1.01), _times("s₁ ≥ 2(n − 1)TΥν", lambda **point: 1.5), _moved("ν ≤ m_o/4", "fraction", 0.5)],
    "ts-remark-e1": [
        package("u = μ₊ − μ₋", datasets, "example_1", _decoder_of_norm),
        package("noise not projected", datasets, "example_1", _noise_everywhere),
        package("μ₋ = −μ₊", datasets, "example_1", _one_mean),
    ],
    "ts-lemma-6": [package("noise with a common part", datasets, "example_1", _common_noise)],
    "ts-lemma-6/one-sample": [package("noise with a common part", datasets, "example_1", _common_noise)],
    "ts-lemma-6/sufficient": [package("noise with a common part", datasets, "example_1", _common_noise)],
    "ts-lemma-6/sufficient-one-sample": [package("noise with a common part", datasets, "example_1", _common_noise)],
    "ts-definition-1-strict": [
        package("the smallest multiplier over all constraints", svm.Separator, "strict_complementarity",
                lambda self: float(self.multipliers.min() / self.multipliers.mean())),
        formula("5 % more", lambda value, case: 1.05 * value),
    ],
}  # fmt: skip

"""Mistakes planted in the chapter *Geometric convergence*: what its checks must notice."""

from dataclasses import replace

import torch

from companion.mistakes import larger
from companion.theory.preconditioned import bias as bias_module
from companion.theory.preconditioned import biased, influence
from shallowformer.preconditioned import algorithm, bounds, exact, factorisation, limit, participation, starts
from shallowformer.verify.mistakes import Mistake, formula, measured, package

_right_whitened = bias_module.whitened
_right_constant = bounds.pl_constant
_right_envelope = bounds.envelope
_right_ends = biased.floor_and_barrier
_right_spectral = starts.spectral
_right_error = limit.error
_right_value = factorisation.value
_right_direction = algorithm.Algorithm.losses_and_gradient
_right_jump = influence.jump
_right_deviation = influence.deviation
_right_means = participation.means
_right_shortfall = exact.shortfall

MORE = larger(1.05)


def _more(U, V, target, lam=0.5):
    """Five per cent more."""
    return 1.05 * _right_value(U, V, target, lam)


def _notes(s, f0):
    """The older constant, 4(s_d − 2√f_0)."""
    return 4 * (float(s.min()) - 2 * f0**0.5)


def _no_queries(A, B, X, Y, problem, context=None, scale=1.0):
    """Off by a factor in the second block, as if λ of the loss were another."""
    of_A, of_B = _right_whitened(A, B, X, Y, problem, context, scale)
    return of_A, 1.05 * of_B


def _no_regulariser(self, point, rows=None):
    """The algorithm's direction without its regulariser."""
    loss, _ = _right_direction(self, point, rows)
    return loss, _right_direction(replace(self, lam=0.0), point, rows)[1]


def _raised(s, d, n):
    """The bound without its + 1."""
    return d * float(s.square().sum()) / (2 * n)


def _unbalanced(seen, rank=None, symmetric=False):
    U, V = _right_spectral(seen, rank, symmetric)
    return 1.1 * U, V / 1.1


def _wider(t, b):
    """The influence with x² for x²/(1 + b²) in the bracket."""
    return b * (1 + b**2) ** -1.5 * (t.square() - 1) * (b**2 * t.square() / (2 * (1 + b**2))).exp()


def _once_less(b):
    """φ′(1) without φ″(1)."""
    return b**2 * (1 - b**4) ** -1.5


#: Check → mistakes that must turn it red.
MISTAKES: dict[str, list[Mistake]] = {
    "pa-theorem-n": [MORE],
    "pa-theorem-n/attained": [
        package("the older constant", bounds, "pl_constant", _notes),
        package("5 % more of f", factorisation, "value", _more),
    ],
    "pa-theorem-o": [MORE],
    "pa-theorem-o-envelope": [
        package("half the rate", bounds, "envelope", lambda s, f0, t: _right_envelope(s, f0, t / 2)),
        formula("1 % more", lambda value, case: 1.01 * value),
    ],
    "pa-theorem-o-envelope/random": [
        package("1.5 times the rate", bounds, "envelope", lambda s, f0, t: _right_envelope(s, f0, 1.5 * t))
    ],
    "pa-theorem-q": [MORE],
    "pa-theorem-q/ends": [
        package(
            "the first order for the floor",
            biased,
            "floor_and_barrier",
            lambda s, delta: (delta**2 / (4 * float(s.min())), _right_ends(s, delta)[1]),
        ),
        package(
            "a barrier that is 2 % higher",
            biased,
            "floor_and_barrier",
            lambda s, delta: (_right_ends(s, delta)[0], 1.02 * _right_ends(s, delta)[1]),
        ),
    ],
    **{
        f"pa-theorem-g{part}": [measured("a slower decay", lambda value: value**0.6)]
        for part in ("", "/points")
    },
    "pa-theorem-g/decomposition": [package("5 % more in one block", bias_module, "whitened", _no_queries)],
    "pa-theorem-g/moments": [
        formula("d for d + 1", lambda value, case: value - torch.tensor([0.0, 1.0], dtype=value.dtype))
    ],
    "pa-theorem-g/constant": [formula("10 % more", lambda value, case: 1.1 * value)],
    "pa-corollary-g": [
        package("no regulariser", algorithm.Algorithm, "losses_and_gradient", _no_regulariser),
        package("5 % more in one block", bias_module, "whitened", _no_queries),
    ],
    **{
        f"pa-theorem-g-algorithm/{kind}": [measured("a slower decay", lambda value: value**0.7)]
        for kind in ("coarse-0", "coarse", "basin")
    },
    "pa-theorem-g-algorithm": [measured("a slower decay", lambda value: value**0.5)],
    "pa-theorem-g-algorithm/stored": [
        package(
            "the floor twice",
            biased.Biased,
            "at",
            lambda self, t, f0: self.contraction**t * f0 + 2 * self.floor,
        )
    ],
    "pa-theorem-g-algorithm/recomputed": [
        package("no regulariser", algorithm.Algorithm, "losses_and_gradient", _no_regulariser)
    ],
    "pa-theorem-w": [
        package("unbalanced", starts, "spectral", _unbalanced),
        Mistake("20 % more", lambda check: replace(check, fails=lambda *draws: 1.2 * check.fails(*draws))),
    ],
    "pa-theorem-w/covariance": [package("d for d + 1", bounds, "spectral_covariance", _raised)],
    "pa-theorem-w-layer": [
        package("off by 1 %", limit, "error", lambda A, B, problem: 1.01 * _right_error(A, B, problem))
    ],
    "pa-theorem-w-layer/limit": [
        formula("without the trace", lambda value, case: value - 2.7**2 / 2),
        formula(
            "2d for d²", lambda value, case: value + (case["d"] - case["d"] ** 2 / 2) * case["sigma"] ** 2
        ),
    ],
    "pa-lemma-h": [package("no variance in the bracket", influence, "influence", _wider)],
    "pa-lemma-h/square": [package("one derivative only", influence, "variance", _once_less)],
    "pa-lemma-h/variance": [formula("5 % more", lambda value, case: 1.05 * value)],
    "pa-theorem-h": [measured("5 % more", lambda value: value**1.05)],
    "pa-theorem-h/measured-10": [measured("the exponent α(b)", lambda value: value**1.236)],
    "pa-theorem-h/measured-15": [measured("the exponent of the theorem", lambda value: value**0.825)],
    "pa-theorem-h/measured-20": [measured("the exponent of the theorem", lambda value: value**0.717)],
    "pa-theorem-h/measured-self": [measured("the exponent of the theorem", lambda value: value**0.641)],
    "pa-theorem-h/moved": [
        package("of the square", influence, "deviation", lambda x, b: _right_deviation(x, b).square()),
        package("5 % more", influence, "deviation", lambda x, b: 1.05 * _right_deviation(x, b)),
    ],
    "pa-theorem-h/typical": [
        package(
            "5 % more", influence, "jump", lambda b, L: (_right_jump(b, L)[0] + 0.05, _right_jump(b, L)[1])
        ),
        package(
            "another y", influence, "jump", lambda b, L: (_right_jump(b, L)[0], 1.01 * _right_jump(b, L)[1])
        ),
    ],
    **{f"pa-theorem-h/typical-{b}": [measured("5 % more", lambda value: value**1.05)] for b in (10, 15)},
    "pa-theorem-h/recomputed": [
        package("5 % more", influence, "deviation", lambda x, b: 1.05 * _right_deviation(x, b)),
    ],
    "pa-theorem-h-own": [
        package("P₃ for P₂", participation, "means", lambda rho, n: _right_means(rho, n)[:, [1, 1, 2]]),
        package("without b", exact, "shortfall", lambda b, n: [v / b for v in _right_shortfall(b, n)]),
    ],
    "pa-theorem-h-own/one": [measured("the exponent of shared contexts", lambda value: value**0.81)],
    "pa-theorem-h-own/half": [measured("the exponent of shared contexts", lambda value: value**0.857)],
    "pa-theorem-h-own/two": [measured("the exponent of shared contexts", lambda value: value**0.966)],
    "pa-theorem-p": [
        package(
            "the factor of the root",
            bounds,
            "asymptotic_factor",
            lambda s, eta: max(abs(1 - 2 * float(each) * eta) for each in s),
        )
    ],
    "pa-theorem-n-shapes": [MORE],
    "pa-theorem-n-shapes/rectangular": [MORE],
}

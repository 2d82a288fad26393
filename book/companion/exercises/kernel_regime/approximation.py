"""Exercises of the chapter *How well can m heads approximate?*."""

import functools
import math
from collections.abc import Callable

import torch
from torch import Generator

from shallowformer.exercises.feedback import Answer, Feedback, judge, judge_number
from shallowformer.kernel_regime.bounds import approximation
from shallowformer.kernel_regime.kernel import mappings, transportation
from shallowformer.kernel_regime.model import parameters


def _psi2_norm(b: float, p: float) -> float:
    return b / math.sqrt(math.log(1 + 1 / p))


#: What people answer instead, by the hint they get.
PSI2_NORM_MISTAKES = {
    "for p = 1 the variable is the constant b: E exp(b²/t²) ≤ 2 asks for more than t = b.": lambda b, p: b,
    "this is the norm of the constant b; Z is b only with probability p.": lambda b, p: b / math.sqrt(math.log(2)),
    "with probability 1 − p the exponential is 1, not 0.": lambda b, p: b / math.sqrt(math.log(2 / p)),
    "that is the standard deviation; the ψ₂ norm is far larger for small p.": lambda b, p: b * math.sqrt(p * (1 - p)),
    "that is b² / log(1 + 1/p): take the root.": lambda b, p: b**2 / math.log(1 + 1 / p),
}  # fmt: skip


def check_psi2_norm(psi2_norm: Callable[[float, float], float]) -> Feedback:
    """Exercise *The norm of a coin*: ‖Z‖_ψ₂ of Z = b with probability p, else 0; (b, p) → a number."""
    cases = [(f"b = {b}, p = {p}", (b, p)) for b, p in ((2.0, 1.0), (1.0, 0.5), (3.0, 0.01), (0.5, 1e-6))]
    return judge("ex-approximation-orlicz", psi2_norm, _psi2_norm, cases, PSI2_NORM_MISTAKES)


def _heads(
    nu: tuple[float, float, float], n: int, epsilon: float, delta: float, factor: float, star: float
) -> float:
    return factor * (nu[0] + nu[1] + star * nu[2]) ** 2 * math.log(2 * n / delta) / epsilon**2


def _width(nu: tuple[float, float, float], n: int, epsilon: float, delta: float) -> float:
    return 2.0 * math.ceil(_heads(nu, n, epsilon, delta, 2, approximation.S_STAR))


#: What people answer instead, by the hint they get.
WIDTH_MISTAKES = {
    "m must be even: heads come in pairs.": lambda *case: float(math.ceil(_heads(*case, 4, approximation.S_STAR))),
    "s⋆ is missing in front of ν_w.": lambda *case: 2.0 * math.ceil(_heads(*case, 2, 1.0)),
    "that is the appendix's constant 2, without s⋆.": lambda *case: 2.0 * math.ceil(_heads(*case, 4, 1.0)),
    "the √2 in front of the root is missing: squared it gives a factor 2.": lambda *case: 2.0 * math.ceil(_heads(*case, 1, approximation.S_STAR)),
    "the whole numbers are missing: round up.": lambda *case: _heads(*case, 4, approximation.S_STAR),
}  # fmt: skip


def check_width(width: Callable[..., int]) -> Feedback:
    """Exercise *How many heads?*: the smallest even m that the sharper Lemma 5 asks for, with tanh; (nu, n, epsilon, delta) → m."""
    settings = (
        ((1.0, 0.0, 0.5), 1, 1.0, 0.05),
        ((1.0, 2.0, 0.5), 100, 0.5, 0.01),
        ((3.0, 3.0, 3.0), 5000, 0.05, 0.05),
    )
    cases = [(f"ν = {nu}, n = {n}, ε = {e}, δ = {d}", (nu, n, e, d)) for nu, n, e, d in settings]
    return judge("ex-approximation-width", width, _width, cases, WIDTH_MISTAKES)


@functools.cache
def maximum(n: int, d: int, heads: int = 64, realisations: int = 8) -> float:
    """Mean over realisations of the largest |e(X)| over n inputs of two tokens, for the exact-zero target.

    The tokens are uniform in the cube of side 2/√d; all realisations have the same inputs.
    """
    X = torch.rand(n, 2, d, generator=Generator().manual_seed(0), dtype=torch.float64) * 2 - 1
    X /= d**0.5
    v, largest = mappings.zero_target((1.0, 1.0, 1.0)), []
    for seed in range(realisations):
        phi = parameters.random(heads // 2, d, Generator().manual_seed(seed))
        e = torch.cat([transportation.g(chunk, phi, v).mean(1) for chunk in X.split(2_000)])
        largest.append(float(e.abs().max()))
    return sum(largest) / realisations


#: What people answer instead, by the hint they get.
ENOUGH_MISTAKES = {f"{n} inputs are more than 3 % short of the ceiling": n for n in (10, 100)}


def check_enough(enough: Answer) -> Feedback:
    """Exercise *A crowd of inputs*: from which power of 10 the maximum for d = 1 is within 3 % of its last value."""

    def otherwise(number: float) -> str:
        if number > 1000:
            return f"{number:g} is enough, but fewer inputs are as well"
        return "give a power of 10, such as 100"

    praise = "a thousand inputs crowd a square"
    return judge_number(
        "ex-approximation-crowd",
        enough,
        1000,
        ENOUGH_MISTAKES,
        otherwise,
        praise,
        tolerance=0.0,
        begin="print exercises.maximum(n, 1) over its value at 100000, for n = 10, 100, 1000, 10000.",
    )

"""Mistakes planted in the chapter *How well can m heads approximate?*: what its checks must notice."""

from dataclasses import replace

from shallowformer import softmax
from shallowformer.kernel_regime.bounds import approximation
from shallowformer.kernel_regime.kernel import transportation
from shallowformer.kernel_regime.model import gradients
from shallowformer.probability import dominated
from shallowformer.verify.mistakes import Mistake, formula, package

_right_covariance = softmax.covariance
_right_g = transportation.g
_right_quantities = gradients._head_quantities
_right_threshold = dominated.worst_threshold
_right_bounds = {
    name: getattr(approximation, name)
    for name in ("main_text", "sharp", "appendix", "rms_bernstein", "everywhere")
}


def _sums_over_tokens(X, U, W, q):
    return tuple(X.shape[1] ** 0.5 * part for part in _right_quantities(X, U, W, q))


def _scaled(name: str, factor: float) -> Mistake:
    return package(
        f"{factor} times the bound", approximation, name, lambda *case: factor * _right_bounds[name](*case)
    )


#: Check → mistakes that must turn it red.
MISTAKES: dict[str, list[Mistake]] = {
    "kr-lemma-5-domination": [
        package("a sum over tokens, not an average", softmax, "covariance", lambda X, alpha: X.shape[-2] * _right_covariance(X, alpha)),
    ],
    "kr-lemma-5-optimal": [Mistake("the root forgotten", lambda check: replace(check, rhs=lambda **point: check.rhs(**point) ** 2))],
    "kr-lemma-5-saturation": [
        package("a constant in the integrand", transportation, "g", lambda *case: 1 + _right_g(*case)),
    ],
    "kr-lemma-5": [package("the constant of the appendix", approximation, "main_text", approximation.appendix), _scaled("main_text", 1.2)],
    "kr-lemma-5/wide": [package("the constant of the appendix", approximation, "main_text", approximation.appendix), _scaled("main_text", 1.2)],
    "kr-lemma-5-orlicz/direction": [formula("√(8/3) whatever d", lambda value, case: value * 0 + (8 / 3) ** 0.5)],
    "kr-lemma-5-sign/formulas": [package("the mean with the wrong sign", dominated, "mean", lambda r, right=dominated.mean: -right(r))],
    "kr-lemma-5-sign/attained": [package("another threshold", dominated, "worst_threshold", lambda lam: 1.1 * _right_threshold(lam))],
    "kr-lemma-5-sharp": [_scaled("sharp", 0.8), _scaled("sharp", 1.2)],
    "kr-lemma-5-sharp/attention": [_scaled("sharp", 0.8), package("s⋆ = 1/2", approximation, "S_STAR", 0.5)],
    "kr-lemma-5-sharp/aligned": [_scaled("sharp", 0.8), _scaled("sharp", 1.2)],
    "kr-lemma-5-sharp/data": [_scaled("sharp", 0.8), _scaled("sharp", 1.2)],
    "kr-lemma-5-appendix/coverage": [_scaled("appendix", 0.8), _scaled("appendix", 1.2)],
    "kr-lemma-5-rms": [_scaled("rms_bernstein", 0.8), _scaled("rms_bernstein", 1.2)],
    "kr-lemma-5-rms/data": [_scaled("rms_bernstein", 0.8), _scaled("rms_bernstein", 1.2)],
    "kr-lemma-5-rms/second-moment": [formula("m for m/2", lambda value, case: value / 2)],
    "kr-remark-10": [package("sums over tokens for averages", gradients, "_head_quantities", _sums_over_tokens)],
    "kr-lemma-5-everywhere": [_scaled("everywhere", 0.8), _scaled("everywhere", 1.2)],
}  # fmt: skip

"""Mistakes planted in the chapter *Constants, enclosed*: what its checks must notice."""

from companion.theory.probability import enclosed
from shallowformer import enclosures
from shallowformer.kernel_regime.bounds import smoothness
from shallowformer.kernel_regime.linear_run import curvature
from shallowformer.kernel_regime.neighbourhood import norm_event
from shallowformer.probability import cumulants, gaussian_norms
from shallowformer.verify.mistakes import Mistake, package

_right_H_star = smoothness.H_star
_right_maximum = enclosures.maximum
_right_mean_norm = gaussian_norms.mean_norm
_right_radius = norm_event.exact_radius


def _shifted(*all):
    """A ball that lies beside its constant."""
    return _right_maximum(*all) + 1e-6


#: Check → mistakes that must turn it red.
MISTAKES: dict[str, list[Mistake]] = {
    "kr-lemma-g": [
        package("κ to nine digits", cumulants, "KAPPA", 0.769800359 + 1e-10),
        package("half the fourth power", cumulants, "KAPPA_HS", 0.8388),
        package("a shifted enclosure", enclosures, "maximum", _shifted),
    ],
    "kr-lemma-g/tanh": [
        package("four for the fourth derivative", curvature, "FOURTH", 4.0),
        package("a shifted enclosure", enclosures, "maximum", _shifted),
    ],
    "kr-lemma-g/bend": [
        package("a ten-thousandth less", smoothness, "H_star", lambda R: 0.9999 * _right_H_star(R)),
        package("a shifted enclosure", enclosures, "maximum", _shifted),
    ],
    "kr-lemma-g/norms": [
        package("√d", gaussian_norms, "mean_norm", lambda d: d**0.5),
        package("a rounded one", gaussian_norms, "mean_norm", lambda d: round(_right_mean_norm(d), 9)),
    ],
    "kr-lemma-g/largest-norm": [
        package("all heads for one of each pair", norm_event, "exact_radius", lambda m, *more: _right_radius(2 * m, *more)),
    ],
    "kr-lemma-g/sign": [
        package("a grid too coarse", enclosed, "worst_sign_above", lambda steps: enclosures.hull(1.2683, 1.27)),
    ],
}  # fmt: skip

"""Mistakes planted in the chapter *Envelopes*: what its checks must notice."""

import math
from dataclasses import replace

import torch

from shallowformer import softmax
from shallowformer.kernel_regime.bounds import envelopes
from shallowformer.probability import gaussian_means
from shallowformer.verify.mistakes import Mistake, formula, package

_right_given_weights = envelopes.target_given_weights
_right_at_data = envelopes.f_max_at_data
_right_pulled = envelopes.f_pulled_camps


def _coupled_with_a_smaller_budget() -> float:
    """The envelope of targets for tanh, ν̄ = 3, with tr M ≤ 1 − s."""
    s = torch.linspace(0, 1, 1001, dtype=torch.float64)[:, None]
    size = gaussian_means.gaussian_mean(lambda g: torch.tanh(s * g).abs())
    slope = gaussian_means.gaussian_mean(lambda g: 1 - torch.tanh(s * g) ** 2)
    return float((3 * size + 3 * slope * (s + gaussian_means.MEAN_ABS * (1 - s))[:, 0]).max())


#: Check → mistakes that must turn it red.
MISTAKES: dict[str, list[Mistake]] = {
    "kr-lemma-6-heads": [
        package("tokens added up, not averaged", softmax, "mean", lambda X, alpha: X.sum(-2)),
        Mistake("a constant 1 % larger", lambda check: replace(check, rhs=1.01 * check.rhs)),
    ],
    "kr-lemma-6-heads/trivial": [package("tokens added up, not averaged", softmax, "mean", lambda X, alpha: X.sum(-2))],
    "kr-lemma-6": [
        Mistake("logits that move twice as far", lambda check: replace(
            check, lhs=lambda w, w2, **point: check.lhs(w=2 * w, w2=2 * w2, **point))),
    ],
    "kr-lemma-6/targets": [
        package("‖MU‖ without MU's share", envelopes, "target_given_weights",
                lambda a, M, nu, *more, **panels: _right_given_weights(a, 0 * M, nu, *more, **panels)),
    ],
    "kr-lemma-6/dimension": [
        Mistake("a value 2 % too small", lambda check: replace(check, fails=lambda n, g: check.fails(n, g, value=0.98 * 3.6808))),
        Mistake("a value 1 % too large", lambda check: replace(check, fails=lambda n, g: check.fails(n, g, value=1.01 * 3.6808))),
    ],
    "kr-lemma-6-gaussian/formula": [
        package("the root of E‖MU‖²", gaussian_means, "expected_norm", lambda s: s.norm(dim=-1)),
        package("a chi variable of two dimensions", gaussian_means, "expected_norm", lambda s: (math.pi / 2) ** 0.5 * s.norm(dim=-1)),
    ],
    "kr-lemma-6-gaussian/exponential": [
        Mistake("tr M · √‖M‖ for tr M", lambda check: replace(check, rhs=lambda X, z, t: check.rhs(
            X, z, t * softmax.covariance(X, torch.softmax(z, -1)).norm(dim=(-2, -1)) ** 0.5))),
    ],
    "kr-lemma-6-gaussian/tangent": [
        Mistake("without the square", lambda check: replace(check, rhs=lambda s: s * gaussian_means.MEAN_ABS)),
    ],
    "kr-lemma-6-sharp": [
        Mistake("tr M ≤ 1 − ‖a‖ for 1 − ‖a‖²", lambda check: replace(check, rhs=_coupled_with_a_smaller_budget())),
    ],
    "kr-lemma-6-data": [
        package("a third of E‖MU‖, no fluctuation", envelopes, "f_max_at_data", lambda m, n, rho, delta: 0.3 * envelopes.y_max(rho)),
        package("no fluctuation", envelopes, "f_max_at_data", lambda m, n, rho, delta: envelopes.y_max(rho)),
        package("without ρ_u", envelopes, "f_max_at_data", lambda m, n, rho, delta: _right_at_data(m, n, (rho[0], 0.0, rho[2]), delta)),
        package("a fifth more", envelopes, "f_max_at_data", lambda *case: 1.2 * _right_at_data(*case)),
        package("divided by √d", envelopes, "f_max_at_data", lambda m, n, rho, delta: envelopes.y_max(rho) / 8**0.5),
    ],
    "kr-lemma-6-everywhere/model": [
        package("logits that move twice as far", envelopes, "f_pulled_camps",
                lambda along, rho: _right_pulled(along, (rho[0], rho[1], 2 * rho[2]))),
        package("U stays where it is", envelopes, "f_pulled_camps",
                lambda along, rho: _right_pulled(along, (rho[0], 0.0, rho[2]))),
        formula("S_m of all blocks", lambda value, case: (value[0], value[1] + case["rho"][1])),
    ],
    "kr-lemma-6-wide": [
        Mistake("a narrow network", lambda check: replace(check, lhs=lambda X, b: check.lhs(X, b, heads=64))),
    ],
}  # fmt: skip

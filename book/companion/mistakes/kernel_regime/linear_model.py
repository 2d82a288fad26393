"""Mistakes planted in the chapter *The linear model*: what its checks must notice."""

import math
from collections.abc import Callable
from dataclasses import replace

import torch

from shallowformer.kernel_regime.bounds import blocks, linearisation
from shallowformer.kernel_regime.model import hessian, linear_model, pairs, transformer
from shallowformer.kernel_regime.model.parameters import Parameters
from shallowformer.kernel_regime.neighbourhood import norm_event, perturbations
from shallowformer.verify.mistakes import Mistake, formula, package

_right_f_lin = linear_model.f_lin
_right_hidden = hessian.hidden
_right_third = hessian.third
_right_f_lin = linear_model.f_lin
_right_errors = linear_model.head_errors
_right_third = hessian.third
_right_transport = perturbations.transported
_right_G1 = blocks.G1
_right_hidden = hessian.hidden
_right_gradient = hessian.gradient
_right_f = transformer.f
_right_worst = perturbations.adversarial
_right_mean_square = norm_event.mean_square_bound
_right_no_log = linearisation.B_lin_no_log
_right_G2 = blocks.G2
_right_aligned = perturbations.head_aligned
_right_closed = linearisation.B_lin_closed


def _half_adversary(X, phi0, rho, **effort):
    """An adversary with half of the radius for W."""
    return _right_worst(X, phi0, (rho[0], rho[1], rho[2] / 2), **effort)


def _together(X, phi0, rho):
    """Transport that forgets c: partners move alike."""
    delta = _right_transport(X, phi0, rho)
    c = phi0.c
    return Parameters(delta.c, c[:, None] * delta.U, c[:, None, None] * delta.W)


def _bound(what: str, of_heads: Callable) -> Mistake:
    """A bound at other radii than the searches' (1, 1.2, 0.8), for 16 heads with ‖U‖ = √8."""
    R = torch.full((16,), math.sqrt(8) + 0.3, dtype=torch.float64)
    return Mistake(what, lambda check: replace(check, rhs=float(of_heads(R))))


#: Check → mistakes that must turn it red.
MISTAKES: dict[str, list[Mistake]] = {
    "kr-definition-3": [
        formula("the value at the start lost", lambda value, case: value * 0 + _right_f_lin(**case) - _right_f_lin(case["X"], case["phi0"], case["phi0"])),
        formula("m^{−1/2} lost", lambda value, case: value * case["phi0"].m ** 0.5),
    ],
    "kr-definition-3/odd": [
        package("R without the exchange", pairs, "mirror", lambda phi: Parameters(-phi.c, phi.U, -phi.W)),
        package("a term of second order", linear_model, "f_lin", lambda X, phi, phi0: _right_f_lin(X, phi, phi0) + _right_f_lin(X, phi, phi0) ** 2),
    ],
    "kr-lemma-3/identity": [
        package("the product of both moves lost", linear_model, "head_errors",
                lambda X, phi, delta: _right_errors(X, phi, Parameters(0 * delta.c, delta.U, delta.W))),
        package("c for |c|", linear_model, "head_errors", lambda X, phi, delta: _right_errors(X, Parameters(phi.c.abs(), phi.U, phi.W), delta)),
    ],
    "kr-lemma-3": [
        _bound("ρ_c and ρ_u exchanged", lambda R: linearisation.B_lin_paper(4.3, (1.2, 1.0, 0.8), 16)),
    ],
    "kr-lemma-3-sharp": [
        _bound("ρ_u and ρ_w exchanged", lambda R: linearisation.head_bound(R, (1.0, 0.8, 1.2))[0]),
        _bound("ρ_c and ρ_u exchanged", lambda R: linearisation.head_bound(R, (1.2, 1.0, 0.8))[0]),
    ],
    "kr-lemma-3-pairs": [
        _bound("ρ_u and ρ_w exchanged", lambda R: linearisation.B_lin_pairs(R, (1.0, 0.8, 1.2))),
    ],
    "kr-lemma-3-log/closed-form": [
        package("ρ_u and ρ_w exchanged", linearisation, "B_lin_closed", lambda R, m, rho: _right_closed(R, m, (rho[0], rho[2], rho[1]))),
    ],
    "kr-lemma-3-limit/constant": [
        package("ρ_u and ρ_w exchanged", perturbations, "head_aligned", lambda X, phi, rho: _right_aligned(X, phi, (rho[0], rho[2], rho[1]))),
    ],
    "kr-lemma-3-sharp/chain": [
        package("G₁ without its W-part", blocks, "G1", lambda R, r_u, r_w: _right_G1(R, r_u, 0.0)),
    ],
    "kr-lemma-3-log": [
        package("2√(2dx/m) 20 % smaller", norm_event, "mean_square_bound", lambda m, d, x: d + 1.6 * (2 * d * x / m) ** 0.5 + 4 * x / m),
        package("4x/m 20 % smaller", norm_event, "mean_square_bound", lambda m, d, x: d + 2 * (2 * d * x / m) ** 0.5 + 3.2 * x / m),
        package("m for m/2 in the fluctuation", norm_event, "mean_square_bound", lambda m, d, x: _right_mean_square(2 * m, d, x)),
    ],
    "kr-lemma-3-log/average": [
        package("a bound 5 % too large", linearisation, "B_lin_no_log", lambda *a, **o: 1.05 * _right_no_log(*a, **o)),
        package("m for m/2 in the fluctuation", norm_event, "mean_square_bound", lambda m, d, x: _right_mean_square(2 * m, d, x)),
    ],
    "kr-lemma-3-log/expectation": [
        package("½G₂ 1 % too large", blocks, "G2", lambda *a, **o: 1.01 * _right_G2(*a, **o)),
    ],
    "kr-lemma-3-log/limit": [
        Mistake("another limit", lambda check: replace(check, measure=lambda m, seed: check.measure(m, seed) + 0.05)),
    ],
    "kr-lemma-3-limit/batch": [
        package("partners part", perturbations, "head_aligned", _right_transport),
    ],
    "kr-lemma-3-limit/worst": [
        package("mixed curvature with the wrong sign", hessian, "hidden", lambda *a, **o: -_right_hidden(*a, **o) + 2 * torch.diag_embed(torch.diagonal(_right_hidden(*a, **o), dim1=-2, dim2=-1))),
        package("curvature doubled", hessian, "hidden", lambda *a, **o: 2 * _right_hidden(*a, **o)),
        package("an adversary who stays half way", perturbations, "adversarial", _half_adversary),
    ],
    "kr-lemma-3-random/moments": [
        package("a model 1 % too loud", transformer, "f", lambda *a, **o: 1.01 * _right_f(*a, **o)),
        formula("a quarter of the variance", lambda value, case: (value[0], value[1] / 4)),
        formula("a mean that is not 0", lambda value, case: (value[0] + 1e-3, value[1])),
    ],
    "kr-lemma-3-random/limit": [
        package("curvature doubled", hessian, "hidden", lambda *a, **o: 2 * _right_hidden(*a, **o)),
        package("the slope 1 % too long", hessian, "gradient", lambda *a, **o: 1.01 * _right_gradient(*a, **o)),
    ],
    "kr-lemma-3-pairs/limit": [
        package("the third derivative with the wrong sign", hessian, "third", lambda *a, **o: -_right_third(*a, **o)),
        package("partners move alike", perturbations, "transported", _together),
    ],
}  # fmt: skip

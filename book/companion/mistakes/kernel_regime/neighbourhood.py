"""Mistakes planted in the chapter *Symmetric initialisation and the neighbourhood Ω*: what its checks must notice."""

import math
from dataclasses import replace

import torch

from shallowformer.kernel_regime.model import gradients, pairs, parameters, transformer
from shallowformer.kernel_regime.model.parameters import Parameters
from shallowformer.kernel_regime.neighbourhood import norm_event, region
from shallowformer.probability import gaussian_norms
from shallowformer.verify.mistakes import Mistake, formula, package

_right_loss = gradients.loss_and_gradient


def _square_of_sum(c, U, W):
    return sum(block.flatten(1).norm(dim=1) for block in (c, U, W)) ** 2


def _to_the_sphere(phi, phi0, rho):
    """Every block to its sphere, also those inside."""
    return _right_adversarial(parameters.difference(phi, phi0), phi0, rho)


def _half_way(phi, phi0, rho):
    """Radial, odd, into the ball, and half as far from the centre each time."""
    inside = _right_project(phi, phi0, rho)
    return Parameters(*((a + b) / 2 for a, b in zip(inside.blocks, phi0.blocks, strict=True)))


def _too_far_in(phi, phi0, rho):
    return _right_project(phi, phi0, [0.9 * r for r in rho])


def _other_radius(name, radius):
    """Draws of max ‖G_i‖ over 64 vectors of ℝ⁸ over another radius than √8 + √(2 log 1280)."""
    right = math.sqrt(8) + math.sqrt(2 * math.log(1280))

    def altered(check):
        return replace(check, fails=lambda draws, generator: check.fails(draws, generator) * right / radius)

    return Mistake(name, altered)


_right_project = region.project
_right_reach = region.reach
_right_mirror = pairs.mirror
_right_exact = norm_event.exact_radius
_right_adversarial = region.adversarial
_right_tail = gaussian_norms.tail

#: Check → mistakes that must turn it red.
MISTAKES: dict[str, list[Mistake]] = {
    "kr-definition-2": [Mistake("blocks added before they are squared", lambda check: replace(check, lhs=_square_of_sum))],
    "kr-remark-7-order": [Mistake("cross terms forgotten", lambda check: replace(check, lhs=lambda d, L, g: d + 2 * L + g * g))],
    "kr-remark-6": [
        formula("partners with the same sign", lambda value, case: (-value[0], value[1])),
        package("half of the mean square", gradients, "loss_and_gradient", lambda *a, **o: (_right_loss(*a, **o)[0] / 2, None)),
    ],
    "kr-remark-6/any-start": [formula("f at the start added once more", lambda value, case: value + transformer.f(case["X"], case["phi0"]))],
    "kr-remark-6-odd": [
        package("R without the change of sign", pairs, "mirror", lambda phi: Parameters(-_right_mirror(phi).c, *_right_mirror(phi).blocks[1:])),
        package("R without the exchange", pairs, "mirror", lambda phi: Parameters(-phi.c, phi.U, -phi.W)),
        formula("the kernel of m heads", lambda value, case: (*value[:5], value[5] / 2)),
        formula("∇_U of partners equal", lambda value, case: (*value[:2], -value[2], *value[3:])),
    ],
    "kr-definition-2-projection": [
        package("also what is inside", region, "project", _to_the_sphere),
        package("too far in", region, "project", _too_far_in),
    ],
    "kr-definition-2-projection/again": [package("half-way to the centre", region, "project", _half_way)],
    "kr-definition-2-projection/nearest": [
        package("too far in", region, "project", _too_far_in),
    ],
    "kr-definition-2-projection/lipschitz": [
        package("also what is inside", region, "project", _to_the_sphere),
    ],
    "kr-definition-2-projection/partners": [
        package("also what is inside", region, "project", _to_the_sphere),
    ],
    "kr-definition-2-reach": [
        formula("one m^{−1/2} lost", lambda value, case: value * case["phi"].m ** 0.5),
        formula("the readout's part lost", lambda value, case: value - case["rho"][0] * torch.stack(
            [gradients.features(x[None], case["phi"], sigma=case["sigma"]).c.abs().mean() for x in case["X"]])),
        package("W-blocks counted twice", region, "reach", lambda g, rho: _right_reach(Parameters(g.c, g.U, 2 * g.W), rho)),
        formula("ρ_u and ρ_w exchanged", lambda value, case: value * 0 + region.reach(
            Parameters(*(block[0] for block in gradients.per_sample_gradient(case["X"], case["phi"], sigma=case["sigma"]))),
            (case["rho"][0], case["rho"][2], case["rho"][1]))),
        package("a maximiser that stays inside", region, "adversarial", lambda g, phi0, rho: _right_adversarial(g, phi0, [0.9 * r for r in rho])),
    ],
    "kr-fact-4/union": [
        Mistake("√(log(N/δ))", lambda check: replace(check, lhs=lambda log_N, x, d: check.lhs(log_N, x, d) * torch.exp((log_N + x) / 2))),
        Mistake("a union without N", lambda check: replace(check, lhs=lambda log_N, x, d: check.lhs(log_N, x, d) * log_N.exp())),
    ],
    "kr-fact-4": [
        _other_radius("√d lost", math.sqrt(2 * math.log(1280))),
        _other_radius("log(m/δ) lost", math.sqrt(8) + math.sqrt(2)),
        _other_radius("the 2 under the root lost", math.sqrt(8) + math.sqrt(math.log(1280))),
        _other_radius("log(2m/δ), from the display", math.sqrt(8) + math.sqrt(2 * math.log(2560))),
    ],
    "kr-fact-4-sharp": [
        Mistake("e^{−t²}", lambda check: replace(check, rhs=lambda t, d: check.rhs(t, d) * torch.exp(-t * t / 2))),
        Mistake("from the mean of ‖G‖² less 1", lambda check: replace(check, lhs=lambda t, d: check.lhs(t - 0.1 * (t > 0.1), d))),
    ],
    "kr-fact-4-sharp/half": [
        formula("1/(2√(πd))", lambda value, case: value * 2 / 3),
        formula("d^{−0.45}", lambda value, case: value * case["d"] ** -0.05),
        package("the median for the mean of ‖G‖²", gaussian_norms, "tail", lambda radius, d: _right_tail(radius - 1 / (3 * radius), d)),
    ],
    "kr-fact-4-sharp/exponent": [
        formula("the exponent 0.5001", lambda value, case: value - 0.0001 * case["t"] ** 2),
        formula("r^{d−1} for r^{d−2}", lambda value, case: value + math.log(case["t"])),
        package("r² for r²/2", gaussian_norms, "log_tail", lambda radius, d: -radius * radius),
    ],
    "kr-fact-4-sharp/normal": [
        Mistake("N(0, 1)", lambda check: replace(check, against={"N(0, 1)": lambda t: torch.tensor([math.erfc(t / math.sqrt(2)) / 2])})),
    ],
    "kr-definition-1": [
        package("m/2δ' read as (m/2)δ'", norm_event, "paper_radius", lambda m, d, delta: math.sqrt(d) + math.sqrt(2 * math.log(m / 2 * delta))),
        package("√d lost", norm_event, "paper_radius", lambda m, d, delta: math.sqrt(2 * math.log(m / (2 * delta)))),
        package("the 2 under the root lost", norm_event, "paper_radius", lambda m, d, delta: math.sqrt(d) + math.sqrt(math.log(m / (2 * delta)))),
        package("m for m/2", norm_event, "paper_radius", lambda m, d, delta: math.sqrt(d) + math.sqrt(2 * math.log(m / delta))),
        package("partners drawn apart", parameters, "symmetric", parameters.random),
    ],
    "kr-definition-1-exact": [
        package("m vectors for m/2", norm_event, "coverage", lambda radius, m, d: (1 - gaussian_norms.tail(radius, d)) ** m),
        package("the radius of the m heads", norm_event, "exact_radius", lambda m, d, delta: _right_exact(2 * m, d, delta)),
        package("the union bound", norm_event, "exact_radius", lambda m, d, delta: _right_exact(2, d, 2 * delta / m)),
    ],
    "kr-definition-1-exact/excess": [formula("1 % more", lambda value, case: 1.01 * value)],
    "kr-remark-7/longest": [
        package("ρ_u/m", region, "longest", lambda phi0, rho_u: phi0.U.norm(dim=-1) + rho_u / phi0.m),
        package("Pythagoras", region, "longest", lambda phi0, rho_u: (phi0.U.pow(2).sum(-1) + rho_u**2 / phi0.m).sqrt()),
    ],
    "kr-remark-7": [
        Mistake("ρ_u/m", lambda check: replace(check, rhs=check.rhs - 3 / 8 + 3 / 64)),
    ],
    "kr-fact-4-average": [
        package("no fluctuation", norm_event, "mean_square_bound", lambda m, d, x: d),
        package("half of the root alone", norm_event, "mean_square_bound", lambda m, d, x: d + math.sqrt(2 * d * x / m)),
        package("m for m/2", norm_event, "mean_square_bound", lambda m, d, x: d + 2 * math.sqrt(d * x / m) + 2 * x / m),
        package("partners drawn apart", parameters, "symmetric", parameters.random),
    ],
    "kr-fact-4-average/head": [
        Mistake("2√(Dx) left out", lambda check: replace(check, lhs=lambda x: gaussian_norms.tails((8 + 2 * x).sqrt(), 8)[1])),
    ],
    "kr-fact-4-average/exponent": [
        formula("e^{−1.001x}", lambda value, case: value - 0.001 * case["x"]),
        formula("u^{D/2}", lambda value, case: value + math.log(case["x"])),
    ],
}  # fmt: skip

"""Mistakes planted in the chapter *No log n, no log m, no d*: what its checks must notice."""

import math
from dataclasses import replace

import torch

from shallowformer.kernel_regime.bounds import approximation
from shallowformer.kernel_regime.convergence import cancellation, gradient_norms, no_logs
from shallowformer.kernel_regime.model import linear_model, transformer
from shallowformer.kernel_regime.model.parameters import Parameters
from shallowformer.verify.mistakes import Mistake, formula, package

_right_f_lin = linear_model.f_lin
_right_no_log = gradient_norms.gradient_no_log
_right_at_start = gradient_norms.gradient_at_start
_right_drift = cancellation.drift
_right_gap = cancellation.gap_of_pairs
_right_turn = cancellation.turn_of_pairs
_right_pair_gap = cancellation.gap_of_a_pair
_right_pair_turn = cancellation.turn_of_a_pair
_right_turn_b = no_logs.turn_over_heads
_right_beyond = no_logs.beyond_leading

_RHO, _NU = (1.0, 1.2, 0.8), (0.7, 0.9, 1.3)  # ρ and ν̄ of the chapter's searches
_LENGTHS = torch.full((16,), math.sqrt(8) + 0.3, dtype=torch.float64)  # R_i of its 16 heads


def _bound(what: str, right: float) -> Mistake:
    """Another number on the right."""
    return Mistake(what, lambda check: replace(check, rhs=right))


#: Check → mistakes that must turn it red.
MISTAKES: dict[str, list[Mistake]] = {
    "kr-theorem-b-turn": [
        formula("the lever arm kept at its full length", lambda value, case: value + torch.func.jvp(
            lambda c, U, W: transformer.f(case["X"], Parameters(c, U, W)), case["phi0"].blocks, case["delta"].blocks)[1]),
        package("f_lin without the readouts", linear_model, "f_lin", lambda X, phi, phi0, *more: _right_f_lin(
            X, Parameters(phi0.c, phi.U, phi.W), phi0, *more)),
    ],
    "kr-theorem-b-turn/head": [
        _bound("ρ and ν̄ exchanged", 4 * float(no_logs.turn_over_heads(_LENGTHS, _NU, _RHO))),
    ],
    "kr-theorem-b/no-log": [
        package("ρ_c and ρ_u exchanged", gradient_norms, "gradient_no_log", lambda m, d, rho, x: _right_no_log(m, d, (rho[1], rho[0], rho[2]), x)),
        package("four fifths of the bound", gradient_norms, "gradient_no_log", lambda *all: 0.8 * _right_no_log(*all)),
        package("a twentieth more", gradient_norms, "gradient_no_log", lambda *all: 1.05 * _right_no_log(*all)),
    ],
    "kr-theorem-b/worst": [
        package("half of the turn", no_logs, "turn_over_heads", lambda *all: _right_turn_b(*all) / 2),
        package("no approximation error", approximation, "rms_bernstein", lambda *all: 0.0),
        package("six fifths of the turn", no_logs, "turn_over_heads", lambda *all: 1.2 * _right_turn_b(*all)),
    ],
    "kr-theorem-c/start": [
        package("no fluctuation", gradient_norms, "gradient_at_start", lambda m, x, sigma: sum(b**2 for b in sigma.bounds[:2])),
        package("a fluctuation half as large", gradient_norms, "gradient_at_start",
                lambda m, x, sigma: (_right_at_start(m, x, sigma) + _right_at_start(m, 0.0, sigma)) / 2),
        package("a tenth more", gradient_norms, "gradient_at_start", lambda *all: 1.1 * _right_at_start(*all)),
    ],
    "kr-theorem-c/tanh": [
        package("no fluctuation", gradient_norms, "gradient_at_start", lambda m, x, sigma: 1.0),
        package("½ in place of 1", gradient_norms, "gradient_at_start", lambda m, x, sigma: _right_at_start(m, x, sigma) - 0.5),
        package("a tenth more", gradient_norms, "gradient_at_start", lambda *all: 1.1 * _right_at_start(*all)),
    ],
    "kr-theorem-c/drift": [
        _bound("ρ_u and ρ_w exchanged", 4 * float(gradient_norms.gradient_drift(_LENGTHS, (1.0, 0.8, 1.2)))),
    ],
    "kr-theorem-c-turn": [
        _bound("ρ and ν̄ exchanged", no_logs.turn_leading(_NU, _RHO)),
    ],
    "kr-theorem-c-turn/bracket": [
        package("ρ and ν̄ exchanged", no_logs, "beyond_leading", lambda L2, L3, rho, nu: _right_beyond(L2, L3, nu, rho)),
        package("½ρ_c r² for ρ_c r²", no_logs, "beyond_leading", lambda L2, L3, rho, nu: (
            _right_beyond(L2, L3, rho, nu) - L2 * rho[0] * (rho[1] ** 2 + rho[2] ** 2) / 2)),
        package("¼r for ⅓r", no_logs, "beyond_leading", lambda L2, L3, rho, nu: (
            _right_beyond(L2, L3, rho, nu) - L3 * math.hypot(*rho[1:]) ** 3 / 12)),
    ],
    "kr-theorem-d/gap-of-a-pair": [
        package("κ and κ′ exchanged", cancellation, "gap_of_a_pair", lambda L, rho, *k: _right_pair_gap(L, rho, *k[::-1])),
        package("L₁ and L₂ exchanged", cancellation, "gap_of_a_pair", lambda L, rho, *k: _right_pair_gap((L[1], L[0], L[2]), rho, *k)),
        package("⅙L₃r³", cancellation, "gap_of_a_pair", lambda L, rho, *k: (
            _right_pair_gap(L, rho, *k) - L[2] * math.hypot(*rho[1:]) ** 3 / 6)),
        package("½κ L₂r", cancellation, "gap_of_a_pair", lambda L, rho, kappa, kappa_c: (
            _right_pair_gap(L, rho, kappa, kappa_c) - L[1] * math.hypot(*rho[1:]) * kappa / 2)),
        package("κ′ forgotten", cancellation, "gap_of_a_pair", lambda L, rho, kappa, kappa_c: (
            _right_pair_gap(L, rho, kappa, 0 * kappa_c))),
    ],
    "kr-theorem-d/turn-of-a-pair": [
        package("ρ and ν̄ exchanged", cancellation, "turn_of_a_pair", lambda L, rho, nu, *k: _right_pair_turn(L, nu, rho, *k)),
        package("½r for ⅔r", cancellation, "turn_of_a_pair", lambda L, rho, *more: (
            _right_pair_turn(L, rho, *more) - L[2] * math.hypot(*rho[1:]) ** 3 / 6)),
        package("ρ_c without its factor 2", cancellation, "turn_of_a_pair", lambda L, rho, nu, *k: (
            _right_pair_turn(L, rho, nu, *k) - L[1] * rho[0] * math.hypot(*rho[1:]) * (math.hypot(*rho[1:]) + math.hypot(*nu[1:])))),
        package("κ L₁ν̄_c for κ L₁(ν̄_c + ρ_c)", cancellation, "turn_of_a_pair", lambda L, rho, nu, kappa, kappa_c: (
            _right_pair_turn(L, rho, nu, kappa, kappa_c) - kappa * L[0] * rho[0])),
        package("κ′ forgotten", cancellation, "turn_of_a_pair", lambda L, rho, nu, kappa, kappa_c: (
            _right_pair_turn(L, rho, nu, kappa, 0 * kappa_c))),
    ],
    "kr-theorem-d/pairs": [
        package("a tenth of κ and κ′", cancellation, "drift", lambda *all, **L: [k / 10 for k in _right_drift(*all, **L)]),
        package("six fifths of κ and κ′", cancellation, "drift", lambda *all, **L: [1.2 * k for k in _right_drift(*all, **L)]),
        package("partners that stay opposite", cancellation, "drift", lambda R, *more, **L: [0 * R, _right_drift(R, *more, **L)[1]]),
    ],
    "kr-theorem-d/bounds": [
        package("1/m⁴ for 1/m", cancellation, "gap_of_pairs", lambda R, *more, **L: _right_gap(R, *more, **L) / len(R) ** 3),
        package("1/m⁴ for 1/m", cancellation, "turn_of_pairs", lambda R, *more, **L: _right_turn(R, *more, **L) / len(R) ** 3),
        package("six fifths of the gap", cancellation, "gap_of_pairs", lambda *all, **L: 1.2 * _right_gap(*all, **L)),
    ],
}  # fmt: skip

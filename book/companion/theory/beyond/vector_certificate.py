"""Theorem F for heads with k readouts: the distance of a run from its linear run, bounded before the first step.

Written anew, not built on ``linear_run.theorem_f``: for one readout of ±1 both must give the same numbers.
"""

import math
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from companion.theory.beyond.architecture import Blocks
from companion.theory.beyond.vector_known import Pairs, known
from shallowformer.contracts import Even, Positive, contract
from shallowformer.kernel_regime.linear_run.known import RADII, LinearRun
from shallowformer.kernel_regime.linear_run.theorem_f import Certificate, Moves


@dataclass(frozen=True)
class _Errors:
    """The letters o, v, w, b of a step, and A₁, A₂."""

    o: Float[Tensor, " P"]
    v: Float[Tensor, " P"]
    w: Float[Tensor, " P"]
    b: Float[Tensor, " P"]
    A1: Float[Tensor, " P"]
    A2: Float[Tensor, " P"]


def _growth(facts: Pairs, radius: Float[Tensor, " P"]) -> Float[Tensor, " P"]:
    """𝒢 at the next larger tabulated radius, infinite beyond the table."""
    at = torch.bucketize(radius, radius.new_tensor(RADII))
    padded = torch.nn.functional.pad(facts.growth, (0, 1), value=math.inf)
    return padded.gather(1, at[:, None])[:, 0]


def _errors(facts: Pairs, s: int, moves: Moves, D_alpha: Tensor, D_beta: Tensor) -> _Errors:
    a, b = moves.alpha, moves.beta
    Da, Db = D_alpha + facts.off_alpha[s], D_beta + facts.off_beta[s]
    g, H, T, known_a = facts.gradient, facts.hessian, facts.third, facts.reference[s]
    A1, A2 = facts.g_alpha[s] + g * Da, facts.h_alpha[s] + H * Da
    B1, B2 = facts.g_beta[s] + g * Db, facts.h_beta[s] + H * Db
    Q = facts.h_alpha_alpha[s] + Da * (2 * facts.h_alpha[s] + H * Da)
    mixed = facts.h_alpha_beta[s] + facts.h_alpha[s] * Db + B2 * Da
    C2 = facts.t_alpha_alpha[s] + T * Da * (2 * known_a + Da)
    C3 = facts.t_alpha[s] + 3 * facts.t_alpha_alpha[s] * Da + T * Da**2 * (3 * known_a + Da)
    G = _growth(facts, a + b)
    t, high, low = G * (a**2 + b**2) / 6, torch.maximum(a, b), torch.minimum(a, b)
    rest = G * high * (high**2 + 3 * low**2) / 24
    return _Errors(
        o=mixed + C3 / 6 + T * a * b**2 / 2 + rest,
        v=B1 + (Q + B2 * b + C2 * b) / 2 + T * b**3 / 6 + rest,
        w=B2 + (C2 + T * b**2) / 2 + t,
        b=T * a * b + t,
        A1=A1,
        A2=A2,
    )


def remainder(facts: Pairs, moves: Moves, e: _Errors, m: int) -> float:
    """R̄ = √m [min(mean ‖c⁰‖o, Γ(mean o²)^{1/2}) + mean(γ̄v + χ̄(A₁ + o))]."""
    first = torch.minimum((facts.length * e.o).mean(), facts.spread * e.o.square().mean().sqrt())
    return m**0.5 * float(first + (moves.gamma * e.v + moves.chi * (e.A1 + e.o)).mean())


def slopes(facts: Pairs, moves: Moves, e: _Errors, rho: float, told: Float[Tensor, " P"]) -> Tensor:
    """What the change of a pair's gradient does to its step, told·w + ρ(χ̄(g + w) + γ̄(A₂ + b)): ``told`` bounds ‖⟨c⁰, r⟩‖."""
    return told * e.w + rho * (moves.chi * (facts.gradient + e.w) + moves.gamma * (e.A2 + e.b))


@contract
@torch.no_grad()
def certificate(run: LinearRun, facts: Pairs, eta: Positive, m: Even) -> Certificate:
    """The recursion, from what ``known`` gives for the same η; μ and E are root mean squares over positions of lengths in R^k."""
    mu, unit = facts.k**0.5 * run.mu, 2 * eta / m**0.5
    D_alpha = D_beta = D_gamma = D_chi = torch.zeros_like(facts.value)
    E, path, remainders, leaks = torch.full_like(mu, math.inf), [], [], []
    past = lambda powers, of: float(powers[: len(of)].flip(0) @ powers.new_tensor(of))
    for s in range(len(mu)):
        known_moves = (facts.alpha[s], facts.beta[s], facts.gamma[s], facts.chi[s])
        allowed = (D_alpha, D_beta, D_gamma, D_chi)
        moves = Moves(*(a + b for a, b in zip(known_moves, allowed, strict=True)))
        path.append(moves)
        e = _errors(facts, s, moves, D_alpha, D_beta)
        here = remainder(facts, moves, e, m)
        found = here + past(run.smooth, remainders) + 2 * eta * past(run.rough, leaks)
        if not math.isfinite(found):
            break
        E[s], now = found, float(mu[s])
        rho, told = now + found, facts.heard[s] + facts.length * found
        off = slopes(facts, moves, e, rho, told)
        remainders.append(here)
        leaks.append(float(((rho * e.v).square() + off.square()).mean().sqrt()))
        g, x = facts.operator, facts.heard[s]
        D_beta = D_beta + unit * (
            found * (facts.length * e.A2 + moves.gamma * g)
            + x * facts.hessian * (D_alpha + facts.off_alpha[s])
            + now * g * (D_gamma + facts.off_gamma[s])
            + rho * (moves.chi * (e.A2 + e.b) + moves.gamma * e.w)
            + told * e.b
        )
        D_chi = D_chi + unit * (found * e.A1 + now * g * D_alpha + rho * e.o)
        D_gamma = D_gamma + unit * (found * facts.value + rho * e.v)
        D_alpha = D_alpha + unit * (found * facts.length * g + off)
    rows = {name: [getattr(moves, name) for moves in path] for name in ("alpha", "beta", "gamma", "chi")}
    lacking = E.new_full((len(mu) - len(path), len(facts.value)), math.inf)
    return Certificate(mu, E, Moves(*(torch.cat([torch.stack(row), lacking]) for row in rows.values())), m)


def certify(
    X: Float[Tensor, "n T d"],
    y: Float[Tensor, "n s k"],
    phi0: Blocks,
    eta: float,
    steps: int,
    reading: str,
    every: int = 1,
) -> Certificate:
    """What is certain of descent on (1/N) Σ_j ‖f_j − y_j‖² from a symmetric start before its first step."""
    return certificate(*known(X, y, phi0, eta, steps, reading, every), eta, len(phi0["c"]))

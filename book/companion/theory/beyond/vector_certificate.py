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
class Errors:
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


def errors(
    facts: Pairs, s: int, moves: Moves, D_alpha: Float[Tensor, " P"], D_beta: Float[Tensor, " P"]
) -> Errors:
    """Taylor's formula to the third order along the references, with a remainder from the growth of the third derivative."""
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
    return Errors(
        o=mixed + C3 / 6 + T * a * b**2 / 2 + rest,
        v=B1 + (Q + B2 * b + C2 * b) / 2 + T * b**3 / 6 + rest,
        w=B2 + (C2 + T * b**2) / 2 + t,
        b=T * a * b + t,
        A1=A1,
        A2=A2,
    )


def told(
    heard: Float[Tensor, "..."], length: Float[Tensor, "..."], distance: float | Float[Tensor, "..."]
) -> Float[Tensor, "..."]:
    """Q = x + c̄E ≥ ‖c⁰·r‖: what a pair hears of residuals r that are within E of the linear run's, of which it hears x."""
    return heard + length * distance


def added(
    length: Float[Tensor, "... P"], spread: Float[Tensor, "..."], o: Float[Tensor, "... P"]
) -> Float[Tensor, "..."]:
    """min(mean c̄o, Γ(mean o²)^{1/2}) ≥ (2/m)‖Σ_p c⁰_p o_p‖ for m = 2P heads: errors of many heads, added up in the outputs."""
    return torch.minimum((length * o).mean(-1), spread * o.square().mean(-1).sqrt())


def remainder(facts: Pairs, moves: Moves, e: Errors, m: int) -> float:
    """R̄, which bounds ‖f − f_lin‖ on the run."""
    rest = (moves.gamma * e.v + moves.chi * (e.A1 + e.o)).mean()
    return m**0.5 * float(added(facts.length, facts.spread, e.o) + rest)


def slopes(facts: Pairs, moves: Moves, e: Errors, rho: float, q: Float[Tensor, " P"]) -> Float[Tensor, " P"]:
    """ŵ = q w + ρ(χ̄(g + w) + γ̄(A₂ + b)): what the change of a pair's gradient does to its step."""
    return q * e.w + rho * (moves.chi * (facts.gradient + e.w) + moves.gamma * (e.A2 + e.b))


@dataclass(frozen=True)
class _Step:
    """What is known at a step besides the moves."""

    mu: float
    E: float
    q: Float[Tensor, " P"]
    w: Float[Tensor, " P"]  # ŵ


def allowances(facts: Pairs, s: int, moves: Moves, e: Errors, now: _Step, D: Moves) -> Moves:
    """What is added to D_α, D_β, D_γ, D_χ, in units of η̂."""
    g, rho, pulled = facts.operator, now.mu + now.E, told(torch.zeros_like(now.q), facts.length, now.E)
    beta = (
        pulled * e.A2
        + now.E * moves.gamma * g
        + facts.heard[s] * facts.hessian * (D.alpha + facts.off_alpha[s])
        + now.mu * g * (D.gamma + facts.off_gamma[s])
        + rho * (moves.chi * (e.A2 + e.b) + moves.gamma * e.w)
        + now.q * e.b
    )
    return Moves(
        alpha=pulled * g + now.w,
        beta=beta,
        gamma=now.E * facts.value + rho * e.v,
        chi=now.E * e.A1 + now.mu * g * D.alpha + rho * e.o,
    )


def _sum(one: Moves, other: Moves, factor: float = 1.0) -> Moves:
    return Moves(*(getattr(one, name) + factor * getattr(other, name) for name in NAMES))


NAMES = ("alpha", "beta", "gamma", "chi")


@contract
@torch.no_grad()
def certificate(run: LinearRun, facts: Pairs, eta: Positive, m: Even) -> Certificate:
    """The recursion, from what ``known`` gives for the same η; μ and E are root mean squares over positions of lengths in R^k."""
    mu, D = facts.k**0.5 * run.mu, Moves(*[torch.zeros_like(facts.value)] * 4)
    E, path, remainders, leaks = torch.full_like(mu, math.inf), [], [], []
    past = lambda powers, of: float(powers[: len(of)].flip(0) @ powers.new_tensor(of))
    for s in range(len(mu)):
        moves = _sum(Moves(*(getattr(facts, name)[s] for name in NAMES)), D)
        path.append(moves)
        e = errors(facts, s, moves, D.alpha, D.beta)
        here = remainder(facts, moves, e, m)
        found = here + past(run.smooth, remainders) + 2 * eta * past(run.rough, leaks)
        if not math.isfinite(found):
            break
        E[s], rho = found, float(mu[s]) + found
        q = told(facts.heard[s], facts.length, found)
        off = slopes(facts, moves, e, rho, q)
        remainders.append(here)
        leaks.append(float(((rho * e.v).square() + off.square()).mean().sqrt()))
        more = allowances(facts, s, moves, e, _Step(float(mu[s]), found, q, off), D)
        D = _sum(D, more, 2 * eta / m**0.5)
    lacking = E.new_full((len(mu) - len(path), len(facts.value)), math.inf)
    rows = (torch.stack([getattr(moves, name) for moves in path]) for name in NAMES)
    return Certificate(mu, E, Moves(*(torch.cat([row, lacking]) for row in rows)), m)


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

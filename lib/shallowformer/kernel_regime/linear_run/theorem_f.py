"""Theorem F: the distance of a run from its linear run, bounded step by step before the first one is made."""

import math
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from shallowformer.contracts import Even, Positive, contract
from shallowformer.kernel_regime.linear_run.known import RADII, Known, LinearRun, known
from shallowformer.kernel_regime.model.parameters import Parameters
from shallowformer.queries import Query, last_token


@dataclass(frozen=True)
class Moves:
    """Bounds on how far the two heads of every pair move: apart by ±α and readouts alike by γ; together by β and readouts apart by ±χ."""

    alpha: Float[Tensor, "*steps N"]  # at least ‖α‖
    beta: Float[Tensor, "*steps N"]  # at least ‖β‖
    gamma: Float[Tensor, "*steps N"]  # at least |γ|
    chi: Float[Tensor, "*steps N"]  # at least |χ|


@dataclass(frozen=True)
class Errors:
    """Root mean squares over the data of what Taylor's formula at the start misses, for every pair that moves within ``Moves``."""

    odd: Float[Tensor, " N"]  # of ½(h₊ − h₋) as ∇h[α]
    even: Float[Tensor, " N"]  # of ½(h₊ + h₋) as h
    slope: Float[Tensor, " N"]  # of ½(∇h₊ + ∇h₋) as ∇h
    bend: Float[Tensor, " N"]  # of ½(∇h₊ − ∇h₋) as ∇²h[α]
    apart: Float[Tensor, " N"]  # ∇h[α] itself
    turned: Float[Tensor, " N"]  # ½(∇h₊ − ∇h₋) itself
    hessian: Float[Tensor, " N"]  # ∇²h[α] itself


@dataclass(frozen=True)
class Certificate:
    """What is certain of a run of τ steps before the first one; E is infinite from the step on at which the recursion has exploded."""

    mu: Float[Tensor, " steps"]  # ‖u⁽ˢ⁾‖/√n, the root of the linear run's loss, s = 0 … τ
    E: Float[Tensor, " steps"]  # bounds on ‖r⁽ˢ⁾ − u⁽ˢ⁾‖/√n, and so on |L̂(φ⁽ˢ⁾)^{1/2} − μ_s|
    moves: Moves  # of all pairs before every step
    m: int  # number of heads

    @property
    def upper(self) -> Float[Tensor, " steps"]:
        """Upper bounds on the losses L̂(φ⁽ˢ⁾)."""
        return (self.mu + self.E).square()

    @property
    def lower(self) -> Float[Tensor, " steps"]:
        """Lower bounds on the losses."""
        return (self.mu - self.E).clamp(min=0).square()

    @property
    def reach(self) -> tuple[Float[Tensor, " steps"], Float[Tensor, " steps"]]:
        """√m times bounds on how far any readout and any (U, W) has moved: a projection on Ω_ρ is idle as long as both are below ρ."""
        readout = (self.moves.gamma + self.moves.chi).amax(1)
        head = (self.moves.alpha + self.moves.beta).amax(1)
        return self.m**0.5 * readout, self.m**0.5 * head


class _Recursion:
    """The recursion of Theorem F; ``allowed`` are the distances from what is known, D_α, D_β, D_γ, D_χ."""

    def __init__(self, run: LinearRun, facts: Known, eta: float, m: int) -> None:
        self.run, self.facts, self.eta, self.m = run, facts, eta, m
        self.unit, self.radii = 2 * eta / m**0.5, facts.value.new_tensor(RADII)
        self.allowed = [torch.zeros_like(facts.value) for _ in range(4)]
        self.remainders: list[float] = []
        self.leaks: list[float] = []

    def moves(self, s: int) -> Moves:
        """What is known of step s, and what is allowed besides."""
        k, (alpha, beta, gamma, chi) = self.facts, self.allowed
        return Moves(k.alpha[s] + alpha, k.beta[s] + beta, k.gamma[s] + gamma, k.chi[s] + chi)

    def growth(self, radius: Float[Tensor, " N"]) -> Float[Tensor, " N"]:
        """The tabulated growth at the next larger radius; infinite beyond the table."""
        at = torch.searchsorted(self.radii, radius)
        found = self.facts.growth.gather(1, at.clamp(max=len(RADII) - 1)[:, None])[:, 0]
        return torch.where(at < len(RADII), found, math.inf)

    def errors(self, s: int, moves: Moves) -> Errors:
        """Taylor's formula to the third order along what is known, with a remainder from the growth of the third derivative."""
        k, (D_alpha, D_beta, _, _) = self.facts, self.allowed
        alpha, beta = moves.alpha, moves.beta
        off, aside = D_alpha + k.off_alpha[s], D_beta + k.off_beta[s]
        apart = k.g_alpha[s] + k.gradient * off
        hessian = k.h_alpha[s] + k.hessian * off
        together = k.g_beta[s] + k.gradient * aside
        hessian_beta = k.h_beta[s] + k.hessian * aside
        twice = k.h_alpha_alpha[s] + (2 * k.h_alpha[s] + k.hessian * off) * off
        mixed = k.h_alpha_beta[s] + k.h_alpha[s] * aside + hessian_beta * off
        third = k.t_alpha_alpha[s] + k.third * off * (2 * k.reference[s] + off)
        cubic = k.t_alpha[s] + 3 * k.t_alpha_alpha[s] * off + k.third * off**2 * (3 * k.reference[s] + off)
        growth = self.growth(alpha + beta)
        large, small = torch.maximum(alpha, beta), torch.minimum(alpha, beta)
        of_value = growth / 24 * large * (large**2 + 3 * small**2)
        of_slope = growth / 6 * (alpha**2 + beta**2)
        bend = k.third * alpha * beta + of_slope
        return Errors(
            odd=mixed + cubic / 6 + k.third * alpha * beta**2 / 2 + of_value,
            even=together
            + (twice + hessian_beta * beta + third * beta) / 2
            + k.third * beta**3 / 6
            + of_value,
            slope=hessian_beta + (third + k.third * beta**2) / 2 + of_slope,
            bend=bend,
            apart=apart,
            turned=hessian + bend,
            hessian=hessian,
        )

    def distance(self, s: int, moves: Moves, e: Errors) -> tuple[float, Float[Tensor, " N"]]:
        """E_s from the remainders up to s and the leaks before it, and b: what the slopes of the pairs are off by."""
        along = moves.gamma * e.even + moves.chi * (e.apart + e.odd)
        remainder = self.m**0.5 * float((e.odd + along).mean())
        slopes = e.slope + moves.chi * (self.facts.gradient + e.slope) + moves.gamma * e.turned
        past = lambda of: of[:s].flip(0)
        rough = 2 * self.eta * past(self.run.rough) @ self.run.rough.new_tensor(self.leaks)
        smooth = past(self.run.smooth) @ self.run.smooth.new_tensor(self.remainders)
        E = remainder + float(smooth + rough)
        self.remainders.append(remainder)
        width = float((e.even.square() + slopes.square()).mean().sqrt())
        self.leaks.append(width * (float(self.run.mu[s]) + E))
        return E, slopes

    def advance(self, s: int, moves: Moves, e: Errors, E: float, slopes: Float[Tensor, " N"]) -> None:
        """What is allowed after the step."""
        k, (alpha, beta, gamma, chi) = self.facts, self.allowed
        mu, off = float(self.run.mu[s]), alpha + k.off_alpha[s]
        rho = mu + E
        together = (
            E * (e.hessian + moves.gamma * k.operator)
            + mu * (k.hessian * off + k.operator * (gamma + k.off_gamma[s]))
            + rho * (moves.chi * e.turned + e.bend + moves.gamma * e.slope)
        )
        self.allowed = [
            alpha + self.unit * (E * k.operator + rho * slopes),
            beta + self.unit * together,
            gamma + self.unit * (E * k.value + rho * e.even),
            chi + self.unit * (E * e.apart + mu * k.operator * alpha + rho * e.odd),
        ]


@contract
@torch.no_grad()
def certificate(run: LinearRun, facts: Known, eta: Positive, m: Even) -> Certificate:
    """The recursion of Theorem F, from what ``known`` gives for the same η."""
    recursion = _Recursion(run, facts, eta, m)
    E, moves = torch.full_like(run.mu, math.inf), []
    for s in range(len(run.mu)):
        moves.append(recursion.moves(s))
        errors = recursion.errors(s, moves[-1])
        found, slopes = recursion.distance(s, moves[-1], errors)
        if not math.isfinite(found):
            break
        E[s] = found
        recursion.advance(s, moves[-1], errors, found, slopes)
    stack = lambda name: _padded([getattr(move, name) for move in moves], len(run.mu))
    return Certificate(run.mu, E, Moves(*map(stack, ("alpha", "beta", "gamma", "chi"))), m)


def _padded(rows: list[Tensor], steps: int) -> Tensor:
    """The rows, and infinite ones up to so many."""
    return torch.cat([torch.stack(rows), rows[0].new_full((steps - len(rows), len(rows[0])), math.inf)])


def certify(
    X: Float[Tensor, "n T d"],
    y: Float[Tensor, " n"],
    phi0: Parameters,
    eta: float,
    steps: int,
    every: int = 1,
    query: Query = last_token,
) -> Certificate:
    """What is certain of descent on the mean squared loss from a symmetric φ⁽⁰⁾ with c = ±1 before its first step; ``every`` as ``known``."""
    return certificate(*known(X, y, phi0, eta, steps, every, query), eta, phi0.m)

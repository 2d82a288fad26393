"""Theorem F for a two-layer network: the distance of a run from its linear run, bounded step by step before the first one is made.

No smallest eigenvalue enters. Where the activation is smooth its second to fourth derivatives bound what the tangent misses; for ReLU the
units that can have switched on or off do: those whose preactivation at the start is no larger than it can have changed.
"""

import math
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from companion.theory.kernel_regime.perceptron import Activation
from shallowformer.kernel_regime.linear_run.known import LinearRun

Table = Float[Tensor, "n N"]

#: A bound so many times the labels' size says nothing, and what follows from it less: it counts as infinite.
USELESS = 100.0


@dataclass(frozen=True)
class Missed:
    """Bounds, an input and a pair each, on what the tangent misses when |α·x| ≤ A and |β·x| ≤ B."""

    value: Table  # of ½(σ(z+b+a) − σ(z+b−a)) − σ′a
    even: Table  # of ½(σ′₊ + σ′₋) − σ′
    odd: Table  # of ½(σ′₊ − σ′₋) − σ″a


def missed(z: Table, A: Table, B: Table, act: Activation) -> Missed:
    """What the tangent at z can miss."""
    if not act.smooth:
        switched, together = (z.abs() <= A + B).to(z), (z.abs() <= B).to(z)
        return Missed((A + B - z.abs()).clamp(min=0) / 2, (switched + together) / 2, switched / 2)
    _, _, third, fourth = act.most
    drift = act.bend(z) * B + third * B**2 / 2
    return Missed(A * drift + third * A**3 / 6, drift + third * A**2 / 2, third * A * B + fourth * A**3 / 6)


@dataclass(frozen=True)
class Certificate:
    """What is certain before the first step; E is infinite from the step on at which the recursion has exploded."""

    mu: Float[Tensor, " steps"]  # the root of the linear run's loss
    E: Float[Tensor, " steps"]  # bounds on ‖r⁽ˢ⁾ − u⁽ˢ⁾‖/√n
    alpha: Float[Tensor, "steps N"]  # bounds on ‖α‖
    beta: Float[Tensor, "steps N"]  # bounds on ‖β‖


def _rms(values: Tensor) -> Tensor:
    return values.square().mean(0).sqrt()


def certificate(
    X: Float[Tensor, "n d"], w: Float[Tensor, "N d"], run: LinearRun, act: Activation, eta: float
) -> Certificate:
    """The recursion, for unit inputs and the linear run from w⁺ = w⁻ = w."""
    n, N = len(X), len(w)
    m, z = 2 * N, X @ w.mT
    slope, bend, unit = act.slope(z), act.bend(z), 2 * eta / m**0.5
    alpha, beta = torch.zeros_like(w), torch.zeros_like(w)  # what is known
    D_alpha, D_beta = z.new_zeros(N), z.new_zeros(N)  # what is allowed besides
    remainders, leaks, kept = [], [], ([], [])
    E = torch.full_like(run.mu, math.inf)
    for s in range(len(run.mu)):
        a, b = X @ alpha.mT, X @ beta.mT
        A, B = a.abs() + D_alpha, b.abs() + D_beta
        kept[0].append(alpha.norm(dim=1) + D_alpha), kept[1].append(beta.norm(dim=1) + D_beta)
        off = missed(z, A, B, act)
        remainder = 2 / m**0.5 * float(_rms(off.value.sum(1)))
        smooth = run.smooth[:s].flip(0) @ run.mu.new_tensor(remainders)
        rough = 2 * eta * run.rough[:s].flip(0) @ run.mu.new_tensor(leaks)
        found = remainder + float(smooth + rough)
        if not found <= USELESS * float(run.mu[0]):
            kept[0].pop(), kept[1].pop()
            break
        E[s], mu = found, float(run.mu[s])
        rho = mu + found
        even, odd = _rms(off.even), _rms(off.odd)
        remainders.append(remainder)
        leaks.append((2 / m * float(even.square().sum())) ** 0.5 * rho)
        D_beta = D_beta + unit * (found * _rms(bend * A) + mu * _rms(bend) * D_alpha + rho * odd)
        D_alpha = D_alpha + unit * (found * _rms(slope) + rho * even)
        u = run.u[s][:, None]
        beta = beta - unit / n * (u * bend * a).mT @ X
        alpha = alpha - unit / n * (u * slope).mT @ X
    blank = z.new_full((len(E) - len(kept[0]), N), math.inf)
    return Certificate(run.mu, E, *(torch.cat([torch.stack(bounds), blank]) for bounds in kept))


def width_enough(
    S: float, epsilon: float, size: float = 1.0, curvature: float | None = None, p: float = 0.1
) -> float:
    """Units that keep E_s ≤ ε‖y‖_n up to 2ηs = S, whatever the data: with σ₁ = 1 and σ₂ = ``curvature``, or ReLU with probability 1 − p.

    Args:
        size: ‖y‖_n.
    """
    if curvature is not None:
        return (2 * curvature * S**2 * (3 + S) * size / epsilon) ** 2
    return (math.sqrt(8 / math.pi) * S * size / p * (2 * S * (2 + S) / epsilon) ** 2) ** 2

"""Token selection under steepest descent in a norm, with memory or without; Adam and Muon among it.

Gradients are G · eˢ with entries of G near 1: a gap of 500 makes a gradient of e^{−500}, whose square no double holds. Memory is kept in the same
way, and rescaled as the gradient shrinks, which changes neither a sign nor a polar factor nor a quotient m/√v.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Float

from companion.theory.token_selection.norms import NORMS, newton_schulz
from shallowformer.token_selection import log_domain
from shallowformer.token_selection.instances import Instance

Matrix = Float[np.ndarray, "a b"]


@dataclass(frozen=True)
class Slope:
    """Loss and gradient at a point."""

    gaps: Float[np.ndarray, "n others"]  # h
    log_excess: float  # log(L − L*)
    G: Matrix  # −∇L e^{−scale}
    scale: float  # log of the largest weight w_k of a pair
    log_weights: Float[np.ndarray, " K"]  # log |w_k|


class Problem:
    """The loss of an instance, with queries in a basis of their span if ``rotated`` (no unitarily invariant norm notices)."""

    def __init__(self, instance: Instance, rotated: bool = False) -> None:
        q = instance.queries.numpy()
        self.right = np.linalg.qr(q.T)[0] if rotated else np.eye(instance.d)
        self.D, self.q = instance.differences.numpy(), q @ self.right
        self.sequence, self.n = instance.sequence.numpy(), instance.n
        self.best = instance.scores.amax(1).numpy()
        ahead = instance.advantages.numpy()
        self.ahead, self.between = ahead, ahead[:, :, None] - ahead[:, None, :]

    def gaps(self, Z: Matrix) -> Float[np.ndarray, "n others"]:
        """h_k = ⟨D_k, Z q_k⟩."""
        return (self.D * (self.q @ Z.T)[self.sequence]).sum(1).reshape(self.ahead.shape)

    def slope(self, Z: Matrix) -> Slope:
        """Loss and gradient, −∇L = Σ_k w_k D_k q_kᵀ with w_{i,t} = ℓ_i φ_{i,t}(γ̄_i − γ_{i,t})/n."""
        h = self.gaps(Z)
        weights = log_domain.Weights.of(h)
        missed = log_domain.log_sum_exp(weights.log_rest + np.log(self.ahead))
        excess = log_domain.log_sum_exp(log_domain.log_expm1(missed) - self.best) - math.log(self.n)
        signs, pulls = log_domain.pulls(weights, self.ahead, self.between)
        logs = (np.exp(missed) - self.best)[:, None] + weights.log_rest + pulls - math.log(self.n)
        logs, signs = logs.ravel(), signs.ravel()
        scale = float(logs.max())
        w = signs * np.exp(logs - scale)
        return Slope(h, float(excess), (self.D * w[:, None]).T @ self.q[self.sequence], scale, logs)


@dataclass(frozen=True)
class Steepest:
    """Steepest descent in a norm, of the gradient or of its running mean M ← βM + (1 − β)G."""

    norm: str  # of ``NORMS``
    beta: float = 0.0  # β; 0 has no memory
    ahead: bool = False  # Nesterov's: (1 − β)G + βM in the place of M
    approximate: bool = False  # Newton–Schulz, as Muon does, in the place of the polar factor

    def fresh(self) -> dict:
        """Memory before the first step."""
        return {"M": 0.0, "scale": 0.0}

    def direction(self, now: Slope, memory: dict, step: int) -> Matrix:
        """V with ‖V‖ ≤ 1; the memory is changed."""
        if self.beta == 0:
            return NORMS[self.norm].steepest(now.G)
        M = self.beta * memory["M"] * _shrunk(memory["scale"] - now.scale) + (1 - self.beta) * now.G
        memory.update(M=M, scale=now.scale)
        M = self.beta * M + (1 - self.beta) * now.G if self.ahead else M
        return newton_schulz(M) if self.approximate else NORMS[self.norm].steepest(M)


@dataclass(frozen=True)
class Adam:
    """m̂/(√v̂ + ε), means of the gradient and of its square, without their bias. Source: Kingma and Ba 2015."""

    beta: float = 0.9  # β₁
    square: float = 0.999  # β₂
    epsilon: float = 0.0  # ε; at 0 an entry that never had a gradient stays
    norm: str = field(default="max", init=False)

    def fresh(self) -> dict:
        """Memory before the first step."""
        return {"m": 0.0, "v": 0.0, "scale": 0.0}

    def direction(self, now: Slope, memory: dict, step: int) -> Matrix:
        """The update, without its rate; the memory is changed."""
        shrunk = _shrunk(memory["scale"] - now.scale)
        m = self.beta * memory["m"] * shrunk + (1 - self.beta) * now.G
        v = self.square * memory["v"] * shrunk**2 + (1 - self.square) * now.G**2
        memory.update(m=m, v=v, scale=now.scale)
        m = m / (1 - self.beta ** (step + 1))
        root = np.sqrt(v / (1 - self.square ** (step + 1)))
        if self.epsilon:
            root = root + math.exp(min(math.log(self.epsilon) - now.scale, 700.0))
        return m / np.where(root > 0, root, 1.0)


def _shrunk(log_ratio: float) -> float:
    """E^x, at most e^300: a gradient that fell by more in one step leaves nothing of itself."""
    return math.exp(min(log_ratio, 300.0))


def run(
    instance: Instance,
    optimiser: Steepest | Adam,
    lengths: Float[np.ndarray, " steps"],
    at: Sequence[int],
    start: Float[np.ndarray, "d d"] | None = None,
) -> list[tuple[int, Float[np.ndarray, "d d"], Slope]]:
    """W ← W + s_t V_t from 0 or a start: step, W and slope at the recorded steps."""
    problem = Problem(instance, rotated=optimiser.norm != "max" and start is None)
    Z = np.zeros((instance.d, problem.right.shape[1])) if start is None else start @ problem.right
    memory, wanted, kept = optimiser.fresh(), set(at), []
    for t in range(len(lengths) + 1):
        now = problem.slope(Z)
        if t in wanted:
            kept.append((t, Z @ problem.right.T, now))
        if t < len(lengths):
            Z = Z + lengths[t] * optimiser.direction(now, memory, t)
    return kept

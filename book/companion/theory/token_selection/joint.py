"""Joint training of decoder and attention, (u, W) from (0, 0) or from a start, with losses, weights and gradient norms in log form.

Everything happens in the span of the tokens, of dimension at most nT: tokens are turned into coordinates there, which changes no inner
product. Steps go along gradients of log L, weights softmax(−margins) relative to one another, so that no loss is ever a power of e.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from companion.theory.token_selection.joint_rules import Rule
from shallowformer import arguments
from shallowformer.token_selection import log_domain
from shallowformer.token_selection.descent import alignment
from shallowformer.token_selection.instances import Instance
from shallowformer.token_selection.log_domain import log_sum_exp
from shallowformer.token_selection.rules import recorded_steps
from shallowformer.token_selection.span import basis
from shallowformer.token_selection.svm import Infeasible, u_svm, w_svm
from shallowformer.training.descent import Diverged

Array = np.ndarray


@dataclass(frozen=True)
class Slope:
    """Loss and gradients at a point."""

    weights: log_domain.Weights  # attention
    margins: Float[Array, " n"]  # y_i f_i
    ahead: Float[Array, "n others"]  # γ_{i,opt} − γ_{i,t}
    log_loss: float  # log L
    log_u: float  # log ‖∇_u L‖
    log_W: float  # log ‖∇_W L‖; −∞ where it is 0
    along_u: Float[Array, " r"]  # −∇_u L/‖∇_u L‖; 0 for 0
    along_W: Float[Array, "r r"]  # −∇_W L/‖∇_W L‖; 0 for 0


@dataclass(frozen=True)
class Tokens:
    """Signed tokens y_i x_{i,t} in coordinates, from which labels are gone: y_i⟨u, x⟩ = ⟨u, y_i x⟩."""

    best: Float[Array, "n r"]  # y_i x_{i,opt}
    apart: Float[Array, "n others r"]  # y_i (x_{i,opt} − x_{i,t})
    differences: Float[Array, "n others r"]  # x_{i,opt} − x_{i,t}
    queries: Float[Array, "n r"]  # q_i

    def gaps(self, W: Float[Array, "r r"]) -> Float[Array, "n others"]:
        """h_{i,t}."""
        return (self.differences @ (self.queries @ W.T)[..., None])[..., 0]

    def slope(self, u: Float[Array, " r"], W: Float[Array, "r r"]) -> Slope:
        """Loss and gradients at (u, W)."""
        weights = log_domain.Weights.of(self.gaps(W))
        ahead = self.apart @ u
        rest = np.exp(weights.log_rest)
        z = self.best - (rest[..., None] * self.apart).sum(1)  # signed attended tokens
        margins = z @ u
        n = len(z)
        log_sum = float(log_sum_exp(-margins))
        log_share = -margins - log_sum  # log of ℓ_i/(nL)
        of_u = np.exp(log_share) @ z
        # With T = 2 there is no other pair of tokens in a sequence.
        between = ahead[:, :, None] - ahead[:, None, :] if ahead.shape[1] > 1 else None
        signs, logs = log_domain.pulls(weights, ahead, between)
        logs = log_share[:, None] + weights.log_rest + logs
        top = logs.max() if np.isfinite(logs.max()) else 0.0
        of_W = ((signs * np.exp(logs - top))[..., None] * self.differences).sum(1).T @ self.queries
        log_loss = log_sum - math.log(n)
        (log_u, along_u), (log_W, along_W) = _unit(of_u), _unit(of_W)
        return Slope(
            weights, margins, ahead, log_loss, log_loss + log_u, log_loss + top + log_W, along_u, along_W
        )


def _unit(a: Array) -> tuple[float, Array]:
    size = float(np.linalg.norm(a))
    return (math.log(size), a / size) if size > 0 else (-math.inf, a)


@dataclass(frozen=True)
class Trajectory:
    """What was recorded of a run at k steps."""

    steps: Int[Tensor, " k"]  # t, the number of steps made
    log_loss: Float[Tensor, " k"]  # log L
    log_u: Float[Tensor, " k"]  # log ‖∇_u L‖
    log_W: Float[Tensor, " k"]  # log ‖∇_W L‖
    margins: Float[Tensor, "k n"]  # y_i f_i
    ahead: Float[Tensor, "k n others"]  # Δ_{i,t} = γ_{i,opt} − γ_{i,t}
    gaps: Float[Tensor, "k n others"]  # h_{i,t}
    log_off: Float[Tensor, "k n"]  # log(1 − φ_{i,opt})
    log_best: Float[Tensor, "k n"]  # log φ_{i,opt}
    norm_u: Float[Tensor, " k"]  # ‖u‖
    norm_W: Float[Tensor, " k"]  # ‖W‖
    residual_u: Float[Tensor, " k"]  # ‖u − ⟨u, û⟩û‖, û = u_mm/‖u_mm‖
    residual_W: Float[Tensor, " k"]  # the same of W
    one_minus_corr_u: Float[Tensor, " k"]  # 1 − ⟨u/‖u‖, û⟩; 1 at u = 0
    one_minus_corr_W: Float[Tensor, " k"]  # the same of W
    optimal_margin: Float[Tensor, " k"]  # min_i y_i⟨u, x_{i,opt}⟩/‖u‖; 0 at u = 0
    log_loss_ratio: Float[Tensor, " k"]  # log of max_{i,j} ℓ_i/ℓ_j
    length_u: Float[Tensor, " k"]  # of u's step that follows
    length_W: Float[Tensor, " k"]  # of W's step that follows
    u: Float[Tensor, "k d"]  # decoder, in the tokens' dimension d
    best_margin: float  # γ = 1/‖u_mm‖, one number; 0 if (u-SVM) has no solution


def _directions(instance: Instance, onto: Tensor) -> tuple[Array, Array, float]:
    """Unit vectors of u_mm and W_mm in coordinates, 0 where there is none, and γ."""
    r = onto.shape[1]
    try:
        found = u_svm(instance)
        u_hat, gamma = (onto.T @ found.u / found.norm).numpy(), found.margin
    except Infeasible:
        u_hat, gamma = np.zeros(r), 0.0
    try:
        found = w_svm(instance)
        span = found.span
        small = torch.einsum("rab,r->ab", span.B, found.z / found.norm)
        W_hat = ((onto.T @ span.left) @ small @ (span.right.T @ onto)).numpy()
    except Infeasible:
        W_hat = np.zeros((r, r))
    return u_hat, W_hat, gamma


def in_coordinates(instance: Instance, onto: Float[Tensor, "d r"]) -> Tokens:
    """The tokens in an orthonormal basis of a space that holds them."""
    here = lambda a: (a @ onto).numpy()
    y, apart = instance.y[:, None], instance.differences.unflatten(0, (instance.n, -1))
    return Tokens(here(y * instance.best), here(y[..., None] * apart), here(apart), here(instance.queries))


def walk(
    tokens: Tokens, rule: Rule, steps: int, u: Array, W: Array
) -> Iterator[tuple[int, Array, Array, Slope, tuple[float, float]]]:
    """Train both, so many steps.

    Yields: before every step and after the last: how many were made, u, W, the slope there, and the lengths of the step that follows.
    """
    for t in range(steps + 1):
        now = tokens.slope(u, W)
        lengths = rule.lengths(t, now.log_u, now.log_W, now.log_loss)
        if not all(map(math.isfinite, lengths)):
            raise Diverged(
                f"the step lengths are {lengths[0]} and {lengths[1]} at step {t}: {rule} grows without bound"
            )
        yield t, u, W, now, lengths
        u, W = u + lengths[0] * now.along_u, W + lengths[1] * now.along_W


def run(
    instance: Instance,
    rule: Rule,
    steps: int,
    at: Sequence[int] | None = None,
    u0: Float[Tensor, " d"] | None = None,
    W0: Float[Tensor, "d d"] | None = None,
) -> Trajectory:
    """Train both: u ← u − s_u ∇_u L/‖∇_u L‖ and W ← W − s_W ∇_W L/‖∇_W L‖ at once, lengths from a rule; from 0 where no start is given.

    Args:
        instance: the data, in float64; its decoder serves to find the optimal tokens, if they are not given.
        at: the steps to record, from 0 to ``steps``; 20 a decade, with the first and the last, if not given.
    """
    if instance.X.dtype != torch.float64:
        raise ValueError(f"instance must be in torch.float64 for the simulator, got {instance.X.dtype}")
    wanted = set(recorded_steps(steps) if at is None else (arguments.count("at", each, 0) for each in at))
    if not wanted or max(wanted) > steps:
        raise ValueError(f"at must hold steps from 0 to steps = {steps}, got {sorted(wanted)}")
    d = instance.d
    u0 = instance.X.new_zeros(d) if u0 is None else u0
    W0 = None if W0 is None else arguments.shape("W0", arguments.floating("W0", W0, "d d"), (d, d), "as X")
    arguments.shape("u0", arguments.floating("u0", u0, "d"), (d,), "[d] as in X")
    # A start of W reaches out of the tokens' span: then all of ℝᵈ is kept.
    rows = torch.cat([instance.X.flatten(0, 1), instance.queries, u0[None]])
    onto = basis(rows) if W0 is None else torch.eye(d, dtype=instance.X.dtype)
    tokens = in_coordinates(instance, onto)
    start = (u0 @ onto).numpy(), np.zeros((onto.shape[1],) * 2) if W0 is None else W0.numpy().copy()
    u_hat, W_hat, gamma = _directions(instance, onto)
    kept = []
    for t, u, W, now, (length_u, length_W) in walk(tokens, rule, steps, *start):
        if t in wanted:
            in_u, in_W = alignment(u, u_hat, 0.0), alignment(W.ravel(), W_hat.ravel(), 0.0)
            size = float(in_u.norm)
            kept.append({
                "steps": t, "log_loss": now.log_loss, "log_u": now.log_u, "log_W": now.log_W, "margins": now.margins, "ahead": now.ahead,
                "gaps": tokens.gaps(W), "log_off": now.weights.log_off, "log_best": now.weights.log_best, "norm_u": in_u.norm,
                "norm_W": in_W.norm, "residual_u": in_u.residual, "residual_W": in_W.residual, "one_minus_corr_u": in_u.one_minus_corr,
                "one_minus_corr_W": in_W.one_minus_corr, "optimal_margin": (tokens.best @ u).min() / size if size > 0 else 0.0,
                "log_loss_ratio": now.margins.max() - now.margins.min(), "length_u": length_u, "length_W": length_W,
                "u": onto.numpy() @ u,
            })  # fmt: skip
    stacked = {name: torch.from_numpy(np.stack([np.asarray(one[name]) for one in kept])) for name in kept[0]}
    return Trajectory(**stacked, best_margin=gamma)

"""Training of attention with a fixed decoder, exactly and in log form, in the coordinates of ``span``: h = Rz, and W⁽⁰⁾'s rest never moves.

The optimal weight of a trained sequence is 1 − e^{−2580} after a thousand normalised steps; here its distance from 1, the loss above its
infimum and the gradient's norm are logarithms throughout, and the gradient's direction is computed from weights relative to the largest.
"""

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from shallowformer.token_selection import log_domain
from shallowformer.token_selection.instances import Instance
from shallowformer.token_selection.log_domain import log_sum_exp
from shallowformer.token_selection.span import Span, Start
from shallowformer.token_selection.svm import Infeasible, Separator, w_svm

Array = np.ndarray


@dataclass(frozen=True)
class Slope:
    """Loss and gradient at a point."""

    weights: log_domain.Weights  # attention
    log_excess: Float[Array, "*s"] | np.floating  # log(L − L*), L* = (1/n) Σ_i e^{−γ_{i,opt}}
    log_norm: Float[Array, "*s"] | np.floating  # log ‖∇L‖
    direction: Float[Array, "*s r"]  # −∇L/‖∇L‖, in coordinates; 0 where the gradient is 0


@dataclass(frozen=True)
class Problem:
    """A fixed decoder's training problem; leading dimensions are problems of one size side by side (``stacked``)."""

    R: Float[Array, "*s K r"]  # coordinates of the E_k
    z0: Float[Array, "*s r"]  # start
    rest: Float[Array, "*s"]  # norm of the part of W⁽⁰⁾ orthogonal to all E_k
    best: Float[Array, "*s n"]  # γ_{i,opt}
    ahead: Float[Array, "*s n others"]  # γ_{i,opt} − γ_{i,t}, above 0
    #: γ_{i,s} − γ_{i,t} at [i, t, s]; None under Assumption 2
    between: Float[Array, "*s n others others"] | None
    target: Float[Array, "*s r"]  # unit vector of W_mm in coordinates; 0 if (W-SVM) has no solution
    margin: Float[Array, "*s"]  # 1/‖W_mm‖; 0 if there is none
    span: Span | None = None  # what coordinates mean; None for several problems
    W0: Start | None = None  # the start as it was given; None for 0 or for several problems

    def gaps(self, z: Float[Array, "*s r"]) -> Float[Array, "*s n others"]:
        """h_k = ⟨E_k, W⟩ at coordinates z."""
        return (self.R @ z[..., None]).reshape(self.ahead.shape)

    @functools.cached_property
    def log_ahead(self) -> Float[Array, "*s n others"]:
        """log(γ_{i,opt} − γ_{i,t})."""
        return np.log(self.ahead)

    def slope(self, z: Float[Array, "*s r"]) -> Slope:
        """Loss and gradient at coordinates z.

        −∇L = (1/n) Σ_i ℓ_i Σ_t φ_{i,t}(γ̄_i − γ_{i,t}) E_{i,t}, for any scores; with log(L − L*) from the sum of φ_t(γ_opt − γ_t).
        """
        weights = log_domain.Weights.of(self.gaps(z))
        log_missed = log_sum_exp(weights.log_rest + self.log_ahead)  # log of γ_opt − γ̄
        log_n = math.log(self.best.shape[-1])
        log_excess = log_sum_exp(log_domain.log_expm1(log_missed) - self.best) - log_n
        signs, log_pulls = log_domain.pulls(weights, self.ahead, self.between)
        log_loss = np.exp(log_missed) - self.best
        logs = (log_loss[..., None] + weights.log_rest + log_pulls - log_n).reshape(self.R.shape[:-1])
        top = logs.max(-1, keepdims=True)
        w = signs.reshape(logs.shape) * np.exp(logs - top)
        v = (w[..., None, :] @ self.R)[..., 0, :]
        size = np.sqrt((v * v).sum(-1, keepdims=True))
        with np.errstate(divide="ignore"):
            log_norm = (top + np.log(size))[..., 0]
        return Slope(weights, log_excess, log_norm, v / np.where(size > 0, size, 1.0))

    def matrix(self, z: Float[Tensor, " r"]) -> Float[Tensor, "d d"]:
        """W at coordinates z, of a run that is not one of several side by side."""
        if self.span is None:
            raise ValueError("problem must be a single one to have a matrix, got several side by side")
        W0 = self.W0[0] @ self.W0[1].T if isinstance(self.W0, tuple) else self.W0
        moved = self.span.matrix(z - torch.from_numpy(self.z0).to(z))
        return moved if W0 is None else W0 + moved


def problem(instance: Instance, W0: Start | None = None, towards: Separator | None = None) -> Problem:
    """The training problem of an instance in float64; its optimal tokens are those of the scores.

    Args:
        W0: start; 0 if not given; two factors (a, b) stand for a bᵀ.
        towards: solution of (W-SVM); solved here if not given, and left out if there is none.
    """
    if instance.X.dtype != torch.float64:
        raise ValueError(f"instance must be in torch.float64 for the simulator, got {instance.X.dtype}")
    if not (instance.advantages > instance.rounding[:, None]).all():
        raise ValueError(
            "opt must name the tokens with the largest scores, which the infimum of the loss is made of, got one that is "
            f"{-float(instance.advantages.min()):.3g} below another"
        )
    if towards is None:
        try:
            towards = w_svm(instance)
        except Infeasible:
            span, target, margin = Span.of(instance), None, 0.0
    if towards is not None:
        span, target, margin = towards.span, towards.z / towards.norm, towards.margin
    z0, rest = (torch.zeros_like(span.R[0]), 0.0) if W0 is None else span.coordinates(W0)
    ahead = instance.advantages.numpy()
    between = ahead[:, :, None] - ahead[:, None, :]
    between = np.where(np.abs(between) <= instance.rounding.numpy()[:, None, None], 0.0, between)
    return Problem(
        span.R.numpy(), z0.numpy(), np.array(rest), instance.scores.gather(1, instance.optimal[:, None])[:, 0].numpy(), ahead,
        between if between.any() else None, np.zeros(len(z0)) if target is None else target.numpy(), np.array(margin), span, W0,
    )  # fmt: skip


def stacked(problems: Sequence[Problem]) -> Problem:
    """Problems of one size (n, T), at least one, side by side, to be run together; the ranks r may differ."""
    sizes = {each.ahead.shape for each in problems}
    if len(sizes) != 1:
        raise ValueError(f"problems must be at least one and all of one size (n, T − 1), got {sorted(sizes)}")
    r = max(each.z0.shape[-1] for each in problems)
    wide = lambda a: np.pad(a, [(0, 0)] * (a.ndim - 1) + [(0, r - a.shape[-1])])
    stack = lambda name, change=lambda a: a: np.stack([change(getattr(each, name)) for each in problems])
    T = problems[0].ahead.shape
    full = [np.zeros((*T, T[-1])) if each.between is None else each.between for each in problems]
    between = None if all(each.between is None for each in problems) else np.stack(full)
    return Problem(
        stack("R", wide), stack("z0", wide), stack("rest"), stack("best"), stack("ahead"), between, stack("target", wide),
        stack("margin"),
    )  # fmt: skip

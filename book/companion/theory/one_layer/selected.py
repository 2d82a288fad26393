"""A problem of token selection in numbers: attention moves, the decoder stands still.

Units are the identity and all read one attention, so the layer is Σ_t φ_t ⟨v, X_t⟩ + g⟨v, q⟩ with v = α m^{−½} Σ_j C_j U_j: part two's model,
with scores γ_t = y(⟨v, X_t⟩ + g⟨v, q⟩). Skip and α change scores, not the matrices E_k = (X_opt − X_t)qᵀ, and not (W-SVM).

Under equal scores of all other tokens a sample's loss is L*_i e^{Δp}, p = 1 − φ_opt = σ(g), g = log Σ_t e^{−h_t}. Excess means
x = L − L* = Σ_i c_i (e^{Δ_i p_i} − 1), c_i = e^{−γ_opt}/n; −∇L = Σ_k w_k E_k with w ≥ 0, and w_i = c_i Δ_i p_i (1 − p_i) e^{Δ_i p_i} for sample i.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from jaxtyping import Float

from companion.theory.one_layer.layer import Switches
from companion.theory.one_layer.problem import Problem
from shallowformer.token_selection import svm
from shallowformer.token_selection.instances import Instance

Numbers = Float[np.ndarray, "..."]


def covers(switches: Switches, units: int, outputs: int) -> bool:
    """Is the layer a model of token selection with a fixed decoder?"""
    shared = switches.heads == "shared" or units == 1
    told = (switches.activation, switches.loss, set(switches.trained)) == ("identity", "exponential", {"W"})
    return shared and told and outputs == 1 and switches.rule in ("plain", "normalised")


def instance(problem: Problem) -> Instance:
    """Part two's data with the same scores: the skip's share is one more coordinate, the same for all tokens of a sequence."""
    s, y = problem.switches, problem.y[:, 0]
    v = s.alpha * problem.m**-0.5 * (problem.start["C"].T @ problem.start["U"])[0]
    added = (s.skip * problem.q @ v)[:, None, None].expand(-1, problem.X.shape[1], 1)
    X, nought = torch.cat([problem.X, added], -1), torch.zeros_like(problem.q[:, :1])
    return Instance(X, y, torch.cat([v, torch.ones_like(v[:1])]), query=torch.cat([problem.q, nought], -1))


@dataclass(frozen=True)
class Selection:
    """A problem of token selection in numbers: n samples, K = n(T − 1) pairs, r coordinates of their span."""

    data: Instance
    best: svm.Attention
    z0: Numbers  # W_0 in coordinates
    eta: float
    normalised: bool

    @cached_property
    def Delta(self) -> Numbers:
        """Δ_i."""
        return self.data.Delta.numpy()

    @cached_property
    def c(self) -> Numbers:
        """c_i = e^{−γ_opt}/n; they add up to L*."""
        return np.exp(-self.data.scores.amax(1).numpy()) / self.data.n

    @cached_property
    def R(self) -> Float[np.ndarray, "n others r"]:
        """The E_k in coordinates."""
        return self.best.A.numpy().reshape(self.data.n, self.data.T - 1, -1)

    @cached_property
    def G(self) -> Float[np.ndarray, "n others n others"]:
        """⟨E_k, E_l⟩."""
        return np.einsum("itr,jur->itju", self.R, self.R)

    @cached_property
    def together(self) -> Float[np.ndarray, "n n"]:
        """The largest ⟨E_{it}, E_{jτ}⟩ of two samples, or 0."""
        return np.maximum(self.G.max((1, 3)), 0)

    @cached_property
    def E(self) -> Numbers:
        """E_i = max_t ‖E_{it}‖."""
        return np.linalg.norm(self.R, axis=2).max(1)

    @cached_property
    def g0(self) -> Numbers:
        """g_i at the start."""
        return self.g(self.z0)

    @cached_property
    def norm(self) -> float:
        """‖W_mm‖."""
        return self.best.norm

    def g(self, z: Float[np.ndarray, "*s r"]) -> Float[np.ndarray, "*s n"]:
        """g_i = log Σ_t e^{−h_t}, so that p_i = σ(g_i)."""
        return np.logaddexp.reduce(-np.tensordot(z, self.R, (-1, 2)), axis=-1)

    def excess(self, p: Float[np.ndarray, "*s n"]) -> Float[np.ndarray, "*s n"]:
        """c_i (e^{Δ_i p_i} − 1)."""
        return self.c * np.expm1(self.Delta * p)

    def weight(self, p: Float[np.ndarray, "*s n"]) -> Float[np.ndarray, "*s n"]:
        """w_i = c_i Δ_i p_i (1 − p_i) e^{Δ_i p_i}."""
        return self.c * self.Delta * p * (1 - p) * np.exp(self.Delta * p)

    def largest_weight(self, p: Numbers) -> Numbers:
        """The largest w_i up to p_i: w is log-concave in p, with its top where 1 − 2p + Δp(1 − p) = 0."""
        top = 2 / (2 - self.Delta + np.sqrt(self.Delta**2 + 4))
        return self.weight(np.minimum(p, top))

    def gradient(self, z: Numbers) -> Numbers:
        """∇L in coordinates."""
        h = self.R @ z
        g = np.logaddexp.reduce(-h, axis=1)
        share = np.exp(-h - g[:, None])
        return -np.einsum("i,it,itr->r", self.weight(sigmoid(g)), share, self.R)


def selection(problem: Problem) -> Selection | None:
    """The problem in numbers, or None where the theory does not hold."""
    if not covers(problem.switches, problem.m, problem.y.shape[1]):
        return None
    try:
        data = instance(problem)
        if not data.equal_scores():
            return None
        best = svm.w_svm(data)
    except ValueError:  # tied scores, or no matrix selects
        return None
    W0 = torch.nn.functional.pad(problem.start["W"][0].detach(), (0, 1, 0, 1))
    z0 = best.span.coordinates(W0)[0].numpy()
    return Selection(data, best, z0, problem.eta, problem.switches.rule == "normalised")


def sigmoid(g: Numbers) -> Numbers:
    """σ, without overflow."""
    return np.exp(-np.logaddexp(0, -g))

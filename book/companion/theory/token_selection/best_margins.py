"""The largest margin in each norm, max min_k ⟨E_k, W⟩ over ‖W‖ ≤ 1, between two bounds.

The dual is the smallest ‖Σ_k λ_k E_k‖_* over weights λ of sum 1. Each solver gives a matrix and weights; what is reported are the margin of
the one and the dual norm of the other, recomputed, so that a solver that stops early is seen.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from scipy.optimize import linprog

from companion.theory.token_selection.norms import NORMS
from shallowformer.token_selection.instances import Instance
from shallowformer.token_selection.svm import w_svm


@dataclass(frozen=True)
class Best:
    """A matrix with the largest margin."""

    W: Float[np.ndarray, "d d"]  # of norm 1
    weights: Float[np.ndarray, " K"]  # λ ≥ 0, Σλ = 1
    margin: float  # min_k ⟨E_k, W⟩, a lower bound
    above: float  # ‖Σ λ_k E_k‖_*, an upper bound


def pairs(instance: Instance) -> Float[np.ndarray, "K d d"]:
    """The matrices E_k = D_k q_kᵀ."""
    D, q = instance.differences.numpy(), instance.pair_queries.numpy()
    return D[:, :, None] * q[:, None, :]


def best(instance: Instance, norm: str) -> Best:
    """The largest margin in a norm of ``NORMS``."""
    if norm not in NORMS:
        raise ValueError(f"norm must be one of {', '.join(NORMS)}, got {norm!r}")
    E = pairs(instance)
    if norm == "euclidean":
        found = w_svm(instance)
        W, weights = found.W.numpy(), found.multipliers.numpy()
    elif norm == "max":
        W, weights = _by_linear_program(E)
    else:
        W, weights = _by_barrier(instance)
    weights = np.maximum(weights, 0)
    W, weights = W / NORMS[norm].size(W), weights / weights.sum()
    low = float(np.einsum("kab,ab->k", E, W).min())
    return Best(W, weights, low, float(NORMS[norm].dual(np.einsum("k,kab->ab", weights, E))))


def _by_linear_program(E: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Maximise g with ⟨E_k, W⟩ ≥ g and |W_ab| ≤ 1."""
    K, d, b = E.shape
    scale = abs(E).sum((1, 2)).max()
    found = linprog(
        np.r_[np.zeros(d * b), -1.0], A_ub=np.hstack([-E.reshape(K, -1) / scale, np.ones((K, 1))]), b_ub=np.zeros(K),
        bounds=[(-1, 1)] * (d * b) + [(None, None)], method="highs",
    )  # fmt: skip
    if found.status != 0:
        raise ArithmeticError(f"linear program for the largest entry was not solved: {found.message}")
    return found.x[:-1].reshape(d, b), -found.ineqlin.marginals


def _by_barrier(instance: Instance, gap: float = 1e-9) -> tuple[np.ndarray, np.ndarray]:
    """Newton's method on τg + Σ_k log(⟨E_k, W⟩ − g) + log det(1 − WᵀW), τ eightfold until the duality gap is relatively small.

    In coordinates: W = left · Z · rightᵀ with orthonormal bases of differences and queries, which changes no singular value that counts.
    """
    svm = w_svm(instance)
    left, right = svm.span.left.numpy(), svm.span.right.numpy()
    E = np.einsum("kab,ai,bj->kij", pairs(instance), left, right)
    K, a, b = E.shape
    flat, Z = E.reshape(K, -1), left.T @ svm.W.numpy() @ right
    Z = 0.5 * Z / NORMS["spectral"].size(Z)
    g = 0.5 * float((flat @ Z.ravel()).min())
    size = lambda Z, g: (flat @ Z.ravel() - g, np.eye(b) - Z.T @ Z)

    def value(Z: np.ndarray, g: float, tau: float) -> float:
        slack, room = size(Z, g)
        sign, logdet = np.linalg.slogdet(room)
        inside = slack.min() > 0 and sign > 0 and np.linalg.eigvalsh(room)[0] > 0
        return tau * g + np.log(slack).sum() + logdet if inside else -np.inf

    tau = (K + b) / g
    while (K + b) / tau > gap * g:
        for _ in range(50):
            slack, room = size(Z, g)
            M = np.linalg.inv(room)
            P, inverse = Z @ M, 1 / slack
            slope = np.r_[flat.T @ inverse - 2 * P.ravel(), tau - inverse.sum()]
            outer = np.hstack([flat, -np.ones((K, 1))]) * inverse[:, None]
            curve = outer.T @ outer
            curve[:-1, :-1] += 2 * (
                np.einsum("ac,ij->aicj", np.eye(a) + P @ Z.T, M) + np.einsum("aj,ci->aicj", P, P)
            ).reshape(a * b, a * b)
            move = np.linalg.solve(curve, slope)
            decrement, now, length = float(slope @ move), value(Z, g, tau), 1.0
            to = lambda s, move=move, Z=Z, g=g: (Z + s * move[:-1].reshape(a, b), g + s * move[-1])
            while length > 1e-10 and value(*to(length), tau) < now + 0.1 * length * decrement:
                length /= 2
            if decrement < 1e-9 or length <= 1e-10:
                break
            Z, g = to(length)
        tau *= 8
    return left @ Z @ right.T, 1 / size(Z, g)[0]

"""Three norms of a matrix, and steepest descent in each: Euclidean, largest entry, spectral.

A norm's steepest direction at −∇L = G is a V with ‖V‖ ≤ 1 and ⟨G, V⟩ = ‖G‖_*: the gradient itself, its signs, or its polar factor.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

Matrix = Float[np.ndarray, "*s a b"]
Numbers = Float[np.ndarray, "*s"] | np.floating
#: Newton–Schulz as Muon has it: coefficients of x, x³, x⁵, chosen for speed, so that singular values end near 1 and not at 1.
MUON = (3.4445, -4.7750, 2.0315)


@dataclass(frozen=True)
class Norm:
    """A norm, its dual, and where it is steepest to go."""

    size: Callable[[Matrix], Numbers]  # ‖W‖
    dual: Callable[[Matrix], Numbers]  # ‖G‖_* = max ⟨G, V⟩ over ‖V‖ ≤ 1
    steepest: Callable[[Matrix], Matrix]  # a V where it is attained; 0 for G = 0


def _singular(G: Matrix) -> Float[np.ndarray, "*s r"]:
    return np.linalg.svd(G, compute_uv=False)


def _length(G: Matrix) -> Numbers:
    return np.sqrt((G * G).sum((-2, -1)))


def _unit(G: Matrix) -> Matrix:
    size = _length(G)[..., None, None]
    return G / np.where(size > 0, size, 1.0)


def polar(G: Matrix) -> Matrix:
    """The polar factor UVᵀ of G = U diag(σ) Vᵀ, without the part where σ is 0 up to rounding."""
    U, size, V = np.linalg.svd(G, full_matrices=False)
    there = size > max(G.shape[-2:]) * np.finfo(float).eps * size[..., :1]
    return (U * there[..., None, :]) @ V


def newton_schulz(G: Matrix, steps: int = 5) -> Matrix:
    """Muon's approximation of the polar factor: x ← ax + bx³ + cx⁵ on singular values, from G/‖G‖_F. Source: Jordan et al. 2024."""
    a, b, c = MUON
    X = _unit(G)
    tall = X.shape[-2] > X.shape[-1]
    X = np.swapaxes(X, -2, -1) if tall else X
    for _ in range(steps):
        A = X @ np.swapaxes(X, -2, -1)
        X = a * X + (b * A + c * A @ A) @ X
    return np.swapaxes(X, -2, -1) if tall else X


#: By name: ‖W‖_F; max |W_ab|; the largest singular value. Duals: the same; Σ|G_ab|; the sum of singular values.
NORMS: dict[str, Norm] = {
    "euclidean": Norm(_length, _length, _unit),
    "max": Norm(lambda W: abs(W).max((-2, -1)), lambda G: abs(G).sum((-2, -1)), np.sign),
    "spectral": Norm(lambda W: _singular(W)[..., 0], lambda G: _singular(G).sum(-1), polar),
}

"""How far two layers with a stream of N numbers are from their linear model on Ω_ρ: the constants of the upper bound, for tokens in the unit ball and σ = tanh.

``Norms`` holds what is read off the start, ``Constants`` what follows. Length enters through K ≤ T, with which M grows, and through log T in the bounds on what is read off the start.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from companion.theory.beyond import wide
from companion.theory.beyond.architecture import Blocks
from companion.theory.beyond.deep import FIRST

#: Bounds on |σ'| and |σ''| of tanh.
SLOPE, BEND = 1.0, 4 / (3 * 3**0.5)


@dataclass(frozen=True)
class Norms:
    """Sizes of one network at its start, on the inputs in question."""

    m: int  # heads a layer, of both networks
    N: int  # numbers a token
    T: int  # tokens
    first: float  # (mean of ‖U1_i‖⁴)^{1/4}
    B: float  # ‖B‖_op, as a k × N matrix
    U: float  # ‖U2‖_op, as a k × N matrix
    W: float  # bound on the injective norm of W2, sup Σ_i w_i ⟨u, W_i v⟩ over unit vectors
    G: float  # the largest ‖·‖_op of the matrices with rows W_i ξ_T, or W_iᵀ ξ_t
    r: float  # the longest ξ_t
    y: float  # the largest |⟨U2_i, ξ_t⟩|
    K: float  # T times the largest attention weight of the second layer


@dataclass(frozen=True)
class Constants:
    """What the proof bounds, in its order; see the chapter."""

    tau: tuple[float, float]  # √N‖ξ̇‖ and √(Nm)‖ξ̈‖
    lam: tuple[float, float]  # ℓ̇ in the Euclidean norm over heads, ℓ̈ in the sum
    Y: tuple[float, float]  # the same of y
    K: float  # T times the largest weight on Ω
    y: float  # the largest |y| on Ω
    Z: tuple[float, float]  # ż in the Euclidean norm, z̈ in the sum
    M: float  # |f''| ≤ M on Ω, along any move of Ω


def constants(norms: Norms, rho: Sequence[float]) -> Constants:
    """The constants of Theorem Z, wide stream; |f − f_lin| ≤ M/2 on Ω_ρ.

    Args:
        rho: the radii of B1, U1, W1, c, U2, W2, so that a unit moves by at most ρ/√m.
    """
    b, u1, w1, c, u, w = rho
    m, N = norms.m, norms.N
    long = norms.first + u1 / m**0.5
    g, h = u1 + long * w1, 2 * u1 * w1 + 2 * long * w1**2
    B, U, W = norms.B + b / 2**0.5, norms.U + u / 2**0.5, norms.W + w / 2**0.5
    tau1 = b / 2**0.5 + B * SLOPE * g / m**0.5
    tau2 = 2**0.5 * b * SLOPE * g + B * (BEND * g**2 + SLOPE * h) / m**0.5
    moved = tau1 / N**0.5
    r = norms.r + moved
    G = norms.G + w * r / 2**0.5 + W * moved
    lam1 = w * r**2 / 2**0.5 + 2 * G * moved
    lam2 = 2 * m**0.5 * w * r * moved + (2 * m) ** 0.5 * W * moved**2 + 2**0.5 * G * tau2 / N**0.5
    Y1 = u * r / 2**0.5 + U * moved
    Y2 = m**0.5 * u * moved + U * tau2 / (2 * N) ** 0.5
    K = min(norms.T, norms.K * math.exp(min(2 * lam1, 700.0)))
    y = norms.y + u * r / m**0.5 + U * moved
    Z1 = K**0.5 * (Y1 + y * lam1)
    Z2 = K * (Y2 + 2 * Y1 * lam1 + 2 * y * lam2 + 2 * y * lam1**2)
    readout = 1 + c / m**0.5
    M = 2 / m**0.5 * (2**0.5 * c * SLOPE * Z1 + readout * (BEND * Z1**2 + SLOPE * Z2))
    return Constants((tau1, tau2), (lam1, lam2), (Y1, Y2), K, y, (Z1, Z2), M)


def gradient(at_start: Float[Tensor, " n"], M: float, m: int, rho: Sequence[float]) -> float:
    """Ā², a bound on the mean of ‖∇f_j‖² on Ω_ρ: ‖∇f_j‖ ≤ ‖∇f_j(φ⁽⁰⁾)‖ + 2M√m / min ρ.

    Args:
        at_start: ‖∇f_j(φ⁽⁰⁾)‖ of every sample.
        M: the bound on |f''|.
    """
    return float((at_start + 2 * M * m**0.5 / min(rho)).square().mean())


def expected(m: int, N: int, d: int, T: int, t: float = 3.0, inputs: int = 1) -> Norms:
    """Bounds on all norms for inputs given in advance; all hold with probability at least 1 − 8e^{−t²/2}."""
    k, many = m / 2, (2 * math.log(T * inputs)) ** 0.5
    norm = k**0.5 + N**0.5 + t
    r = 2 + (t + many) / N**0.5
    return Norms(
        m=m,
        N=N,
        T=T,
        first=(d + 1) ** 0.5 + t / k**0.25,
        B=norm,
        U=norm,
        W=norm + N**0.5,
        G=r * (norm + many),
        r=r,
        y=r * ((2 * math.log(k * T * inputs)) ** 0.5 + t),
        K=float(T),
    )


def measured(X: Float[Tensor, "n T d"], phi: Blocks) -> Norms:
    """The norms at a start, on given inputs; ‖W2‖ as a k·N × N matrix bounds its injective norm."""
    one = wide.network(phi, 0)
    xi = wide.stream(X, *(one[name] for name in FIRST))
    k, N = one["B1"].shape
    norm = lambda block: float(torch.linalg.matrix_norm(block, 2).max())
    last = torch.einsum("kij,nj->nki", one["W2"], xi[:, -1])
    back = torch.einsum("kij,nti->ntkj", one["W2"], xi)
    weights = torch.softmax(torch.einsum("nti,nki->nkt", xi, last), -1)
    W2 = one["W2"]
    flat = min(norm(W2.flatten(0, 1)), norm(W2.transpose(1, 2).flatten(0, 1)), norm(W2.flatten(1)))
    return Norms(
        m=2 * k,
        N=N,
        T=X.shape[1],
        first=float(one["U1"].norm(dim=1).pow(4).mean() ** 0.25),
        B=norm(one["B1"]),
        U=norm(one["U2"]),
        W=flat,
        G=max(norm(last), norm(back)),
        r=float(xi.norm(dim=-1).max()),
        y=float((xi @ one["U2"].T).abs().max()),
        K=X.shape[1] * float(weights.max()),
    )

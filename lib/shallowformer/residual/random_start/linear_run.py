"""What is known beforehand of the run in which nothing but W_2 moves: it stays in the convex hull of PNK + 1 points, whatever W_2 is at the start."""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from shallowformer.residual.parameters import Parameters, Setting
from shallowformer.residual.spectra import largest

#: Columns of W_1 that are worked on together, to bound memory.
COLUMNS = 100_000


@dataclass(frozen=True)
class LinearRun:
    """Bounds along the linear run, R = W_2W_U; and what a change of φ′ costs."""

    n_B: float  # max ‖g_f W_Uᵀ + Rᵀ diag(φ′_i) W_1ᵀ‖ over the run and over tokens i, φ′_i at the start
    r: float  # max ‖R‖
    h: float  # max ‖F W_U⁺‖
    nu: float  # max_i ‖W_1 diag(φ′_i)‖
    m_4: float  # Σ_j (p·w_j)²(q·w_j)² ≤ m_4² for all unit vectors p and q, w_j the columns of W_1
    w_max: float  # length of W_1's longest column
    beta: float  # β ≥ |φ″|


def partial_sums(
    left: Float[Tensor, "n n"], sizes: Float[Tensor, " n"], W_U: Float[Tensor, "d K"], E: Float[Tensor, "n K"]
) -> Float[Tensor, "nK n K"]:
    """S_k: E's components along the eigenvectors of AAᵀ ⊗ W_UᵀW_U, by falling eigenvalue, summed up; ``left``, ``sizes`` of A's SVD."""
    squares, right = torch.linalg.eigh(W_U.mT @ W_U)
    order = (sizes[:, None].square() * squares).flatten().argsort(descending=True)
    parts = torch.einsum("ai,ij,bj->ijab", left, left.mT @ E @ right, right)
    return parts.flatten(0, 1)[order].cumsum(0)


def along(
    pre: Float[Tensor, "n d_1"],
    F: Float[Tensor, "n K"],
    E: Float[Tensor, "n K"],
    T: Float[Tensor, "n n"],
    left: Float[Tensor, "n n"],
    sizes: Float[Tensor, " n"],
    theta: Parameters,
    setting: Setting,
) -> LinearRun:
    """The bounds, for a smooth activation.

    Args:
        pre: Z W_1 at the start, of all tokens.
        T: A = T Qᵀ with orthonormal columns of Q.
        left: left singular vectors of A, and ``sizes`` its singular values.
    """
    n, d, R_0 = len(pre), len(theta.W_1), theta.W_2 @ theta.W_U
    at_start, read = pre.new_zeros(n, R_0.shape[1], d), pre.new_zeros(n, R_0.shape[1])
    products, squares, fourth = pre.new_zeros(n, n, d), pre.new_zeros(n, d, d), pre.new_zeros(d * d, d * d)
    for begin in range(0, pre.shape[1], COLUMNS):
        W, seen = theta.W_1[:, begin : begin + COLUMNS], pre[:, begin : begin + COLUMNS]
        A, slopes = setting.activation(seen), setting.activation.first(seen)
        read += A @ R_0[begin : begin + COLUMNS]
        for i, slope in enumerate(slopes):
            products[i] += (A * slope) @ W.mT
            at_start[i] += (R_0[begin : begin + COLUMNS].mT * slope) @ W.mT
            squares[i] += (W * slope.square()) @ W.mT
        pairs = (W[:, None] * W[None]).flatten(0, 1)
        fourth += pairs @ pairs.mT
    S = partial_sums(left, sizes, theta.W_U, E)
    plus = torch.linalg.pinv(theta.W_U)
    # R_k = R_0 − A⁺S_k, and (A⁺S_k)ᵀ diag(φ′_i) W_1ᵀ = S_kᵀ (AAᵀ)⁻¹ A diag(φ′_i) W_1ᵀ.
    weights = torch.linalg.solve(T.mT, torch.linalg.solve(T, products))
    first = setting.g_f * theta.W_U.mT + at_start
    read_back = first - torch.einsum("kab,iad->kibd", S, weights)
    pulled = torch.linalg.solve(T, S)  # Qᵀ A⁺S_k
    mixed = torch.linalg.solve(T, read).mT @ pulled
    squared = torch.cat([R_0.mT @ R_0 + pulled.mT @ pulled - mixed - mixed.mT, (R_0.mT @ R_0)[None]])
    return LinearRun(
        n_B=float(torch.maximum(largest(first).max(), largest(read_back).max())),
        r=float(torch.linalg.eigvalsh(squared)[:, -1].max().clamp(min=0).sqrt()),
        h=max(float(largest(F @ plus)), float(largest((F - S) @ plus).max())),
        nu=float(torch.linalg.eigvalsh(squares)[:, -1].max().sqrt()),
        m_4=float(torch.linalg.eigvalsh(fourth)[-1].sqrt()),
        w_max=float(theta.W_1.norm(dim=0).max()),
        beta=setting.activation.beta,
    )

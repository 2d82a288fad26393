"""Coordinates in which training of W takes place: an orthonormal basis of the span of the matrices E_k = D_k q_kᵀ.

Every gradient of W lies in that span, so that W = W⁽⁰⁾ + Σ_k c_k E_k for ever, and the gaps are h = h⁽⁰⁾ + Gc with the Gram matrix G. With
G = RRᵀ and z = Rᵀc + z⁽⁰⁾ they are h = Rz, and lengths and angles of z are those of W. R comes from the E_k themselves: a root of G
would know small directions to half the digits only.
"""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from shallowformer import arguments
from shallowformer.token_selection.instances import Instance

#: A start: a matrix, or two factors a, b of a bᵀ where d × d numbers are too many.
Start = Float[Tensor, "d d"] | tuple[Float[Tensor, "d f"], Float[Tensor, "d f"]]


def basis(rows: Float[Tensor, "k d"]) -> Float[Tensor, "d r"]:
    """Orthonormal columns that span some rows, up to rounding: as many as the rows' numerical rank, at least one."""
    _, size, V = torch.linalg.svd(rows, full_matrices=False)
    rank = int((size > max(rows.shape) * torch.finfo(rows.dtype).eps * size[0]).sum())
    return V[: max(rank, 1)].T


@dataclass(frozen=True)
class Span:
    """The span of the E_k."""

    R: Float[Tensor, "K r"]  # coordinates of every E_k in rows: ⟨E_k, W⟩ = (Rz)_k, RRᵀ = G
    left: Float[Tensor, "d a"]  # orthonormal basis of the D_k
    right: Float[Tensor, "d b"]  # orthonormal basis of the queries
    #: orthonormal basis of the span, as matrices in the bases ``left`` and ``right``
    B: Float[Tensor, "r a b"]

    @classmethod
    def of(cls, instance: Instance) -> "Span":
        """The span of an instance."""
        left, right = basis(instance.differences), basis(instance.queries)
        D, q = instance.differences @ left, (instance.queries @ right)[instance.sequence]
        E = torch.einsum("ka,kb->kab", D, q).flatten(1)
        B = basis(E)
        return cls(E @ B, left, right, B.T.reshape(-1, left.shape[1], right.shape[1]))

    def coordinates(self, W0: Start) -> tuple[Float[Tensor, " r"], float]:
        """Where a start, d × d or its factors (a, b) of a bᵀ, lies in the span, z⁽⁰⁾, and the norm of its rest, which no step changes."""
        if isinstance(W0, tuple):
            for part in W0:
                arguments.floating("W0", part, "d f")
                arguments.shape(
                    "W0", part, (len(self.left), W0[0].shape[1]), "two factors [d, f] with the d of X"
                )
            outer_left, outer_right = (
                torch.linalg.qr(torch.cat([inner, part], 1))[0]
                for inner, part in zip((self.left, self.right), W0, strict=True)
            )
            small = (outer_left.T @ W0[0]) @ (outer_right.T @ W0[1]).T
            left, right = outer_left.T @ self.left, outer_right.T @ self.right
        else:
            arguments.floating("W0", W0, "d d")
            arguments.shape("W0", W0, (len(self.left),) * 2, "[d, d] with the d of X")
            small, left, right = W0, self.left, self.right
        arguments.same_kind("X", self.R, W0=small)
        z = torch.einsum("rab,ab->r", self.B, left.T @ small @ right)
        rest = small - left @ torch.einsum("rab,r->ab", self.B, z) @ right.T
        return z, float(torch.linalg.matrix_norm(rest))

    def matrix(self, z: Float[Tensor, " r"]) -> Float[Tensor, "d d"]:
        """The matrix with coordinates z."""
        return self.left @ torch.einsum("rab,r->ab", self.B, z) @ self.right.T

"""When a residual destroys rank: exceptional coefficients, and under uniform attention the affine hull of the tokens."""

import torch
from jaxtyping import Complex, Float
from torch import Tensor

from shallowformer import arguments
from shallowformer.residual.spectra import smallest


def exceptional(
    X: Float[Tensor, "N d"], S: Float[Tensor, "N N"], W_V: Float[Tensor, "d d"]
) -> Complex[Tensor, " N"]:
    """−eigenvalues of S X W_V X⁺: gX + SXW_V, g ≠ 0, can lose rank only at those that are real, and for N = d does so at each.

    The tokens, X, are linearly independent.
    """
    N, d = arguments.floating("X", X, "N d").shape
    arguments.shape("S", S, (N, N), "a row and a column a token")
    arguments.shape("W_V", W_V, (d, d), "d as X")
    values = torch.linalg.svdvals(X)
    if d < N or float(values[-1]) <= d * torch.finfo(X.dtype).eps * float(values[0]):
        raise ValueError(
            f"X must hold linearly independent tokens, got {N} in dimension {d} with σ_min = {float(values[-1]):.3g}"
        )
    return -torch.linalg.eigvals(S @ X @ W_V @ torch.linalg.pinv(X))


def distance(X: Float[Tensor, "*s N d"], point: Float[Tensor, "*s d"]) -> Float[Tensor, "*s"]:
    """Distance of a point to the affine hull of the tokens, which are affinely independent."""
    edges = (X[..., 1:, :] - X[..., :1, :]).mT
    off = (point - X[..., 0, :])[..., None]
    if edges.shape[-1]:
        # twice: the first projection leaves rounding errors of the size of what it takes off
        Q = torch.linalg.qr(edges)[0]
        off = off - Q @ (Q.mT @ off)
        off = off - Q @ (Q.mT @ off)
    return off[..., 0].norm(dim=-1)


def lower_bound(
    X: Float[Tensor, "*s N d"], w: Float[Tensor, "*s d"], g: float | Float[Tensor, "*s"]
) -> Float[Tensor, "*s"]:
    """The bound g σ_min(X) gδ/(gδ + ‖w‖) ≤ σ_min(gX + 1wᵀ), g > 0, δ the distance of −w/g to the affine hull of at most d tokens.

    Under uniform attention w is W_Vᵀx̄, what it adds to every token. Source: Ours.
    """
    scale = g[..., None] if isinstance(g, Tensor) else g
    reach = g * distance(X, -w / scale)
    size = w.norm(dim=-1)
    return g * smallest(X) * torch.where(size > 0, reach / (reach + size).where(size > 0, 1.0), 1.0)

"""The plateau without residual and attention: with W_Q = W_K = 0 = g all tokens of a sequence look alike, for ever."""

from jaxtyping import Float
from torch import Tensor

from shallowformer import arguments


def floor(Y: Float[Tensor, "*s P N K"]) -> Float[Tensor, "*s"]:
    """Φ_floor = ½ Σ_p ‖Y_p − (1/N)11ᵀY_p‖²_F: no network whose outputs have equal rows within a sequence has a smaller loss.

    Source: Proposition C; the case g = 0 of section III-B of Qin, Zhou, Jiang, Zhu 2025, made exact.
    """
    arguments.floating("Y", Y, "... P N K")
    return (Y - Y.mean(-2, keepdim=True)).square().sum((-3, -2, -1)) / 2


def spread(M: Float[Tensor, "*s P N k"]) -> Float[Tensor, "*s P"]:
    """How far the rows of a sequence are from equal: ‖M_p − (1/N)11ᵀM_p‖_F/‖M_p‖_F, between 0 and 1; 0 for M_p = 0."""
    arguments.floating("M", M, "... P N k")
    off, size = (M - M.mean(-2, keepdim=True)).norm(dim=(-2, -1)), M.norm(dim=(-2, -1))
    return off / size.where(size > 0, 1.0)

"""A pass over some samples as one compiled loop on a CPU: what ``Loss`` does in torch, without a trip to memory between two operations."""

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from shallowformer.compiled.recurrence import WIDTH, recurrence
from shallowformer.training.points import Point

__all__ = ["WIDTH", "passed"]


def passed(
    X: Float[Tensor, "n T d"], y: Float[Tensor, " n"] | None, point: Point, scratch: Float[Tensor, " k"]
) -> tuple[Float[Tensor, " n"], Point]:
    """Outputs of some samples, in float32 or float64; with labels, also Σ_j r_j √m ∇f_j in c, U and w.

    Args:
        point: (c, U, w) of tanh units, a multiple of ``WIDTH`` of them.
        scratch: at least nTm numbers of the type of X, overwritten; a new array for every few samples would leave holes in memory.
    """
    c, U, w = (block.contiguous() for block in point)
    n, T, d = X.shape
    driven = torch.mm(X.reshape(n * T, d), U.T, out=scratch[: n * T * len(c)].view(n * T, len(c)))
    outputs, of_c, of_w = X.new_empty(n), torch.zeros_like(c), torch.zeros_like(w)
    kind = driven.numpy().dtype
    labels = outputs if y is None else y.contiguous()
    recurrence[kind.name](
        driven.numpy().reshape(-1), T, c.numpy(), w.numpy(), labels.numpy(), kind.type(len(c) ** -0.5), y is not None,
        outputs.numpy(), of_c.numpy(), of_w.numpy(), np.empty(len(c), kind),
    )  # fmt: skip
    return outputs, () if y is None else (of_c, driven.T @ X.reshape(n * T, d), of_w)

"""Remarks 1 and 2: how standard multi-head attention is this model, head by head."""

import torch
from jaxtyping import Float
from torch import Tensor

from shallowformer import arguments
from shallowformer.contracts import Positive, contract
from shallowformer.kernel_regime.model.parameters import Parameters


@contract
def merge(
    W_Q: Float[Tensor, "m k d"],
    W_K: Float[Tensor, "m k d"],
    W_V: Float[Tensor, "m k d"],
    u: Float[Tensor, "m k"],
    c: Float[Tensor, " m"],
    beta: Positive,
) -> Parameters:
    """The parameters of this model that compute the same function as heads with separate query, key and value matrices.

    W_i = β W_Kᵀ W_Q merges query and key, β scaling the softmax, U_i = W_Vᵀ u_i absorbs the value matrix, whose output u_i reads.
    Source: Arda, Cayci, Eryilmaz 2026, equation (1) and Remark 1.
    """
    m, k, d = arguments.floating("W_Q", W_Q, "m k d").shape
    for name, matrix in (("W_K", W_K), ("W_V", W_V)):
        arguments.shape(name, arguments.floating(name, matrix, "m k d"), (m, k, d), "[m, k, d] as W_Q")
    arguments.shape("u", arguments.floating("u", u, "m k"), (m, k), "[m, k] as W_Q")
    arguments.same_kind("W_Q", W_Q, W_K=W_K, W_V=W_V, u=u)
    return Parameters(c=c, U=torch.einsum("mki,mk->mi", W_V, u), W=beta * W_K.mT @ W_Q)


def block_diagonal(U: Float[Tensor, "m d"]) -> Float[Tensor, "m m*d"]:
    """V = blkdiag(U_1ᵀ, …, U_mᵀ): the feed-forward matrix that gives each neuron a head of its own.

    Returns: row i holds U_i in the columns of head i and zeros elsewhere. Source: Arda, Cayci, Eryilmaz 2026, Remark 2.
    """
    arguments.floating("U", U, "m d")
    return torch.block_diag(*U[:, None, :])

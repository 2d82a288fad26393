"""How large each of the six gradients can be, given the loss: the block gradient bounds."""

import torch
from jaxtyping import Float
from torch import Tensor

from shallowformer.residual import gradients, model
from shallowformer.residual.parameters import Parameters, PerBlock, Setting
from shallowformer.residual.spectra import largest, stacked


def block_gradients(
    X: Float[Tensor, "P N d"], Y: Float[Tensor, "P N K"], theta: Parameters, setting: Setting
) -> PerBlock:
    """Upper bounds on ‖∇_WΦ‖_F, each a product of norms with e = √(2Φ).

    With n_B = ‖W_U‖(g_f + ‖W_1‖‖W_2‖): ‖H̄‖e for W_U, ‖Ā‖‖W_U‖e for W_2, ‖Z̄‖‖W_2‖‖W_U‖e for W_1, ‖S̄X̄‖n_B e for W_V, and for W_Q
    (Σ_p ‖X_p‖⁴‖X_pW_V‖²)^{1/2} ‖W_K‖ n_B e/(2√d_k), for W_K the same with ‖W_Q‖.
    Source: Qin, Zhou, Jiang, Zhu 2025, Appendix, in our reading, with the ½ of the softmax.
    """
    now = gradients.backward(X, Y, theta, setting)
    W = Parameters(*(largest(block) for block in theta))
    e = (2 * now.loss).sqrt()
    n_B = W.W_U * (setting.g_f + W.W_1 * W.W_2)
    values = largest(X @ theta.W_V)
    pairs = torch.linalg.vector_norm(largest(X).square() * values) / (2 * setting.divisor(theta))
    over_all = lambda M: largest(stacked(M))
    found = PerBlock(
        W_Q=pairs * W.W_K * n_B * e,
        W_K=pairs * W.W_Q * n_B * e,
        W_V=over_all(now.forward.S @ X) * n_B * e,
        W_1=over_all(now.forward.Z) * W.W_2 * W.W_U * e,
        W_2=over_all(now.forward.A) * W.W_U * e,
        W_U=over_all(now.forward.H) * e,
    )
    return PerBlock(*(float(bound) for bound in found))


def diameter(M: Float[Tensor, "*s N k"]) -> Float[Tensor, "*s"]:
    """The largest distance of two rows; 0 for equal rows or a single one."""
    apart = (M[..., :, None, :] - M[..., None, :, :]).square().sum(-1).flatten(-2).amax(-1)
    # A root has no slope at 0, and rows that are equal none either.
    return torch.where(apart > 0, apart.clamp(min=torch.finfo(M.dtype).tiny).sqrt(), 0.0)


def by_diameters(
    X: Float[Tensor, "*s P N d"], Y: Float[Tensor, "*s P N K"], theta: Parameters, setting: Setting
) -> Float[Tensor, "*s 6"]:
    """Upper bounds on ‖∇_WΦ‖_F in the order of ``BLOCKS``, each of them attained: attention enters through diameters.

    As ``block_gradients`` but for query and key. With D_p, D^K_p, D^V_p the diameters of tokens X_p, keys X_pW_K and values X_pW_V, and ⟨aX⟩ the
    stack of a_pX_p: ‖⟨D^K D^V X⟩‖ n_B e/(4√d_k) for W_Q, ‖⟨D D^V XW_Q⟩‖ n_B e/(4√d_k) for W_K. Source: Ours.
    """
    now, W = gradients.backward(X, Y, theta, setting), model.over_sequences(theta)
    norm = Parameters(*(largest(block) for block in theta))
    e = (2 * now.loss).sqrt()
    n_B = norm.W_U * (setting.g_f + norm.W_1 * norm.W_2)
    tokens, keys, values = (diameter(M) for M in (X, X @ W.W_K, X @ W.W_V))
    scale = 4 * setting.divisor(theta)
    over_all = lambda M: largest(stacked(M))
    weighted = lambda a, M: over_all(a[..., None, None] * M) / scale
    bounds = (
        weighted(keys * values, X) * n_B,
        weighted(tokens * values, X @ W.W_Q) * n_B,
        over_all(now.forward.S @ X) * n_B,
        over_all(now.forward.Z) * norm.W_2 * norm.W_U,
        over_all(now.forward.A) * norm.W_U,
        over_all(now.forward.H),
    )
    return torch.stack([bound * e for bound in bounds], -1)

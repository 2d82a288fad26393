"""How large each of the six gradients can be, given the loss: the block gradient bounds."""

import torch
from jaxtyping import Float
from torch import Tensor

from shallowformer.residual import gradients
from shallowformer.residual.parameters import Parameters, PerBlock, Setting
from shallowformer.residual.spectra import largest, stacked


def block_gradients(
    X: Float[Tensor, "P N d"], Y: Float[Tensor, "P N K"], theta: Parameters, setting: Setting
) -> PerBlock:
    """Upper bounds on ‖∇_WΦ‖_F, each a product of norms with e = √(2Φ).

    With n_B = ‖W_U‖(g_f + ‖W_1‖‖W_2‖): ‖H̄‖e for W_U, ‖Ā‖‖W_U‖e for W_2, ‖Z̄‖‖W_2‖‖W_U‖e for W_1, ‖S̄X̄‖n_B e for W_V, and for W_Q
    (Σ_p ‖X_p‖⁴‖X_pW_V‖²)^{1/2} ‖W_K‖ n_B e/(2√d_k), for W_K the same with ‖W_Q‖.

    Args:
        X: tokens.
        Y: targets.
        theta: parameters.
        setting: coefficients, activation, temperature.

    Raises:
        ValueError: as ``gradients.backward``.

    Source:
        Qin, Zhou, Jiang, Zhu 2025, Appendix, in our reading, with the ½ of the softmax.
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

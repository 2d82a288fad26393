"""The Jacobian of all outputs in closed form, and the part of the tangent kernel JJᵀ that the two readout blocks make."""

import torch
from jaxtyping import Float
from torch import Tensor

from shallowformer.contracts import NonNegative, contract
from shallowformer.residual import gradients, model
from shallowformer.residual.parameters import Parameters, Setting
from shallowformer.residual.spectra import stacked


def jacobian(X: Float[Tensor, "P N d"], theta: Parameters, setting: Setting) -> Float[Tensor, "PNK D"]:
    """J = ∂F̄/∂θ: a row an output, sequences, tokens and outputs in this order; a column a parameter, as ``curvature.flat``.

    The gradients of networks side by side, one an output, whose errors are that output alone.
    """
    F = model.forward(X, theta, setting).F
    n = F.numel()
    one_each = torch.eye(n, dtype=F.dtype, device=F.device).reshape(n, *F.shape)
    copies = lambda M: M.expand(n, *M.shape)
    found = gradients.unchecked(copies(X), F - one_each, Parameters(*map(copies, theta)), setting).gradients
    return torch.cat([W.flatten(1) for W in found], 1)


def ends(X: Float[Tensor, "P N d"], theta: Parameters, setting: Setting) -> tuple[float, float]:
    """σ_min(J) and ‖J‖; the first is 0 where there are more outputs than parameters."""
    J = jacobian(X, theta, setting)
    values = torch.linalg.svdvals(J)
    return 0.0 if len(J) > J.shape[1] else float(values[-1]), float(values[0])


@contract
def readout(
    X: Float[Tensor, "P N d"], theta: Parameters, setting: Setting, c: NonNegative | None = None
) -> Float[Tensor, ""]:
    """λ_min(H̄H̄ᵀ + c²ĀĀᵀ): with c = σ_min(W_U) the smallest eigenvalue of J_2J_2ᵀ + J_UJ_Uᵀ, the tangent kernel of W_2 and W_U.

    ‖∇Φ‖² is at least twice that times Φ, whatever the targets. It can be positive where PN is above d and above d_1, up to their sum.

    Args:
        c: if not given λ_min(W_UᵀW_U)^{1/2}, which is σ_min(W_U) for K ≤ d and 0 for K > d.
    """
    now = model.forward(X, theta, setting)
    d, K = theta.W_U.shape
    if c is None:
        c = 0.0 if d < K else float(torch.linalg.svdvals(theta.W_U)[-1])
    A, H = stacked(now.A), stacked(now.H)
    return torch.linalg.eigvalsh(H @ H.mT + c**2 * A @ A.mT)[0].clamp(min=0.0)

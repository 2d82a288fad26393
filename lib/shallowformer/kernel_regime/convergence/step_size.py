"""How long a step of gradient descent may be: from the tangent kernel's largest eigenvalue, from its trace, and the paper's."""

import torch
from jaxtyping import Float
from torch import Tensor

from shallowformer import arguments
from shallowformer.activations import TANH, Activation
from shallowformer.contracts import Positive, contract
from shallowformer.kernel_regime.kernel import tangent_kernel
from shallowformer.kernel_regime.model.parameters import Parameters
from shallowformer.queries import Query, last_token


def curvature(
    X: Float[Tensor, "n T d"], phi: Parameters, query: Query = last_token, sigma: Activation = TANH
) -> float:
    """λ_max(K_m)/n at φ, half of the largest curvature of the linear model's loss: steps up to its inverse are safe there."""
    K = tangent_kernel.finite(X, phi, query=query, sigma=sigma).total
    return float(torch.linalg.eigvalsh(K)[-1]) / len(X)


def trace(
    X: Float[Tensor, "n T d"], phi: Parameters, query: Query = last_token, sigma: Activation = TANH
) -> float:
    """Q = (1/n) Σ_j ‖∇f(X⁽ʲ⁾; φ)‖² = tr K_m/n, at least ``curvature`` and at most n times it; no Gram matrix is formed."""
    return float(tangent_kernel.diagonal(X, phi, query=query, sigma=sigma).total.mean())


@contract
def path(losses: Float[Tensor, " τ"], eta: Positive) -> Float[Tensor, " τ+1"]:
    """𝒮_0, …, 𝒮_τ, 𝒮_s = 2η Σ_{t<s} √L̂(φ⁽ᵗ⁾): √m times what a readout can have moved before step s, up to the factor σ₀."""
    if float(arguments.floating("losses", losses, "steps").min()) < 0:
        raise ValueError(f"losses must be at least 0, got {float(losses.min()):g}")
    return 2 * eta * torch.cat([losses.new_zeros(1), losses.sqrt().cumsum(0)])

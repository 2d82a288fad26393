"""How long a step of gradient descent may be: from the tangent kernel's largest eigenvalue, from its trace, and the paper's."""

import torch
from torch import Tensor

from shallowformer import arguments
from shallowformer.kernel_regime import tangent_kernel
from shallowformer.kernel_regime.activations import TANH, Activation
from shallowformer.kernel_regime.parameters import Parameters
from shallowformer.kernel_regime.queries import Query, last_token


def curvature(X: Tensor, phi: Parameters, query: Query = last_token, sigma: Activation = TANH) -> float:
    """λ_max(K_m)/n, half of the largest curvature of the linear model's loss: steps up to its inverse are safe there.

    Args:
        X: tokens in the unit ball, Float[Tensor, "n T d"].
        phi: parameters at which the kernel is taken.
        query: how q_X is made.
        sigma: the activation.

    Returns:
        The number.

    Raises:
        ValueError: as ``model.validated``.
    """
    K = tangent_kernel.finite(X, phi, query=query, sigma=sigma).total
    return float(torch.linalg.eigvalsh(K)[-1]) / len(X)


def trace(X: Tensor, phi: Parameters, query: Query = last_token, sigma: Activation = TANH) -> float:
    """Q = (1/n) Σ_j ‖∇f(X⁽ʲ⁾; φ)‖² = tr K_m/n, at least ``curvature`` and at most n times it; no Gram matrix is formed.

    Args:
        X: tokens in the unit ball, Float[Tensor, "n T d"].
        phi: parameters at which the gradients are taken.
        query: how q_X is made.
        sigma: the activation.

    Returns:
        The number.

    Raises:
        ValueError: as ``model.validated``.
    """
    return float(tangent_kernel.diagonal(X, phi, query=query, sigma=sigma).total.mean())


def path(losses: Tensor, eta: float) -> Tensor:
    """𝒮_s = 2η Σ_{t<s} √L̂(φ⁽ᵗ⁾): √m times what a readout can have moved before step s, up to the factor σ₀.

    Args:
        losses: of the iterates 0, …, τ − 1, Float[Tensor, "τ"], at least 0.
        eta: step size η, above 0.

    Returns:
        𝒮_0, …, 𝒮_τ, Float[Tensor, "τ+1"].

    Raises:
        ValueError: ``eta`` not above 0, or a negative loss.
    """
    arguments.positive("eta", eta)
    if float(arguments.floating("losses", losses, "steps").min()) < 0:
        raise ValueError(f"losses must be at least 0, got {float(losses.min()):g}")
    return 2 * eta * torch.cat([losses.new_zeros(1), losses.sqrt().cumsum(0)])

"""The linear model of any architecture, and how far the model is from it."""

import torch
from torch import Tensor
from torch.func import jvp, vjp

from shallowformer.beyond.architecture import Architecture, Blocks


def plus(phi: Blocks, delta: Blocks, scale: float = 1.0) -> Blocks:
    """φ + scale · δ.

    Args:
        phi: parameters.
        delta: a displacement with the same blocks.
        scale: a number.

    Returns:
        The sum.
    """
    return {name: block + scale * delta[name] for name, block in phi.items()}


def slope(model: Architecture, X: Tensor, phi: Blocks, delta: Blocks) -> Tensor:
    """⟨∇f(X; φ), δ⟩ of every output, by forward differentiation.

    Args:
        model: the architecture.
        X: tokens, Float[Tensor, "n T d"].
        phi: where the tangent is taken.
        delta: the displacement.

    Returns:
        As the outputs.
    """
    return jvp(lambda p: model.outputs(X, p), (phi,), (delta,))[1]


def pull_back(model: Architecture, X: Tensor, phi: Blocks, weights: Tensor) -> Blocks:
    """Σ_j w_j ∇f(X⁽ʲ⁾; φ), by backward differentiation.

    Args:
        model: the architecture.
        X: tokens, Float[Tensor, "n T d"].
        phi: where the gradient is taken.
        weights: one an output.

    Returns:
        A displacement.
    """
    return vjp(lambda p: model.outputs(X, p), phi)[1](weights)[0]


def gap(model: Architecture, X: Tensor, phi0: Blocks, delta: Blocks) -> Tensor:
    """The linearisation error f − f_lin at φ⁽⁰⁾ + δ, for a start where f is 0.

    Args:
        model: the architecture.
        X: tokens, Float[Tensor, "n T d"].
        phi0: a symmetric initialisation.
        delta: the displacement.

    Returns:
        As the outputs.
    """
    return model.outputs(X, plus(phi0, delta)) - slope(model, X, phi0, delta)


def diagonal(model: Architecture, X: Tensor, phi: Blocks) -> Tensor:
    """‖∇f(X⁽ʲ⁾; φ)‖² of every sample's last output, one backward pass a sample.

    Args:
        model: the architecture.
        X: tokens, Float[Tensor, "n T d"].
        phi: parameters.

    Returns:
        Float[Tensor, "n"].
    """
    found = []
    for x in X:
        value, pull = vjp(lambda p, x=x: model.outputs(x[None], p).flatten(), phi)
        last = torch.zeros_like(value)
        last[-1] = 1
        found.append(sum(block.square().sum() for block in pull(last)[0].values()))
    return torch.stack(found)

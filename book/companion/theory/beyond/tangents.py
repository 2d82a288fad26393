"""How far any architecture is from its linear model, and how long its gradients are."""

import torch
from jaxtyping import Float
from torch import Tensor

from companion.theory.beyond.architecture import Architecture, Blocks
from shallowformer.training import autograd, points


def gap(
    model: Architecture, X: Float[Tensor, "n T d"], phi0: Blocks, delta: Blocks
) -> Float[Tensor, "n ..."]:
    """The linearisation error f − f_lin at φ⁽⁰⁾ + δ, for a symmetric φ⁽⁰⁾, where f is 0."""
    f = model.on(X)
    return f(points.plus(phi0, delta)) - autograd.along(f, phi0, delta)


def diagonal(model: Architecture, X: Float[Tensor, "n T d"], phi: Blocks) -> Float[Tensor, " n"]:
    """‖∇f(X⁽ʲ⁾; φ)‖² of every sample's last output, one backward pass a sample."""
    found = []
    for x in X.split(1):
        gradient = autograd.pull_back(lambda p, x=x: model.outputs(x, p).flatten()[-1:], phi, X.new_ones(1))
        found.append(points.inner(gradient, gradient))
    return torch.stack(found)

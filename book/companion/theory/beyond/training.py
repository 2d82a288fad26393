"""Projected gradient descent on the mean squared loss of any architecture: ``training.descent`` by automatic differentiation."""

from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor

from companion.theory.beyond.architecture import Architecture, Blocks
from companion.theory.beyond.directions import projection
from shallowformer.training import descent, points
from shallowformer.training.autograd import Autograd


def run(
    model: Architecture,
    X: Float[Tensor, "n T d"],
    y: Float[Tensor, "n ..."],
    phi0: Blocks,
    *,
    eta: float,
    steps: int,
    rho: Sequence[float],
) -> descent.Run:
    """Run φ ← Π(φ − η∇L̂(φ)); the loss is the mean over all outputs, so over samples and positions.

    The run is recorded at its ends. Its points are displacements from φ⁽⁰⁾, which round less than parameters do.
    """
    displaced = Autograd(lambda X, delta: model.outputs(X, points.plus(phi0, delta)), X, y)
    nowhere = points.mapped(torch.zeros_like, phi0)
    return descent.run(
        displaced, nowhere, eta=eta, steps=steps, project=projection(nowhere, rho), every=steps
    )

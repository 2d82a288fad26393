"""Labels that an architecture's own linear model can make: sections of its tangent kernel at a wide initialisation."""

import torch
from jaxtyping import Float
from torch import Generator, Tensor

from companion.theory.beyond.architecture import Architecture
from shallowformer import data
from shallowformer.contracts import Count, contract
from shallowformer.training import autograd

#: Root mean square of the labels, several times the paper's: large enough for a run to feel curvature.
SIZE = 0.3


@contract
def labels(
    model: Architecture, X: Float[Tensor, "n T d"], width: int, anchors: Count, generator: Generator
) -> Float[Tensor, "n ..."]:
    """Labels y = Σ_r ±K(X, X_r), scaled to root mean square 0.3: a wide linear model of the same kind makes them.

    K is the tangent kernel of a symmetric initialisation of the given, even width, the X_r are fresh inputs of the same law with
    alternating signs; where there is an output a position, the last positions of the anchors are meant.
    """
    _, T, d = X.shape
    phi0 = model.start(width, d, generator, X.dtype)
    points = data.clipped_gaussian(anchors, T, d, generator).to(X.dtype)
    outputs = model.outputs(points, phi0)
    weights = torch.zeros_like(outputs.reshape(anchors, -1))
    weights[:, -1] = torch.tensor([(-1.0) ** r for r in range(anchors)], dtype=X.dtype)
    weights = weights.reshape(outputs.shape)
    section = autograd.pull_back(model.on(points), phi0, weights)
    y = autograd.along(model.on(X), phi0, section)
    return SIZE * y / y.square().mean().sqrt()

"""Labels of a teacher at the speed of the loss: what ``transportation.represented`` computes, in single precision."""

import torch
from jaxtyping import Float
from torch import Generator, Tensor

from shallowformer import arguments
from shallowformer.kernel_regime.kernel import transportation
from shallowformer.kernel_regime.kernel.transportation import Estimate, Law, Mapping
from shallowformer.kernel_regime.model import parameters
from shallowformer.kernel_regime.model.loss import Loss
from shallowformer.kernel_regime.model.parameters import Parameters
from shallowformer.kernel_regime.model.students import Students

#: Heads drawn at a time, as in ``transportation.represented``.
CHUNK = 256


def labelled(
    X: Float[Tensor, "n T d"], v: Mapping, draws: int, generator: Generator, law: Law = parameters.random
) -> Estimate:
    """f̃(X; v) by Monte Carlo from the same heads as ``transportation.represented``, for the last token as query and tanh.

    Returns: as ``transportation.represented``, of the dtype of ``X``, but computed in float32 (sums over heads in float64).

    Args:
        draws: independent draws of (U, W), at least 2.
        law: what draws heads; their c is not used.
    """
    arguments.tokens(X)
    arguments.count("draws", draws, 2)
    single, even = Loss(X.float(), X.new_zeros(len(X)).float()), transportation.even_part(v)
    total, squares = (torch.zeros(len(X), dtype=torch.float64, device=X.device) for _ in range(2))
    for start in range(0, draws, CHUNK):
        count, at_once = min(CHUNK, draws - start), transportation.heads_at_once(X)
        parts = [
            law(min(at_once, count - k), X.shape[2], generator, X.dtype) for k in range(0, count, at_once)
        ]
        c, U, W = (torch.cat(blocks) for blocks in zip(*(part.blocks for part in parts), strict=True))
        phi = Parameters(torch.ones_like(c), U, W)
        heads, values = (Students.of(each.map(torch.Tensor.float)) for each in (phi, even(phi)))
        for now, g in single.pairings(heads, values):
            total[now] += g.sum(1, dtype=torch.float64)
            squares[now] += g.square().sum(1, dtype=torch.float64)
    mean = total / draws
    variance = (squares - draws * mean.square()).clamp(min=0) / (draws - 1)
    return Estimate(mean.to(X.dtype), (variance / draws).sqrt().to(X.dtype), variance.to(X.dtype), draws)

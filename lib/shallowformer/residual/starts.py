"""Where training begins: Gaussian blocks, with any of them scaled or set to zero; several networks side by side."""

from collections.abc import Sequence

import torch
from torch import Generator

from shallowformer import arguments
from shallowformer.contracts import Count, contract
from shallowformer.residual.parameters import BLOCKS, Parameters


@contract
def gaussian(
    d: Count,
    d_k: Count,
    d_1: Count,
    K: Count,
    generator: Generator,
    dtype: torch.dtype = torch.float64,
    **factors: float,
) -> Parameters:
    """Independent entries N(0, 1/fan-in), fan-in the number of rows; each block times its factor, e.g. ``W_2=0.0``.

    All blocks are drawn whatever their factors; d_k is the dimension of keys and queries, d_1 the width of the hidden layer.
    """
    shapes = ((d, d_k), (d, d_k), (d, d), (d, d_1), (d_1, d), (d, K))
    draw = lambda *shape: torch.randn(*shape, generator=generator, dtype=dtype, device=generator.device)
    return scaled(Parameters(*(draw(*shape) / shape[0] ** 0.5 for shape in shapes)), **factors)


def scaled(theta: Parameters, **factors: float) -> Parameters:
    """Parameters with some blocks multiplied: ``W_Q=1e-3, W_K=0.0`` is almost, and on one side wholly, without attention."""
    for name, factor in factors.items():
        if name not in BLOCKS:
            raise ValueError(f"factors must be named after blocks {', '.join(BLOCKS)}, got {name}")
        arguments.at_least(name, factor, -float("inf"))
    return theta._replace(**{name: factor * getattr(theta, name) for name, factor in factors.items()})


def side_by_side(thetas: Sequence[Parameters]) -> Parameters:
    """Several networks, at least one, all of the same shapes, as one point, with a leading dimension."""
    if not thetas:
        raise ValueError("thetas must hold at least one network, got none")
    for theta in thetas:
        for name, first, W in zip(BLOCKS, thetas[0], theta, strict=True):
            arguments.shape(name, W, tuple(first.shape), "as in the first network")
    return Parameters(*(torch.stack(each) for each in zip(*thetas, strict=True)))

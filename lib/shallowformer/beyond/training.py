"""Projected gradient descent on the mean squared loss of any architecture, by plain automatic differentiation."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.func import grad_and_value

from shallowformer import arguments
from shallowformer.beyond.architecture import Architecture, Blocks
from shallowformer.beyond.directions import into
from shallowformer.beyond.tangents import plus


@dataclass(frozen=True)
class Run:
    """What a run left behind.

    Args:
        phi: parameters after the last step.
        losses: before every step, and after the last, Float[Tensor, "τ+1"].
    """

    phi: Blocks
    losses: Tensor


def descend(
    model: Architecture, X: Tensor, y: Tensor, phi0: Blocks, *, eta: float, steps: int, rho: Sequence[float]
) -> Run:
    """Run φ ← Π(φ − η∇L̂(φ)); the loss is the mean over all outputs, so over samples and positions.

    Args:
        model: the architecture.
        X: tokens, Float[Tensor, "n T d"].
        y: labels, as the outputs.
        phi0: where to start.
        eta: step size, above 0.
        steps: how many, at least 1.
        rho: (ρ_c, ρ_u, ρ_w).

    Returns:
        The run.

    Raises:
        ValueError: ``eta`` is not above 0, or ``steps`` below 1.
    """
    arguments.positive("eta", eta)
    arguments.count("steps", steps)
    loss = lambda delta: (model.outputs(X, plus(phi0, delta)) - y).square().mean()
    delta, losses = {name: torch.zeros_like(block) for name, block in phi0.items()}, []
    for _ in range(steps):
        gradient, value = grad_and_value(loss)(delta)
        losses.append(value)
        delta = into(plus(delta, gradient, -eta), rho)
    losses.append(loss(delta))
    return Run(plus(phi0, delta), torch.stack(losses))

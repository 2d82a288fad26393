"""The Orlicz norm ‖Z‖_ψ₂ of a discrete variable."""

import torch
from torch import Tensor

from shallowformer import arguments


def norm(values: Tensor, probabilities: Tensor) -> Tensor:
    """‖Z‖_ψ₂ = inf {t > 0 : E exp(Z²/t²) ≤ 2}, differentiable in values and probabilities.

    Bisection finds u = 1/t²; one Newton step at the solution changes nothing but carries the gradient.

    Args:
        values: of Z, Float64[Tensor, "... k"], not all 0.
        probabilities: of those values, of the same shape, adding up to 1.

    Returns:
        Float64[Tensor, "..."].

    Raises:
        ValueError: shapes that differ, or values or probabilities that are no finite floating-point tensors.
    """
    arguments.floating("values", values, "... k")
    arguments.shape("probabilities", probabilities, tuple(values.shape), "as values")
    with torch.no_grad():
        square = values**2
        largest = square.amax(-1)
        share = torch.where(square == largest[..., None], probabilities, 0.0).sum(-1)
        # E exp(uZ²) ≥ share · exp(u max Z²): the solution lies below log(2/share)/max Z².
        low, high = torch.zeros_like(largest), torch.log(2 / share) / largest
        for _ in range(70):
            middle = (low + high) / 2
            over = (probabilities * torch.exp(middle[..., None] * square)).sum(-1) > 2
            low, high = torch.where(over, low, middle), torch.where(over, middle, high)
        u = (low + high) / 2
        slope = (probabilities * square * torch.exp(u[..., None] * square)).sum(-1)
    excess = (probabilities * torch.exp(u[..., None] * values**2)).sum(-1) - 2
    return (u - excess / slope) ** -0.5

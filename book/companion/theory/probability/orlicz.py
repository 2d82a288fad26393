"""The Orlicz norm ‖Z‖_ψ₂ of a discrete variable."""

import torch
from jaxtyping import Float64
from torch import Tensor

from shallowformer import arguments


def norm(values: Float64[Tensor, "*n k"], probabilities: Float64[Tensor, "*n k"]) -> Float64[Tensor, "*n"]:
    """‖Z‖_ψ₂ = inf {t > 0 : E exp(Z²/t²) ≤ 2} along the last dimension, for Z ≠ 0, differentiable in values and probabilities.

    Bisection finds u = 1/t²; one Newton step at the solution changes nothing but carries the gradient.
    """
    arguments.floating("values", values, "... k")
    arguments.shape("probabilities", probabilities, tuple(values.shape), "as values")
    with torch.no_grad():
        total = probabilities.sum(-1)
        if not ((probabilities >= 0).all() and (total - 1).abs().max() <= 1e-9):
            raise ValueError(
                f"probabilities must be at least 0 and add up to 1, got {float(probabilities.min()):.6g} as the smallest and sums "
                f"from {float(total.min()):.6g} to {float(total.max()):.6g}"
            )
        square = torch.where(probabilities > 0, values**2, 0.0)  # what has no weight does not count
        largest = square.amax(-1)
        if not (largest > 0).all():
            raise ValueError(
                "values must not all be 0 where probabilities are above 0, got a variable that is 0"
            )
        share = torch.where(square == largest[..., None], probabilities, 0.0).sum(-1)
        # E exp(uZ²) ≥ share · exp(u max Z²): the solution lies below log(2/share)/max Z².
        low, high = torch.zeros_like(largest), torch.log(2 / share) / largest
        for _ in range(70):
            middle = (low + high) / 2
            over = (probabilities * torch.exp(middle[..., None] * square)).sum(-1) > 2
            low, high = torch.where(over, low, middle), torch.where(over, middle, high)
        u = (low + high) / 2
        slope = (probabilities * square * torch.exp(u[..., None] * square)).sum(-1)
    weighed = torch.where(probabilities > 0, values, 0.0)
    excess = (probabilities * torch.exp(u[..., None] * weighed**2)).sum(-1) - 2
    return (u - excess / slope) ** -0.5

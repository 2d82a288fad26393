"""ReLU convolved with a Gaussian: an unbounded activation with a Lipschitz derivative, and ReLU itself as its limit."""

import math
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from shallowformer.contracts import NonNegative, contracted


@contracted
@dataclass(frozen=True)
class SmoothedReLU:
    """φ_τ(x) = E relu(x + τg) − τ/√(2π) with g standard normal; φ_0 is ReLU.

    For every τ: φ_τ(0) = 0, 0 ≤ φ_τ′ ≤ 1, so |φ_τ(x)| ≤ |x|. For τ > 0 moreover |φ_τ″| ≤ β = 1/(τ√(2π)), attained at 0. At a kink, x = 0 = τ, both
    derivatives are taken to be 0. Source: Nguyen, Mondelli 2020; Qin, Zhou, Jiang, Zhu 2025, Assumption 1, in our reading.
    """

    tau: NonNegative  # τ

    def __call__(self, x: Float[Tensor, "*n"]) -> Float[Tensor, "*n"]:
        """φ_τ(x) = xΨ(x/τ) + (τ/√(2π))(e^{−x²/(2τ²)} − 1), Ψ the normal distribution function."""
        if self.tau == 0:
            return torch.relu(x)
        z = x / self.tau
        return x * torch.special.ndtr(z) + self.tau / math.sqrt(2 * math.pi) * torch.expm1(-z.square() / 2)

    def first(self, x: Float[Tensor, "*n"]) -> Float[Tensor, "*n"]:
        """φ_τ′(x) = Ψ(x/τ)."""
        return (x > 0).to(x.dtype) if self.tau == 0 else torch.special.ndtr(x / self.tau)

    def second(self, x: Float[Tensor, "*n"]) -> Float[Tensor, "*n"]:
        """φ_τ″(x) = e^{−x²/(2τ²)}/(τ√(2π))."""
        return torch.zeros_like(x) if self.tau == 0 else self.beta * torch.exp(-(x / self.tau).square() / 2)

    @property
    def beta(self) -> float:
        """β, the largest |φ_τ″|; infinite for ReLU, whose derivative jumps."""
        return math.inf if self.tau == 0 else 1 / (self.tau * math.sqrt(2 * math.pi))


RELU = SmoothedReLU(0.0)

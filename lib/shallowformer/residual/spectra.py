"""Singular values that the rate depends on: of the hidden layer, of attention's output, of the unembedding; and both PL inequalities."""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from shallowformer import arguments
from shallowformer.residual import model
from shallowformer.residual.model import Forward
from shallowformer.residual.parameters import Parameters, Setting


def stacked(M: Float[Tensor, "*s P N k"]) -> Float[Tensor, "*s P*N k"]:
    """The rows of all sequences under one another."""
    return M.flatten(-3, -2)


def smallest(M: Float[Tensor, "*s a b"]) -> Float[Tensor, "*s"]:
    """σ_min, the smallest of the min(a, b) singular values: 0 only where the rank is not full."""
    return torch.linalg.svdvals(M)[..., -1]


def largest(M: Float[Tensor, "*s a b"]) -> Float[Tensor, "*s"]:
    """‖M‖ = σ_max."""
    return torch.linalg.svdvals(M)[..., 0]


def condition(M: Float[Tensor, "*s a b"]) -> Float[Tensor, "*s"]:
    """κ = σ_max/σ_min; infinite where the rank is not full."""
    values = torch.linalg.svdvals(M)
    return values[..., 0] / values[..., -1]


@dataclass(frozen=True)
class Spectrum:
    """Smallest and largest singular values at a point."""

    sigma_A: Float[Tensor, "*s"]  # σ_min of the stacked hidden layer, PN×d_1
    sigma_Z: Float[Tensor, "*s"]  # σ_min of the stacked attention output, PN×d
    sigma_H: Float[Tensor, "*s"]  # σ_min of the stacked H, PN×d
    sigma_U: Float[Tensor, "*s"]  # σ_min(W_U)
    smallest_Z: Float[Tensor, "*s P"]  # σ_min(Z_p)
    largest_Z: Float[Tensor, "*s P"]  # ‖Z_p‖

    @classmethod
    def of(cls, now: Forward, theta: Parameters) -> "Spectrum":
        """Of what a network computed."""
        each = torch.linalg.svdvals(now.Z)
        over_all = (smallest(stacked(M)) for M in (now.A, now.Z, now.H))
        return cls(*over_all, smallest(theta.W_U), each[..., -1], each[..., 0])

    @property
    def condition_Z(self) -> Float[Tensor, "*s P"]:
        """κ(Z_p); infinite where the rank is not full."""
        return self.largest_Z / self.smallest_Z


def spectrum(X: Float[Tensor, "*s P N d"], theta: Parameters, setting: Setting) -> Spectrum:
    """The singular values of a network on its data."""
    return Spectrum.of(model.forward(X, theta, setting), theta)


def check_pl_2(X: Float[Tensor, "*s P N d"], theta: Parameters) -> None:
    """Refuse sizes at which (PL-2) says nothing."""
    P, N, d = X.shape[-3:]
    arguments.at_most("P·N", P * N, "d_1, the columns of W_1,", theta.W_1.shape[-1])
    arguments.at_most("K", theta.W_U.shape[-1], "d", d)


def pl_2(X: Float[Tensor, "*s P N d"], theta: Parameters, setting: Setting) -> Float[Tensor, "*s"]:
    """2 σ²_min(Ā) σ²_min(W_U), with ‖∇Φ‖² ≥ ‖∇_{W_2}Φ‖² ≥ this times Φ, whatever the targets.

    Source: Qin, Zhou, Jiang, Zhu 2025, proof of Theorem 2, in our reading.
    """
    now = model.forward(X, theta, setting)
    check_pl_2(X, theta)
    return 2 * (smallest(stacked(now.A)) * smallest(theta.W_U)).square()


def pl_u(X: Float[Tensor, "*s P N d"], theta: Parameters, setting: Setting) -> Float[Tensor, "*s"]:
    """2 σ²_min(H̄), with ‖∇Φ‖² ≥ ‖∇_{W_U}Φ‖² ≥ this times Φ, whatever the targets. Source: Ours, beside the paper's inequality."""
    now = model.forward(X, theta, setting)
    P, N, d = X.shape[-3:]
    arguments.at_most("P·N", P * N, "d", d)
    return 2 * smallest(stacked(now.H)).square()


def weyl(X: Float[Tensor, "*s P N d"], theta: Parameters, setting: Setting) -> Float[Tensor, "*s P"]:
    """Weyl's bound g σ_min(X_p) − √N max_i‖x_{p,i}‖ ‖W_V‖ ≤ σ_min(Z_p), whatever attention does; where positive, Z_p has full rank.

    Source: Qin, Zhou, Jiang, Zhu 2025, section III-B, with the hypothesis that it needs.
    """
    model.check(X, theta, setting)
    g = setting.g[..., None] if isinstance(setting.g, Tensor) else setting.g
    longest = X.norm(dim=-1).amax(-1)
    return g * smallest(X) - X.shape[-2] ** 0.5 * longest * largest(theta.W_V)[..., None]

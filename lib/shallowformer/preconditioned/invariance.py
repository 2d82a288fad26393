"""The scale ambiguity (U, V) ~ (cU, V/c) of a product UVᵀ, and a regulariser that does not see it.

With ϱ = ‖V‖_F/‖U‖_F it is (λ/4)‖ϱUᵀU − ϱ⁻¹VᵀV‖²: the balanced form (λ/4)‖UᵀU − VᵀV‖² at the representative whose factors have equal norms.
"""

import torch
from jaxtyping import Float
from torch import Tensor

from shallowformer.contracts import NonNegative, Positive, contract


@contract
def rescaled(
    U: Float[Tensor, "m r"], V: Float[Tensor, "d r"], c: Positive
) -> tuple[Float[Tensor, "m r"], Float[Tensor, "d r"]]:
    """(cU, V/c)."""
    return c * U, V / c


def equal_norms(
    U: Float[Tensor, "m r"], V: Float[Tensor, "d r"]
) -> tuple[Float[Tensor, "m r"], Float[Tensor, "d r"], float]:
    """The representative with ‖U‖_F = ‖V‖_F, and the c > 0 that makes it: (cU, V/c)."""
    c = float(_ratio(U, V).sqrt())
    return *rescaled(U, V, c), c


@contract
def regulariser(
    U: Float[Tensor, "m r"], V: Float[Tensor, "d r"], lam: NonNegative = 0.5
) -> Float[Tensor, ""]:
    """(λ/4)‖ϱUᵀU − ϱ⁻¹VᵀV‖_F². Source: The scale-invariant regulariser of Goel, Soltanolkotabi, Bartlett 2026, in our reading."""
    ratio = _ratio(U, V)
    return lam / 4 * (ratio * U.T @ U - V.T @ V / ratio).square().sum()


@contract
def regulariser_gradient(
    U: Float[Tensor, "m r"], V: Float[Tensor, "d r"], lam: NonNegative = 0.5
) -> tuple[Float[Tensor, "m r"], Float[Tensor, "d r"]]:
    """Its gradient. With C̄ = ϱUᵀU − ϱ⁻¹VᵀV and T = ‖ϱUᵀU‖² − ‖ϱ⁻¹VᵀV‖²: λ(ϱUC̄ − TU/(2‖U‖²)) and λ(−ϱ⁻¹VC̄ + TV/(2‖V‖²))."""
    ratio = _ratio(U, V)
    G, H = ratio * U.T @ U, V.T @ V / ratio
    apart, difference = G - H, G.square().sum() - H.square().sum()
    of_U = ratio * U @ apart - difference / (2 * U.square().sum()) * U
    of_V = -V @ apart / ratio + difference / (2 * V.square().sum()) * V
    return lam * of_U, lam * of_V


def _ratio(U: Tensor, V: Tensor) -> Tensor:
    """ϱ."""
    norms = {}
    for name, factor in (("U", U), ("V", V)):
        norms[name] = torch.linalg.matrix_norm(factor)
        if not 0 < norms[name] < float("inf"):
            raise ValueError(f"{name} must be finite and not 0, got norm {float(norms[name])!r}")
    return norms["V"] / norms["U"]

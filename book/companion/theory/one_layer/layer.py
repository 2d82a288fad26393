"""The layer with switches: attention read by m units, of which the models of all four parts are special cases."""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from shallowformer.contracts import NonNegative, Positive, contracted

ACTIVATIONS = {"tanh": torch.tanh, "identity": lambda z: z}
#: name → ℓ(f, y), summed over the k outputs of a sample.
LOSSES = {
    "squared": lambda f, y: (f - y).square().sum(-1),
    "exponential": lambda f, y: torch.exp(-y * f).sum(-1),
}
#: name → ∂ℓ/∂f.
SLOPES = {"squared": lambda f, y: 2 * (f - y), "exponential": lambda f, y: -y * torch.exp(-y * f)}
RULES = ("plain", "normalised", "preconditioned")


@contracted
@dataclass(frozen=True)
class Switches:
    """What of the layer is switched on."""

    heads: str = "own"  # "own": every unit has an attention of its own; "shared": all units read one
    activation: str = "tanh"  # σ, one of ``ACTIVATIONS``
    skip: NonNegative = 0.0  # g, how much of its query attention adds to what it read
    alpha: Positive = 1.0  # α, by which outputs are multiplied
    trained: str = "CUW"  # which blocks move
    loss: str = "squared"  # one of ``LOSSES``
    rule: str = "plain"  # how a step is made, one of ``RULES``

    def __post_init__(self) -> None:
        """Refuse a switch that there is not."""
        for name, there in (
            ("heads", ("own", "shared")),
            ("activation", ACTIVATIONS),
            ("loss", LOSSES),
            ("rule", RULES),
        ):
            if getattr(self, name) not in there:
                raise ValueError(f"{name} must be one of {', '.join(there)}, got {getattr(self, name)!r}")
        if not self.trained or not set(self.trained) <= set("CUW"):
            raise ValueError(f"trained must name blocks of C, U, W, at least one, got {self.trained!r}")


def attended(
    X: Float[Tensor, "*r n T d"], q: Float[Tensor, "*r n d"], W: Float[Tensor, "*r h d d"], skip: float = 0.0
) -> Float[Tensor, "*r n h d"]:
    """a_i = Σ_t softmax_t⟨X_t, W_i q⟩ X_t + g q, for each head."""
    towards = torch.einsum("...hde,...ne->...nhd", W, q)
    read = torch.softmax(towards @ X.mT, -1) @ X  # [r, n, h, T] @ [r, n, T, d]
    return read + skip * q[..., None, :] if skip else read


def outputs(
    X: Float[Tensor, "*r n T d"],
    q: Float[Tensor, "*r n d"],
    point: dict[str, Float[Tensor, "..."]],
    switches: Switches,
) -> Float[Tensor, "*r n k"]:
    """F = α m^{−½} Σ_j C_j σ(⟨U_j, a_j⟩), with C [m, k], U [m, d] and W [m, d, d], or [1, d, d] where attention is shared; r runs at once."""
    C, U, W = point["C"], point["U"], point["W"]
    read = (attended(X, q, W, switches.skip) * U[..., None, :, :]).sum(-1)
    units = ACTIVATIONS[switches.activation](read)
    return switches.alpha * U.shape[-2] ** -0.5 * units @ C

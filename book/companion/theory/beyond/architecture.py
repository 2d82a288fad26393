"""What the experiments need to know of an architecture: how to start it, evaluate it, and mirror it."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Generator, Tensor

from shallowformer.contracts import Count, Even, contract

#: Parameters by name; the first dimension of a block counts its units (heads, or hidden units).
Blocks = dict[str, Float[Tensor, "..."]]

#: Which of the three radii (ρ_c, ρ_u, ρ_w) a block has, by the first letter of its name: readouts, feed-forward weights, attention.
KINDS = {"c": 0, "B": 0, "U": 1, "V": 1, "W": 2}


@dataclass(frozen=True)
class Architecture:
    """A model f(X; φ) with an initialisation φ⁽⁰⁾ at which it is 0, and the mirror R that makes it so."""

    name: str  # what results call it
    #: (m, d, generator, dtype) → φ⁽⁰⁾, fixed under R; m is even
    start: Callable[[int, int, Generator, torch.dtype], Blocks]
    #: (X, φ) → outputs, one a sample or one a position
    outputs: Callable[[Float[Tensor, "n T d"], Blocks], Float[Tensor, "n ..."]]
    mirror: Callable[[Blocks], Blocks]  # R, linear, an isometry, its own inverse, with f(X; Rφ) = −f(X; φ)

    def on(self, X: Float[Tensor, "n T d"]) -> Callable[[Blocks], Float[Tensor, "n ..."]]:
        """φ ↦ f(X; φ)."""
        return lambda phi: self.outputs(X, phi)


def gaussian(*shape: int, generator: Generator, dtype: torch.dtype) -> Float[Tensor, "..."]:
    """Independent standard Gaussian entries."""
    return torch.randn(*shape, generator=generator, dtype=torch.float64, device=generator.device).to(dtype)


@contract
def half(m: Even, d: Count) -> int:
    """m/2, for an even m."""
    return m // 2


def twice(block: Float[Tensor, " k *e"]) -> Float[Tensor, " 2*k *e"]:
    """A block whose second half of units repeats the first."""
    return torch.cat([block, block])


def swap(block: Float[Tensor, " m *e"]) -> Float[Tensor, " m *e"]:
    """Partners change places: the second half of units comes first."""
    return block.roll(len(block) // 2, 0)


def opposite_signs(pairs: int, generator: Generator, dtype: torch.dtype) -> Float[Tensor, " 2*{pairs}"]:
    """Readouts ±1, opposite for partners."""
    sign = torch.where(gaussian(pairs, generator=generator, dtype=dtype) < 0, -1.0, 1.0).to(dtype)
    return torch.cat([sign, -sign])


def exchange(blocks: Blocks) -> Blocks:
    """The mirror of models whose partners are whole units: all blocks change places, and the readout c changes its sign. Returns: Rφ."""
    return {name: -swap(block) if name == "c" else swap(block) for name, block in blocks.items()}

"""The independently recurrent network (IndRNN): states, output, and the symmetric initialisation."""

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Generator, Tensor

from shallowformer import arguments
from shallowformer.activations import TANH, Activation
from shallowformer.contracts import Count, Even, NonNegative, contract
from shallowformer.training import points


@dataclass(frozen=True)
class Units:
    """Parameters φ = (c, U, w) of m units, w their weights on their own past. Source: Arda, Cayci, Eryilmaz 2026, equations (51) to (53)."""

    c: Float[Tensor, " m"]  # readout
    U: Float[Tensor, "m d"]  # input vectors
    w: Float[Tensor, " m"]  # recurrent weights

    def __post_init__(self) -> None:
        """Check that the blocks fit together."""
        m = len(arguments.floating("U", self.U, "m d"))
        for name, block in (("c", self.c), ("w", self.w)):
            arguments.shape(name, arguments.floating(name, block, "m"), (m,), "[m] as in U")
        arguments.same_kind("U", self.U, c=self.c, w=self.w)

    @property
    def m(self) -> int:
        """Number of units."""
        return len(self.U)

    @property
    def d(self) -> int:
        """Dimension of a token."""
        return self.U.shape[1]

    @property
    def blocks(self) -> tuple[Float[Tensor, " m"], Float[Tensor, "m d"], Float[Tensor, " m"]]:
        """(c, U, w)."""
        return self.c, self.U, self.w

    def map(self, function, *others: "Units") -> "Units":
        """Apply a function, tensors → tensor of the same shape, to each block, together with the same block of others."""
        return Units(*points.mapped(function, self.blocks, *(other.blocks for other in others)))


@contract
def symmetric(
    m: Even, d: Count, gamma: NonNegative, generator: Generator, dtype: torch.dtype = torch.float64
) -> Units:
    """Symmetric random initialisation: units i and i + m/2 share U and w and carry opposite c, so that f = 0.

    Source: Arda, Cayci, Eryilmaz 2026, equation (54).

    Args:
        gamma: size γ of the recurrent weights; their signs are random.
    """
    half = m // 2
    sign = lambda: 2.0 * torch.randint(2, (half,), generator=generator) - 1.0
    U = torch.randn(half, d, generator=generator, dtype=dtype)
    w, c = (sign().to(dtype) for _ in range(2))
    return Units(c=torch.cat([c, -c]), U=U.repeat(2, 1), w=gamma * w.repeat(2))


def validated(X: Float[Tensor, "n T d"], phi: Units) -> Float[Tensor, "n T d"]:
    """The tokens, if they are some, and fit the units."""
    arguments.tokens(X)
    arguments.shape("X", X, (*X.shape[:2], phi.d), "[n, T, d] with the d of phi")
    arguments.same_kind("X", X, phi=phi.U)
    return X


def states(X: Float[Tensor, "n T d"], phi: Units, sigma: Activation = TANH) -> Float[Tensor, "n m T"]:
    """h_1, …, h_T of every sample and unit: h_t = σ(U X_t + w ⊙ h_{t−1}) from h_0 = 0; ``phi.c`` is not used.

    Source: Arda, Cayci, Eryilmaz 2026, equations (51) and (52).
    """
    return torch.stack(list(_walk(X, phi, sigma)), -1)


def f(X: Float[Tensor, "n T d"], phi: Units, sigma: Activation = TANH) -> Float[Tensor, " n"]:
    """The output m^{−1/2} ⟨c, h_T⟩. Source: Arda, Cayci, Eryilmaz 2026, equation (53)."""
    for last in _walk(X, phi, sigma):  # the others are not kept
        h = last
    return h @ phi.c / phi.m**0.5


def _walk(X: Float[Tensor, "n T d"], phi: Units, sigma: Activation) -> Iterator[Float[Tensor, "n m"]]:
    """The states, one after the other."""
    driven = validated(X, phi) @ phi.U.T
    h = torch.zeros_like(driven[:, 0])
    for t in range(X.shape[1]):
        h = sigma(driven[:, t] + phi.w * h)
        yield h

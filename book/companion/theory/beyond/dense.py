"""A shared hidden layer over the outputs of all heads: f = p^{−1/2} Σ_k c_k σ(m^{−1/2} Σ_i ⟨V_{ki}, a(X; W_i)⟩), with p = m hidden units."""

import torch
from jaxtyping import Float
from torch import Generator, Tensor

from companion.theory.beyond.architecture import (
    Architecture,
    Blocks,
    gaussian,
    half,
    opposite_signs,
    swap,
    twice,
)
from companion.theory.beyond.attention import pooled


def start(
    m: int, d: int, generator: Generator, dtype: torch.dtype = torch.float64, p: int | None = None
) -> Blocks:
    """A symmetric initialisation with a full V: V_{k'i'} = V_{ki}, W_{i'} = W_i, c_{k'} = −c_k, ' the partner.

    V consists of two independent Gaussian blocks, (A B; B A). So every hidden unit sees every head, and partners agree.

    Args:
        p: hidden units; as many as heads by default.

    Returns: c of shape [p], V of shape [p, m, d], unit by head, and W of shape [m, d, d].
    """
    units, pairs = half(m if p is None else p, d), half(m, d)
    draw = lambda *shape: gaussian(*shape, generator=generator, dtype=dtype)
    A, B = draw(units, pairs, d), draw(units, pairs, d)
    V = torch.cat([torch.cat([A, B], 1), torch.cat([B, A], 1)])
    return {"c": opposite_signs(units, generator, dtype), "V": V, "W": twice(draw(pairs, d, d))}


def preactivations(X: Float[Tensor, "n T d"], phi: Blocks) -> Float[Tensor, "n p"]:
    """z_k = m^{−1/2} Σ_i ⟨V_{ki}, a(X, X_T; W_i)⟩; the query is the last token."""
    p, m, d = phi["V"].shape
    return pooled(X, phi["W"], X[:, -1:]).reshape(-1, m * d) @ phi["V"].reshape(p, m * d).T / m**0.5


def f(X: Float[Tensor, "n T d"], phi: Blocks) -> Float[Tensor, " n"]:
    """The output."""
    return torch.tanh(preactivations(X, phi)) @ phi["c"] / len(phi["c"]) ** 0.5


def mirror(phi: Blocks) -> Blocks:
    """R: hidden units and heads change places with their partners, and readouts change their sign. Returns: Rφ."""
    V = swap(phi["V"])
    return {"c": -swap(phi["c"]), "V": V.roll(V.shape[1] // 2, 1), "W": swap(phi["W"])}


def gradient_bound(phi: Blocks) -> tuple[Float[Tensor, ""], Float[Tensor, ""], Float[Tensor, ""]]:
    """Bounds on ‖∂f/∂c‖², ‖∂f/∂V‖², ‖∂f/∂W‖² for tokens in the unit ball and tanh: 1, max c², max c² ‖V‖²_op/m; T is not in them."""
    p, m, d = phi["V"].shape
    largest = phi["c"].square().max()
    spectral = torch.linalg.matrix_norm(phi["V"].reshape(p, m * d), 2).square()
    return torch.ones_like(largest), largest, largest * spectral / m


DENSE = Architecture("dense", start, f, mirror)

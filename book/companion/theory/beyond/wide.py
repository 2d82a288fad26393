"""Two attention layers with a stream of N numbers a token, N chosen freely; with N = d it is ``deep`` up to the size of a move.

In each of two networks of k = m/2 heads a layer, whose last readouts are opposite,
ξ_t = O x_t + (kN)^{−1/2} Σ_i B_i σ(⟨U1_i, a(x, x_t; W1_i)⟩) with O an isometric embedding, then the paper's model on ξ with q = ξ_T.
"""

import functools

import torch
from jaxtyping import Float
from torch import Generator, Tensor
from torch.nn.functional import pad

from companion.theory.beyond.architecture import (
    Architecture,
    Blocks,
    exchange,
    gaussian,
    half,
    opposite_signs,
    twice,
)
from companion.theory.beyond.attention import pooled
from companion.theory.beyond.deep import FIRST


def start(N: int, m: int, d: int, generator: Generator, dtype: torch.dtype = torch.float64) -> Blocks:
    """Two equal networks whose last readouts are opposite; all other entries are standard Gaussian.

    Args:
        N: width of the stream, at least d.

    Returns: B1 and U2 of shape [m, N], U1 [m, d], W1 [m, d, d], c [m], W2 [m, N, N]; the first m/2 units are those of one network.
    """
    if d > N:
        raise ValueError(f"N must be at least d = {d}, got {N}")
    pairs = half(m, d)
    draw = lambda *shape: twice(gaussian(*shape, generator=generator, dtype=dtype))
    return {
        "B1": draw(pairs, N),
        "U1": draw(pairs, d),
        "W1": draw(pairs, d, d),
        "c": opposite_signs(pairs, generator, dtype),
        "U2": draw(pairs, N),
        "W2": draw(pairs, N, N),
    }


def readings(
    X: Float[Tensor, "n T d"], U: Float[Tensor, "k d"], W: Float[Tensor, "k d d"]
) -> Float[Tensor, "n T k"]:
    """σ(⟨U_i, a(X, X_t; W_i)⟩), what the first layer reads at every token."""
    return torch.tanh((pooled(X, W, X) * U).sum(-1))


def stream(
    X: Float[Tensor, "n T d"], B: Float[Tensor, "k N"], U: Float[Tensor, "k d"], W: Float[Tensor, "k d d"]
) -> Float[Tensor, "n T N"]:
    """ξ, tokens in their first d coordinates plus what the first layer of one network writes."""
    k, N = B.shape
    return pad(X, (0, N - X.shape[-1])) + readings(X, U, W) @ B / (k * N) ** 0.5


def network(phi: Blocks, which: int) -> Blocks:
    """The blocks of one of the two networks, 0 or 1."""
    k = len(phi["c"]) // 2
    return {name: block[which * k : (which + 1) * k] for name, block in phi.items()}


def f(X: Float[Tensor, "n T d"], phi: Blocks) -> Float[Tensor, " n"]:
    """The output, the sum over both networks; φ holds B1, U1, W1, c, U2 and W2."""
    out = 0.0
    for part in (network(phi, 0), network(phi, 1)):
        xi = stream(X, *(part[name] for name in FIRST))
        z = (pooled(xi, part["W2"], xi[:, -1:])[:, 0] * part["U2"]).sum(-1)
        out = out + torch.tanh(z) @ part["c"]
    return out / len(phi["c"]) ** 0.5


def architecture(N: int) -> Architecture:
    """Two layers with a stream of N numbers a token."""
    return Architecture(f"stream of {N}", functools.partial(start, N), f, exchange)


def coherent(X: Float[Tensor, "1 T d"], phi: Blocks, rho_c: float) -> Blocks:
    """δB_i = (ρ_c/√m) sgn(σ(z_i)) b for i ≤ m/2, b a unit vector at right angles to ξ_T; nothing else moves."""
    m, one = len(phi["c"]), network(phi, 0)
    xi = stream(X, *(one[name] for name in FIRST))[0, -1]
    b = torch.zeros_like(xi)
    b[0], b[1] = -xi[1], xi[0]
    signs = readings(X, one["U1"], one["W1"])[0, -1].sign()
    delta = {name: torch.zeros_like(block) for name, block in phi.items()}
    delta["B1"][: m // 2] = rho_c / m**0.5 * signs[:, None] * b / b.norm()
    return delta

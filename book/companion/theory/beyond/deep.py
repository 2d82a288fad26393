"""Two attention layers with a residual connection; two networks of m/2 heads a layer, with opposite last readouts.

In each network X′_t = X_t + (m/2)^{−1/2} Σ_i B_i σ(⟨U1_i, a(X, X_t; W1_i)⟩), then the paper's model on X′ with q = X′_T.
"""

import torch
from jaxtyping import Float
from torch import Generator, Tensor

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

#: Blocks of the first layer.
FIRST = ("B1", "U1", "W1")


def start(m: int, d: int, generator: Generator, dtype: torch.dtype = torch.float64) -> Blocks:
    """Two equal networks whose last readouts are opposite; entries of B have variance 1/d, of all else 1.

    Returns: B1, U1 and U2 of shape [m, d], c of shape [m], W1 and W2 of shape [m, d, d]; the first m/2 units are those of one network.
    """
    pairs = half(m, d)
    draw = lambda *shape: twice(gaussian(*shape, generator=generator, dtype=dtype))
    return {
        "B1": draw(pairs, d) / d**0.5,
        "U1": draw(pairs, d),
        "W1": draw(pairs, d, d),
        "c": opposite_signs(pairs, generator, dtype),
        "U2": draw(pairs, d),
        "W2": draw(pairs, d, d),
    }


def stream(
    X: Float[Tensor, "n T d"], B: Float[Tensor, "k d"], U: Float[Tensor, "k d"], W: Float[Tensor, "k d d"]
) -> Float[Tensor, "n T d"]:
    """X′, what the first layer of one network makes of the tokens."""
    z = (pooled(X, W, X) * U).sum(-1)
    return X + torch.tanh(z) @ B / len(B) ** 0.5


def f(X: Float[Tensor, "n T d"], phi: Blocks) -> Float[Tensor, " n"]:
    """The output, the sum over both networks; φ holds B1, U1, W1, c, U2 and W2."""
    m = len(phi["c"])
    out = 0.0
    for part in (slice(0, m // 2), slice(m // 2, m)):
        inner = stream(X, *(phi[name][part] for name in FIRST))
        z = (pooled(inner, phi["W2"][part], inner[:, -1:])[:, 0] * phi["U2"][part]).sum(-1)
        out = out + torch.tanh(z) @ phi["c"][part]
    return out / m**0.5


def coherent(X: Float[Tensor, "1 T d"], phi: Blocks, rho_c: float) -> Blocks:
    """All first-layer readouts of one network pull the same way at the last token of one input; nothing else moves.

    δB_i = (ρ_c/√m) sgn(σ(z_i)) e₁ for i ≤ m/2: within Ω_ρ, and X′_T moves by (ρ_c/√2) times the mean of |σ(z_i)|, for every m.
    """
    m = len(phi["c"])
    first = slice(0, m // 2)
    z = (pooled(X, phi["W1"][first], X[:, -1:])[0, 0] * phi["U1"][first]).sum(-1)
    delta = {name: torch.zeros_like(block) for name, block in phi.items()}
    delta["B1"][first, 0] = rho_c / m**0.5 * z.sign()
    return delta


DEEP = Architecture("deep", start, f, exchange)

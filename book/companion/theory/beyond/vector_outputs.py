"""Vector outputs: heads that all positions and all k outputs share, f_a(X, q) = m^{−1/2} Σ_i c_{ia} σ(⟨U_i, a(X, q; W_i)⟩), with σ = tanh.

Head i has k readouts, c_i in R^k. A position of a sequence is a sample: its token is the query, and it sees the whole sequence, or under a
causal mask the tokens up to its own. N positions are in the order of positions first, then sequences.

    reading: what is read: "every" position, each seeing all tokens; the same "causal"; or only the "last" position.
"""

from collections.abc import Iterator, Sequence

import torch
from jaxtyping import Float
from torch import Generator, Tensor

from companion.theory.beyond.architecture import Blocks, gaussian, half, twice
from shallowformer.activations import TANH, Activation
from shallowformer.contracts import Count, contract
from shallowformer.kernel_regime.bounds import blocks

READINGS = ("every", "causal", "last")

#: Tokens that a query sees, and the queries: some positions of equal length.
View = tuple[Float[Tensor, "b t d"], Float[Tensor, "b d"]]


@contract
def start(
    m: int, d: int, k: Count, generator: Generator, dtype: torch.dtype = torch.float64, size: float = 1.0
) -> Blocks:
    """The symmetric initialisation: partners share U and W, and their k readouts ±size are opposite. Returns: c [m, k], U [m, d], W [m, d, d]."""
    pairs = half(m, d)
    draw = lambda *shape: gaussian(*shape, generator=generator, dtype=dtype)
    sign = torch.where(draw(pairs, k) < 0, -size, size).to(dtype)
    return {"c": torch.cat([sign, -sign]), "U": twice(draw(pairs, d)), "W": twice(draw(pairs, d, d))}


def views(X: Float[Tensor, "n T d"], reading: str) -> Iterator[View]:
    """The positions that are read, as samples: position by position, all sequences of one after the other."""
    if reading not in READINGS:
        raise ValueError(f"reading must be one of {READINGS}, got {reading!r}")
    T = X.shape[1]
    for s in range(T - 1 if reading == "last" else 0, T):
        yield X[:, : s + 1] if reading == "causal" else X, X[:, s]


def by_position(y: Float[Tensor, "n s k"]) -> Float[Tensor, "s*n k"]:
    """Outputs or labels in the order of ``views``."""
    return y.transpose(0, 1).flatten(0, 1)


def hidden(X: Float[Tensor, "n T d"], phi: Blocks, reading: str) -> Float[Tensor, "n s m"]:
    """h_i of every position."""
    return torch.tanh((_pooled(X, phi["W"], reading) * phi["U"]).sum(-1))


def outputs(X: Float[Tensor, "n T d"], phi: Blocks, reading: str) -> Float[Tensor, "n s k"]:
    """The model, m^{−1/2} Σ_i c_i h_i: one vector a position."""
    return hidden(X, phi, reading) @ phi["c"] / len(phi["c"]) ** 0.5


def _pooled(X: Tensor, W: Tensor, reading: str) -> Tensor:
    q = X[:, -1:] if reading == "last" else X
    (n, s, d), m = q.shape, len(W)
    keys = (q.reshape(n * s, d) @ W.reshape(m * d, d).T).reshape(n, s, m, d)
    logits = torch.einsum("nsmd,ntd->nsmt", keys, X)
    if reading == "causal":
        later = torch.ones(s, s, dtype=torch.bool, device=X.device).triu(1)
        logits = logits.masked_fill(later[None, :, None], -torch.inf)
    return torch.einsum("nsmt,ntd->nsmd", logits.softmax(-1), X)


def _features(X: Tensor, q: Tensor, phi: Blocks) -> tuple[Tensor, Tensor, Tensor]:
    """h, σ′a and σ′MU of some positions: what the gradients of a head are made of."""
    alpha = torch.softmax(torch.einsum("btd,mde,be->bmt", X, phi["W"], q), -1)
    a = alpha @ X
    scores = torch.einsum("md,btd->bmt", phi["U"], X)
    scores = scores - (alpha * scores).sum(-1, keepdim=True)
    h = torch.tanh((phi["U"] * a).sum(-1))
    slope = (1 - h**2)[..., None]
    return h, slope * a, slope * ((alpha * scores) @ X)


def pull_back(X: Float[Tensor, "n T d"], phi: Blocks, r: Float[Tensor, "N k"], reading: str) -> Blocks:
    """Σ_j Σ_a r_{ja} ∇f_{ja} in closed form: a head hears of the k weights their product with its readouts, ⟨c_i, r_j⟩."""
    found = {name: torch.zeros_like(block) for name, block in phi.items()}
    root, done = len(phi["c"]) ** 0.5, 0
    for tokens, q in views(X, reading):
        h, u, w = _features(tokens, q, phi)
        part = r[done : (done := done + len(q))]
        heard = part @ phi["c"].T
        found["c"] += h.T @ part / root
        found["U"] += torch.einsum("bm,bmd->md", heard, u) / root
        found["W"] += torch.einsum("bm,bmd,be->mde", heard, w, q) / root
    return found


def kernel(
    X: Float[Tensor, "n T d"], phi: Blocks, reading: str
) -> tuple[Float[Tensor, "N N"], Float[Tensor, "N k N k"]]:
    """The two parts of the tangent kernel of all positions: K_c, which stands on the diagonal of the outputs, and (1/m) Σ_i c_{ia} c_{ib} κ_i."""
    parts = [(*_features(tokens, q, phi), q) for tokens, q in views(X, reading)]
    h, u, w, q = (torch.cat(part) for part in zip(*parts, strict=True))
    c, m = phi["c"], len(phi["c"])
    towards = q @ q.T
    shared = h.new_zeros(len(q), c.shape[1], len(q), c.shape[1])
    for i in range(m):
        each = u[:, i] @ u[:, i].T + towards * (w[:, i] @ w[:, i].T)
        shared += torch.einsum("jl,a,b->jalb", each, c[i], c[i])
    return h @ h.T / m, shared / m


def spread(c: Float[Tensor, "m k"]) -> Float[Tensor, ""]:
    """Γ = ‖C‖/√m, the spectral norm of the readouts over √m: 1 for signs at right angles, at most √k."""
    return torch.linalg.matrix_norm(c, 2) / len(c) ** 0.5


def linearisation_bound(phi0: Blocks, rho: Sequence[float], sigma: Activation = TANH) -> Float[Tensor, ""]:
    """m^{−1/2}[½Γ(mean G₂²)^{1/2} + σ₁ρ_c mean G₁], which bounds ‖f − f_lin‖ over the k outputs of a position, on all of Ω_ρ."""
    rho_c, rho_u, rho_w = rho
    m = len(phi0["c"])
    R = phi0["U"].norm(dim=1) + rho_u / m**0.5
    second = blocks.G2(R, rho_u, rho_w, sigma).square().mean().sqrt()
    first = blocks.G1(R, rho_u, rho_w).mean()
    return (spread(phi0["c"]) * second / 2 + sigma.bounds[1] * rho_c * first) / m**0.5

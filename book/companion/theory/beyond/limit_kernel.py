"""The tangent kernel of two layers with a stream of N numbers: at finite widths block by block, and its limit for k, N → ∞.

A head of a layer over tokens ξ_t with query ξ_T has y_t = ⟨U, ξ_t⟩, weights α, z = Σ α_t y_t, γ_t = α_t(y_t − z). All that the limit asks of
a layer are three expectations over one head, H = E[hh̃], P = E[σ'σ̃'α_t α̃_s] and R = E[σ'σ̃'γ_t γ̃_s], with ~ for the other input.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Generator, Tensor

from companion.theory.beyond import wide
from companion.theory.beyond.architecture import Blocks
from companion.theory.beyond.attention import pooled

#: Heads at a time.
CHUNK = 4096


@dataclass(frozen=True)
class Moments:
    """H, P and R of a layer, over all pairs of inputs (and tokens)."""

    H: Float[Tensor, "n n"]
    P: Float[Tensor, "n T n T"]
    R: Float[Tensor, "n T n T"]

    def __add__(self, other: "Moments") -> "Moments":
        """Sums of both."""
        return Moments(self.H + other.H, self.P + other.P, self.R + other.R)

    def times(self, factor: float) -> "Moments":
        """All three times a number."""
        return Moments(factor * self.H, factor * self.P, factor * self.R)


def head(
    y: Float[Tensor, "k n T"], ell: Float[Tensor, "k n T"]
) -> tuple[Float[Tensor, "k n"], Float[Tensor, "k n T"], Float[Tensor, "k n T"]]:
    """H = σ(z), σ'(z)α and σ'(z)γ of heads with given y and logits."""
    alpha = torch.softmax(ell, -1)
    z = (alpha * y).sum(-1, keepdim=True)
    h = torch.tanh(z)
    slope = (1 - h**2) * alpha
    return h[..., 0], slope, slope * (y - z)


def moments(y: Float[Tensor, "k n T"], ell: Float[Tensor, "k n T"], weights: Float[Tensor, " k"]) -> Moments:
    """Weighted sums over heads of hh̃, σ'σ̃'αα̃ and σ'σ̃'γγ̃."""
    h, A, G = head(y, ell)
    gram = lambda part: (part * weights.view(-1, *[1] * (part.dim() - 1))).flatten(1).T @ part.flatten(1)
    return Moments(gram(h), *(gram(part).reshape(*y.shape[1:], *y.shape[1:]) for part in (A, G)))


def compose(layer: Moments, S: Float[Tensor, "n T n T"], Theta: Blocks) -> dict[str, Float[Tensor, "n n"]]:
    """The kernel of a layer over tokens with Gram matrix S and, by block of what made them, tangent kernels Θ.

    H, ⟨P, S⟩ and S_TT⟨R, S⟩ are its own blocks; Θ gives Σ G_ts Θ_ts = ⟨P, Θ⟩ + S_TT⟨R, Θ⟩ + Θ_TT⟨R, S⟩.
    """
    total = lambda A, B: (A * B).sum((1, 3))
    last = lambda A: A[:, -1, :, -1]
    below = {
        name: total(layer.P, part) + last(S) * total(layer.R, part) + last(part) * total(layer.R, S)
        for name, part in Theta.items()
    }
    return below | {"c": layer.H, "U2": total(layer.P, S), "W2": last(S) * total(layer.R, S)}


def every_query(X: Float[Tensor, "n T d"]) -> Float[Tensor, "nT T+1 d"]:
    """For every token a sequence in which it asks: it stands last once more, to be looked at by nobody."""
    n, T, d = X.shape
    each = X[:, None].expand(n, T, T, d).reshape(n * T, T, d)
    return torch.cat([each, X.reshape(n * T, 1, d)], 1)


def drawn(
    X: Float[Tensor, "n S d"], heads: int, generator: Generator, unseen: bool = False
) -> Iterator[tuple[Float[Tensor, "k n S"], Float[Tensor, "k n S"]]]:
    """Y and logits of independent heads over given tokens, a chunk at a time; the last token asks, and is not looked at if ``unseen``."""
    d = X.shape[-1]
    for start in range(0, heads, CHUNK):
        k = min(CHUNK, heads - start)
        U = torch.randn(k, d, generator=generator, dtype=X.dtype)
        W = torch.randn(k, d, d, generator=generator, dtype=X.dtype)
        y = torch.einsum("nsd,kd->kns", X, U)
        ell = torch.einsum("nsd,kdn->kns", X, W @ X[:, -1].T)
        yield (y[..., :-1], ell[..., :-1]) if unseen else (y, ell)


def first_layer(layer: Moments, X: Float[Tensor, "n T d"]) -> tuple[Float[Tensor, "n T n T"], Blocks]:
    """S = ⟨x_t, x̃_s⟩ + H and Θ = H + ⟨P, xx̃⟩ + ⟨x_t, x̃_s⟩⟨R, xx̃⟩, block by block, of the moments over all n·T queries."""
    n, T, _ = X.shape
    tokens = torch.einsum("ntd,lsd->ntls", X, X)
    # ⟨P, xx̃⟩ for queries (n, t) and (l, s): both look at all tokens of their sequences
    seen = lambda part: torch.einsum("ntalsb,nalb->ntls", part.reshape(n, T, T, n, T, T), tokens)
    H = layer.H.reshape(n, T, n, T)
    return tokens + H, {"B1": H, "U1": seen(layer.P), "W1": tokens * seen(layer.R)}


def average(states: Iterator[tuple[Float[Tensor, "k n T"], Float[Tensor, "k n T"]]], heads: int) -> Moments:
    """Moments of so many drawn heads."""
    total = None
    for y, ell in states:
        found = moments(y, ell, torch.full((len(y),), 1 / heads, dtype=y.dtype))
        total = found if total is None else total + found
    return total


def factor(S: Float[Tensor, "n T n T"]) -> Float[Tensor, "n T r"]:
    """Tokens with the Gram matrix S."""
    n, T, *_ = S.shape
    values, vectors = torch.linalg.eigh(S.reshape(n * T, n * T))
    return (vectors * values.clamp(min=0).sqrt()).reshape(n, T, n * T)


def limit(X: Float[Tensor, "n T d"], heads: int, generator: Generator) -> dict[str, Float[Tensor, "n n"]]:
    """The limit kernel block by block, with both layers' expectations over so many independent heads."""
    S, Theta = first_layer(average(drawn(every_query(X), heads, generator, unseen=True), heads), X)
    return compose(average(drawn(factor(S), heads, generator), heads), S, Theta)


def one_side(
    Xi: Float[Tensor, "n T N"], W: Float[Tensor, "k N N"]
) -> tuple[Float[Tensor, "k n N"], Float[Tensor, "k n T N"]]:
    """W_i ξ_T and W_iᵀ ξ_t of every input (and token)."""
    return torch.einsum("kab,nb->kna", W, Xi[:, -1]), torch.einsum("kab,nta->kntb", W, Xi)


def sides(
    Xi: Float[Tensor, "n T N"], k: int, generator: Generator
) -> tuple[Float[Tensor, "k n N"], Float[Tensor, "k n T N"]]:
    """W_i ξ_T and W_iᵀ ξ_t of k Gaussian matrices, drawn without the rest of them.

    With orthonormal rows E that span the tokens, WEᵀ is Gaussian, and EW agrees with it on the span and is independent of it elsewhere.
    """
    n, T, N = Xi.shape
    E = torch.linalg.qr(Xi.reshape(n * T, N).T).Q.T
    right = torch.randn(k, N, len(E), generator=generator, dtype=Xi.dtype)
    left = torch.randn(k, len(E), N, generator=generator, dtype=Xi.dtype)
    left = left - (left @ E.T) @ E + (E @ right) @ E
    at = Xi @ E.T
    return torch.einsum("kar,nr->kna", right, at[:, -1]), torch.einsum("krb,ntr->kntb", left, at)


def finite(
    X: Float[Tensor, "n T d"], one: Blocks, sided: tuple[Float[Tensor, "k n N"], Float[Tensor, "k n T N"]]
) -> dict[str, Float[Tensor, "n n"]]:
    """The kernel at the start of two opposite networks, block by block, from one of them and W_i ξ_T, W_iᵀ ξ_t in place of its W2."""
    k, (right, left) = len(one["B1"]), sided
    Xi = wide.stream(X, one["B1"], one["U1"], one["W1"])
    S = torch.einsum("ntd,lsd->ntls", Xi, Xi)
    y, ell = torch.einsum("ntb,kb->knt", Xi, one["U2"]), torch.einsum("kna,nta->knt", right, Xi)
    layer = moments(y, ell, torch.full((k,), 1 / k, dtype=X.dtype))
    p = backward(y, ell, one["c"], one["U2"], right, left)
    # first layer: readings, their derivatives in U and W, for every token as a query
    a = pooled(X, one["W1"], X)  # n T k d
    alpha = torch.softmax(torch.einsum("nsd,kde,nte->ntks", X, one["W1"], X), -1)
    scores = torch.einsum("kd,nsd->nks", one["U1"], X)[:, None]
    h = torch.tanh((a * one["U1"]).sum(-1))
    M_U = torch.einsum("ntks,nsd->ntkd", alpha * (scores - (alpha * scores).sum(-1, keepdim=True)), X)
    v = (1 - h**2) * torch.einsum("kb,ntb->ntk", one["B1"], p)
    gram = lambda part: part.flatten(1) @ part.flatten(1).T / k
    read = torch.einsum("ntk,lsk->ntls", h, h) / k
    total = lambda A: (A * S).sum((1, 3))
    return {
        "B1": (read * torch.einsum("ntb,lsb->ntls", p, p)).sum((1, 3)),
        "U1": gram((v[..., None] * a).sum(1)),
        "W1": gram(torch.einsum("ntk,ntkd,nte->nkde", v, M_U, X)),
        "c": layer.H,
        "U2": total(layer.P),
        "W2": S[:, -1, :, -1] * total(layer.R),
    }


def backward(
    y: Float[Tensor, "k n T"],
    ell: Float[Tensor, "k n T"],
    c: Float[Tensor, " k"],
    U: Float[Tensor, "k N"],
    right: Float[Tensor, "k n N"],
    left: Float[Tensor, "k n T N"],
) -> Float[Tensor, "n T N"]:
    """p_t = (kN)^{−1/2} Σ_i c_i σ'(z_i) ∂z_i/∂ξ_t, the gradient of the output at the stream, times √(2/N)."""
    k, N = U.shape
    _, A, G = head(y, ell)
    p = torch.einsum("k,knt,kb->ntb", c, A, U) + torch.einsum("k,knt,knb->ntb", c, G, right)
    p[:, -1] += torch.einsum("k,knt,kntb->nb", c, G, left)
    return p / (k * N) ** 0.5


def sampled(
    X: Float[Tensor, "n T d"], k: int, N: int, generator: Generator
) -> dict[str, Float[Tensor, "n n"]]:
    """The kernel of a start of k heads a network and layer and a stream of N, block by block, without drawing a whole W2."""
    d, draw = X.shape[-1], lambda *shape: torch.randn(*shape, generator=generator, dtype=X.dtype)
    one = {"B1": draw(k, N), "U1": draw(k, d), "W1": draw(k, d, d), "U2": draw(k, N), "c": draw(k).sign()}
    Xi = wide.stream(X, one["B1"], one["U1"], one["W1"])
    return finite(X, one, sides(Xi, k, generator))

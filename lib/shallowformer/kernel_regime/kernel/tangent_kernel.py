"""The Transformer's tangent kernel: at given parameters, and its limit by Monte Carlo; both as Gram matrices, block by block.

A head contributes σ(z)σ(z′) + σ′(z)σ′(z′)(⟨a, a′⟩ + ⟨q, q′⟩⟨MU, M′U⟩). The attention features have rank one, so their Gram
matrix is the entrywise product of that of the queries and that of vectors of length d. A Gram matrix is a sum of
products of n × (heads · d) matrices; heads are taken a chunk at a time.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Generator, Tensor

from shallowformer import arguments
from shallowformer.activations import TANH, Activation
from shallowformer.contracts import Count, contract
from shallowformer.kernel_regime.model.gradients import features
from shallowformer.kernel_regime.model.parameters import Parameters, random
from shallowformer.kernel_regime.model.transformer import validated
from shallowformer.queries import Query, last_token

#: A chunk has as many heads as keep each of its arrays below this many entries: 32 MB in float64.
ENTRIES = 2**22


@dataclass(frozen=True)
class Blocks:
    """A kernel's three blocks, of the readouts c, the feed-forward vectors U and the attention matrices W."""

    c: Float[Tensor, "*n"]  # K_c, of every two inputs or of each input with itself
    u: Float[Tensor, "*n"]  # K_u, likewise
    w: Float[Tensor, "*n"]  # K_w, likewise

    @property
    def total(self) -> Float[Tensor, "*n"]:
        """K = K_c + K_u + K_w."""
        return self.c + self.u + self.w


@dataclass(frozen=True)
class Estimate(Blocks):
    """Blocks estimated by Monte Carlo."""

    error: Float[Tensor, "*n"]  # standard error of every entry of the total
    heads: int  # independent heads that were drawn


def _chunks(X: Tensor, Z: Tensor, heads: int) -> Iterator[slice]:
    """Consecutive slices of heads, small enough for ``ENTRIES``."""
    width = max(X.shape[0] * max(X.shape[1:]), Z.shape[0] * max(Z.shape[1:]))
    step = max(1, ENTRIES // width)
    return (slice(start, start + step) for start in range(0, heads, step))


def _left(X: Tensor, phi: Parameters, heads: slice, query: Query, sigma: Activation) -> tuple[Tensor, ...]:
    """φ_c, c φ_u and the left factor c σ′ MU of some heads, one row a sample."""
    part = phi.map(lambda block: block[heads])
    feature = features(X, part, query, sigma)
    return (
        feature.c,
        (part.c[:, None] * feature.u).flatten(1),
        (part.c[:, None] * feature.w_left).flatten(1),
    )


def _pair(X: Tensor, Z: Tensor | None, phi: Parameters, query: Query) -> tuple[Tensor, Tensor, Tensor]:
    """Z (X itself if none is given), and the queries of both, all validated."""
    q = validated(X, phi, query)
    if Z is None:
        return X, q, q
    arguments.tokens(Z, "Z")
    arguments.same_kind("X", X, Z=Z)
    if Z.shape[-1] != phi.d:
        raise ValueError(
            f"Z must have tokens of dimension d = {phi.d} as X and the parameters, got shape {tuple(Z.shape)}"
        )
    return Z, q, validated(Z, phi, query)


def _sum_over_heads(
    X: Tensor, Z: Tensor, phi: Parameters, query: Query, sigma: Activation, out: tuple[Tensor, ...]
) -> None:
    """Write Σ_i of the products of the heads' features into ``out``: c, u, and w without ⟨q, q′⟩."""
    for block in out:
        block.zero_()
    for heads in _chunks(X, Z, phi.m):
        ours = _left(X, phi, heads, query, sigma)
        theirs = ours if Z is X else _left(Z, phi, heads, query, sigma)
        for block, a, b in zip(out, ours, theirs, strict=True):
            block.addmm_(a, b.T)


@torch.no_grad()
def finite(
    X: Float[Tensor, "n T d"],
    phi: Parameters,
    Z: Float[Tensor, "k S d"] | None = None,
    query: Query = last_token,
    sigma: Activation = TANH,
) -> Blocks:
    """The tangent kernel K_m(X, Z) = ⟨∇f(X; φ), ∇f(Z; φ)⟩ at given parameters, block by block; X itself for Z if not given.

    Beyond its result it needs memory for a chunk of heads only, whatever n·m, and no d × d array per head and sample. At
    ``parameters.symmetric`` this is the kernel at initialisation.

    Source: Arda, Cayci, Eryilmaz 2026, section 5.3 and Lemma 4 (whose proof prints a factor 1/m too many).
    """
    Z, q, q_Z = _pair(X, Z, phi, query)
    c, u, w = (X.new_empty(X.shape[0], Z.shape[0]) for _ in range(3))
    _sum_over_heads(X, Z, phi, query, sigma, (c, u, w))
    return Blocks(c.div_(phi.m), u.div_(phi.m), w.mul_(q @ q_Z.T).div_(phi.m))


@torch.no_grad()
def diagonal(
    X: Float[Tensor, "n T d"], phi: Parameters, query: Query = last_token, sigma: Activation = TANH
) -> Blocks:
    """K_m(X, X) = ‖∇f(X; φ)‖² of every sample, block by block, without the Gram matrix. Source: Arda, Cayci, Eryilmaz 2026, Lemma 4."""
    q = validated(X, phi, query)
    c, u, w = (X.new_zeros(X.shape[0]) for _ in range(3))
    for heads in _chunks(X, X, phi.m):
        for block, left in zip((c, u, w), _left(X, phi, heads, query, sigma), strict=True):
            block += left.square().sum(1)
    return Blocks(c / phi.m, u / phi.m, w * q.square().sum(1) / phi.m)


@contract
@torch.no_grad()
def limit(
    X: Float[Tensor, "n T d"],
    heads: Count,
    generator: Generator,
    Z: Float[Tensor, "k S d"] | None = None,
    query: Query = last_token,
    sigma: Activation = TANH,
    batches: int = 16,
) -> Estimate:
    """The limit kernel K(X, Z) of Lemma 4 of Arda, Cayci, Eryilmaz 2026, estimated from independent heads at initialisation.

    The heads are drawn in batches, and the spread of the batches' means gives the standard error of the total: divided by it, the
    error of an entry has nearly Student's law with ``batches`` − 1 degrees of freedom. The draws depend on the
    generator, ``heads``, ``batches``, d and the dtype alone, and not on how the work is cut into chunks.

    Args:
        heads: independent heads to draw, a multiple of ``batches``; a symmetric initialisation of m heads has m/2.
        Z: further tokens; X itself if not given.
    """
    arguments.tokens(X)
    arguments.count("batches", batches, 2)
    if heads % batches:
        raise ValueError(f"heads must be a multiple of batches = {batches}, got {heads}")
    draw = lambda: _initial(heads // batches, X.shape[-1], generator, X.dtype)
    phi = draw()
    Z, q, q_Z = _pair(X, Z, phi, query)
    mean = [X.new_zeros(X.shape[0], Z.shape[0]) for _ in range(3)]
    spread, now = torch.zeros_like(mean[0]), [torch.empty_like(mean[0]) for _ in range(3)]
    queries = q @ q_Z.T
    for batch in range(1, batches + 1):
        if batch > 1:
            phi = draw()
        _sum_over_heads(X, Z, phi, query, sigma, tuple(now))
        now[2].mul_(queries)
        for running, block in zip(mean, now, strict=True):
            running.add_(block.div_(phi.m).sub_(running), alpha=1 / batch)
        # ``now`` holds each block's distance from its running mean before this batch: Welford's sum for the total.
        away = now[0].add_(now[1]).add_(now[2])
        spread.addcmul_(away, away, value=(batch - 1) / batch)
    error = spread.div_(batches * (batches - 1)).sqrt_()
    return Estimate(*mean, error=error, heads=heads)


def _initial(heads: int, d: int, generator: Generator, dtype: torch.dtype) -> Parameters:
    """Independent heads with standard Gaussian U and W; c = 1, as the kernel sees only c² = 1."""
    phi = random(heads, d, generator, dtype)
    return Parameters(torch.ones_like(phi.c), phi.U, phi.W)

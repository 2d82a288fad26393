"""Transportation mappings v: what they are paired with, the function they represent, and where they take the heads."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Generator, Tensor

from shallowformer import arguments
from shallowformer.activations import TANH, Activation
from shallowformer.contracts import Count, Even, contract
from shallowformer.kernel_regime.model import linear_model, parameters
from shallowformer.kernel_regime.model.gradients import Features, features
from shallowformer.kernel_regime.model.parameters import Parameters
from shallowformer.queries import Query, last_token

#: Room for rounding when realised norms are held against declared ones, in units of machine precision of the values.
ROUNDING = 64

#: Largest number of attention weights that ``averages`` holds at a time.
HELD_AT_ONCE = 4_000_000

#: Draws heads: how many, their dimension, source of randomness, dtype → heads; ``parameters.random`` is the law of the paper.
Law = Callable[[int, int, Generator, torch.dtype], Parameters]


@dataclass(frozen=True)
class Mapping:
    """A transportation mapping v: for every head φ_i = (c_i, U_i, W_i) the values v_c ∈ ℝ, v_u ∈ ℝᵈ, v_w ∈ ℝᵈˣᵈ.

    Source: Arda, Cayci, Eryilmaz 2026, section 5.4.
    """

    #: heads → values; both are ``Parameters``, whose blocks c, U, W hold v_c, v_u, v_w. It must treat every head on its own.
    values: Callable[[Parameters], Parameters]
    #: declared sup norms ν̄ = (ν̄_c, ν̄_u, ν̄_w), each at least 0; ``math.inf`` where there is none
    nu: tuple[float, float, float]

    def __post_init__(self) -> None:
        """Check the declaration."""
        if len(self.nu) != 3 or not all(norm >= 0 for norm in self.nu):
            raise ValueError(f"nu must be three numbers of at least 0, got {self.nu}")

    def __call__(self, phi: Parameters) -> Parameters:
        """Evaluate v at every head of ``phi``; refuse values of a wrong shape, or beyond the declared norms."""
        v = self.values(phi)
        arguments.shape("v_w", v.W, tuple(phi.W.shape), "[m, d, d] as the heads")
        arguments.same_kind("phi", phi.W, v=v.W)
        slack = 1 + ROUNDING * torch.finfo(v.W.dtype).eps
        for name, realised, declared in zip("cuw", sup_norms(v), self.nu, strict=True):
            if realised > declared * slack:
                raise ValueError(
                    f"v_{name} must have norm at most nu = {declared} at every head, got {realised!r}"
                )
        return v


def sup_norms(v: Parameters) -> tuple[float, float, float]:
    """Largest |v_c|, ‖v_u‖, ‖v_w‖_F over the heads at hand: never more than the sup norms over all parameters."""
    return tuple(float(block.detach().reshape(v.m, -1).norm(dim=1).max()) for block in v.blocks)


def pairing(feature: Features, v: Parameters) -> Float[Tensor, "n m"]:
    """g_i(X) = φ_c v_c + ⟨φ_u, v_u⟩ + ⟨φ_w, v_w⟩_F of every sample and head. Source: Arda, Cayci, Eryilmaz 2026, equation (19)."""
    return feature.c * v.c + linear_model.slopes(feature, v)


def g(
    X: Float[Tensor, "n T d"],
    phi: Parameters,
    v: Mapping,
    query: Query = last_token,
    sigma: Activation = TANH,
) -> Float[Tensor, "n m"]:
    """What each head contributes: g_i(X) = ⟨φ(X; φ_i), v(φ_i)⟩. Source: Arda, Cayci, Eryilmaz 2026, equation (19)."""
    return pairing(features(X, phi, query, sigma), v(phi))


@dataclass(frozen=True)
class Estimate:
    """A Monte Carlo mean."""

    mean: Float[Tensor, " n"]  # of every input
    standard_error: Float[Tensor, " n"]  # of the mean
    variance: Float[Tensor, " n"]  # of one independent draw
    draws: int  # number of independent draws


@contract
def represented(
    X: Float[Tensor, "n T d"],
    v: Mapping,
    draws: int,
    generator: Generator,
    query: Query = last_token,
    sigma: Activation = TANH,
    chunk: Count = 256,
    law: Law = parameters.random,
) -> Estimate:
    """f̃(X; v) = E⟨φ(X), v⟩ by Monte Carlo: a head is drawn, and both of its signs c = ±1 are averaged exactly.

    Returns: mean, its standard error, and the variance of one draw ḡ = (g(c=1) + g(c=−1))/2. Source: Arda, Cayci, Eryilmaz 2026, equations
    (9) and (20).

    Args:
        draws: independent draws of (U, W), at least 2.
        generator: source of randomness, and device, of the draws.
        chunk: heads drawn at a time; sets the working memory.
        law: what draws heads; their c is not used.
    """
    arguments.tokens(X)
    arguments.count("draws", draws, 2)
    mean, scatter, done = X.new_zeros(len(X)), X.new_zeros(len(X)), 0
    for start in range(0, draws, chunk):
        count = min(chunk, draws - start)
        drawn = averages(X, v, 2, count, generator, query, sigma, law=law).T
        here = drawn.mean(1)
        # Chan's update keeps the scatter about the running mean.
        scatter += ((drawn - here[:, None]) ** 2).sum(1) + (here - mean) ** 2 * done * count / (done + count)
        mean += (here - mean) * count / (done + count)
        done += count
    variance = scatter / (draws - 1)
    return Estimate(mean, (variance / draws).sqrt(), variance, draws)


@contract
def averages(
    X: Float[Tensor, "n T d"],
    v: Mapping,
    m: Even,
    draws: Count,
    generator: Generator,
    query: Query = last_token,
    sigma: Activation = TANH,
    held: int = HELD_AT_ONCE,
    law: Law = parameters.random,
) -> Float[Tensor, "{draws} n"]:
    """(1/m) Σ_i g_i(X) for many independent symmetric initialisations of m heads: what f_lin(X; φ̃) is, again and again.

    Source: Arda, Cayci, Eryilmaz 2026, equations (10), (19) and (22).

    Args:
        held: largest number of attention weights held at a time, which sets the working memory.
        law: what draws heads; their c is not used.
    """
    (n, _, d), half = arguments.tokens(X).shape, m // 2
    at_once = heads_at_once(X, half, held) // half
    even, out = even_part(v), []
    for start in range(0, draws, at_once):
        count = min(at_once, draws - start)
        phi = law(count * half, d, generator, X.dtype)
        phi = Parameters(torch.ones_like(phi.c), phi.U, phi.W)  # the pair (+1, −1) is averaged by even_part
        drawn = pairing(features(X, phi, query, sigma), even(phi))
        out.append(drawn.reshape(n, count, half).mean(-1).T)
    return torch.cat(out)


def heads_at_once(X: Float[Tensor, "n T d"], half: int = 1, held: int = HELD_AT_ONCE) -> int:
    """How many heads, a multiple of ``half``, ``averages`` draws at a time, which decides in what order the random numbers are used."""
    n, T, d = X.shape
    return half * max(1, held // (n * max(T, d) * half))


def pair_means(per_head: Float[Tensor, "... m"]) -> Float[Tensor, "... m//2"]:
    """ḡ_i = (g_i + g_{i+m/2})/2 over the two heads of each pair. Source: Arda, Cayci, Eryilmaz 2026, above equation (22)."""
    m = arguments.even("m", per_head.shape[-1])
    return (per_head[..., : m // 2] + per_head[..., m // 2 :]) / 2


def transported(phi: Parameters, v: Mapping) -> Parameters:
    """The transported point φ̃, from c_i = ±1: c̃ = c + v_c/√m, Ũ = U + c v_u/√m, W̃ = W + c v_w/√m.

    Source: Arda, Cayci, Eryilmaz 2026, equation (10).
    """
    if not (phi.c.abs() == 1).all():
        worst = phi.c[(phi.c.abs() - 1).abs().argmax()]
        raise ValueError(f"phi.c must be +1 or -1 at every head, as at initialisation, got {float(worst)!r}")
    step = v(phi).map(lambda block: block / phi.m**0.5)
    return Parameters(phi.c + step.c, phi.U + phi.c[:, None] * step.U, phi.W + phi.c[:, None, None] * step.W)


def even_part(v: Mapping) -> Mapping:
    """v̄(c, U, W) = (v(c, U, W) + v(−c, U, W))/2, with the same declared norms: free of the sign of c, it represents the same function."""

    def values(phi: Parameters) -> Parameters:
        here, there = v(phi), v(Parameters(-phi.c, phi.U, phi.W))
        return Parameters(*((a + b) / 2 for a, b in zip(here.blocks, there.blocks, strict=True)))

    return Mapping(values, v.nu)

"""What is known before the first step: the linear run, and the path of the pairs to second order.

The linear run is gradient descent on the linear model: its residuals are u⁽ˢ⁾ = −(I − 2ηG₀)ˢ y, with G₀ the tangent kernel's Gram matrix
at the start, over n. To first order partners move oppositely, by ±α and γ in their readouts; to second order also together, by β, and
their readouts by ±χ. All four follow from u⁽ˢ⁾ and from derivatives at the start.
"""

from dataclasses import dataclass, fields

import torch
from jaxtyping import Float
from torch import Tensor

from shallowformer import arguments
from shallowformer.contracts import Count, Positive, contract
from shallowformer.kernel_regime.kernel import tangent_kernel
from shallowformer.kernel_regime.linear_run.curvature import Heads
from shallowformer.kernel_regime.model.parameters import Parameters
from shallowformer.kernel_regime.model.transformer import validated
from shallowformer.queries import Query, last_token

#: Arrays of n × heads × 2d numbers that are worked on at a time have at most so many entries.
ENTRIES = 2**20

#: Radii at which the growth of the third derivative is tabulated: 0, and 10⁻⁴ to about 2, each 18 % above the last.
RADII = (0.0, *(1e-4 * 1.18**k for k in range(61)))


@dataclass(frozen=True)
class LinearRun:
    """Residuals of the linear run before each of τ steps and after the last, and what propagates an error."""

    u: Float[Tensor, "steps n"]  # the residuals
    mu: Float[Tensor, " steps"]  # ‖u⁽ˢ⁾‖/√n, the root of the linear run's loss
    smooth: Float[Tensor, " steps"]  # ω_j = max_λ 2ηλ(1 − 2ηλ)ʲ over the spectrum of G₀, j = 0 … τ
    rough: Float[Tensor, " steps"]  # ν_j = max_λ √λ (1 − 2ηλ)ʲ, likewise


def _below(limit: float) -> float:
    """A limit in few digits that keep it: a reader may copy it."""
    return float(f"{limit * (1 - 1e-5):.6g}")


def largest_step(X: Float[Tensor, "n T d"], phi0: Parameters, query: Query = last_token) -> float:
    """The largest η that Theorem F covers at this start, 1/λ_max(G₀), to five digits and not above it."""
    G = tangent_kernel.finite(X, phi0, query=query).total / len(X)
    return _below(1 / float(torch.linalg.eigvalsh(G)[-1]))


@contract
@torch.no_grad()
def linear_run(G: Float[Tensor, "n n"], y: Float[Tensor, " n"], eta: Positive, steps: Count) -> LinearRun:
    """The linear run from f = 0; G is G₀, the Gram matrix of the tangent kernel over n."""
    values, vectors = torch.linalg.eigh(G)
    values = values.clamp(min=0)
    if eta * float(values[-1]) > 1:
        raise ValueError(f"eta must be at most 1/λ_max(G₀) = {_below(1 / float(values[-1]))}, got {eta}")
    factor = 1 - 2 * eta * values
    j = torch.arange(steps + 1, dtype=G.dtype, device=G.device)[:, None]
    # In parts: all powers at once would be τ × n numbers several times over.
    start, u, smooth, rough = vectors.mT @ y, [], [], []
    for part in j.split(256):
        powers = factor**part
        u.append(-(powers * start) @ vectors.mT)
        smooth.append((2 * eta * values * powers.abs()).amax(1))
        rough.append((values.sqrt() * powers.abs()).amax(1))
    u = torch.cat(u)
    return LinearRun(u, u.square().mean(1).sqrt(), torch.cat(smooth), torch.cat(rough))


@dataclass(frozen=True)
class Known:
    """What is known of every pair of heads before each of τ steps and after the last; averages are root mean squares over the data.

    Fields of shape [steps, N] hold, for a reference α★, γ★ near the linear path: norms of the path, its distance from the reference, and
    sizes of derivatives along both.
    """

    value: Float[Tensor, " N"]  # ‖h‖
    gradient: Float[Tensor, " N"]  # ‖∇h‖
    operator: Float[Tensor, " N"]  # ‖∇h‖ of the data as one operator, over √n: at most ``gradient``
    hessian: Float[Tensor, " N"]  # a bound on ‖∇²h‖
    third: Float[Tensor, " N"]  # a bound on ‖∇³h‖
    growth: Float[Tensor, "N radii"]  # a bound on the change of ∇³h within each of ``RADII``
    alpha: Float[Tensor, "steps N"]  # ‖α‖ of the linear run
    beta: Float[Tensor, "steps N"]  # ‖β‖ to second order
    gamma: Float[Tensor, "steps N"]  # |γ| of the linear run
    chi: Float[Tensor, "steps N"]  # |χ| to second order
    reference: Float[Tensor, "steps N"]  # ‖α★‖
    off_alpha: Float[Tensor, "steps N"]  # ‖α − α★‖
    off_gamma: Float[Tensor, "steps N"]  # |γ − γ★|
    off_beta: Float[Tensor, "steps N"]  # ‖β − β★‖
    g_alpha: Float[Tensor, "steps N"]  # |∇h[α★]|
    h_alpha: Float[Tensor, "steps N"]  # ‖∇²h[α★]‖
    h_alpha_alpha: Float[Tensor, "steps N"]  # |∇²h[α★, α★]|
    h_alpha_beta: Float[Tensor, "steps N"]  # |∇²h[α★, β★]|
    g_beta: Float[Tensor, "steps N"]  # |∇h[β★]|
    h_beta: Float[Tensor, "steps N"]  # ‖∇²h[β★]‖
    t_alpha_alpha: Float[Tensor, "steps N"]  # ‖∇³h[α★, α★]‖
    t_alpha: Float[Tensor, "steps N"]  # |∇³h[α★, α★, α★]|


def _rms(values: Float[Tensor, "n ..."]) -> Float[Tensor, "..."]:
    """Root mean square over the data."""
    return values.square().mean(0).sqrt()


def _of_pairs(heads: Heads, c: Tensor, u: Tensor, unit: float, every: int) -> Known:
    """What is known of some pairs: ``unit`` is 2η/√m, and a reference serves ``every`` steps."""
    n, steps = u.shape[1], len(u)  # u is "τ n", c "N"
    signed = unit * c[:, None]
    passed = torch.cat([torch.zeros_like(u[:1]), u.cumsum(0)[:-1]]) / n  # Σ of the u before each step
    alpha = -signed * heads.averaged(passed, heads.gradient)  # first order of δθ, "τ N p"
    gamma = -unit * passed @ heads.h  # of δc, "τ N"
    moves = alpha.diff(dim=0)
    chi = c * torch.cat([torch.zeros_like(gamma[:1]), (moves * alpha[:-1]).sum(-1).cumsum(0)])
    beta, rows = (
        torch.zeros_like(alpha),
        [],
    )  # second order of δθ, a stretch of steps at a time: derivatives at its ends serve all
    for first in range(0, steps, every):
        last, middle = min(first + every, steps), min(first + every // 2, steps - 1)
        seen = heads.seen(beta[first])
        along_alpha, along_beta = heads.along(heads.seen(alpha[middle])), heads.twice(seen)
        here = slice(first, last)
        pull = c[:, None] * along_alpha.second + gamma[middle, :, None] * heads.gradient
        after = slice(first + 1, last + 1)
        spent = u[first:last].cumsum(0)[: len(beta[after])] / n
        beta[after] = beta[first] - unit * heads.averaged(spent, pull)
        sizes = (
            _rms(along_alpha.first),
            _rms(along_alpha.second.norm(dim=-1)),
            _rms(along_alpha.quadratic),
            _rms((along_alpha.second * seen).sum(-1)),
            _rms(along_beta[0]),
            _rms(along_beta[1].norm(dim=-1)),
            _rms(along_alpha.third.norm(dim=-1)),
            _rms(along_alpha.cubic),
        )
        rows.append(
            (
                alpha[middle].norm(dim=-1).expand(last - first, -1),
                (alpha[here] - alpha[middle]).norm(dim=-1),
                (gamma[here] - gamma[middle]).abs(),
                (beta[here] - beta[first]).norm(dim=-1),
                *(size.expand(last - first, -1) for size in sizes),
            )
        )
    gradient = heads.full_gradient().transpose(0, 1)
    largest = torch.linalg.eigvalsh(gradient.mT @ gradient)[:, -1].clamp(min=0)
    return Known(
        _rms(heads.h),
        _rms(heads.gradient.norm(dim=-1)),
        (largest / n).sqrt(),
        _rms(heads.hessian_norm),
        _rms(heads.third_norm),
        torch.stack([_rms(heads.growth(radius)) for radius in RADII], 1),
        alpha.norm(dim=-1),
        beta.norm(dim=-1),
        gamma.abs(),
        chi.abs(),
        *(torch.cat(column) for column in zip(*rows, strict=True)),
    )


@contract
@torch.no_grad()
def known(
    X: Float[Tensor, "n T d"],
    y: Float[Tensor, " n"],
    phi0: Parameters,
    eta: float,
    steps: int,
    every: Count = 1,
    query: Query = last_token,
) -> tuple[LinearRun, Known]:
    """The linear run from a symmetric initialisation with c = ±1, and what it says about the pairs.

    Args:
        every: derivatives are evaluated along one point of the path in so many steps; the bounds account for the others.
    """
    q = validated(X, phi0, query)
    arguments.shape("y", arguments.floating("y", y, "n"), (len(X),), "[n] as in X")
    arguments.same_kind("X", X, y=y)
    N = arguments.even("m", phi0.m) // 2
    c, U, W = (block[:N] for block in phi0.blocks)
    paired = phi0.map(lambda block: block.roll(N, 0))
    if not (
        torch.equal(paired.U, phi0.U) and torch.equal(paired.W, phi0.W) and torch.equal(paired.c, -phi0.c)
    ):
        raise ValueError(
            "phi0 must be a symmetric initialisation: heads i and i + m/2 with equal U, W and opposite c"
        )
    if not torch.equal(c.abs(), torch.ones_like(c)):
        raise ValueError(f"phi0.c must be ±1, got {float(c[c.abs() != 1][0])}")
    run = linear_run(tangent_kernel.finite(X, phi0, query=query).total / len(X), y, eta, steps)
    some = max(1, ENTRIES // (len(X) * max(X.shape[1], 2 * phi0.d)))
    parts = [
        _of_pairs(
            Heads(X, q, U[i : i + some], W[i : i + some]),
            c[i : i + some],
            run.u,
            2 * eta / phi0.m**0.5,
            every,
        )
        for i in range(0, N, some)
    ]
    join = lambda name: torch.cat([getattr(part, name) for part in parts], 0 if _alone(name) else 1)
    return run, Known(**{field.name: join(field.name) for field in fields(Known)})


def _alone(name: str) -> bool:
    """Whether a field of ``Known`` has one row a pair, and none a step."""
    return name in ("value", "gradient", "operator", "hessian", "third", "growth")

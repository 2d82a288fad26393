"""What a finite context costs: n·E‖A(ẑ_n(x) − ΣBᵀx)‖² tends to 𝒱 for a fresh query, if ‖Σ^½BΣ^½‖₂ < 2^{−1/2}, and to infinity else."""

import math

import torch
from jaxtyping import Float
from scipy.optimize import minimize_scalar
from torch import Generator, Tensor

from shallowformer import arguments
from shallowformer.contracts import Count, Positive, contract
from shallowformer.preconditioned import covariances, gradients, limit

#: The norm of Σ^½BΣ^½ from which on the mean square of the error is no longer of order 1/n.
THRESHOLD = 2**-0.5


def at_query(
    A: Float[Tensor, "m d"], q: Float[Tensor, "k d"], Sigma: Float[Tensor, "d d"]
) -> Float[Tensor, " k"]:
    """e^{qᵀΣq} tr A(Σ + ΣqqᵀΣ)Aᵀ, what n·E‖A(ẑ_n − Σq)‖² tends to at one query with q = Bᵀx, one a row; 𝒱 is its mean over x."""
    d = arguments.floating("Sigma", Sigma, "d d").shape[0]
    m = arguments.floating("A", A, "m d").shape[0]
    arguments.shape("A", A, (m, d), "[m, d], d as Sigma has")
    arguments.shape("q", q, (arguments.floating("q", q, "k d").shape[0], d), "[k, d], d as Sigma has")
    tilted = q @ Sigma
    return (q * tilted).sum(1).exp() * ((A @ Sigma * A).sum() + (tilted @ A.T).square().sum(1))


def constant(A: Float[Tensor, "m d"], B: Float[Tensor, "d d"], Sigma: Float[Tensor, "d d"]) -> float:
    """𝒱 = det(I − 2K)^{−½} tr Ã[I + B̃ᵀ(I − 2K)⁻¹B̃]Ãᵀ with K = B̃B̃ᵀ; infinity for ‖B̃‖₂ ≥ 2^{−1/2}, but 0 if A is 0, whatever B is."""
    A_tilde, B_tilde = limit.whitened(A, B, Sigma)
    if not A.any():
        return 0.0
    # In the basis of singular vectors of B̃: what is large there is not lost in what is small.
    _, b, right = torch.linalg.svd(B_tilde)
    if float(b[0]) >= THRESHOLD:
        return math.inf
    room = 1 - 2 * b.square()
    energy = (A_tilde @ right.T).square().sum(0)
    return float(room.rsqrt().prod() * (energy * (1 + b.square() / room)).sum())


@contract
def at_radius(singular_values: Float[Tensor, " r"], radius: Positive) -> float:
    """𝒱 at a balanced optimum rescaled so that ‖B̃‖₂ = b, infinite from 2^{−1/2} on; it depends on the s ≥ 0 of M̃, not all 0, alone."""
    s = arguments.nonnegative("singular_values", arguments.floating("singular_values", singular_values, "r"))
    largest = float(s.max())
    if not largest > 0:
        raise ValueError("singular_values must not all be 0, got zeros only")
    if radius >= THRESHOLD:
        return math.inf
    scale = largest / radius**2  # c², of Ã = cPS^½ and B̃ = QS^½/c
    squares = s / scale
    room = 1 - 2 * squares
    return float(room.rsqrt().prod() * (scale * s * (1 + squares / room)).sum())


def best_radius(singular_values: Float[Tensor, " r"]) -> tuple[float, float]:
    """The radius b with the least 𝒱, to about 1e-8, and that 𝒱, for the s ≥ 0 of M̃, not all 0."""
    _ = at_radius(singular_values, 0.5)
    # 𝒱 is a power series in b² with coefficients of one sign, over b²: log 𝒱 is convex in log b and has one minimum.
    found = minimize_scalar(
        lambda b: math.log(at_radius(singular_values, b)),
        bounds=(1e-3, THRESHOLD * (1 - 1e-9)), method="bounded", options={"xatol": 1e-10},
    )  # fmt: skip
    return float(found.x), math.exp(found.fun)


@contract
def measured(
    A: Float[Tensor, "m d"],
    B: Float[Tensor, "d d"],
    Sigma: Float[Tensor, "d d"],
    n: Count,
    contexts: Count,
    queries: Count,
    generator: Generator,
) -> Float[Tensor, " {contexts}"]:
    """n‖A(ẑ_n(x) − ΣBᵀx)‖² over fresh queries, one mean a context of n tokens: independent numbers, so that they have a standard error."""
    limit.whitened(A, B, Sigma)
    root, _ = covariances.roots(Sigma)
    draw = lambda k: (
        torch.randn(k, len(Sigma), generator=generator, dtype=Sigma.dtype, device=Sigma.device) @ root
    )
    means = []
    for _ in range(contexts):
        tokens, x = draw(n), draw(queries)
        off = gradients.attended(B, x, tokens) - limit.attended(B, x, Sigma)
        means.append(n * (off @ A.T).square().sum(1).mean())
    return torch.stack(means)

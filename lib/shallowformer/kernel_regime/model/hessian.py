"""Second and third derivatives of a head in its parameters θ = (U, W), from the cumulants of the random token.

W acts only through λ = Wq. In a direction (u, Δ) the pre-activation z = ⟨U, a⟩ therefore sees u and w = Δq alone:

    z″ = 2⟨u, Mw⟩ + κ₃(U, w, w),      z‴ = 3κ₃(u, w, w) + κ₄(U, w, w, w).

The (d + d²)×(d + d²) Hessian has at most 2d eigenvalues other than 0. They are those of a 2d×2d matrix in the
coordinates u and Δq/‖q‖, which the functions here return; the large matrix is made by ``dense`` alone, for reference.
Every function is batched over leading dimensions, which broadcast.
"""

import torch
from jaxtyping import Float
from torch import Tensor

from shallowformer import arguments, softmax
from shallowformer.activations import TANH, Activation
from shallowformer.contracts import NonNegative, contract


@contract
def preactivation(
    X: Float[Tensor, "... T d"],
    alpha: Float[Tensor, "... T"],
    U: Float[Tensor, "... d"],
    q_norm: NonNegative = 1.0,
) -> Float[Tensor, "... 2*d 2*d"]:
    """∇²z in the coordinates u and Δq/‖q‖: the blocks 0, ‖q‖M and ‖q‖²K_U; its eigenvalues are those of ∇²z, but for further zeros.

    Source: The Hessian in the proof of Lemma 2 of Arda, Cayci, Eryilmaz 2026.
    """
    K = q_norm**2 * softmax.third_cumulant(X, alpha, U)
    M = (q_norm * softmax.covariance(X, alpha)).expand_as(K)
    return torch.cat([torch.cat([torch.zeros_like(M), M], -1), torch.cat([M, K], -1)], -2)


@contract
def gradient(
    X: Float[Tensor, "... T d"],
    alpha: Float[Tensor, "... T"],
    U: Float[Tensor, "... d"],
    q_norm: NonNegative = 1.0,
) -> Float[Tensor, "... 2*d"]:
    """∇z in the coordinates u and Δq/‖q‖: the blocks a and ‖q‖MU. Source: Arda, Cayci, Eryilmaz 2026, Lemma 1 and equation (16)."""
    MU = q_norm * softmax.covariance_product(X, alpha, U)
    return torch.cat([softmax.mean(X, alpha).expand_as(MU), MU], -1)


def hidden(
    X: Float[Tensor, "... T d"],
    alpha: Float[Tensor, "... T"],
    U: Float[Tensor, "... d"],
    q_norm: float = 1.0,
    sigma: Activation = TANH,
) -> Float[Tensor, "... 2*d 2*d"]:
    """∇²h of h = σ(z) in the coordinates u and Δq/‖q‖, σ″(z) ∇z∇zᵀ + σ′(z) ∇²z; its eigenvalues are those of ∇²h, but for further zeros.

    Source: Arda, Cayci, Eryilmaz 2026, the line before equation (15).
    """
    g = gradient(X, alpha, U, q_norm)
    z = (softmax.mean(X, alpha) * U).sum(-1)[..., None, None]
    return sigma.second(z) * g[..., :, None] * g[..., None, :] + sigma.first(z) * preactivation(
        X, alpha, U, q_norm
    )


def product(
    X: Float[Tensor, "... T d"],
    alpha: Float[Tensor, "... T"],
    U: Float[Tensor, "... d"],
    q: Float[Tensor, "... d"],
    u: Float[Tensor, "... d"],
    delta: Float[Tensor, "... d d"],
    sigma: Activation = TANH,
) -> tuple[Float[Tensor, "... d"], Float[Tensor, "... d d"]]:
    """∇²h times a direction (u, Δ), in U and in W: the W-block has rank one, and nothing larger than X or Δ is formed.

    Source: The blocks in the proof of Lemma 2 of Arda, Cayci, Eryilmaz 2026.
    """
    softmax._law(X, alpha, U=U, q=q, u=u)
    arguments.floating("delta", delta, "... d d")
    if delta.shape[-2:] != (X.shape[-1],) * 2:
        raise ValueError(
            f"delta must have shape [... d d] with d = {X.shape[-1]} as the tokens of X, got {tuple(delta.shape)}"
        )
    arguments.same_kind("X", X, delta=delta)
    w = torch.einsum("...ij,...j->...i", delta, q)
    a, MU = softmax.mean(X, alpha), softmax.covariance_product(X, alpha, U)
    z = (a * U).sum(-1, keepdim=True)
    first, second = sigma.first(z), sigma.second(z) * (a * u + MU * w).sum(-1, keepdim=True)
    scores = torch.einsum("...td,...d->...t", X, U) - z
    K_w = torch.einsum(
        "...t,...td->...d", alpha * scores * torch.einsum("...td,...d->...t", X - a[..., None, :], w), X
    ) - a * (MU * w).sum(-1, keepdim=True)
    left = second * MU + first * (softmax.covariance_product(X, alpha, u) + K_w)
    return (
        second * a + first * softmax.covariance_product(X, alpha, w),
        left[..., :, None] * q[..., None, :],
    )


def dense(
    X: Float[Tensor, "T d"],
    alpha: Float[Tensor, " T"],
    U: Float[Tensor, " d"],
    q: Float[Tensor, " d"],
    sigma: Activation = TANH,
) -> Float[Tensor, "d+d**2 d+d**2"]:
    """∇²h as a matrix in (U, vec W), W row by row: for reference. Source: Arda, Cayci, Eryilmaz 2026, the line before equation (15)."""
    for name, value, dims in (("X", X, "T d"), ("alpha", alpha, "T"), ("U", U, "d"), ("q", q, "d")):
        arguments.floating(name, value, dims)
    I = torch.eye(len(U), dtype=X.dtype, device=X.device)
    # (u, Δ) ↦ (u, Δq): the Hessian is the reduced one between this map and its transpose.
    reduce = torch.block_diag(I, torch.kron(I, q[None]))
    return reduce.T @ hidden(X, alpha, U, 1.0, sigma) @ reduce


def third(
    X: Float[Tensor, "... T d"],
    alpha: Float[Tensor, "... T"],
    U: Float[Tensor, "... d"],
    u: Float[Tensor, "... d"],
    w: Float[Tensor, "... d"],
    sigma: Activation = TANH,
) -> Float[Tensor, "..."]:
    """Third derivative of h along a direction (u, Δ) of (U, W), with w = Δq: σ‴z′³ + 3σ″z′z″ + σ′z‴."""
    softmax._law(X, alpha, U=U, u=u, w=w)
    a = softmax.mean(X, alpha)
    z = (a * U).sum(-1)
    first = (a * u).sum(-1) + (softmax.covariance_product(X, alpha, U) * w).sum(-1)
    second = 2 * (softmax.covariance_product(X, alpha, u) * w).sum(-1) + softmax.third_cumulant_form(
        X, alpha, U, w, w
    )
    third = 3 * softmax.third_cumulant_form(X, alpha, u, w, w) + fourth_cumulant_form(X, alpha, U, w)
    return sigma.third(z) * first**3 + 3 * sigma.second(z) * first * second + sigma.first(z) * third


def fourth_cumulant_form(
    X: Float[Tensor, "... T d"],
    alpha: Float[Tensor, "... T"],
    u: Float[Tensor, "... d"],
    w: Float[Tensor, "... d"],
) -> Float[Tensor, "..."]:
    """κ₄(u, w, w, w) = E⟨u, Y⟩⟨w, Y⟩³ − 3 E⟨u, Y⟩⟨w, Y⟩ E⟨w, Y⟩², the fourth cumulant of the random token."""
    softmax._law(X, alpha, u=u, w=w)
    Y = X - softmax.mean(X, alpha)[..., None, :]
    along_u, along_w = (torch.einsum("...td,...d->...t", Y, direction) for direction in (u, w))
    mean = lambda value: (alpha * value).sum(-1)
    return mean(along_u * along_w**3) - 3 * mean(along_u * along_w) * mean(along_w**2)

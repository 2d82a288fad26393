"""Softmax calculus: the Jacobian, and the first three cumulants of tokens under softmax weights.

Weights α in the simplex and tokens X_1, …, X_T form a probability law. What attention computes is its mean
a = Σ_t α_t X_t; what its gradient needs is the covariance M = Σ_t α_t (X_t − a)(X_t − a)ᵀ; what its Hessian needs is
the third cumulant K_U = Σ_t α_t ⟨U, X_t − a⟩ (X_t − a)(X_t − a)ᵀ.

A token is a *row* here, X[..., t, :] = X_t; the papers that write X ∈ ℝ^{d×T} put tokens into columns. Every function
is batched over leading dimensions, which broadcast, and keeps dtype and device of its inputs.
"""

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from shallowformer import arguments

#: The largest T for which all 2^T sets of tokens are enumerated.
MAX_ENUMERATED_TOKENS = 16


def jacobian(z: Float[Tensor, "... T"]) -> Float[Tensor, "... T T"]:
    """Softmax Jacobian J_s(z) = diag α − ααᵀ, as a matrix: for reading and for reference, not for large T.

    Source: Arda, Cayci, Eryilmaz 2026, Fact 1; Qin, Zhou, Jiang, Zhu 2025, Lemma 2.
    """
    alpha = torch.softmax(arguments.floating("z", z, "... T"), -1)
    others = alpha[..., :, None] * alpha[..., None, :]
    others = others - torch.diag_embed(others.diagonal(dim1=-2, dim2=-1))
    # αᵢ(1 − αᵢ) from the other weights: a weight near 1 leaves 1 − αᵢ without digits.
    return torch.diag_embed(others.sum(-1)) - others


def jacobian_product(z: Float[Tensor, "... T"], u: Float[Tensor, "... T"]) -> Float[Tensor, "... T"]:
    """J_s(z) u = α ⊙ (u − ⟨α, u⟩): how the weights move when the logits move by u. The matrix is never formed.

    Returns: its entries sum to 0. Source: Arda, Cayci, Eryilmaz 2026, Fact 1.
    """
    arguments.floating("z", z, "... T")
    arguments.floating("u", u, "... T")
    if z.shape[-1] != u.shape[-1]:
        raise ValueError(f"u must have as many entries as z ({z.shape[-1]}), got {u.shape[-1]}")
    arguments.same_kind("z", z, u=u)
    _broadcast("z", z.shape[:-1], u=u)
    alpha = torch.softmax(z, -1)
    return alpha * (u - (alpha * u).sum(-1, keepdim=True))


def subset_masses(alpha: Float[Tensor, "... T"]) -> Float[Tensor, "... 2**T"]:
    """α(S) = Σ_{t∈S} α_t for every set S of at most 16 tokens: entry k belongs to the set of tokens whose bits are set in k."""
    arguments.floating("alpha", alpha, "... T")
    T = alpha.shape[-1]
    if T > MAX_ENUMERATED_TOKENS:
        raise ValueError(
            f"alpha must have T ≤ {MAX_ENUMERATED_TOKENS} entries to enumerate 2^T sets, got T = {T}"
        )
    members = (torch.arange(2**T, device=alpha.device)[:, None] >> torch.arange(T, device=alpha.device)) & 1
    return alpha @ members.to(alpha.dtype).T


def inf_to_one_norm(z: Float[Tensor, "... T"]) -> Float[Tensor, "..."]:
    """‖J_s(z)‖_{∞→1} = 4 max_S α(S)(1 − α(S)), the largest total change Σ_t |δα_t|, in [0, 1], of at most 16 tokens.

    Source: The sharp form of Arda, Cayci, Eryilmaz 2026, Fact 1 (which bounds it by 2).
    """
    mass = subset_masses(torch.softmax(arguments.floating("z", z, "... T"), -1))
    return (4 * mass * (1 - mass)).amax(-1)


def logits(
    X: Float[Tensor, "n T d"], W: Float[Tensor, "m d d"], q: Float[Tensor, "n d"]
) -> Float[Tensor, "n m T"]:
    """Attention logits ⟨X_t, W_i q⟩ of every sample, head and token. Source: Arda, Cayci, Eryilmaz 2026, equation (2)."""
    arguments.floating("X", X, "n T d")
    arguments.floating("W", W, "m d d")
    arguments.floating("q", q, "n d")
    n, _, d = X.shape
    arguments.shape("W", W, (W.shape[0], d, d), "[m, d, d], d as in X")
    arguments.shape("q", q, (n, d), "[n, d] as in X")
    arguments.same_kind("X", X, W=W, q=q)
    Wq = torch.einsum("mij,nj->nmi", W, q)
    return (X @ Wq.mT).mT


def weights(
    X: Float[Tensor, "n T d"], W: Float[Tensor, "m d d"], q: Float[Tensor, "n d"]
) -> Float[Tensor, "n m T"]:
    """Attention weights α_i = softmax_t ⟨X_t, W_i q⟩ of every sample and head. Source: Arda, Cayci, Eryilmaz 2026, equation (2)."""
    # Not along the last axis, which is as short as a sequence: that takes three times as long.
    return torch.softmax(logits(X, W, q).mT, 1).mT


def pooled_attention(
    X: Float[Tensor, "n T d"], W: Float[Tensor, "m d d"], q: Float[Tensor, "n d"]
) -> Float[Tensor, "n m d"]:
    """a(X; W_i) = Σ_t α_{i,t} X_t of every sample and head, in the tokens' convex hull. Source: Arda, Cayci, Eryilmaz 2026, equation (2)."""
    return weights(X, W, q) @ X


def _broadcast(first_name: str, leading: torch.Size, **others: Tensor) -> None:
    """Refuse vectors whose leading dimensions do not broadcast with the given ones."""
    for name, value in others.items():
        try:
            # Not torch's own, which takes its time, and half a second when it is first called.
            leading = np.broadcast_shapes(leading, value.shape[:-1])
        except ValueError:
            raise ValueError(
                f"{name} must have leading dimensions that broadcast with {tuple(leading)} of {first_name}, got shape {tuple(value.shape)}"
            ) from None


def _law(X: Tensor, alpha: Tensor, **directions: Tensor) -> None:
    """Refuse tokens, weights and directions that do not fit together."""
    arguments.floating("X", X, "... T d")
    arguments.floating("alpha", alpha, "... T")
    if X.shape[-2] != alpha.shape[-1]:
        raise ValueError(f"alpha must weigh the T = {X.shape[-2]} tokens of X, got {alpha.shape[-1]} weights")
    for name, direction in directions.items():
        arguments.floating(name, direction, "... d")
        if direction.shape[-1] != X.shape[-1]:
            raise ValueError(
                f"{name} must have d = {X.shape[-1]} entries as the tokens of X, got {direction.shape[-1]}"
            )
    arguments.same_kind("X", X, alpha=alpha, **directions)
    _broadcast("X", X.shape[:-2], alpha=alpha, **directions)


def _average(alpha: Tensor, X: Tensor) -> Tensor:
    """Σ_t α_t X_t; a matrix product, as an ``einsum`` of small tensors takes longer."""
    return (alpha[..., None, :] @ X)[..., 0, :]


def _scores(X: Tensor, u: Tensor) -> Tensor:
    """⟨u, X_t⟩ of every token."""
    return (X @ u[..., None])[..., 0]


def _second(alpha: Tensor, Y: Tensor) -> Tensor:
    """Σ_t α_t Y_t Y_tᵀ."""
    return (alpha[..., None] * Y).mT @ Y


def _centred(X: Tensor, alpha: Tensor) -> Tensor:
    """Y_t = X_t − a."""
    return X - alpha[..., None, :] @ X


def mean(X: Float[Tensor, "... T d"], alpha: Float[Tensor, "... T"]) -> Float[Tensor, "... d"]:
    """Softmax-weighted mean a = Σ_t α_t X_t. Source: Arda, Cayci, Eryilmaz 2026, Fact 2 and Remark 5."""
    _law(X, alpha)
    return _average(alpha, X)


def covariance(X: Float[Tensor, "... T d"], alpha: Float[Tensor, "... T"]) -> Float[Tensor, "... d d"]:
    """Softmax-weighted covariance M = Σ_t α_t (X_t − a)(X_t − a)ᵀ = X J_s Xᵀ (tokens as columns of X).

    Returns: symmetric and positive semidefinite. Source: Arda, Cayci, Eryilmaz 2026, equation (8), Fact 3 and Remark 4.
    """
    _law(X, alpha)
    return _second(alpha, _centred(X, alpha))


def covariance_product(
    X: Float[Tensor, "... T d"], alpha: Float[Tensor, "... T"], U: Float[Tensor, "... d"]
) -> Float[Tensor, "... d"]:
    """M U = Σ_t α_t (⟨U, X_t⟩ − ⟨U, a⟩) X_t: the d×d matrix is never formed. Source: Arda, Cayci, Eryilmaz 2026, equation (7)."""
    _law(X, alpha, U=U)
    scores = _scores(X, U)
    return _average(alpha * (scores - (alpha * scores).sum(-1, keepdim=True)), X)


def third_cumulant(
    X: Float[Tensor, "... T d"], alpha: Float[Tensor, "... T"], U: Float[Tensor, "... d"]
) -> Float[Tensor, "... d d"]:
    """Third cumulant contracted with U: K_U = Σ_t α_t ⟨U, Y_t⟩ Y_t Y_tᵀ with Y_t = X_t − a. Returns: symmetric.

    Source: The derivative of M in the proof of Lemma 2 of Arda, Cayci, Eryilmaz 2026.
    """
    _law(X, alpha, U=U)
    Y = _centred(X, alpha)
    return _second(alpha * _scores(Y, U), Y)


def third_cumulant_form(
    X: Float[Tensor, "... T d"],
    alpha: Float[Tensor, "... T"],
    u: Float[Tensor, "... d"],
    v: Float[Tensor, "... d"],
    w: Float[Tensor, "... d"],
) -> Float[Tensor, "..."]:
    """The symmetric form κ₃(u, v, w) = Σ_t α_t ⟨u, Y_t⟩⟨v, Y_t⟩⟨w, Y_t⟩ = ⟨v, K_u w⟩."""
    _law(X, alpha, u=u, v=v, w=w)
    Y = _centred(X, alpha)
    along_u, along_v, along_w = (_scores(Y, direction) for direction in (u, v, w))
    return (alpha * along_u * along_v * along_w).sum(-1)

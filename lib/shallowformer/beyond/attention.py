"""Pooled attention with several queries a sequence, and how much tokens and queries can move it."""

import torch
from torch import Tensor


def pooled(X: Tensor, W: Tensor, q: Tensor) -> Tensor:
    """Pooled attention a = Σ_t α_t X_t, α = softmax_t ⟨X_t, W_i q_s⟩, for every sample, query and head.

    Args:
        X: tokens, Float[Tensor, "n T d"].
        W: one matrix a head, Float[Tensor, "m d d"].
        q: queries, Float[Tensor, "n s d"].

    Returns:
        Float[Tensor, "n s m d"].
    """
    (n, s, d), m = q.shape, len(W)
    keys = (q.reshape(n * s, d) @ W.reshape(m * d, d).T).reshape(n, s * m, d)
    return (torch.softmax(keys @ X.mT, -1) @ X).reshape(n, s, m, d)


def one_query(X: Tensor, W: Tensor, q: Tensor) -> Tensor:
    """Pooled attention of one sequence a restart, one head and one query, as the checks want it.

    Args:
        X: tokens, Float[Tensor, "... T d"].
        W: Float[Tensor, "... d d"].
        q: Float[Tensor, "... d"].

    Returns:
        Float[Tensor, "... d"].
    """
    logits = torch.einsum("...td,...de,...e->...t", X, W, q)
    return torch.einsum("...t,...td->...d", torch.softmax(logits, -1), X)


def lipschitz(W: Tensor, q: Tensor, r: float = 1.0) -> Tensor:
    """√(1 + r²‖Wq‖²) + r²‖W‖_op: how far a moves, at most, when every token and the query move by 1; T is not in it.

    Args:
        W: Float[Tensor, "... d d"].
        q: Float[Tensor, "... d"].
        r: bound on the norms of tokens, above 0.

    Returns:
        Float[Tensor, "..."].
    """
    Wq = torch.einsum("...de,...e->...d", W, q)
    return (1 + r**2 * Wq.square().sum(-1)).sqrt() + r**2 * torch.linalg.matrix_norm(W, 2)

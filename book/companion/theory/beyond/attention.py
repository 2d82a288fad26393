"""Pooled attention with several queries a sequence, and how much tokens and queries can move it."""

import torch
from jaxtyping import Float
from torch import Tensor


def pooled(
    X: Float[Tensor, "n T d"], W: Float[Tensor, "m d d"], q: Float[Tensor, "n s d"]
) -> Float[Tensor, "n s m d"]:
    """Pooled attention a = Σ_t α_t X_t, α = softmax_t ⟨X_t, W_i q_s⟩, for every sample, query and head."""
    (n, s, d), m = q.shape, len(W)
    keys = (q.reshape(n * s, d) @ W.reshape(m * d, d).T).reshape(n, s * m, d)
    return (torch.softmax(keys @ X.mT, -1) @ X).reshape(n, s, m, d)


def one_query(
    X: Float[Tensor, "... T d"], W: Float[Tensor, "... d d"], q: Float[Tensor, "... d"]
) -> Float[Tensor, "... d"]:
    """Pooled attention of one sequence a restart, one head and one query, as the checks want it."""
    logits = torch.einsum("...td,...de,...e->...t", X, W, q)
    return torch.einsum("...t,...td->...d", torch.softmax(logits, -1), X)


def lipschitz(W: Float[Tensor, "... d d"], q: Float[Tensor, "... d"], r: float = 1.0) -> Float[Tensor, "..."]:
    """√(1 + r²‖Wq‖²) + r²‖W‖_op: how far a moves, at most, when every token, of norm at most r, and the query move by 1; T is not in it."""
    Wq = torch.einsum("...de,...e->...d", W, q)
    return (1 + r**2 * Wq.square().sum(-1)).sqrt() + r**2 * torch.linalg.matrix_norm(W, 2)

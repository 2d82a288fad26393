"""Joint training on the tokens' inner products alone, from (0, 0) or from any state: many runs side by side, every step kept, differentiable in the data.

A second route to ``joint.run``, for schedules (10): no coordinates, and both halves of a step seen apart. Labels are absorbed in the
tokens, and the optimal token of a sequence stands first.
"""

from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor

from shallowformer import arguments
from shallowformer.token_selection.instances import Instance


@dataclass(frozen=True)
class State:
    """Where b runs stand.

    Args:
        scores: ⟨u, x_{i,t}⟩ of signed tokens, the optimal one first.
        logits: ⟨x_{i,t}, W q_i⟩.
        t: steps made, at least 0, whole or not.
    """

    scores: Float[Tensor, "b n T"]
    logits: Float[Tensor, "b n T"]
    t: Float[Tensor, " b"]


@dataclass(frozen=True)
class Course:
    """What was seen of b runs, at k steps from their start on, and of the step that follows each.

    Args:
        log_loss: log L(u_t, W_t).
        between: log L(u_{t+1}, W_t), after the decoder's half of the step.
        margins: m_i.
        ahead: Δ_{i,τ} = γ_{i,opt} − γ_{i,τ}.
        gaps: h_{i,τ}.
        pull: ‖∇_u L‖/L.
        spread: largest ⟨ĝ, z_i − z_j⟩, ĝ = −∇_u L/‖∇_u L‖.
        rises: ⟨ĝ, z_i⟩, what the decoder's half adds to m_i, in units of s_t.
        own: the part of ⟨−n∇_W L, (x_{i,opt} − x_{i,τ})q_iᵀ⟩ that comes from sample i, in units of the largest loss.
        others: the part of it that comes from the other samples.
        lengths: s_t.
    """

    log_loss: Float[Tensor, "k b"]
    between: Float[Tensor, "k b"]
    margins: Float[Tensor, "k b n"]
    ahead: Float[Tensor, "k b n others"]
    gaps: Float[Tensor, "k b n others"]
    pull: Float[Tensor, "k b"]
    spread: Float[Tensor, "k b"]
    rises: Float[Tensor, "k b n"]
    own: Float[Tensor, "k b n others"]
    others: Float[Tensor, "k b n others"]
    lengths: Float[Tensor, "k b"]


def gram(instance: Instance) -> tuple[Float[Tensor, "1 n T n T"], Int[Tensor, "1 n"]]:
    """Inner products of signed tokens, the optimal one first, and the place of the query.

    Args:
        instance: the data; queries are tokens.

    Raises:
        ValueError: queries are no tokens.
    """
    if instance.query_index is None:
        raise ValueError("instance must have tokens as queries, got vectors")
    rows = torch.arange(instance.T).expand(instance.n, -1)
    best = instance.optimal[:, None]
    order = torch.cat([best, rows[rows != best].reshape(instance.n, -1)], 1)
    signed = instance.y[:, None, None] * instance.X
    X = torch.take_along_dim(signed, order[..., None], 1)
    place = (order == instance.query_index[:, None]).long().argmax(1)
    return torch.einsum("itd,jsd->itjs", X, X)[None], place[None]


def run(
    K: Float[Tensor, "b n T n T"],
    query: Int[Tensor, "b n"],
    eta: Float[Tensor, " b"],
    steps: int,
    p: float = 2 / 3,
    q: float = 1.0,
    start: State | None = None,
) -> Course:
    """Make steps of length η(t + 1)^{−p} for u and η(t + 1)^{−q} for W, from (0, 0) or from a state.

    Args:
        K: inner products of signed tokens, the optimal one first.
        query: place of the query among a sequence's tokens.
        eta: η, one a run.
        steps: at least 1.
        p: exponent of the decoder's steps.
        q: exponent of attention's steps.
        start: where to start; (0, 0) at t = 0 if not given.
    """
    arguments.count("steps", steps)
    b, n, T = K.shape[:3]
    here = torch.arange(b)[:, None]
    asks = K[here, torch.arange(n), query][here, :, torch.arange(n), query]  # ⟨q_i, q_j⟩, "b n n"
    if start is None:
        start = State(K.new_zeros(b, n, T), K.new_zeros(b, n, T), K.new_zeros(b))
    scores, logits = start.scores, start.logits
    seen: dict[str, list[Tensor]] = {name: [] for name in Course.__dataclass_fields__}
    mean = lambda margins: torch.logsumexp(-margins, 1) - torch.tensor(float(n), dtype=K.dtype).log()
    same = torch.eye(n, dtype=K.dtype)[:, None, :]
    for made in range(steps):
        t = start.t + made
        phi = torch.softmax(logits, -1)
        margins = (phi * scores).sum(-1)
        share = torch.softmax(-margins, 1)  # ℓ_i/(nL)
        along = torch.einsum("bitjs,bj,bjs->bit", K, share, phi)  # ⟨Σ share_j z_j, x_{i,t}⟩
        square_u = (share * (phi * along).sum(-1)).sum(1)  # ‖Σ share_j z_j‖²; rounded, maybe below 0
        pull = _root(square_u)
        steps_z = (phi * along).sum(-1) / pull[:, None]
        length = eta * (t + 1) ** -p
        after = scores + length[:, None, None] * along / pull[:, None, None]
        # attention: coefficients ℓ_i φ_{i,t}(γ_{i,t} − m_i); each is a sum of differences of scores
        off = ((scores[..., :, None] - scores[..., None, :]) * phi[..., None, :]).sum(-1)
        c = share[..., None] / share.amax(1)[:, None, None] * phi * off
        each = torch.einsum("bitjs,bij,bjs->bitj", K, asks, c)
        moves = each.sum(-1)
        size = _root((c * moves).sum((1, 2)))
        apart = each[:, :, :1] - each[:, :, 1:]
        own = (apart * same).sum(-1)
        found = {
            "log_loss": mean(margins),
            "between": mean((phi * after).sum(-1)),
            "margins": margins,
            "ahead": scores[..., :1] - scores[..., 1:],
            "gaps": logits[..., :1] - logits[..., 1:],
            "pull": torch.where(square_u > 0, pull, 0.0),
            "spread": steps_z.amax(1) - steps_z.amin(1),
            "rises": steps_z,
            "own": own,
            "others": apart.sum(-1) - own,
            "lengths": length,
        }
        for name, value in found.items():
            seen[name].append(value)
        scores = after
        logits = logits + (eta * (t + 1) ** -q / size)[:, None, None] * moves
    return Course(**{name: torch.stack(values) for name, values in seen.items()})


def _root(square: Float[Tensor, " b"]) -> Float[Tensor, " b"]:
    """The norm to divide by; 1 where a gradient vanishes: 0/0 := 0, in value and derivative, so nothing moves there."""
    return torch.where(square > 0, square, 1.0).sqrt()

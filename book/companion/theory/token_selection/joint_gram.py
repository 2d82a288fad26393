"""Joint training on the tokens' inner products alone, from (0, 0) or from any state: many runs side by side, every step kept, differentiable in the data.

A second route to ``joint.run``, for schedules (10): no coordinates, and both halves of a step seen apart. Labels are absorbed in the
tokens, and the optimal token of a sequence stands first.
"""

import functools
import math
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor

from shallowformer.contracts import Count, contract
from shallowformer.token_selection.instances import Instance


@dataclass(frozen=True)
class State:
    """Where b runs stand."""

    scores: Float[Tensor, "b n T"]  # ⟨u, x_{i,t}⟩ of signed tokens, the optimal one first
    logits: Float[Tensor, "b n T"]  # ⟨x_{i,t}, W q_i⟩
    t: Float[Tensor, " b"]  # steps made, at least 0, whole or not


@dataclass(frozen=True)
class Course:
    """What was seen of b runs, at k steps from their start on, and of the step that follows each."""

    scores: Float[Tensor, "k b n T"]  # ⟨u, x_{i,t}⟩
    logits: Float[Tensor, "k b n T"]  # ⟨x_{i,t}, W q_i⟩
    lengths: Float[Tensor, "k b"]  # s_t
    pull: Float[Tensor, "k b"]  # ‖∇_u L‖/L
    #: ⟨ĝ, x_{i,t}⟩, ĝ = −∇_u L/‖∇_u L‖: what the decoder's half adds to the scores, in units of s_t
    toward: Float[Tensor, "k b n T"]
    pushes: Float[Tensor, "k b n T"]  # coefficients of −n∇_W L in x_{i,t} q_iᵀ, in units of the largest loss
    moves: Float[Tensor, "k b n T"]  # what −n∇_W L adds to the logits, in units of the largest loss
    alone: Float[Tensor, "b n T T"]  # inner products of a sample's x_{i,t} q_iᵀ among themselves

    @functools.cached_property
    def phi(self) -> Float[Tensor, "k b n T"]:
        """Attention."""
        return torch.softmax(self.logits, -1)

    @functools.cached_property
    def margins(self) -> Float[Tensor, "k b n"]:
        """m_i."""
        return (self.phi * self.scores).sum(-1)

    @functools.cached_property
    def log_loss(self) -> Float[Tensor, "k b"]:
        """Log L(u_t, W_t)."""
        return _log_mean(self.margins)

    @functools.cached_property
    def between(self) -> Float[Tensor, "k b"]:
        """Log L(u_{t+1}, W_t), after the decoder's half of the step."""
        after = self.scores + self.lengths[..., None, None] * self.toward
        return _log_mean((self.phi * after).sum(-1))

    @property
    def ahead(self) -> Float[Tensor, "k b n others"]:
        """Δ_{i,τ} = γ_{i,opt} − γ_{i,τ}."""
        return _ahead(self.scores)

    @property
    def gaps(self) -> Float[Tensor, "k b n others"]:
        """h_{i,τ}."""
        return _ahead(self.logits)

    @functools.cached_property
    def rises(self) -> Float[Tensor, "k b n"]:
        """⟨ĝ, z_i⟩, what the decoder's half adds to m_i, in units of s_t."""
        return (self.phi * self.toward).sum(-1)

    @property
    def spread(self) -> Float[Tensor, "k b"]:
        """Largest ⟨ĝ, z_i − z_j⟩."""
        return self.rises.amax(2) - self.rises.amin(2)

    @functools.cached_property
    def own(self) -> Float[Tensor, "k b n others"]:
        """The part of ⟨−n∇_W L, (x_{i,opt} − x_{i,τ})q_iᵀ⟩ that comes from sample i, in units of the largest loss."""
        return _ahead((self.alone @ self.pushes[..., None])[..., 0])

    @property
    def others(self) -> Float[Tensor, "k b n others"]:
        """The part of it that comes from the other samples."""
        return _ahead(self.moves) - self.own


def gram(instance: Instance) -> tuple[Float[Tensor, "1 n T n T"], Int[Tensor, "1 n"]]:
    """Inner products of signed tokens, the optimal one first, and the place of the query."""
    if instance.query_index is None:
        raise ValueError("instance must have tokens as queries, got vectors")
    rows = torch.arange(instance.T).expand(instance.n, -1)
    best = instance.optimal[:, None]
    order = torch.cat([best, rows[rows != best].reshape(instance.n, -1)], 1)
    signed = instance.y[:, None, None] * instance.X
    X = torch.take_along_dim(signed, order[..., None], 1)
    place = (order == instance.query_index[:, None]).long().argmax(1)
    return torch.einsum("itd,jsd->itjs", X, X)[None], place[None]


@contract
def run(
    K: Float[Tensor, "b n T n T"],
    query: Int[Tensor, "b n"],
    eta: Float[Tensor, " b"],
    steps: Count,
    p: float = 2 / 3,
    q: float = 1.0,
    start: State | None = None,
) -> Course:
    """Steps of length η(t + 1)^{−p} for u and η(t + 1)^{−q} for W, one η a run, from a state, or from (0, 0) at t = 0 if none is given."""
    b, n, T = K.shape[:3]
    rows = torch.arange(b)[:, None]
    asks = K[rows, torch.arange(n), query][rows, :, torch.arange(n), query]  # ⟨q_i, q_j⟩, "b n n"
    both = K * asks[:, :, None, :, None]  # ⟨x_{i,t}q_iᵀ, x_{j,s}q_jᵀ⟩
    times = lambda inner, c: (inner @ c.reshape(b, n * T, 1)).reshape(b, n, T)
    of_u, of_W = (inner.reshape(b, n * T, n * T) for inner in (K, both))
    if start is None:
        start = State(K.new_zeros(b, n, T), K.new_zeros(b, n, T), K.new_zeros(b))
    scores, logits, seen = start.scores, start.logits, []
    t = start.t + torch.arange(1, steps + 1, dtype=K.dtype)[:, None]
    lengths, lengths_W = eta * t**-p, eta * t**-q
    for length, length_W in zip(lengths, lengths_W, strict=True):
        phi = torch.softmax(logits, -1)
        share = torch.softmax(-(phi * scores).sum(-1), 1)[..., None]  # ℓ_i/(nL)
        held = share * phi
        along = times(of_u, held)  # ⟨Σ share_j z_j, x_{i,t}⟩
        square = (held * along).sum((1, 2))  # ‖Σ share_j z_j‖²; rounded, maybe below 0
        size = _root(square)
        toward = along / size[:, None, None]
        # attention: coefficients ℓ_i φ_{i,t}(γ_{i,t} − m_i); each is a sum of differences of scores
        off = ((scores[..., :, None] - scores[..., None, :]) * phi[..., None, :]).sum(-1)
        pushes = held / share.amax(1, keepdim=True) * off
        moves = times(of_W, pushes)
        seen.append((scores, logits, torch.where(square > 0, size, 0.0), toward, pushes, moves))
        scores = scores + length[:, None, None] * toward
        logits = logits + (length_W / _root((pushes * moves).sum((1, 2))))[:, None, None] * moves
    scores, logits, pull, toward, pushes, moves = map(torch.stack, zip(*seen, strict=True))
    alone = both.diagonal(dim1=1, dim2=3).permute(0, 3, 1, 2)
    return Course(scores, logits, lengths, pull, toward, pushes, moves, alone)


def _ahead(values: Float[Tensor, "*s T"]) -> Float[Tensor, "*s others"]:
    return values[..., :1] - values[..., 1:]


def _log_mean(margins: Float[Tensor, "*s n"]) -> Float[Tensor, "*s"]:
    return torch.logsumexp(-margins, -1) - math.log(margins.shape[-1])


def _root(square: Float[Tensor, " b"]) -> Float[Tensor, " b"]:
    """The norm to divide by; 1 where a gradient vanishes: 0/0 := 0, in value and derivative, so nothing moves there."""
    return torch.where(square > 0, square, 1.0).sqrt()

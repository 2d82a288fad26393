"""Data of a token selection problem: sequences, labels, a decoder; the scores that it gives to tokens, and the gaps between them."""

import functools
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from shallowformer import arguments
from shallowformer.contracts import NonNegative, contract


@dataclass(frozen=True)
class Instance:
    """n sequences of T tokens with labels, a decoder u and a query a sequence.

    A pair k = (i, t) is a sequence and one of its tokens that is not the optimal one; pairs are ordered by i, then by t: K = n(T − 1).

    Source: Vasudeva, Deora, Thrampoulidis 2024, sections 2 and 3.
    """

    X: Float[Tensor, "n T d"]  # tokens x_{i,t}, of any length; T at least 2
    y: Float[Tensor, " n"]  # labels, +1 or −1
    u: Float[Tensor, " d"]  # decoder
    #: which token of each sequence asks: one index for all, or one a sequence; or the queries themselves. The first, if not given.
    query: int | Int[Tensor, " n"] | Float[Tensor, "n d"] = 0
    #: the optimal tokens, where they are not to be read from the scores (in joint training u starts at 0 and has none to give)
    opt: Int[Tensor, " n"] | None = None

    def __post_init__(self) -> None:
        """Check that the parts fit together."""
        n, T, d = arguments.floating("X", self.X, "n T d").shape
        if T < 2:
            raise ValueError(f"X must have at least 2 tokens a sequence to select from, got T = {T}")
        arguments.shape("y", arguments.floating("y", self.y, "n"), (n,), "[n] as in X")
        arguments.shape("u", arguments.floating("u", self.u, "d"), (d,), "[d] as in X")
        arguments.same_kind("X", self.X, y=self.y, u=self.u)
        if not (self.y.abs() == 1).all():
            raise ValueError(
                f"y must hold labels +1 and −1, got {float(self.y[self.y.abs() != 1][0])!r} among them"
            )
        if isinstance(self.query, Tensor) and self.query.is_floating_point():
            arguments.shape("query", arguments.floating("query", self.query, "n d"), (n, d), "[n, d] as in X")
            arguments.same_kind("X", self.X, query=self.query)
        else:
            _indices("query", self.query, n, T)
        if self.opt is not None:
            _indices("opt", self.opt, n, T)

    @property
    def n(self) -> int:
        """Number of sequences."""
        return self.X.shape[0]

    @property
    def T(self) -> int:
        """Tokens a sequence."""
        return self.X.shape[1]

    @property
    def d(self) -> int:
        """Dimension of a token."""
        return self.X.shape[2]

    @functools.cached_property
    def query_index(self) -> Int[Tensor, " n"] | None:
        """Which token asks; None if the queries are vectors of their own."""
        if isinstance(self.query, int):
            return torch.full((self.n,), self.query, device=self.X.device)
        return None if self.query.is_floating_point() else self.query.long()

    @functools.cached_property
    def queries(self) -> Float[Tensor, "n d"]:
        """The query of each sequence."""
        return self.query if self.query_index is None else self.X[_rows(self), self.query_index]

    @functools.cached_property
    def scores(self) -> Float[Tensor, "n T"]:
        """γ_{i,t} = y_i ⟨u, x_{i,t}⟩."""
        return self.y[:, None] * (self.X @ self.u)

    @functools.cached_property
    def rounding(self) -> Float[Tensor, " n"]:
        """How far a difference of two scores of a sequence can be off by rounding; what is smaller counts as a tie."""
        terms = (self.X * self.u).abs().sum(-1).amax(-1)
        return 2 * (self.d + 2) * torch.finfo(self.X.dtype).eps * terms

    @functools.cached_property
    def optimal(self) -> Int[Tensor, " n"]:
        """opt_i, the token with the largest score."""
        if self.opt is not None:
            return self.opt.long()
        best = self.scores.topk(2, -1).values
        tied = best[:, 0] - best[:, 1] <= self.rounding
        if tied.any():
            i = int(tied.nonzero()[0])
            raise ValueError(
                f"the scores must have one largest in each sequence (Definition 1), or opt must name it, got {int(tied.sum())} "
                f"sequences with a tie, the first at i = {i}: {self.scores[i].tolist()}"
            )
        return self.scores.argmax(-1)

    @functools.cached_property
    def others(self) -> Int[Tensor, "n others"]:
        """The tokens that are not optimal, in order."""
        every = torch.arange(self.T, device=self.X.device).expand(self.n, -1)
        return every[every != self.optimal[:, None]].reshape(self.n, self.T - 1)

    @functools.cached_property
    def sequence(self) -> Int[Tensor, " K"]:
        """The sequence i of each pair."""
        return _rows(self).repeat_interleave(self.T - 1)

    @functools.cached_property
    def best(self) -> Float[Tensor, "n d"]:
        """The optimal tokens x_{i,opt}."""
        return self.X[_rows(self), self.optimal]

    @functools.cached_property
    def differences(self) -> Float[Tensor, "K d"]:
        """D_k = x_{i,opt} − x_{i,t}."""
        rest = self.X[_rows(self)[:, None], self.others]
        return (self.best[:, None] - rest).flatten(0, 1)

    @functools.cached_property
    def pair_queries(self) -> Float[Tensor, "K d"]:
        """q_k, the query of each pair's sequence."""
        return self.queries[self.sequence]

    @functools.cached_property
    def gram(self) -> Float[Tensor, "K K"]:
        """G_{kl} = ⟨D_k, D_l⟩⟨q_k, q_l⟩, the inner products of the matrices E_k = D_k q_kᵀ."""
        D, q = self.differences, self.queries
        return (D @ D.T) * (q @ q.T)[self.sequence][:, self.sequence]

    @functools.cached_property
    def advantages(self) -> Float[Tensor, "n others"]:
        """γ_{i,opt} − γ_{i,t} of every pair; above 0 if the optimal tokens are those of the scores."""
        return self.scores.gather(1, self.optimal[:, None]) - self.scores.gather(1, self.others)

    @functools.cached_property
    def spread(self) -> Float[Tensor, " n"]:
        """Largest minus smallest score of a sequence's tokens that are not optimal: 0 under Assumption 2."""
        return self.advantages.amax(1) - self.advantages.amin(1)

    @contract
    def equal_scores(self, tolerance: NonNegative | None = None) -> bool:
        """Does Assumption 2 hold: do all tokens of a sequence but the optimal one have the same score, up to rounding or the tolerance?

        Source: Vasudeva, Deora, Thrampoulidis 2024, Assumption 2, in our reading.
        """
        allowed = self.rounding if tolerance is None else tolerance
        return bool((self.spread <= allowed).all())

    @property
    def Delta(self) -> Float[Tensor, " n"]:
        """Δ_i = γ_{i,opt} − γ_i, where Assumption 2 gives one score γ_i to all other tokens."""
        if not self.equal_scores():
            raise ValueError(
                "Delta must be one number a sequence, which takes Assumption 2 (equal scores of all tokens but the optimal one), "
                f"got scores as far apart as {float(self.spread.max()):.3g}"
            )
        return self.advantages.mean(1)

    def gaps(self, W: Float[Tensor, "d d"]) -> Float[Tensor, "n others"]:
        """h_k = ⟨D_k, W q_k⟩: by how much the optimal token's logit is ahead."""
        arguments.shape("W", arguments.floating("W", W, "d d"), (self.d, self.d), "[d, d] with the d of X")
        arguments.same_kind("X", self.X, W=W)
        return (self.differences * (self.queries @ W.T)[self.sequence]).sum(-1).reshape(self.n, self.T - 1)


def _rows(instance: Instance) -> Tensor:
    return torch.arange(instance.n, device=instance.X.device)


def _indices(name: str, value: object, n: int, T: int) -> None:
    """Refuse what is not a token's index, or one a sequence."""
    if isinstance(value, Tensor):
        whole = not (value.is_floating_point() or value.is_complex() or value.dtype == torch.bool)
        wrong = not whole or value.shape != (n,) or not ((value >= 0) & (value < T)).all()
        given = f"{value.dtype} {tuple(value.shape)} {value.flatten()[:4].tolist()}"
    else:
        wrong = isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < T
        wrong, given = wrong or name == "opt", repr(value)
    if wrong:
        one = "" if name == "opt" else "an index from 0 to T − 1, "
        raise ValueError(f"{name} must be {one}{n} such indices (T = {T}), or left out, got {given}")


def all_tied(instance: Instance) -> Bool[Tensor, " n"]:
    """Which sequences give all tokens one score, up to rounding: their attention is never trained."""
    return instance.scores.amax(1) - instance.scores.amin(1) <= instance.rounding

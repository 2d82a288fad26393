"""Instances under Assumption 2 side by side, differentiable and in log form: what a search for a counterexample climbs on.

Every instance is one of these, up to a rotation and a factor on u: labels +1 (multiply tokens by y), u the first axis, so that the first
entry of a token is its score, and the optimal token first. Formulas are written anew here, apart from ``gaps`` and ``svm``: tests and
chapters hold the two against each other.
"""

import functools
import itertools
import math
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from shallowformer import arguments
from shallowformer.token_selection.instances import Instance

#: More constraints than this are not enumerated: there are 2^K sets of them.
MOST_CONSTRAINTS = 8


@dataclass(frozen=True)
class Batch:
    """b instances of n samples of T tokens."""

    #: tokens, the optimal one of each sample first; first entries are scores, those of the others equal
    X: Float[Tensor, "b n T d"]
    query: tuple[int, ...]  # which token of each sample asks; 0 is the optimal one

    def __post_init__(self) -> None:
        """Check the queries."""
        _, n, T, _ = self.X.shape
        if len(self.query) != n or not all(0 <= index < T for index in self.query):
            raise ValueError(f"query must be {n} indices from 0 to {T - 1}, got {self.query}")

    @classmethod
    def of(
        cls,
        X: Float[Tensor, "b n T d"],
        gamma: Float[Tensor, "b n"],
        Delta: Float[Tensor, "b n"],
        query: tuple[int, ...],
    ) -> "Batch":
        """Give tokens their scores: their first entries are replaced.

        Args:
            gamma: γ_i, the score of the tokens that are not optimal.
            Delta: Δ_i above 0, how much more the optimal one has.
            query: which token of each sample asks; 0 is the optimal one.
        """
        T = X.shape[2]
        lead = torch.zeros(T, dtype=X.dtype)
        lead[0] = 1
        first = gamma[..., None] + Delta[..., None] * lead
        return cls(torch.cat([first[..., None], X[..., 1:]], -1), query)

    @property
    def n(self) -> int:
        """Number of samples."""
        return self.X.shape[1]

    @functools.cached_property
    def gamma(self) -> Float[Tensor, "b n"]:
        """γ_i, the score of the tokens that are not optimal."""
        return self.X[:, :, 1, 0]

    @functools.cached_property
    def Delta(self) -> Float[Tensor, "b n"]:
        """Δ_i, how much more the optimal token has."""
        return self.X[:, :, 0, 0] - self.gamma

    @functools.cached_property
    def B(self) -> Float[Tensor, " b"]:
        """The largest norm of a token."""
        return self.X.norm(dim=-1).flatten(1).amax(1)

    @functools.cached_property
    def q(self) -> Float[Tensor, "b n d"]:
        """Queries."""
        return self.X[:, torch.arange(self.n), list(self.query)]

    @functools.cached_property
    def D(self) -> Float[Tensor, "b n rest d"]:
        """x_{i,opt} − x_{i,t}."""
        return self.X[:, :, :1] - self.X[:, :, 1:]

    @functools.cached_property
    def gram(self) -> Float[Tensor, "b K K"]:
        """⟨E_k, E_l⟩, E_k = D_k q_kᵀ, from the matrices themselves."""
        E = (self.D[..., :, None] * self.q[:, :, None, None, :]).flatten(3).flatten(1, 2)
        return E @ E.mT

    def gaps(self, W: Float[Tensor, "b d d"]) -> Float[Tensor, "b n rest"]:
        """h_k = ⟨D_k, W q_k⟩, W one key-query matrix an instance."""
        return (self.D * (self.q @ W.mT)[:, :, None]).sum(-1)

    @functools.cached_property
    def log_psi(self) -> tuple[Float[Tensor, " b"], Float[Tensor, " b"]]:
        """Log Ψ_min and log Ψ_max."""
        size = self.Delta.log()
        return (size - self.gamma - self.Delta).amin(1), (size - self.gamma).amax(1)

    def pulls(self, h: Float[Tensor, "b n rest"]) -> "Pulls":
        """What gradient descent does at gaps h."""
        behind = torch.logsumexp(-h, -1)
        log_best = -torch.nn.functional.softplus(behind, threshold=40)
        log_off = behind + log_best
        log_a = self.Delta.log() - self.gamma - self.Delta + self.Delta * log_off.exp()
        return Pulls(log_a, log_best, log_off, log_best[..., None] - h)

    def instance(self, which: int = 0) -> Instance:
        """One of them, by its place, as the rest of the package has it."""
        X = self.X[which].detach()
        u = torch.zeros(X.shape[-1], dtype=X.dtype)
        u[0] = 1
        return Instance(X, torch.ones(self.n, dtype=X.dtype), u, query=torch.tensor(self.query))


@dataclass(frozen=True)
class Pulls:
    """Logarithms of what the gradient is made of: −∇L = Σ_k w_k E_k, n w_k = a_i φ_{i,opt} φ_{i,t}."""

    log_a: Float[Tensor, "b n"]  # a_i = ℓ_iΔ_i
    log_best: Float[Tensor, "b n"]  # φ_{i,opt}
    log_off: Float[Tensor, "b n"]  # 1 − φ_{i,opt}
    log_rest: Float[Tensor, "b n rest"]  # φ_{i,t} of the others

    @functools.cached_property
    def log_weights(self) -> Float[Tensor, "b K"]:
        """Log w_k."""
        n = self.log_a.shape[-1]
        logs = (self.log_a + self.log_best)[..., None] + self.log_rest
        return logs.flatten(1) - math.log(n)

    @functools.cached_property
    def log_total(self) -> Float[Tensor, " b"]:
        """Log of (1/n) Σ_i a_i φ_{i,opt}(1 − φ_{i,opt}) = Σ_k w_k."""
        n = self.log_a.shape[-1]
        logs = self.log_a + self.log_best + self.log_off
        return torch.logsumexp(logs, -1) - math.log(n)

    @functools.cached_property
    def shares(self) -> Float[Tensor, "b K"]:
        """w_k/Σ_l w_l: −∇L is Σ_k w_k times the mean of the E_k with these weights."""
        return torch.softmax(self.log_weights, -1)


def shortest(gram: Float[Tensor, "b K K"]) -> Float[Tensor, "b K"]:
    """The multipliers λ of the shortest W with ⟨E_k, W⟩ ≥ 1, if that can be met, by trying every set of active constraints, of at most 8.

    A set S with λ_S = G_SS⁻¹1 ≥ 0 is feasible in the dual problem, max 2 Σλ − λᵀGλ with G the Gram matrix of the E_k, with value Σλ_S; one
    of them is its solution. Sets whose G_SS is singular are left out: one without superfluous constraints is always among the others.
    W = Σ_k λ_k E_k, ‖W‖² = Σ_k λ_k, and λ is differentiable while the set stays the same.
    """
    K = arguments.at_most("K", gram.shape[-1], "what is enumerated", MOST_CONSTRAINTS)
    # A vector of length 0 is in no regular set; it must not spoil the others.
    root = gram.diagonal(dim1=-2, dim2=-1).clamp(min=torch.finfo(gram.dtype).tiny).sqrt()
    unit = gram / (root[:, :, None] * root[:, None, :])
    every = _sets(K, gram.dtype)
    alone = _alone(unit[:, None], every)
    regular = torch.linalg.det(alone.detach()) > arguments.tolerance(1e-10, gram)
    safe = torch.where(regular[..., None, None], alone, torch.eye(K, dtype=gram.dtype))
    lam = torch.linalg.solve(safe, every / root[:, None]) / root[:, None]
    allowed = regular & (lam.detach() >= 0).all(-1)
    best = torch.where(allowed, lam.detach().sum(-1), -torch.inf).argmax(1)
    return lam[torch.arange(len(gram)), best]


@functools.cache
def _sets(K: int, dtype: torch.dtype) -> Float[Tensor, "sets K"]:
    """All sets of K constraints but the empty one, as rows of 0 and 1; small ones first."""
    rows = [
        [float(k in chosen) for k in range(K)]
        for size in range(1, K + 1)
        for chosen in itertools.combinations(range(K), size)
    ]
    return torch.tensor(rows, dtype=dtype)


def _alone(unit: Float[Tensor, "*b K K"], sets: Float[Tensor, "*sets K"]) -> Float[Tensor, "*b_sets K K"]:
    """A Gram matrix of vectors of length 1 from which those outside of a set are gone: identity in their rows and columns."""
    return unit * sets[..., :, None] * sets[..., None, :] + torch.diag_embed(1 - sets)

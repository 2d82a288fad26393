"""Training of decoder and attention together, in plain numbers; labels are absorbed in the tokens."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float


@dataclass(frozen=True)
class State:
    """A step of the run: both blocks, attention's weights of the optimal tokens, margins, and log ℒ."""

    u: Float[np.ndarray, " d"]
    W: Float[np.ndarray, "d d"]
    p: Float[np.ndarray, " n"]
    log_both: Float[np.ndarray, " n"]  # log p(1 − p)
    margins: Float[np.ndarray, " n"]
    log_loss: float


@dataclass(frozen=True)
class Pairs:
    """Samples of a token a and a token b, "n 2 d", and the one that asks."""

    X: Float[np.ndarray, "n 2 d"]
    asks: tuple[int, ...]

    @property
    def queries(self) -> Float[np.ndarray, "n d"]:
        """q_i."""
        return self.X[range(len(self.X)), list(self.asks)]

    @property
    def E(self) -> Float[np.ndarray, "n d d"]:
        """(a_i − b_i)q_iᵀ."""
        return np.einsum("nd,ne->nde", self.X[:, 0] - self.X[:, 1], self.queries)

    def at(self, u: Float[np.ndarray, " d"], W: Float[np.ndarray, "d d"]) -> State:
        """What the model does there."""
        gaps = (self.E * W).sum((1, 2))
        p = np.exp(-np.logaddexp(0, -gaps))
        margins = (self._attended(p) * u).sum(1)
        log_both = -np.abs(gaps) - 2 * np.log1p(np.exp(-np.abs(gaps)))
        return State(u, W, p, log_both, margins, float(np.logaddexp.reduce(-margins) - math.log(len(p))))

    def _attended(self, p: Float[np.ndarray, " n"]) -> Float[np.ndarray, "n d"]:
        return p[:, None] * self.X[:, 0] + (1 - p)[:, None] * self.X[:, 1]

    def pulls(self, here: State) -> tuple[Float[np.ndarray, " d"], Float[np.ndarray, "d d"]]:
        """−∇_uℒ and −∇_Wℒ, each up to a positive factor."""
        loss = np.exp(-here.margins + here.margins.min())
        ahead = (self.X[:, 0] - self.X[:, 1]) @ here.u
        logs = here.log_both - here.margins
        weights = ahead * np.exp(logs - logs.max())
        return loss @ self._attended(here.p), np.einsum("n,nde->de", weights, self.E)

    def run(
        self, eta: float, steps: int, u: Float[np.ndarray, " d"] | None = None
    ) -> Iterator[tuple[State, State]]:
        """For every step the state before it, and between its halves; the last state twice."""
        d = self.X.shape[2]
        here = self.at(np.zeros(d) if u is None else u, np.zeros((d, d)))
        for t in range(steps):
            of_u, of_W = self.pulls(here)
            between = self.at(here.u + eta / (t + 1) ** (2 / 3) * _unit(of_u), here.W)
            yield here, between
            here = self.at(between.u, here.W + eta / (t + 1) * _unit(of_W))
        yield here, here

    def after(self, eta: float, steps: int, u: Float[np.ndarray, " d"] | None = None) -> State:
        """Where the run is after some steps."""
        *_, (last, _) = self.run(eta, steps, u)
        return last


def _unit(pull: np.ndarray) -> np.ndarray:
    """Over its norm; 0 stays 0."""
    largest = np.abs(pull).max()
    return pull if largest == 0 else pull / largest / np.linalg.norm(pull / largest)


def small_step(n: int, kappa: float, longest: float) -> float:
    """The limit (E), from κ and A₊."""
    return min(1 / (33 * math.sqrt(n) * kappa * longest), 1 / (3 * math.sqrt(longest)))


def orthogonal(squares: list[tuple[float, float]], asks: tuple[int, ...]) -> Pairs:
    """Orthogonal tokens of these squared lengths."""
    lengths = np.sqrt(np.array(squares)).flatten()
    return Pairs(np.diag(lengths).reshape(len(squares), 2, -1), asks)


def with_products(K: Float[np.ndarray, "N N"], asks: tuple[int, ...]) -> Pairs:
    """Tokens with these inner products, in the order a₁, b₁, a₂, b₂, …."""
    return Pairs(np.linalg.cholesky(K).reshape(len(K) // 2, 2, -1), asks)

"""Training in plain numbers, from softmax itself: what controls run, apart from the package's simulator."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

#: The length of a step from the gradient, and how far the loss is above its infimum.
Rule = Callable[[float, float], float]


@dataclass(frozen=True)
class Data:
    """Samples: tokens ``X`` ("n T d"), labels, decoder, and which token of each sample asks."""

    X: Float[np.ndarray, "n T d"]
    y: Float[np.ndarray, " n"]
    u: Float[np.ndarray, " d"]
    asks: tuple[int, ...]

    @property
    def queries(self) -> Float[np.ndarray, "n d"]:
        """x_{i,1}."""
        return self.X[range(len(self.y)), list(self.asks)]

    @property
    def scores(self) -> Float[np.ndarray, "n T"]:
        """γ_{i,t} = y_i⟨u, x_{i,t}⟩."""
        return self.y[:, None] * (self.X @ self.u)

    @property
    def best(self) -> Float[np.ndarray, "n d"]:
        """x_{i,opt}."""
        return self.X[range(len(self.y)), self.scores.argmax(1)]

    def weights(self, W: Float[np.ndarray, "d d"]) -> Float[np.ndarray, "n T"]:
        """φ_i = softmax(X_i W x_{i,1})."""
        logits = np.einsum("ntd,de,ne->nt", self.X, W, self.queries)
        phi = np.exp(logits - logits.max(1, keepdims=True))
        return phi / phi.sum(1, keepdims=True)

    def attended(self, W: Float[np.ndarray, "d d"]) -> Float[np.ndarray, " n"]:
        """φ_{i,opt}."""
        return self.weights(W)[range(len(self.y)), self.scores.argmax(1)]

    def pull(self, W: Float[np.ndarray, "d d"]) -> tuple[Float[np.ndarray, "d d"], float]:
        """−∇ℒ, every score compared with every other so that no digit cancels, and ℒ − ℒ*."""
        phi, scores = self.weights(W), self.scores
        ahead = np.einsum("ns,nts->nt", phi, scores[:, :, None] - scores[:, None, :])
        loss = np.exp(-(phi * scores).sum(1))
        moves = (loss[:, None] * phi * ahead)[..., None] * self.X
        top = scores.max(1)
        behind = (phi * (top[:, None] - scores)).sum(1)
        excess = float((np.exp(-top) * np.expm1(behind)).mean())
        return np.einsum("ntd,ne->de", moves, self.queries) / len(self.y), excess

    def run(
        self, rule: Rule, steps: int, start: Float[np.ndarray, "d d"] | None = None
    ) -> Iterator[Float[np.ndarray, "d d"]]:
        """W₀, W₁, …: steps along −∇ℒ of the lengths of a rule."""
        W = np.zeros((len(self.u), len(self.u))) if start is None else start
        yield W
        for _ in range(steps):
            pull, excess = self.pull(W)
            largest = np.abs(pull).max()
            size = largest * float(np.linalg.norm(pull / largest))
            W = W + rule(size, excess) * (pull / size)
            yield W

    def after(
        self, rule: Rule, steps: int, start: Float[np.ndarray, "d d"] | None = None
    ) -> Float[np.ndarray, "d d"]:
        """Where a run is after some steps."""
        *_, last = self.run(rule, steps, start)
        return last


def normalised(eta: float) -> Rule:
    """Steps of one length."""
    return lambda size, excess: eta


def plain(eta: float) -> Rule:
    """η‖∇ℒ‖."""
    return lambda size, excess: eta * size


def polyak(most: float) -> Rule:
    """(ℒ − ℒ*)/(2‖∇ℒ‖), at most a length."""
    return lambda size, excess: min(excess / (2 * size), most)


def misaligned(W: Float[np.ndarray, "d d"], goal: Float[np.ndarray, "d d"]) -> float:
    """1 − corr."""
    return 1 - float((W * goal).sum() / (np.linalg.norm(W) * np.linalg.norm(goal)))


def two_gaps(
    gram: tuple[tuple[float, float], tuple[float, float]],
    lengths: Sequence[float] | Callable[[float], float],
    steps: int,
    start: tuple[float, float] = (0.0, 0.0),
    ahead: tuple[float, float] = (1.0, 1.0),
    best: tuple[float, float] = (0.0, 0.0),
) -> Iterator[tuple[float, float]]:
    """Gaps of two samples of two tokens, from ⟨E_k, E_l⟩, Δ_k and γ_{k,opt}: for lengths, or for GD's η as a function of ‖∇ℒ‖."""
    (g1, c), (_, g2) = gram
    h = list(start)
    yield h[0], h[1]
    for step in range(steps):
        logs = []
        for x, Delta, score in zip(h, ahead, best, strict=True):
            fade = math.exp(-abs(x))
            small = fade / (1 + fade) if x > 0 else 1 / (1 + fade)
            logs.append(math.log(Delta / 2) - score + Delta * small - abs(x) - 2 * math.log1p(fade))
        top = max(logs)
        w = [math.exp(log - top) for log in logs]
        size = math.sqrt(g1 * w[0] ** 2 + 2 * c * w[0] * w[1] + g2 * w[1] ** 2)
        length = lengths(math.exp(top) * size) if callable(lengths) else lengths[step]
        h[0] += length * (g1 * w[0] + c * w[1]) / size
        h[1] += length * (c * w[0] + g2 * w[1]) / size
        yield h[0], h[1]

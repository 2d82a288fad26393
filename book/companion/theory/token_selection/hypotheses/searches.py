"""Searches for a run or an instance that fails without a hypothesis, none of which found one: what was tried, and how near it came."""

import math
from collections.abc import Iterable

import numpy as np
from jaxtyping import Float

from companion.theory.token_selection.hypotheses.together import (
    Pairs,
    orthogonal,
    small_step,
    with_products,
)


def _meets(K: Float[np.ndarray, "N N"], n: int, T: int, upsilon: float) -> bool:
    """(A1′) with φ_min = 1/(2T), from inner products of tokens, the optimal ones first and the last ones asking."""
    best = np.arange(n * T) % T == 0
    off = np.abs(K - np.diag(K.diagonal()))
    both = best[:, None] & best
    nu, M_o = float(off[~both].max()), float(off[both].max())
    m_o, s_1 = float(K.diagonal()[best].min()), float(K.diagonal()[T - 1 :: T].min())
    return m_o > 3 * nu and (m_o - 3 * nu) * s_1 >= (n - 1) * T * upsilon * nu * (M_o + 3 * nu)


class Run:
    """A random instance with (A1′), as much overlap as it allows, 2 to 4 samples of 2 or 3 tokens; its gaps along a run."""

    def __init__(self, rng: np.random.Generator) -> None:
        n, T = int(rng.integers(2, 5)), int(rng.integers(2, 4))
        self.T, self.Delta, self.best = T, rng.uniform(0.2, 2, n), rng.uniform(-1, 1, n)
        low, high = self.Delta * np.exp(-self.best), self.Delta * np.exp(self.Delta - self.best)
        shape = rng.standard_normal((n * T, n * T)) / math.sqrt(n * T)
        lengths = np.diag(rng.uniform(0.7, 1.4, n * T))
        overlap = 1.0
        while True:
            X = lengths + overlap * shape
            if _meets(X @ X.T, n, T, float(high.max() / low.min())):
                break
            overlap *= 0.95
        X = X.reshape(n, T, -1)
        D = (X[:, :1] - X[:, 1:]).reshape(n * (T - 1), -1)
        asks = np.repeat(X[:, -1], T - 1, axis=0)
        self.G = (D @ D.T) * (asks @ asks.T)
        self.longest = math.sqrt(self.G.diagonal().max())
        self.limit = math.log(2 * T - 1) / self.longest
        lam = np.linalg.solve(self.G, np.ones(len(self.G)))
        while (lam < 0).any():  # few constraints are inactive, and one at a time suffices here
            active = lam > 0
            lam[~active], lam[active] = 0, np.linalg.solve(self.G[active][:, active], np.ones(active.sum()))
        assert (self.G @ lam > 1 - 1e-9).all()
        self.goal = lam

    def after(
        self, h: Float[np.ndarray, " K"], lengths: Iterable[float], how: str = "given"
    ) -> Float[np.ndarray, " K"]:
        """Gaps after steps of these lengths ("given"), of Polyak's lengths but at most these ("polyak"), or of GD with these multipliers ("plain")."""
        n = len(self.Delta)
        for length in lengths:
            logits = np.concatenate([np.zeros((n, 1)), -h.reshape(n, -1)], 1)
            logits -= logits.max(1, keepdims=True)
            logs = logits - np.log(np.exp(logits).sum(1, keepdims=True))
            others = np.exp(logs[:, 1:]).sum(1)
            head = np.log(self.Delta / n) - self.best + self.Delta * others + logs[:, 0]
            log_w = (head[:, None] + logs[:, 1:]).ravel()
            top = log_w.max()
            w = np.exp(log_w - top)
            pull = self.G @ w
            size = math.sqrt(w @ pull)
            if how == "polyak":
                excess = float((np.exp(-self.best) * np.expm1(self.Delta * others)).mean())
                length = min(length, math.exp(min(math.log(excess) - top, 700)) / (2 * size))
            elif how == "plain":
                length *= size * math.exp(top)
            h = h + length / size * pull
        return h

    def misaligned(self, h: Float[np.ndarray, " K"]) -> float:
        """1 − corr, W_0 being a combination of the E_k."""
        return 1 - float(self.goal @ h / math.sqrt(self.goal.sum() * (h @ np.linalg.solve(self.G, h))))


def selection(
    count: int, steps: int, start: float, times: float, how: str = "given", even: bool = True
) -> tuple[float, float]:
    """The smallest gap and the largest 1 − corr at the end of runs under (A1′), seeds 0, 1, …, starts with gaps N(0, start²).

    Args:
        times: lengths over the limit of Lemma 3; for GD, η.
        even: all steps are as long, or each is a random share of that.
    """
    worst = []
    for seed in range(count):
        rng = np.random.default_rng(seed)
        run = Run(rng)
        h = start * rng.standard_normal(len(run.G))
        share = np.ones(steps) if even else rng.random(steps)
        h = run.after(h, share * times * (1 if how == "plain" else run.limit), how)
        worst.append((float(h.min()), run.misaligned(h)))
    gaps, corr = zip(*worst, strict=True)
    return min(gaps), max(corr)


def _overlapping(rng: np.random.Generator, lifted: str) -> tuple[Pairs, float, float, float, float]:
    """Tokens for which (N1) or (N3) alone fails; κ, A₊, G and what (N3) asks over what it has."""
    while True:
        n = int(rng.choice([2, 3, 5]))
        a = rng.uniform(1, 1.5, n)
        kappa, b = float(a.max() / a.min()), rng.uniform(0.05, 0.3, n)
        G = float((a - b).min())
        if lifted == "N1":
            nu = 0.99 * G / (4608 * kappa**3 * (n - 1))
            b[0] = nu * rng.uniform(1, 1.9)
            nu = nu if 4608 * kappa**3 * (n - 1) * nu**2 < G * b[0] else 0
        else:
            nu = G / (96 * kappa * (n - 1))
            b[0] = 2 * nu * rng.uniform(1, 2)
        off = np.triu(rng.uniform(-nu, nu, (2 * n, 2 * n)), 1)
        K = np.diag(np.stack([a, b], 1).ravel()) + off + off.T
        least = float(b.min())
        asked = 4608 * kappa**3 * (n - 1) * nu**2 / (float((a - b).min()) * least)
        alone = least < 2 * nu and asked < 1 if lifted == "N1" else least >= 2 * nu and asked >= 1
        if not alone or 96 * kappa * (n - 1) * nu > float((a - b).min()):
            continue
        if np.linalg.eigvalsh(K)[0] > 1e-9:
            asks = tuple(int(x) for x in rng.integers(0, 2, n))
            return with_products(K, asks), kappa, float(a.max()), float((a - b).min()), asked


def three_properties(count: int, lifted: str) -> tuple[int, float]:
    """In how many of so many runs of 300 steps a part of Lemma 11 failed, with (N1) or (N3) lifted; and by how much (N3) was missed at most."""
    failed, missed = 0, 0.0
    for seed in range(count):
        data, kappa, longest, G, asked = _overlapping(np.random.default_rng(seed), lifted)
        n, missed = len(data.X), max(missed, asked)
        eta = small_step(n, kappa, longest)
        c = G / (48 * kappa * math.sqrt(1.011 * n * longest))
        travelled, before, holds = 0.0, None, True
        for t, (here, _) in enumerate(data.run(eta, 300)):
            ahead = (data.X[:, 0] - data.X[:, 1]) @ here.u
            if t:
                holds &= bool(np.ptp(here.margins) <= math.log(12 * kappa))
                holds &= bool((ahead >= c * travelled).all())
                holds &= bool(ahead.max() <= 72 * kappa * longest / G * ahead.min())
                holds &= bool((here.p >= 0.5).all())
                holds &= before is None or bool((here.p > before)[before <= 0.75].all())
                before = here.p
            travelled += eta / (t + 1) ** (2 / 3)
        failed += not holds
    return failed, missed


def long_steps(count: int) -> tuple[float, float, float, float]:
    """Orthogonal tokens, 2 to 4 samples, η = 1, 10, 100 in turn, 4000 steps: the smallest η over the limit (E), the largest residual of W and 1 − corr, and the smallest share of the decoder's margin."""
    worst = []
    for seed in range(count):
        rng = np.random.default_rng(seed)
        n, eta = int(rng.integers(2, 5)), (1.0, 10.0, 100.0)[seed % 3]
        a = rng.uniform(1, 2, n)
        asks = tuple(int(x) for x in rng.integers(0, 2, n))
        data = orthogonal(list(zip(a, a * rng.uniform(0.1, 0.9, n), strict=True)), asks)
        end, E = data.after(eta, 4000), data.E
        goal = sum(e / (e**2).sum() for e in E)
        square, along = float((goal**2).sum()), float((end.W * goal).sum())
        residual = float(np.linalg.norm(end.W - along / square * goal))
        corr = along / math.sqrt(square) / float(np.linalg.norm(end.W))
        share = float((data.X[:, 0] @ end.u).min() / np.linalg.norm(end.u)) * math.sqrt((1 / a).sum())
        worst.append((eta / small_step(n, a.max() / a.min(), a.max()), residual, 1 - corr, share))
    times, residual, corr, share = zip(*worst, strict=True)
    return min(times), max(residual), max(corr), min(share)


def negative_margin(count: int) -> tuple[int, float]:
    """Of so many random instances of Lemma 12 in the plane (n = 2, 3, 4, equal p ≥ ½) those with γ > 0 > γ_t and A₋ < 2nν; the largest |γ_t| over the size of the bound.

    Margins are over 720 directions, so |γ_t| is never underestimated.
    """
    rng, found, most = np.random.default_rng(0), 0, 0.0
    angles = np.arange(720) * math.pi / 360
    V = np.stack([np.cos(angles), np.sin(angles)])
    for _ in range(count):
        n = int(rng.integers(2, 5))
        X = rng.standard_normal((n, 2, 2)) * np.array([1, rng.uniform(0, 3)])[:, None]
        p = rng.uniform(0.5, 1)
        best = float((X[:, 0] @ V).min(0).max())
        now = float(((p * X[:, 0] + (1 - p) * X[:, 1]) @ V).min(0).max())
        flat = X.reshape(2 * n, 2)
        K = np.abs(flat @ flat.T)
        squares, nu = K.diagonal()[::2].copy(), float((K - np.diag(K.diagonal())).max())
        if best > 0 > now and squares.min() < 2 * n * nu:
            found += 1
            bound = (n * nu - squares.min() / 2) / math.sqrt(n * squares.max() + n * n * nu)
            most = max(most, -now / bound)
    return found, most

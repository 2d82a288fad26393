"""What the hypotheses of *Which margin?* are for: both sides of "left ≤ right", without one of them (``kept=False``) and with it.

One sample unless something else is said. Its query is a factor of every gap and is left out: W = v qᵀ with ‖q‖ = 1.
"""

import math

import numpy as np
from jaxtyping import Float

Sides = tuple[float, float]
Tokens = Float[np.ndarray, "T 2"]

#: Scores of two tokens: the optimal one is ahead by P.
P = 1.0


def _attention(tokens: Tokens, v: Float[np.ndarray, " 2"]) -> Float[np.ndarray, " T"]:
    phi = np.exp(tokens @ v - (tokens @ v).max())
    return phi / phi.sum()


def _direction(tokens: Tokens, u: Float[np.ndarray, " 2"], v: Float[np.ndarray, " 2"]) -> np.ndarray:
    """Unit vector along Σ_{s<t} φ_s φ_t ⟨x_s − x_t, u⟩ (x_s − x_t), the derivative of the average score; weights in logarithms."""
    logits = tokens @ v
    first, second = np.triu_indices(len(tokens), 1)
    logs, apart = logits[first] + logits[second], tokens[first] - tokens[second]
    G = (np.exp(logs - logs.max()) * (apart @ u)) @ apart
    return G / np.linalg.norm(G)


def _share(tokens: Tokens, u: np.ndarray, v: np.ndarray, others: list[int], steps: int = 4000) -> float:
    """min_k h_k/‖W‖ of token 0 against others, after Euclidean steps of length 1/(2√(t + 1))."""
    for t in range(steps):
        v = v + 0.5 / math.sqrt(t + 1) * _direction(tokens, u, v)
    return float(((tokens[0] - tokens[others]) @ v).min() / np.linalg.norm(v))


def _tied(kept: bool) -> tuple[Tokens, list[int], float]:
    """Tokens a = (−5, 1), a′ = (1, 1) or (1, ½), b = 0 with the decoder (0, 1); the places of tokens with another score than a's; their margin.

    The margin is √26 for the pair (a, b); and for both pairs too, the point of the segment from (−5, 1) to (−6, ½) next to 0 being its first end.
    """
    return (
        np.array([[-5.0, 1.0], [1.0, 0.5 if kept else 1.0], [0.0, 0.0]]),
        [1, 2] if kept else [2],
        math.sqrt(26),
    )


UP = np.array([0.0, 1.0])


def tied(kept: bool) -> Sides:
    """γ(1 − x)(ℒ − ℒ*) and ‖∇ℒ‖, near the infimum: attention on a alone (kept), or on a′ with a′ as good as a."""
    tokens, others, margin = _tied(kept)
    v = np.array([-2.0, 0.0]) if kept else np.array([5.0, 5.0])
    phi, scores = _attention(tokens, v), tokens @ UP
    behind = scores[0] - scores
    missed = float(phi @ behind)
    excess = math.exp(-scores[0]) * math.expm1(missed)
    x = excess / (behind[others].min() * math.exp(-scores[0]))
    G = math.exp(missed - scores[0]) * (phi * (scores - phi @ scores)) @ tokens
    return margin * (1 - x) * excess, float(np.linalg.norm(G))


def tied_run(kept: bool) -> Sides:
    """What is missing of the margin, and a tenth of it: from 0 (kept), or from (5, 5) with a′ as good as a. The loss tends to ℒ* both times."""
    tokens, others, margin = _tied(kept)
    start = np.zeros(2) if kept else np.array([5.0, 5.0])
    return margin - _share(tokens, UP, start, others), margin / 10


def two_norms(kept: bool) -> Sides:
    """γ(1 − x)(ℒ − ℒ*) and ‖∇ℒ‖ for E = e₁(1, 1)ᵀ at a gap of 10, γ = 2 of the largest entry, gradient by its dual (kept) or Euclidean."""
    phi = 1 / (1 + math.exp(10.0))
    excess, pull = math.expm1(P * phi), math.exp(P * phi) * P * phi * (1 - phi)
    return 2 * (1 - excess / P) * excess, pull * (2 if kept else math.sqrt(2))


def far_start(kept: bool) -> Sides:
    """γS − 2 − ⅗A²Σs² and the gap after 1000 steps of γ/(3A²), two tokens with E = e₁e₁ᵀ: from a gap of 5, x₀ < 0.01 (kept), or of −100."""
    A, steps = 2 * (1 + P), 1000
    s = 1 / (3 * A**2)
    return (1 - 0.6 * A**2 * s) * s * steps - 2, (5.0 if kept else -100.0) + s * steps


def other_norm(kept: bool) -> Sides:
    """γS − 2 − ⅗A²Σs² and the gap for the largest entry, E = (1, 1)(1, 1)ᵀ, 20 000 steps of γ/(3A²) from a gap of 5: signs (kept), or G/‖G‖_F."""
    A, gamma, steps = 2 * 4 * (1 + P), 4.0, 20_000
    s = gamma / (3 * A**2)
    return (gamma - 0.6 * A**2 * s) * s * steps - 2, 5.0 + (4.0 if kept else 2.0) * s * steps


def constant_steps(kept: bool) -> Sides:
    """What is missing of γ = 1.01 in the growth of (h₁ + h₂)/2 a unit of path, and 0.005, over the last 1000 of 2000 sign steps.

    Two samples, E = e₁(1, ±3, 0.01 ± 2.5)ᵀ, scores 0.01 and 0, from gaps of 40 ± 0.008; steps of γ/(3A²), all of them or (kept) over √(t + 1).
    h₁ − h₂ stays bounded and ‖W‖ grows by the length of each step, so the growth is the limit of min h/‖W‖.
    """
    a, b, c, p = 3.0, 0.01, 2.5, 0.01
    A = 2 * (1 + a + b + c) * (1 + p)
    E = np.array([[1, a, b + c], [1, -a, b - c]])
    h, path, seen = np.array([40.008, 39.992]), 0.0, []
    for t in range(2001):
        if t % 1000 == 0:
            seen.append((h.mean(), path))
        s = (1 + b) / (3 * A**2) / (math.sqrt(t + 1) if kept else 1)
        phi = 1 / (1 + np.exp(h - h.min()) * math.exp(h.min()))
        w = np.exp(p * phi) * p * phi * (1 - phi)
        h, path = h + s * E @ np.sign(w @ E), path + s
    (_, _), (middle, half), (end, whole) = seen
    return 1 + b - (end - middle) / (whole - half), b / 2


def finite_path(kept: bool) -> Sides:
    """γ − min h/‖W‖ and 0.01 for E = e₁e₁ᵀ, W₀ = diag(10, 10), after a path of 10⁴ (kept), or of 1/24 in all: steps of 2^{−t}/48 = 2^{−t}γ/(3A²)."""
    path = 1e4 if kept else 2 / 48
    return 1 - (10 + path) / math.hypot(10 + path, 10), 0.01


def another_limit(kept: bool) -> Sides:
    """What is missing of γ = √26, and a tenth of it: tokens (0, 6), (2, 1), (1, 1), scores 0.6, 0.3, 0.2; from 0 (kept), or from (10, 0).

    From there the second token is ahead by 10 of the third and by 20 of the first, and the run draws it away from both along (1, 0).
    """
    tokens = np.array([[0.0, 6.0], [2.0, 1.0], [1.0, 1.0]])
    start = np.zeros(2) if kept else np.array([10.0, 0.0])
    return math.sqrt(26) - _share(tokens, np.array([0.1, 0.1]), start, [1, 2]), math.sqrt(26) / 10

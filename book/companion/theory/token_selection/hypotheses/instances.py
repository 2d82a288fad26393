"""Data that several controls share: two samples of which one is lost, a sample of three scores, and two mirrored ones."""

import math

import numpy as np

from companion.theory.token_selection.hypotheses.plain import Data

#: The matrix e₁e₁ᵀ.
FIRST = np.array([[1.0, 0.0], [0.0, 0.0]])


def losing(kept: bool) -> tuple[Data, np.ndarray]:
    """The smallest example of *Assumption 1 cannot be dropped*, and its W_mm; kept: the same scores on four orthonormal tokens, so ν = 0."""
    y, asks = np.array([1.0, -1.0]), (0, 0)
    if not kept:
        tokens = np.array([[[2.0, 1.0], [1.0, 1.0]], [[1.0, 0.0], [0.0, 0.0]]])
        return Data(tokens, y, np.array([1.0, 1.0]), asks), np.array([[-1.0, 3.0], [0.0, 0.0]])
    basis = np.eye(4)
    data = Data(basis.reshape(2, 2, 4), y, np.array([3.0, 2.0, 1.0, 0.0]), asks)
    one = np.outer(basis[0] - basis[1], basis[0]) / 2
    return data, one + np.outer(basis[3] - basis[2], basis[2]) / 2


#: ⟨E_k, E_l⟩ of ``losing``, of the two of them, and Δ_k, γ_{k,opt}.
LOSING = ((5.0, -2.0), (-2.0, 1.0))
APART = ((2.0, 0.0), (0.0, 2.0))
SCORED = {"ahead": (1.0, 1.0), "best": (3.0, 0.0)}


def three_scores(kept: bool) -> tuple[Data, np.ndarray]:
    """One sample, nearly orthogonal tokens (m_o = 1.0225 > 3ν = 0.9), scores 11, 10.9, 0 (kept: 11, 0, 0), and its W_mm.

    The second token is longer, so training from 0 goes to it; it stays, as ⟨x₁, x₂⟩ < 0 pulls the best one down.
    """
    tokens = np.array([[[1.0, -0.15], [0.0, 2.0], [0.0, 0.0]]])
    u = np.array([11.0, 0.0]) if kept else np.array([11 + 0.15 * 5.45, 5.45])
    first = tokens[0, 0]
    return Data(tokens, np.ones(1), u, (0,)), np.outer(first, first) / 1.0225**2


def long_and_short(kept: bool) -> tuple[Data, np.ndarray]:
    """One sample, differences of lengths 10 and 1 along e₁, scores 1, 0.9, −10 (kept: 1, −10, −10), and its W_mm: the short one's alone.

    Scores are read off a coordinate of size 0.01, so they hardly change the geometry.
    """
    tiny = 0.01
    tokens = np.array([[[1.0, tiny], [-9.0, tiny * (-10 if kept else 0.9)], [0.0, -10 * tiny]]])
    difference = tokens[0, 0] - tokens[0, 2]
    goal = np.outer(difference, tokens[0, 0])
    return Data(tokens, np.ones(1), np.array([0.0, 1 / tiny]), (0,)), goal / (goal**2).sum()


def mirrored(kept: bool) -> tuple[Data, np.ndarray]:
    """Two samples, mirror images, tokens at 3 (best, score 0.1), 2 (three times, −3), 1 (four times, 0), 0 (−3), and W_mm = e₁e₁ᵀ.

    Kept: scores −3 at 1, too. As labels and scores are opposite along e₂, W stays a multiple of e₁e₁ᵀ. Along it
    the loss has a minimum at a finite place on the wrong side, at which φ_opt > 0.06.
    """
    places = np.array([3.0, 2, 2, 2, 1, 1, 1, 1, 0])
    scores = np.array([0.1, -3, -3, -3, *[-3 if kept else 0] * 4, -3])
    tokens = np.stack(
        [np.stack([places, side * scores / 100], -1) for side in (1, -1)],
    )
    return Data(tokens, np.array([1.0, -1.0]), np.array([0.0, 100.0]), (4, 4)), FIRST


def pushed() -> tuple[Data, float]:
    """Two samples with (A1′) at φ_min = 0.4, one of which pulls the other back a little, ⟨E₁, E₂⟩ = −0.04; and ℰ.

    Squared lengths 1, ⟨a₁, a₂⟩ = −½ = −M_o, ⟨b₁, b₂⟩ = 0.1 = ν, queries b; scores 1 and 0, so Υ = e:
    (1 − 0.3)·1 ≥ (e/0.8)·0.1·(0.5 + 0.3).
    """
    half, tenth = math.sqrt(3) / 2, math.sqrt(0.99)
    tokens = np.array([[[1, 0, 0, 0], [0, 0, 1, 0]], [[-0.5, half, 0, 0], [0, 0, 0.1, tenth]]])
    return Data(tokens, np.ones(2), np.array([1.0, 1.5 / half, 0.0, 0.0]), (1, 1)), math.sqrt(2)

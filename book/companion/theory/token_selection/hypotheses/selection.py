"""What the hypotheses of the chapter on selection, and of the example that loses a sample, are for: both sides of "left ≤ right", without one of them and with it."""

import math
from fractions import Fraction

from companion.theory.token_selection.hypotheses.instances import LOSING, SCORED
from companion.theory.token_selection.hypotheses.plain import two_gaps

Sides = tuple[float, float]


def opposite(kept: bool) -> Sides:
    """1 ≤ min_k h_k for some W of norm at most 1, so that a multiple solves (W-SVM): E_1 = E_2 = 1 (kept), or E_1 = 1 = −E_2, where the smaller gap is −|w|."""
    second = 1 if kept else -1
    steps = [Fraction(w, 8) for w in range(-8, 9)]
    return 1, max(min(w, second * w) for w in steps)


def opposite_loss(kept: bool) -> Sides:
    """ℒ(RŴ) − ℒ* ≤ Ψ_max off(R) (Regularisation path), two samples of scores 0, −1 with E_1 = E_2 = 1 (kept), or E_1 = 1 = −E_2, where ½Σe^{σ(−h)} ≥ e^{½} at every W as σ(w) + σ(−w) = 1; R = 10."""
    R = 10.0
    off = 1 / (1 + math.exp(R))
    return math.expm1(off) if kept else math.expm1(0.5), math.e * off


def _aligned(w: tuple[float, float], R: float) -> Sides:
    """1 − corr and ‖W_mm‖/R log(2n(T−1)Υ) for one sample of scores 0, −1 with E = (1, 0), so Υ = e."""
    return 1 - w[0] / math.hypot(*w), (1 + math.log(2)) / R


def turned_round(kept: bool) -> Sides:
    """1 − corr ≤ ‖W_mm‖/R log(2n(T−1)Υ) (Regularisation path) for W = RŴ (kept), or for −RŴ, whose loss is larger; R = 10."""
    return _aligned((10.0 if kept else -10.0, 0.0), 10.0)


def longer(kept: bool) -> Sides:
    """The same for a W whose loss is not above that of RŴ: RŴ itself (kept), or (20, 200), which is longer than R = 10."""
    return _aligned((10.0, 0.0) if kept else (20.0, 200.0), 10.0)


def _above(gram: tuple[tuple[float, float], tuple[float, float]], steps: int = 1, **scores: tuple) -> float:
    """The largest h_1 + |h_2| of a run with unit steps from 0, its start left out."""
    run = list(two_gaps(gram, [1.0] * steps, steps, **scores))[1:]
    return max(first + abs(second) for first, second in run)


def exchanged(kept: bool) -> Sides:
    """h_1 + |h_2| ≤ 0 (Assumption 1 cannot be dropped): g = (5, 1) and c = 2 (kept), or g = (1, 5), where c < g_2 and 𝗊 = e^{−2} ≤ (c − g_2)/(g_1 − c) = 3."""
    return _above(LOSING if kept else ((1.0, -2.0), (-2.0, 5.0)), **SCORED), 0.0


def equal_scores(kept: bool) -> Sides:
    """h_1 + |h_2| ≤ 0, the smallest example with its scores (kept), or with the same scores in both samples: 𝗊 = e > ⅓."""
    return _above(LOSING, **(SCORED if kept else {"ahead": (1.0, 1.0), "best": (0.0, 0.0)})), 0.0


def far_start(kept: bool) -> Sides:
    """h_1 ≤ 0 in the end, the smallest example after 2000 unit steps from 0 (kept), or from gaps (10, 10)."""
    *_, (first, _) = two_gaps(LOSING, [1.0] * 2000, 2000, (0.0, 0.0) if kept else (10.0, 10.0), **SCORED)
    return first, 0.0


def summable(kept: bool) -> Sides:
    """h_1 ≤ −5 in the end, the smallest example: 60 unit steps (kept), or 60 of 2^{−t}, a path shorter than 2, on which |h_1| ≤ 2√5 < 5."""
    lengths = [1.0 if kept else 0.5**t for t in range(60)]
    *_, (first, _) = two_gaps(LOSING, lengths, 60, **SCORED)
    return first, -5.0

"""What the hypotheses of theorems on the direction of W and on saturation are for, the decoder fixed: both sides of "left ≤ right", without one of them and with it."""

import math

import numpy as np

from companion.theory.token_selection.hypotheses import instances
from companion.theory.token_selection.hypotheses.instances import APART, LOSING, SCORED
from companion.theory.token_selection.hypotheses.plain import (
    Data,
    Rule,
    misaligned,
    normalised,
    plain,
    polyak,
    two_gaps,
)
from shallowformer.token_selection import rates

Sides = tuple[float, float]

#: What 1 − corr falls below, as it tends to 0.
SOON = 0.1

#: Lengths within the limit of Lemma 3 at φ_min = 0.4, for the data of ``losing``.
SHORT = math.log(1.5) / math.sqrt(5)


def _lost(kept: bool, rule: Rule, steps: int) -> Sides:
    """1 − corr after a run from 0 on the example of lost samples, or on four orthonormal tokens with its scores."""
    data, goal = instances.losing(kept)
    return misaligned(data.after(rule, steps), goal), SOON


def _three_scores(kept: bool, rule: Rule, steps: int) -> Sides:
    """1 − corr after a run from 0 for one sample of three nearly orthogonal tokens, scores 11, 0, 0 or 11, 10.9, 0."""
    data, goal = instances.three_scores(kept)
    W = data.after(rule, steps)
    assert kept or _for_ever(data, W)
    return misaligned(W, goal), SOON


def _for_ever(data: Data, W: np.ndarray) -> bool:
    """Where every step, of any length, lowers the logit of the best of three tokens and raises the second's (the third is 0).

    With z the logits, a = φ₁/φ₃ = e^{z₁} and z₁ ≤ 0.2, the change of z₁ over φ₂φ₃ is 0.132a + 11.25 φ₁/φ₂ − 3.27,
    negative for φ₁/φ₂ ≤ e^{−1.3}; that of z₂ is at least 43.6 − 0.43a − 3.3 φ₁/φ₂.
    """
    z = data.X[0] @ W @ data.queries[0]
    return bool(z[0] <= 0.2 and z[1] - z[0] >= 1.3)


def normalised_loses(kept: bool) -> Sides:
    """1 − corr soon below 0.1 (Theorem 1): 1000 short normalised steps from 0, (A1′) with ν = 0 (kept), or the example of lost samples."""
    return _lost(kept, normalised(SHORT), 1000)


def normalised_mistakes(kept: bool) -> Sides:
    """1 − corr soon below 0.1 (Theorem 1): 1000 normalised steps of length 0.1 from 0, (A1′), scores 11, 0, 0 (kept) or 11, 10.9, 0."""
    return _three_scores(kept, normalised(0.1), 1000)


def plain_loses(kept: bool) -> Sides:
    """1 − corr soon below 0.1 (Theorem 6): 3000 steps of GD with η = 0.1 from 0, (A1′) with ν = 0 (kept), or the example of lost samples."""
    return _lost(kept, plain(0.1), 3000)


def plain_mistakes(kept: bool) -> Sides:
    """1 − corr soon below 0.2 (Theorem 6): 1000 steps of GD with η = 10 from 0, (A1′), scores 11, 0, 0 (kept) or 11, 10.9, 0."""
    return _three_scores(kept, plain(10.0), 1000)[0], 2 * SOON


def polyak_loses(kept: bool) -> Sides:
    """1 − corr soon below 0.1 (Theorem 7): 1000 of Polyak's steps from 0, cut at the limit, (A1′) with ν = 0 (kept), or the example of lost samples."""
    return _lost(kept, polyak(SHORT), 1000)


def polyak_mistakes(kept: bool) -> Sides:
    """1 − corr soon below 0.1 (Theorem 7): 1000 of Polyak's steps from 0, cut at 0.1, (A1′), scores 11, 0, 0 (kept) or 11, 10.9, 0."""
    return _three_scores(kept, polyak(0.1), 1000)


def _of_gaps(h: tuple[float, float], kept: bool) -> float:
    """1 − corr of Σc_kE_k with these gaps, on the example of lost samples or for orthogonal E_k of length √2."""
    (g1, c), (_, g2) = APART if kept else LOSING
    inverse = np.array([[g2, -c], [-c, g1]]) / (g1 * g2 - c * c)
    goal, gaps = inverse @ np.ones(2), np.array(h)
    return 1 - float(goal @ gaps / math.sqrt(goal.sum() * (gaps @ inverse @ gaps)))


def _gaps_after(kept: bool, lengths: float, steps: int) -> tuple[float, float]:
    *_, last = two_gaps(APART if kept else LOSING, [lengths] * steps, steps, **SCORED)
    return last


def with_constants(kept: bool) -> Sides:
    """The bound of Theorem 5 with φ_min = 0.4, η = 1 from 0 after 200,000 steps: attended, ⟨E₁, E₂⟩ = 0 (kept), or the example of lost samples."""
    t = 200_000
    upsilon = math.exp(4)  # Δ = 1, scores 3 and 0
    longest, best = (math.sqrt(2), 1.0) if kept else (math.sqrt(5), math.sqrt(10))
    rho, Lambda = 1 / (longest * best), rates.best_Lambda_0(2, upsilon, 0.4)
    bound = 2 / (rho * t) * (2 + 2 / rho * (0.5 + best * Lambda) * (1 + math.log(t)))
    return _of_gaps(_gaps_after(kept, 1.0, t), kept), bound


def attended_squares(kept: bool) -> Sides:
    """1 − corr soon below 0.1 (Bounded residual): 2000 normalised steps from 0, attended, ⟨E₁, E₂⟩ = 0 (kept), or the example of lost samples; both strictly complementary."""
    return _of_gaps(_gaps_after(kept, 1.0, 2000), kept), SOON


def _touching(kept: bool, lengths, steps: int, early: int) -> float:
    """By how much the residual grows between two times, where E₁ has a multiplier of 0, ⟨E₁, E₂⟩ = ‖E₂‖² = 1; kept: with another token at −e₁ − e₂, inactive."""
    gram, ahead = (((5.0, 2.0), (2.0, 1.0)), (2.0, 1.0)) if kept else (((2.0, 1.0), (1.0, 1.0)), (1.0, 1.0))
    (g1, c), (_, g2) = gram
    run = list(two_gaps(gram, lengths, steps, ahead=ahead, best=(1.0, 1.0)))
    along = lambda h: (g2 * h[0] - c * h[1]) / (g1 * g2 - c * c)
    return along(run[-1]) - along(run[early])


def touching(kept: bool) -> Sides:
    """‖D_t‖ grows by at most 1 from t = 1000 to 100,000 (Bounded residual, NGD, η = 1): strictly complementary (kept), or a touching constraint without a multiplier."""
    return _touching(kept, [1.0] * 100_000, 100_000, 1000), 1.0


def touching_plain(kept: bool) -> Sides:
    """‖D_t‖ grows by at most 0.1 from t = 1000 to 100,000 (Log law, GD, η = 1): strictly complementary (kept), or a touching constraint without a multiplier."""
    return _touching(kept, lambda size: size, 100_000, 1000), 0.1


def _side_by_side(lengths: list[float], start: tuple[float, float]) -> list[tuple[float, float]]:
    """Gaps of two samples with orthonormal E_k and equal scores."""
    return list(two_gaps(((1.0, 0.0), (0.0, 1.0)), lengths, len(lengths), start))


def _skew(h: tuple[float, float]) -> float:
    """1 − corr for orthonormal E_k."""
    return 1 - (h[0] + h[1]) / math.sqrt(2 * (h[0] ** 2 + h[1] ** 2))


def doubling(kept: bool) -> Sides:
    """1 − corr is below 0.01 after 40 steps of length 1 (kept), or of lengths 1, 2, 4, …; orthonormal E_k, from gaps (0, 1), all gaps grow."""
    lengths = [1.0 if kept else 2.0**t for t in range(40)]
    return _skew(_side_by_side(lengths, (0.0, 1.0))[-1]), 0.01


def doubling_saturates(kept: bool) -> Sides:
    """log(1 − φ_{1,opt}) + r_t changes by at most 1 over the last two of 40 steps (Each sample at its own rate): lengths 1 (kept), or 1, 2, 4, …."""
    lengths = [1.0 if kept else 2.0**t for t in range(40)]
    run = _side_by_side(lengths, (0.0, 1.0))
    behind = [(h[1] - h[0]) / 2 for h in run]
    return abs(behind[-1] - behind[-3]), 1.0


def summable(kept: bool) -> Sides:
    """1 − corr is below 0.01 after 40 steps of length 1 (kept), or of lengths ½, ¼, …; orthonormal E_k, from gaps (0, 4)."""
    lengths = [1.0 if kept else 2.0 ** -(t + 1) for t in range(40)]
    return _skew(_side_by_side(lengths, (0.0, 4.0))[-1]), 0.01


def long_steps(kept: bool) -> Sides:
    """log(1 − φ_{1,opt}) + ηt/‖W_mm‖ changes by at most 1 from t = 100 to 1000 (NGD, part 2), orthonormal E_k from gaps (0, ½): η = 1 (kept), or 100, where η‖W_mm‖b = 50√2."""
    eta = 1.0 if kept else 100.0
    run = _side_by_side([eta] * 1000, (0.0, 0.5))
    value = lambda t: -run[t][0] + eta * t / math.sqrt(2)
    return abs(value(1000) - value(100)), 1.0


def mirrored(kept: bool) -> Sides:
    """1 − corr soon below 0.1: 500 normalised steps of length 0.1 from 0, attended, scores 0.1 and −3 (kept), or 0 in four tokens."""
    data, goal = instances.mirrored(kept)
    run = list(data.run(normalised(0.1), 500))
    assert kept or min(float(data.attended(W).min()) for W in run) > 0.06
    return misaligned(run[-1], goal), SOON


def mirrored_constants(kept: bool) -> Sides:
    """1 − corr and the bound of Theorem 5 at t = 10⁶, φ_min = 0.06, normalised steps of length 0.1 from 0: scores 0.1 and −3 (kept), or 0 in four tokens.

    The run goes back and forth between two matrices from some step on, so t = 10⁶ is as t = 500.
    """
    data, goal = instances.mirrored(kept)
    run = list(data.run(normalised(0.1), 500))
    assert kept or np.allclose(run[-1], run[-3], atol=1e-12)
    behind = data.scores.max() - np.array([-3.0, *([] if kept else [0.0])])
    upsilon = float((behind * np.exp(behind)).max() / behind.min())
    t, rho = 1e6, 0.1 / np.linalg.norm(data.X[0, 0] - data.X[0, -1])
    bound = (
        2
        / (rho * t)
        * (0.2 + 2 / rho * (0.005 + 0.1 * rates.best_Lambda_0(16, upsilon, 0.06)) * (1 + math.log(t)))
    )
    return misaligned(run[-1], goal), float(bound)


def mirrored_plain(kept: bool) -> Sides:
    """½‖W_mm‖log t ≤ ‖W_t‖ after 2000 steps of GD with η = 0.1 from 0 (Log law), attended, scores 0.1 and −3 (kept), or 0 in four tokens."""
    data, goal = instances.mirrored(kept)
    W = data.after(plain(0.1), 2000)
    return 0.5 * math.log(2000), float(np.linalg.norm(W) / np.linalg.norm(goal))


def mirrored_saturates(kept: bool) -> Sides:
    """log(1 − φ_{1,opt}) + ηt changes by at most 1 from t = 200 to 300 (NGD with η = 0.1, part 2), ‖W_mm‖ = 1, scores 0.1 and −3 (kept), or 0 in four tokens."""
    data, _ = instances.mirrored(kept)
    run = list(data.run(normalised(0.1), 300))

    def value(t: int) -> float:
        phi = data.weights(run[t])[0]
        return math.log(float(phi[1:].sum())) + 0.1 * t

    return abs(value(300) - value(200)), 1.0


def attended_log(kept: bool) -> Sides:
    """1 − corr soon below 0.1 (Log law): 100,000 steps of GD with η = 1 from 0, attended, ⟨E₁, E₂⟩ = 0 (kept), or the example of lost samples."""
    *_, last = two_gaps(APART if kept else LOSING, lambda size: size, 100_000, **SCORED)
    return _of_gaps(last, kept), SOON


def attended_rates(kept: bool) -> Sides:
    """log(1 − φ_{1,opt}) + r_t changes by at most 1 from t = 100 to 1000 (Each sample at its own rate, NGD, η = 1): attended (kept), or the example of lost samples."""
    (g1, c), (_, g2) = APART if kept else LOSING
    run = list(two_gaps(APART if kept else LOSING, [1.0] * 1000, 1000, **SCORED))
    goal = np.array([g2 - c, g1 - c]) / (g1 * g2 - c * c)

    def value(t: int) -> float:
        h = run[t]
        return float(-np.logaddexp(0, h[0]) + goal @ np.array(h) / goal.sum())

    return abs(value(1000) - value(100)), 1.0


def saturation_loses(kept: bool) -> Sides:
    """1 − φ_{i,opt} ≤ e^{−ct}, c = 10⁻³ (Lemma 1), after 2000 short normalised steps from 0: (A1′) (kept), or the example of lost samples."""
    h = _gaps_after(kept, SHORT, 2000)
    return max(1 / (1 + math.exp(x)) for x in h), math.exp(-2)


def no_query(kept: bool) -> Sides:
    """1 − φ_{1,opt} ≤ e^{−ct}, c = 10⁻³ (Lemma 1), after 2000 normalised steps of length 0.1 from 0, orthogonal tokens, so (A1′) with ν = 0: ‖E_k‖² = 2 (kept), or E₁ = 0, as x_{1,2} = 0 asks."""
    gram = ((2.0 if kept else 0.0, 0.0), (0.0, 2.0))
    *_, h = two_gaps(gram, [0.1] * 2000, 2000)
    return 1 / (1 + math.exp(h[0])), math.exp(-2)


def saturation_mistakes(kept: bool) -> Sides:
    """1 − φ_opt ≤ 2e^{−ct}, c = 10⁻³ (Lemma 1), after 1000 normalised steps from 0, (A1′), scores 11, 0, 0 (kept) or 11, 10.9, 0."""
    data, _ = instances.three_scores(kept)
    return 1 - float(data.attended(data.after(normalised(0.1), 1000))[0]), 2 * math.exp(-1)


def not_normalised(kept: bool) -> Sides:
    """1 − φ_{i,opt} ≤ e^{−ct}, c = 5·10⁻⁴ (Lemma 1), after 100,000 steps on orthogonal E_k, (A1′): normalised, of length 0.001 (kept), or GD with η = 0.001."""
    lengths = [0.001] * 100_000 if kept else lambda size: 0.001 * size
    *_, h = two_gaps(APART, lengths, 100_000, ahead=(1.0, 1.0), best=(1.0, 1.0))
    return max(1 / (1 + math.exp(x)) for x in h), math.exp(-50)


def longer_tokens(kept: bool) -> Sides:
    """The bound of Lemma 8 with B = 1 against φ_opt for two tokens ±x at W = −e₁e₁ᵀ, corr = −1: of length 1 (kept), or 2."""
    x = 1.0 if kept else 2.0
    gap = -2 * x * x
    exponent = 2 * x * x - 2 * math.sqrt(2) * math.sqrt(2)
    return 1 / (1 + math.exp(-exponent)), 1 / (1 + math.exp(-gap))

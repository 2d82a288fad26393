"""What the hypotheses of the theorems of *Training the decoder, too* are for: both sides of "left ≤ right", without one of them and with it.

"Within the limits" means that (N0) to (N3) hold, all tokens orthogonal, so ν = 0, and that η is the limit of (E).
"""

import math

import numpy as np

from companion.theory.token_selection.hypotheses.together import (
    Pairs,
    orthogonal,
    small_step,
    with_products,
)

Sides = tuple[float, float]


def _halves(data: Pairs, eta: float, t: int, u: np.ndarray | None = None) -> Sides:
    """Log ℒ(u_{t+1}, W_{t+1}) and log ℒ(u_{t+1}, W_t)."""
    run = list(data.run(eta, t + 1, u))
    return run[t + 1][0].log_loss, run[t][1].log_loss


def half_long_steps(kept: bool) -> Sides:
    """Log ℒ(u₂, W₂) ≤ log ℒ(u₂, W₁) (Attention's half), (N0) to (N3) with κ = 1.1, ν = 0.0045, ⟨E₁, E₂⟩ = −4ν²: η as in (E) (kept), or 10⁴."""
    nu = 0.0045
    K = np.diag([1.0, 0.5, 1.1, 0.5])
    K[0, 2], K[1, 3], K[0, 3], K[1, 2] = -nu, -nu, nu, nu
    K = np.triu(K) + np.triu(K, 1).T
    assert 96 * 1.1 * nu <= 0.5
    assert 4608 * 1.1**3 * nu**2 < 0.25
    return _halves(with_products(K, (0, 1)), small_step(2, 1.1, 1.1) if kept else 1e4, 1)


def half_other_start(kept: bool) -> Sides:
    """Log ℒ(u₁, W₁) ≤ log ℒ(u₁, W₀) (Attention's half), within the limits: from u₀ = 0 (kept), or a little towards the b, −η/100 · Σ(a_i − b_i)."""
    data = orthogonal([(1.0, 0.5)] * 2, (0, 0))
    eta = small_step(2, 1.0, 1.0)
    start = -eta / 100 * (data.X[:, 0] - data.X[:, 1]).sum(0)
    return _halves(data, eta, 0, None if kept else start)


def half_overlap(kept: bool) -> Sides:
    """Log ℒ(u₂, W₂) ≤ log ℒ(u₂, W₁) (Attention's half), (N0) and (E): orthogonal tokens (kept), or ⟨a₁ − b₁, a₂⟩ = −0.4999, which all but stops the first decoder's choice, and a short b₂ that asks."""
    K = np.diag([1.0, 0.5, 0.6, 1e-12])
    if not kept:
        K[0, 2] = K[2, 0] = -0.4999
    return _halves(with_products(K, (0, 1)), small_step(2, 1 / 0.6, 1.0), 1)


def loss_long_step(kept: bool) -> Sides:
    """Log ℒ ≤ 1/18 − 0.489γη[3(t + ½)^{1/3} − 2.45] at t = 1 (Theorem 2), within the limits, squared lengths of a 1 and 100, of b ½: η as in (E) (kept), or 10."""
    data = orthogonal([(1.0, 0.5), (100.0, 0.5)], (0, 0))
    eta = small_step(2, 100.0, 100.0) if kept else 10.0
    gamma = 1 / math.sqrt(1 + 1 / 100)
    return data.after(eta, 1).log_loss, 1 / 18 - 0.489 * gamma * eta * (3 * 1.5 ** (1 / 3) - 2.45)


def loss_overlap(kept: bool) -> Sides:
    """Log ℒ ≤ 1/18 − 0.489γη[3(t + ½)^{1/3} − 2.45] at t = 10⁵ (Theorem 2), (N0) and (E): orthogonal tokens (kept, t = 2000), or a = (±1, ½), b = (0, −½), whose means cancel, so that nothing ever moves."""
    n, kappa, longest = 2, 1.0, 1.25
    eta, t = small_step(n, kappa, longest), 100_000
    if kept:
        data, gamma, steps = orthogonal([(1.25, 0.25)] * 2, (0, 0)), math.sqrt(1.25 / 2), 2000
        t = steps
    else:
        data = Pairs(np.array([[[1, 0.5], [0, -0.5]], [[-1, 0.5], [0, -0.5]]]), (0, 0))
        gamma, steps = 0.5, 10
        assert all((pull == 0).all() for pull in data.pulls(data.after(eta, steps)))
    bound = 1 / 18 - 0.489 * gamma * eta * (3 * (t + 0.5) ** (1 / 3) - 2.45)
    return data.after(eta, steps).log_loss, bound


def loss_other_start(kept: bool) -> Sides:
    """Log ℒ ≤ 1/18 − 0.489γη[3(t + ½)^{1/3} − 2.45] at t = 1 (Theorem 2), within the limits: from u₀ = 0 (kept), or −a₁."""
    data = orthogonal([(1.0, 0.5)] * 2, (0, 0))
    eta = small_step(2, 1.0, 1.0)
    loss = data.after(eta, 1, None if kept else -data.X[0, 0]).log_loss
    return loss, 1 / 18 - 0.489 * math.sqrt(0.5) * eta * (3 * 1.5 ** (1 / 3) - 2.45)


def turned_away(kept: bool) -> Sides:
    """S_t^W/(ℰ‖W_mm‖) ≤ ⟨W_t, Ŵ⟩ at t = 5 (Theorem 3), within the limits but for the squared lengths 1 and ½ (kept) or ½ and 1 of optimal and other tokens."""
    lengths = (1.0, 0.5) if kept else (0.5, 1.0)
    data = orthogonal([lengths] * 2, (0, 0))
    eta, E = small_step(2, 1.0, 1.0), data.E
    goal = E.sum(0) / (E[0] ** 2).sum()
    travelled = eta * sum(1 / k for k in range(2, 6))
    size = float(np.linalg.norm(goal))
    W = data.after(eta, 5).W
    return travelled / float(np.linalg.norm(E[0])) / size, float((W * goal).sum()) / size * (1 + 1e-9)


def inactive(kept: bool) -> Sides:
    """|⟨E₁, W_mm⟩ − 1| = 0 (Theorem 3: every constraint is active), squared lengths 16, 1 and 4, 1: orthogonal tokens (kept), or all on one line, where E = 12, 2 and W_mm = ½."""
    if not kept:
        return 12 / 2 - 1, 0
    data = orthogonal([(16.0, 1.0), (4.0, 1.0)], (0, 0))
    E = data.E
    goal = sum(e / (e**2).sum() for e in E)
    return max(0.0, abs(float((E[0] * goal).sum()) - 1) - 1e-12), 0


def decoder_of_the_others(kept: bool) -> Sides:
    """cγ ≤ min_i⟨u, a_i⟩/‖u‖ (Theorem 4), c = 10⁻³, in the limit, orthogonal tokens, squared lengths 1 and ½ (kept) or ½ and 1: u/‖u‖ tends to the SVM of the longer tokens."""
    lengths = (1.0, 0.5) if kept else (0.5, 1.0)
    data = orthogonal([lengths] * 2, (0, 0))
    longer = data.X[:, 0 if kept else 1]
    u = (longer / (longer**2).sum(1, keepdims=True)).sum(0)
    gamma = math.sqrt(lengths[0] / 2)
    return 1e-3 * gamma, float((data.X[:, 0] @ u).min() / np.linalg.norm(u))


def _opposed(kept: bool) -> Pairs:
    """a₁ = (1, −3), b₁ = (1, 2.9), a₂ = (0, 2), b₂ = (0, 1), queries b₁ and a₂; kept: orthogonal tokens of these lengths."""
    if kept:
        return orthogonal([(10.0, 9.41), (4.0, 1.0)], (1, 0))
    return Pairs(np.array([[[1, -3], [1, 2.9]], [[0, 2], [0, 1]]]), (1, 0))


def decoder_overlap(kept: bool) -> Sides:
    """0 ≤ min_i⟨u_t, a_i⟩/‖u_t‖ (Theorem 4) at t = 3000, (N0) and (E): orthogonal tokens (kept), or overlapping ones with γ > 0."""
    data = _opposed(kept)
    u = data.after(small_step(2, 2.5, 10.0), 3000).u
    return 0.0, float((data.X[:, 0] @ u).min() / np.linalg.norm(u))


def decoder_prefers_other(kept: bool) -> Sides:
    """(eq. of Theorem 4) for one sample after one step of length 10, a = e₁, b = ½e₂ (kept) or 10e₂, p = ½, ν = 0, C = 0: the loss condition is an equality."""
    b = 0.5 if kept else 10.0
    size = math.hypot(0.5, b / 2)
    return 1 - 0.5, 0.5 / size


def no_margin_left(kept: bool) -> Sides:
    """(eq. of Theorem 4) on the line, three samples of ten equal tokens, 1, 1, 1 (kept) or 1, −1, 1, after one step of length S = 100, C = 0, ν = 1, p = 1/10."""
    S = 100.0
    if kept:
        return 1 - math.log(3) / S - 2 * 0.9, 1.0
    assert math.log((2 * math.exp(-S) + math.exp(S)) / 3) <= S  # log ℒ ≤ C − Sγ₀, γ₀ = −1
    return -1 - math.log(3) / S + 2 * 0.9, -1.0

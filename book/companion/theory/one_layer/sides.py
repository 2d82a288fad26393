"""Two sides of the loss of a run of token selection, proved before its first step; symbols as in ``selected``.

Proofs of what they rest on, beside the book's statements:

1. *Barrier.* Where p_i ∈ [θ_i, p̄_i] and min_t' G_{it,it'} w_i ≥ Σ_j max(0, −min_τ G_{it,jτ}) max w_j for all t, no gap of i falls. If that holds on all
   of [θ_i, p̄_i], logit p̄_i = logit θ_i + E_i s̄, s̄ the longest step, then p_i never exceeds p̄_i ≥ p_i(0): Lemma 3 with this problem's numbers.
2. *Gradient.* w_i = x_i R_i(p_i), R = (1 − p)ζ(Δp), ζ(z) = z/(1 − e^{−z}). log R is concave and R(0) = 1, so R ≥ min{1, R(P)} for p ≤ P; Lemma 4 is
   ‖∇L‖ ≥ Σw/‖W_mm‖. So ‖∇L‖ ≥ v(x)/‖W_mm‖, v the least Σ x_i min{1, R_i(P_i)} over x_i ≤ c_i(e^{Δ_i P_i} − 1) with Σ x_i = x.
3. *Step.* Along a unit direction x'' ≤ B x, B = max_i sup_p (Q''/Q)⁺E_i² + (Q'/Q)·¼diam_i², Q = e^{Δσ(g)} − 1: |g'| ≤ E_i, 0 ≤ g'' ≤ ¼diam_i².
   Compared with y'' = By, a step of length s has x⁺ ≤ x cosh(√B s) − ‖∇L‖ sinh(√B s)/√B.
4. *Path.* With b = Bηx ≤ 2, plain steps have x − x⁺ ≥ (1 − b/2)η‖∇L‖², so that k of them are at most √(kηx/(1 − b/2)) long together.
5. *Ball.* In the ball of radius S around W_0 the excess is at least that of its convex minorant, Q replaced from some g on by a tangent; and a convex Φ
   has Φ ≥ Φ(W') + ⟨∇Φ(W'), W_0 − W'⟩ − S‖∇Φ(W')‖ at every W'. So W' need not be the minimiser.
"""

import math
from dataclasses import dataclass

import numpy as np

from companion.theory.one_layer.selected import Numbers, Selection, sigmoid

#: How often a trial point of the ball is turned towards descent.
TURNS = 60
#: Barriers that are tried, in logits of p, where the start is not higher.
LEVELS = (-math.inf, 0.0, 2.0)
#: Below this part of L* an excess is rounding.
FLOOR = 1e-15


def logit(p: Numbers) -> Numbers:
    """σ's inverse; ∞ at 1."""
    with np.errstate(divide="ignore"):
        return np.log(p) - np.log1p(-p)


def zeta(z: Numbers) -> Numbers:
    """ζ(z) = z/(1 − e^{−z}), 1 at 0."""
    return np.where(z > 1e-8, z / -np.expm1(-np.maximum(z, 1e-8)), 1 + z / 2)


def largest_step(here: Selection, p: Numbers) -> float:
    """s̄ where no p_i exceeds these: η, or η times the largest ‖∇L‖ that the w allow."""
    return here.eta if here.normalised else here.eta * slope(here, here.largest_weight(p))


def slope(here: Selection, w: Numbers) -> float:
    """The largest ‖Σ_k w_k E_k‖ if sample i has at most weight w_i, however it divides it among its tokens."""
    return float(np.sqrt(w @ here.together @ w))


def barriers(here: Selection, level: float) -> Numbers:
    """p̄_i, not above which p_i stays (1 in the docstring of the module): max{p_i(0), σ(level)}, or 1 for samples that could be lost."""
    p = sigmoid(np.maximum(here.g0, level))
    own = np.diagonal(here.G.min(3), axis1=0, axis2=2).T.min(1)  # over t and t' of one sample
    against = np.maximum(-here.G.min(3), 0).max(1)  # by sample i and j, for the worst token of i
    np.fill_diagonal(against, 0)
    while True:
        theta = sigmoid(logit(p) - here.E * largest_step(here, p))
        least = np.minimum(here.weight(theta), here.weight(p))
        lost = (p < 1) & ~((own * least >= against @ here.largest_weight(p)) & (own > 0))
        if not lost.any():
            return p
        p = np.where(lost, 1.0, p)


@dataclass(frozen=True)
class Curvature:
    """Bounds on the second derivative of the excess along unit directions (3 in the docstring of the module), below barriers."""

    B: float  # relative to the excess
    convex: Numbers  # the largest c_i Q''⁺ of each sample, and of c_i Q''⁺ over its excess
    convex_rate: Numbers
    spread: float  # the largest Σ_i c_i Q' · ¼diam_i², and the same over the excess
    spread_rate: float
    overlap: Numbers  # the largest |⟨E_{it}, E_{jτ}⟩|
    known: dict[int, float]

    @classmethod
    def of(cls, here: Selection, p: Numbers, cells: int = 400) -> "Curvature":
        """Each factor at its worst end of a cell of p."""
        edges = np.linspace(0, 1, cells + 1)[:, None] * p
        a, b = edges[:-1], edges[1:]
        turn = np.maximum(1 - 2 * a + here.Delta * b * (1 - a), 0)
        first = here.c * here.Delta * b * (1 - a) * np.exp(here.Delta * b)  # c Q'
        rate = (1 - a) * zeta(here.Delta * b)  # Q'/Q
        apart = here.R[:, :, None] - here.R[:, None]
        wide = np.square(apart).sum(3).max((1, 2)) / 4
        return cls(
            float((rate * turn * here.E**2 + rate * wide).max()),
            (first * turn).max(0),
            (rate * turn).max(0),
            float(first.max(0) @ wide),
            float((rate * wide).max()),
            np.abs(here.G).max((1, 3)),
            {},
        )

    def at(self, x: float) -> float:
        """A bound where the excess is at most x; for the next power of 1.05, so that few are computed."""
        if not 0 < x < math.inf:
            return x
        key = math.ceil(math.log(x) / math.log(1.05))
        if key not in self.known:
            x = 1.05**key
            root = np.sqrt(np.minimum(self.convex, x * self.convex_rate))
            # Entries of a Gram matrix, each at its largest: Perron's eigenvalue is no smaller.
            own = float(np.linalg.eigvalsh(root[:, None] * self.overlap * root)[-1])
            self.known[key] = min(own + min(self.spread, x * self.spread_rate), self.B * x)
        return self.known[key]


def pull(here: Selection, x: float, P: Numbers) -> float:
    """v(x), a lower bound on Σ_i w_i if the excess is x (2 in the docstring of the module): the least ratios are filled first."""
    ratio = np.minimum(1, (1 - P) * zeta(here.Delta * P))
    order = np.argsort(ratio)
    room = here.excess(P)[order]
    before = np.cumsum(room) - room
    return float(ratio[order] @ np.clip(x - before, 0, room))


def theorem(here: Selection, steps: tuple[int, ...]) -> tuple[Numbers, Numbers]:
    """Two sides of the loss at these steps, proved."""
    tried = {tuple(barriers(here, level)) for level in LEVELS}
    both = [_upper(here, np.array(p), steps) for p in sorted(tried)]
    # All are proved: the best of each.
    high, S = (np.min([side[k] for side in both], 0) for k in (0, 1))
    p = np.min([side[2] for side in both], 0)
    infimum = here.c.sum()
    low = np.array([_ball(here, length, p) for length in S])
    return infimum + low, infimum + high


def _upper(here: Selection, p: Numbers, steps: tuple[int, ...]) -> tuple[Numbers, Numbers, Numbers]:
    """The largest excess at these steps, the longest path up to them, and the barriers."""
    bend, most = Curvature.of(here, p), float(here.excess(p).sum())
    x, S = float(here.excess(sigmoid(here.g0)).sum()), 0.0
    after = after_normalised if here.normalised else after_plain
    # The last checkpoint, the path up to it, and what the square of a step adds to it at most.
    since = (0, 0.0, math.inf)
    kept = []
    for t in range(steps[-1] + 1):
        if t in steps:
            S = min(S, since[1] + math.sqrt((t - since[0]) * since[2])) if t else S
            kept.append((x, S))
            # Steps that lower the loss by their square or more have no more of it than there is loss.
            lowers = 1 - here.eta * bend.at(x) / 2
            since = t, S, here.eta * x / lowers if lowers > 0 and not here.normalised else math.inf
        P = np.minimum(p, np.log1p(x / here.c) / here.Delta)
        S += here.eta * (1 if here.normalised else slope(here, here.largest_weight(P)))
        x = max(min(after(here, bend, x, pull(here, x, P) / here.norm), most), FLOOR * here.c.sum())
    return *np.array(kept).T, p


def after_normalised(here: Selection, bend: Curvature, x: float, slope: float) -> float:
    """The largest excess one step of length η after an excess of at most x, where ‖∇L‖ is at least the slope."""
    root, eta = math.sqrt(bend.B), here.eta
    if root * eta > 300:
        return math.inf
    steep = slope if here.norm * root >= 1 else 0.0  # so that the bound grows with x
    found = x * math.cosh(root * eta) - steep * math.sinh(root * eta) / root
    beta = bend.at(x)
    if eta * beta <= 2 * slope and eta <= here.norm:
        found = min(found, x - eta * slope + beta * eta**2 / 2)
    return found


def after_plain(here: Selection, bend: Curvature, x: float, slope: float) -> float:
    """The same for a step of length η‖∇L‖: the bounds fall with ‖∇L‖ and grow with x as long as η is small."""
    root, eta, beta = math.sqrt(bend.B), here.eta, bend.at(x)
    found = x if eta * min(beta, bend.B * x) <= 2 else math.inf
    arc = root * eta * slope
    if eta * bend.B * x <= 2 and math.tanh(arc) + arc <= here.norm * root:
        found = min(found, x * math.cosh(arc) - slope * math.sinh(arc) / root)
    if eta * beta <= 2 and 2 * eta * x <= here.norm**2:
        found = min(found, x - eta * slope**2 * (1 - eta * beta / 2))
    return found


def _ball(here: Selection, S: float, p: Numbers) -> float:
    """A lower bound on the excess within S of the start (5 in the docstring of the module), no p_i above its barrier."""
    if S == 0:
        return float(here.excess(sigmoid(here.g0)).sum())
    # No barrier is below the start; where p_i is 0 or 1 to the last digits its logit, rounded, can be.
    touch = tangents(here, np.minimum(here.g0 + here.E * S, np.maximum(here.g0, logit(p))))
    towards, found = here.best.z.numpy(), 0.0
    towards = towards / np.linalg.norm(towards)
    for turn in range(TURNS):
        value, slopes = minorant(here, here.z0 + S * towards, touch)
        size = float(np.linalg.norm(slopes))
        if size == 0:
            break
        found = max(found, value - S * float(slopes @ towards) - S * size)
        towards = towards - slopes / size * (2 / (turn + 2))
        towards = towards / np.linalg.norm(towards)
    return found


def tangents(here: Selection, top: Numbers) -> Numbers:
    """From which g on Q = e^{Δσ(g)} − 1 is replaced by its tangent: below this, a line through (top, Q(top)) would touch it."""
    turn = logit(2 / (2 - here.Delta + np.sqrt(here.Delta**2 + 4)))  # Q'' = 0: convex before, concave behind
    # The rest of Q above its tangent at g, seen at top, falls in g as long as Q is convex there.
    Q = np.expm1(here.Delta * sigmoid(top))
    low, high = np.minimum(turn, top) - 60 - top.clip(0), np.minimum(turn, top)
    for _ in range(60):
        g = (low + high) / 2
        s = sigmoid(g)
        tangent = np.expm1(here.Delta * s) + here.weight(s) / here.c * (top - g)
        low, high = np.where(tangent <= Q, g, low), np.where(tangent <= Q, high, g)
    return np.where(top <= turn, top, low)


def minorant(here: Selection, z: Numbers, touch: Numbers) -> tuple[float, Numbers]:
    """Φ and its gradient: the excess with a tangent from ``touch`` on."""
    h = here.R @ z
    g = np.logaddexp.reduce(-h, axis=1)
    at = np.minimum(g, touch)
    s = sigmoid(at)
    rate = here.weight(s)
    value = here.excess(s) + rate * (g - at)
    return float(value.sum()), -np.einsum("i,it,itr->r", rate, np.exp(-h - g[:, None]), here.R)

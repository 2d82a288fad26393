"""What the theory of preconditioned attention says of a run: a tilted Gaussian forecasts, biased descent with a computed bias proves.

Whitened by Σ̂: g_i = Σ̂^{−½}x_i with mean μ and mean square I, target T = M̂Σ̂^½, residuals ω_i = y_i − Tg_i, Ã, B̃, q_i = B̃ᵀg_i, and
e_i = ẑ_i − q_i. Because Σ̂ and M̂ are those of the data, mean ω_i g_iᵀ = 0, and 𝓛_n = ½ mean |Fg_i + Ãe_i − ω_i|² with F = ÃB̃ᵀ − T, exactly.

*Theorem* (world "preconditioned"), whatever the data. ‖B̃‖₂ = b at every step, so |q_i| ≤ b|g_i|. This bounds e_i and H_i (``softmax``), and so
the bias δ of the algorithm's direction (``bias``). As long as it is small, the run stays in a ball around descent of f (``Tube``); from where
that ball, or the start, is below the saddles, f falls by pa-theorem-q, step by step (``fallen``). (2𝓛_n)^½ is (|F|² + |ω|²)^½ up to
(mean |Ãe_i|²)^½, Minkowski. Plain steps do not hold ‖B̃‖, so "regression" has no theorem.

*Forecast*. Softmax of tokens N(μ, S) is μ + Sq (pa-lemma-a): descent on the loss with this in place of softmax, same start, same steps. Its
first neglected term is a = (mean E|Ãe_i|²)^½ by pa-lemma-b and pa-lemma-b-enclosure, without the orders 0 and 1 in q, which μ and S take
away: E|Ãe|² = ((e^{ρ²} − 1 − ρ²)|ÃS^½|² + (e^{ρ²} − 1)|ÃSq|²)/(n − 1 + e^{ρ²}), ρ² = qᵀSq. The interval is all that an error of this size
can do: (|F| ± a)² and, as noise is independent of inputs and p trained parameters can follow p of its kn coordinates, ± 2a|ω|(p/kn)^½. It
takes tokens for Gaussian, which cannot be checked, and the path for that of the limit.
"""

import functools
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from companion.theory.one_layer.prediction import Prediction
from companion.theory.one_layer.problem import Problem, checkpoints
from companion.theory.one_layer.run import factors
from companion.theory.preconditioned import biased
from shallowformer.preconditioned import bounds, noise
from shallowformer.preconditioned.moments import Moments

#: What the voices rest on.
THEOREM = ("pa-proposition-d-decomposition", "pa-lemma-m", "pa-theorem-n", "pa-theorem-q")
FORECAST = ("pa-lemma-a", "pa-theorem-1", "pa-lemma-b", "pa-lemma-b-enclosure", "pa-theorem-e")


def predict(problem: Problem) -> list[Prediction]:
    """What the theory says of a run in the worlds "regression" and "preconditioned", at radii below 2^{−½}; nothing elsewhere."""
    if not at_home(problem):
        return []
    data = Whitened.of(problem)
    if not float(torch.linalg.matrix_norm(data.B, 2)) < noise.THRESHOLD:
        return []
    said = [forecast(problem, data)]
    if problem.switches.rule == "preconditioned":
        said += theorem(problem, data)
    return said


def at_home(problem: Problem) -> bool:
    """Whether the layer is that of the theory: shared heads, identity, squared loss, C = √m I, U and W trained, queries that are the context, n > d."""
    switches, n, d = problem.switches, *problem.q.shape
    eye = problem.m**0.5 * torch.eye(problem.m, dtype=problem.X.dtype)
    return (
        (switches.heads, switches.activation, switches.loss, switches.skip)
        == ("shared", "identity", "squared", 0.0)
        and switches.rule in ("plain", "preconditioned")
        and set(switches.trained) == set("UW")
        and problem.X.shape[1] == n > d
        and torch.equal(problem.start["C"], eye)
        and all(bool(problem.start[name].any()) for name in "UW")
        and bool((problem.q == problem.X).all())
        and bool(torch.linalg.eigvalsh(problem.q.T @ problem.q / n)[0] > 1e-9)
    )


@dataclass(frozen=True)
class Whitened:
    """Data and start in coordinates in which Σ̂ = I."""

    g: Float[Tensor, "n d"]
    y: Float[Tensor, "n k"]
    root: Float[Tensor, "d d"]  # Σ̂^½
    T: Float[Tensor, "k d"]  # mean y gᵀ
    A: Float[Tensor, "k d"]  # Ã at the start
    B: Float[Tensor, "d d"]  # B̃ at the start

    @classmethod
    def of(cls, problem: Problem) -> "Whitened":
        """Those of a problem."""
        there = Moments.of(problem.q, problem.y)
        A, B = problem.switches.alpha * problem.start["U"], problem.start["W"][0].T
        g = problem.q @ there.inverse_root
        return cls(g, problem.y, there.root, there.target, A @ there.root, there.root @ B @ there.root)

    @property
    def mu(self) -> Float[Tensor, " d"]:
        """μ."""
        return self.g.mean(0)

    @property
    def trivial(self) -> float:
        """The mean |y_i|²."""
        return float(self.y.square().sum(1).mean())

    @property
    def omega(self) -> Float[Tensor, "n k"]:
        """ω_i."""
        return self.y - self.g @ self.T.T


# The forecast.

#: A factor beyond that has diverged.
FAR = 1e6


class Tilted(NamedTuple):
    """Moments of the tilted Gaussian's average z_i = μ + SB̃ᵀg_i, S = I − μμᵀ, with the data."""

    mu: Float[Tensor, " d"]
    S: Float[Tensor, "d d"]
    nu: Float[Tensor, " k"]  # mean y
    T: Float[Tensor, "k d"]
    square: float  # mean |y|²

    @classmethod
    def of(cls, data: Whitened) -> "Tilted":
        """Those of whitened data."""
        S = torch.eye(data.g.shape[1], dtype=data.g.dtype) - torch.outer(data.mu, data.mu)
        return cls(data.mu, S, data.y.mean(0), data.T, data.trivial)

    @property
    def residual(self) -> float:
        """|ω|², what the best affine answer leaves of mean |y|²."""
        cross = self.T - torch.outer(self.nu, self.mu)
        fitted = (cross @ torch.linalg.inv(self.S) * cross).sum() + self.nu.square().sum()
        return max(0.0, self.square - float(fitted))

    def slopes(
        self, A: Float[Tensor, "k d"], B: Float[Tensor, "d d"]
    ) -> tuple[Float[Tensor, ""], Float[Tensor, "k d"], Float[Tensor, "d d"]]:
        """2𝓛 and the gradients of 𝓛 in Ã and B̃; the covariance of the tilted law is S at every query."""
        BS = B @ self.S
        shift = self.mu @ BS  # of the mean of q
        over = torch.outer(self.mu, self.mu + shift)
        zz = over + torch.outer(shift, self.mu) + BS.T @ BS
        yz = torch.outer(self.nu, self.mu) + self.T @ BS
        Azz = A @ zz
        gz = torch.outer(self.mu, self.mu) + BS
        value = ((Azz - 2 * yz) * A).sum() + self.square
        return value, Azz - yz, (gz @ A.T - self.T.T) @ A @ self.S


def forecast(problem: Problem, data: Whitened) -> Prediction:
    """Descent with the tilted Gaussian in place of softmax, and what its first neglected term can do."""
    law = Tilted.of(data)
    walk = structured if problem.switches.rule == "preconditioned" else plain
    points = walk(problem, data, law)
    n, k = data.y.shape
    p = sum(problem.start[name].numel() for name in problem.switches.trained)
    follows = min(1.0, p / (k * n)) ** 0.5
    sides = []
    for A, B in points:
        value = float(law.slopes(A, B)[0])
        a = missed(A, B, data.g, law) ** 0.5
        rest = law.residual
        F, cross = max(0.0, value - rest) ** 0.5, 2 * a * rest**0.5 * follows
        sides.append((max(0.0, max(0.0, F - a) ** 2 + rest - cross), (F + a) ** 2 + rest + cross))
    low, high = (torch.tensor(sides, dtype=torch.float64) / data.trivial).nan_to_num(nan=torch.inf).unbind(1)
    low = torch.where(high.isfinite(), low, 0.0)
    return Prediction(
        "preconditioned", "forecast", "loss", tuple(checkpoints(problem.steps)), low, high, FORECAST
    )


def missed(A: Float[Tensor, "k d"], B: Float[Tensor, "d d"], g: Float[Tensor, "n d"], law: Tilted) -> float:
    """The mean E|Ãe_i|² from the order 2 in q on; infinite from ‖B̃‖₂ = 2^{−½} on, where n times it has no limit."""
    if not float(B.abs().max()) < FAR or not float(torch.linalg.matrix_norm(B, 2)) < noise.THRESHOLD:
        return math.inf
    q = g @ B
    tilted = q @ law.S
    rho2 = (tilted * q).sum(1)
    size = float((A @ law.S * A).sum())
    along = (tilted @ A.T).square().sum(1)
    grown = torch.expm1(rho2)
    return float((((grown - rho2) * size + grown * along) / (len(g) + grown)).mean())


def structured(
    problem: Problem, data: Whitened, law: Tilted
) -> list[tuple[Float[Tensor, "k d"], Float[Tensor, "d d"]]]:
    """(Ã, B̃) at the checkpoints of the structure-aware algorithm."""
    method, (U, V) = factors(problem)
    b, at, points = method.radius, set(checkpoints(problem.steps)), []
    for step in range(problem.steps + 1):
        c = math.nan
        if float(V.abs().max()) < FAR:
            c = float(torch.linalg.matrix_norm(V, 2)) / b
        A, B = c * U, V / c
        if step in at:
            points.append((A, B))
        _, of_A, of_B = law.slopes(A, B)
        C = method.lam * (U.T @ U - V.T @ V)
        U, V = U - problem.eta * (c * of_A + U @ C), V - problem.eta * (of_B / c - V @ C)
    return points


def plain(
    problem: Problem, data: Whitened, law: Tilted
) -> list[tuple[Float[Tensor, "k d"], Float[Tensor, "d d"]]]:
    """(Ã, B̃) at the checkpoints of plain descent on the mean square in U and W: steps 2ηα²∇_A𝓛 on A = αU and 2η∇_B𝓛 on B = Wᵀ."""
    A, B, at, points = data.A, data.B, set(checkpoints(problem.steps)), []
    Sigma = data.root @ data.root
    of_A_step, of_B_step = 2 * problem.eta * problem.switches.alpha**2, 2 * problem.eta
    for step in range(problem.steps + 1):
        if step in at:
            points.append((A, B))
        _, of_A, of_B = law.slopes(A, B)
        A, B = A - of_A_step * of_A @ Sigma, B - of_B_step * Sigma @ of_B @ Sigma
    return points


# The theorem.


def tail(x: Float[Tensor, "*s"], k: int) -> Float[Tensor, "*s"]:
    """Σ_{j ≥ k} x^j/j! for x ≥ 0, without cancellation."""
    term = x**k / math.factorial(k)
    total = torch.zeros_like(x)
    for j in range(k + 1, k + 60):
        total = total + term
        term = term * x / j
    # From there on the terms fall at least like a geometric series, if x is not above half of j.
    return torch.where(x <= (k + 59) / 2, total + 2 * term, torch.inf)


class Softmax(NamedTuple):
    """Bounds of e_i and H_i = C_i − I over all ‖B̃‖₂ ≤ b, for the data at hand."""

    e: float  # (mean |e_i|²)^½
    along: float  # ‖mean e_i g_iᵀ‖_F
    h_g: float  # (mean ‖H_i‖²|g_i|²)^½
    h_e: float  # (mean ‖H_i‖²|e_i|²)^½
    h_omega: float  # (mean ‖H_i‖²|ω_i|²)^½


def softmax(data: Whitened, b: float) -> Softmax:
    """See the module: Taylor's series of ∇D − qD and ∇²D − (I + qqᵀ)D at 0, over D."""
    g, mu = data.g, float(data.mu.norm())
    d = g.shape[1]
    off = excess(g, ORDERS[d])
    top = len(off) - 1
    length = g.norm(dim=1)
    rho = b * length
    x = rho[:, None] * length  # at least |q_i · g_j|
    mean = lambda weight, k: (tail(x, k) * weight).mean(1)
    term = lambda k, order: off[k] * rho**order / math.factorial(order)
    below = torch.exp(-rho * mu)  # D ≥ e^{q·μ}
    # |1/D − 1| is at most D − 1 or 1/D − 1, and D is a Gaussian's e^{|q|²/2} but for E_k.
    above = torch.expm1(rho.square() / 2) + series(term, range(1, top + 1), 0) + mean(1.0, top + 1)
    above = torch.maximum(above, 1 / below - 1)
    first = term(3, 2)
    # Orders 0 to K − 1 without that one; then all beyond.
    rest = series(term, (k for k in range(1, top + 1) if k != 3), 1) + rho * series(
        term, range(1, top - 1), 0
    )
    rest = rest + mean(length, top) + rho * mean(1.0, top - 1)
    e = (first + rest) / below
    apart = rest / below + first * above
    along = off[3] * float(moment(g, 3).norm()) * b**2 / 2 + rms(apart)
    second = series(term, range(3, top + 1), 2) + series(term, range(1, top - 1), 0)
    second = second + rho.square() * series(term, range(1, top - 3), 0)
    second = second + mean(length.square(), top - 1) + mean(1.0, top - 1) + rho.square() * mean(1.0, top - 3)
    h = second / below + 2 * rho * e + e.square()
    return Softmax(rms(e), min(along, rms(e)), rms(h * length), rms(h * e), rms(h * data.omega.norm(dim=1)))


def series(
    term: Callable[[int, int], Float[Tensor, " n"]], ks: Iterable[int], less: int
) -> Float[Tensor, " n"]:
    """Sum of the terms E_k(q^{k−less})/(k − less)!."""
    return sum(term(k, k - less) for k in ks)


#: Up to which order moments are compared with a Gaussian's, by the dimension: d^{⌈k/2⌉} stays at most about 256.
ORDERS = {1: 12, 2: 12, 3: 10, 4: 8, 5: 6, 6: 6}


def moment(g: Float[Tensor, "n d"], k: int) -> Float[Tensor, "a b"]:
    """The mean g^{⊗k} as a matrix, ⌊k/2⌋ indices against the others."""
    powers = [torch.ones(len(g), 1, dtype=g.dtype)]
    for _ in range(k - k // 2):
        powers.append((powers[-1][:, :, None] * g[:, None, :]).flatten(1))
    return powers[k // 2].T @ powers[k - k // 2] / len(g)


def excess(g: Float[Tensor, "n d"], top: int) -> list[float]:
    """Bounds of |E_k(v, u, …, u)|, E_k the moments of order k less those of N(0, I), over unit vectors; E_0 = E_2 = 0."""
    d = g.shape[1]
    sizes = [0.0, float(g.mean(0).norm()), 0.0]
    for k in range(3, top + 1):
        sizes.append(float(torch.linalg.matrix_norm(moment(g, k) - gaussian(d, k), 2)))
    return sizes


@functools.cache
def gaussian(d: int, k: int) -> Float[Tensor, "a b"]:
    """The moments of N(0, I), as ``moment`` has them: products over coordinates of (c − 1)!!, c how often a coordinate occurs."""
    index = torch.cartesian_prod(*[torch.arange(d)] * k).view(-1, k)
    counts = torch.stack([(index == j).sum(1) for j in range(d)], 1)
    double = torch.tensor(
        [0.0 if c % 2 else math.prod(range(1, c, 2)) for c in range(k + 1)], dtype=torch.float64
    )
    return double[counts].prod(1).view(d ** (k // 2), -1)


def rms(values: Float[Tensor, " n"]) -> float:
    """The root of the mean square."""
    return float(values.square().mean().sqrt())


class Reach(NamedTuple):
    """Bounds of a point."""

    U: float  # ‖U‖₂
    V: float  # ‖V‖₂
    F: float  # ‖F‖_F


def bias(reach: Reach, omega: float, b: float, off: Softmax) -> tuple[float, float]:
    """δ ≥ ‖g − ∇f‖ and a ≥ (mean |Ãe_i|²)^½ at every such point, with c = ‖V‖/b and ω the norm of n^{−½}(ω_i).

    By pa-proposition-d-decomposition, whose terms with Σ̂ − I and mean ω_i g_iᵀ vanish,
    g_U − ∇_U f = c mean[(Fg_i + Ãe_i − ω_i)e_iᵀ + Ãe_i q_iᵀ] and g_V − ∇_V f = mean g_i[Ãe_i + H_i-part]ᵀÃ/c; a mean g_i v_iᵀ
    is at most (mean |v_i|²)^½, as the n^{−½}g_i are orthonormal, and q_i = Vᵀg_i/c.
    """
    U, V, F = reach
    c = V / b
    of_U = c * ((F + U * V) * off.along + c * U * off.e**2 + omega * off.e)
    of_V = c * U * U * off.along + U * (F * off.h_g + c * U * off.h_e + off.h_omega)
    return math.hypot(of_U, of_V), c * U * off.e


def fallen(level: float, delta: float, s: Float[Tensor, " d"], eta: float) -> float:
    """A bound of f after a step from f ≤ level, off by at most δ: level − ½η(ψ(level) − δ²) by pa-theorem-q, infinite where it is silent."""
    least = float(s[-1])
    if not (least > 0 and level < least**2 / 2 and delta < biased.most_bias(s)):
        return math.inf
    floor, barrier = biased.floor_and_barrier(s, delta)
    if not (level < barrier and eta < bounds.step(s, max(level, floor))):
        return math.inf
    return level - eta / 2 * (bounds.pl_constant(s, level) * level - delta**2)


class Tube:
    """The descent of f from the same start, ζ_t, and r_t ≥ ‖(U_t, V_t) − ζ_t‖: r ↦ κr + ηδ, κ ≥ ‖I − η∇²f‖ on the ball around ζ.

    With Z = (U; V), M̂ = (0, T; Tᵀ, 0), N = ZZᵀ − 2M̂ and h = 2‖Z‖r + r²: ½λ_min(N) − ½h ≤ ∇²f ≤ ½(‖Z‖ + r)² + λ_max(ZZᵀ − M̂) + h there
    (proof of pa-lemma-m).
    """

    def __init__(self, start: tuple[Tensor, Tensor], target: Float[Tensor, "d d"], eta: float) -> None:
        """Begin."""
        self.U, self.V = start
        self.target, self.eta, self.r = target, eta, 0.0
        zero = torch.zeros_like(target)
        self.cross = torch.cat([torch.cat([zero, target], 1), torch.cat([target.T, zero], 1)])
        self._look()

    def _look(self) -> None:
        norm = lambda W: float(torch.linalg.matrix_norm(W, 2))
        self.D = self.U @ self.V.T - self.target
        self.C = self.U.T @ self.U - self.V.T @ self.V
        self.norms = norm(self.U), norm(self.V)
        self.F = float(self.D.norm())
        self.root = math.hypot(self.F, float(self.C.norm()) / 2)  # (2f)^½

    def moved(self) -> float:
        """By how much UVᵀ, and half of UᵀU − VᵀV, may be off."""
        return math.hypot(*self.norms) * self.r + self.r**2 / 2

    def reach(self) -> Reach:
        """Where the run can be."""
        return Reach(self.norms[0] + self.r, self.norms[1] + self.r, self.F + self.moved())

    def level(self) -> float:
        """A bound of f."""
        return (self.root + 2**0.5 * self.moved()) ** 2 / 2

    def step(self, delta: float) -> None:
        """One step of both."""
        Z = torch.cat([self.U, self.V])
        size, square = float(torch.linalg.matrix_norm(Z, 2)), Z @ Z.T
        h = 2 * size * self.r + self.r**2
        least = (float(torch.linalg.eigvalsh(square - 2 * self.cross)[0]) - h) / 2
        most = (size + self.r) ** 2 / 2 + float(torch.linalg.eigvalsh(square - self.cross)[-1]) + h
        self.r = max(1 - self.eta * least, self.eta * most - 1) * self.r + self.eta * delta
        of_U, of_V = self.D @ self.V + self.U @ self.C / 2, self.D.T @ self.U - self.V @ self.C / 2
        self.U, self.V = self.U - self.eta * of_U, self.V - self.eta * of_V
        self._look()


#: From this r on the tube is left.
WIDE = 0.5


def theorem(problem: Problem, data: Whitened) -> list[Prediction]:
    """A tube around the descent of f, and biased descent below the saddles, both with the computed bias; nothing if all that is known is the start."""
    method, start = factors(problem)
    n, (k, d) = len(data.y), data.T.shape
    if k != d or d not in ORDERS:
        return []
    s, off = method.moments.singular_values, softmax(data, method.radius)
    omega, rest = float(torch.linalg.matrix_norm(data.omega, 2)) / n**0.5, rms(data.omega.norm(dim=1))
    tube, level, settled = Tube(start, data.T, problem.eta), math.inf, False
    at, sides = checkpoints(problem.steps), []
    for step in range(problem.steps + 1):
        reach, low = Reach(math.inf, math.inf, math.inf), 0.0
        if tube is not None:
            level, reach, low = min(level, tube.level()), tube.reach(), max(0.0, tube.F - tube.moved())
        if math.isfinite(level):
            w, F = math.sqrt(float(s[0]) + math.sqrt(10 * level)), math.sqrt(2 * level)
            reach = Reach(min(reach.U, w), min(reach.V, w), min(reach.F, F))
        if not math.isfinite(reach.F):
            break
        delta, a = bias(reach, omega, method.radius, off)
        if step in set(at):
            sides.append((max(0.0, math.hypot(low, rest) - a) ** 2, (math.hypot(reach.F, rest) + a) ** 2))
        if tube is not None or not settled:
            before, level = level, fallen(level, delta, s, problem.eta)
            # Where f falls no more the level set is kept for ever.
            settled = tube is None and 0 <= before - level <= 1e-9 * before
        if tube is not None:
            tube.step(delta)
            tube = tube if tube.r < WIDE else None
    if len(sides) < 2:
        return []
    sides += [(0.0, math.inf)] * (len(at) - len(sides))
    low, high = (torch.tensor(sides, dtype=torch.float64) / data.trivial).unbind(1)
    high = high.nan_to_num(torch.inf, torch.inf)
    low[0] = high[0] = problem.loss(problem.outputs(problem.start))  # the start is known
    return [Prediction("preconditioned", "theorem", "loss", tuple(at), low, high, THEOREM)]

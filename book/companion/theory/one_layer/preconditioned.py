"""What the theory of preconditioned attention says of a run: forecast by the tilted Gaussian, theorem by biased descent with a computed bias.

Whitened by Σ̂: g_i = Σ̂^{−½}x_i with mean μ and mean square I, target T = M̂Σ̂^½, residuals ω_i = y_i − Tg_i, Ã, B̃, q_i = B̃ᵀg_i, and
e_i = ẑ_i − q_i. Because Σ̂ and M̂ are those of the data, sums of ω_i g_iᵀ vanish, and 𝓛_n = ½ mean |Fg_i + Ãe_i − ω_i|², F = ÃB̃ᵀ − T, exactly.

*Theorem* (world "preconditioned"). The set {f ≤ f̄} of pa-theorem-q, whatever the data: ‖B̃‖₂ = b at every step, so |q_i| ≤ b|g_i|. With
D(q) = mean e^{q·g_j}, ∇D − qD and ∇²D − (I + qqᵀ)D are power series in q, whose first terms are the data's third and fourth moments
and whose others are at most those of e^{b|g_i||g_j|}; D ≥ e^{q·μ}, Jensen. This bounds |e_i| and ‖H_i‖ (``Softmax``), so the bias δ of the
algorithm's direction at every point of the set (``bias``), so f by pa-theorem-q level by level (``levels``), and with |Ãe_i| the loss.

*Forecast*. Softmax of tokens N(μ, S) is μ + Sq (pa-lemma-a): descent on the loss with this in place of softmax, same start, same steps. Its
first neglected term is a = (mean E|Ãe_i|²)^½ by pa-lemma-b and pa-lemma-b-enclosure, without the orders 0 and 1 in q, which μ and S take
away: E|Ãe|² = ((e^{ρ²} − 1 − ρ²)|ÃS^½|² + (e^{ρ²} − 1)|ÃSq|²)/(n − 1 + e^{ρ²}). The interval is all that an error of this size can do:
(|F| ± a)² and, as noise is independent of inputs and p trained parameters can follow p of its kn coordinates, ± 2a|ω|(p/kn)^½.
"""

import functools
import math
from dataclasses import dataclass
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from companion.theory.one_layer.prediction import Prediction
from companion.theory.one_layer.problem import Problem, checkpoints
from companion.theory.one_layer.run import factors
from shallowformer.preconditioned import bounds, factorisation, noise
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
        and bool((problem.X == problem.q).all())
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
        """mean |y_i|²."""
        return float(self.y.square().sum(1).mean())

    @property
    def omega(self) -> Float[Tensor, "n k"]:
        """ω_i."""
        return self.y - self.g @ self.T.T


# The forecast.


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
    """mean E|Ãe_i|² from the order 2 in q on; infinite from ‖B̃‖₂ = 2^{−½} on, where n times it has no limit."""
    if not float(torch.linalg.matrix_norm(B.nan_to_num(torch.inf), 2)) < noise.THRESHOLD:
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
        c = float(torch.linalg.matrix_norm(V, 2)) / b if bool(V.isfinite().all()) else math.nan
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
    n, d = g.shape
    length = g.norm(dim=1)
    rho = b * length
    m3 = torch.einsum("ia,ib,ic->abc", g, g, g) / n
    m4 = torch.einsum("ia,ib,ic,ie->abce", g, g, g, g) / n
    one = torch.eye(d, dtype=g.dtype)
    pairs = torch.einsum("ab,ce->abce", one, one)
    gauss = pairs + pairs.transpose(1, 2) + pairs.permute(0, 3, 2, 1)
    skew = float(torch.linalg.matrix_norm(m3.reshape(d, -1), 2))
    # |(m₄ − 3I∘I)(q, q, q)| ≤ k|q|³ and ‖½(m₄ − 3I∘I)(q, q)‖ ≤ ½k|q|² with k the norm as a map of matrices.
    kurt = float(torch.linalg.matrix_norm((m4 - gauss).reshape(d * d, d * d), 2))
    x = rho[:, None] * length  # at least |q_i · g_j|
    mean = lambda weight, k: (tail(x, k) * weight).mean(1)
    below = torch.exp(-rho * mu)  # D ≥ e^{q·μ}
    above = mu * rho + mean(1.0, 2)  # D − 1 is at most that
    first = skew * rho.square() / 2
    # Order 0: μ; order 2 less its first part: q(μ·q); order 3; orders from 4 on of ∇D, from 3 on of D.
    rest = mu + mu * rho.square() + kurt * rho**3 / 6 + mean(length, 4) + rho * mean(1.0, 3)
    e = (first + rest) / below
    # |1/D − 1| ≤ max(D − 1, 1/D − 1).
    apart = rest / below + first * torch.maximum(above, 1 / below - 1)
    along = skew * float(m3.norm()) * b**2 / 2 + rms(apart)
    # Orders 1 and 2, orders from 3 on of ∇²D, of D, and of qqᵀ(D − 1).
    second = skew * rho + mu * rho + kurt * rho.square() / 2
    second = second + mean(length.square(), 3) + mean(1.0, 3) + rho.square() * above
    h = second / below + 2 * rho * e + e.square()
    return Softmax(rms(e), min(along, rms(e)), rms(h * length), rms(h * e), rms(h * data.omega.norm(dim=1)))


def rms(values: Float[Tensor, " n"]) -> float:
    """The root of the mean square."""
    return float(values.square().mean().sqrt())


def bias(level: float, s1: float, omega: float, b: float, off: Softmax) -> tuple[float, float]:
    """δ, at least ‖g − ∇f‖ wherever f ≤ level, and a, at least (mean |Ãe_i|²)^½ there.

    c = ‖V‖/b, ‖U‖², ‖V‖² ≤ s₁ + (10f)^½, ‖F‖₂ ≤ (2f)^½; mean g_i v_iᵀ is at most (mean |v_i|²)^½, as the g_i are orthonormal.
    """
    w = math.sqrt(s1 + math.sqrt(10 * level))
    F, c = math.sqrt(2 * level), w / b
    of_U = c * ((F + w * w) * off.along + c * w * off.e**2 + omega * off.e)
    of_V = c * w * w * off.along + w * (F * off.h_g + c * w * off.h_e + off.h_omega)
    return math.hypot(of_U, of_V), c * w * off.e


def levels(f0: float, s: Float[Tensor, " d"], eta: float, steps: int, at) -> list[float]:
    """Bounds of f_0, f_1, …: u ↦ u − ½η(ψ(u) − δ(u)²) while ψ(u) ≥ δ(u)², ψ(x) = 4(s_d − (2x)^½)x, and constant then; none if pa-theorem-q asks for more."""
    least, f = float(s[-1]), [f0]
    gain = lambda u: bounds.pl_constant(s, u) * u - at(u)[0] ** 2
    if not f0 < least**2 / 2 or not eta < bounds.step(s, f0) or not gain(f0) >= 0:
        return []
    while len(f) <= steps and (more := gain(f[-1])) > 1e-12 * f[-1]:
        f.append(f[-1] - eta / 2 * more)
    return f + [f[-1]] * (steps + 1 - len(f))


def theorem(problem: Problem, data: Whitened) -> list[Prediction]:
    """Biased descent below the saddles, its bias computed."""
    method, start = factors(problem)
    k, d = data.T.shape
    if k != d:
        return []
    s = method.moments.singular_values
    f0 = float(factorisation.value(*start, method.moments.target))
    if not f0 < bounds.saddle_free(s):
        return []
    off = softmax(data, method.radius)
    omega = data.omega
    worst = float(torch.linalg.matrix_norm(omega, 2)) / len(omega) ** 0.5
    at = functools.partial(bias, s1=float(s[0]), omega=worst, b=method.radius, off=off)
    f = levels(f0, s, problem.eta, problem.steps, at)
    if not f:
        return []
    steps, rest = checkpoints(problem.steps), float(omega.square().sum(1).mean())
    low, high = [], []
    for step in steps:
        level = f[step]
        a = at(level)[1]
        low.append(max(0.0, rest**0.5 - a) ** 2 / data.trivial)
        high.append(((2 * level + rest) ** 0.5 + a) ** 2 / data.trivial)
    # The start is known.
    low[0] = high[0] = float(problem.loss(problem.outputs(problem.start)))
    column = lambda values: torch.tensor(values, dtype=torch.float64)
    return [
        Prediction("preconditioned", "theorem", "loss", tuple(steps), column(low), column(high), THEOREM)
    ]

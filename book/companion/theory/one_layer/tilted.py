"""What the theory of preconditioned attention forecasts of a run: descent with a tilted Gaussian in place of softmax, on whitened data.

Whitened by Σ̂: g_i = Σ̂^{−½}x_i with mean μ and mean square I, target T = M̂Σ̂^½, residuals ω_i = y_i − Tg_i, Ã, B̃, q_i = B̃ᵀg_i, and
e_i = ẑ_i − q_i.

Softmax of tokens N(μ, S) is μ + Sq (pa-lemma-a): descent on the loss with this in place of softmax, same start, same steps. Its
first neglected term is a = (mean E|Ãe_i|²)^½ by pa-lemma-b and pa-lemma-b-enclosure, without the orders 0 and 1 in q, which μ and S take
away: E|Ãe|² = ((e^{ρ²} − 1 − ρ²)|ÃS^½|² + (e^{ρ²} − 1)|ÃSq|²)/(n − 1 + e^{ρ²}), ρ² = qᵀSq. The interval is all that an error of this size
can do: (|F| ± a)² and, as noise is independent of inputs and p trained parameters can follow p of its kn coordinates, ± 2a|ω|(p/kn)^½. It
takes tokens for Gaussian, which cannot be checked, and the path for that of the limit.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from companion.theory.one_layer.prediction import Prediction
from companion.theory.one_layer.problem import Problem, checkpoints
from companion.theory.one_layer.run import factors
from shallowformer.preconditioned import noise
from shallowformer.preconditioned.moments import Moments

#: What the forecast rests on.
FORECAST = ("pa-lemma-a", "pa-theorem-1", "pa-lemma-b", "pa-lemma-b-enclosure", "pa-theorem-e")


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

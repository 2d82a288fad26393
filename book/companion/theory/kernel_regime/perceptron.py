"""A two-layer network whose inner layer is trained, f(x) = m^{−1/2} Σ_p [σ(w_p⁺·x) − σ(w_p⁻·x)], from a symmetric start: kernels and runs.

The m units are N = m/2 pairs with fixed readouts ±1; inputs are unit vectors, one a row. Linearised attention enters through the inputs alone.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Generator, Tensor

Function = Callable[[Tensor], Tensor]


@dataclass(frozen=True)
class Activation:
    """σ with two derivatives, and bounds on |σ′|, |σ″|, |σ‴|, |σ⁗|; none on the last three if it has a kink at 0."""

    name: str
    value: Function
    slope: Function
    bend: Function
    most: tuple[float, float, float, float]

    @property
    def smooth(self) -> bool:
        """Whether the bounds on curvature are finite."""
        return math.isfinite(self.most[1])


def _logistic_bend(z: Tensor) -> Tensor:
    """The derivative of the logistic function."""
    s = torch.sigmoid(z)
    return s * (1 - s)


RELU = Activation(
    "relu",
    lambda z: z.clamp(min=0),
    lambda z: (z > 0).to(z),
    torch.zeros_like,
    (1.0, math.inf, math.inf, math.inf),
)
#: log(1 + e^z): |σ″| ≤ 1/4, |σ‴| ≤ 1/(6√3), |σ⁗| ≤ 1/8.
SOFTPLUS = Activation(
    "softplus",
    torch.nn.functional.softplus,
    torch.sigmoid,
    _logistic_bend,
    (1.0, 1 / 4, 1 / (6 * 3**0.5), 1 / 8),
)
ACTIVATIONS = {known.name: known for known in (RELU, SOFTPLUS)}


def unit_rows(X: Float[Tensor, "n d"]) -> Float[Tensor, "n d"]:
    """Every row over its length."""
    return X / X.norm(dim=-1, keepdim=True)


def attended(X: Float[Tensor, "n d"]) -> Float[Tensor, "n d"]:
    """What linearised attention without parameters makes of all inputs together: X Xᵀ X."""
    return X @ (X.mT @ X)


def both_active(X: Float[Tensor, "n d"]) -> Float[Tensor, "n n"]:
    """The probability p = (π − θ)/(2π) that a Gaussian unit is active on both of two inputs at the angle θ."""
    cosine = (X @ X.mT).clamp(-1, 1)
    angle = torch.acos(cosine).fill_diagonal_(0.0)
    return (math.pi - angle) / (2 * math.pi)


def limit_kernel(X: Float[Tensor, "n d"]) -> Float[Tensor, "n n"]:
    """The ReLU network's tangent kernel for infinitely many Gaussian units, ⟨x, x′⟩ p(x, x′)."""
    return X @ X.mT * both_active(X)


def mean_square_error(X: Float[Tensor, "n d"], m: int) -> float:
    """E ‖K_m − K_∞‖²_F = (2/m) Σ ⟨x, x′⟩² p(1 − p) over the symmetric start of m ReLU units."""
    p = both_active(X)
    return 2 / m * float(((X @ X.mT).square() * p * (1 - p)).sum())


def kernel(X: Float[Tensor, "n d"], w: Float[Tensor, "units d"], slope: Function) -> Float[Tensor, "n n"]:
    """The tangent kernel of some units, ⟨x, x′⟩ times the mean of σ′(w·x)σ′(w·x′)."""
    s = slope(X @ w.mT)
    return X @ X.mT * (s @ s.mT) / len(w)


def start(pairs: int, d: int, generator: Generator) -> Float[Tensor, "N d"]:
    """Gaussian weights, one row a pair."""
    return torch.randn(pairs, d, generator=generator, dtype=torch.float64)


@dataclass(frozen=True)
class Run:
    """Gradient descent on the mean squared loss."""

    r: Float[Tensor, "steps n"]  # residuals before every step and after the last
    plus: Float[Tensor, "N d"]  # the weights in the end
    minus: Float[Tensor, "N d"]
    alpha: Float[Tensor, "steps N"]  # ‖w⁺ − w⁻‖/2 of every pair
    beta: Float[Tensor, "steps N"]  # ‖(w⁺ + w⁻)/2 − w⁰‖


def train(
    X: Float[Tensor, "n d"],
    y: Float[Tensor, " n"],
    w: Float[Tensor, "N d"],
    act: Activation,
    eta: float,
    steps: int,
) -> Run:
    """Descent from w⁺ = w⁻ = w, without projection."""
    plus, minus = w, w
    unit = 2 * eta / (2 * len(w)) ** 0.5 / len(X)
    r, alpha, beta = [], [], []
    for s in range(steps + 1):
        up, down = X @ plus.mT, X @ minus.mT
        r.append((act.value(up) - act.value(down)).sum(1) / (2 * len(w)) ** 0.5 - y)
        alpha.append((plus - minus).norm(dim=1) / 2)
        beta.append(((plus + minus) / 2 - w).norm(dim=1))
        if s < steps:
            plus = plus - unit * (r[-1][:, None] * act.slope(up)).mT @ X
            minus = minus + unit * (r[-1][:, None] * act.slope(down)).mT @ X
    return Run(torch.stack(r), plus, minus, torch.stack(alpha), torch.stack(beta))

"""When linear convergence is guaranteed: the constants of Theorem A and Theorem A+, the loss from which they speak, targets that have it.

Theorem A follows the paper block by block; Theorem A+ bounds the length of the whole path, and so admits a loss that is larger by orders of magnitude.
"""

import functools
import math
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Generator, Tensor

from shallowformer import arguments
from shallowformer.contracts import NonNegative, Positive, Whole, contract
from shallowformer.residual import model
from shallowformer.residual.parameters import Parameters, PerBlock, Setting
from shallowformer.residual.spectra import check_pl_2, largest, smallest, stacked


@dataclass(frozen=True)
class Constants:
    """The constants of both theorems at θ⁽⁰⁾; w̄_W = (3/2)‖W⁽⁰⁾‖ bounds each block while it moves by at most half its norm."""

    norms: PerBlock  # ‖W⁽⁰⁾‖ of every block
    rho: float  # ρ = (Σ_p N max_i‖x_{p,i}‖²)^{1/2}, above ‖S̄X̄‖_F
    zeta: float  # ζ = g‖X̄‖_F + ρ w̄_V, above ‖Z̄‖_F
    a: float  # ζ w̄_1, above ‖Ā‖_F
    h: float  # g_f ζ + a w̄_2, above ‖H̄‖_F
    n_B: float  # w̄_U(g_f + w̄_1 w̄_2), above ‖B̄‖_F/√(2Φ)
    m: float  # w̄_V(Σ_p‖X_p‖⁶)^{1/2}/(2T), T = √d_k if not set: how far ‖S̄X̄W_V‖_F moves with the logits' matrix
    c: PerBlock  # c_W, above ‖∇_WΦ‖_F/√(2Φ)
    c_Z: float  # how far ‖Z̄‖_F moves while the blocks move by c_W
    c_A: float  # how far ‖Ā‖_F moves while the blocks move by c_W
    ell_A: float  # ℓ_A, how far ‖Ā‖_F moves when ‖θ‖ moves by 1
    sigma_A: float  # σ_min(Ā⁽⁰⁾)
    sigma_U: float  # σ_min(W_U⁽⁰⁾)

    @property
    def alpha(self) -> float:
        """α = σ_A²σ_U²/16: the loss shrinks by 1 − μα a step."""
        return (self.sigma_A * self.sigma_U) ** 2 / 16

    @functools.cached_property
    def slack(self) -> float:
        """The right-hand side of (I0): min{min_W ‖W⁽⁰⁾‖/(2c_W), σ_U/(2c_U), σ_A/(2c_A)}."""
        blocks = (norm / (2 * c) for norm, c in zip(self.norms, self.c, strict=True))
        return min(*blocks, self.sigma_U / (2 * self.c.W_U), self.sigma_A / (2 * self.c_A))

    @property
    def loss_A(self) -> float:
        """The largest Φ(θ⁽⁰⁾) that Theorem A admits: (2/α)√(2Φ) = ``slack``."""
        return (self.alpha * self.slack / 2) ** 2 / 2

    @property
    def radius_plus(self) -> float:
        """The largest r that Theorem A+ admits: min{½ min_W‖W⁽⁰⁾‖, ½σ_U, σ_A/(2ℓ_A)}."""
        return min(min(self.norms) / 2, self.sigma_U / 2, self.sigma_A / (2 * self.ell_A))

    @property
    def loss_plus(self) -> float:
        """The largest Φ(θ⁽⁰⁾) that Theorem A+ admits: 2√(2Φ/α) = ``radius_plus``."""
        return self.alpha * self.radius_plus**2 / 8

    @contract
    def radius(self, loss: NonNegative) -> float:
        """The radius r = 2√(2Φ/α): with Φ(θ⁽⁰⁾) the ball that holds the path, with Φ(θ⁽ᵗ⁾) a bound on ‖θ⁽ᵗ⁾ − θ*‖."""
        return 2 * math.sqrt(2 * loss / self.alpha)

    @contract
    def distance(self, loss: NonNegative, mu: Positive, t: Whole) -> float:
        """Corollary B, after t steps with μ ≤ 1/α: ‖θ⁽ᵗ⁾ − θ*‖ ≤ (2/α)(Σ_W c_W²)^{1/2} √(2Φ(θ⁽⁰⁾)) (1 − μα)^{t/2}."""
        arguments.at_most("mu", mu, "1/alpha", 1 / self.alpha)
        shrunk = (1 - mu * self.alpha) ** (t / 2)
        return 2 / self.alpha * math.hypot(*self.c) * math.sqrt(2 * loss) * shrunk


def constants(X: Float[Tensor, "P N d"], theta: Parameters, setting: Setting) -> Constants:
    """All constants of Theorem A and Theorem A+ at a starting point.

    Source: Qin, Zhou, Jiang, Zhu 2025, Theorem 2, in our reading, with all constants explicit; Theorem A+ is ours.
    """
    now = model.forward(X, theta, setting)
    if setting.activation.tau == 0:
        raise ValueError(
            "activation must have a Lipschitz derivative (tau above 0): the theorems need a Hessian, got tau = 0, ReLU"
        )
    check_pl_2(X, theta)
    norms = PerBlock(*(float(largest(W)) for W in theta))
    for name, norm in norms._asdict().items():
        if norm == 0:
            raise ValueError(
                f"{name} must not be 0: what may move by half its norm could not move, got norm 0"
            )
    sigma_A, sigma_U = _full("hidden layer A", stacked(now.A)), _full("W_U", theta.W_U)
    w = PerBlock(*(1.5 * norm for norm in norms))
    rho = math.sqrt(X.shape[1] * float(X.square().sum(-1).amax(-1).sum()))
    zeta = setting.g * float(X.norm()) + rho * w.W_V
    a = zeta * w.W_1
    h = setting.g_f * zeta + a * w.W_2
    n_B = w.W_U * (setting.g_f + w.W_1 * w.W_2)
    m = w.W_V / (2 * setting.divisor(theta)) * math.sqrt(float((largest(X) ** 6).sum()))
    c = PerBlock(
        W_Q=m * w.W_K * n_B,
        W_K=m * w.W_Q * n_B,
        W_V=rho * n_B,
        W_1=zeta * w.W_2 * w.W_U,
        W_2=a * w.W_U,
        W_U=h,
    )
    c_Z = m * (c.W_Q * w.W_K + w.W_Q * c.W_K) + rho * c.W_V
    c_A = c_Z * w.W_1 + zeta * c.W_1
    ell_A = math.hypot(w.W_1 * m * w.W_K, w.W_1 * m * w.W_Q, w.W_1 * rho, zeta)
    return Constants(norms, rho, zeta, a, h, n_B, m, c, c_Z, c_A, ell_A, sigma_A, sigma_U)


@contract
def targets(
    X: Float[Tensor, "P N d"], theta: Parameters, setting: Setting, loss: Positive, generator: Generator
) -> Float[Tensor, "P N K"]:
    """Targets at a prescribed loss: Y = F(X; θ) − D, with D of a random direction and ½‖D‖² = Φ.

    Args:
        loss: Φ; its root far above the rounding of outputs, or it is not met.
    """
    F = model.outputs(X, theta, setting)
    size = math.sqrt(2 * loss)
    rounding = torch.finfo(F.dtype).eps * float(F.norm())
    if size < 1e3 * rounding:
        raise ValueError(
            f"loss must be at least {(1e3 * rounding) ** 2 / 2:.3g} to stand out of the rounding of outputs, got {loss:.3g}"
        )
    D = torch.randn(*F.shape, generator=generator, dtype=F.dtype, device=F.device)
    return F - size / D.norm() * D


def _full(name: str, M: Tensor) -> float:
    value, rounding = float(smallest(M)), max(M.shape) * torch.finfo(M.dtype).eps * float(largest(M))
    if not value > rounding:
        raise ValueError(
            f"{name} must have full rank at the start, σ_min above rounding ({rounding:.3g}), got {value:.3g}"
        )
    return value

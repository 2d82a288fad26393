"""How fast each layer can move on a ball around a point, and how much the outputs can bend there, in closed form.

A direction δ has six block norms n = (‖δ_Q‖_F, …, ‖δ_U‖_F). On the whole ball the derivative of a layer along δ is at most a linear form of n,
the second derivative of the outputs at most a quadratic one, all coefficients at least 0: the norm of the first and the largest eigenvalue of
the second bound them for unit δ. Attention enters through diameters: tokens under attention have a covariance of at most a quarter of their
diameter squared, and a third cumulant of at most its cube over 6√3.
"""

import math
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from shallowformer import arguments
from shallowformer.residual import model
from shallowformer.residual.bounds import diameter
from shallowformer.residual.parameters import BLOCKS, Parameters, Setting
from shallowformer.residual.spectra import largest, stacked

#: The third central moment of a law on an interval of length 1 is at most this.
THIRD = 1 / (6 * math.sqrt(3))


@dataclass(frozen=True)
class Forms:
    """What holds on the ball of a radius; linear forms have a coefficient a block, in the order of ``BLOCKS``."""

    SX: Float[Tensor, "*s 6"]  # ‖D(S̄X̄)[δ]‖_F ≤ SX·n
    Z: Float[Tensor, "*s 6"]  # the same of Z̄
    A: Float[Tensor, "*s 6"]  # the same of the hidden layer Ā, and of Z̄W_1
    H: Float[Tensor, "*s 6"]  # the same of H̄
    F: Float[Tensor, "*s 6"]  # the same of all outputs
    second: Float[Tensor, "*s 6 6"]  # the quadratic form with ‖D²F̄[δ, δ]‖_F ≤ nᵀ second n

    @property
    def ell_A(self) -> Float[Tensor, "*s"]:
        """ℓ_A: ‖Ā(θ) − Ā(θ′)‖_F ≤ ℓ_A‖θ − θ′‖. It depends neither on W_2 nor on W_U."""
        return self.A.norm(dim=-1)

    @property
    def ell_H(self) -> Float[Tensor, "*s"]:
        """ℓ_H: the same of H̄. It does not depend on W_U."""
        return self.H.norm(dim=-1)

    @property
    def C(self) -> Float[Tensor, "*s"]:
        """C_*: ‖J‖ ≤ C_* on the ball, J the Jacobian of all outputs."""
        return self.F.norm(dim=-1)

    @property
    def M_2(self) -> Float[Tensor, "*s"]:
        """M_2: ‖J(θ) − J(θ′)‖ ≤ M_2‖θ − θ′‖."""
        return torch.linalg.eigvalsh(self.second)[..., -1]


def forms(
    X: Float[Tensor, "*s P N d"],
    theta: Parameters,
    setting: Setting,
    radius: float | Float[Tensor, "*s"],
    one_sided: bool = False,
) -> Forms:
    """The forms on a ball of a radius.

    Args:
        one_sided: of ReLU, whose φ″ is taken to be 0: the caller knows that no entry of Z̄W_1 changes its sign on the ball.
    """
    if not isinstance(radius, Tensor):
        arguments.at_least("radius", radius, 0.0)
    model.check(X, theta, setting)
    if setting.activation.tau == 0 and not one_sided:
        raise ValueError(
            "activation must have a Lipschitz derivative (tau above 0) to bend by a bounded amount, got tau = 0, ReLU"
        )
    return unchecked(X, theta, setting, radius, 0.0 if one_sided else setting.activation.beta)


def unchecked(
    X: Float[Tensor, "*s P N d"],
    theta: Parameters,
    setting: Setting,
    radius: float | Float[Tensor, "*s"],
    beta: float,
) -> Forms:
    """``forms`` for loops whose arguments have been checked before, with β a bound on the size of φ″."""
    now, W, gamma = (
        model.unchecked(X, theta, setting),
        model.over_sequences(theta),
        1 / setting.divisor(theta),
    )
    r = torch.as_tensor(radius, dtype=X.dtype).expand(X.shape[:-3])
    # A linear form is its six coefficients, "*s 6"; what multiplies it is a number a problem, "*s".
    e_Q, e_K, e_V, e_1, e_2, e_U = torch.eye(len(BLOCKS), dtype=X.dtype)
    w = Parameters(*(largest(block) + r for block in theta))
    top = lambda M: largest(stacked(M))
    times = lambda number, form: number[..., None] * form
    D = diameter(X)  # of each sequence, "*s P"
    keys, values = (diameter(X @ block) + times(r, D) for block in (W.W_K, W.W_V))
    weighted = lambda by, M=X: top(by[..., None, None] * M)

    # Pooled tokens, and what the value matrix makes of them.
    pooled = gamma / 4 * (
        times(weighted(D * keys), e_Q) + times(weighted(D * D, X @ W.W_Q) + r * weighted(D * D), e_K)
    )  # fmt: skip
    valued = gamma / 4 * (
        times(weighted(values * keys), e_Q) + times(weighted(D * values, X @ W.W_Q) + r * weighted(D * values), e_K)
    )  # fmt: skip
    # What a layer is at the centre, and what the ball adds: a bound on its size anywhere on the ball.
    rho = top(now.S @ X) + r * pooled.norm(dim=-1)
    Z = valued + times(rho, e_V)
    z = top(now.Z) + r * Z.norm(dim=-1)
    A = times(w.W_1, Z) + times(z, e_1)
    a = top(now.A) + r * A.norm(dim=-1)
    through = setting.g_f + w.W_1 * w.W_2
    H = times(through, Z) + times(w.W_2 * z, e_1) + times(a, e_2)
    h = top(now.H) + r * H.norm(dim=-1)
    F = times(w.W_U, H) + times(h, e_U)

    # Second derivatives: the logits' own, the third cumulant, the value matrix; then the layers above.
    logit = times(w.W_K, e_Q) + times(w.W_Q, e_K)
    reach = X.norm(dim=-1).amax((-2, -1))
    square = lambda number, form: number[..., None, None] * form
    Z_2 = (
        square(gamma / 2 * weighted(D * values), _sym(e_Q, e_K))
        + square(w.W_V * gamma**2 * reach * weighted(THIRD * D**3), _sym(logit, logit))
        + 2 * _sym(e_V, pooled)
    )
    inner = square(w.W_2, 2 * _sym(Z, e_1) + beta * _sym(A, A))
    second = square(w.W_U, square(through, Z_2) + inner + 2 * _sym(A, e_2)) + 2 * _sym(H, e_U)
    return Forms(pooled, Z, A, H, F, second)


def _sym(u: Tensor, v: Tensor) -> Tensor:
    outer = u[..., :, None] * v[..., None, :]
    return (outer + outer.mT) / 2

"""The numbers of a start that its certificate needs, all of them measured before the first step."""

import math
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from shallowformer import arguments
from shallowformer.residual import model
from shallowformer.residual.parameters import Parameters, Setting
from shallowformer.residual.random_start.linear_run import LinearRun, along
from shallowformer.residual.spectra import check_pl_2, largest, stacked

#: A least singular value below this share of the largest one is a rounding error of 0.
RANK = 1e-10


@dataclass(frozen=True)
class Start:
    """A start's numbers; ‖·‖ is the spectral norm unless F says Frobenius. Bars of stacks are left out."""

    sigma_A: float  # least singular value of A
    a: float  # ‖A‖
    sigma_U: float  # least singular value of W_U
    u: float  # ‖W_U‖
    w: float  # ‖W_1‖
    z: float  # ‖Z‖
    z_row: float  # length of Z's longest row
    j: float  # ‖∂Z/∂(W_V, W_Q, W_K)‖
    e: float  # ‖E‖_F, E = F − Y
    y: float  # ‖Y‖
    psi: float  # ‖A⁺E W_U⁺‖_F, the distance of W_2 from the nearest zero of the loss if nothing else moves
    q: float  # ‖A⁺E‖_F
    q_2: float  # ‖A⁺E‖
    centred: tuple[float, ...]  # ‖X_c‖ of every sequence, X_c its tokens less their mean
    values: tuple[float, ...]  # ‖X_cW_V‖ of every sequence
    pairs: tuple[float, ...]  # ‖X‖‖X_c‖/√d_k of every sequence
    #: ‖∂L/∂(W_Q, W_K)‖ is at most this: (‖X‖²‖X_cW_K‖² + ‖XW_Q‖²‖X_c‖²)^{1/2}/√d_k, of every sequence
    logits: tuple[float, ...]
    g_f: float  # the network's residual coefficient
    h: float  # ‖H‖; g_f‖Z‖ if W_2 = 0
    w_2: float = 0.0  # ‖W_2‖
    linear: LinearRun | None = None  # what is known of the linear run, for smooth activations; None for ReLU

    @property
    def distance(self) -> float:
        """y_0 = σ_A σ_U ψ_0, what the area under the rate has to pay for; at most ‖E‖_F."""
        return self.sigma_A * self.sigma_U * self.psi

    @property
    def rate(self) -> float:
        """σ_A² σ_U², the rate per unit of step if nothing but W_2 moved."""
        return (self.sigma_A * self.sigma_U) ** 2


def attention_jacobian(
    X: Float[Tensor, "P N d"], theta: Parameters, setting: Setting
) -> Float[Tensor, "m k"]:
    """∂Z/∂(W_V, W_Q, W_K), a matrix of PNd rows."""
    model.check(X, theta, setting)
    narrow = theta._replace(W_1=theta.W_1[:, :1], W_2=theta.W_2[:1])

    def Z(W_V: Tensor, W_Q: Tensor, W_K: Tensor) -> Tensor:
        return model.unchecked(X, narrow._replace(W_V=W_V, W_Q=W_Q, W_K=W_K), setting).Z.flatten()

    blocks = torch.autograd.functional.jacobian(Z, (theta.W_V, theta.W_Q, theta.W_K))
    return torch.cat([block.flatten(1) for block in blocks], 1)


def measure(
    X: Float[Tensor, "P N d"],
    Y: Float[Tensor, "P N K"],
    theta: Parameters,
    setting: Setting,
    smooth: bool | None = None,
) -> Start:
    """Measure a start; W_2 = 0 unless the linear run is followed. Targets are other than the outputs.

    Args:
        smooth: whether to follow the linear run, which asks for a smooth activation; if not given, wherever it can be.
    """
    model.check(X, theta, setting, Y)
    check_pl_2(X, theta)
    smooth = setting.activation.tau > 0 if smooth is None else smooth
    if smooth and setting.activation.tau == 0:
        raise ValueError("smooth must be False for ReLU, whose derivative jumps, got True")
    if theta.W_2.any() and not smooth:
        raise ValueError(
            f"W_2 must be 0 where the linear run is not followed, got norm {float(theta.W_2.norm()):.3g}"
        )
    now = model.unchecked(X, theta, setting)
    A, Z, E = stacked(now.A), stacked(now.Z), stacked(now.F - Y)
    # A = T Qᵀ: the small square T has A's left singular vectors and values, and its condition is A's, not the square of it.
    T = torch.linalg.qr(A.mT, mode="r").R.mT
    left, sizes, _ = torch.linalg.svd(T)
    of_U = torch.linalg.svdvals(theta.W_U)
    _full_rank("A, the hidden layer,", sizes)
    _full_rank("W_U", of_U)
    if not E.any():
        raise ValueError("Y must differ from the outputs at the start, got an error of 0")
    pull = torch.linalg.solve(T, E)  # Qᵀ A⁺E
    centred = X - X.mean(1, keepdim=True)
    divisor = setting.divisor(theta)
    long, short = largest(X), largest(centred)
    logits = torch.hypot(long * largest(centred @ theta.W_K), largest(X @ theta.W_Q) * short) / divisor
    return Start(
        sigma_A=float(sizes[-1]),
        a=float(sizes[0]),
        sigma_U=float(of_U[-1]),
        u=float(of_U[0]),
        w=float(largest(torch.linalg.qr(theta.W_1.mT, mode="r").R)),
        z=float(largest(Z)),
        z_row=float(Z.norm(dim=1).max()),
        j=float(largest(attention_jacobian(X, theta, setting))),
        e=float(E.norm()),
        y=float(largest(stacked(Y))),
        psi=float((pull @ torch.linalg.pinv(theta.W_U)).norm()),
        q=float(pull.norm()),
        q_2=float(largest(pull)),
        centred=tuple(short.tolist()),
        values=tuple(largest(centred @ theta.W_V).tolist()),
        pairs=tuple((long * short / divisor).tolist()),
        logits=tuple(logits.tolist()),
        g_f=float(setting.g_f),
        h=float(largest(stacked(now.H))),
        w_2=float(largest(theta.W_2)),
        linear=along(stacked(now.pre), stacked(now.F), E, T, left, sizes, theta, setting) if smooth else None,
    )


def _full_rank(name: str, sizes: Tensor) -> None:
    least, most = float(sizes[-1]), float(sizes[0])
    if not least > arguments.tolerance(RANK, sizes) * most or not math.isfinite(most):
        raise ValueError(f"{name} must have full rank, got a least singular value of {least:.3g}")

"""Where W comes to rest beside its growing multiple of W_mm: the residual's limit, and what it says of losses and norms."""

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from shallowformer import arguments
from shallowformer.token_selection.instances import Instance
from shallowformer.token_selection.span import basis
from shallowformer.token_selection.svm import Attention


@dataclass(frozen=True)
class Parts:
    """W = r W_mm + P + N: P in the span V of the active E_k and orthogonal to W_mm, N orthogonal to V; in coordinates."""

    r: Float[Tensor, "*s"]  # ⟨W, W_mm⟩/‖W_mm‖²
    P: Float[Tensor, "*s r"]  # the part that descent steers
    N: Float[Tensor, "*s r"]  # the part that only inactive constraints move


def parts(best: Attention, z: Float[Tensor, "*s r"]) -> Parts:
    """Split coordinates in ``best.span`` of one W or of several."""
    V = basis(best.A[best.active])
    r = z @ best.z / best.norm**2
    rest = z - r[..., None] * best.z
    inside = rest @ V @ V.T
    return Parts(r, inside, rest - inside)


@dataclass(frozen=True)
class Settled:
    """The minimiser of F(P) = (1/n) Σ_k ψ_i e^{−⟨E_k, P⟩} over active k = (i, t), P in V and orthogonal to W_mm."""

    P: Float[Tensor, " r"]  # the minimiser, in coordinates
    F: float  # its value
    steepest: float  # largest eigenvalue of the Hessian of log F there; 0 if V is a line


def settled(instance: Instance, best: Attention) -> Settled:
    """Where P comes to rest, by Newton's method on log F, if (W-SVM) is strictly complementary."""
    if not best.strict_complementarity() > arguments.tolerance(1e-6, best.A):
        raise ValueError(
            "best must have multipliers above 0 for every active constraint, or P has no limit, got the smallest at "
            f"{best.strict_complementarity():.2g} of their mean"
        )
    active = best.active
    psi = (instance.Delta * torch.exp(-instance.scores.amax(1)) / instance.n)[instance.sequence][active]
    unit = best.z / best.norm
    across = best.A[active] - torch.outer(
        best.A[active] @ unit, unit
    )  # the E_k without their part along W_mm
    if float(across.norm()) <= arguments.tolerance(1e-9, across) * float(best.A.norm()):
        return Settled(torch.zeros_like(best.z), float(psi.sum()), 0.0)
    U = basis(across)
    rows, weights = (across @ U).double().numpy(), psi.double().numpy()

    def value(x: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        logs = np.log(weights) - rows @ x
        top = logs.max()
        share = np.exp(logs - top)
        total = share.sum()
        mean = share @ rows / total
        return top + np.log(total), -mean, (rows.T * (share / total)) @ rows - np.outer(mean, mean)

    x = np.zeros(rows.shape[1])
    for _ in range(500):
        now, slope, curvature = value(x)
        step = np.linalg.solve(curvature + 1e-14 * np.trace(curvature) * np.eye(len(x)), -slope)
        decrease = -float(slope @ step)
        if decrease < 1e-26:
            return Settled(
                U @ torch.from_numpy(x).to(U), float(np.exp(now)), float(np.linalg.eigvalsh(curvature)[-1])
            )
        size = 1.0
        while value(x + size * step)[0] > now - 0.25 * size * decrease + 1e-15 * abs(now) and size > 1e-9:
            size /= 2
        x = x + size * step
    raise ArithmeticError(f"Newton's method must converge, got a decrement of {decrease:.2g} after 500 steps")


def harshness(best: Attention) -> float:
    """‖W_mm‖ max ‖E_k − ⟨E_k, Ŵ⟩Ŵ‖² over active k: normalised steps shorter than 2 over this let P come to rest."""
    return best.norm * float((best.A[best.active].square().sum(1) - best.margin**2).max())

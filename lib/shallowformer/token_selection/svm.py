"""The two support vector machines of the paper: (W-SVM), where attention's weights point in the end, and (u-SVM), where the decoder does.

Both ask for the shortest z with Az ≥ 1: least-distance programming, which Lawson and Hanson turn into non-negative least squares. SciPy's
``nnls`` is an active-set method: it meets the conditions of optimality to 1e−14 where clarabel and osqp stop between 1e−13 and 1e−3 at
their tightest tolerances, and it needs no further package (quadprog and daqp behind qpsolvers are as exact; not as well kept, or GPL).
"""

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Bool, Float
from scipy.optimize import linprog, nnls
from torch import Tensor

from shallowformer import arguments
from shallowformer.token_selection.instances import Instance
from shallowformer.token_selection.span import Span, basis

#: A constraint is active, a multiplier is 0, if it is so to this precision, in units of the constraint or of the largest multiplier,
#: beside what rounding adds.
ACTIVE = 1e-8
#: Data whose best margin is below this part of their longest constraint count as not separable: rounding could hide the difference.
SEPARABLE = 1e-10


class Infeasible(ValueError):
    """No direction meets all constraints; weights λ ≥ 0, ``certificate``, with Σλ = 1 and ‖Aᵀλ‖, ``residual``, about 0 prove it.

    A z with Az ≥ 1 would have 1 = Σλ ≤ ⟨λ, Az⟩ ≤ ‖Aᵀλ‖‖z‖, so that ‖z‖ ≥ 1/‖Aᵀλ‖.
    """

    def __init__(self, which: str, certificate: Float[Tensor, " K"], residual: float) -> None:
        super().__init__(which, certificate, residual)  # with these it is made again in another process
        self.which, self.certificate, self.residual = which, certificate, residual

    def __str__(self) -> str:
        bound = (
            "none exists" if self.residual == 0 else f"any solution has norm at least {1 / self.residual:.3g}"
        )
        return (
            f"{self.which} must be feasible, but a convex combination of its constraints, {int((self.certificate > 0).sum())} of them, "
            f"has norm {self.residual:.3g}: {bound}"
        )


@dataclass(frozen=True)
class Separator:
    """The shortest z with Az ≥ 1."""

    A: Float[Tensor, "K r"]  # one constraint a row, in coordinates of their span
    z: Float[Tensor, " r"]  # the solution there
    multipliers: Float[Tensor, " K"]  # λ ≥ 0 with z = Aᵀλ and Σλ = ‖z‖²

    @property
    def norm(self) -> float:
        """‖z‖."""
        return float(self.z.norm())

    @property
    def margin(self) -> float:
        """1/‖z‖, the largest margin of a unit vector."""
        return 1 / self.norm

    @property
    def gaps(self) -> Float[Tensor, " K"]:
        """Az, at least 1."""
        return self.A @ self.z

    @property
    def active(self) -> Bool[Tensor, " K"]:
        """Which constraints are met with equality."""
        longest = float(torch.linalg.vector_norm(self.A, dim=1).max())
        return self.gaps <= 1 + arguments.tolerance(ACTIVE, self.A, longest * self.norm)

    @property
    def residuals(self) -> dict[str, float]:
        """How far each condition of optimality is missed, relative to ‖z‖, to 1 and to the largest multiplier."""
        slack, lam = self.gaps - 1, self.multipliers
        return {
            "stationarity": float((self.z - self.A.T @ lam).norm()) / self.norm,
            "primal": max(0.0, -float(slack.min())),
            "dual": max(0.0, -float(lam.min() / lam.max())),
            "complementarity": float((lam * slack).abs().max() / lam.max()),
            "duality gap": abs(float(lam.sum()) / self.norm**2 - 1),
        }

    def strict_complementarity(self) -> float:
        """The largest s such that some multipliers have λ_k ≥ s for every active constraint; above 0 where complementarity is strict.

        It is relative to the mean multiplier of active constraints; 0 up to rounding if some active constraint has none.
        """
        active = self.active.numpy()
        A, mean = self.A.double().numpy()[active], float(self.multipliers.sum()) / active.sum()
        k = len(A)
        # In units of the mean, and without equations that others imply: those would contradict one another by rounding.
        _, size, U = np.linalg.svd(A.T, full_matrices=False)
        keep = size > arguments.tolerance(ACTIVE, self.A) * size[0]
        right = U[keep] @ self.multipliers.double().numpy()[active] / mean
        found = linprog(
            np.r_[np.zeros(k), -1.0], A_ub=np.hstack([-np.eye(k), np.ones((k, 1))]), b_ub=np.zeros(k),
            A_eq=np.hstack([U[keep], np.zeros((len(right), 1))]), b_eq=right, bounds=[(0, None)] * (k + 1), method="highs",
        )  # fmt: skip
        if found.status != 0:
            raise ArithmeticError(f"linear program for the multipliers was not solved: {found.message}")
        return float(found.x[-1])


def shortest(A: Float[Tensor, "K r"], which: str = "A z ≥ 1") -> Separator:
    """The shortest z with Az ≥ 1; ``which`` is the problem's name, for the message. Source: Lawson and Hanson 1974, chapter 23."""
    rows = A.detach().double().numpy()
    longest = float(np.linalg.norm(rows, axis=1).max())
    if longest == 0:
        weights = torch.full((len(rows),), 1 / len(rows), dtype=A.dtype)
        raise Infeasible(which, weights, 0.0)
    # λ = argmin ‖Aᵀλ‖² + (1 − Σλ)²; the constraints are about as long as the 1 if the margin is about 1.
    scaled = rows / longest
    weights = _nearest(scaled)
    distance = float(np.linalg.norm(scaled.T @ weights) / weights.sum())
    separable = arguments.tolerance(SEPARABLE, A)
    if distance > separable:
        weights = _nearest(scaled / distance)  # again, with a margin of about 1
        distance = float(np.linalg.norm(scaled.T @ weights) / weights.sum())
    convex = weights / weights.sum()
    if distance <= separable:
        raise Infeasible(which, torch.from_numpy(convex).to(A), distance * longest)
    nearest = rows.T @ convex  # the point of the convex hull of the constraints that is nearest to 0
    square = float(nearest @ nearest)
    return Separator(A, torch.from_numpy(nearest / square).to(A), torch.from_numpy(convex / square).to(A))


def _nearest(rows: np.ndarray) -> np.ndarray:
    """λ ≥ 0 that minimises ‖Aᵀλ‖² + (1 − Σλ)²; λ/Σλ gives the point of the rows' convex hull that is nearest to 0."""
    system = np.vstack([rows.T, np.ones(len(rows))])
    right = np.zeros(len(system))
    right[-1] = 1.0
    return nnls(system, right, maxiter=100 * len(rows))[0]


@dataclass(frozen=True)
class Attention(Separator):
    """The solution of (W-SVM): A coordinates in ``span`` of the E_k, z of W_mm, multipliers λ with W_mm = Σ_k λ_k D_k q_kᵀ."""

    span: Span

    @property
    def W(self) -> Float[Tensor, "d d"]:
        """W_mm."""
        return self.span.matrix(self.z)


def w_svm(instance: Instance) -> Attention:
    """(W-SVM): W_mm, the shortest W with ⟨x_{i,opt} − x_{i,t}, W x_{i,1}⟩ ≥ 1 for every i and t ≠ opt_i.

    Source: Vasudeva, Deora, Thrampoulidis 2024, (W-SVM), in our reading.
    """
    span = Span.of(instance)
    found = shortest(span.R, "(W-SVM)")
    return Attention(found.A, found.z, found.multipliers, span)


@dataclass(frozen=True)
class Decoder(Separator):
    """The solution of (u-SVM): A coordinates of the y_i x_{i,opt}, z of u_mm, multipliers λ with u_mm = Σ_i λ_i y_i x_{i,opt}."""

    basis: Float[Tensor, "d r"]  # orthonormal, of the optimal tokens

    @property
    def u(self) -> Float[Tensor, " d"]:
        """u_mm."""
        return self.basis @ self.z


def u_svm(instance: Instance) -> Decoder:
    """(u-SVM): u_mm, the shortest u with y_i ⟨u, x_{i,opt}⟩ ≥ 1 for every i.

    Source: Vasudeva, Deora, Thrampoulidis 2024, (u-SVM), in our reading.
    """
    rows = instance.y[:, None] * instance.best
    onto = basis(rows)
    found = shortest(rows @ onto, "(u-SVM)")
    return Decoder(found.A, found.z, found.multipliers, onto)

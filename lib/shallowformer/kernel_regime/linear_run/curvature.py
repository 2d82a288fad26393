"""A head near the start of a run: its derivatives to the third order along a direction, and how fast the third one can change.

W acts through Wq alone. In the direction (u, Δ) a head h = σ(⟨U, a⟩) therefore sees u and ω = Δq/‖q‖, and all derivatives here are those
in these 2d coordinates, with the same norms. Scores ⟨u, X_t − a⟩ of the tokens are all that is needed: no tensor of third order is formed.
The activation is tanh. In shapes k = 2d, and p = d + d² is the length of (U, W) flattened.
"""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

#: The largest |σ″|, |σ‴| and |σ⁗| of tanh: 4/(3√3); 2; 8t(2 − 3t²)(1 − t²) at t² = (15 − √105)/30.
SECOND, THIRD, FOURTH = 4 / 27**0.5, 2.0, 4.085886
#: |κ₄(a, b, w, w)| ≤ FOUR r_a r_b Var w and |κ₅(a, b, c, w, w)| ≤ FIVE r_a r_b r_c Var w for ranges r.
FOUR, FIVE = 3 / 2, 13 / 4


@dataclass(frozen=True)
class Along:
    """Derivatives of every sample and head along one direction e of each head."""

    first: Float[Tensor, "n N"]  # ∇h[e]
    second: Float[Tensor, "n N k"]  # ∇²h[e]
    quadratic: Float[Tensor, "n N"]  # ∇²h[e, e]
    third: Float[Tensor, "n N k"]  # ∇³h[e, e]
    cubic: Float[Tensor, "n N"]  # ∇³h[e, e, e]


class Heads:
    """Some heads on all samples, at the start."""

    def __init__(
        self,
        X: Float[Tensor, "n T d"],
        q: Float[Tensor, "n d"],
        U: Float[Tensor, "N d"],
        W: Float[Tensor, "N d d"],
    ) -> None:
        self.X, self.d = X, X.shape[-1]
        self.length = q.norm(dim=-1)[:, None]
        self.towards = q / self.length.clamp(min=torch.finfo(q.dtype).tiny)
        self.alpha = torch.softmax(torch.einsum("Nij,nj->nNi", W, q) @ X.mT, -1)
        self.a = self.alpha @ X
        self.scores = self.centred(U @ X.mT)
        self.MU = (self.alpha * self.scores) @ X
        self.z = (self.a * U).sum(-1)
        self.h = torch.tanh(self.z)
        self.slope = 1 - self.h**2
        self.bend = -2 * self.h * self.slope
        self.twist = self.slope * (6 * self.h**2 - 2)
        self.z1 = torch.cat([self.a, self.length[..., None] * self.MU], -1)
        self.gradient = self.slope[..., None] * self.z1
        self.diameter = torch.cdist(X, X).amax((1, 2))[:, None]
        self.range = self.scores.amax(-1) - self.scores.amin(-1)
        self._norms()

    def centred(self, scores: Float[Tensor, "n N T"]) -> Float[Tensor, "n N T"]:
        """Scores of the tokens less their mean under the attention weights."""
        return scores - (self.alpha * scores).sum(-1, keepdim=True)

    def covariance(self, scores: Float[Tensor, "n N T"]) -> Float[Tensor, "n N d"]:
        """Σ_t α_t s_t (X_t − a), s_t the scores."""
        weighted = self.alpha * scores
        return weighted @ self.X - weighted.sum(-1, keepdim=True) * self.a

    def _norms(self) -> None:
        """‖∇z‖, and bounds on ‖M‖ and on the norms of the second and third derivatives of z and h."""
        squares = (self.X[..., :, None] * self.X[..., None, :]).flatten(-2)
        outer = lambda left, right: left[..., :, None] * right[..., None, :]
        M = (self.alpha @ squares).unflatten(-1, (self.d, self.d)) - outer(self.a, self.a)
        K = ((self.alpha * self.scores) @ squares).unflatten(-1, (self.d, self.d))
        K = K - outer(self.MU, self.a) - outer(self.a, self.MU)
        self.M = torch.linalg.eigvalsh(M)[..., -1].clamp(min=0)
        self.z1_norm = self.z1.norm(dim=-1)
        self.z2_norm = _arrow(self.length * self.M, self.length**2 * torch.linalg.eigvalsh(K).abs().amax(-1))
        self.z3_norm = (
            2 / 3**0.5 * self.length**2 * self.diameter + FOUR * self.length**3 * self.range * self.diameter
        ) * self.M
        self.hessian_norm = self.bend.abs() * self.z1_norm**2 + self.slope * self.z2_norm
        self.third_norm = (
            self.twist.abs() * self.z1_norm**3
            + 3 * self.bend.abs() * self.z1_norm * self.z2_norm
            + self.slope * self.z3_norm
        )

    def full_gradient(self) -> Float[Tensor, "n N p"]:
        """∇h in U and in W, flattened."""
        return self.full(self.gradient)

    def full(self, covector: Float[Tensor, "n N k"]) -> Float[Tensor, "n N p"]:
        """A derivative in the 2d coordinates as one in U and in W, flattened."""
        u, w = covector[..., : self.d], covector[..., self.d :]
        return torch.cat([u, (w[..., :, None] * self.towards[:, None, None]).flatten(-2)], -1)

    def averaged(
        self, weights: Float[Tensor, "... n"], covector: Float[Tensor, "n N k"]
    ) -> Float[Tensor, "... N p"]:
        """Σ_j weights_j times the derivative at sample j, in U and in W, flattened, for several lists of weights."""
        return torch.einsum("...n,nNp->...Np", weights, self.full(covector))

    def seen(self, move: Float[Tensor, "N p"]) -> Float[Tensor, "n N k"]:
        """What every sample sees of a move of each head, in U and in W, flattened: u and Δq/‖q‖."""
        u, delta = move[:, : self.d], move[:, self.d :].unflatten(-1, (self.d, self.d))
        w = torch.einsum("Nij,nj->nNi", delta, self.towards)
        return torch.cat([u.expand_as(w), w], -1)

    def along(self, e: Float[Tensor, "n N k"]) -> Along:
        """Derivatives along a direction, as ``seen`` makes it, by the cumulants of the tokens."""
        q = self.length[..., None]
        first, second, su, sw, Mw = self._of_z(e)
        quadratic = (second * e).sum(-1)
        # κ₄(U, w, w, ·) = E[s_U s_w² Y] − E[s_w²] MU − 2 E[s_U s_w] Mw
        moment = lambda scores: (self.alpha * scores).sum(-1, keepdim=True)
        fourth = (
            self.covariance(self.scores * sw**2) - moment(sw**2) * self.MU - 2 * moment(self.scores * sw) * Mw
        )
        third = torch.cat(
            [q**2 * self.covariance(sw**2), 2 * q**2 * self.covariance(su * sw) + q**3 * fourth], -1
        )
        h2 = self._second(first, second)
        h3 = (
            (self.twist * first**2 + self.bend * quadratic)[..., None] * self.z1
            + 2 * (self.bend * first)[..., None] * second
            + self.slope[..., None] * third
        )
        return Along(self.slope * first, h2, (h2 * e).sum(-1), h3, (h3 * e).sum(-1))

    def twice(self, e: Float[Tensor, "n N k"]) -> tuple[Float[Tensor, "n N"], Float[Tensor, "n N k"]]:
        """∇h[e] and ∇²h[e] alone."""
        first, second, *_ = self._of_z(e)
        return self.slope * first, self._second(first, second)

    def _of_z(self, e: Tensor) -> tuple[Tensor, ...]:
        """∇z[e] and ∇²z[e], the scores of u and w, and Mw."""
        q = self.length[..., None]
        su, sw = (self.centred(part @ self.X.mT) for part in (e[..., : self.d], e[..., self.d :]))
        Mw = self.covariance(sw)
        turned = q * self.covariance(su) + q**2 * self.covariance(self.scores * sw)
        return (self.z1 * e).sum(-1), torch.cat([q * Mw, turned], -1), su, sw, Mw

    def _second(self, first: Tensor, second: Tensor) -> Tensor:
        """∇²h[e] from ∇z[e] and ∇²z[e]."""
        return (self.bend * first)[..., None] * self.z1 + self.slope[..., None] * second

    def growth(self, radius: float | Float[Tensor, "n 1"]) -> Float[Tensor, "n N"]:
        """A bound on ‖∇³h(θ′) − ∇³h(θ)‖ for all ‖θ′ − θ‖ ≤ radius, one for all or one a sample: convex and increasing in it, 0 at 0."""
        q, width = self.length, self.diameter
        x = width * q * radius  # the logits' range moves by at most this
        grown, surplus = torch.exp(x) * self.M, torch.expm1(x) * self.M
        turned = surplus / width.clamp(min=torch.finfo(x.dtype).tiny)  # bounds ‖a′ − a‖
        d1 = torch.hypot(turned, q * (grown * radius + self.range * turned))
        d2 = _arrow(q * surplus, q**2 * (grown * width * radius + FOUR * self.range * surplus))
        d3 = 2 / 3**0.5 * FOUR * q**2 * width * surplus + q**3 * (
            FIVE * self.range * width * surplus + FOUR * width**2 * radius * grown
        )
        z1, z2, z3 = self.z1_norm + d1, self.z2_norm + d2, self.z3_norm + d3
        moved = z1 * radius  # bounds |z′ − z|
        return (
            FOURTH * moved * z1**3
            + self.twist.abs() * (z1**3 - self.z1_norm**3)
            + 3 * THIRD * moved * z1 * z2
            + 3 * self.bend.abs() * (z1 * z2 - self.z1_norm * self.z2_norm)
            + SECOND * moved * z3
            + self.slope * d3
        )


def _arrow(side: Tensor, corner: Tensor) -> Tensor:
    """The largest eigenvalue of ((0, side), (side, corner)): bounds the norm of blocks with these norms."""
    return corner / 2 + torch.hypot(corner / 2, side)

"""A few steps of projected (stochastic) gradient descent that can themselves be differentiated, for many small problems at once.

A search for the worst data, start, step size and comparator climbs through them. This is the declared second route of this room to outputs,
gradients, projection and descent: everything is written out from Lemma 1, with the parameters of a problem in one row (c, then U, then W),
and shares no code with ``training``, ``loss`` or ``gradients``, against which it is tested.
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor

from shallowformer import arguments
from shallowformer.activations import TANH, Activation
from shallowformer.contracts import Count, contract
from shallowformer.kernel_regime.neighbourhood.region import radii
from shallowformer.verify.regions import Region, ball, free, interval
from shallowformer.verify.sets import AdmissibleSet, product

#: Keeps square roots differentiable at 0, far below rounding of what is compared.
TINY = 1e-30


def outputs(
    X: Float[Tensor, "r n T d"], phi: Float[Tensor, "r p"], m: int, sigma: Activation = TANH
) -> tuple[Float[Tensor, "r n"], Float[Tensor, "r n p"]]:
    """Outputs and their gradients, last token as the query; φ in rows, p = m(1 + d + d²)."""
    r, _, _, d = X.shape
    arguments.shape("phi", phi, (r, m * (1 + d + d * d)), "[r, m(1 + d + d²)]")
    c, U, W = phi.split((m, m * d, m * d * d), -1)
    U, W, q = U.reshape(r, m, d), W.reshape(r, m, d, d), X[:, :, -1]
    keys = torch.einsum("rmde,rne->rnmd", W, q)
    alpha = torch.softmax(torch.einsum("rntd,rnmd->rnmt", X, keys), -1)
    a = torch.einsum("rnmt,rntd->rnmd", alpha, X)
    along = torch.einsum("rntd,rmd->rnmt", X, U)
    z = (alpha * along).sum(-1)
    MU = torch.einsum("rnmt,rntd->rnmd", alpha * (along - z[..., None]), X)
    h, slope = sigma(z), c[:, None] * sigma.first(z)
    left = slope[..., None] * MU
    parts = (h, (slope[..., None] * a).flatten(2), torch.einsum("rnmd,rne->rnmde", left, q).flatten(2))
    return (h * c[:, None]).sum(-1) / m**0.5, torch.cat(parts, -1) / m**0.5


def project(
    phi: Float[Tensor, "r p"], phi0: Float[Tensor, "r p"], m: int, d: int, rho: Sequence[float]
) -> Float[Tensor, "r p"]:
    """Π: every block of every head back into its ball around the start; φ in rows."""
    blocks = []
    for block, radius in zip((phi - phi0).split((m, m * d, m * d * d), -1), radii(rho, m), strict=True):
        heads = block.reshape(len(phi), m, -1)
        length = (heads.square().sum(-1, keepdim=True) + TINY).sqrt()
        blocks.append((heads * (radius / length).clamp(max=1)).flatten(1))
    return phi0 + torch.cat(blocks, -1)


@dataclass(frozen=True)
class Path:
    """The iterates s = 0, …, τ of r problems."""

    residual: Float[Tensor, "r s n"]  # f_j − y_j
    misfit: Float[Tensor, "r s n"]  # e_j of the comparator
    gram: Float[Tensor, "r s n n"]  # ⟨∇f_j, ∇f_k⟩
    V: Float[Tensor, "r s"]  # ‖φ⁽ˢ⁾ − φ̃‖²

    @property
    def losses(self) -> Float[Tensor, "r s"]:
        """L̂(φ⁽ˢ⁾)."""
        return self.residual.square().mean(-1)

    @property
    def epsilon(self) -> Float[Tensor, "r s"]:
        """ε_s, the root mean square of the misfits."""
        return (self.misfit.square().mean(-1) + TINY).sqrt()

    @property
    def trace(self) -> Float[Tensor, "r s"]:
        """The mean of ‖∇f_j‖²."""
        return self.gram.diagonal(dim1=-2, dim2=-1).mean(-1)

    @property
    def largest(self) -> Float[Tensor, "r s"]:
        """max_j ‖∇f_j‖²."""
        return self.gram.diagonal(dim1=-2, dim2=-1).amax(-1)

    @property
    def top(self) -> Float[Tensor, "r s"]:
        """The largest eigenvalue of the Gram matrix over n, for at most two samples in closed form."""
        n = self.gram.shape[-1]
        if n == 1:
            return self.gram[..., 0, 0]
        if n > 2:
            return torch.linalg.eigvalsh(self.gram)[..., -1] / n
        mean, half = (
            (self.gram[..., 0, 0] + self.gram[..., 1, 1]) / 2,
            (self.gram[..., 0, 0] - self.gram[..., 1, 1]) / 2,
        )
        return (mean + (half**2 + self.gram[..., 0, 1] ** 2 + TINY).sqrt()) / 2


def descend(
    X: Float[Tensor, "r n T d"],
    y: Float[Tensor, "r n"],
    phi0: Float[Tensor, "r p"],
    comparator: Float[Tensor, "r p"],
    m: int,
    eta: Float[Tensor, " r"] | Float[Tensor, "r τ"],
    steps: int,
    rho: Sequence[float] | None = None,
    rows: Int[Tensor, "r τ b"] | None = None,
    sigma: Activation = TANH,
    at_start: tuple[Float[Tensor, "r n"], Float[Tensor, "r n p"]] | None = None,
) -> Path:
    """Projected gradient descent on r problems side by side, with one step size for all steps or one of each.

    Args:
        rows: batch of each step; all samples if None.
        at_start: ``outputs`` there, if they are at hand.
    """
    d, n, phi, seen = X.shape[-1], X.shape[1], phi0, []
    rates = eta.reshape(len(X), -1).expand(-1, steps)
    for step in range(steps + 1):
        f, J = at_start if at_start is not None and step == 0 else outputs(X, phi, m, sigma)
        residual = f - y
        misfit = residual + torch.einsum("rnp,rp->rn", J, comparator - phi)
        seen.append((residual, misfit, J @ J.mT, (phi - comparator).square().sum(-1)))
        if step == steps:
            break
        pull = residual / n
        if rows is not None:
            drawn = torch.nn.functional.one_hot(rows[:, step], n).to(residual.dtype).mean(1)
            pull = drawn * residual
        phi = phi - 2 * rates[:, step, None] * torch.einsum("rn,rnp->rp", pull, J)
        if rho is not None:
            phi = project(phi, phi0, m, d, rho)
    return Path(*(torch.stack(parts, 1) for parts in zip(*seen, strict=True)))


@contract
def all_batches(n: Count, steps: Count, batch: Count = 1) -> Int[Tensor, "k τ b"]:
    """Every sequence of batches that can be drawn with replacement: k = n^(τb) of them, equally likely."""
    return torch.tensor(list(itertools.product(range(n), repeat=steps * batch))).reshape(-1, steps, batch)


def problems(n: int, T: int, d: int, m: int, **more: Region) -> AdmissibleSet:
    """Where a search may choose: ``X``, a start ``scale`` · ``phi`` whose U are short or long, and whatever ``more`` names."""
    size = m * (d + 1 + d * d)
    return product(X=ball(n, T, d), scale=interval(0.1, 5.0), phi=free(size), **more)


@dataclass(frozen=True)
class Problem:
    """r problems: data with labels, a start, its neighbourhood, and a comparator in it."""

    X: Float[Tensor, "r n T d"]  # tokens in the unit ball
    y: Float[Tensor, "r n"]  # labels
    start: Float[Tensor, "r p"]  # φ⁽⁰⁾
    comparator: Float[Tensor, "r p"]  # φ̃
    m: int  # number of heads
    rho: Sequence[float]  # radii of Ω_ρ
    at_start: tuple[Float[Tensor, "r n"], Float[Tensor, "r n p"]]  # outputs at the start, and their gradients

    def run(self, eta: Float[Tensor, " r"] | Float[Tensor, "r τ"], steps: int) -> Path:
        """Full-batch descent, with one step size for all steps or one of each."""
        problem = self.X, self.y, self.start, self.comparator
        return descend(*problem, self.m, eta, steps, self.rho, at_start=self.at_start)

    def run_on_all_batches(
        self, eta: Float[Tensor, " r"], steps: int, batch: int = 1
    ) -> tuple[Path, Int[Tensor, "rk τ b"]]:
        """Stochastic descent on every sequence of batches, so that expectations are means over paths.

        Returns: the paths of k = n^(τb) sequences, one problem after another, in rows; and their batches.
        """
        rows = all_batches(self.X.shape[1], steps, batch)
        each = self.X, self.y, self.start, self.comparator, eta, *self.at_start
        *known, rates, f, J = [v.repeat_interleave(len(rows), 0) for v in each]
        rows = rows.repeat(len(self.X), 1, 1)
        return descend(*known, self.m, rates, steps, self.rho, rows, at_start=(f, J)), rows


def pose(
    X: Float[Tensor, "r n T d"],
    scale: Float[Tensor, " r"],
    phi: Float[Tensor, "r p"],
    aside: Float[Tensor, "r p"],
    misfit: Float[Tensor, "r n"] | None = None,
    rho: Sequence[float] = (1.0, 1.0, 1.0),
) -> Problem:
    """Labels for which a comparator aside from the start has a given misfit there, all r problems at once; m follows from p.

    Args:
        scale: of the start.
        phi: the start before scaling.
        aside: from the start to the comparator, before that is projected on Ω_ρ.
        misfit: e_j at the start; 0 if None.
    """
    start, d = scale[:, None] * phi, X.shape[-1]
    m = phi.shape[1] // (1 + d + d * d)
    comparator = project(start + aside, start, m, d, rho)
    f, J = outputs(X, start, m)
    y = f + torch.einsum("rnp,rp->rn", J, comparator - start)
    return Problem(X, y if misfit is None else y - misfit, start, comparator, m, rho, (f, J))

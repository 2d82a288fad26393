"""A few steps of projected (stochastic) gradient descent that can themselves be differentiated, for many small problems at once.

A search for the worst data, start, step size and comparator climbs through them. Everything is written out from Lemma 1, with the
parameters of a problem in one row (c, then U, then W), and independently of ``descent``.
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from shallowformer import arguments
from shallowformer.kernel_regime.activations import TANH, Activation
from shallowformer.kernel_regime.neighbourhood import radii
from shallowformer.verify.sets import AdmissibleSet, Region, ball, free, interval, product

#: Keeps square roots differentiable at 0, far below rounding of what is compared.
TINY = 1e-30


def outputs(X: Tensor, phi: Tensor, m: int, sigma: Activation = TANH) -> tuple[Tensor, Tensor]:
    """Outputs and their gradients, last token as the query.

    Args:
        X: tokens in the unit ball, Float[Tensor, "r n T d"].
        phi: parameters of m heads in rows, Float[Tensor, "r p"], p = m(1 + d + d²).
        m: number of heads.
        sigma: the activation.

    Returns:
        f, Float[Tensor, "r n"], and its gradients, Float[Tensor, "r n p"].

    Raises:
        ValueError: rows of another length.
    """
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


def project(phi: Tensor, phi0: Tensor, m: int, d: int, rho: Sequence[float]) -> Tensor:
    """Π: every block of every head back into its ball around the start.

    Args:
        phi: parameters in rows, Float[Tensor, "r p"].
        phi0: centres, Float[Tensor, "r p"].
        m: number of heads.
        d: dimension of a token.
        rho: (ρ_c, ρ_u, ρ_w).

    Returns:
        Float[Tensor, "r p"].
    """
    blocks = []
    for block, radius in zip((phi - phi0).split((m, m * d, m * d * d), -1), radii(rho, m), strict=True):
        heads = block.reshape(len(phi), m, -1)
        length = (heads.square().sum(-1, keepdim=True) + TINY).sqrt()
        blocks.append((heads * (radius / length).clamp(max=1)).flatten(1))
    return phi0 + torch.cat(blocks, -1)


@dataclass(frozen=True)
class Path:
    """The iterates s = 0, …, τ of r problems.

    Args:
        residual: f_j − y_j, Float[Tensor, "r τ+1 n"].
        misfit: e_j of the comparator, Float[Tensor, "r τ+1 n"].
        gram: ⟨∇f_j, ∇f_k⟩, Float[Tensor, "r τ+1 n n"].
        V: ‖φ⁽ˢ⁾ − φ̃‖², Float[Tensor, "r τ+1"].
    """

    residual: Tensor
    misfit: Tensor
    gram: Tensor
    V: Tensor

    @property
    def losses(self) -> Tensor:
        """L̂(φ⁽ˢ⁾), Float[Tensor, "r τ+1"]."""
        return self.residual.square().mean(-1)

    @property
    def epsilon(self) -> Tensor:
        """ε_s, the root mean square of the misfits, Float[Tensor, "r τ+1"]."""
        return (self.misfit.square().mean(-1) + TINY).sqrt()

    @property
    def trace(self) -> Tensor:
        """The mean of ‖∇f_j‖², Float[Tensor, "r τ+1"]."""
        return self.gram.diagonal(dim1=-2, dim2=-1).mean(-1)

    @property
    def largest(self) -> Tensor:
        """max_j ‖∇f_j‖², Float[Tensor, "r τ+1"]."""
        return self.gram.diagonal(dim1=-2, dim2=-1).amax(-1)

    @property
    def top(self) -> Tensor:
        """The largest eigenvalue of the Gram matrix over n, for at most two samples in closed form, Float[Tensor, "r τ+1"]."""
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
    X: Tensor,
    y: Tensor,
    phi0: Tensor,
    comparator: Tensor,
    m: int,
    eta: Tensor,
    steps: int,
    rho: Sequence[float] | None = None,
    rows: Tensor | None = None,
    sigma: Activation = TANH,
) -> Path:
    """Projected gradient descent on r problems side by side.

    Args:
        X: tokens in the unit ball, Float[Tensor, "r n T d"].
        y: labels, Float[Tensor, "r n"].
        phi0: starts, Float[Tensor, "r p"].
        comparator: φ̃, Float[Tensor, "r p"].
        m: number of heads.
        eta: step sizes, Float[Tensor, "r"], or one of each step, Float[Tensor, "r τ"].
        steps: τ, at least 0.
        rho: radii of Ω_ρ; without projection if None.
        rows: batch of each step, Int[Tensor, "r τ b"]; all samples if None.
        sigma: the activation.

    Returns:
        The paths.
    """
    d, n, phi, seen = X.shape[-1], X.shape[1], phi0, []
    rates = eta.reshape(len(X), -1).expand(-1, steps)
    for step in range(steps + 1):
        f, J = outputs(X, phi, m, sigma)
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


def all_batches(n: int, steps: int, batch: int = 1) -> Tensor:
    """Every sequence of batches that can be drawn with replacement: n^(τb) of them, equally likely.

    Args:
        n: number of samples.
        steps: τ.
        batch: samples a step.

    Returns:
        Int[Tensor, "n^(τb) τ b"].

    Raises:
        ValueError: a size below 1.
    """
    for name, value in (("n", n), ("steps", steps), ("batch", batch)):
        arguments.count(name, value)
    return torch.tensor(list(itertools.product(range(n), repeat=steps * batch))).reshape(-1, steps, batch)


def problems(n: int, T: int, d: int, m: int, **more: Region) -> AdmissibleSet:
    """Where a search may choose: data, and a start ``scale`` · ``phi`` whose U are short or long.

    Args:
        n: number of samples.
        T: tokens a sample.
        d: dimension of a token.
        m: number of heads.
        **more: whatever else is to be chosen.

    Returns:
        The set, with the variables ``X``, ``scale``, ``phi`` and those of ``more``.

    Raises:
        ValueError: a size below 1.
    """
    size = m * (d + 1 + d * d)
    return product(X=ball(n, T, d), scale=interval(0.1, 5.0), phi=free(size), **more)


@dataclass(frozen=True)
class Problem:
    """r problems: data with labels, a start, its neighbourhood, and a comparator in it.

    Args:
        X: tokens in the unit ball, Float[Tensor, "r n T d"].
        y: labels, Float[Tensor, "r n"].
        start: φ⁽⁰⁾, Float[Tensor, "r p"].
        comparator: φ̃, Float[Tensor, "r p"].
        m: number of heads.
        rho: radii of Ω_ρ.
    """

    X: Tensor
    y: Tensor
    start: Tensor
    comparator: Tensor
    m: int
    rho: Sequence[float]

    def run(self, eta: Tensor, steps: int) -> Path:
        """Full-batch descent.

        Args:
            eta: step sizes, Float[Tensor, "r"] or Float[Tensor, "r τ"].
            steps: τ.

        Returns:
            The paths.
        """
        return descend(self.X, self.y, self.start, self.comparator, self.m, eta, steps, self.rho)

    def run_on_all_batches(self, eta: Tensor, steps: int, batch: int = 1) -> tuple[Path, Tensor]:
        """Stochastic descent on every sequence of batches, so that expectations are means over paths.

        Args:
            eta: step sizes, Float[Tensor, "r"].
            steps: τ.
            batch: samples a step.

        Returns:
            The paths of k = n^(τb) sequences, one problem after another, with r·k rows; and their batches, Int[Tensor, "r·k τ b"].
        """
        rows = all_batches(self.X.shape[1], steps, batch)
        many = [v.repeat_interleave(len(rows), 0) for v in (self.X, self.y, self.start, self.comparator, eta)]
        rows = rows.repeat(len(self.X), 1, 1)
        *known, rates = many
        return descend(*known, self.m, rates, steps, self.rho, rows), rows


def pose(
    X: Tensor,
    scale: Tensor,
    phi: Tensor,
    aside: Tensor,
    misfit: Tensor | None = None,
    rho: Sequence[float] = (1.0, 1.0, 1.0),
) -> Problem:
    """Labels for which a comparator aside from the start has a given misfit there, all r problems at once.

    Args:
        X: tokens in the unit ball, Float[Tensor, "r n T d"].
        scale: of the start, Float[Tensor, "r"].
        phi: the start before scaling, Float[Tensor, "r p"].
        aside: from the start to the comparator, before that is projected on Ω_ρ, Float[Tensor, "r p"].
        misfit: e_j at the start, Float[Tensor, "r n"]; 0 if None.
        rho: radii of Ω_ρ.

    Returns:
        The problems; the number of heads follows from p.
    """
    start, d = scale[:, None] * phi, X.shape[-1]
    m = phi.shape[1] // (1 + d + d * d)
    comparator = project(start + aside, start, m, d, rho)
    f, J = outputs(X, start, m)
    y = f + torch.einsum("rnp,rp->rn", J, comparator - start)
    return Problem(X, y if misfit is None else y - misfit, start, comparator, m, rho)

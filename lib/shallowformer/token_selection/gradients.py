"""The model and its exponential loss: outputs, and the gradients in closed form, sample by sample in one pass."""

from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor

from shallowformer import arguments
from shallowformer.token_selection.instances import Instance
from shallowformer.training.points import Point


def logits(
    X: Float[Tensor, "n T d"], W: Float[Tensor, "d d"], q: Float[Tensor, "n d"]
) -> Float[Tensor, "n T"]:
    """X_i W q_i."""
    return torch.einsum("ntd,nd->nt", X, q @ W.T)


def outputs(
    X: Float[Tensor, "n T d"], W: Float[Tensor, "d d"], u: Float[Tensor, " d"], q: Float[Tensor, "n d"]
) -> Float[Tensor, " n"]:
    """f_i = ⟨u, X_iᵀ softmax(X_i W q_i)⟩. Source: Vasudeva, Deora, Thrampoulidis 2024, equation (1), in our reading."""
    return (torch.softmax(logits(X, W, q), -1) * (X @ u)).sum(-1)


def exponential(f: Float[Tensor, "*n"], y: Float[Tensor, "*n"]) -> Float[Tensor, "*n"]:
    """ℓ(y f) = e^{−yf}, as ``training.autograd.Autograd`` takes a loss."""
    return torch.exp(-y * f)


def infimum(instance: Instance) -> Float[Tensor, ""]:
    """L* = (1/n) Σ_i e^{−γ_{i,opt}}, what the loss tends to with the decoder fixed."""
    return torch.exp(-instance.scores.amax(1)).mean()


def centred(phi: Float[Tensor, "n T"], gamma: Float[Tensor, "n T"]) -> Float[Tensor, "n T"]:
    """J(φ)γ as φ ⊙ (γ − φᵀγ); the matrix J = diag φ − φφᵀ would lose digits by cancellation."""
    return phi * (gamma - (phi * gamma).sum(-1, keepdim=True))


def loss_and_gradients(
    X: Float[Tensor, "n T d"],
    y: Float[Tensor, " n"],
    W: Float[Tensor, "d d"],
    u: Float[Tensor, " d"],
    q: Float[Tensor, "n d"],
) -> tuple[Float[Tensor, ""], Float[Tensor, "d d"], Float[Tensor, " d"]]:
    """L, ∇_W L and ∇_u L: −∇_W L = (1/n) Σ_i ℓ_i X_iᵀJ(φ_i)γ_i q_iᵀ and −∇_u L = (1/n) Σ_i ℓ_i y_i X_iᵀφ_i.

    Source: Vasudeva, Deora, Thrampoulidis 2024, gradients of section 2, in our reading.
    """
    n, _, d = arguments.floating("X", X, "n T d").shape
    for name, value, shape in (
        ("y", y, (n,)),
        ("W", W, (d, d)),
        ("u", u, (d,)),
        ("q", q, (n, d)),
    ):
        arguments.shape(name, arguments.floating(name, value, "..."), shape, "as X has n and d")
    arguments.same_kind("X", X, y=y, W=W, u=u, q=q)
    phi = torch.softmax(logits(X, W, q), -1)
    gamma = y[:, None] * (X @ u)
    losses = torch.exp(-(phi * gamma).sum(-1))
    attended = lambda weights: torch.einsum("nt,ntd->nd", weights, X)
    of_W = (losses[:, None] * attended(centred(phi, gamma))).T @ q / n
    of_u = (losses * y) @ attended(phi) / n
    return losses.mean(), -of_W, -of_u


@dataclass(frozen=True)
class Attention:
    """The loss with the decoder fixed, for ``training.descent``; points are (W,)."""

    instance: Instance  # the data and the decoder

    @property
    def n(self) -> int:
        """Number of samples."""
        return self.instance.n

    def losses(self, point: Point) -> Float[Tensor, "1"]:
        """The loss on all samples."""
        return self.losses_and_gradient(point)[0]

    def losses_and_gradient(
        self, point: Point, rows: Int[Tensor, " b"] | None = None
    ) -> tuple[Float[Tensor, "1"], Point]:
        """The loss and its gradient, on all samples or some."""
        loss, of_W, _ = _at(self.instance, point[0], self.instance.u, rows)
        return loss[None], (of_W,)


@dataclass(frozen=True)
class Joint:
    """The loss of decoder and attention together, for ``training.descent``; points are (u, W)."""

    instance: Instance  # the data; its decoder is not used

    @property
    def n(self) -> int:
        """Number of samples."""
        return self.instance.n

    def losses(self, point: Point) -> Float[Tensor, "1"]:
        """The loss on all samples."""
        return self.losses_and_gradient(point)[0]

    def losses_and_gradient(
        self, point: Point, rows: Int[Tensor, " b"] | None = None
    ) -> tuple[Float[Tensor, "1"], Point]:
        """The loss and its gradient, on all samples or some."""
        u, W = point
        loss, of_W, of_u = _at(self.instance, W, u, rows)
        return loss[None], (of_u, of_W)


def _at(instance: Instance, W: Tensor, u: Tensor, rows: Tensor | None) -> tuple[Tensor, Tensor, Tensor]:
    X, y, q = instance.X, instance.y, instance.queries
    if rows is not None:
        X, y, q = X[rows], y[rows], q[rows]
    return loss_and_gradients(X, y, W, u, q)

"""Any differentiable function of a point as a model: directional derivatives forwards, gradients backwards, and both for descent.

For models without closed forms; for those with them, the independent route that they are tested against.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int, Shaped
from torch import Tensor
from torch.func import grad_and_value, jvp, vjp, vmap

from shallowformer import arguments
from shallowformer.training.points import Point, blocks

#: Outputs at a point, of any shape.
Outputs = Callable[[Point], Float[Tensor, "..."]]


def along(outputs: Outputs, point: Point, step: Point) -> Float[Tensor, "..."]:
    """⟨∇f_j, δ⟩ of every output, by forward differentiation."""
    return jvp(outputs, (point,), (step,))[1]


def pull_back(outputs: Outputs, point: Point, weights: Float[Tensor, "..."]) -> Point:
    """Σ_j w_j ∇f_j at a point, by backward differentiation; one weight an output."""
    return vjp(outputs, point)[1](weights)[0]


def squared_error(outputs: Float[Tensor, "*n"], y: Float[Tensor, "*n"]) -> Float[Tensor, "*n"]:
    """(f_j − y_j)² of every output."""
    return _residual(outputs, y).square()


def _residual(outputs: Tensor, y: Tensor) -> Tensor:
    """f_j − y_j; [n, 1] and [n] would make a table of n × n differences."""
    return arguments.shape("outputs", outputs, tuple(y.shape), "as y has") - y


@dataclass(frozen=True)
class Tangent:
    """What Theorem A asks of a model at a point (``self_bounding.Tangent``)."""

    outputs: Outputs  # the model, one output a sample
    point: Point  # where the tangent is taken
    residual: Float[Tensor, " n"]  # f_j − y_j

    def along(self, steps: Point) -> Float[Tensor, "k n"]:
        """⟨∇f_j, δ⟩ of every output, for k directions."""
        return vmap(lambda step: along(self.outputs, self.point, step))(steps)

    def gram(self) -> Float[Tensor, "n n"]:
        """⟨∇f_j, ∇f_k⟩, from one backward pass a sample."""
        each = torch.eye(len(self.residual), dtype=self.residual.dtype, device=self.residual.device)
        gradients = vmap(vjp(self.outputs, self.point)[1])(each)[0]
        J = torch.cat([block.flatten(1) for block in blocks(gradients)], 1)
        return J @ J.T


@dataclass(frozen=True)
class Autograd:
    """The mean loss of a model over its outputs, as an objective of ``descent.run``."""

    model: Callable[[Shaped[Tensor, "n ..."], Point], Float[Tensor, "n ..."]]  # (X, point) → outputs
    X: Shaped[Tensor, "n ..."]  # the samples
    y: Shaped[Tensor, "n ..."]  # their labels
    #: (outputs, labels) → what is averaged
    loss: Callable[[Float[Tensor, "n ..."], Shaped[Tensor, "n ..."]], Float[Tensor, "..."]] = squared_error

    def __post_init__(self) -> None:
        """Refuse labels that would be stretched over the samples."""
        if len(self.y) != len(self.X):
            raise ValueError(f"y must have a label a sample, {len(self.X)} of them, got {len(self.y)}")

    @property
    def n(self) -> int:
        """Number of samples."""
        return len(self.X)

    def losses(self, point: Point) -> Float[Tensor, "1"]:
        """The loss on all samples."""
        return self._mean(point, self.X, self.y)[None]

    def losses_and_gradient(
        self, point: Point, rows: Int[Tensor, " b"] | None = None
    ) -> tuple[Float[Tensor, "1"], Point]:
        """The loss and its gradient, on all samples or some."""
        X, y = (self.X, self.y) if rows is None else (self.X[rows], self.y[rows])
        gradient, value = grad_and_value(self._mean)(point, X, y)
        return value[None], gradient

    def tangent(self, point: Point) -> Tangent:
        """The tangent of the outputs."""
        outputs = lambda p: self.model(self.X, p)
        return Tangent(outputs, point, _residual(outputs(point), self.y))

    def _mean(self, point: Point, X: Tensor, y: Tensor) -> Tensor:
        outputs = self.model(X, point)
        values = self.loss(outputs, y)
        if values.numel() > outputs.numel():  # broadcast
            raise ValueError(
                f"loss must give at most one value an output, {tuple(outputs.shape)}, got {tuple(values.shape)}"
            )
        return values.mean()

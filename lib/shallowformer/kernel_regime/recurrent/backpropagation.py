"""Backpropagation through time in closed form: gradients of the output, sample by sample, and of the mean squared loss."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from types import ModuleType

import torch
from jaxtyping import Float, Int
from torch import Tensor

from shallowformer import arguments
from shallowformer.activations import TANH, Activation
from shallowformer.kernel_regime.recurrent.network import Units, validated
from shallowformer.training.points import Point

#: Bytes of one time step of a chunk: a few of them lie in cache.
_IN_CACHE = 2**17


def sensitivities(X: Float[Tensor, "n T d"], phi: Units, sigma: Activation = TANH) -> Float[Tensor, "n m"]:
    """∂h_T/∂w of every sample and unit, forwards in time: p_t = σ′(z_t)(h_{t−1} + w p_{t−1}) from p_0 = 0."""
    driven = validated(X, phi) @ phi.U.T
    states, preactivations = [torch.zeros_like(driven[:, 0])], []
    for drive in driven.unbind(1):
        preactivations.append(drive + phi.w * states[-1])
        states.append(sigma(preactivations[-1]))
    p = states[0]
    for before, slope in zip(states[:-1], sigma.first(torch.stack(preactivations)), strict=True):
        p = slope * (before + phi.w * p)
    return p


def forwards(
    X: Float[Tensor, "n T d"], phi: Units, sigma: Activation = TANH
) -> tuple[Float[Tensor, "n m"], Float[Tensor, "n m d"], Float[Tensor, "n m"]]:
    """∇_φ f(X; φ) of every sample, as ``per_sample_gradient``, but forwards in time: d + 2 numbers a unit are carried, whatever T.

    They are h, p = ∂h/∂w and P = ∂h/∂U: P_t = σ′(z_t)(X_t + w P_{t−1}), because no unit sees another.
    Source: Williams and Zipser 1989 (real-time recurrent learning), for units that are independent.
    """
    validated(X, phi)
    h = p = X.new_zeros(len(X), phi.m)
    P = X.new_zeros(len(X), phi.m, phi.d)
    for t in range(X.shape[1]):
        z = X[:, t] @ phi.U.T + phi.w * h
        slope = sigma.first(z)
        p = slope * (h + phi.w * p)
        P = slope[..., None] * (X[:, t, None, :] + phi.w[:, None] * P)
        h = sigma(z)
    scale = phi.m**-0.5
    return scale * h, scale * phi.c[:, None] * P, scale * phi.c * p


def per_sample_gradient(
    X: Float[Tensor, "n T d"], phi: Units, sigma: Activation = TANH
) -> tuple[Float[Tensor, "n m"], Float[Tensor, "n m d"], Float[Tensor, "n m"]]:
    """∇_φ f(X; φ) of every sample in c, in U and in w, backwards in time.

    With b_T = σ′(z_T) and b_t = w σ′(z_t) b_{t+1}, which is ∂h_T/∂z_t, the gradients of √m f are h_T in c, c Σ_t b_t X_t in U and
    c Σ_t b_t h_{t−1} in w.
    """
    driven = validated(X, phi) @ phi.U.T
    before, slopes = [torch.zeros_like(driven[:, 0])], []
    for t in range(X.shape[1]):
        z = driven[:, t] + phi.w * before[-1]
        slopes.append(sigma.first(z))
        before.append(sigma(z))
    h = before.pop()
    b, of_U, of_w = torch.ones_like(h), h.new_zeros(*h.shape, phi.d), torch.zeros_like(h)
    for t in reversed(range(X.shape[1])):
        b = b * slopes[t]
        of_U += b[..., None] * X[:, t, None, :]
        of_w += b * before[t]
        b = b * phi.w
    scale = phi.m**-0.5
    return scale * h, scale * phi.c[:, None] * of_U, scale * phi.c * of_w


@dataclass(frozen=True)
class Loss:
    """L̂_n(φ) = (1/n) Σ_j (f(X⁽ʲ⁾; φ) − y⁽ʲ⁾)² of units, for ``training.descent``; points are (c, U, w).

    A few samples are worked on at a time, so that what a pass keeps, T states of each unit, stays in cache; memory does not grow with n.
    """

    X: Float[Tensor, "n T d"]  # tokens in the unit ball
    y: Float[Tensor, " n"]  # labels
    sigma: Activation = TANH  # the activation

    def __post_init__(self) -> None:
        """Check the data."""
        arguments.tokens(self.X)
        arguments.shape("y", arguments.floating("y", self.y, "n"), (len(self.X),), "[n] as in X")
        arguments.same_kind("X", self.X, y=self.y)

    @property
    def n(self) -> int:
        """Number of samples."""
        return len(self.X)

    @property
    def identity(self) -> tuple:
        """What tells it from others, for ``training.checkpoints``."""
        return self.X, self.y, self.sigma.name

    def outputs(self, point: Point) -> Float[Tensor, " n"]:
        """f(X⁽ʲ⁾; φ) of every sample."""
        with_pass = self._way(point)
        return torch.cat([with_pass(X, None, point)[0] for X in self._chunks(self.X, point)])

    def losses(self, point: Point) -> Float[Tensor, "1"]:
        """The loss on all samples."""
        return (self.outputs(point) - self.y).square().mean()[None]

    def losses_and_gradient(
        self, point: Point, rows: Int[Tensor, " b"] | None = None
    ) -> tuple[Float[Tensor, "1"], Point]:
        """The loss and its gradient, on all samples or on some, repeated as they are drawn."""
        X, y = (self.X, self.y) if rows is None else (self.X[rows], self.y[rows])
        with_pass, squares, gradient = (
            self._way(point),
            y.new_zeros(()),
            [torch.zeros_like(block) for block in point],
        )
        for some, labels in zip(self._chunks(X, point), self._chunks(y, point), strict=True):
            f, parts = with_pass(some, labels, point)
            squares += (f - labels).square().sum()
            for total, part in zip(gradient, parts, strict=True):
                total += part
        factor = 2 / (len(y) * len(point[0]) ** 0.5)
        return squares[None] / len(y), tuple(factor * block for block in gradient)

    def _way(self, point: Point) -> Callable[..., tuple[Tensor, tuple[Tensor, ...]]]:
        """The faster pass over some samples: a compiled one, if numba is there and the units fill its rows."""
        compiled = _compiled_pass()
        can = (
            self.X.device.type == "cpu"
            and self.X.dtype in (torch.float32, torch.float64)
            and self.sigma is TANH
        )
        if compiled is None or not can or len(point[0]) % compiled.WIDTH:
            return self._passed
        scratch = self.X.new_empty(self._at_once(point) * self.X.shape[1] * len(point[0]))
        return partial(compiled.passed, scratch=scratch)

    def _at_once(self, point: Point) -> int:
        return max(1, _IN_CACHE // (self.X.element_size() * len(point[0])))

    def _chunks(self, samples: Tensor, point: Point) -> tuple[Tensor, ...]:
        return samples.split(self._at_once(point))

    def _passed(self, X: Tensor, y: Tensor | None, point: Point) -> tuple[Tensor, tuple[Tensor, ...]]:
        """Outputs; with labels, also Σ_j r_j √m ∇f_j in c, U and w, where states are overwritten, from the last to the first, by what flows back."""
        c, U, w = point
        tokens = X.transpose(0, 1).contiguous()
        h = tokens @ U.T
        slopes = None if self.sigma is TANH else torch.empty_like(h)
        for t in range(len(h)):
            if t:
                h[t].addcmul_(h[t - 1], w)
            if slopes is None:
                h[t].tanh_()
            else:
                slopes[t] = self.sigma.first(h[t])
                h[t] = self.sigma(h[t])
        f = h[-1] @ c / len(c) ** 0.5
        if y is None:
            return f, ()
        residual = f - y
        of_c, of_w = residual @ h[-1], torch.zeros_like(w)
        back = residual[:, None] * c
        for t in reversed(range(len(h))):
            back = back * (1 - h[t].square() if slopes is None else slopes[t])
            h[t] = back
            if t:
                of_w += (back * h[t - 1]).sum(0)
                back = back * w
        return f, (of_c, h.flatten(0, 1).T @ tokens.flatten(0, 1), of_w)


@cache
def _compiled_pass() -> ModuleType | None:
    """The module with the compiled pass, if numba is there."""
    try:
        from shallowformer.kernel_regime.recurrent import fused_pass
    except ImportError:
        return None
    return fused_pass

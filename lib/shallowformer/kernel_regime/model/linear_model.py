"""The linear model: the tangent of f at a point, directional derivatives of its heads, and how far f is from it.

``slopes`` is where the gradient of a head meets a direction, and ``along`` where that of f does: every ⟨∇f, δ⟩ of this room is made from
them, but for those made in the pass that computes the loss, for speed (``Loss.with_slopes``, ``Loss.pairings``), those inside the search
of ``perturbations``, and the declared second route ``unrolled``. All are tested against ``slopes``.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import torch
from jaxtyping import Float
from torch import Tensor

from shallowformer import arguments
from shallowformer.activations import TANH, Activation
from shallowformer.kernel_regime.model import gradients, transformer
from shallowformer.kernel_regime.model.gradients import Features
from shallowformer.kernel_regime.model.parameters import Parameters, difference, plus
from shallowformer.queries import Query, last_token


def slopes(feature: Features, delta: Parameters) -> Float[Tensor, "n m"]:
    """⟨φ_u, δU_i⟩ + ⟨φ_w, δW_i⟩_F of every sample and head: ⟨∇_θ h_i, δθ_i⟩; the readouts of ``delta`` are not used."""
    n, m, d = feature.u.shape
    arguments.shape("delta.U", delta.U, (m, d), "[m, d] as the features")
    on_query = (feature.q @ delta.W.reshape(m * d, d).T).reshape(n, m, d)
    return (feature.u * delta.U).addcmul_(feature.w_left, on_query).sum(-1)


def along(feature: Features, c: Float[Tensor, " m"], delta: Parameters) -> Float[Tensor, " n"]:
    """⟨∇f(X⁽ʲ⁾; φ), δ⟩ of every sample, from the features at φ and its readouts c; heads are summed over by matrix products."""
    arguments.shape("delta.U", delta.U, feature.u.shape[1:], "[m, d] as the features")
    return _along(feature, c, delta.blocks)


def _along(feature: Features, c: Tensor, delta: Sequence[Tensor]) -> Float[Tensor, "*k n"]:
    """The same without checks, for one direction or several."""
    readouts, U, W = delta
    on_u = (c[:, None] * U).flatten(-2) @ feature.u.flatten(1).T
    # One matrix product, also for several directions: "@" would make one for each.
    on_w = torch.einsum("np,...pd->...nd", feature.w_left.flatten(1), (c[:, None, None] * W).flatten(-3, -2))
    return (readouts @ feature.c.T + on_u + (on_w * feature.q).sum(-1)) / len(c) ** 0.5


def pull_back(feature: Features, weights: Float[Tensor, " n"]) -> Parameters:
    """Σ_j w_j φ(X⁽ʲ⁾) of every head; U and W times c, all times m^{−1/2}, are Σ_j w_j ∇f(X⁽ʲ⁾; φ), the transpose of ``along``."""
    n, m, d = feature.u.shape
    U = (feature.u.reshape(n, -1).T @ weights).reshape(m, d)
    W = (feature.w_left.reshape(n, -1).T @ (weights[:, None] * feature.q)).reshape(m, d, d)
    return Parameters(weights @ feature.c, U, W)


def f_lin(
    X: Float[Tensor, "n T d"],
    phi: Parameters,
    phi0: Parameters,
    query: Query = last_token,
    sigma: Activation = TANH,
) -> Float[Tensor, " n"]:
    """The linear model f(X; φ⁽⁰⁾) + ⟨∇f(X; φ⁽⁰⁾), φ − φ⁽⁰⁾⟩, for any start φ⁽⁰⁾; at a symmetric one the first term is 0.

    Source: Arda, Cayci, Eryilmaz 2026, Definition 3.
    """
    delta = difference(phi, phi0)
    start = gradients.features(X, phi0, query, sigma)
    return (start.c @ (phi0.c + delta.c) + slopes(start, delta) @ phi0.c) / phi0.m**0.5


def head_errors(
    X: Float[Tensor, "n T d"],
    phi: Parameters,
    delta: Parameters,
    query: Query = last_token,
    sigma: Activation = TANH,
) -> Float[Tensor, "n m"]:
    """Every head's share of the linearisation error f(X; φ + δ) − f(X; φ) − ⟨∇f(X; φ), δ⟩, which is their sum.

    With h_i = h(X; θ_i) and h_i⁺ = h(X; θ_i + δθ_i), head i contributes m^{−1/2} [c_i (h_i⁺ − h_i − ⟨∇h_i, δθ_i⟩) + δc_i (h_i⁺ − h_i)].
    Source: Arda, Cayci, Eryilmaz 2026, equation (18), the quantity that Lemma 3 bounds.
    """
    moved, before = plus(phi, delta), gradients.features(X, phi, query, sigma)
    step = transformer.hidden(X, moved, query, sigma) - before.c
    return (phi.c * (step - slopes(before, delta)) + delta.c * step) / phi.m**0.5


@dataclass(frozen=True)
class Tangent:
    """The tangent at φ of the outputs on a data set: what Theorem A asks of a model (``training.self_bounding.Tangent``)."""

    feature: Features  # features at φ
    c: Float[Tensor, " m"]  # the readouts of φ
    y: Float[Tensor, " n"]  # labels

    @property
    def outputs(self) -> Float[Tensor, " n"]:
        """f(X⁽ʲ⁾; φ) of every sample."""
        return self.feature.c @ self.c / len(self.c) ** 0.5

    @cached_property
    def residual(self) -> Float[Tensor, " n"]:
        """r_j = f(X⁽ʲ⁾; φ) − y⁽ʲ⁾."""
        return self.outputs - self.y

    def along(self, steps: Sequence[Float[Tensor, "k m ..."]]) -> Float[Tensor, "k n"]:
        """⟨∇f(X⁽ʲ⁾; φ), δ⟩ for the blocks of k directions."""
        return _along(self.feature, self.c, steps)

    def gram(self) -> Float[Tensor, "n n"]:
        """⟨∇f(X⁽ʲ⁾; φ), ∇f(X⁽ᵏ⁾; φ)⟩ of every two samples."""
        return gradients.gram(self.feature, self.c)

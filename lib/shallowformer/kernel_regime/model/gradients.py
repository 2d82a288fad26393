"""Lemma 1: the gradients in closed form, as features of a sample and as the gradient of the loss."""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from shallowformer import arguments
from shallowformer.activations import TANH, Activation
from shallowformer.kernel_regime.model.loss import Loss
from shallowformer.kernel_regime.model.parameters import Parameters
from shallowformer.kernel_regime.model.torch_pass import IN_CACHE
from shallowformer.kernel_regime.model.transformer import validated
from shallowformer.queries import Query, last_token


@dataclass(frozen=True)
class Features:
    """Features of every sample and head; φ_w = left · qᵀ stays factored (rank one). Source: Arda, Cayci, Eryilmaz 2026, section 5.4."""

    c: Float[Tensor, "n m"]  # φ_c = σ(⟨U, a⟩)
    u: Float[Tensor, "n m d"]  # φ_u = σ′(⟨U, a⟩) a
    w_left: Float[Tensor, "n m d"]  # σ′(⟨U, a⟩) M U
    q: Float[Tensor, "n d"]  # the queries

    @property
    def w(self) -> Float[Tensor, "n m d d"]:
        """φ_w as matrices: for reading, not for large n·m·d²."""
        return self.w_left[..., :, None] * self.q[:, None, None, :]


def _head_quantities(
    X: Tensor, U: Tensor, W: Tensor, q: Tensor
) -> tuple[Float[Tensor, "n m d"], Float[Tensor, "n m"], Float[Tensor, "n m d"]]:
    """The mean a, z = ⟨U, a⟩ and MU of every sample and head, without checks; for as many samples at a time as fit in cache."""
    chunk = max(1, IN_CACHE // (X.element_size() * X.shape[1] * len(U)))
    if len(X) <= 8 * chunk:  # fewer parts gain nothing, and putting them together takes memory
        return _of_some(X, U, W, q)
    parts = (_of_some(x, U, W, p) for x, p in zip(X.split(chunk), q.split(chunk), strict=True))
    return tuple(map(torch.cat, zip(*parts, strict=True)))


def _of_some(X: Tensor, U: Tensor, W: Tensor, q: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    m, d, _ = W.shape
    Wq = (q @ W.reshape(m * d, d).T).reshape(-1, m, d)
    # Not along the last axis, which is as short as a sequence: that takes three times as long.
    alpha = torch.softmax(X @ Wq.mT, 1).mT
    a = alpha @ X
    z = (a * U).sum(-1)
    # Σ_t α_t (⟨U, X_t⟩ − z) = 0, so the tokens need no centring.
    MU = (alpha * ((X @ U.T).mT - z[..., None])) @ X
    return a, z, MU


def features(
    X: Float[Tensor, "n T d"], phi: Parameters, query: Query = last_token, sigma: Activation = TANH
) -> Features:
    """The features φ_c, φ_u, φ_w of every sample and head: what multiplies m^{−1/2} (and c_i) in Lemma 1; ``phi.c`` is not used.

    Source: Arda, Cayci, Eryilmaz 2026, section 5.4, from Lemma 1.
    """
    q = validated(X, phi, query)
    a, z, MU = _head_quantities(X, phi.U, phi.W, q)
    slope = sigma.first(z)[..., None]
    return Features(c=sigma(z), u=slope * a, w_left=slope * MU, q=q)


def per_sample_gradient(
    X: Float[Tensor, "n T d"], phi: Parameters, query: Query = last_token, sigma: Activation = TANH
) -> tuple[Float[Tensor, "n m"], Float[Tensor, "n m d"], Float[Tensor, "n m d d"]]:
    """∇_φ f(X; φ) of every sample: equations (5), (6), (7). Returns: gradients in c, in U and in W.

    Source: Arda, Cayci, Eryilmaz 2026, Lemma 1.
    """
    feature = features(X, phi, query, sigma)
    scale = phi.m**-0.5
    weight = scale * phi.c
    return scale * feature.c, weight[:, None] * feature.u, weight[:, None, None] * feature.w


def gram(feature: Features, c: Float[Tensor, " m"]) -> Float[Tensor, "n n"]:
    """⟨∇f(X⁽ʲ⁾; φ), ∇f(X⁽ᵏ⁾; φ)⟩ from the features at φ and its readouts c; ``tangent_kernel.finite`` needs no features and less memory."""
    left = (c[:, None] * feature.w_left).flatten(1)
    right = (c[:, None] * feature.u).flatten(1)
    total = feature.c @ feature.c.T + right @ right.T + (left @ left.T) * (feature.q @ feature.q.T)
    return total / len(c)


def loss_and_gradient(
    X: Float[Tensor, "n T d"],
    y: Float[Tensor, " n"],
    phi: Parameters,
    query: Query = last_token,
    sigma: Activation = TANH,
    chunk: int | None = None,
) -> tuple[Float[Tensor, ""], Parameters]:
    """Mean squared loss L̂_n(φ) = (1/n) Σ_j (f(X⁽ʲ⁾; φ) − y⁽ʲ⁾)² and its gradient, for one evaluation; ``loss.Loss`` is for many.

    Source: Arda, Cayci, Eryilmaz 2026, section 3.3 with Lemma 1.

    Args:
        chunk: samples worked on at a time, at least 1; as many as fit in cache if not given.
    """
    validated(X, phi, query)
    arguments.floating("y", y, "n")
    return Loss(X, y, query, sigma, chunk)(phi)

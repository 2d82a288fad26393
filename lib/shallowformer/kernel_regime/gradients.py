"""Lemma 1: the gradients in closed form, as features of a sample and as the gradient of the loss."""

from dataclasses import dataclass

import torch
from torch import Tensor

from shallowformer import arguments
from shallowformer.kernel_regime.activations import TANH, Activation
from shallowformer.kernel_regime.loss import Loss
from shallowformer.kernel_regime.model import validated
from shallowformer.kernel_regime.parameters import Parameters
from shallowformer.kernel_regime.queries import Query, last_token


@dataclass(frozen=True)
class Features:
    """Features of every sample and head; the attention feature φ_w = left · qᵀ stays factored (it has rank one).

    Args:
        c: φ_c = σ(⟨U, a⟩), Float[Tensor, "n m"].
        u: φ_u = σ′(⟨U, a⟩) a, Float[Tensor, "n m d"].
        w_left: σ′(⟨U, a⟩) M U, Float[Tensor, "n m d"].
        q: the queries, Float[Tensor, "n d"].

    Source:
        Arda, Cayci, Eryilmaz 2026, section 5.4.
    """

    c: Tensor
    u: Tensor
    w_left: Tensor
    q: Tensor

    @property
    def w(self) -> Tensor:
        """φ_w as matrices, Float[Tensor, "n m d d"]: for reading, not for large n·m·d²."""
        return self.w_left[..., :, None] * self.q[:, None, None, :]


def _head_quantities(X: Tensor, U: Tensor, W: Tensor, q: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """A [n m d], z = ⟨U, a⟩ [n m] and MU [n m d], without checks."""
    m, d, _ = W.shape
    Wq = (q @ W.reshape(m * d, d).T).reshape(-1, m, d)
    alpha = torch.softmax(Wq @ X.mT, -1)
    a = alpha @ X
    z = (a * U).sum(-1)
    # Σ_t α_t (⟨U, X_t⟩ − z) = 0, so the tokens need no centring.
    MU = (alpha * (U @ X.mT - z[..., None])) @ X
    return a, z, MU


def features(X: Tensor, phi: Parameters, query: Query = last_token, sigma: Activation = TANH) -> Features:
    """The features φ_c, φ_u, φ_w of every sample and head: what multiplies m^{−1/2} (and c_i) in Lemma 1.

    Args:
        X: tokens in the unit ball, Float[Tensor, "n T d"].
        phi: parameters of m heads; ``phi.c`` is not used.
        query: how q_X is made.
        sigma: the activation.

    Returns:
        The features.

    Raises:
        ValueError: as ``model.validated``.

    Source:
        Arda, Cayci, Eryilmaz 2026, section 5.4, from Lemma 1.
    """
    q = validated(X, phi, query)
    a, z, MU = _head_quantities(X, phi.U, phi.W, q)
    slope = sigma.first(z)[..., None]
    return Features(c=sigma(z), u=slope * a, w_left=slope * MU, q=q)


def per_sample_gradient(
    X: Tensor, phi: Parameters, query: Query = last_token, sigma: Activation = TANH
) -> tuple[Tensor, Tensor, Tensor]:
    """∇_φ f(X; φ) of every sample: equations (5), (6), (7).

    Args:
        X: tokens in the unit ball, Float[Tensor, "n T d"].
        phi: parameters of m heads.
        query: how q_X is made.
        sigma: the activation.

    Returns:
        Gradients in c, Float[Tensor, "n m"]; in U, Float[Tensor, "n m d"]; in W, Float[Tensor, "n m d d"].

    Raises:
        ValueError: as ``model.validated``.

    Source:
        Arda, Cayci, Eryilmaz 2026, Lemma 1.
    """
    feature = features(X, phi, query, sigma)
    scale = phi.m**-0.5
    weight = scale * phi.c
    return scale * feature.c, weight[:, None] * feature.u, weight[:, None, None] * feature.w


def loss_and_gradient(
    X: Tensor,
    y: Tensor,
    phi: Parameters,
    query: Query = last_token,
    sigma: Activation = TANH,
    chunk: int | None = None,
) -> tuple[Tensor, Parameters]:
    """Mean squared loss L̂_n(φ) = (1/n) Σ_j (f(X⁽ʲ⁾; φ) − y⁽ʲ⁾)² and its gradient, by Lemma 1.

    For one evaluation; ``loss.Loss`` prepares the data once for many.

    Args:
        X: tokens in the unit ball, Float[Tensor, "n T d"].
        y: labels, Float[Tensor, "n"].
        phi: parameters of m heads.
        query: how q_X is made.
        sigma: the activation.
        chunk: samples worked on at a time, at least 1; as many as fit in cache if not given.

    Returns:
        The loss, a scalar tensor, and the gradient, with the blocks of ``phi``.

    Raises:
        ValueError: as ``model.validated``; ``y`` of another length, dtype or device; ``chunk`` below 1.

    Source:
        Arda, Cayci, Eryilmaz 2026, section 3.3 with Lemma 1.
    """
    validated(X, phi, query)
    arguments.floating("y", y, "n")
    return Loss(X, y, query, sigma, chunk)(phi)

"""The shallow Transformer f(X; φ) = m^{−1/2} Σ_i c_i σ(⟨U_i, a(X; W_i)⟩)."""

from torch import Tensor

from shallowformer import arguments, softmax
from shallowformer.kernel_regime.activations import TANH, Activation
from shallowformer.kernel_regime.parameters import Parameters
from shallowformer.kernel_regime.queries import Query, last_token, resolve


def validated(X: Tensor, phi: Parameters, query: Query) -> Tensor:
    """Refuse tokens, parameters and a query that do not fit together, before any work.

    Args:
        X: tokens in the unit ball, Float[Tensor, "n T d"].
        phi: parameters of m heads on tokens of dimension d.
        query: a fixed vector, a function of the input, or a seeded one (see ``queries``).

    Returns:
        The queries q, Float[Tensor, "n d"].

    Raises:
        ValueError: tokens outside the unit ball, a wrong shape, dtype or device, NaN, infinite or empty input.
    """
    arguments.tokens(X)
    if X.shape[-1] != phi.d:
        raise ValueError(
            f"X must have tokens of dimension d = {phi.d} as the parameters, got shape {tuple(X.shape)}"
        )
    arguments.same_kind("X", X, phi=phi.W)
    return resolve(query, X)


def hidden(X: Tensor, phi: Parameters, query: Query = last_token, sigma: Activation = TANH) -> Tensor:
    """h(X; θ_i) = σ(⟨U_i, a(X; W_i)⟩) of every sample and head.

    Args:
        X: tokens in the unit ball, Float[Tensor, "n T d"].
        phi: parameters of m heads.
        query: how q_X is made.
        sigma: the activation.

    Returns:
        Float[Tensor, "n m"].

    Raises:
        ValueError: as ``validated``.

    Source:
        Arda, Cayci, Eryilmaz 2026, equation (3).
    """
    a = softmax.pooled_attention(X, phi.W, validated(X, phi, query))
    return sigma((a * phi.U).sum(-1))


def f(X: Tensor, phi: Parameters, query: Query = last_token, sigma: Activation = TANH) -> Tensor:
    """The output m^{−1/2} Σ_i c_i h(X; θ_i) of the model.

    Args:
        X: tokens in the unit ball, Float[Tensor, "n T d"].
        phi: parameters of m heads.
        query: how q_X is made.
        sigma: the activation.

    Returns:
        Float[Tensor, "n"].

    Raises:
        ValueError: as ``validated``.

    Source:
        Arda, Cayci, Eryilmaz 2026, equation (4).
    """
    return hidden(X, phi, query, sigma) @ phi.c / phi.m**0.5

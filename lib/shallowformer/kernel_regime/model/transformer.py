"""The shallow Transformer f(X; φ) = m^{−1/2} Σ_i c_i σ(⟨U_i, a(X; W_i)⟩)."""

from jaxtyping import Float
from torch import Tensor

from shallowformer import arguments, softmax
from shallowformer.activations import TANH, Function
from shallowformer.kernel_regime.model.parameters import Parameters
from shallowformer.queries import Query, last_token, resolve


def validated(X: Float[Tensor, "n T d"], phi: Parameters, query: Query) -> Float[Tensor, "n d"]:
    """Refuse tokens, parameters and a query that do not fit together, before any work. Returns: the queries q_X."""
    arguments.tokens(X)
    if X.shape[-1] != phi.d:
        raise ValueError(
            f"X must have tokens of dimension d = {phi.d} as the parameters, got shape {tuple(X.shape)}"
        )
    arguments.same_kind("X", X, phi=phi.W)
    return resolve(query, X)


def hidden(
    X: Float[Tensor, "n T d"], phi: Parameters, query: Query = last_token, sigma: Function = TANH
) -> Float[Tensor, "n m"]:
    """h(X; θ_i) = σ(⟨U_i, a(X; W_i)⟩) of every sample and head. Source: Arda, Cayci, Eryilmaz 2026, equation (3)."""
    a = softmax.pooled_attention(X, phi.W, validated(X, phi, query))
    return sigma((a * phi.U).sum(-1))


def f(
    X: Float[Tensor, "n T d"], phi: Parameters, query: Query = last_token, sigma: Function = TANH
) -> Float[Tensor, " n"]:
    """The output m^{−1/2} Σ_i c_i h(X; θ_i) of the model. Source: Arda, Cayci, Eryilmaz 2026, equation (4)."""
    return hidden(X, phi, query, sigma) @ phi.c / phi.m**0.5

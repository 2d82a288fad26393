"""The model (M1)–(M2): attention and a feed-forward network, each with a residual connection, and an unembedding; its loss.

A token is a row. Everything is batched over the sequences p of a data set, and over leading dimensions *s: networks side by side.
"""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from shallowformer import arguments
from shallowformer.residual.parameters import Parameters, Setting


@dataclass(frozen=True)
class Forward:
    """All that a network computes."""

    S: Float[Tensor, "*s P N N"]  # attention weights, rows sum to 1
    Z: Float[Tensor, "*s P N d"]  # attention output g X + S X W_V
    pre: Float[Tensor, "*s P N d_1"]  # Z W_1
    A: Float[Tensor, "*s P N d_1"]  # hidden layer φ(Z W_1)
    H: Float[Tensor, "*s P N d"]  # g_f Z + A W_2
    F: Float[Tensor, "*s P N K"]  # outputs H W_U


def forward(X: Float[Tensor, "*s P N d"], theta: Parameters, setting: Setting) -> Forward:
    """(M1)–(M2): S = softmax(X W_Q W_Kᵀ Xᵀ/√d_k), Z = g X + S X W_V, A = φ(Z W_1), H = g_f Z + A W_2, F = H W_U.

    Source: Qin, Zhou, Jiang, Zhu 2025, section 2, in our reading.
    """
    check(X, theta, setting)
    return unchecked(X, theta, setting)


def unchecked(X: Float[Tensor, "*s P N d"], theta: Parameters, setting: Setting) -> Forward:
    """``forward`` for loops whose arguments have been checked before."""
    W = over_sequences(theta)
    S = torch.softmax((X @ W.W_Q) @ (X @ W.W_K).mT / setting.divisor(theta), -1)
    Z = over_tokens(setting.g) * X + S @ (X @ W.W_V)
    pre = Z @ W.W_1
    A = setting.activation(pre)
    H = over_tokens(setting.g_f) * Z + A @ W.W_2
    return Forward(S, Z, pre, A, H, H @ W.W_U)


def outputs(X: Float[Tensor, "*s P N d"], theta: Parameters, setting: Setting) -> Float[Tensor, "*s P N K"]:
    """F(X_p; θ). Source: Qin, Zhou, Jiang, Zhu 2025, section 2, in our reading."""
    return forward(X, theta, setting).F


def loss(
    X: Float[Tensor, "*s P N d"], Y: Float[Tensor, "*s P N K"], theta: Parameters, setting: Setting
) -> Float[Tensor, "*s"]:
    """Φ(θ) = ½ Σ_p ‖F(X_p; θ) − Y_p‖²_F, a sum and not a mean. Source: Qin, Zhou, Jiang, Zhu 2025, equation (4), in our reading."""
    check(X, theta, setting, Y)
    return half_square(unchecked(X, theta, setting).F - Y)


def half_square(E: Float[Tensor, "*s P N K"]) -> Float[Tensor, "*s"]:
    """½ Σ E² of every network."""
    return E.square().sum((-3, -2, -1)) / 2


def over_sequences(theta: Parameters) -> Parameters:
    """Every block with a dimension of length 1 for the sequences of a data set."""
    return Parameters(*(W.unsqueeze(-3) for W in theta))


def over_tokens(coefficient: float | Float[Tensor, "*s"]) -> float | Float[Tensor, "*s 1 1 1"]:
    """A coefficient, one, or one a network, as it multiplies tokens."""
    return coefficient[..., None, None, None] if isinstance(coefficient, Tensor) else coefficient


def check(
    X: Float[Tensor, "*s P N d"],
    theta: Parameters,
    setting: Setting,
    Y: Float[Tensor, "*s P N K"] | None = None,
) -> None:
    """Refuse tokens, parameters and targets, if there are any, that do not fit together."""
    *s, P, N, d = arguments.floating("X", X, "... P N d").shape
    if not isinstance(theta, Parameters):
        raise ValueError(
            f"theta must be Parameters (make them of a tuple by Parameters(*theta)), got {type(theta).__name__}"
        )
    for name, W in theta._asdict().items():
        arguments.floating(name, W, "... rows columns")
    d_k, d_1, K = (W.shape[-1] for W in (theta.W_Q, theta.W_1, theta.W_U))
    shapes = ((d, d_k), (d, d_k), (d, d), (d, d_1), (d_1, d), (d, K))
    for (name, W), shape in zip(theta._asdict().items(), shapes, strict=True):
        arguments.shape(
            name, W, (*s, *shape), "d as X, d_k as W_Q, d_1 as W_1, networks side by side as in X"
        )
    arguments.same_kind("X", X, **theta._asdict())
    for name, coefficient in (("g", setting.g), ("g_f", setting.g_f)):
        if isinstance(coefficient, Tensor):
            arguments.shape(name, coefficient, tuple(s), "one a network, networks side by side as in X")
            arguments.same_kind("X", X, **{name: coefficient})
    if Y is not None:
        arguments.shape(
            "Y",
            arguments.floating("Y", Y, "... P N K"),
            (*s, P, N, K),
            "[P, N, K], as X and the columns of W_U",
        )
        arguments.same_kind("X", X, Y=Y)

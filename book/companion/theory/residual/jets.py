"""Every layer along a line of parameters: its value, first and second derivative at one point, by the product rule and the chain rule.

Much faster than automatic differentiation twice forwards, and itself differentiable.
"""

import torch
from jaxtyping import Float
from torch import Tensor

from shallowformer.residual import model
from shallowformer.residual.parameters import Parameters, Setting


def along(
    X: Float[Tensor, "*s P N d"], theta: Parameters, step: Parameters, setting: Setting
) -> model.Forward:
    """The model at θ + tδ, δ the step, for t = 0, and its first two derivatives by t: all three side by side, in a new first dimension."""
    W, D = model.over_sequences(theta), model.over_sequences(step)
    x = torch.stack([X, torch.zeros_like(X), torch.zeros_like(X)])
    query, key, value = (_times(x, W[k], D[k]) for k in range(3))
    S = _softmax(_times(query, key[0].mT, key[1].mT) / setting.divisor(theta))
    Z = setting.g * x + _times(S, value[0], value[1])
    pre = _times(Z, W.W_1, D.W_1)
    A = _activation(pre, setting)
    H = setting.g_f * Z + _times(A, W.W_2, D.W_2)
    return model.Forward(S, Z, pre, A, H, _times(H, W.W_U, D.W_U))


def _times(
    a: Float[Tensor, "3 *s m k"], b: Float[Tensor, "... k n"], slope: Float[Tensor, "... k n"]
) -> Float[Tensor, "3 *s m n"]:
    still, moved = a @ b, a[:2] @ slope
    return torch.stack([still[0], still[1] + moved[0], still[2] + 2 * moved[1]])


def _softmax(logits: Float[Tensor, "3 *s N N"]) -> Float[Tensor, "3 *s N N"]:
    S = torch.softmax(logits[0], -1)
    centred = lambda M: M - (S * M).sum(-1, keepdim=True)
    first = centred(logits[1])
    return torch.stack([S, S * first, S * centred(logits[2] + first.square())])


def _activation(pre: Float[Tensor, "3 *s N d_1"], setting: Setting) -> Float[Tensor, "3 *s N d_1"]:
    phi = setting.activation
    slope = phi.first(pre[0])
    return torch.stack([phi(pre[0]), slope * pre[1], slope * pre[2] + phi.second(pre[0]) * pre[1].square()])

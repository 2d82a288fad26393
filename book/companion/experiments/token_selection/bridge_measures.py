"""What the bridge measures of a student: how far it has come, where its heads look, and where along the way a level is crossed."""

import math
from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor

from shallowformer import softmax
from shallowformer.kernel_regime.model import linear_model, parameters, transformer
from shallowformer.kernel_regime.model.parameters import Parameters
from shallowformer.queries import last_token
from shallowformer.token_selection import svm
from shallowformer.token_selection.instances import Instance

#: Who has left the kernel regime: root mean square of f − f_lin over that of f, as in ``projection``.
LEFT = 0.1
#: Who selects: attention on own tokens has gained so much of what was missing.
SELECTS = 1 / 4
#: Heads of a student whose own support vector machine is solved.
SOME = 2


def seen(
    instance: Instance, phi: Parameters, phi0: Parameters, best: Float[Tensor, "d d"]
) -> dict[str, float]:
    """What is measured of a student φ, ``best`` being W_mm of the planted tokens.

    Returns: ``moved``, ‖φ − φ⁽⁰⁾‖/‖φ⁽⁰⁾‖; ``path``, ‖φ − φ⁽⁰⁾‖/√m; ``attention``, the same of the W_i alone; ``decoder``, root mean square
    of ‖U_i‖; ``apart``, root mean square of f − f_lin over that of f; over heads and samples, means of ``entropy`` of attention over ln T,
    attention ``own`` on the head's own token, the one with the largest y c_i⟨U_i, x⟩, and ``planted`` on the longest; means over heads of
    the cosines ``aligned`` of W_i with W_mm of the planted tokens, and ``aligned_own``, of some heads, with W_mm of their own.
    """
    X, delta = instance.X, parameters.difference(phi, phi0)
    f, tangent = transformer.f(X, phi), linear_model.f_lin(X, phi, phi0)
    alpha = softmax.weights(X, phi.W, last_token(X))
    scores = instance.y[:, None, None] * phi.c[:, None] * (X @ phi.U.T).mT
    length = lambda block: float(block.norm()) / phi.m**0.5
    size = lambda values: float(values.norm())
    return {
        "moved": float(parameters.norm(delta) / parameters.norm(phi0)),
        "path": float(parameters.norm(delta)) / phi.m**0.5,
        "attention": length(delta.W),
        "decoder": length(phi.U),
        "apart": size(f - tangent) / size(f) if size(f) else 0.0,
        "entropy": float(-torch.xlogy(alpha, alpha).sum(2).mean()) / math.log(instance.T),
        "own": float(alpha.gather(2, scores.argmax(2, keepdim=True)).mean()),
        "planted": float(alpha[torch.arange(len(X)), :, instance.optimal].mean()),
        "aligned": sum(_cosine(W, best) for W in phi.W) / phi.m,
        "aligned_own": own_alignment(instance, phi),
    }


def own_alignment(instance: Instance, phi: Parameters) -> float:
    """Mean cosine of W_i with W_mm of head i, whose decoder is c_i U_i, not the instance's, for ``SOME`` heads."""
    some = torch.linspace(0, phi.m - 1, min(SOME, phi.m)).long()
    heads = [Instance(instance.X, instance.y, phi.c[i] * phi.U[i], instance.query) for i in some]
    return sum(_cosine(phi.W[i], svm.w_svm(head).W) for i, head in zip(some, heads, strict=True)) / len(heads)


def crossing(values: Sequence[float], along: Sequence[float], level: float) -> float:
    """Where a quantity, look by look, first reaches a level, by a straight line on log scales; infinite if it does not.

    Args:
        along: where each look is, above 0 from the second on.
    """
    k = next((k for k, value in enumerate(values) if value >= level), None)
    if k is None:
        return math.inf
    if k == 0 or values[k - 1] <= 0 or along[k - 1] <= 0:
        return along[k]
    share = math.log(level / values[k - 1]) / math.log(values[k] / values[k - 1])
    return along[k - 1] * (along[k] / along[k - 1]) ** share


def gains(own: Sequence[float]) -> list[float]:
    """How much of what was missing at the start attention on own tokens has gained, look by look."""
    return [(value - own[0]) / (1 - own[0]) for value in own]


def _cosine(W: Tensor, other: Tensor) -> float:
    return float((W * other).sum() / (W.norm() * other.norm()))

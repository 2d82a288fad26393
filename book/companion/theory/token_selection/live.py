"""What the panel *A head that selects* starts from: the same draws as ``book/_static/live_more.js`` makes."""

import math

import torch
from jaxtyping import Float
from torch import Tensor

from companion.theory.kernel_regime.live import D, gaussians
from shallowformer.contracts import Count, NonNegative, Whole, contract
from shallowformer.token_selection.instances import Instance


@contract
def start(n: Count, T: Count, size: NonNegative, seed: Whole) -> tuple[Instance, Float[Tensor, "d d"]]:
    """Sequences whose optimal token scores 1 and all others 0, the first token asks; and a Gaussian W⁽⁰⁾ of about this length."""
    drawn = gaussians(seed, 10, n * (T * D + 2)).view(n, -1)
    best = (T * (0.5 + drawn[:, 0].atan() / math.pi)).floor().long().clamp(max=T - 1)
    y = torch.where(drawn[:, 1] < 0, -1.0, 1.0).to(drawn.dtype)
    X = drawn[:, 2:].reshape(n, T, D) / math.sqrt(D)
    X[..., 0] = torch.nn.functional.one_hot(best, T) * y[:, None]
    return Instance(X, y, torch.eye(D, dtype=X.dtype)[0]), size * gaussians(seed, 11, D * D).view(D, D) / D


@contract
def instants(count: Count) -> list[int]:
    """The steps at which the panel looks: each 15 % later than the last, and at least by one."""
    found = [0]
    for _ in range(count):
        found.append(max(found[-1] + 1, math.ceil(1.15 * found[-1])))
    return found

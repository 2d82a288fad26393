"""The six matrices of a network, and what it has besides: residual coefficients, activation, temperature."""

import math
from dataclasses import dataclass, field
from typing import NamedTuple

from jaxtyping import Float
from torch import Tensor

from shallowformer import arguments
from shallowformer.contracts import Positive, contracted
from shallowformer.residual.smoothed import RELU, SmoothedReLU


class Parameters(NamedTuple):
    """θ, a point of ``shallowformer.training``: key and query d×d_k, value d×d, network d×d_1 and d_1×d, unembedding d×K."""

    W_Q: Float[Tensor, "*s d d_k"]  # query
    W_K: Float[Tensor, "*s d d_k"]  # key
    W_V: Float[Tensor, "*s d d"]  # value
    W_1: Float[Tensor, "*s d d_1"]  # into the hidden layer
    W_2: Float[Tensor, "*s d_1 d"]  # out of it
    W_U: Float[Tensor, "*s d K"]  # unembedding


class PerBlock(NamedTuple):
    """One number a block."""

    W_Q: float  # of the query matrix
    W_K: float  # of the key matrix
    W_V: float  # of the value matrix
    W_1: float  # of the first layer
    W_2: float  # of the second
    W_U: float  # of the unembedding


#: Names of the blocks, in order.
BLOCKS = Parameters._fields


@contracted
@dataclass(frozen=True)
class Setting:
    """What a network has besides its parameters; coefficients are ours. Source: Qin, Zhou, Jiang, Zhu 2025, section 2, in our reading."""

    #: residual coefficient of attention, at least 0; 1 in the paper, 0 without the connection. Networks side by side may have one each.
    g: float | Float[Tensor, "*s"] = 1.0
    g_f: float | Float[Tensor, "*s"] = 1.0  # residual coefficient of the feed-forward network, likewise
    activation: SmoothedReLU = field(default=RELU)  # φ
    temperature: Positive | None = None  # what attention logits are divided by; √d_k if not given

    def __post_init__(self) -> None:
        """Check the numbers."""
        arguments.nonnegative("g", self.g)
        arguments.nonnegative("g_f", self.g_f)

    def divisor(self, theta: Parameters) -> float:
        """The temperature; ``theta`` decides about d_k."""
        return math.sqrt(theta.W_Q.shape[-1]) if self.temperature is None else self.temperature

"""What attention and a recurrence cost against the length of sequences: a step, what autograd keeps, and one answer more."""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from companion.experiments.kernel_regime.step_cost import LENGTHS, kept_by_autograd, seconds
from companion.theory.kernel_regime import streaming
from shallowformer import data
from shallowformer.experiments.experiment import Experiment
from shallowformer.kernel_regime.model import parameters
from shallowformer.kernel_regime.model.loss import Loss
from shallowformer.kernel_regime.model.parameters import Parameters
from shallowformer.kernel_regime.model.students import Students
from shallowformer.kernel_regime.recurrent import backpropagation, network
from shallowformer.kernel_regime.recurrent.network import Units


@dataclass(frozen=True)
class Config:
    """What is timed."""

    T: int  # length of sequences
    n: int = 100  # sequences
    m: int = 64  # width
    d: int = 17  # dimension of tokens
    #: evaluations of which the fastest counts; four times as many of an answer, a fifth of a gradient forwards in time
    repeats: int = 25
    dtype: str = "float32"  # "float32" or "float64"


def plan(scale: str) -> list[Config]:
    """The configurations of a scale, short sequences first."""
    if scale == "smoke":
        return [Config(T, n=10, m=8, repeats=1) for T in (2, 8)]
    return [Config(T) for T in LENGTHS if scale == "paper" or T <= 128]


def from_the_tokens(X: Float[Tensor, "n T d"], phi: Parameters) -> Float[Tensor, " n"]:
    """Attention's answer, with the last of the kept tokens for a query."""
    lam = torch.einsum("mij,nj->nmi", phi.W, X[:, -1])
    a = torch.softmax(lam @ X.mT, -1) @ X
    return torch.tanh((a * phi.U).sum(-1)) @ phi.c / phi.m**0.5


def from_the_stream(
    stream: streaming.Stream, token: Float[Tensor, "n d"], lam: Float[Tensor, "m d"], phi: Parameters
) -> tuple[streaming.Stream, Float[Tensor, " n"]]:
    """Attention's next stream and answer, with a query known beforehand."""
    stream = streaming.read(stream, token, lam, streaming.for_answers(token, phi.U))
    return stream, streaming.f(stream, phi)


def from_the_state(
    h: Float[Tensor, "n m"], token: Float[Tensor, "n d"], phi: Units
) -> tuple[Float[Tensor, "n m"], Float[Tensor, " n"]]:
    """The recurrence's next state and answer."""
    h = torch.tanh(token @ phi.U.T + phi.w * h)
    return h, h @ phi.c / phi.m**0.5


def through_the_stream(
    X: Float[Tensor, "n T d"], lam: Float[Tensor, "m d"], phi: Parameters
) -> tuple[Float[Tensor, "n m"], Float[Tensor, "n m d"], Float[Tensor, "n m d"]]:
    """Attention's gradient forwards in time, sample by sample, with a query known beforehand: in c, U and λ."""
    stream = streaming.begin(len(X), lam, 2 * phi.d)
    for t in range(X.shape[1]):
        stream = streaming.read(stream, X[:, t], lam, streaming.for_gradients(X[:, t], phi.U))
    return streaming.per_sample_gradient(stream, phi)


def compute(config: Config, device: torch.device) -> dict:
    """Compute one row.

    Returns: ``attention_step``, ``recurrence_step``: seconds of a loss and its gradient in closed form; ``attention_forwards``,
    ``recurrence_forwards``: seconds of all samples' gradients forwards in time, attention's with a query known beforehand;
    ``tokens_answer``, ``stream_answer``, ``state_answer``: seconds of an answer after one more token, of attention whose query is the new
    token, of attention with a query known beforehand, and of the recurrence; ``attention_bytes``, ``recurrence_bytes``: kept by autograd.
    """
    source = torch.Generator().manual_seed(0)
    dtype = getattr(torch, config.dtype)
    X = data.clipped_gaussian(config.n, config.T, config.d, source).to(dtype).to(device)
    heads = parameters.symmetric(config.m, config.d, source).map(lambda block: block.to(dtype).to(device))
    units = network.symmetric(config.m, config.d, 0.9, source, dtype).map(lambda block: block.to(device))
    y, students = X.new_zeros(config.n), Students.of(heads)
    attention, recurrence = Loss(X, y), backpropagation.Loss(X, y)
    lam = heads.W @ X[0, 0]
    stream, _ = from_the_stream(streaming.begin(config.n, lam, 1), X[:, 0], lam, heads)
    state, _ = from_the_state(X.new_zeros(config.n, config.m), X[:, 0], units)
    more, fewer = 4 * config.repeats, max(1, config.repeats // 5)
    timed = {
        "attention_step": (lambda: attention.losses_and_gradient(students), config.repeats),
        "recurrence_step": (lambda: recurrence.losses_and_gradient(units.blocks), config.repeats),
        "attention_forwards": (lambda: through_the_stream(X, lam, heads), fewer),
        "recurrence_forwards": (lambda: backpropagation.forwards(X, units), fewer),
        "tokens_answer": (lambda: from_the_tokens(X, heads), more),
        "stream_answer": (lambda: from_the_stream(stream, X[:, -1], lam, heads), more),
        "state_answer": (lambda: from_the_state(state, X[:, -1], units), more),
    }
    return {
        **{name: seconds(step, repeats) for name, (step, repeats) in timed.items()},
        "attention_bytes": kept_by_autograd(X, heads),
        "recurrence_bytes": kept_by_autograd(X, units, network.f),
    }


SECONDS = (
    "attention_step", "recurrence_step", "attention_forwards", "recurrence_forwards",
    "tokens_answer", "stream_answer", "state_answer",
)  # fmt: skip

EXPERIMENT = Experiment(
    name="price_of_memory",
    title="What attention and a recurrence cost against the length: a step, what autograd keeps, one answer more",
    plan=plan,
    compute=compute,
    tolerance=dict.fromkeys(SECONDS, float("inf")) | {"attention_bytes": 0.2, "recurrence_bytes": 0.2},
)

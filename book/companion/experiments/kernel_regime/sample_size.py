"""What the number of inputs does to the approximation error: its maximum, its mean square, and the ceiling of the maximum.

A row is one initialisation and one stream of inputs; narrower models use the first of its heads, fewer inputs the first of the stream.
The target is zero exactly (``mappings.zero_target``), so all that m heads make of it is error.
"""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from shallowformer import data, verify
from shallowformer.experiments.experiment import Experiment
from shallowformer.kernel_regime.kernel import mappings, transportation
from shallowformer.kernel_regime.model import parameters
from shallowformer.kernel_regime.model.parameters import Parameters

TARGET = mappings.zero_target((3.0, 3.0, 3.0))
#: Inputs looked at: 10, 30, 100, … as far as there are.
COUNTS = (10, 30, 100, 300, 1000, 3000, 10_000, 30_000, 100_000)
WIDTHS = (16, 32, 64, 128)
SEEDS = range(20)
#: Attention weights held at a time.
HELD = 2**19


@dataclass(frozen=True)
class Config:
    """An initialisation and a stream of inputs."""

    d: int  # dimension of tokens
    T: int  # length of sequences
    seed: int  # of both
    n: int = 100_000  # inputs in the stream
    m: int = 128  # heads of the widest model, a power of 2 from 16 on
    searched: int = 64  # heads of the model whose ceiling is searched, at most ``m``
    dtype: str = "float32"  # "float32" or "float64"; the search is in float64


def plan(scale: str) -> list[Config]:
    """The configurations of a scale; short sequences of short tokens come first."""
    if scale == "smoke":
        return [Config(2, 2, seed, n=100, m=32, searched=16) for seed in range(2)]
    n = 10_000 if scale == "laptop" else COUNTS[-1]
    return [Config(d, T, seed, n) for d, T in ((2, 4), (8, 16)) for seed in SEEDS]


def stream(config: Config) -> tuple[Parameters, Float[Tensor, "n T d"]]:
    """The heads and the inputs of a row: one head of each pair of a symmetric initialisation (the other one errs alike), and X."""
    source = torch.Generator().manual_seed(7000 + config.seed)
    heads = parameters.random(config.m // 2, config.d, source)
    X = data.clipped_gaussian(config.n, config.T, config.d, source)
    dtype = getattr(torch, config.dtype)
    return heads.map(lambda block: block.to(dtype)), X.to(dtype)


def errors(
    X: Float[Tensor, "n T d"], heads: Parameters, widths: tuple[int, ...]
) -> Float[Tensor, "n {len(widths)}"]:
    """e(X) of models of several even widths, at most twice the heads, which are one of each pair, and of which each uses the first."""
    contributions = transportation.g(X, heads, TARGET)
    return torch.stack([contributions[:, : m // 2].mean(1) for m in widths], 1)


def ceiling(heads: Parameters, T: int, restarts: int = 8, steps: int = 120) -> float:
    """The largest |e(X)| over all inputs of T tokens that a search finds: a lower bound of the supremum.

    Args:
        heads: one head of each pair, in float64.
    """
    found = verify.maximise(
        lambda X: errors(X, heads, (2 * heads.m,))[:, 0].abs(),
        verify.product(X=verify.tokens(T, heads.d)),
        restarts=restarts,
        steps=steps,
    )
    return found.value


@torch.no_grad()
def compute(config: Config, device: torch.device) -> dict:
    """Compute one row, the errors on the device; the search runs on the CPU.

    Returns: ``counts`` and ``widths``; ``largest`` and ``mean_square``, lists over widths of lists over counts: over the first inputs;
    ``ceiling`` of the model of ``searched`` heads.
    """
    heads, X = stream(config)
    widths = tuple(m for m in WIDTHS if m <= config.m)
    counts = [n for n in COUNTS if n <= config.n]
    chunk = max(1, HELD // (heads.m * max(config.T, config.d)))
    held = heads.map(lambda block: block.to(device))
    e = torch.cat([errors(part.to(device), held, widths).cpu() for part in X.split(chunk)]).double()
    largest = e.abs().cummax(0).values
    squares = e.square().cumsum(0)
    searched = heads.map(lambda block: block[: config.searched // 2].double())
    with torch.enable_grad():
        top = ceiling(searched, config.T)
    return {
        "counts": counts,
        "widths": list(widths),
        "largest": [[float(largest[n - 1, k]) for n in counts] for k in range(len(widths))],
        "mean_square": [[float(squares[n - 1, k]) / n for n in counts] for k in range(len(widths))],
        "ceiling": top,
    }


EXPERIMENT = Experiment(
    name="sample_size",
    title="Approximation error against the number of inputs: maximum, mean square, ceiling, width needed",
    plan=plan,
    compute=compute,
    tolerance={"largest": 1e-4, "mean_square": 1e-4, "ceiling": 0.05},
)

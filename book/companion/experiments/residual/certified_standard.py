"""From a standard random start, W_2 drawn as well: the smallest certified width, and a run at it beside its bounds."""

from dataclasses import dataclass

import torch
from torch import Generator

from companion.experiments.residual import certified_widths
from companion.experiments.residual.certified_widths import KINDS, TOLERANCE, Problem
from shallowformer.experiments.experiment import Experiment


@dataclass(frozen=True)
class Config:
    """A problem of ``certified_widths`` with a smooth activation, and W_2 with entries N(0, 1/d_1)."""

    tokens: str  # "gaussian" or "orthonormal"
    g: float  # attention's residual coefficient
    deviation: str  # of W_1's entries: "1/sqrt d" or "1"
    seed: int  # of everything
    tau: float = 0.3  # width of the smoothed ReLU
    P: int = 2  # sequences
    N: int = 3  # tokens a sequence
    d: int = 6  # dimension of a token
    d_k: int = 4  # of keys and queries
    K: int = 2  # outputs a token


def plan(scale: str) -> list[Config]:
    """Every kind of problem, both sizes of W_1, several seeds."""
    if scale == "smoke":
        return [Config("orthonormal", 3.0, "1", 0, P=1, N=2, d=3, d_k=2, K=1)]
    kinds, seeds = (KINDS[3:], 3) if scale == "laptop" else (KINDS[::-1], 10)
    return [
        Config(*kind, deviation, seed)
        for kind in kinds
        for deviation in ("1", "1/sqrt d")
        for seed in range(seeds)
    ]


def posed(config: Config, d_1: int) -> Problem:
    """As ``certified_widths.posed`` of the same seed, but for W_2."""
    c = config
    known = certified_widths.Config(c.tokens, c.g, c.tau, c.deviation, c.seed, c.P, c.N, c.d, c.d_k, c.K)
    X, Y, theta, setting = certified_widths.posed(known, d_1)
    generator = Generator().manual_seed(1_000_000 + c.seed)
    W_2 = torch.randn(d_1, c.d, generator=generator, dtype=torch.float64) / d_1**0.5
    return X, Y, theta._replace(W_2=W_2), setting


def compute(config: Config, device: torch.device) -> dict:
    """Search, and run. Returns: what ``certified_widths.search`` finds."""
    return certified_widths.search(lambda d_1: posed(config, d_1))[1]


EXPERIMENT = Experiment(
    name="certified_standard",
    title="From a standard random start, W_2 drawn as well: smallest certified widths, and runs there beside their bounds",
    plan=plan,
    compute=compute,
    tolerance={name: limit for name, limit in TOLERANCE.items() if name != "closed"},
    dtype="float64",
)

"""Two attention layers and their infinite-width limit: how far the kernel and a run are from it, and what an output scale changes.

``part`` "quadrature": blocks of the kernel of two short sequences on a line, whose limit is known by quadrature; N = m. ``part`` "kernel": the
relative Frobenius distance of the kernel of four sequences from the limit's, with a stream of 8, of 2√m, or of m. ``part`` "run": A·f with
A = m^(−power) is trained on three of them, ten steps of gradient descent with step η/A², η = 3/(4λ_max) of the limit's Gram matrix of the
three, labels of root mean square 1; distances at the end are root mean squares over all four.

Expected, written before the rows were computed and after a trial of one seed (slopes in log m, over ten seeds; twenty more for 1, and for 3 with N = m, when ten
had left intervals of 0.2 and 0.6):

1. quadrature: −1/2, within 0.05, over all blocks;
2. kernel: −1/2 within 0.05 with N = m; at most −1/4 with N = 2√m; with N = 8 above −0.1 from 128 heads on;
3. run, A = 1: the distance from the limit's linear run falls with N = m like m^(−1/2), as the kernel does; that from the linear run of the
   model's own kernel like 1/m; with N = 8 the first hardly falls from 128 heads on;
4. run, N = m: preactivations and the stream move, relative to their size, like 1/(A√m): slopes −1/2, −1/4 and 0 for powers 0, 1/4 and 1/2;
5. the linearisation error and the turn of the kernel are even in the move at the mirrored start, so like 1/(A²m): slopes −1, −1/2 and 0.
"""

import functools
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Generator, Tensor

from companion.theory.beyond import limit_kernel, tangents, wide
from companion.theory.beyond.attention import pooled
from companion.theory.beyond.deep import FIRST
from shallowformer import data
from shallowformer.experiments.experiment import Experiment
from shallowformer.training import autograd, descent, points

SEEDS = range(10)
#: Of what scatters most: the kernel of two sequences, and runs with N = m and A = 1.
MANY = range(30)
#: Heads a layer by part and stream.
WIDTHS = {
    ("quadrature", "wide"): (32, 64, 128, 256, 512, 1024, 2048),
    ("kernel", "fixed"): (16, 32, 64, 128, 256, 512, 1024),
    ("kernel", "root"): (16, 64, 256, 1024),
    ("kernel", "wide"): (16, 32, 64, 128, 256, 512, 1024),
    ("run", "fixed"): (16, 32, 64, 128, 256, 512, 1024),
    ("run", "wide"): (8, 16, 32, 64, 128),
}
POWERS = (0.0, 0.25, 0.5)
TRAINED, STEPS = 3, 10
#: Heads a layer of the limit's Monte Carlo.
HEADS = 2**16
#: Two sequences on a line: two tokens, and twice the same.
LINE = torch.tensor([[0.9, -0.5], [0.6, 0.6]], dtype=torch.float64)[..., None]


@dataclass(frozen=True)
class Config:
    """One measurement."""

    part: str  # "quadrature", "kernel" or "run"
    stream: str  # "fixed": 8 numbers a token; "root": 2√m; "wide": m
    m: int  # heads a layer
    seed: int  # of inputs, labels and start
    power: float = 0.0  # of the output's scale A = m^(−power)
    n: int = 4  # sequences
    T: int = 3  # tokens
    d: int = 8  # dimension of tokens
    steps: int = STEPS
    heads: int = HEADS

    @property
    def N(self) -> int:
        """Numbers a token of the stream."""
        return {"fixed": 8, "root": round(2 * self.m**0.5), "wide": self.m}[self.stream]


def plan(scale: str) -> list[Config]:
    """Configurations of a scale, narrow models first."""
    if scale == "smoke":
        return [Config(part, stream, 16, 0, T=2, d=2, steps=3, heads=64) for part, stream in WIDTHS]
    most, few, many = (64, range(3), range(3)) if scale == "laptop" else (2048, SEEDS, MANY)
    found = []
    for (part, stream), widths in WIDTHS.items():
        scaled = (part, stream) == ("run", "wide")
        for power in POWERS if scaled else POWERS[:1]:
            seeds = many if part == "quadrature" or (scaled and not power) else few
            found += [Config(part, stream, m, seed, power) for m in widths for seed in seeds if m <= most]
    return sorted(found, key=lambda config: config.m * config.N**2)


def inputs(config: Config) -> Float[Tensor, "n T d"]:
    """The inputs of a measurement: the paper's law of tokens, the same at all widths."""
    return data.clipped_gaussian(config.n, config.T, config.d, Generator().manual_seed(1000 + config.seed))


@functools.lru_cache(maxsize=32)
def _limit(n: int, T: int, d: int, seed: int, heads: int) -> Float[Tensor, "n n"]:
    X = inputs(Config("kernel", "wide", 2, seed, n=n, T=T, d=d))
    return sum(limit_kernel.limit(X, heads, Generator().manual_seed(5000 + seed)).values())


def limit(config: Config) -> Float[Tensor, "n n"]:
    """The limit kernel of the inputs, by Monte Carlo."""
    return _limit(config.n, config.T, config.d, config.seed, config.heads)


def linear_run(
    K: Float[Tensor, "n n"], y: Float[Tensor, " r"], eta: float, steps: int
) -> Float[Tensor, " n"]:
    """Outputs on all inputs after gradient descent of a linear model from 0 on the first r of them."""
    f, r = torch.zeros(len(K), dtype=K.dtype), len(y)
    for _ in range(steps):
        f = f - 2 * eta / r * K[:, :r] @ (f[:r] - y)
    return f


def state(X: Float[Tensor, "n T d"], phi: dict) -> tuple[Float[Tensor, "n T N"], Float[Tensor, "n k"]]:
    """Stream and preactivations of the second layer of the first network."""
    one = wide.network(phi, 0)
    xi = wide.stream(X, *(one[name] for name in FIRST))
    return xi, (pooled(xi, one["W2"], xi[:, -1:])[:, 0] * one["U2"]).sum(-1)


def _kernel(config: Config, source: Generator) -> dict:
    X = LINE if config.part == "quadrature" else inputs(config)
    blocks = limit_kernel.sampled(X, config.m // 2, config.N, source)
    if config.part == "quadrature":
        return {name: block.flatten().tolist() for name, block in blocks.items()}
    K = limit(config)
    return {"distance": float((sum(blocks.values()) - K).norm() / K.norm())}


def _run(config: Config, source: Generator) -> dict:
    X, K, A = inputs(config), limit(config), config.m**-config.power
    y = torch.randn(config.n, generator=Generator().manual_seed(2000 + config.seed), dtype=torch.float64)
    y = (y / y[:TRAINED].square().mean().sqrt())[:TRAINED]
    eta = float(TRAINED / (4 * torch.linalg.eigvalsh(K[:TRAINED, :TRAINED])[-1]))
    phi0, model = wide.start(config.N, config.m, config.d, source), wide.architecture(config.N)
    outputs = lambda X, delta: A * model.outputs(X, points.plus(phi0, delta))
    nowhere, f = points.mapped(torch.zeros_like, phi0), model.on(X)
    objective = autograd.Autograd(outputs, X[:TRAINED], y)
    end = descent.run(objective, nowhere, eta=eta / A**2, steps=config.steps, every=config.steps).end
    there = points.plus(phi0, end)
    gram = lambda phi: autograd.Tangent(f, phi, torch.zeros(config.n, dtype=torch.float64)).gram()
    K0, K1, reached = gram(phi0), gram(there), A * f(there)
    own, ideal = (linear_run(kernel, y, eta, config.steps) for kernel in (K0, K))
    size = lambda gap: float(gap.square().mean().sqrt())
    moved = [size(b - a) / size(a) for a, b in zip(state(X, phi0), state(X, there), strict=True)]
    return {
        "limit": size(reached - ideal),
        "own": size(reached - own),
        "kernels": size(own - ideal),
        "gap": size(A * tangents.gap(model, X, phi0, end)),
        "turn": float((K1 - K0).norm() / K0.norm()),
        "travel": moved[0],
        "features": moved[1],
        "last": float((reached[:TRAINED] - y).square().mean()),
    }


def compute(config: Config, device: torch.device) -> dict:
    """Compute one row, in float64, on the processor."""
    source = Generator().manual_seed(10_000 * config.m + 100 * config.N + config.seed)
    return (_run if config.part == "run" else _kernel)(config, source)


EXPERIMENT = Experiment(
    name="two_layers_limit",
    title="Two attention layers against their infinite-width limit, and with smaller output scales",
    plan=plan,
    compute=compute,
    tolerance={"gap": 1e-2},
    dtype="float64",
)

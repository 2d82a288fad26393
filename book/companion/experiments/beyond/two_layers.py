"""Two attention layers: how far from their linear model, with a stream of d = 8 numbers and with one that grows with the heads.

A row is one initialisation at one width. ``part`` "gap": the largest |f − f_lin| that a search finds at one input on Ω_ρ, ρ = (1, 1, 1), and the root
mean square over random points of its boundary. ``part`` "training": 60 steps of gradient descent on eight sequences with labels of root mean
square 0.3, η = 1/(2λ_max) of the tangent kernel's Gram matrix over n, no projection; the root mean square of f − f_lin at the end.

Expected, written before the first run (slopes in log m, 95 % intervals over ten seeds):

1. stream of 8: the worst error does not fall, slope above −0.1; at random points it falls like 1/m, as a random shift of the stream averages out;
2. stream of m: the worst error falls with a slope between −0.65 and −0.35, which is the theorem's −1/2;
3. stream of m: at random points it falls with slope −1, within 0.2;
4. training, stream of 8: the error at the end falls more slowly than m^(−1/2), and more and more slowly;
5. training, stream of m: the error at the end falls at least like m^(−1/2); faster, like 1/m, if the odd error of the symmetric start decides.
"""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Generator, Tensor

from companion.theory.beyond import directions, tangents, wide
from companion.theory.beyond.architecture import Blocks
from shallowformer import data
from shallowformer.experiments.experiment import Experiment
from shallowformer.training import autograd, descent, points

SEEDS = range(10)
#: Heads a layer, by how wide the stream is.
WIDTHS = {"fixed": (16, 32, 64, 128, 256, 512, 1024), "wide": (16, 32, 64, 128, 256)}
RHO = (1.0, 1.0, 1.0)
LABEL, DRAWS = 0.3, 4


@dataclass(frozen=True)
class Config:
    """One measurement."""

    part: str  # "gap" or "training"
    stream: str  # "fixed": d numbers a token; "wide": m
    m: int  # heads a layer
    seed: int  # of inputs, labels and initialisation
    T: int = 4  # tokens
    n: int = 8  # sequences
    d: int = 8  # dimension of tokens
    steps: int = 60  # of the search, or of gradient descent

    @property
    def N(self) -> int:
        """Numbers a token of the stream."""
        return self.m if self.stream == "wide" else self.d


def plan(scale: str) -> list[Config]:
    """Configurations of a scale, narrow models first."""
    if scale == "smoke":
        return [
            Config(part, stream, 4, 0, T=2, n=2, d=3, steps=3)
            for part in ("gap", "training")
            for stream in WIDTHS
        ]
    most, seeds = (64, range(3)) if scale == "laptop" else (1024, SEEDS)
    found = []
    for part, steps in (("gap", 16), ("training", 60)):
        for stream, widths in WIDTHS.items():
            found += [
                Config(part, stream, m, s, steps=steps)
                for m in widths
                for s in seeds
                if m <= most and not (part == "training" and stream == "wide" and m > 128)
            ]
    return sorted(found, key=lambda config: config.m * config.N**2)


def inputs(config: Config) -> Float[Tensor, "n T d"]:
    """The inputs of a measurement: the paper's law of tokens, the same at all widths."""
    return data.clipped_gaussian(config.n, config.T, config.d, Generator().manual_seed(1000 + config.seed))


def start(config: Config) -> Blocks:
    """The initialisation of a measurement. Returns: φ⁽⁰⁾."""
    source = Generator().manual_seed(10_000 * config.m + config.seed)
    return wide.start(config.N, config.m, config.d, source)


def labels(config: Config) -> Float[Tensor, " n"]:
    """Gaussian labels, scaled to a root mean square of 0.3."""
    y = torch.randn(config.n, generator=Generator().manual_seed(2000 + config.seed), dtype=torch.float64)
    return LABEL * y / y.square().mean().sqrt()


def compute(config: Config, device: torch.device) -> dict:
    """Compute one row, in float64."""
    model, X = wide.architecture(config.N), inputs(config).to(device)
    phi0 = {name: block.to(device) for name, block in start(config).items()}
    if config.part == "gap":
        _, worst = directions.adversarial(model, X[:1], phi0, RHO, config.steps)
        source = Generator().manual_seed(3000 + config.seed)
        found = [
            tangents.gap(
                model,
                X,
                phi0,
                {
                    name: block.to(device)
                    for name, block in directions.random_boundary(
                        {name: block.cpu() for name, block in phi0.items()}, RHO, source
                    ).items()
                },
            )
            for _ in range(DRAWS)
        ]
        return {"worst": float(worst), "random": float(torch.stack(found).square().mean().sqrt())}
    y = labels(config).to(device)
    displaced = autograd.Autograd(lambda X, delta: model.outputs(X, points.plus(phi0, delta)), X, y)
    nowhere = points.mapped(torch.zeros_like, phi0)
    gram = autograd.Tangent(model.on(X), phi0, -y).gram()
    eta = float(config.n / (2 * torch.linalg.eigvalsh(gram)[-1]))
    run = descent.run(displaced, nowhere, eta=eta, steps=config.steps, every=config.steps)
    gap = tangents.gap(model, X, phi0, run.end)
    return {
        "gap": float(gap.square().mean().sqrt()),
        "last": float((model.outputs(X, points.plus(phi0, run.end)) - y).square().mean() / y.square().mean()),
        "eta": eta,
        "extent": directions.extent(run.end),
    }


EXPERIMENT = Experiment(
    name="two_layers",
    title="Two attention layers with a stream of eight numbers, and with one that grows with the heads",
    plan=plan,
    compute=compute,
    tolerance={"worst": 2e-2, "gap": 2e-2},
    dtype="float64",
)

"""Three departures from the paper's model, measured beside it: linearisation, training and sequence length.

A row is one initialisation of one architecture on its own data. ``part`` says what is measured of it.
"""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Generator, Tensor

from companion.theory.beyond import deep, dense, directions, single_layer, tangents, teachers, training
from companion.theory.beyond.architecture import Architecture, Blocks
from shallowformer import data
from shallowformer.experiments.experiment import Experiment
from shallowformer.training import points

MODELS: dict[str, Architecture] = {
    model.name: model for model in (single_layer.HEADS, single_layer.SEQUENCE, dense.DENSE, deep.DEEP)
}
THREES = (3.0, 3.0, 3.0)
#: Ten seeds, and ten others to repeat with what claims are made of.
SEEDS, OTHERS = range(10), range(101, 111)
WIDTHS, TYPICAL, LENGTHS = (8, 32, 128, 256), (16, 32, 64, 128), (2, 8, 32)
#: Trained widths; one output a position costs T times as much.
TRAINED = {"heads": WIDTHS[:3], "sequence": WIDTHS[:2], "dense": WIDTHS[:3], "deep": WIDTHS[:3]}
ANCHORS, TEACHER, DRAWS = 16, 256, 3


@dataclass(frozen=True)
class Config:
    """One measurement."""

    #: "random" (root mean square gap over random points of the boundary of Ω), "gap" (largest gaps at three kinds of points), "training",
    #: or "length" (training, and the gradient at the start)
    part: str
    model: str  # name of the architecture
    m: int  # heads a layer
    seed: int  # of data, labels and initialisation
    T: int = 8  # length of sequences
    n: int = 64  # samples
    d: int = 8  # dimension of tokens
    eta: float = 0.5  # step size η
    steps: int = 60  # of gradient descent, or of the search for the worst point, or random points


def plan(scale: str) -> list[Config]:
    """Configurations of a scale, narrow models first."""
    if scale == "smoke":
        parts = ("random", "gap", "training", "length")
        return [Config(part, model, 4, 0, T=3, n=4, steps=3) for part in parts for model in MODELS]
    if scale == "laptop":
        return _measurements(range(3), 64)
    repeated = [
        config
        for config in _measurements(OTHERS, 256)
        if config.part != "length" and config.model in ("dense", "deep")
    ]
    return [*_measurements(SEEDS, 256), *repeated]


def _measurements(seeds: range, widest: int) -> list[Config]:
    each = [(seed, model) for seed in seeds for model in MODELS]
    typical = [Config("random", model, m, s, n=16, steps=16) for m in TYPICAL for s, model in each]
    gaps = [Config("gap", model, m, s, n=32, steps=30) for s, model in each for m in WIDTHS]
    trained = [Config("training", model, m, s) for m in WIDTHS for s, model in each if m in TRAINED[model]]
    lengths = [Config("length", model, 32, s, T=T, n=32) for T in LENGTHS for s, model in each]
    return [config for config in (*typical, *gaps, *trained, *lengths) if config.m <= widest]


def inputs(config: Config) -> Float[Tensor, "n T d"]:
    """The inputs of a measurement: the paper's law of tokens."""
    return data.clipped_gaussian(config.n, config.T, config.d, Generator().manual_seed(1000 + config.seed))


def start(config: Config) -> Blocks:
    """The initialisation of a measurement: numbers of float32, held in float64. Returns: φ⁽⁰⁾."""
    source = Generator().manual_seed(10_000 * config.m + config.seed)
    drawn = MODELS[config.model].start(config.m, config.d, source, torch.float64)
    return {name: block.float().double() for name, block in drawn.items()}


def labels(config: Config) -> Float[Tensor, "n ..."]:
    """The labels of a measurement, one a sample or one a position, from a linear model of the same architecture with 256 heads."""
    source = Generator().manual_seed(2000 + config.seed)
    return teachers.labels(MODELS[config.model], inputs(config), TEACHER, ANCHORS, source)


def compute(config: Config, device: torch.device) -> dict:
    """Compute one row: gaps in float64, runs in float32."""
    model, X, phi0 = MODELS[config.model], inputs(config).to(device), _to(start(config), device)
    if config.part == "random":
        return _typical(model, X, phi0, config)
    if config.part == "gap":
        return _gaps(model, X, phi0, config)
    found = _run(model, X, labels(config).to(device), phi0, config)
    if config.part == "length":
        found["gradient"] = float(tangents.diagonal(model, X, phi0).mean().sqrt())
    return found


def _to(phi: Blocks, *kind: torch.device | torch.dtype) -> Blocks:
    return {name: block.to(*kind) for name, block in phi.items()}


def _at_random(model: Architecture, X: Tensor, phi0: Blocks, config: Config, draws: int) -> list[Tensor]:
    """The gaps at random points of the boundary of Ω, drawn on the CPU."""
    source = Generator().manual_seed(3000 + config.seed)
    centre = _to(phi0, torch.device("cpu"))
    points = (directions.random_boundary(centre, THREES, source) for _ in range(draws))
    return [tangents.gap(model, X, phi0, _to(point, X.device)) for point in points]


def _typical(model: Architecture, X: Tensor, phi0: Blocks, config: Config) -> dict:
    """The root mean square of f − f_lin over inputs and random points."""
    gaps = torch.stack(_at_random(model, X, phi0, config, config.steps))
    return {"rms": float(gaps.square().mean().sqrt())}


def _gaps(model: Architecture, X: Tensor, phi0: Blocks, config: Config) -> dict:
    """sup_j |f − f_lin| at boundary points of Ω; the random one is a mean over three points."""
    randomly = [float(gaps.abs().max()) for gaps in _at_random(model, X, phi0, config, DRAWS)]
    aligned = tangents.gap(model, X, phi0, directions.aligned(model, X, phi0, THREES))
    _, worst = directions.adversarial(model, X[:1], phi0, THREES, config.steps)
    return {
        "aligned": float(aligned.abs().max()),
        "random": sum(randomly) / DRAWS,
        "adversarial": float(worst),
    }


def _run(model: Architecture, X: Tensor, y: Tensor, phi0: Blocks, config: Config) -> dict:
    """Losses over the trivial level, and how far from its linear model the run ends."""
    single = torch.float32
    start = _to(phi0, single)
    run = training.run(
        model, X.to(single), y.to(single), start, eta=config.eta, steps=config.steps, rho=THREES
    )
    end = points.plus(start, run.end)
    delta = {name: end[name].double() - block for name, block in phi0.items()}
    gap = tangents.gap(model, X, phi0, delta)
    losses = torch.cat([run.step_losses, run.losses[-1:]])[:, 0].double()
    losses = losses / losses[0]
    return {
        "last": float(losses[-1]),
        "least": float(losses.min()),
        "mean": float(losses[:-1].mean()),
        "gap": float(gap.abs().max()),
        "gap_rms": float(gap.square().mean().sqrt()),
        "extent": directions.extent(delta),
    }


EXPERIMENT = Experiment(
    name="beyond_theory",
    title="Beyond the theory: a shared hidden layer, sequence outputs and two layers beside the paper's model",
    plan=plan,
    compute=compute,
    tolerance={"gap": 2e-2, "gap_rms": 2e-2, "adversarial": 2e-2},
    dtype="float64 and float32",
)

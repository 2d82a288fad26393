"""One family of problems: a world, which sets the switches, and dials, which each theory's data are corners of."""

import functools
from dataclasses import dataclass, replace

import torch
from jaxtyping import Float
from torch import Generator, Tensor

from companion.theory.one_layer.layer import Switches, attended
from companion.theory.one_layer.problem import Point, Problem, symmetric
from companion.theory.one_layer.tangent import unit
from shallowformer.preconditioned import covariances, problems, starts
from shallowformer.preconditioned.moments import Moments
from shallowformer.real import series, weather
from shallowformer.token_selection import datasets

F64 = torch.float64

#: Switches by name. Each theory is at home in one or two of them; the others lie between.
WORLDS = {
    # Part one: all is trained; under exponential loss to tell signs.
    "layer": Switches(),
    "classifier": Switches(loss="exponential"),
    # All units read one attention.
    "shared": Switches(heads="shared"),
    "shared_classifier": Switches(heads="shared", loss="exponential"),
    # Attention and units stand still.
    "readout": Switches(trained="C"),
    # Part two: the decoder stands still; plain and normalised steps.
    "attention": Switches("shared", "identity", trained="W", loss="exponential"),
    "normalised": Switches("shared", "identity", trained="W", loss="exponential", rule="normalised"),
    # The decoder is trained, too.
    "decoder": Switches("shared", "identity", trained="UW", loss="exponential"),
    # Part four's layer: plain steps, and its own.
    "regression": Switches("shared", "identity", trained="UW"),
    "preconditioned": Switches("shared", "identity", trained="UW", rule="preconditioned"),
}
#: Which data a world is tried on.
SOURCES = {
    "layer": ("gaussian", "weather"), "classifier": ("gaussian", "weather"), "shared": ("gaussian", "weather"), "readout": ("gaussian", "weather"),
    "shared_classifier": ("gaussian",),
    "attention": ("selection",), "normalised": ("selection",), "decoder": ("selection",),
    "regression": ("regression",), "preconditioned": ("regression",),
}  # fmt: skip


@dataclass(frozen=True)
class Dials:
    """One problem of the family; a dial that a world does not have is left alone."""

    world: str
    source: str
    seed: int
    m: int = 16  # units; 1 where attention selects, d where it regresses
    n: int = 32  # samples
    T: int = 8  # tokens of a sequence; n in regression
    d: int = 4
    alpha: float = 1.0  # α; labels of the size 1/α are the same
    correlation: float = 0.0  # of two tokens of a sequence
    noise: float = 0.0  # standard deviation, of labels of size 1; or how often a sign is turned
    skip: float = 0.0
    away: float = 0.3  # standard deviation of the start of regression around the optimum, an entry
    step: float = 0.5  # over 1/λ of the start's kernel, or of the world's own unit
    steps: int = 1024
    radius: float = 0.4  # ‖Σ̂^½BΣ̂^½‖ at the start of regression
    least: float = 0.375  # smallest singular value of regression's whitened target; the largest is 1.5
    centred: bool = False  # whether regression's inputs and responses have the mean 0


def problem(dials: Dials) -> Problem:
    """The problem of these dials."""
    if dials.world not in WORLDS or dials.source not in SOURCES[dials.world]:
        raise ValueError(
            f"world and source must be one of {SOURCES}, got {dials.world!r} and {dials.source!r}"
        )
    switches = replace(WORLDS[dials.world], alpha=dials.alpha, skip=dials.skip)
    generator = Generator().manual_seed(dials.seed)
    X, q, y, start = {"selection": _selection, "regression": _regression}.get(dials.source, _sequences)(
        dials, switches, generator
    )
    made = Problem(X, q, y, start, switches, 1.0, dials.steps, dials.source)
    return replace(made, eta=dials.step * unit(made))


def _sequences(
    dials: Dials, switches: Switches, generator: Generator
) -> tuple[Tensor, Tensor, Tensor, Point]:
    """Clipped Gaussian tokens with a teacher of 4 random heads, or days of weather and the temperature of the next."""
    if dials.source == "weather":
        X, target = _days(dials, generator)
    else:
        X = _tokens(dials, generator)
        teacher = symmetric(8, 8, dials.d, generator)
        read = attended(X, X[:, -1], teacher["W"][:4])
        target = torch.tanh(2 * (read * teacher["U"][:4]).sum(-1)) @ teacher["C"][:4]
    target = target / target.square().mean().sqrt()
    if switches.loss == "exponential":
        turned = torch.rand(target.shape, generator=generator, dtype=F64) < dials.noise
        y = torch.where((target > target.median()) ^ turned, 1.0, -1.0).to(F64)
    else:
        y = target + dials.noise * torch.randn(target.shape, generator=generator, dtype=F64)
        y = y / y.square().mean().sqrt()
    heads = dials.m if switches.heads == "own" else 1
    return X, X[:, -1], y, symmetric(dials.m, heads, dials.d, generator)


def _tokens(dials: Dials, generator: Generator) -> Float[Tensor, "n T d"]:
    """Gaussian tokens of which two in a sequence have a correlation, drawn into the unit ball."""
    draw = lambda *shape: torch.randn(*shape, generator=generator, dtype=F64)
    X = dials.correlation**0.5 * draw(dials.n, 1, dials.d) + (1 - dials.correlation) ** 0.5 * draw(
        dials.n, dials.T, dials.d
    )
    return X / torch.linalg.vector_norm(X, dim=-1, keepdim=True).clamp(min=1)


def _days(dials: Dials, generator: Generator) -> tuple[Float[Tensor, "n T d"], Float[Tensor, "n 1"]]:
    """T hours of the first d variables at Kennedy airport, standardised, in the unit ball, and the temperature T hours after the last."""
    hours = _hours()
    X, Y = series.windows(hours, hours.names[0], dials.n, dials.T, generator)
    X = X[..., : dials.d]
    return X / torch.linalg.vector_norm(X, dim=-1, keepdim=True).clamp(min=1), Y[:, -1]


@functools.cache
def _hours() -> series.Series:
    """The hours that are learned from, standardised."""
    early, _ = series.blocks(weather.new_york())
    return series.standardised(early, early)


def _selection(
    dials: Dials, switches: Switches, generator: Generator
) -> tuple[Tensor, Tensor, Tensor, Point]:
    """Example 1 of part two: one token of a sequence bears its label and has length 1; the noise of all others is about as long as the dial says."""
    size = max(dials.noise, 1e-3) / (dials.d - 2) ** 0.5
    there = datasets.example_1(dials.n, dials.T, dials.d, 1.0, size, generator)
    # Two of a sequence's others have a correlation; their scores stay 0.
    common = torch.zeros(dials.n, 1, dials.d, dtype=F64)
    common[..., 2:] = size * torch.randn(dials.n, 1, dials.d - 2, generator=generator, dtype=F64)
    alike = dials.correlation**0.5 * common + (1 - dials.correlation) ** 0.5 * there.X
    X = alike.scatter(1, there.optimal[:, None, None].expand(-1, 1, dials.d), there.best[:, None])
    there = replace(there, X=X)
    start = {
        "C": torch.ones(1, 1, dtype=F64),
        "U": there.u[None],
        "W": torch.zeros(1, dials.d, dials.d, dtype=F64),
    }
    return there.X, there.queries, there.y[:, None], start


def _regression(
    dials: Dials, switches: Switches, generator: Generator
) -> tuple[Tensor, Tensor, Tensor, Point]:
    """Gaussian inputs, which are each other's context, and noisy linear responses; from somewhere near the balanced optimum."""
    law = problems.random(
        covariances.geometric(dials.d, 1.5, dials.least), 100**dials.correlation, generator, sigma=dials.noise
    )
    x, y = law.samples(dials.n, generator)
    if dials.centred:
        x, y = x - x.mean(0), y - y.mean(0)
    there = Moments.of(x, y)
    U, V = starts.perturbed(*starts.spectral(there), dials.away, generator)
    c = float(torch.linalg.matrix_norm(V, 2)) / dials.radius
    A, B = c * U @ there.inverse_root, there.inverse_root @ V @ there.inverse_root / c
    k = dials.d
    start = {"C": k**0.5 * torch.eye(k, dtype=F64), "U": A / dials.alpha, "W": B.T[None].clone()}
    return x.expand(len(x), -1, -1), x, y, start

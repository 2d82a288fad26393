"""Starts that the theorems admit, targets with the errors that they admit, and what each theorem then says."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Generator, Tensor

from companion.theory.residual import admissible, certificates, tangent
from shallowformer.residual import datasets, model, spectra, starts
from shallowformer.residual.parameters import Parameters, Setting
from shallowformer.residual.smoothed import RELU, SmoothedReLU
from shallowformer.residual.spectra import smallest, stacked

#: (P, N, d, d_k, d_1, K) of every theorem; the first are those of the note's experiment E-A.
SIZES = {
    "blocks": (2, 3, 6, 4, 40, 2),
    "halves": (2, 3, 6, 4, 40, 2),
    "layers": (2, 3, 6, 4, 40, 2),
    "bare": (2, 3, 6, 4, 40, 2),
    "kinks": (2, 3, 6, 4, 40, 2),
    "kernel": (2, 3, 6, 4, 40, 2),
    "unembedding": (1, 4, 9, 3, 12, 11),
    "both": (2, 4, 7, 3, 7, 2),
}

#: The start's loss is this share of what is admitted, in errors.
SHARE = 0.999


@dataclass(frozen=True)
class Config:
    """A theorem, an instance, and a direction for the errors at the start."""

    #: of ``SIZES``: Theorem A, A+, D, D without W_2 and the network's residual, where it is nearly an equality, D for ReLU, E, F, F with
    #: both readouts
    proof: str
    seed: int  # of tokens, start and errors, drawn in this order
    #: errors along the direction that the theorem's singular value belongs to; a random direction if not
    worst: bool
    delta: float = 0.5  # δ of the theorem; Theorems A and A+ have none
    tau: float = 0.3  # of the activation; Theorem D for ReLU has 0
    watched: int = 300  # steps at which everything is measured
    decades: float = 4.0  # the run goes on until e has fallen by so many powers of ten,
    most: int = 10_000  # or for so many steps


@dataclass(frozen=True)
class Start:
    """What a theorem says of an instance."""

    e: float  # errors that it admits
    mu: float  # the step
    slope: float  # how fast its singular value may fall
    value: Callable[[Parameters], float]  # the singular value at a point
    length: float  # bound on the path
    factor: Callable[[float], float]  # e_t → what the step multiplies Φ by at most
    distance: Callable[[float], float]  # e_t → bound on ‖θ⁽ᵗ⁾ − θ*‖
    least: float  # bound below the singular value along the run


def instance(config: Config) -> tuple[Float[Tensor, "P N d"], Parameters, Setting, Generator]:
    """Tokens N(0, I/d), blocks N(0, 1/fan-in)."""
    P, N, d, d_k, d_1, K = SIZES[config.proof]
    generator = Generator().manual_seed(config.seed)
    X = datasets.gaussian(P, N, d, generator)
    activation = RELU if config.tau == 0 else SmoothedReLU(config.tau)
    if config.proof == "bare":
        return (
            X,
            starts.gaussian(d, d_k, d_1, K, generator, W_2=0.0),
            Setting(1.0, 0.0, activation),
            generator,
        )
    return X, starts.gaussian(d, d_k, d_1, K, generator), Setting(activation=activation), generator


def direction(
    config: Config, X: Float[Tensor, "P N d"], theta: Parameters, setting: Setting, generator: Generator
) -> Float[Tensor, "P N K"]:
    """Errors of norm 1: those that the block or the kernel of the theorem removes most slowly, or random ones."""
    now = model.forward(X, theta, setting)
    drawn = torch.randn(now.F.shape, generator=generator, dtype=X.dtype)
    if not config.worst:
        return drawn / drawn.norm()
    last = lambda M: torch.linalg.svd(M, full_matrices=False)[0][:, -1]
    v = torch.linalg.svd(theta.W_U)[2][-1]
    A, H = stacked(now.A), stacked(now.H)
    if config.proof == "kernel":
        found = last(tangent.jacobian(X, theta, setting))
    elif config.proof == "unembedding":
        found = torch.outer(last(H), drawn[0, 0] / drawn[0, 0].norm())
    elif config.proof == "both":
        c = float(smallest(theta.W_U)) / 2
        found = torch.outer(torch.linalg.eigh(H @ H.mT + c**2 * A @ A.mT)[1][:, 0], v)
    else:
        found = torch.outer(last(A), v)
    return found.reshape(now.F.shape)


def _halved(config: Config, X: Tensor, theta: Parameters, setting: Setting) -> Start:
    """Theorem A or A+, with the step 1/L, L certified on the ball that holds the path."""
    known = admissible.constants(X, theta, setting)
    plus = config.proof == "halves"
    e = SHARE * math.sqrt(2 * (known.loss_plus if plus else known.loss_A))
    # Both bound the path, and what is left of it, by a multiple of the errors.
    reach = 2 / math.sqrt(known.alpha) if plus else 2 * math.hypot(*known.c) / known.alpha
    F = model.outputs(X, theta, setting)
    some = torch.zeros_like(F)
    some[0, 0, 0] = e
    mu = 1 / certificates.smoothness(X, F - some, theta, setting, reach * e)
    value = lambda point: float(spectra.pl_2(X, point, setting) / 2) ** 0.5
    return Start(
        e, mu, math.nan, value, reach * e, lambda now: 1 - mu * known.alpha, lambda now: reach * now, math.sqrt(known.alpha)
    )  # fmt: skip


def _certified(config: Config, X: Tensor, theta: Parameters, setting: Setting) -> Start:
    """One of the others."""
    made = {
        "layers": certificates.by_layers,
        "bare": certificates.by_layers,
        "kinks": lambda *given: certificates.by_layers(*given, one_sided=True),
        "kernel": certificates.by_kernel,
        "unembedding": certificates.by_unembedding,
        "both": certificates.by_both,
    }[config.proof]
    found = made(X, theta, setting, config.delta)
    c = float(smallest(theta.W_U)) / 2
    value = {
        "layers": lambda point: float(spectra.pl_2(X, point, setting) / 2) ** 0.5,
        "kernel": lambda point: tangent.ends(X, point, setting)[0],
        "unembedding": lambda point: float(spectra.pl_u(X, point, setting) / 2) ** 0.5,
        "both": lambda point: float(tangent.readout(X, point, setting, c)) ** 0.5,
    }
    e = SHARE * found.error
    return Start(
        e, found.mu, found.slope, value.get(config.proof, value["layers"]), found.path(e), lambda now: found.factor(e, now),
        lambda now: found.distance(e, now), found.least(e),
    )  # fmt: skip


def begun(
    config: Config,
) -> tuple[Float[Tensor, "P N d"], Float[Tensor, "P N K"], Parameters, Setting, Start]:
    """Tokens, targets with the admitted errors, the start, and what the theorem says."""
    X, theta, setting, generator = instance(config)
    start = (
        _halved(config, X, theta, setting)
        if config.proof in ("blocks", "halves")
        else _certified(config, X, theta, setting)
    )
    Y = model.outputs(X, theta, setting) - start.e * direction(config, X, theta, setting, generator)
    return X, Y, theta, setting, start

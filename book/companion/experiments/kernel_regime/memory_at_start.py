"""The starts of Figure 2's runs: on how many tokens attention rests, how fast the recurrence forgets, and what tangent models learn."""

import dataclasses
import math

import torch
from jaxtyping import Float
from torch import Generator, Tensor

from companion.experiments.kernel_regime import recurrence
from companion.experiments.kernel_regime.recurrence import Config, Subject, Windows
from shallowformer.experiments.experiment import Experiment
from shallowformer.kernel_regime.kernel import tangent_kernel
from shallowformer.kernel_regime.model.students import Students
from shallowformer.kernel_regime.recurrent import backpropagation
from shallowformer.kernel_regime.recurrent.network import Units

#: Every so many windows one enters the tangent model. Neighbours share all their values but one; and 5 divides no lag, so that all of the
#: L independent series of lag 1, of which one of lag L consists, are seen.
SPACING = 5
#: Times along a run at which the tangent model is looked at.
RECORDS = 20
#: What Figure 2's runs draw their starts in; here they are worked on in float64.
DRAWN = Config.dtype


def plan(scale: str) -> list[Config]:
    """The starts of Figure 2's runs on the first five seeds, and of those at the longest lag that are trained, or labelled, as released."""
    if scale == "smoke":
        runs = recurrence.figure((0,), (1,), n=20)[:2]
    elif scale == "laptop":
        runs = recurrence.plan(scale)
    else:
        runs = recurrence.figure(recurrence.FEW, recurrence.LAGS) + recurrence.apart() + recurrence.varied()
    return [dataclasses.replace(config, dtype="float64") for config in runs]  # of what is computed here


def attention(subject: Subject, X: Float[Tensor, "n T d"]) -> tuple[float, Float[Tensor, "n n"]]:
    """On how many tokens a head rests, and the kernel in which the steps are taken."""
    heads = len(subject.start[0])
    phi = Students(*subject.start, (heads,)).apart()[0]
    weights = torch.softmax(torch.einsum("nta,mab,nb->nmt", X, phi.W, X[:, -1]), -1)
    K = tangent_kernel.finite(X, phi)
    return (
        float((1 / weights.square().sum(-1)).mean()),
        sum(rate * block for rate, block in zip(subject.rates, (K.c, K.u, K.w), strict=True)),
    )


def recurrent(subject: Subject, X: Float[Tensor, "n T d"]) -> tuple[float, Float[Tensor, "n n"]]:
    """The mean of log|w σ′(z)| along the windows, and the kernel in which the steps are taken."""
    phi = Units(*subject.start)
    driven = X @ phi.U.T
    h, factors = torch.zeros_like(driven[:, 0]), []
    for t in range(driven.shape[1]):
        z = driven[:, t] + phi.w * h
        factors.append((phi.w.abs().log() + log_slope(z)).mean())
        h = torch.tanh(z)
    gradients = backpropagation.per_sample_gradient(X, phi)
    J = torch.cat(
        [rate**0.5 * block.flatten(1) for rate, block in zip(subject.rates, gradients, strict=True)], 1
    )
    return float(torch.stack(factors).mean()), J @ J.T


def log_slope(z: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
    """The logarithm of tanh′(z), −2 log cosh z, also where tanh z rounds to 1."""
    return -2 * (z.abs() + torch.log1p(torch.exp(-2 * z.abs())) - math.log(2))


def begun(config: Config, device: torch.device) -> tuple[Windows, Subject]:
    """What a run sees and where it begins: its own start, to the rounding of its dtype."""
    generator = Generator().manual_seed(config.seed)
    seen = recurrence.windows(config, generator)
    seen = Windows(
        *(part.to(device) for part in (seen.X, seen.y, seen.X_later, seen.y_later)), seen.radius, seen.spread
    )
    run = dataclasses.replace(config, dtype=DRAWN)
    return seen, recurrence.MODELS[config.model](run, seen, generator)


STARTS = {"transformer": attention, "indrnn": recurrent}


def linear_run(
    K: Float[Tensor, "k k"],
    y: Float[Tensor, " n"],
    y_later: Float[Tensor, " l"],
    eta: float,
    steps: list[int],
) -> tuple[list[float], list[float]]:
    """Losses on training and later windows of descent on the tangent model, from f = 0, after some numbers of steps.

    Args:
        K: tangent kernel of the training windows and the later ones, in this order.
    """
    n = len(y)
    values, vectors = torch.linalg.eigh(K[:n, :n] / n)
    values, parts = values.clamp_min(1e-14), vectors.T @ y
    train, later = [], []
    for tau in steps:
        left = (1 - 2 * eta * values) ** tau
        weights = vectors @ ((1 - left) / values * parts) / n
        train.append(float((left * parts).square().sum() / n))
        later.append(float((K[n:, :n] @ weights - y_later).square().mean()))
    return train, later


def compute(config: Config, device: torch.device) -> dict:
    """Look at one start.

    Returns: ``rests``: tokens on which a head's attention rests, the mean of 1/Σα² (Transformer), or the mean of log|w σ′(z)| along windows
    (IndRNN); ``train`` and ``validation``: smallest losses of the tangent model, on every fifth window; ``trivial``, the loss of the best
    constant on these validation windows.

    Args:
        config: of the run that begins there; its dtype is that of what is computed here.
    """
    seen, subject = begun(config, device)
    X, y, X_later, y_later = (part[::SPACING] for part in (seen.X, seen.y, seen.X_later, seen.y_later))
    rests, K = STARTS[config.model](subject, torch.cat([X, X_later]))
    steps = [config.steps * k // RECORDS for k in range(RECORDS + 1)]
    train, later = linear_run(K, y, y_later, config.eta, steps)
    unit = seen.spread**2  # losses are of forecasts of the series, whatever the labels were divided by
    return {
        "rests": rests,
        "train": unit * min(train),
        "validation": unit * min(later),
        "trivial": unit * float((y_later - y.mean()).square().mean()),
    }


EXPERIMENT = Experiment(
    name="memory_at_start",
    title="Starts of Figure 2: where attention rests, how fast the recurrence forgets, what tangent models learn",
    plan=plan,
    compute=compute,
)

"""What the models of Figure 2 hold of the needed token before their first step, and what their tangent models would learn.

The label of a window is α times its token T + 1 − L, plus noise: whatever a model learns, it learns by way of this token.
"""

import dataclasses

import torch
from jaxtyping import Float
from torch import Generator, Tensor

from shallowformer.experiments.experiment import Experiment
from shallowformer.experiments.kernel_regime import recurrence
from shallowformer.experiments.kernel_regime.recurrence import Config, Subject, Windows
from shallowformer.kernel_regime.kernel import tangent_kernel
from shallowformer.kernel_regime.model import transformer
from shallowformer.kernel_regime.model.students import Students
from shallowformer.kernel_regime.recurrent import backpropagation
from shallowformer.kernel_regime.recurrent.network import Units

#: Every so many windows one enters the tangent model. Neighbours share all their values but one; and 5 divides no lag, so that all of the
#: L independent series of lag 1, of which one of lag L consists, are seen.
SPACING = 5
#: Times along a run at which the tangent model is looked at.
RECORDS = 20


def plan(scale: str) -> list[Config]:
    """The starts of Figure 2's runs.

    Args:
        scale: "smoke", "laptop" or "paper", as of ``recurrence``; without the seeds beyond the first five.
    """
    runs = recurrence.figure(recurrence.FEW, recurrence.LAGS) if scale == "paper" else recurrence.plan(scale)
    return [dataclasses.replace(config, dtype="float64") for config in runs]


def attention(
    seen: Windows, subject: Subject, some: Float[Tensor, "k T d"]
) -> tuple[Float[Tensor, "n h"], float, Float[Tensor, "k k"]]:
    """States of the heads, on how many tokens a head rests, and the kernel in which the steps are taken.

    Args:
        seen: by the run.
        subject: the model as the run sees it.
        some: windows of the kernel.
    """
    heads = len(subject.start[0])
    phi = Students(*subject.start, (heads,)).apart()[0]
    half = phi.map(lambda block: block[: heads // 2])  # the others are their twins
    X = torch.cat([seen.X, seen.X_later])
    weights = torch.softmax(torch.einsum("nta,mab,nb->nmt", some, half.W, some[:, -1]), -1)
    K = tangent_kernel.finite(some, phi)
    return (
        transformer.hidden(X, half),
        float((1 / weights.square().sum(-1)).mean()),
        sum(rate * block for rate, block in zip(subject.rates, (K.c, K.u, K.w), strict=True)),
    )


def recurrent(
    seen: Windows, subject: Subject, some: Float[Tensor, "k T d"]
) -> tuple[Float[Tensor, "n h"], float, Float[Tensor, "k k"]]:
    """States of the units, the mean of log|w σ′(z)| along the windows, and the kernel in which the steps are taken.

    Args:
        seen: by the run.
        subject: the model as the run sees it.
        some: windows of the kernel.
    """
    phi = Units(*subject.start)
    half = phi.m // 2
    driven = torch.cat([seen.X, seen.X_later]) @ phi.U[:half].T
    h, factors = torch.zeros_like(driven[:, 0]), []
    for t in range(driven.shape[1]):
        h = torch.tanh(driven[:, t] + phi.w[:half] * h)
        factors.append((phi.w[:half] * (1 - h.square())).abs().log().mean())
    gradients = backpropagation.per_sample_gradient(some, phi)
    J = torch.cat(
        [rate**0.5 * block.flatten(1) for rate, block in zip(subject.rates, gradients, strict=True)], 1
    )
    return h, float(torch.stack(factors).mean()), J @ J.T


STARTS = {"transformer": attention, "indrnn": recurrent}


def recovered(
    H: Float[Tensor, "n h"], x: Float[Tensor, " n"], H_later: Float[Tensor, "k h"], x_later: Float[Tensor, " k"]
) -> float:
    """Share of the variance of later values that the best affine function of the states, fitted before, recovers.

    Args:
        H: states.
        x: the values.
        H_later: states of later windows.
        x_later: their values.
    """
    fit = torch.linalg.lstsq(H - H.mean(0), (x - x.mean())[:, None], driver="gelsd").solution[:, 0]
    missed = (H_later - H.mean(0)) @ fit + x.mean() - x_later
    return 1 - float(missed.square().mean() / (x_later - x.mean()).square().mean())


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
        y: labels of the training windows.
        y_later: of the later ones.
        eta: step size η.
        steps: numbers of them.
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

    Args:
        config: of the run that begins there.
        device: where.

    Returns:
        ``recovered``: share of the needed token's variance that an affine function of the states recovers on validation windows;
        ``rests``: tokens on which a head's attention rests, the mean of 1/Σα² (Transformer), or the mean of log|w σ′(z)| along windows
        (IndRNN); ``train`` and ``validation``: smallest losses of the tangent model, on every fifth window; ``trivial``, the loss of the
        best constant on these validation windows.
    """
    generator = Generator().manual_seed(config.seed)
    seen = recurrence.windows(config, generator)
    seen = Windows(
        *(part.to(device) for part in (seen.X, seen.y, seen.X_later, seen.y_later)), seen.radius, seen.spread
    )
    subject = recurrence.MODELS[config.model](config, seen, generator)
    X, y, X_later, y_later = (part[::SPACING] for part in (seen.X, seen.y, seen.X_later, seen.y_later))
    H, rests, K = STARTS[config.model](seen, subject, torch.cat([X, X_later]))
    needed = seen.radius * torch.cat([seen.X, seen.X_later])[:, config.T - config.lag, 0]
    n = len(seen.y)
    steps = [config.steps * k // RECORDS for k in range(RECORDS + 1)]
    train, later = linear_run(K, y, y_later, config.eta, steps)
    return {
        "recovered": recovered(H[:n], needed[:n], H[n:], needed[n:]),
        "rests": rests,
        "train": min(train),
        "validation": min(later),
        "trivial": float((y_later - y.mean()).square().mean()),
    }


EXPERIMENT = Experiment(
    name="memory_at_start",
    title="What Figure 2's models hold of the needed token before the first step, and what their tangent models learn",
    plan=plan,
    compute=compute,
)

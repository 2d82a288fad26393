"""Targets outside the class: what training does, what its linear model does, and what each costs in the norm of the kernel.

All targets are learned side by side, from the same start on the same inputs, with labels of mean square 1. The linear model is not run:
gradient descent on it is known in closed form from the kernel's eigenvectors.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from companion.experiments.kernel_regime import problems
from companion.theory.kernel_regime import targets
from shallowformer import data
from shallowformer.experiments.experiment import Experiment
from shallowformer.kernel_regime.convergence import certificates, comparators, descent, step_size
from shallowformer.kernel_regime.kernel import tangent_kernel
from shallowformer.kernel_regime.model.loss import Loss
from shallowformer.kernel_regime.model.parameters import Parameters
from shallowformer.kernel_regime.model.students import Students

SEEDS = range(10)
WIDTHS = (16,)
#: Steps at which losses are recorded.
TIMES = (25, 50, 100, 200, 400)
#: Step size in units of n/λ_max at the start.
RELATIVE = 0.2
#: Sample sizes at which norms are measured.
SIZES = (32, 64, 128, 256, 512)


@dataclass(frozen=True)
class Config:
    """A start, on which every target is learned."""

    m: int  # width
    seed: int  # of data, labels and start
    d: int = 8  # dimension of tokens
    T: int = 16  # length of sequences
    n: int = 256  # samples; as many, and their negatives, are kept for the test
    teacher: int = 2048  # heads of the teacher that realisable labels are made from
    times: tuple[int, ...] = TIMES  # steps at which losses are recorded
    relative: float = RELATIVE  # step size in units of n/λ_max at the start


def plan(scale: str) -> list[Config]:
    """The runs of a scale. Returns: configurations, narrow models first."""
    if scale == "smoke":
        return [Config(4, 0, n=16, T=4, teacher=64, times=(5, 10))]
    seeds, widths = (SEEDS, WIDTHS) if scale == "paper" else (SEEDS[:5], WIDTHS)
    return [Config(m, seed) for m in widths for seed in seeds]


def problem(
    config: Config,
) -> tuple[Float[Tensor, "n T d"], Float[Tensor, "n k"], Float[Tensor, "2*n T d"], Float[Tensor, "2*n k"]]:
    """Inputs and labels for training and test, in float64, X and Y of each; columns as ``targets.NAMES``.

    The test set holds every input with its negative. Labels are scaled so that the training labels of each target have mean square 1.
    """
    source = torch.Generator().manual_seed(3000 + config.seed)
    train, test = (data.clipped_gaussian(config.n, config.T, config.d, source) for _ in range(2))
    Z = torch.cat([train, test, -test])
    Y = torch.stack(list(targets.labels(Z, source, config.teacher).values()), 1)
    Y = Y / Y[: config.n].square().mean(0).sqrt()
    return train, Y[: config.n], Z[config.n :], Y[config.n :]


def start(config: Config) -> Parameters:
    """The symmetric initialisation: numbers of float32, held in float64. Returns: φ⁽⁰⁾."""
    return problems.start(config.m, config.seed, config.d)


def compute(config: Config, device: torch.device) -> dict:
    """Compute one row: runs in float32 on the device, kernels in float64 on the CPU.

    Returns: step size, smallest eigenvalue, and for each target lists over ``times``; ``trivial`` is the test loss of the model that
    outputs 0, ``norm`` y⊤K⁻¹y of the training labels.
    """
    X, Y, Z, Y_test = problem(config)
    phi0 = start(config)
    K, K_test = tangent_kernel.finite(X, phi0).total, tangent_kernel.finite(Z, phi0, X).total
    lam, V = torch.linalg.eigh(K)
    eta = config.relative * config.n / float(lam[-1])
    linear = [_after(t, eta, lam, V, Y) for t in config.times]
    cast = lambda tensor: tensor.to(device, torch.float32)
    test = Loss(cast(Z), cast(Y_test))
    run = descent.run(
        Loss(cast(X), cast(Y)),
        [phi0.map(cast)] * Y.shape[1],
        eta=eta,
        steps=config.times[-1],
        rho=None,
        every=min(b - a for a, b in zip((0, *config.times), config.times, strict=False)),
        observe=lambda step, students: {"test": test.losses(Students.of(*students))},
    )
    at = [run.steps.tolist().index(t) for t in config.times]
    found = {
        "train": run.losses[at],
        "test": torch.stack([run.observed[k]["test"] for k in at]),
        "linear_train": torch.stack([(K @ alpha - Y).square().mean(0) for alpha in linear]),
        "linear_test": torch.stack([(K_test @ alpha - Y_test).square().mean(0) for alpha in linear]),
    }
    trivial, norm = Y_test.square().mean(0), (Y * torch.linalg.solve(K, Y)).sum(0)
    by_target = {
        name: {key: values[:, k].tolist() for key, values in found.items()}
        | {"trivial": float(trivial[k]), "norm": float(norm[k])}
        for k, name in enumerate(targets.NAMES)
    }
    return {"eta": eta, "smallest": float(lam[0]), "targets": by_target}


def _after(
    steps: int,
    eta: float,
    lam: Float[Tensor, " n"],
    V: Float[Tensor, "n n"],
    Y: Float[Tensor, "n k"],
) -> Float[Tensor, "n k"]:
    """The weights α with which the linear model's outputs after so many steps are K(·, X) α."""
    done = 1 - (1 - 2 * eta / len(lam) * lam) ** steps
    return V @ ((done / lam)[:, None] * (V.T @ Y))


EXPERIMENT = Experiment(
    name="outside",
    title="Realisable and other targets side by side: full training, its linear model, test losses",
    plan=plan,
    compute=compute,
    tolerance={"targets": 0.1},
    dtype="float32",
)


@dataclass(frozen=True)
class Norms:
    """Inputs and labels whose least norm in the limit kernel is measured for the first 32, 64, … of them."""

    seed: int  # of all that is drawn
    d: int = 8  # dimension of tokens
    T: int = 16  # length of sequences
    sizes: tuple[int, ...] = SIZES  # sample sizes, rising
    heads: int = 2048  # drawn for the limit kernel
    teacher: int = 2048  # heads of the teacher that realisable labels are made from


def plan_norms(scale: str) -> list[Norms]:
    """The draws of a scale."""
    if scale == "smoke":
        return [Norms(0, T=4, sizes=(4, 8, 16), heads=64, teacher=64)]
    return [Norms(seed) for seed in (range(20) if scale == "paper" else range(5))]


def compute_norms(config: Norms, device: torch.device) -> dict:
    """y⊤K⁻¹y of every target and sample size, labels scaled to mean square 1 over the largest sample; in float64.

    Returns: lists over ``sizes`` by target, for noise its mean over the labels, tr K⁻¹, and the smallest eigenvalue of the largest Gram
    matrix.
    """
    source = torch.Generator().manual_seed(4000 + config.seed)
    X = data.clipped_gaussian(config.sizes[-1], config.T, config.d, source)
    Y = torch.stack(list(targets.labels(X, source, config.teacher).values()), 1)
    Y = Y / Y.square().mean(0).sqrt()
    K = tangent_kernel.limit(X, config.heads, source).total
    inverses = [torch.linalg.inv(K[:n, :n]) for n in config.sizes]
    norms = torch.stack(
        [(Y[:n] * (inverse @ Y[:n])).sum(0) for n, inverse in zip(config.sizes, inverses, strict=True)]
    )
    by_target = {name: norms[:, k].tolist() for k, name in enumerate(targets.NAMES)}
    return {
        "norms": by_target | {"noise": [float(inverse.trace()) for inverse in inverses]},
        "smallest": float(torch.linalg.eigvalsh(K)[0]),
    }


NORMS = Experiment(
    name="norms",
    title="Is a target realisable? The least squared norm that fits its labels, against the number of samples",
    plan=plan_norms,
    compute=compute_norms,
    dtype="float64",
)


#: Whose certificates are measured.
CERTIFIED_TARGETS = ("teacher", "sharp head", "jump", "product")


@dataclass(frozen=True)
class Certified:
    """Runs on some targets with Theorem A's certificate of the best ridge comparator, measured at every step."""

    m: int  # width
    seed: int  # as of ``Config``
    n: int = 128  # samples
    teacher: int = 2048  # heads of the teacher
    times: tuple[int, ...] = TIMES  # horizons
    relative: float = RELATIVE  # step size in units of n/λ_max at the start


def plan_certified(scale: str) -> list[Certified]:
    """The runs of a scale. Returns: configurations, narrow models first."""
    if scale == "smoke":
        return [Certified(4, 0, n=16, teacher=64, times=(5, 10))]
    seeds, widths = (SEEDS, WIDTHS) if scale == "paper" else (SEEDS[:5], WIDTHS)
    return [Certified(m, seed) for m in widths for seed in seeds]


def compute_certified(config: Certified, device: torch.device) -> dict:
    """Compute one row: comparators in float64 on the CPU, the runs in float32 on the device.

    Returns: for each target: the comparator's error at the start and along the run, its squared distance, θ, and over ``times`` mean losses
    and certificates.
    """
    like = Config(config.m, config.seed, n=config.n, teacher=config.teacher)
    X, Y, *_ = problem(like)
    phi0 = start(like)
    eta = config.relative / step_size.curvature(X, phi0)
    return {
        "eta": eta,
        "targets": {
            name: _certified(X, Y[:, targets.NAMES.index(name)], phi0, eta, config.times, device)
            for name in CERTIFIED_TARGETS
        },
    }


def _certified(
    X: Tensor, y: Tensor, phi0: Parameters, eta: float, times: Sequence[int], device: torch.device
) -> dict:
    ridge = comparators.best_ridge(Loss(X, y), phi0, eta, times[-1])
    cast = lambda tensor: tensor.to(device, torch.float32)
    loss, points = Loss(cast(X), cast(y)), [ridge.point.map(cast)]
    seen = certificates.follow(loss, phi0.map(cast), points, eta=eta, steps=times[-1], rho=None)
    bounds = [seen.certificate(t)[0] for t in times]
    return {
        "epsilon_start": ridge.epsilon,
        "epsilon": [float(seen.epsilon[:t, 0].max()) for t in times],
        "V0": ridge.V0,
        "theta": float(seen.theta.max()),
        "mean": [float(seen.losses[:t].double().mean()) for t in times],
        "certificate": [value if math.isfinite(value) else "inf" for value in bounds],
    }


CERTIFIED = Experiment(
    name="misfit",
    title="Theorem A's certificate for realisable and other targets",
    plan=plan_certified,
    compute=compute_certified,
    tolerance={"targets": 0.05},
    dtype="float32",
)

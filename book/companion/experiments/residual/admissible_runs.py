"""Descent from starts that the theorems admit, with the theorems' own steps, and every quantity that they bound measured at every step."""

import itertools
import math

import torch
from torch import Tensor

from companion.experiments.residual.admissible_starts import SIZES, Config, Start, begun
from companion.theory.residual import tangent
from shallowformer.experiments.experiment import Experiment
from shallowformer.residual import curvature, gradients
from shallowformer.residual.parameters import Parameters, Setting


def plan(scale: str) -> list[Config]:
    """Every theorem, several seeds, both directions."""
    if scale == "smoke":
        return [Config("kernel", 0, True, watched=20, decades=0.5, most=50)]
    seeds = range(3 if scale == "laptop" else 10)
    cases = [(proof, 0.02 if proof == "bare" else 0.5) for proof in SIZES] + [
        ("kernel", 0.02),
        ("kernel", 0.9),
        ("unembedding", 0.02),
    ]
    # Theorem A admits errors of 1e-8: two decades below, their changes a step are still far above rounding.
    return [
        Config(
            proof,
            seed,
            worst,
            delta,
            tau=0.0 if proof == "kinks" else 0.3,
            decades=2.0 if proof == "blocks" else 4.0,
        )
        for proof, delta in cases
        for seed in seeds
        for worst in (True, False)
    ]


def compute(config: Config, device: torch.device) -> dict:
    """Run, and hold everything against its bound.

    Returns: ``admitted`` (Φ at the start), ``mu``, ``step`` (μ‖J_0‖²), ``value`` (the singular value at the start), ``kernel``
    (σ_min(J_0)), and as left side over right side, none above 1: ``fall`` (of the singular value, over slope times distance; 0 for Theorems
    A and A+), ``least``, ``step_norm`` (μ‖J_t‖²), ``path``, ``moved``, ``exponent`` (guaranteed over measured, the largest of a step),
    ``average`` (the same of all watched steps), ``distance``; ``asymptotic`` (what the kernel at the start predicts of the last watched
    step's exponent, over it), ``shrunk`` (e at the end over e at the start), ``steps``.
    """
    X, Y, theta, setting, start = begun(config)
    with torch.no_grad():
        return _run(config, X, Y, theta, setting, start)


def _run(config: Config, X: Tensor, Y: Tensor, theta: Parameters, setting: Setting, start: Start) -> dict:
    begin, at_start = curvature.flat(theta), start.value(theta)
    low, high = tangent.ends(X, theta, setting)
    worst = dict.fromkeys(("fall", "least", "step_norm", "moved", "exponent"), 0.0)
    errors, path, steps = [], 0.0, 0

    def push(name: str, value: float) -> None:
        worst[name] = max(worst[name], value)

    while True:
        now = gradients.unchecked(X, Y, theta, setting)
        errors.append(math.sqrt(2 * float(now.loss)))
        if errors[-1] <= 10**-config.decades * errors[0] or steps == config.most:
            break
        if steps <= config.watched:
            low_now, norm = tangent.ends(X, theta, setting)
            # The kernel's theorem watches the Jacobian itself, which is dear.
            value = low_now if config.proof == "kernel" else start.value(theta)
            moved = float((curvature.flat(theta) - begin).norm())
            push("least", start.least / value)
            push("step_norm", start.mu * norm**2)
            push("moved", moved / start.length)
            if moved and not math.isnan(start.slope):
                push("fall", (at_start - value) / (start.slope * moved))
        theta = Parameters(*(W - start.mu * G for W, G in zip(theta, now.gradients, strict=True)))
        path += start.mu * float(curvature.flat(now.gradients).norm())
        steps += 1
    exponents = [2 * math.log(a / b) for a, b in itertools.pairwise(errors)]
    promised = [-math.log(start.factor(e)) for e in errors[:-1]]
    seen = min(config.watched, steps)
    push("exponent", max(p / x for p, x in zip(promised, exponents, strict=True)))
    # What is left of the path is at most the theorem's distance from here.
    far = float((curvature.flat(theta) - begin).norm()) + start.distance(errors[-1])
    return {
        "admitted": errors[0] ** 2 / 2,
        "mu": start.mu,
        "step": start.mu * high**2,
        "value": at_start,
        "kernel": low,
        **worst,
        "average": sum(promised[:seen]) / sum(exponents[:seen]),
        "path": path / start.length,
        "distance": far / start.distance(errors[0]),
        "asymptotic": -2 * math.log(1 - start.mu * low**2) / exponents[-1],
        "shrunk": errors[-1] / errors[0],
        "steps": steps,
    }


EXPERIMENT = Experiment(
    name="admissible_runs",
    title="Theorems A, A+, D, E and F of the residual part at starts that they admit, with certified steps: every bound at every step",
    plan=plan,
    compute=compute,
    # Where a singular value hardly falls, by how much is a difference in rounding; the last exponents hold changes of errors that are small
    # against the outputs.
    tolerance={"fall": 1e-1, "asymptotic": 1e-2},
    dtype="float64",
)

"""Which margin do steepest descents, Adam and Muon find in token selection: Euclidean, of the largest entry, or spectral?

Two settings of six sequences in 24 dimensions. ``example``: Example 1 with six tokens, where Assumption 2 holds. ``gaussian``: four Gaussian tokens
and a Gaussian decoder, where it fails. Start 0, decoder fixed. A step is c/γ long, γ the largest margin in the rule's own norm, so that the best
direction gains c. Decaying steps have c = 0.5/√(t + 1), constant ones c = 0.2; 10⁴ of them. A *share* is min_k h_k/(‖W‖γ), in each of three norms.

What is expected, written before the first run; a threshold is for every seed of both settings unless something else is said.

1. *Own margin.* With decaying steps ``ngd``, ``sign`` and ``polar`` end with an own share of at least 0.95, and among the three each has the largest
   share in its own norm.
2. *Rate.* The mean slope of log(1 − own share) against log t from t = 100 on is between −0.65 and −0.35 for each of the three (theory: at most
   log t/√t; the path is √t long).
3. *Momentum.* Own shares of ``signum`` and ``muon`` (exact polar factor) end within 0.02 of those of ``sign`` and ``polar``.
4. *Newton–Schulz.* ``muon_ns`` ends with a spectral share of at least 0.85, and at least 0.01 below ``muon``'s in the median of each setting: its
   singular values are not 1.
5. *Adam.* With ε = 0 and β₂ = 0.95 the share of the largest entry ends at 0.9 or more. With β₂ = 0.999 it ends below 0.9 in the median of each
   setting, because gradients shrink faster than the memory.
6. *Speed limit.* Under ``adam_constant`` (β₂ = 0.999, ε = 0) the slope of −log(ℒ − ℒ*) over the second half is within 20 % of ½ log(1/0.999).
7. *ε.* With ε = 10⁻⁸ Adam's share of the largest entry ends above its Euclidean one, and the Euclidean one below 0.9: plain descent has begun, but
   has no time. Followed along its limit, gradient flow, its Euclidean share overtakes the other, after more than 10⁸ steps of length η.
8. *Constant steps.* From t = 1000 on the slope of log(1 − own share) is at most −0.8 in the mean for ``sign_constant`` (entries that matter have their
   sign at once, the others chatter), and above −0.5 for ``polar_constant`` (polar factors chatter on a curved surface; a floor remains).
"""

import math
from dataclasses import dataclass

import numpy as np
import torch

from companion.theory.token_selection.best_margins import Best, best
from companion.theory.token_selection.norms import NORMS
from companion.theory.token_selection.optimisers import Adam, Slope, Steepest, run
from shallowformer.experiments.experiment import Experiment
from shallowformer.token_selection import datasets, rules
from shallowformer.token_selection.instances import Instance

SEEDS = range(10)
SETTINGS = ("example", "gaussian")
#: Numbers of sequences and dimensions, and of tokens a sequence by setting.
N, D, TOKENS = 6, 24, {"example": 6, "gaussian": 4}
OPTIMISERS = {
    "ngd": Steepest("euclidean"),
    "sign": Steepest("max"),
    "polar": Steepest("spectral"),
    "signum": Steepest("max", 0.9),
    "muon": Steepest("spectral", 0.95, ahead=True),
    "muon_ns": Steepest("spectral", 0.95, ahead=True, approximate=True),
    "adam": Adam(0.9, 0.95),
    "adam_long": Adam(0.9, 0.999),
    "adam_epsilon": Adam(0.9, 0.95, 1e-8),
    "sign_constant": Steepest("max"),
    "polar_constant": Steepest("spectral"),
    "adam_constant": Adam(0.9, 0.999),
}
#: c of decaying steps, of constant ones, and of the flow that ``adam_epsilon`` ends in.
DECAYING, CONSTANT, FLOW = 0.5, 0.2, 0.02


@dataclass(frozen=True)
class Config:
    """A run."""

    setting: str  # of ``SETTINGS``
    optimiser: str  # of ``OPTIMISERS``
    seed: int  # of the data
    steps: int  # how many
    a_decade: int = 6  # steps recorded between 1 and 10, 10 and 100, …


def plan(scale: str) -> list[Config]:
    """The runs of a scale, setting by setting."""
    if scale == "smoke":
        return [Config("example", optimiser, 0, 50) for optimiser in OPTIMISERS]
    seeds = SEEDS if scale == "paper" else SEEDS[:3]
    return [
        Config(setting, name, seed, 10_000) for setting in SETTINGS for name in OPTIMISERS for seed in seeds
    ]


def problem(setting: str, seed: int) -> Instance:
    """The data."""
    generator = torch.Generator().manual_seed(seed)
    if setting == "example":
        return datasets.example_1(N, TOKENS[setting], D, math.sqrt(D), 1.0, generator)
    draw = lambda *shape: torch.randn(*shape, generator=generator, dtype=torch.float64)
    y = torch.where(draw(N) > 0, 1.0, -1.0).to(torch.float64)
    return Instance(draw(N, TOKENS[setting], D), y, draw(D) / math.sqrt(D))


def shares(W: np.ndarray, now: Slope, found: dict[str, Best]) -> dict[str, list[float]]:
    """Shares of the largest margins, and cosines with the matrices that have them, in the order of ``NORMS``."""
    low, size = float(now.gaps.min()), float(np.linalg.norm(W)) or 1.0
    share = lambda name: low / (float(NORMS[name].size(W)) or 1.0) / found[name].margin
    cosine = lambda V: float((W * V).sum()) / size / float(np.linalg.norm(V))
    return {"share": [share(name) for name in NORMS], "cosine": [cosine(found[name].W) for name in NORMS]}


def followed(data: Instance, W: np.ndarray, found: dict[str, Best], rate: float, steps: int) -> dict:
    """Plain descent W' = −rate ∇ℒ from W, along its path: shares, and the logarithm of the time that each point takes."""
    length = FLOW / found["euclidean"].margin
    kept = run(data, Steepest("euclidean"), np.full(steps, length), range(0, steps + 1, 100), start=W)
    norm = lambda now: now.scale + math.log(np.linalg.norm(now.G))
    # time = ∫ ds/(rate ‖∇ℒ‖), and 1/‖∇ℒ‖ grows like e^s: the trapezoid of the logarithms, step by step of 100
    logs = np.array([-norm(now) for _, _, now in kept]) - math.log(rate)
    rise = np.diff(logs)
    safe = np.where(abs(rise) > 1e-9, rise, 1.0)
    pieces = np.where(abs(rise) > 1e-9, np.log(np.abs(np.expm1(safe)) / abs(safe)), 0.0) + logs[:-1]
    times = np.logaddexp.accumulate(pieces + math.log(100 * length))
    return {
        "log_time": [float(time) for time in times],
        "flow_share": [shares(W, now, found)["share"] for _, W, now in kept[1:]],
    }


def compute(config: Config, device: torch.device) -> dict:
    """Run, on the processor, and record.

    Returns: in the order of ``NORMS`` the ``margins`` and the relative duality ``gaps`` of their solvers; the step length's number ``eta``;
    ``region``, the first step from which (recorded) n(ℒ − ℒ*) ≤ Ψ_min/2. At the recorded steps ``at``: ``share``, ``cosine``, ``lowest`` gap,
    ``log_excess``, ``spread`` of the logarithms of weights. For ``adam_epsilon`` what ``followed`` returns.
    """
    data = problem(config.setting, config.seed)
    found = {name: best(data, name) for name in NORMS}
    optimiser = OPTIMISERS[config.optimiser]
    constant = config.optimiser.endswith("constant")
    eta = (CONSTANT if constant else DECAYING) / found[optimiser.norm].margin
    lengths = np.full(config.steps, eta) if constant else eta / np.sqrt(1 + np.arange(config.steps))
    kept = run(data, optimiser, lengths, rules.recorded_steps(config.steps, config.a_decade))
    seen = [shares(W, now, found) for _, W, now in kept]
    psi = (data.advantages.amin(1) * torch.exp(-data.scores.amax(1))).amin()
    inside = [now.log_excess <= math.log(float(psi) / (2 * data.n)) for _, _, now in kept]
    row = {
        "margins": [found[name].margin for name in NORMS],
        "gaps": [found[name].above / found[name].margin - 1 for name in NORMS],
        "eta": float(eta),
        "region": next((t for k, (t, _, _) in enumerate(kept) if all(inside[k:])), -1),
        "at": [t for t, _, _ in kept],
        "share": [each["share"] for each in seen],
        "cosine": [each["cosine"] for each in seen],
        "lowest": [float(now.gaps.min()) for _, _, now in kept],
        "log_excess": [now.log_excess for _, _, now in kept],
        "spread": [float(np.ptp(now.log_weights)) for _, _, now in kept],
    }
    if config.optimiser == "adam_epsilon":
        # once the gradient is far below ε the update is a running mean of the gradient over ε: descent at a rate of η/ε
        row |= followed(data, kept[-1][1], found, eta / optimiser.epsilon, config.steps)
    return row


def own(optimiser: str) -> int:
    """Place of an optimiser's own norm in the lists of a row."""
    return list(NORMS).index(OPTIMISERS[optimiser].norm)


def slope(row: dict, after: int) -> float:
    """Slope of log(1 − own share) against log t in a stored row, least squares over the recorded steps from ``after`` on."""
    steps, values = np.array(row["at"]), 1 - np.array(row["share"])[:, own(row["optimiser"])]
    late = steps >= after
    return float(np.polyfit(np.log(steps[late]), np.log(values[late]), 1)[0])


EXPERIMENT = Experiment(
    name="margins",
    title="Which margin steepest descents, Adam and Muon find in token selection",
    plan=plan,
    compute=compute,
    dtype="float64",
)

"""Figure 9: a picture of a digit among patches of noise, a head trained beforehand; descent and normalised descent side by side."""

from dataclasses import dataclass

import torch
from jaxtyping import Int
from torch import Generator, Tensor

from companion.theory.token_selection import limits
from shallowformer.experiments.experiment import Experiment
from shallowformer.real import images
from shallowformer.real.images import Pictures
from shallowformer.token_selection import constants, datasets, descent, gaps, rules, svm
from shallowformer.token_selection.instances import Instance

#: Steps at which runs are looked at.
STEPS = [10, 30, 100, 300, 1000, 3000, 10_000]


@dataclass(frozen=True)
class Config:
    """Sequences of patches, a head, and runs from W = 0."""

    noise: float  # norm of a noise patch over the mean norm of the pictures
    ridge: float  # of the head, over the mean squared norm of the pictures
    seed: int  # of pictures, places and noise
    n: int = 20  # sequences
    T: int = 4  # patches a sequence
    steps: int = STEPS[-1]  # of both runs


#: Noise and ridge: weaker noise, noise as strong as the digits, and with it a head that is hardly regularised.
SETTINGS = ((0.5, 0.1), (1.0, 0.1), (1.0, 0.001))


def plan(scale: str) -> list[Config]:
    """Every setting, several seeds."""
    if scale == "smoke":
        return [Config(1.0, 0.1, 0, n=4, T=3, steps=30)]
    return [Config(*setting, seed) for setting in SETTINGS for seed in range(3 if scale == "laptop" else 10)]


def posed(config: Config, shown: Pictures) -> tuple[Instance, Int[Tensor, " n"]]:
    """The instance, and where the digits are; the head is scaled to a mean score of 1 for pictures."""
    pictures, digits = shown.values, shown.labels
    generator = Generator().manual_seed(config.seed)
    X, y, place = datasets.patches(config.n, config.T, generator, pictures, digits, noise=config.noise)
    known = pictures[digits <= 1], torch.where(digits[digits <= 1] == 0, 1.0, -1.0).to(pictures)
    u = datasets.linear_head(*known, config.ridge)
    return Instance(X, y, u / (known[0] @ u).abs().mean()), place


def rates(instance: Instance) -> dict[str, rules.Rule]:
    """Normalised descent whose gaps move by at most a fifth a step, and descent with a step to match its first ones."""
    longest = float(instance.gram.diagonal().max()) ** 0.5
    return {"NGD": rules.NGD(0.2 / longest), "GD": rules.GD(20 / longest**2)}


def compute(config: Config, device: torch.device, shown: Pictures | None = None) -> dict:
    """Run both rules.

    Returns: ``selected``: share of sequences whose digit has the largest score; ``unequal``: largest difference of scores of two noise
    patches (Assumption 2 wants 0); ``dependence``: nTν over the smallest squared query, of which Assumption 1 wants a fraction;
    ``dominance`` as in ``limits``; by rule ``apart``: 1 − corr with W_mm, and ``least``: smallest weight of an optimal token, at ``STEPS``.

    Args:
        shown: scikit-learn's digits if not given.
    """
    instance, place = posed(config, shown or images.digits())
    best = svm.w_svm(instance)
    problem = gaps.problem(instance, towards=best)
    at = [step for step in STEPS if step <= config.steps]
    found = {
        "selected": float((instance.optimal == place).double().mean()),
        "unequal": float(instance.spread.max()),
        "dependence": instance.n * instance.T * constants.nu(instance) / constants.s_1(instance),
        "dominance": limits.dominance(instance),
    }
    for name, rule in rates(instance).items():
        run = descent.run(problem, rule, config.steps, at=at)
        found[name] = {"apart": run.one_minus_corr.tolist(), "least": run.log_best.exp().amin(1).tolist()}
    return found


EXPERIMENT = Experiment(
    name="digit_patches",
    title="Figure 9: digits among patches of noise, descent and normalised descent",
    plan=plan,
    compute=compute,
    dtype="float64",
)

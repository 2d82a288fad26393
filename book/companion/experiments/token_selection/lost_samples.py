"""How often normalised descent from 0 loses a sample, as the dimension and the tokens' common mean grow."""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Generator, Tensor

from companion.theory.token_selection import limits
from shallowformer.experiments.experiment import Experiment
from shallowformer.token_selection import descent, gaps, rules, svm
from shallowformer.token_selection.instances import Instance

#: Step length over the length of the longest E_k; the directions at which a sample is lost do not change with a tenth of it.
STEP = 0.1


@dataclass(frozen=True)
class Config:
    """Instances of one kind."""

    T: int  # tokens a sample
    d: int  # dimension
    common: float  # norm of the tokens' common mean over their norm about it
    seed: int  # of the instances
    n: int = 3  # samples
    instances: int = 200  # how many
    steps: int = 1500  # of normalised descent from 0


def plan(scale: str) -> list[Config]:
    """Instances over a grid."""
    if scale == "smoke":
        return [Config(2, 2, 10.0, 0, instances=5, steps=50), Config(3, 4, 0.0, 0, instances=5, steps=50)]
    return [
        Config(T, d, common, seed)
        for T in (2, 3)
        for d in (2, 3, 5, 10, 20, 50)
        for common in (0.0, 1.0, 3.0, 10.0)
        for seed in range(2 if scale == "laptop" else 10)
    ]


def draw(n: int, T: int, d: int, common: float, generator: Generator) -> Instance:
    """Gaussian tokens about a common Gaussian mean, Gaussian decoder, random labels; the first token asks.

    For T > 2 the tokens that are not optimal are shifted along the decoder until they share one score: Assumption 2.

    Args:
        common: standard deviation of the mean's entries; 1 is that of a token's about it.
    """
    X, y, u = (part[0] for part in drawn_together(1, n, T, d, common, generator))
    return Instance(X, y, u)


def drawn_together(
    count: int, n: int, T: int, d: int, common: float, generator: Generator
) -> tuple[Float[Tensor, "count n T d"], Float[Tensor, "count n"], Float[Tensor, "count d"]]:
    """Tokens, labels and decoders of ``draw``, one instance after the other."""
    normal = lambda *shape: torch.randn(*shape, generator=generator, dtype=torch.float64)
    raw = [
        (normal(n, T, d), normal(d), normal(d), torch.randint(2, (n,), generator=generator))
        for _ in range(count)
    ]
    about, mean, u, coins = (torch.stack(part) for part in zip(*raw, strict=True))
    X, u, y = about + common * mean[:, None, None], u / d**0.5, 2.0 * coins.double() - 1
    scores = y[..., None] * (X @ u[:, None, :, None])[..., 0]
    rest = torch.ones_like(scores).scatter(2, scores.argmax(2, keepdim=True), 0.0)
    level = (rest * scores).sum(2, keepdim=True) / (T - 1)
    along = (u / u.square().sum(1, keepdim=True))[:, None, None]
    return X + (rest * (level - scores) * y[..., None])[..., None] * along, y, u


def drawn(config: Config) -> tuple[list[Instance], list[svm.Attention]]:
    """The feasible instances of a configuration, and their W_mm.

    The seed alone seeds the draws: configurations with one seed share randomness, and differ only otherwise.
    """
    generator = Generator().manual_seed(config.seed)
    found = []
    for _ in range(config.instances):
        instance = draw(config.n, config.T, config.d, config.common, generator)
        try:
            found.append((instance, svm.w_svm(instance)))
        except svm.Infeasible:
            continue
    return [instance for instance, _ in found], [best for _, best in found]


def trained(
    instances: list[Instance],
    bests: list[svm.Attention],
    steps: int,
    step: float = STEP,
    at: Sequence[int] = (),
) -> descent.Trajectory:
    """Normalised descent from 0 on all instances, of one size, side by side, each in units of its longest E_k.

    Args:
        at: when it is recorded; half-way and at the end, if not told.
    """
    together = gaps.stacked(
        [gaps.problem(one, towards=best) for one, best in zip(instances, bests, strict=True)]
    )
    longest = np.sqrt((together.R**2).sum(-1).max(-1))
    together = dataclasses.replace(together, R=together.R / longest[:, None, None])
    return descent.run(together, rules.NGD(step), steps, at=[*at] or [steps // 2, steps])


def decided(
    run: descent.Trajectory, bests: list[svm.Attention], half: int, end: int
) -> tuple[Bool[Tensor, " k"], Bool[Tensor, " k"]]:
    """Which instances have lost a sample by a record, and which are open, as ``compute`` counts them.

    Args:
        half: number of the record half-way.
        end: number of the record.
    """
    before, now = run.gaps[[half, end]].flatten(2).amin(2)
    lost = (now < 0) & (now < before)
    for which in lost.nonzero()[:, 0].tolist():
        kept = (run.gaps[end, which] > 0).all(1)
        lost[which] = any(torch.equal(kept, each) for each in limits.losable(bests[which], len(kept)))
    return lost, (now < 0) & ~lost


def compute(config: Config, device: torch.device) -> dict:
    """Count.

    Returns: numbers of instances: ``feasible``; ``lost``: at the end some gap is below 0 and lower than half-way, and the samples that win
    are a set of ``limits.losable``; ``open``: some gap is below 0 and that is not so; ``losable``, for which there is such a set;
    ``dominated``, for which ``limits.dominance`` excludes every direction but that of W_mm. ``apart``: mean of 1 − corr with W_A, A the
    winning samples, over the lost ones, and ``from_best``, of that with W_mm (0 if none is lost).
    """
    instances, bests = drawn(config)
    run = trained(instances, bests, config.steps)
    gone, undecided = decided(run, bests, 0, 1)
    apart, from_best = [], []
    for which in gone.nonzero()[:, 0].tolist():
        best, kept = bests[which], (run.gaps[-1, which] > 0).all(1)
        inner, z = limits.local(best, kept), run.z[-1, which, : best.A.shape[1]]
        apart.append(float(1 - z @ inner.z / (z.norm() * inner.norm)))
        from_best.append(float(run.one_minus_corr[-1, which]))
    mean = lambda values: sum(values) / len(values) if values else 0.0
    return {
        "feasible": len(instances),
        "lost": int(gone.sum()),
        "open": int(undecided.sum()),
        "losable": sum(bool(limits.losable(best, config.n)) for best in bests),
        "dominated": sum(limits.dominance(one) < 1 for one in instances),
        "apart": mean(apart),
        "from_best": mean(from_best),
    }


EXPERIMENT = Experiment(
    name="lost_samples",
    title="Samples lost by normalised descent from 0, against dimension and common mean",
    plan=plan,
    compute=compute,
    dtype="float64",
)


@dataclass(frozen=True)
class Longer(Config):
    """Instances whose runs go on."""

    times: int = 10  # how many times as long


def longer(scale: str) -> list[Longer]:
    """Two tokens in the plane, the largest mean."""
    if scale == "smoke":
        return [Longer(2, 2, 10.0, 0, instances=5, steps=50)]
    return [Longer(2, 2, 10.0, seed) for seed in range(2 if scale == "laptop" else 10)]


def go_on(config: Longer, device: torch.device) -> dict:
    """Count what becomes of runs that ``compute`` calls lost or open.

    Returns: numbers of instances, as in ``compute``: ``lost`` and ``open`` after ``steps``; of each of these, after as many steps as
    ``times`` says: ``lost_lost``, ``lost_open``, ``open_lost`` and ``open_open``. The others have no gap below 0 by then.
    """
    instances, bests = drawn(config)
    end = config.steps * config.times
    run = trained(instances, bests, end, at=[config.steps // 2, config.steps, end // 2, end])
    early, late = (dict(zip(("lost", "open"), decided(run, bests, k, k + 1), strict=True)) for k in (0, 2))
    return {name: int(which.sum()) for name, which in early.items()} | {
        f"{was}_{now}": int((which & then).sum())
        for was, which in early.items()
        for now, then in late.items()
    }


LONGER = Experiment(
    name="lost_samples_longer",
    title="What becomes of lost and of open samples in runs ten times as long",
    plan=longer,
    compute=go_on,
    dtype="float64",
)

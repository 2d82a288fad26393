"""Controls for ``sentence_selection``: the same sentences with vectors drawn anew, the mean asks.

In the film reviews most runs lose sentences. Is that the geometry of a language's tokens, or that there are 24 samples? Vectors are drawn
anew, Gaussian in 384 dimensions, one an occurrence ("apart": no two sentences share a vector), or one an id and place ("shared": all
sentences share [CLS] and [SEP], and some a word), or one an occurrence about a common mean as long as the tokens' own ("mean", the ratio of
the mean token's squared norm to the mean squared norm of tokens). The decoder is Gaussian; the mean |score| is 1.

Written down before the first run of these, after that of ``sentence_selection``:

1. "apart" keeps every sentence under normalised descent in at least 9 of 10 seeds.
2. "shared" loses a sentence in at least 5 of 10.
3. "mean" loses one in more seeds than "apart" does.
"""

from dataclasses import dataclass

import torch
from torch import Generator

from companion.experiments.token_selection import sentence_selection
from companion.theory.token_selection.real_sentences import Posed
from shallowformer.experiments.experiment import Experiment
from shallowformer.token_selection.instances import Instance

KINDS = ("apart", "shared", "mean")


@dataclass(frozen=True)
class Config:
    """A way to draw vectors."""

    kind: str  # one of ``KINDS``
    seed: int  # of the sentences, and of the vectors
    n: int = 24  # sentences
    steps: int = sentence_selection.STEPS[-1]


def plan(scale: str) -> list[Config]:
    """Every kind, several seeds."""
    if scale == "smoke":
        return [Config("shared", 0, n=3, steps=30)]
    return [Config(kind, seed) for seed in range(3 if scale == "laptop" else 10) for kind in KINDS]


def posed(config: Config) -> Posed:
    """The sentences of ``sentence_selection`` with other vectors."""
    given = sentence_selection.posed(sentence_selection.Config(0, False, "mean", config.seed, config.n))
    real, generator = given.instance.X, Generator().manual_seed(config.seed)
    X = torch.randn(real.shape, generator=generator, dtype=real.dtype)
    if config.kind == "shared":
        known: dict[tuple[int, int], torch.Tensor] = {}
        for x, row in zip(X, given.ids.tolist(), strict=True):
            for t, number in enumerate(row):
                x[t] = known.setdefault((number, t), x[t].clone())
    if config.kind == "mean":
        share = float(real.flatten(0, 1).mean(0).square().sum() / real.square().sum(-1).mean())
        X = (
            X
            + torch.randn(real.shape[-1], generator=generator, dtype=real.dtype)
            * (share / (1 - share)) ** 0.5
        )
    u = torch.randn(real.shape[-1], generator=generator, dtype=real.dtype)
    u = u / (X @ u).abs().mean()
    instance = Instance(X, given.instance.y, u, query=X.mean(1))
    return Posed(instance, given.ids, instance)


def compute(config: Config, device: torch.device) -> dict:
    """Pose, and run three rules.

    Returns: as ``sentence_selection``, by rule without ``right``, ``weights`` and ``selected``.
    """
    found = sentence_selection.trained(posed(config), config.steps)
    for rule in ("NGD", "GD", "momentum"):
        found[rule] = {name: found[rule][name] for name in ("apart", "least", "kept", "excess", "elsewhere")}
    return {name: value for name, value in found.items() if name not in ("labels", "optimal")}


EXPERIMENT = Experiment(
    name="sentence_controls",
    title="Film reviews with vectors drawn anew: are sentences lost?",
    plan=plan,
    compute=compute,
    tolerance={name: 0.02 for name in ("NGD", "GD", "momentum")},
    dtype="float64",
)

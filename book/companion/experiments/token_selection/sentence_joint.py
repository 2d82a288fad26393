"""Decoder and attention trained together on film reviews: which words are selected, and where both directions go.

Sentences as in ``sentence_selection``, at the embeddings, raw, the mean token asks; the model and the rules of the chapter on joint training.
u and W start at 0; nobody says which tokens are optimal. "schedule" is that of the theory, "NGD" normalises both gradients, "GD" neither.
With S² the mean squared length of a token, η is 1/S, 0.1/S and 1/S².

Written down before the first run:

1. The loss falls at every recorded step, in every run; at step 3000 log L is at most −10 under NGD, at most −2 under GD, and GD has the
   larger loss in every run.
2. Under NGD some token has a weight of at least 0.9 in every sentence at step 3000, in at least 9 of 10 seeds.
3. In every run of NGD the token with the largest weight is another than the optimal one of the decoder fitted to other reviews, in at least
   half of the sentences.
4. It is the token that the decoder's first step, along the mean of signed tokens, scores best in at least half of the sentences, in every
   run of NGD.
5. Under NGD 1 − cos of W with the SVM of the selected tokens is at most 0.1 at step 3000, and smaller than under GD, in every run.
6. From step 1000 to 3000 its exponent in t is below −0.3 under NGD and above −0.3 under GD, in every run; under the schedule, for which
   (log t)^−2 is proved, it is above −0.3 too.
7. Under NGD 1 − cos of u with the max-margin direction of the selected tokens is at most 0.1 at step 3000, in every run; 1 − cos with the
   decoder fitted to other reviews is at least 0.5.
8. On the other reviews of 16 ids both together are right no oftener than the max-margin decoder of the same sentences' mean tokens: over
   ten seeds the mean difference of the shares of right signs is below 5 percentage points, for every rule.
"""

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from companion.experiments.token_selection import sentence_selection
from companion.theory.token_selection import joint, joint_rules, real_sentences
from companion.theory.token_selection.real_sentences import Posed
from shallowformer.experiments.experiment import Experiment
from shallowformer.real import sentences, transformer
from shallowformer.real.source import short
from shallowformer.token_selection import gradients, svm
from shallowformer.token_selection.instances import Instance

#: Steps at which runs are looked at.
STEPS = sentence_selection.STEPS


@dataclass(frozen=True)
class Config:
    """Sentences, and one run of each rule from u = 0, W = 0."""

    seed: int  # of the choice of sentences
    n: int = 24  # sentences
    steps: int = STEPS[-1]  # of every run


def plan(scale: str) -> list[Config]:
    """Several seeds."""
    if scale == "smoke":
        return [Config(0, n=3, steps=30)]
    return [Config(seed) for seed in range(3 if scale == "laptop" else 10)]


def posed(config: Config) -> Posed:
    """The sentences; the decoder of other reviews serves to name its optimal tokens."""
    return sentence_selection.posed(sentence_selection.Config(0, False, "mean", config.seed, config.n))


def rates(instance: Instance) -> dict[str, joint_rules.Rule]:
    """The schedule of the theory, normalised descent on both, and plain descent."""
    size = float(instance.X.square().sum(-1).mean().sqrt())
    return {
        "schedule": joint_rules.Scheduled(1 / size),
        "NGD": joint_rules.Scheduled(0.1 / size, 0.0, 0.0),
        "GD": joint_rules.GD(1 / size**2),
    }


@dataclass(frozen=True)
class Point:
    """Where a run is at a recorded step."""

    log_loss: float
    u: Float[Tensor, " d"]
    W: Float[Tensor, "d d"]


def walked(instance: Instance, rule: joint_rules.Rule, at: list[int]) -> list[Point]:
    """Both blocks from 0, as in ``joint.run``, which keeps no W."""
    tokens = joint.in_coordinates(instance, torch.eye(instance.d, dtype=instance.X.dtype))
    start = np.zeros(instance.d), np.zeros((instance.d, instance.d))
    return [
        Point(now.log_loss, torch.from_numpy(u), torch.from_numpy(W))
        for t, u, W, now, _ in joint.walk(tokens, rule, at[-1], *start)
        if t in at
    ]


def right(given: Instance, u: Float[Tensor, " d"], W: Float[Tensor, "d d"] | None) -> float:
    """Share of sentences whose output has its label's sign; uniform attention if no W is given."""
    return sentence_selection.right(Instance(given.X, given.y, u, query=given.queries, opt=given.optimal), W)


def apart(a: Float[Tensor, "*d"], b: Float[Tensor, "*d"]) -> float:
    """1 − cos."""
    return float(1 - (a * b).sum() / (a.norm() * b.norm()))


def directions(
    instance: Instance, chosen: Int[Tensor, " n"]
) -> tuple[Float[Tensor, " d"] | None, Float[Tensor, "d d"] | None]:
    """The max-margin decoder of chosen tokens, and the shortest W that puts them ahead of all others; None where there is none."""
    named = Instance(instance.X, instance.y, instance.u, query=instance.queries, opt=chosen)
    found = []
    for solve, name in ((svm.u_svm, "u"), (svm.w_svm, "W")):
        try:
            found.append(getattr(solve(named), name))
        except svm.Infeasible:
            found.append(None)
    return found[0], found[1]


def compute(config: Config, device: torch.device) -> dict:
    """Pose, and run three rules.

    Returns: ``optimal``: the optimal tokens of the decoder that was fitted to other reviews; ``right`` on other sentences with uniform
    attention: of the max-margin decoder of the mean tokens, and ``right_known`` of the fitted one; by rule at ``STEPS`` ``log_loss``,
    ``largest``: the smallest of the sentences' largest weights, ``settled``: in how many sentences the largest is at least 0.9,
    ``apart_W`` and ``apart_u``: 1 − cos with the directions of the tokens selected at the end ("none" where there is none),
    ``apart_known``: 1 − cos of u with the fitted decoder, ``norms`` of u and W, ``right``; at the end ``selected`` words, in how many sentences they are ``same`` as
    the optimal ones, ``first``: the ones that the decoder's first step scores best, ``top``: those that the last decoder does, and
    ``repeated``: that were selected at every step from 300 on.
    """
    given = posed(config)
    data, rows = given.instance, torch.arange(config.n)
    means = data.y[:, None] * data.X.mean(1)
    at = [step for step in STEPS if step <= config.steps]
    found = {
        "data": short(sentences.REVIEWS),
        "model": short(transformer.MINILM),
        "optimal": real_sentences.words(given.ids[rows, data.optimal]),
        "right": right(given.others, svm.shortest(means).z, None),
        "right_known": right(given.others, data.u, None),
    }
    first = (data.y[:, None] * (data.X @ means.sum(0))).argmax(1)
    same = lambda a, b: int((a == b).sum())
    for name, rule in rates(data).items():
        points = walked(data, rule, at)
        weights = [
            torch.softmax(gradients.logits(data.X, point.W, data.queries), -1).max(-1) for point in points
        ]
        chosen = weights[-1].indices
        u_best, W_best = directions(data, chosen)
        late = [each.indices for each, step in zip(weights, at, strict=True) if step >= 300]
        found[name] = {
            "log_loss": [point.log_loss for point in points],
            "largest": [float(each.values.min()) for each in weights],
            "settled": [int((each.values >= 0.9).sum()) for each in weights],
            "apart_W": "none" if W_best is None else [apart(point.W, W_best) for point in points],
            "apart_u": "none" if u_best is None else [apart(point.u, u_best) for point in points],
            "apart_known": [apart(point.u, data.u) for point in points],
            "norms": [[float(point.u.norm()), float(point.W.norm())] for point in points],
            "right": [right(given.others, point.u, point.W) for point in points],
            "selected": real_sentences.words(given.ids[rows, chosen]),
            "same": same(chosen, data.optimal),
            "first": same(chosen, first),
            "top": same(chosen, (data.y[:, None] * (data.X @ points[-1].u)).argmax(1)),
            "repeated": sum(int(all(each[i] == chosen[i] for each in late)) for i in range(config.n)),
        }
    return found


EXPERIMENT = Experiment(
    name="sentence_joint",
    title="Decoder and attention trained together on film reviews, by three rules",
    plan=plan,
    compute=compute,
    tolerance={name: 0.02 for name in ("NGD", "GD", "schedule")},
    dtype="float64",
)

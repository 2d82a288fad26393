"""Figure 3(b) on a pretrained encoder and film reviews: cut after L blocks, coefficient g on its skips, a linear head on what is left.

The network is MiniLM (BERT's form: six blocks, 12 heads, width 384, every norm behind its skip), which was trained with its skips at g = 1.
To take them away from the trained weights is not to train without them; so there is a second network, whose matrices have the same entries
in random order, which has learnt nothing of either.

Written down before the first run:

Trained weights, every head with the step 1/L of its own features, 1000 steps.
1. (Paper) With skips the training loss is below that without, at g = 1 against g = 0, for each L = 1, …, 6, in every one of ten seeds.
2. (Paper) So is the share of wrong answers on the training sentences.
3. (Paper) With skips the training loss falls with every block: for each of the five steps from L to L + 1, in at least nine seeds of ten.
4. (Paper, rt-remark-d-rate) Conditioning is worst without skips: κ of the features is largest at g = 0 among the seven coefficients, for
   each L, in every seed; so is the median κ of a sentence's token states.
5. (rt-remark-b-own) With its own step the best coefficient at L = 6 is ¾, 1 or 3/2, in every seed.
6. (rt-corollary-q, rt-proposition-q) Without skips tokens collapse: the median spread ‖ΠH‖/‖H‖ of a sentence's states falls with each
   block and is below 0.1 behind the sixth; with g = 1 it is nowhere below half of that of the embeddings. It grows with g from 0 to 1,
   behind every block.
7. (rt-theorem-v, whose large coefficient leaves the network without attention) Behind the sixth block the training loss at g = 2 is above
   that at g = 1, in every seed, and nearer to it than the loss at g = 0.
8. On new films the share of wrong answers at L = 6 is below 0.35 with g = 1 and above 0.4 with g = 0, in the mean over seeds.
Shuffled weights.
9. Skips keep the tokens apart here too: behind the sixth block the median spread without skips is below 0.1, with g = 1 above 0.5.
10. (Paper) With skips the training loss is below that without, for each L, in every seed.
What the book's statements on rank suppose, at the network's own states (g = 1).
11. (rt-proposition-q) Attention is not near an average: the median range ω of the logits is above 4 in every block, and the median of
    bound over distance above 1.5.
12. (rt-lemma-q) Weyl's inequality never gives full rank: σ_min(X) < ‖A‖ in every sentence and block.
13. (rt-proposition-s) The rank is full with and without: σ_min(A) > 1e-9 ‖A‖ in every sentence and block.
14. (rt-remark-r) Larger is not always better conditioned: in at least a tenth of sentences and blocks κ(gX + A) is larger at g = 2 than at
    some smaller coefficient.
"""

import functools
import math
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Generator, Tensor

from companion.theory.residual import pretrained
from shallowformer.experiments.experiment import Experiment
from shallowformer.real import sentences, source, transformer
from shallowformer.residual.spectra import condition

#: Coefficients on the skips.
COEFFICIENTS = (0.0, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0)
#: Steps at which losses are stored.
AT = (0, 10, 100, 1000)
#: Infinite κ and vanishing spreads are rounding errors on any machine, and one sentence more or less is a large part of a small share.
TOLERANCE = {"by_g": 0.05, "anatomy": 0.05} | {
    name: math.inf
    for name in (
        "by_g.condition", "by_g.token_condition", "by_g.spread", "by_g.few_spread", "by_g.raw_error", "by_g.raw_test",
        "by_g.centred_error", "by_g.centred_test", "anatomy.certain", "anatomy.worse", "anatomy.least",
    )
}  # fmt: skip
#: What the head sees: the features as they are, or less their mean over the training sentences.
VIEWS = ("raw", "centred")


@dataclass(frozen=True)
class Config:
    """Sentences of some films to train on, of others to test on."""

    weights: str  # "trained", or "shuffled": the same entries in random order
    seed: int  # of the order of entries, of films and of sentences, drawn in this order
    n: int = 400  # sentences to train on
    test: int = 100  # sentences of other films
    few: int = 20  # of the training sentences, whose tokens are looked at in double precision
    longest: int = 32  # tokens of a sentence, with [CLS] and [SEP]; longer sentences are left out
    steps: int = AT[-1]  # of the head


def plan(scale: str) -> list[Config]:
    """Both kinds of weights, several seeds."""
    if scale == "smoke":
        return [Config("trained", 0, n=12, test=6, few=2, longest=12, steps=10)]
    seeds = range(3 if scale == "laptop" else 10)
    return [Config(weights, seed) for weights in ("trained", "shuffled") for seed in seeds]


def coefficients(weights: str) -> tuple[float, ...]:
    """All, or without and with."""
    return COEFFICIENTS if weights == "trained" else (0.0, 1.0)


@functools.cache
def read() -> tuple[list[list[int]], Int[Tensor, " m"], np.ndarray]:
    """Ids of every review, its label, and the number of its film."""
    found, (_, tokenizer) = sentences.reviews(), transformer.minilm()
    films = np.unique(found.films, return_inverse=True)[1]
    return [tokenizer.ids(text) for text in found.texts], found.labels, films


def drawn(
    config: Config, generator: Generator
) -> tuple[Int[Tensor, "m T"], Bool[Tensor, "m T"], Int[Tensor, " m"]]:
    """Ids, mask and labels: the training sentences, then those to test on; half of the films are for each, so none is in both."""
    rows, labels, films = read()
    early = torch.randperm(int(films.max()) + 1, generator=generator)[: (int(films.max()) + 1) // 2]
    short = np.array([len(row) <= config.longest for row in rows])
    to_train = np.isin(films, early.numpy())
    chosen = []
    for pool, size in ((short & to_train, config.n), (short & ~to_train, config.test)):
        places = torch.from_numpy(pool.nonzero()[0])
        if len(places) < size:
            raise ValueError(f"n and test must be at most {len(places)}, the sentences there are, got {size}")
        chosen.append(places[torch.randperm(len(places), generator=generator)[:size]])
    places = torch.cat(chosen)
    return *transformer.padded([rows[place] for place in places.tolist()]), labels[places]


def encoder(weights: str, generator: Generator, dtype: torch.dtype) -> transformer.Transformer:
    """The network."""
    if weights not in ("trained", "shuffled"):
        raise ValueError(f"weights must be trained or shuffled, got {weights!r}")
    model = transformer.minilm(dtype)[0]
    return model if weights == "trained" else pretrained.shuffled(model, generator)


def of_tokens(
    model: transformer.Transformer, ids: Int[Tensor, "n T"], mask: Bool[Tensor, "n T"], g: float
) -> dict[str, list[float]]:
    """Medians over sentences, of the embeddings and behind every block: spread of the tokens' states and their κ."""
    states = transformer.stream(model, ids, mask, g)
    spreads = [pretrained.spread(h, mask).median() for h in states]
    kappa = [torch.stack([condition(row[seen]) for row, seen in zip(h, mask, strict=True)]) for h in states]
    return {"few_spread": list(map(float, spreads)), "token_condition": [float(k.median()) for k in kappa]}


def of_features(F: Float[Tensor, "n d"], labels: Int[Tensor, " n"], config: Config) -> dict[str, object]:
    """Heads on one depth's features, and what these are like: κ (without the direction that a norm leaves out), spread over sentences."""
    found: dict[str, object] = {}
    F = F.double()
    train, test = F[: config.n], F[config.n :]
    sizes = torch.linalg.svdvals(pretrained.with_ones(train))[: min(F.shape[1], config.n)]
    found["condition"] = float(sizes[0] / sizes[-1])
    found["away"] = float((train - train.mean(0)).norm() / train.norm())
    for view in VIEWS:
        shift = train.mean(0) if view == "centred" else torch.zeros(F.shape[1], dtype=F.dtype)
        loss, wrong, W = pretrained.train_head(train - shift, labels[: config.n], 2, config.steps)
        at = [step for step in AT if step <= config.steps]
        found[f"{view}_loss"], found[f"{view}_error"] = loss[at].tolist(), float(wrong[-1])
        said = pretrained.with_ones(test - shift) @ W
        found[f"{view}_test"] = float((said.argmax(1) != labels[config.n :]).double().mean())
    return found


def compute(config: Config, device: torch.device) -> dict:
    """Features of all depths for every coefficient, a head on each, and the anatomy of attention.

    Returns: ``data``, ``model``, ``tokens`` (of a sentence, in the mean), ``by_g`` (for every coefficient what ``of_features`` gives, a list
    over L = 0, …, with ``spread``, a median over all sentences, and ``of_tokens``), ``anatomy`` (by block, for trained weights).
    """
    generator = Generator().manual_seed(config.seed)
    order = Generator().manual_seed(1000 + config.seed)
    model = encoder(config.weights, order, torch.float32)
    exact = encoder(config.weights, Generator().manual_seed(1000 + config.seed), torch.float64)
    ids, mask, labels = drawn(config, generator)
    by_g = []
    for g in coefficients(config.weights):
        F, spreads = pretrained.features(model, ids, mask, g)
        heads = [of_features(each, labels, config) for each in F]
        row = {name: [head[name] for head in heads] for name in heads[0]}
        row["spread"] = [float(each.median()) for each in spreads]
        by_g.append({"g": g} | row | of_tokens(exact, ids[: config.few], mask[: config.few], g))
    found = {
        "data": source.short(sentences.REVIEWS),
        "model": source.short(transformer.MINILM),
        "tokens": float(mask.sum(1).double().mean()),
        "by_g": by_g,
    }
    return found | ({"anatomy": anatomies(exact, ids, mask, config)} if config.weights == "trained" else {})


def anatomies(
    model: transformer.Transformer, ids: Int[Tensor, "n T"], mask: Bool[Tensor, "n T"], config: Config
) -> list[dict]:
    """A block each, at the network's own states: medians over sentences (and heads), and worst cases."""
    ids, mask = ids[: config.few], mask[: config.few]
    states = transformer.stream(model, ids, mask)
    blocks = []
    for block, h in zip(model.blocks, states[:-1], strict=True):
        each = [
            pretrained.anatomy(model, block, row[seen], COEFFICIENTS)
            for row, seen in zip(h, mask, strict=True)
        ]
        whole = {name: np.array([one[name] for one in each]) for name in each[0]}
        kappa = whole["condition"]
        middle = {name: np.median(whole[name]) for name in ("range", "distance", "left", "size")}
        # ‖S − 11ᵀ/N‖_F is at most √(N − 1), reached where every token looks at one.
        most = np.sqrt([int(seen.sum()) - 1 for seen in mask])[:, None]
        blocks.append(
            {name: float(value) for name, value in middle.items()}
            | {
                "share": float(np.median(whole["distance"] / most)),
                "looseness": float(np.median(whole["bound"] / whole["distance"])),
                "tightest": float((whole["bound"] / whole["distance"]).min()),
                "spreads": np.median(whole["spreads"], 0).tolist(),
                "certain": float((whole["certain"] > 0).mean()),
                "least": float(whole["least"].min()),
                "condition": np.median(kappa, 0).tolist(),
                "worse": float((kappa[:, -1] > kappa[:, 1:-1].min(1)).mean()),
            }
        )
    return blocks


EXPERIMENT = Experiment(
    name="truncated",
    title="Figure 3(b) on MiniLM and film reviews: cut after L blocks, coefficient g on its skips, a linear head, and what tokens look like",
    plan=plan,
    compute=compute,
    tolerance=TOLERANCE,
    dtype="float32",
)

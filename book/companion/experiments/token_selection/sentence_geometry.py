"""Figure 10 on a pretrained encoder: cosines of tokens within and between film reviews, from the table of embeddings to the last block.

And what theorems on selection ask of such tokens, at every depth, for sentences as in ``sentence_selection``, the mean token asks.

Written down before the first run; 1/√384 = 0.051 is the spread of random directions, their mean |cos| 0.041:

1. At every depth from 0 (embedding, position, norm) to 6 tokens of different sentences have a mean |cos| above 0.08, twice that of random
   directions.
2. Taking off the mean token halves that, at least, at every depth and seed.
3. Tokens of one sentence grow alike: their mean cosine after block 6 is at least twice that at depth 0, raw, in every seed.
4. Of the table of word embeddings, without position and norm, cosines within sentences have at least twice the spread around 0 (root mean
   square) of random directions; after centring at most twice.
5. A share of at least 80 % of the pairs within sentences is above 1/36 in |cos| at every depth, raw, where random directions have 59 %.

Added after the first rows, written down before these were run (``sentence_selection`` has stored what depth 0 gives):

6. No assumption holds at any depth from 0 to 6 in any draw: nTν is at least 100 times the smallest squared query, and for the best sentence
   alone Assumption 1 fails (above 1); in the median sentence other scores spread further than the optimal one is ahead (above 1);
   dominance is above 1; 3ν/m_o, which (A1′) wants below 1 whatever the scores, is above 1.
7. (W-SVM) has a solution at every depth in every draw, as queries differ.
8. At every depth, in every draw, between a third and a half of the pairs of different sentences pull against each other.
9. From depth 0 to depth 6 nTν over the smallest squared query falls at least by half, in every draw: tokens of a sentence grow alike, so
   that their mean grows against them.
"""

from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Generator, Tensor

from companion.experiments.token_selection import sentence_selection
from companion.theory.token_selection import embeddings, real_sentences
from shallowformer.experiments.experiment import Experiment
from shallowformer.real import sentences, transformer
from shallowformer.real.source import short
from shallowformer.token_selection import constants

#: The table of embeddings, and blocks passed.
PLACES = ("table", 0, 1, 2, 3, 4, 5, 6)
#: What Assumption 1 wants of a cosine for n = T = 3 and Υ = 1.
WANTED = 1 / 36


@dataclass(frozen=True)
class Config:
    """Sentences and pairs of their tokens."""

    seed: int  # of the sentences, then of the pairs
    sentences: int = 200
    longest: int = 24  # ids
    pairs: int = 20_000  # of tokens of different sentences
    n: int = 24  # sentences of which attention selects a token


def plan(scale: str) -> list[Config]:
    """Several seeds."""
    if scale == "smoke":
        return [Config(0, 5, 24, 100, n=3)]
    return [Config(seed) for seed in range(3 if scale == "laptop" else 10)]


def tokens(config: Config) -> tuple[list[list[int]], Int[Tensor, " N"], Generator]:
    """Sentences, of which each token is, and a generator for pairs; [CLS] and [SEP] are left out, which are in every sentence."""
    generator = Generator().manual_seed(config.seed)
    fits = [row for row in real_sentences.encoded()[0] if len(row) <= config.longest]
    chosen = torch.randperm(len(fits), generator=generator)[: config.sentences]
    rows = [fits[i] for i in chosen.tolist()]
    return rows, torch.repeat_interleave(torch.tensor([len(row) - 2 for row in rows])), generator


def measured(cosines: Float[Tensor, " p"]) -> dict[str, float]:
    """Mean, mean |cos|, root mean square, and the share above ``WANTED``."""
    return {
        "mean": float(cosines.mean()),
        "size": float(cosines.abs().mean()),
        "spread": float(cosines.square().mean().sqrt()),
        "above": float((cosines.abs() > WANTED).double().mean()),
    }


def assumptions(config: Config, depth: int) -> dict[str, float]:
    """What theorems ask of tokens after so many blocks, the mean token asks, as in ``sentence_selection``.

    And ``orthogonal``: 3ν/m_o, below 1 under (A1′) whatever the scores; ``solvable``: 1 where (W-SVM) has a solution, 0 elsewhere.
    """
    asks = sentence_selection.Config(depth, False, "mean", config.seed, config.n)
    instance = sentence_selection.posed(asks).instance
    return sentence_selection.asked(instance) | {
        "orthogonal": 3 * constants.nu(instance) / constants.m_o(instance),
        "solvable": float(sentence_selection.solution(instance) is not None),
    }


def compute(config: Config, device: torch.device) -> dict:
    """Cosines at every place, and at every depth what theorems ask for.

    Returns: by place, raw and centred: ``within`` (all pairs of different tokens of a sentence; ids that come twice count as one pair too)
    and ``between`` (pairs drawn), each as in ``measured``; ``histogram`` within sentences, of the table and after the last block;
    ``asked``: for each depth from 0 to 6 what ``assumptions`` returns.
    """
    rows, of, generator = tokens(config)
    inner = [torch.arange(1, len(row) - 1) for row in rows]
    first, second = torch.triu_indices(len(of), len(of), 1)
    same = of[first] == of[second]
    drawn = torch.randint(len(of), (2, 2 * config.pairs), generator=generator)
    drawn = drawn[:, of[drawn[0]] != of[drawn[1]]][:, : config.pairs]
    pairs = {"within": (first[same], second[same]), "between": (drawn[0], drawn[1])}
    ids, mask = transformer.padded(rows)
    stream = dict(zip(PLACES[1:], transformer.stream(real_sentences.encoder(), ids, mask), strict=True))
    found: dict = {"data": short(sentences.REVIEWS), "model": short(transformer.MINILM), "tokens": len(of)}
    for place in PLACES:
        X = real_sentences.encoder().tokens[ids] if place == "table" else stream[place]
        X = torch.cat([row[which] for row, which in zip(X, inner, strict=True)]).double()
        for name, moved in (("raw", X), ("centred", X - X.mean(0))):
            unit = torch.nn.functional.normalize(moved, dim=1)
            cosines = {kind: (unit[a] * unit[b]).sum(1).clamp(-1, 1) for kind, (a, b) in pairs.items()}
            told: dict = {kind: measured(each) for kind, each in cosines.items()}
            if place in ("table", 6):
                told["histogram"] = embeddings.histogram(cosines["within"])[1].tolist()
            found[f"{place} {name}"] = told
    return found | {"asked": [assumptions(config, depth) for depth in PLACES[1:]]}


EXPERIMENT = Experiment(
    name="sentence_geometry",
    title="Figure 10 on film reviews: cosines of tokens of a pretrained encoder",
    plan=plan,
    compute=compute,
    dtype="float64",
)

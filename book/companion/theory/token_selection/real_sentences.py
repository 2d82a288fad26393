"""Sentences as instances of token selection: film reviews through a pretrained encoder, with a decoder fitted to other sentences."""

import functools
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Generator, Tensor

from shallowformer.real import sentences, transformer
from shallowformer.token_selection import datasets
from shallowformer.token_selection.instances import Instance

#: Ids of a sentence that is trained on, [CLS] first and [SEP] last.
T = 16
#: The shortest and the longest sentence that the decoder is fitted to, and how many there are.
SHORTEST, LONGEST, KNOWN = 8, 24, 600
#: Of the decoder, over the mean squared norm of what it is fitted to.
RIDGE = 0.01


_pretrained = functools.cache(transformer.minilm)


def encoder() -> transformer.Transformer:
    """The pretrained encoder."""
    return _pretrained()[0]


@functools.cache
def encoded() -> tuple[list[list[int]], Float[Tensor, " N"]]:
    """Ids of every review, in the file's order, and labels: 1 for fresh, −1 for rotten."""
    found, tokenizer = sentences.reviews(), _pretrained()[1]
    return [tokenizer.ids(text) for text in found.texts], 2.0 * found.labels.double() - 1


@torch.no_grad()
def states(rows: list[list[int]], depth: int) -> tuple[Float[Tensor, "n T d"], Bool[Tensor, "n T"]]:
    """What a token is after so many blocks, 0 to 6, and where there is one; 0 is embedding, position and norm."""
    ids, mask = transformer.padded(rows)
    found = transformer.stream(encoder().cut(max(depth, 1)), ids, mask)
    return found[depth].double(), mask


@dataclass(frozen=True)
class Head:
    """A decoder trained beforehand, and what is taken off the tokens for it."""

    u: Float[Tensor, " d"]
    mean: Float[Tensor, " d"]  # 0 unless tokens are centred


@functools.cache
def head(depth: int, centred: bool) -> Head:
    """Ridge regression of labels on mean tokens of the first ``KNOWN`` reviews of other lengths; the mean |score| of a token is 1."""
    rows, labels = encoded()
    known = [i for i, row in enumerate(rows) if SHORTEST <= len(row) <= LONGEST and len(row) != T][:KNOWN]
    X, mask = states([rows[i] for i in known], depth)
    mean = X[mask].mean(0) * centred
    X = (X - mean) * mask[..., None]
    u = datasets.linear_head(X.sum(1) / mask.sum(1, keepdim=True), labels[known], RIDGE)
    return Head(u / (X[mask] @ u).abs().mean(), mean)


@dataclass(frozen=True)
class Posed:
    """Sentences that are trained on, and all others of their length."""

    instance: Instance
    ids: Int[Tensor, "n T"]
    others: Instance


def posed(n: int, depth: int, centred: bool, asks: str, seed: int, T: int = T) -> Posed:
    """So many sentences of exactly T ids, drawn at random.

    Args:
        asks: "first", the token [CLS], or "mean", the mean of the sentence's tokens.
    """
    rows, labels = encoded()
    fits = torch.tensor([i for i, row in enumerate(rows) if len(row) == T])
    order = fits[torch.randperm(len(fits), generator=Generator().manual_seed(seed))]
    fitted = head(depth, centred)
    X = states([rows[i] for i in order.tolist()], depth)[0] - fitted.mean
    ids = torch.tensor([rows[i] for i in order.tolist()])

    def some(which: slice) -> Instance:
        query = 0 if asks == "first" else X[which].mean(1)
        return Instance(X[which], labels[order[which]], fitted.u, query=query)

    return Posed(some(slice(n)), ids[:n], some(slice(n, None)))


def words(ids: Int[Tensor, "*k"]) -> list[str]:
    """What ids stand for."""
    return [_pretrained()[1].words[number] for number in ids.flatten().tolist()]


def no_word(piece: str) -> bool:
    """Is it [CLS], [SEP] or a mark?"""
    return piece in ("[CLS]", "[SEP]") or not any(letter.isalnum() for letter in piece)

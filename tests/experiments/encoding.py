"""Film reviews go through the pretrained encoder once for all that ask for the same ones: what takes longest of all rows."""

import functools
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import torch

from companion.theory.token_selection import real_sentences
from shallowformer.real import transformer


@functools.cache
def _kept(rows: tuple[tuple[int, ...], ...]):
    ids, mask = transformer.padded(list(map(list, rows)))
    with torch.no_grad():
        return transformer.stream(real_sentences.encoder(), ids, mask), mask


def _states(rows: list[list[int]], depth: int):
    stream, mask = _kept(tuple(map(tuple, rows)))
    return stream[depth].double(), mask


@contextmanager
def encoded_once() -> Iterator[None]:
    """Until the end ``real_sentences.states`` reads all depths off one pass."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(real_sentences, "states", _states)
        yield

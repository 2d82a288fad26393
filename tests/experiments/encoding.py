"""Film reviews go through the pretrained encoder once for all that ask for the same ones: what takes longest of all rows."""

import functools
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from companion.theory.token_selection import real_sentences

_states = real_sentences.states


@functools.cache
def _kept(rows: tuple[tuple[int, ...], ...], depth: int):
    return _states(list(map(list, rows)), depth)


@contextmanager
def encoded_once() -> Iterator[None]:
    """Until the end ``real_sentences.states`` gives what it gave before; not to be changed."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(real_sentences, "states", lambda rows, depth: _kept(tuple(map(tuple, rows)), depth))
        yield

"""Answers are handed in as readers do, right or wrong: what a check says of them must not depend on its signature."""

from collections.abc import Iterator

import pytest

from checks import unchecked


@pytest.fixture(autouse=True)
def as_a_reader() -> Iterator[None]:
    with unchecked():
        yield

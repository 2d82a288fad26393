"""Sentences are encoded once for all tests of a file."""

import pytest
from encoding import encoded_once


@pytest.fixture(scope="module", autouse=True)
def encoded():
    with encoded_once():
        yield

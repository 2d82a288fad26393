"""What tests of this room share: random numbers, and a problem."""

import pytest

from checks import normal, source
from shallowformer.preconditioned import covariances, problems


@pytest.fixture
def draw():
    return normal


@pytest.fixture
def generator():
    return source


@pytest.fixture
def problem():
    """The problem of the experiments: d = m = 5, κ(Σ) = 10, singular values of M̃ from 1.5 to 0.375."""
    return problems.random(covariances.geometric(5, 1.5, 0.375), 10.0, source(7), sigma=0.5)

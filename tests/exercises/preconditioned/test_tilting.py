"""Exercises of the chapter *Softmax of Gaussians is linear*: right answers pass, other routes to them too."""

import numpy as np
import torch

from companion.exercises.preconditioned import tilting
from shallowformer.preconditioned import above


def test_a_library_s_softmax_is_right():
    def mean(tokens, q):
        x = torch.tensor(tokens, dtype=torch.float64)
        return torch.softmax(q * x, 0) @ x

    assert tilting.check_tilted_mean(mean).passed
    assert tilting.check_tilted_mean(lambda x, q: np.average(x, weights=np.exp(q * np.array(x)))).passed


def test_the_numbers_are_right():
    b = next(b for b in np.arange(0.8, 2, 1e-4) if above.exponent(float(b)) <= 0.5)
    assert tilting.check_half(float(b)).passed
    assert tilting.check_laplace(4 / 3).passed


def test_the_threshold_is_told_from_the_answer():
    assert "1/n" in tilting.check_half(0.7071).told

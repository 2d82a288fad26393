"""Exercises of the chapter *How attention becomes sparse*: right answers pass, other routes to them too."""

import math

import numpy as np
import torch

from shallowformer.exercises.token_selection import sparse


def test_a_library_s_logarithms_are_right():
    sums = lambda h: torch.logsumexp(-torch.tensor(h, dtype=torch.float64), 0)
    assert sparse.check_log_off(lambda h: torch.nn.functional.logsigmoid(sums(h))).passed


def test_the_numbers_are_right():
    gap = np.float32(0.02) * np.arange(2000, dtype=np.float32)
    first = int(np.argmax(1 / (1 + np.exp(-gap)) == 1))
    assert sparse.check_break(first).passed
    assert sparse.check_entropy(math.e).passed

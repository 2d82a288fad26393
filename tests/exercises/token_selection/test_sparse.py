"""Exercises of the chapter *How attention becomes sparse*: right answers pass, other routes to them too."""

import math

import numpy as np
import torch

from companion.exercises.token_selection import sparse


def test_a_library_s_logarithms_are_right():
    sums = lambda h: torch.logsumexp(-torch.tensor(h, dtype=torch.float64), 0)
    assert sparse.check_log_off(lambda h: torch.nn.functional.logsigmoid(sums(h))).passed


def test_the_numbers_are_right():
    gap = np.float32(0.02) * np.arange(2000, dtype=np.float32)
    first = int(np.argmax(1 / (1 + np.exp(-gap)) == 1))
    assert sparse.check_break(first).passed
    assert sparse.check_entropy(math.e).passed


def test_a_logarithm_of_zero_gets_the_hint_that_1_minus_phi_cancels():
    weight = lambda h: 1 / (1 + sum(math.exp(-each) for each in h))
    raises = lambda h: math.log(1 - weight(h))
    infinite = lambda h: torch.log(torch.tensor(1 - weight(h), dtype=torch.float64))
    for naive in (raises, infinite):
        feedback = sparse.check_log_off(naive)
        assert feedback.state == "wrong"
        assert "cancels" in feedback.told


def test_a_step_between_two_steps_is_told_to_be_whole():
    assert "whole" in sparse.check_break(831.8).told

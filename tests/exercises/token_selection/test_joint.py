"""Right answers pass, others are told where to look."""

import pytest
import torch

from shallowformer.exercises.token_selection import joint


def test_a_step_of_the_decoder_in_another_form():
    def by_losses(Z, margins, s):
        total = sum(torch.exp(margins.min() - m) * z for z, m in zip(Z, margins, strict=True))
        return s * total / total.norm()

    assert joint.check_decoder_half(by_losses).passed


def test_large_margins_must_not_underflow():
    def naive(Z, margins, s):
        total = torch.exp(-margins) @ Z
        return s * total / total.norm()

    feedback = joint.check_decoder_half(naive)
    assert feedback.state == "wrong"
    assert "margins of 1000" in feedback.message


@pytest.mark.parametrize(
    ("check", "right", "other", "word"),
    [(joint.check_first, 0.2, 0.33, "sign"), (joint.check_power, 44, 50, "multiple")],
)
def test_numbers(check, right, other, word):
    assert check(right).passed
    feedback = check(other)
    assert feedback.state == "wrong"
    assert word in feedback.message

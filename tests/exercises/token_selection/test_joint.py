"""Right answers pass, others are told where to look."""

import pytest
import torch

from companion.exercises.token_selection import joint


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
    assert "margins of 1000" in feedback.told
    assert "divide them by the largest" in feedback.told


def test_a_norm_that_is_kept_from_zero_does_not_help():
    def padded(Z, margins, s):
        total = torch.exp(-margins) @ Z
        return s * total / (total.norm() + 1e-12)

    assert "divide them by the largest" in joint.check_decoder_half(padded).told


@pytest.mark.parametrize(
    ("sign", "outer", "word"), [(1, 1, "sign in the exponent"), (-1, -1, "along the attended tokens")]
)
def test_two_mistakes_at_once_are_both_named(sign, outer, word):
    def naive(Z, margins, s):
        total = torch.exp(sign * margins) @ Z
        return outer * s * total / total.norm()

    message = joint.check_decoder_half(naive).told
    assert word in message
    assert "largest" in message


@pytest.mark.parametrize("losses", [lambda m: torch.exp(-m), lambda m: torch.softmax(-m, 0)])
def test_the_square_of_the_norm(losses):
    def squared(Z, margins, s):
        total = losses(margins) @ Z
        return s * total / total.square().sum()

    assert "not by its square" in joint.check_decoder_half(squared).told


@pytest.mark.parametrize("answer", [43.88, 32.91 * 4 / 3, 44])
def test_the_careful_and_the_rounded_number(answer):
    assert joint.check_power(answer).passed
    assert not joint.check_power(43.5).passed


@pytest.mark.parametrize(
    ("check", "right", "other", "word"),
    [(joint.check_first, 0.2, 0.33, "sign"), (joint.check_power, 44, 50, "multiple")],
)
def test_numbers(check, right, other, word):
    assert check(right).passed
    feedback = check(other)
    assert feedback.state == "wrong"
    assert word in feedback.told

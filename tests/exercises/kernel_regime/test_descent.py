"""A contact that is wrong is told why, and a ratio where to look."""

import pytest

from shallowformer.exercises.kernel_regime import descent


def first(losses, eta, rho_c):
    """The right answer."""
    length = 0.0
    for step, value in enumerate(losses, start=1):
        length += 2 * eta * float(value) ** 0.5
        if length >= rho_c:
            return step
    return None


@pytest.mark.parametrize(
    ("number", "word"),
    [
        (0.1, "the larger"),
        (1000.0, "in that order"),
    ],
)
def test_ratio_is_told_where_to_look(number, word):
    feedback = descent.check_ratio(number)
    assert feedback.state == "wrong"
    assert word in feedback.told


@pytest.mark.parametrize(
    ("answer", "word"),
    [
        (lambda losses, eta, rho_c: 0, "got 0"),
        (lambda losses, eta, rho_c: None, "long enough"),
        (lambda losses, eta, rho_c: "soon", "number of steps"),
        (lambda losses, eta, rho_c: 1 / 0, "ZeroDivisionError"),
        (lambda losses, eta, rho_c: 2, "count steps"),
        (lambda losses, eta, rho_c: first(losses, eta / 2, rho_c), "a factor 2"),
        (lambda losses, eta, rho_c: first(losses, eta, rho_c) or len(losses), "the answer is None"),
        (lambda losses, eta, rho_c: 3 if len(losses) > 3 else 7, "expected 3"),
    ],
)
def test_a_wrong_contact_is_told_why(answer, word):
    feedback = descent.check_earliest_contact(answer)
    assert feedback.state == "wrong"
    assert word in feedback.told


def test_the_right_contact_passes():
    assert descent.check_earliest_contact(first).passed
    assert not descent.check_earliest_contact(3).passed

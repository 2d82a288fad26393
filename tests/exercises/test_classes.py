"""Parameters of a class: the same everywhere, different between classes, and within their bounds."""

import subprocess
import sys
from collections import Counter

import pytest

from checks import refused
from shallowformer.exercises import classes


def test_a_value_is_the_same_in_another_process():
    code = "from shallowformer.exercises import classes as c; print(c.integer(2026, 'ps1-q2-T', 3, 9), c.real(2026, 'ps1-q3-r', 0.1, 2.5))"
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert printed.split() == [
        str(classes.integer(2026, "ps1-q2-T", 3, 9)),
        str(classes.real(2026, "ps1-q3-r", 0.1, 2.5)),
    ]


def test_values_do_not_change_between_versions_of_the_package():
    """A class that has begun keeps its parameters."""
    assert [classes.integer(2026, f"q{k}", 0, 999) for k in range(4)] == [738, 612, 780, 703]
    assert [classes.real(2026, f"q{k}", -1, 1, 3) for k in range(3)] == [0.832, 0.828, 0.689]


@pytest.mark.parametrize("name", ["T", "d"])
def test_every_whole_number_between_the_bounds_is_drawn_equally_often(name):
    """Chi-squared with 6 degrees of freedom: above 32 once in 60 000; the draws are fixed, so this is one look."""
    drawn = Counter(classes.integer(seed, name, -3, 3) for seed in range(7000))
    assert set(drawn) == set(range(-3, 4))
    assert sum((count - 1000) ** 2 / 1000 for count in drawn.values()) < 32


def test_a_real_number_has_its_decimals_and_reaches_both_bounds():
    drawn = {classes.real(seed, "r", 0.1, 0.3) for seed in range(2000)}
    assert drawn == {round(k / 100, 2) for k in range(10, 31)}
    assert {classes.real(seed, "r", -0.5, 1.5, 0) for seed in range(99)} == {0.0, 1.0}


def test_names_and_classes_are_independent_draws():
    pairs = Counter(
        (classes.integer(seed, "a", 0, 1), classes.integer(seed, "b", 0, 1)) for seed in range(4000)
    )
    assert all(abs(count - 1000) < 140 for count in pairs.values())  # five standard deviations
    # the class and the name do not run into one another
    assert classes.integer(1, "1x", 0, 10**9) != classes.integer(11, "x", 0, 10**9)


def test_a_class_may_be_a_word_and_a_number_is_its_digits():
    assert classes.integer("2026", "T", 0, 10**9) == classes.integer(2026, "T", 0, 10**9)
    assert classes.integer("autumn", "T", 0, 10**9) != classes.integer("spring", "T", 0, 10**9)


@pytest.mark.parametrize(
    ("call", "name", "given", "allowed"),
    [
        (lambda: classes.integer(1, "T", 3, 2), "high", "2", "at least low"),
        (lambda: classes.integer(1, "T", 0.5, 2), "low", "0.5", "whole number"),
        (lambda: classes.integer(1, "T", 0, True), "high", "True", "whole number"),
        (lambda: classes.integer(1, "", 0, 1), "name", "''", "a word"),
        (lambda: classes.integer(1.5, "T", 0, 1), "seed", "1.5", "whole number or a word"),
        (lambda: classes.integer("", "T", 0, 1), "seed", "''", "whole number or a word"),
        (lambda: classes.real(1, "T", 0.001, 0.009), "high", "0.009", "2 decimals"),
        (lambda: classes.real(1, "T", 0, float("inf")), "high", "inf", "finite"),
        (lambda: classes.real(1, "T", float("nan"), 1), "low", "nan", "finite"),
        (lambda: classes.real(1, "T", 0, 1, 13), "digits", "13", "at most 12"),
        (lambda: classes.real(1, "T", 0, 1, -1), "digits", "-1", "at least 0"),
    ],
)
def test_bad_bounds_are_refused(call, name, given, allowed):
    refused(name, given, allowed, call)

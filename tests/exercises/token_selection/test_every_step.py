"""Exercises of the chapter *Why every step helps*: right answers pass, other routes to them too, overflow is told."""

import math

from companion.exercises.token_selection import every_step


def test_a_pull_by_the_logarithm_of_one_plus_an_exponential_is_right():
    softplus = lambda x: max(x, 0.0) + math.log1p(math.exp(-abs(x)))
    assert every_step.check_log_pull(lambda h: -softplus(h) - softplus(-h)).passed


def test_a_pull_that_underflows_is_told():
    sigma = lambda x: 1 / (1 + math.exp(-x)) if x > -700 else 0.0
    feedback = every_step.check_log_pull(lambda h: math.log(sigma(h) * sigma(-h)))
    assert feedback.state == "wrong"
    assert "h = 1000" in feedback.told


def test_the_numbers_are_right():
    assert every_step.check_overlap(180 - math.degrees(math.acos(2 / 3))).passed
    assert every_step.check_copies(next(r for r in range(1, 20) if math.e / r <= 1 / 3)).passed


def test_the_unrounded_number_of_copies_and_its_neighbours_are_told_apart():
    assert "r is whole" in every_step.check_copies(3 * math.e).told
    assert "runs show" in every_step.check_copies(5).told
    assert every_step.check_copies(10).state == "wrong"


def test_the_smaller_length_and_its_square_are_told_apart():
    assert "not the length" in every_step.check_overlap(math.degrees(math.acos(-1 / 3))).told
    assert "smaller squared length" in every_step.check_overlap(180).told

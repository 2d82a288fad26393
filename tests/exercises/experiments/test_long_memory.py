"""Answers that no declared mistake leads to are told where to look."""

import pytest

from companion.exercises.experiments import long_memory


@pytest.mark.parametrize(("number", "word"), [(1.0, "when is it above"), (2.7750, "in the unit ball")])
def test_contrast_is_told_where_to_look(number, word):
    assert word in long_memory.check_contrast(number).told


def test_a_forecast_by_regression_is_right():
    def forecast(X, L, beta):
        weights = X.new_zeros(X.shape[1])
        if X.shape[1] >= L:
            weights[-L] = beta
        return X @ weights

    assert long_memory.check_forecast(forecast).passed

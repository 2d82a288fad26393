"""Exercises on experiments: a forecast by regression is right, and so is a number that says how it came about."""

from companion.exercises.experiments import long_memory


def test_a_forecast_by_regression_is_right():
    def forecast(X, L, beta):
        weights = X.new_zeros(X.shape[1])
        if X.shape[1] >= L:
            weights[-L] = beta
        return X @ weights

    assert long_memory.check_forecast(forecast).passed


def test_the_right_number_is_told_what_it_means():
    feedback = long_memory.check_contrast(2.7750)
    assert feedback.passed
    assert "in the unit ball" in feedback.told

"""What is right because it was taken from the package is told from a reader's own function."""

import functools

import pytest

from companion.exercises.kernel_regime import gradients
from companion.exercises.kernel_regime.gradients import _token_gradient
from shallowformer import softmax
from shallowformer.exercises.borrowed import borrowed


class Callable:
    def __call__(self, *case):
        return _token_gradient(*case)

    def method(self, *case):
        return gradients._token_gradient(*case)


def nested(*case):
    return (lambda: _token_gradient(*case))()


def recursive(n):
    return recursive(n - 1) if n else 0


TAKEN = {
    "itself": _token_gradient,
    "partial": functools.partial(_token_gradient),
    "lambda": lambda *case: _token_gradient(*case),
    "object": Callable(),
    "method": Callable().method,
    "nested": nested,
    "helper": lambda *case: nested(*case),
    "a part of it": lambda X, q, U, W: gradients.head(X, q, U, W).slope,
    "of the package": softmax.covariance_product,
}


@pytest.mark.parametrize("answer", TAKEN.values(), ids=TAKEN)
def test_what_is_taken_is_seen(answer):
    assert borrowed(answer)


def test_a_reference_elsewhere_in_the_package_is_seen_once_it_is_known():
    answer = lambda X, alpha, U: softmax.covariance_product(X, alpha, U)
    assert borrowed(answer) == ""  # the package is there to be used
    assert borrowed(answer, softmax.covariance_product) == "covariance_product"
    assert borrowed(lambda X, alpha, U: softmax.covariance(X, alpha) @ U, softmax.covariance_product) == ""


@pytest.mark.parametrize("answer", [recursive, lambda x: x, len, print, int, functools.partial(max, 1)])
def test_what_is_a_reader_s_own_is_not(answer):
    assert borrowed(answer) == ""


def test_a_function_that_wraps_itself_and_an_empty_cell_do_no_harm():
    def answer(x):
        return later(x)

    assert borrowed(answer) == ""
    answer.__wrapped__ = answer
    assert borrowed(answer) == ""
    if borrowed(answer):
        later = len

"""Elementary functions of numbers, tensors and symbols, and checks of arguments that let symbols pass."""

import math

import pytest
import sympy

from checks import numbers
from shallowformer import arguments, formulas

x = sympy.Symbol("x", positive=True)


@pytest.mark.parametrize(
    ("of_formula", "of_number"),
    [
        (formulas.log, math.log),
        (lambda value: formulas.maximum(value, 2.0), lambda value: max(value, 2.0)),
        (lambda value: formulas.minimum(value, 2.0), lambda value: min(value, 2.0)),
    ],
)
@pytest.mark.parametrize("number", [0.5, 2.0, 7.0])
def test_numbers_tensors_and_symbols_agree(of_formula, of_number, number):
    expected = of_number(number)
    assert of_formula(number) == expected
    assert of_formula(numbers(number)).tolist() == pytest.approx([expected], rel=1e-15)
    assert float(of_formula(x).subs(x, number)) == pytest.approx(expected, rel=1e-15)


def test_a_symbol_may_come_second():
    assert float(formulas.maximum(2.0, x).subs(x, 3)) == 3


def test_a_value_that_exists_only_where_a_condition_holds():
    refuse = lambda: pytest.fail("evaluated")
    assert formulas.when(False, refuse, math.inf) == math.inf
    assert formulas.when(True, lambda: 3, math.inf) == 3
    both = formulas.when(x < 1, lambda: 1 / (1 - x), math.inf)
    assert float(both.subs(x, 0.5)) == 2
    assert both.subs(x, 2) == sympy.oo


def test_symbols_pass_the_checks_of_numbers():
    for check in (
        arguments.count,
        arguments.even,
        arguments.probability,
        arguments.positive,
        arguments.below_one,
    ):
        assert check("x", x) is x
    assert arguments.at_least("x", x, 0.0) is x
    assert arguments.nonnegative("x", x) is x
    assert arguments.at_most("x", x, "y", 1.0) is x
    assert arguments.triple("rho", (x, 1, 2.0)) == (x, 1.0, 2.0)

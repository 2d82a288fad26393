import math

import numpy as np
import pytest
import torch

from shallowformer.said import say, written


@pytest.mark.parametrize(
    ("value", "spec", "text"),
    [
        (0.444, ".0%", "44 %"),
        (-2.04, ".1f", "−2.0"),
        (2.1e-7, ".0e", "2·10⁻⁷"),
        (1.04e-17, ".0e", "10⁻¹⁷"),
        (3.25e12, ".2e", "3.25·10¹²"),
        (1234.4, ",.0f", "1,234"),
        (12, "", "12"),
        (True + 1, "d", "2"),
        (0.3515, "≤.2f", "0.36"),
        (0.3515, "≥.2f", "0.35"),
        (-0.3515, "≤.2f", "−0.35"),
        (0.444, "≤.0%", "45 %"),
        (9.6e-7, "≤.0e", "10⁻⁶"),
        (-1e5, ".0e", "−10⁵"),
        (-0.001, ".1f", "0.0"),
        (-0.004, "≤.0%", "0 %"),
    ],
)
def test_a_number_is_written_as_prose_has_it(value, spec, text):
    assert written(value, spec) == text


@pytest.mark.parametrize(
    ("value", "spec"), [(0.125, ".2f"), (12.5, ".0f"), (0.45000001, ".1f"), (0.35, "≤.2f")]
)
def test_a_rounding_that_a_millionth_turns_is_refused(value, spec):
    with pytest.raises(ValueError, match=r"turns from .* take other digits"):
        written(value, spec)


def test_whole_numbers_turn_nowhere():
    assert written(15, ".0e") == "2·10¹"


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_what_is_no_number_is_refused(value):
    with pytest.raises(ValueError, match="gain: value must be finite"):
        say(".1f", gain=value)


@pytest.mark.parametrize("value", ["2", [], [1.0, "2"], 1j])
def test_what_is_not_numbers_is_refused(value):
    with pytest.raises(ValueError, match="gain must be a number or a sequence"):
        say(".1f", gain=value)


@pytest.mark.parametrize(
    "many", [[1.04, 2.0], (1.04, torch.tensor(2)), np.array([1.04, 2]), torch.tensor([1.04, 2.0])]
)
def test_one_number_and_many_are_told_by_name(capsys, many):
    assert say(".1f", one=np.float64(0.33), many=many) == {"one": "0.3", "many": "1.0, 2.0"}
    assert capsys.readouterr().out == "one = 0.3\nmany = 1.0, 2.0\n"

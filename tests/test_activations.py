"""Activations: values, derivatives and suprema of the built-in ones; what a declaration of one's own must satisfy."""

import math
import re
from dataclasses import FrozenInstanceError

import pytest
import torch

import reference
from checks import assert_agrees, unchecked
from shallowformer import activations
from shallowformer.activations import Activation

POINTS = [-2.5, -1.3, -0.4, 0.0, 0.25, 1.0, 2.2]

built_in = pytest.mark.parametrize("sigma", activations.ALL, ids=lambda sigma: sigma.name)


@built_in
def test_values_agree_with_the_math_module(sigma):
    z = torch.tensor([*POINTS, -30.0, 30.0], dtype=torch.float64)
    assert_agrees(sigma(z), [reference.ACTIVATIONS[sigma.name](x) for x in z.tolist()])


@built_in
@pytest.mark.parametrize("order", [1, 2, 3])
def test_derivatives_agree_with_cauchys_integral(sigma, order):
    """The circle has radius 1/2: rounding is amplified by order! · 2^order ≤ 48, and by |σ| ≤ 2 on it."""
    expected = [reference.derivative(reference.ACTIVATIONS[sigma.name], order, z) for z in POINTS]
    assert_agrees(
        sigma.derivatives[order](torch.tensor(POINTS, dtype=torch.float64)), expected, factor=64 * 48 * 2
    )


@built_in
@pytest.mark.parametrize("order", [0, 1, 2, 3])
def test_bounds_are_the_exact_suprema(sigma, order):
    """A grid of width 0.001 misses a smooth maximum by at most its curvature · 0.001² / 8."""
    z = torch.linspace(-40, 40, 80_001, dtype=torch.float64)
    largest = float(sigma.derivatives[order](z).abs().max())
    assert largest <= sigma.bounds[order] * (1 + 1e-15)
    assert largest >= sigma.bounds[order] * (1 - 1e-5)


@built_in
def test_dtype_and_shape_are_kept(sigma):
    z = torch.zeros(2, 3, dtype=torch.float32)
    for function in (sigma, *sigma.derivatives):
        assert function(z).dtype == torch.float32
        assert function(z).shape == (2, 3)


@built_in
def test_saturated_values_are_finite(sigma):
    z = torch.tensor([-1e3, 1e3], dtype=torch.float64)
    assert all(function(z).isfinite().all() for function in sigma.derivatives)


def test_known_suprema():
    assert activations.TANH.bounds == pytest.approx((1, 1, 4 / 27**0.5, 2), rel=1e-15, abs=0)
    assert activations.ERF.bounds[1] == pytest.approx(2 / math.pi**0.5, rel=1e-15, abs=0)
    assert activations.LOGISTIC.bounds[1:] == pytest.approx((1 / 4, 1 / 108**0.5, 1 / 8), rel=1e-15, abs=0)
    assert activations.SINE.bounds == (1, 1, 1, 1)


def test_an_activation_is_frozen():
    with pytest.raises(FrozenInstanceError):
        activations.TANH.bounds = (1, 1, 1, 1)


# Activations of one's own ---------------------------------------------------------------------------------------------


def half_sine(**changes) -> Activation:
    """σ(u) = sin(2u)/2, with what is given in place of the correct declaration."""
    correct = {
        "name": "half sine",
        "value": lambda u: torch.sin(2 * u) / 2,
        "first": lambda u: torch.cos(2 * u),
        "second": lambda u: -2 * torch.sin(2 * u),
        "third": lambda u: -4 * torch.cos(2 * u),
        "bounds": (0.5, 1.0, 2.0, 4.0),
        "attained_at": (math.pi / 4, 0.0, math.pi / 4, 0.0),
    }
    return Activation(**(correct | changes))


def gaussian_bump(supremum: float = 1.0, at: float = 0.0) -> Activation:
    """σ(u) = e^{−u²/2}: its derivatives are Hermite polynomials times itself."""
    bump = lambda u: torch.exp(-(u**2) / 2)
    at_third = math.sqrt(3 - math.sqrt(6))
    third_supremum = abs(3 * at_third - at_third**3) * math.exp(-(at_third**2) / 2)
    return Activation(
        "bump",
        bump,
        lambda u: -u * bump(u),
        lambda u: (u**2 - 1) * bump(u),
        lambda u: (3 * u - u**3) * bump(u),
        bounds=(supremum, math.exp(-0.5), 1.0, third_supremum),
        attained_at=(at, 1.0, 0.0, at_third),
    )


def algebraic() -> Activation:
    """σ(u) = u/√(1 + u²): bounded by 1, which it approaches only like 1 − 1/(2u²)."""
    return Activation(
        "algebraic",
        lambda u: u * (1 + u**2) ** -0.5,
        lambda u: (1 + u**2) ** -1.5,
        lambda u: -3 * u * (1 + u**2) ** -2.5,
        lambda u: (12 * u**2 - 3) * (1 + u**2) ** -3.5,
        bounds=(1.0, 1.0, 48 / (25 * math.sqrt(5)), 3.0),
        attained_at=(math.inf, 0.0, 0.5, 0.0),
    )


def arctangent() -> Activation:
    return Activation(
        "arctangent",
        torch.atan,
        lambda u: 1 / (1 + u**2),
        lambda u: -2 * u / (1 + u**2) ** 2,
        lambda u: (6 * u**2 - 2) / (1 + u**2) ** 3,
        bounds=(math.pi / 2, 1.0, 3 * math.sqrt(3) / 8, 2.0),
        attained_at=(math.inf, 0.0, 1 / math.sqrt(3), 0.0),
    )


@pytest.mark.parametrize("declare", [half_sine, gaussian_bump])
def test_a_correct_activation_is_accepted(declare):
    sigma = declare()
    z = torch.tensor(POINTS, dtype=torch.float64)
    assert sigma(z).equal(sigma.value(z))


@pytest.mark.parametrize("declare", [algebraic, arctangent])
def test_an_activation_that_approaches_its_bound_slowly_is_accepted(declare):
    assert declare().attained_at[0] == math.inf


def message_of(**changes) -> str:
    with pytest.raises(ValueError) as caught, unchecked():
        half_sine(**changes)
    return str(caught.value)


@pytest.mark.parametrize(
    ("order", "changes"),
    [
        (1, {"first": lambda u: torch.cos(u)}),
        (1, {"value": lambda u: torch.sin(2 * u) / 3}),
        (2, {"second": lambda u: 2 * torch.sin(2 * u)}),
        (3, {"third": lambda u: -4 * torch.cos(2 * u) + 1e-6}),
        (3, {"third": lambda u: torch.full_like(u, math.nan)}),
    ],
)
def test_a_wrong_derivative_is_refused_by_name(order, changes):
    message = message_of(**changes)
    assert message.startswith(f"derivative {order} of half sine is wrong at z = ")
    assert re.search(rf"autograd of derivative {order - 1} gives \S+, the declaration \S+$", message)


@pytest.mark.parametrize("order", [0, 1, 2, 3])
def test_a_bound_that_is_exceeded_is_refused_by_name(order):
    bounds = [0.5, 1.0, 2.0, 4.0]
    bounds[order] *= 0.99
    message = message_of(bounds=tuple(bounds))
    assert message.startswith(f"bounds[{order}] of half sine must be at least ")
    assert message.endswith(f"got {bounds[order]}")


@pytest.mark.parametrize("order", [0, 1, 2, 3])
def test_a_bound_that_is_not_attained_where_said_is_refused_by_name(order):
    bounds = [0.5, 1.0, 2.0, 4.0]
    bounds[order] *= 1.01
    message = message_of(bounds=tuple(bounds))
    assert message.startswith(
        f"bounds[{order}] of half sine is {bounds[order]}, but the value at attained_at[{order}] = "
    )


def test_a_wrong_place_of_attainment_is_refused_by_name():
    message = message_of(attained_at=(math.pi / 4, 0.1, math.pi / 4, 0.0))
    assert message.startswith(
        "bounds[1] of half sine is 1.0, but the value at attained_at[1] = 0.1 is 0.98006657784124"
    )


def test_a_bound_said_to_be_approached_at_infinity_must_be_approached():
    message = message_of(bounds=(0.6, 1.0, 2.0, 4.0), attained_at=(math.inf, 0.0, math.pi / 4, 0.0))
    assert message.startswith("bounds[0] of half sine is 0.6, said to be approached at infinity")
    assert "0.5" in message


def test_a_value_that_is_no_number_attains_nothing():
    def value(u):
        return torch.where(u == 100, math.nan, torch.sin(2 * u) / 2)

    assert "attained_at[0] = 100.0" in message_of(value=value, attained_at=(100.0, 0.0, math.pi / 4, 0.0))


def test_a_place_of_attainment_that_is_no_number_is_refused():
    """Else the bound, attained at π/4, would count as approached at infinity."""
    assert "attained_at" in message_of(attained_at=(math.nan, 0.0, math.pi / 4, 0.0))


@pytest.mark.parametrize(
    "bounds", [(1.0, 1.0, 1.0), (0.5, 1.0, 2.0, 0.0), (-0.5, 1.0, 2.0, 4.0), (0.5, math.inf, 2.0, 4.0)]
)
def test_bounds_must_be_four_finite_numbers_above_0(bounds):
    assert message_of(bounds=bounds) == f"bounds must be four finite numbers above 0, got {bounds}"


def test_attained_at_must_be_four_numbers():
    assert message_of(attained_at=(0.0, 0.0)) == "attained_at must be four numbers, got (0.0, 0.0)"


@pytest.mark.parametrize("rate", [0.01, 1.0, 50.0])
def test_a_stretched_activation(rate):
    for sigma in activations.ALL:
        stretched = activations.stretched(sigma, rate)
        u = torch.linspace(-3, 3, 7, dtype=torch.float64)
        assert torch.allclose(stretched(u), sigma(rate * u) / rate, rtol=1e-14, atol=0)
        assert stretched.bounds[1] == sigma.bounds[1]
        assert stretched.bounds[2] == pytest.approx(rate * sigma.bounds[2])

"""Bad input is refused by a message that names the argument, what was given and what is allowed."""

import math

import pytest
import torch

from checks import refused
from shallowformer import arguments

NAN, INF = math.nan, math.inf
DTYPES = [torch.float32, torch.float64]


@pytest.mark.parametrize(
    ("value", "given", "allowed"),
    [
        ([[1.0]], "list", "torch tensor of shape [n d]"),
        (None, "NoneType", "torch tensor of shape [n d]"),
        (torch.ones(2, 3, dtype=torch.int64), "torch.int64", "floating-point"),
        (torch.ones(2, 3, dtype=torch.bool), "torch.bool", "floating-point"),
        (torch.ones(2, 3, dtype=torch.complex128), "torch.complex128", "floating-point"),
        (torch.ones(3), "(3,)", "[n d]"),
        (torch.ones(1, 2, 3), "(1, 2, 3)", "[n d]"),
        (torch.tensor(1.0), "()", "[n d]"),
        (torch.ones(0, 3), "(0, 3)", "at least 1"),
        (torch.ones(3, 0), "(3, 0)", "at least 1"),
        (torch.tensor([[1.0, NAN]]), "1 entries that are NaN or infinite", "finite"),
        (torch.tensor([[INF, -INF]]), "2 entries that are NaN or infinite", "finite"),
    ],
)
def test_floating_refuses(value, given, allowed):
    refused("value", given, allowed, arguments.floating, "value", value, "n d")


def test_floating_refuses_too_few_dimensions_before_the_dots():
    refused("z", "(3,)", "[... T d]", arguments.floating, "z", torch.ones(3), "... T d")


@pytest.mark.parametrize("shape", [(2,), (1, 2), (3, 1, 2)])
def test_floating_allows_any_leading_dimensions_before_the_dots(shape):
    value = torch.ones(shape)
    assert arguments.floating("z", value, "... T") is value


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_floating_returns_the_very_tensor(dtype):
    value = torch.ones(2, 3, dtype=dtype)
    assert arguments.floating("value", value, "n d") is value
    assert value.dtype == dtype


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_norm_above_one_by_rounding_is_allowed_and_not_clamped(dtype):
    value = torch.tensor([[1 + 60 * torch.finfo(dtype).eps]], dtype=dtype)
    before = value.clone()
    assert arguments.in_unit_ball("X", value) is value
    assert value.equal(before)
    assert float(value) > 1


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_norm_above_one_beyond_rounding_is_refused(dtype):
    value = torch.tensor([[0.5], [1 + 70 * torch.finfo(dtype).eps]], dtype=dtype)
    refused("X", "norm 1", "norm at most 1", arguments.in_unit_ball, "X", value)


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_norm_in_a_refusal_reads_above_one(dtype):
    value = torch.tensor([[1 + 70 * torch.finfo(dtype).eps]], dtype=dtype)
    with pytest.raises(ValueError, match="got a vector of norm") as caught:
        arguments.in_unit_ball("X", value)
    assert float(str(caught.value).split()[-1]) > 1


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("d", [1, 2, 100, 4096])
def test_every_normalised_vector_lies_in_the_unit_ball(d, dtype):
    X = torch.randn(64, d, generator=torch.Generator().manual_seed(d), dtype=dtype)
    unit = X / X.norm(dim=-1, keepdim=True)
    assert arguments.in_unit_ball("X", unit) is unit


def test_the_ball_bounds_vectors_and_not_entries():
    with refused("X", "norm 1.41421356", "norm at most 1"):
        arguments.in_unit_ball("X", torch.ones(1, 1, 2, dtype=torch.float64))


def test_a_vector_whose_norm_overflows_is_refused():
    refused("X", "norm inf", "norm at most 1", arguments.in_unit_ball, "X", torch.full((1, 2), 1e30))


def test_tokens_are_named_X_unless_told():
    long = torch.full((1, 1, 1), 1.5)
    refused("X", "1.5", "unit ball", arguments.tokens, long)
    refused("X_test", "1.5", "unit ball", arguments.tokens, long, "X_test")


def test_tokens_need_three_dimensions():
    refused("X", "(2, 3)", "[n T d]", arguments.tokens, torch.zeros(2, 3))


def test_tokens_are_returned_unchanged():
    X = torch.full((1, 2, 3), 0.5)
    assert arguments.tokens(X) is X


def test_shape_says_what_fixes_it():
    value = torch.ones(2, 3)
    assert arguments.shape("U", value, (2, 3), "[m, d] as in W") is value
    refused("U", "(2, 3)", "(3, 2) ([m, d] as in W)", arguments.shape, "U", value, (3, 2), "[m, d] as in W")


def test_same_kind_refuses_another_dtype():
    one = torch.ones(1)
    assert arguments.same_kind("X", one, W=one, q=one) is None
    with refused("q", "torch.float64", "dtype and device of X (torch.float32, cpu)"):
        arguments.same_kind("X", one, W=one, q=one.double())


def test_same_kind_refuses_another_device():
    with refused("q", "meta", "dtype and device of X (torch.float32, cpu)"):
        arguments.same_kind("X", torch.ones(1), q=torch.ones(1, device="meta"))


@pytest.mark.parametrize("value", [0, -3, 1.0, True, "2", None, NAN])
def test_count_refuses(value):
    refused("n", repr(value), "whole number of at least 1", arguments.count, "n", value)


def test_count_allows_from_its_minimum():
    assert arguments.count("n", 1) == 1
    assert arguments.count("n", 0, 0) == 0
    refused("n", "1", "whole number of at least 2", arguments.count, "n", 1, 2)


@pytest.mark.parametrize(
    ("value", "allowed"),
    [(3, "even"), (1, "at least 2"), (0, "at least 2"), (-2, "at least 2"), (2.0, "whole number")],
)
def test_even_refuses(value, allowed):
    refused("m", repr(value), allowed, arguments.even, "m", value)


def test_even_allows_even_numbers():
    assert [arguments.even("m", m) for m in (2, 4, 100)] == [2, 4, 100]


@pytest.mark.parametrize("value", [0, 1, 0.0, 1.0, -0.1, 1.1, NAN, INF, True, "0.5", None])
def test_probability_refuses(value):
    refused("delta", repr(value), "open interval (0, 1)", arguments.probability, "delta", value)


def test_probability_allows_the_open_interval():
    assert [arguments.probability("delta", p) for p in (1e-300, 0.5, 1 - 1e-16)] == [1e-300, 0.5, 1 - 1e-16]


@pytest.mark.parametrize("value", [0, 0.0, -1, -1e-300, INF, NAN, True, "1", None])
def test_positive_refuses(value):
    refused("radius", repr(value), "finite number above 0", arguments.positive, "radius", value)


def test_positive_allows_and_returns_a_float():
    assert [arguments.positive("radius", r) for r in (1, 0.5, 1e300)] == [1.0, 0.5, 1e300]
    assert isinstance(arguments.positive("radius", 1), float)


@pytest.mark.parametrize("value", [-1e-9, -1, math.nan, math.inf, True, "1", None])
def test_at_least_refuses(value):
    refused("tolerance", repr(value), "at least 0", arguments.at_least, "tolerance", value, 0.0)


def test_at_least_allows_and_returns_a_float():
    assert [arguments.at_least("x", value, 0.5) for value in (0.5, 1, 1e300)] == [0.5, 1.0, 1e300]
    assert isinstance(arguments.at_least("x", 1, 0), float)

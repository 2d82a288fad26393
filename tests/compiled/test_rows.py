"""Compiled building blocks against higher precision."""

import numpy as np
import pytest

rows = pytest.importorskip("shallowformer.compiled.rows", reason="pip install numba")
from numba import njit  # noqa: E402

DTYPES = [np.float32, np.float64]


def scratch(dtype, count):
    whole = np.empty(count, rows.integer(dtype))
    return whole, whole.view(dtype), rows.Numbers.of(dtype)


@njit
def two_to(z, whole, power, numbers):
    rows.exp2(z, np.uintp(z.size), whole, power, numbers)


@njit
def hyperbolic(z, h, slope, whole, power, numbers):
    rows.tanh(z, h, slope, whole, power, numbers)


@njit
def product(x, row, column, B, C):
    rows.multiply_add(x, np.uintp(1), np.uintp(row), np.uintp(column), B, np.uintp(0), C, np.uintp(0))


@pytest.mark.parametrize("dtype", DTYPES)
def test_powers_of_two_are_right_to_a_rounding_or_two(dtype):
    info = np.finfo(dtype)
    x = np.concatenate(
        [np.linspace(info.minexp + 2, info.maxexp - 1, 40_001), np.linspace(-1, 1, 10_001)]
    ).astype(dtype)
    z = x.copy()
    two_to(z, *scratch(dtype, z.size))
    with np.errstate(over="ignore"):
        wanted = np.exp2(x.astype(np.longdouble))
    assert float(abs(z / wanted - 1).max()) < 0.75 * info.eps  # a term of the series less would make it 1
    assert (z[x == np.rint(x)] == wanted[x == np.rint(x)]).all()  # whole powers exactly


@pytest.mark.parametrize("dtype", DTYPES)
def test_what_is_below_the_range_is_next_to_nothing(dtype):
    z = np.array([-1e4, -np.inf, np.finfo(dtype).minexp - 3], dtype)
    two_to(z, *scratch(dtype, 3))
    assert ((z >= 0) & (z <= 4 * np.finfo(dtype).tiny)).all()


@pytest.mark.parametrize("dtype", DTYPES)
def test_what_is_no_number_stays_none(dtype):
    z = np.full(rows.WIDTH, np.nan, dtype)
    h, slope = np.empty_like(z), np.empty_like(z)
    hyperbolic(z, h, slope, *scratch(dtype, z.size))
    two_to(z, *scratch(dtype, z.size))
    assert np.isnan([z, h, slope]).all()


@pytest.mark.parametrize("dtype", DTYPES)
def test_tanh_and_its_slope_are_right_relative_to_themselves(dtype):
    eps, width = np.finfo(dtype).eps, rows.WIDTH
    positive = np.concatenate([[0.0], np.logspace(-30, np.log10(30), 100 * width - 1)])
    z = np.concatenate([positive, -positive]).astype(dtype)
    h, slope = np.empty_like(z), np.empty_like(z)
    for at in range(0, z.size, width):
        now = slice(at, at + width)
        hyperbolic(z[now], h[now], slope[now], *scratch(dtype, width))
    exact = z.astype(np.longdouble)
    small = exact != 0
    assert abs(h[small] / np.tanh(exact[small]) - 1).max() < 3 * eps
    assert (h[~small] == 0).all()
    # The argument 2|z|/ln 2 carries a relative rounding error, which e^{−2|z|} inherits as an absolute one of its exponent.
    budget = 4 * eps * (1 + 2 * abs(exact))
    assert (abs(slope * np.cosh(exact) ** 2 - 1) < budget).all()


@pytest.mark.parametrize("value", [50.0, 1e30, np.inf])
@pytest.mark.parametrize("dtype", DTYPES)
def test_a_saturated_tanh_is_one_and_has_no_slope(dtype, value):
    z = np.full(rows.WIDTH, -value, dtype)
    h, slope = np.empty_like(z), np.empty_like(z)
    hyperbolic(z, h, slope, *scratch(dtype, z.size))
    assert (abs(h + 1) <= np.finfo(dtype).eps).all()
    assert (slope == 0).all()


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_product_of_four_rows_is_one(dtype):
    generator, width = np.random.default_rng(0), rows.WIDTH
    x = generator.normal(size=40).astype(dtype)
    B, C = (generator.normal(size=(4, width)).astype(dtype) for _ in range(2))
    for row, column in ((4, 1), (1, 7)):
        matrix = x[1 + row * np.arange(4)[:, None] + column * np.arange(4)]
        found = C.copy().reshape(-1)
        product(x, row, column, B.reshape(-1), found)
        wanted = C.astype(float) + matrix.astype(float) @ B.astype(float)
        size = abs(C) + abs(matrix).astype(float) @ abs(B)
        assert (abs(found.reshape(4, width) - wanted) <= 8 * np.finfo(dtype).eps * size).all()

"""Compiled building blocks against higher precision."""

import numpy as np
import pytest

vectors = pytest.importorskip("shallowformer.compiled.vectors", reason="pip install numba")
from numba import njit  # noqa: E402

DTYPES = [np.float32, np.float64]


@njit
def two_to(z):
    for i in range(np.uintp(0), np.uintp(z.size), vectors.lanes(z)):
        vectors.store(z, i, vectors.exp2(vectors.load(z, i)))


@njit
def hyperbolic(z, h, slope):
    for i in range(np.uintp(0), np.uintp(z.size), np.uintp(4) * vectors.lanes(z)):
        of_z, of_slope = vectors.tanh(vectors.load_four(z, i))
        vectors.store(h, i, of_z)
        vectors.store(slope, i, of_slope)


def filled(numbers, dtype):
    """Up to whole vectors of any processor, with zeros."""
    return np.pad(numbers, (0, -len(numbers) % 64)).astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
def test_powers_of_two_are_right_to_a_rounding_or_two(dtype):
    info = np.finfo(dtype)
    x = np.concatenate([np.linspace(info.minexp + 2, info.maxexp - 1, 40_001), np.linspace(-1, 1, 10_001)])
    x = filled(x, dtype)
    z = x.copy()
    two_to(z)
    with np.errstate(over="ignore"):
        wanted = np.exp2(x.astype(np.longdouble))
    assert float(abs(z / wanted - 1).max()) < 0.75 * info.eps  # a term of the series less would make it 1
    assert (z[x == np.rint(x)] == wanted[x == np.rint(x)]).all()  # whole powers exactly


@pytest.mark.parametrize("dtype", DTYPES)
def test_what_is_below_the_range_is_next_to_nothing(dtype):
    z = np.resize(np.array([-1e4, -np.inf, np.finfo(dtype).minexp - 3], dtype), 64)
    two_to(z)
    assert ((z >= 0) & (z <= 4 * np.finfo(dtype).tiny)).all()


@pytest.mark.parametrize("dtype", DTYPES)
def test_what_is_no_number_stays_none(dtype):
    z = np.full(64, np.nan, dtype)
    h, slope = np.empty_like(z), np.empty_like(z)
    hyperbolic(z, h, slope)
    two_to(z)
    assert np.isnan([z, h, slope]).all()


@pytest.mark.parametrize("dtype", DTYPES)
def test_tanh_and_its_slope_are_right_relative_to_themselves(dtype):
    eps = np.finfo(dtype).eps
    positive = np.concatenate([[0.0], np.logspace(-30, np.log10(30), 6399)])
    z = np.concatenate([positive, -positive]).astype(dtype)
    h, slope = np.empty_like(z), np.empty_like(z)
    hyperbolic(z, h, slope)
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
    z = np.full(64, -value, dtype)
    h, slope = np.empty_like(z), np.empty_like(z)
    hyperbolic(z, h, slope)
    assert (abs(h + 1) <= np.finfo(dtype).eps).all()
    assert (slope == 0).all()

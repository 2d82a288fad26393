"""Building blocks of loops that numba compiles: a small matrix product, 2^x, and tanh with its slope, on rows of ``WIDTH`` neighbours.

A model's pass over its data is fastest as one loop over samples whose intermediate results never leave the processor's first cache. Its
arithmetic is then a handful of these. They vectorise because a row has a length known beforehand, rows of one block follow one another,
and no loop touches more than a few arrays.
"""

import hashlib
import math
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numba import njit, types
from numba.extending import overload

#: Neighbours in a row; what is shorter is filled up with zeros.
WIDTH = 64

#: Liberties that leave rounding to integers alone and keep infinities and NaN: contraction to fused multiply-adds, no sign of zero, reciprocals.
FAST = {"contract", "nsz", "arcp"}

#: numba keeps what it compiled as long as the file of the compiled function is the same; one that bears this in its name depends on this file too.
VERSION = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()

_ROW, _ROWS2, _ROWS3 = np.uintp(WIDTH), np.uintp(2 * WIDTH), np.uintp(3 * WIDTH)


class Numbers(NamedTuple):
    """Constants of one floating-point type, with which loops stay in that type.

    Args:
        one: 1.
        magic: 1.5·2^(digits), which rounds to an integer what is added to it; the last bits of the sum are that integer's.
        lowest: the least exponent that is not flushed.
        log2_e: log₂ e.
        bias: the bits of 1, an integer of the type's size.
        shift: bits of the fraction.
    """

    one: np.floating
    magic: np.floating
    lowest: np.floating
    log2_e: np.floating
    bias: np.integer
    shift: np.integer

    @classmethod
    def of(cls, dtype: np.dtype) -> "Numbers":
        """Those of a type.

        Args:
            dtype: float32 or float64.
        """
        info = np.finfo(dtype)
        real, whole = info.dtype.type, integer(dtype).type
        return cls(
            real(1), real(1.5 * 2**info.nmant), real(info.minexp + 1), real(math.log2(math.e)), whole((1 - info.minexp) << info.nmant),
            whole(info.nmant),
        )  # fmt: skip


def integer(dtype: np.dtype) -> np.dtype:
    """The integer type of the same size."""
    return np.dtype(f"i{np.dtype(dtype).itemsize}")


def _coefficients(degree: int, kind: type) -> tuple[np.floating, ...]:
    """Of a polynomial P with 2^f − 1 = f·P(f), by Taylor's formula; highest power first."""
    return tuple(kind(math.log(2) ** (k + 1) / math.factorial(k + 1)) for k in range(degree, -1, -1))


#: For |f| ≤ ½ what is left out is less than a fifth of a unit in P's last place: ln 2·(ln 2/2)^(degree + 1)/(degree + 2)!, and a little more.
SINGLE, DOUBLE = _coefficients(6, np.float32), _coefficients(12, np.float64)


def fraction(f):
    """2^f − 1 for |f| ≤ ½, to two units in its last place."""
    raise NotImplementedError("compiled only")


@overload(fraction, jit_options={"fastmath": FAST, "forceinline": True})
def _fraction(f):
    if f == types.float32:
        a0, a1, a2, a3, a4, a5, a6 = SINGLE

        def evaluate(f):
            return f * ((((((a0 * f + a1) * f + a2) * f + a3) * f + a4) * f + a5) * f + a6)
    else:
        b0, b1, b2, b3, b4, b5, b6, b7, b8, b9, b10, b11, b12 = DOUBLE

        def evaluate(f):
            high = ((((b0 * f + b1) * f + b2) * f + b3) * f + b4) * f + b5
            return f * (((((((high * f + b6) * f + b7) * f + b8) * f + b9) * f + b10) * f + b11) * f + b12)

    return evaluate


@njit(forceinline=True)
def clear(C, start, count):
    """C[start : start + count] ← 0."""
    for i in range(count):
        C[start + i] = 0


@njit(fastmath=FAST, forceinline=True)
def multiply_add(x, x0, row, column, B, b0, C, c0):
    """C[g] += Σ_k x[g, k] B[k] for g, k < 4: rows of ``WIDTH`` from b0 and c0 on, numbers x[g, k] at x0 + g·row + k·column."""
    _two_rows(x, x0, row, column, B, b0, C, c0)
    _two_rows(x, x0 + row + row, row, column, B, b0, C, c0 + _ROWS2)


@njit(fastmath=FAST, forceinline=True)
def _two_rows(x, x0, row, column, B, b0, C, c0):
    """The same for g < 2: eight numbers, four rows in and two out are as much as sixteen vector registers hold."""
    x1, two, three = x0 + row, column + column, column + column + column
    a00, a01, a02, a03 = x[x0], x[x0 + column], x[x0 + two], x[x0 + three]
    a10, a11, a12, a13 = x[x1], x[x1 + column], x[x1 + two], x[x1 + three]
    for i in range(_ROW):
        v0, v1, v2, v3 = B[b0 + i], B[b0 + _ROW + i], B[b0 + _ROWS2 + i], B[b0 + _ROWS3 + i]
        C[c0 + i] += a00 * v0 + a01 * v1 + a02 * v2 + a03 * v3
        C[c0 + _ROW + i] += a10 * v0 + a11 * v1 + a12 * v2 + a13 * v3


@njit(fastmath=FAST, forceinline=True)
def exp2(z, count, whole, power, numbers):
    """Replace z by 2^z, where that is finite by a factor of 2; below the least exponent it is that. ``whole`` and ``power`` are the same memory, as integers and as floats."""
    for i in range(count):
        x = max(z[i], numbers.lowest)
        power[i] = x + numbers.magic
        z[i] = fraction(x - (power[i] - numbers.magic)) + numbers.one
    for i in range(count):
        whole[i] = (whole[i] << numbers.shift) + numbers.bias
    for i in range(count):
        z[i] *= power[i]


@njit(fastmath=FAST, forceinline=True, error_model="numpy")
def tanh(z, h, slope, whole, power, numbers):
    """Make tanh z, in h, and 1 − tanh² z, in slope, of a row, from e^{2|z|} − 1.

    Relative to themselves h is right to three roundings, and the slope to 4 + 4·2|z|, as its exponent has one; beyond 32 it is 0.
    """
    one = numbers.one
    two = one + one
    most = two * two * two * two * two  # tanh is 1 up to rounding, and e^{2|z|} far from overflowing
    for i in range(_ROW):
        x = min(abs(z[i]), most) * two * numbers.log2_e
        power[i] = x + numbers.magic
        h[i] = fraction(x - (power[i] - numbers.magic))
    for i in range(_ROW):
        whole[i] = (whole[i] << numbers.shift) + numbers.bias
    for i in range(_ROW):
        grown = h[i] * power[i] + (power[i] - one)
        inverse = one / (grown + two)
        steep = two * two * (grown + one) * inverse * inverse
        slope[i] = steep - steep if abs(z[i]) >= most else steep
        h[i] = grown * inverse
    for i in range(_ROW):
        h[i] = h[i] if z[i] > h[i] - h[i] else -h[i]

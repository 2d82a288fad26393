"""Building blocks of loops that numba compiles: neighbours that share a vector register, and 2^x and tanh of them.

A model's pass over its data is fastest as one loop over samples whose intermediate results never leave the processor's registers and first
cache. What LLVM makes of loops over neighbours keeps each intermediate result in memory; so a loop says itself what shares a register,
and which few of them a sum needs: sixteen are all that a processor without AVX-512 has.
"""

import hashlib
import math
import operator

import llvmlite.binding
import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic, models, overload, register_model
from numpy.polynomial import chebyshev

#: Bytes of a vector: as many as a register of this processor has, or two of its registers.
BYTES = 64 if llvmlite.binding.get_host_cpu_features().get("avx512f") else 32

#: Liberties that leave rounding to integers alone and keep infinities and NaN: contraction to fused multiply-adds, no sign of zero, reciprocals.
FAST = {"contract", "nsz", "arcp"}

#: numba keeps what it compiled as long as the file of the compiled function is the same; one that bears this in its name depends on this file too.
VERSION = hashlib.sha256(__loader__.get_data(__file__)).hexdigest()


class Vector(types.Type):
    """Neighbours of one floating-point type: of one register, or of four, on which an operation's latency is spent once."""

    def __init__(self, kind: types.Float, registers: int = 1) -> None:
        self.kind, self.lanes = kind, registers * 8 * BYTES // kind.bitwidth
        super().__init__(f"Vector({kind}, {self.lanes})")


@register_model(Vector)
class _Model(models.PrimitiveModel):
    def __init__(self, manager, vector):
        super().__init__(manager, vector, ir.VectorType(manager[vector.kind].get_value_type(), vector.lanes))


def lanes(array):
    """How many numbers of an array's type a vector has."""
    raise NotImplementedError("compiled only")


@overload(lanes, inline="always")
def _lanes(array):
    count = np.uintp(Vector(array.dtype).lanes)
    return lambda array: count


def _pointer(context, builder, array, at, values, to):
    if not isinstance(at, types.Integer):  # numba makes a float of a signed and an unsigned integer
        raise TypeError(f"an index is {at}")
    data = context.make_array(array)(context, builder, values[0]).data
    at = context.cast(builder, values[1], at, types.uintp)
    return builder.bitcast(builder.gep(data, [at]), context.get_value_type(to).as_pointer())


def _load(registers):
    @intrinsic
    def load(typing, array, at):
        vector = Vector(array.dtype, registers)

        def code(context, builder, signature, values):
            pointer = _pointer(context, builder, array, at, values, vector)
            return builder.load(pointer, align=array.dtype.bitwidth // 8)

        return vector(array, at), code

    return load


#: The vector of an array that begins at an index, in one register or in four.
load, load_four = _load(1), _load(4)


@intrinsic
def store(typing, array, at, vector):
    """array[at], … ← vector."""

    def code(context, builder, signature, values):
        pointer = _pointer(context, builder, array, at, values, vector)
        builder.store(values[2], pointer, align=array.dtype.bitwidth // 8)
        return context.get_dummy_value()

    return types.void(array, at, vector), code


@intrinsic
def fill(typing, like, number):
    """The same number everywhere, in a vector like another."""

    def code(context, builder, signature, values):
        kind, place = context.get_value_type(like), ir.IntType(32)
        first = builder.insert_element(ir.Constant(kind, ir.Undefined), values[1], place(0))
        return builder.shuffle_vector(
            first, first, ir.Constant(ir.VectorType(place, like.lanes), [0] * like.lanes)
        )

    return like(like, number), code


@intrinsic
def zeros(typing, array):
    """A vector of zeros, of the type of an array's numbers."""
    vector = Vector(array.dtype)
    return vector(array), lambda context, *_: ir.Constant(context.get_value_type(vector), None)


def _quarter(k):
    @intrinsic
    def quarter(typing, vector):
        part = Vector(vector.kind)

        def code(context, builder, signature, values):
            place = ir.VectorType(ir.IntType(32), part.lanes)
            places = ir.Constant(place, list(range(k * part.lanes, (k + 1) * part.lanes)))
            return builder.shuffle_vector(values[0], values[0], places)

        return part(vector), code

    return quarter


_first, _second, _third, _fourth = map(_quarter, range(4))


@njit(fastmath=FAST, forceinline=True)
def together(vector):
    """The sum of the four registers of a vector."""
    return (_first(vector) + _second(vector)) + (_third(vector) + _fourth(vector))


@intrinsic
def choose(typing, a, b, less, other):
    """``less`` where a < b, and ``other`` elsewhere, with NaN too."""

    def code(context, builder, signature, values):
        return builder.select(builder.fcmp_ordered("<", *values[:2]), *values[2:])

    return less(a, b, less, other), code


@intrinsic
def grown(typing, a, n):
    """a·2ⁿ for the integers n that the last bits of another vector are, where exponents stay in range."""
    bits = ir.VectorType(ir.IntType(a.kind.bitwidth), a.lanes)
    fraction = ir.Constant(bits, [np.finfo(a.kind.name).nmant] * a.lanes)

    def code(context, builder, signature, values):
        number, exponent = (builder.bitcast(value, bits) for value in values)
        return builder.bitcast(builder.add(number, builder.shl(exponent, fraction)), values[0].type)

    return a(a, n), code


def _operation(instruction):
    """What overloads an operator: a method of LLVM's builder, on two vectors."""

    @intrinsic
    def both(typing, a, b):
        return a(a, b), lambda context, builder, signature, values: getattr(builder, instruction)(*values)

    return lambda a, b: (lambda a, b: both(a, b)) if isinstance(a, Vector) and a == b else None


for _operator, _instruction in {
    "add": "fadd",
    "iadd": "fadd",
    "sub": "fsub",
    "mul": "fmul",
    "truediv": "fdiv",
}.items():
    overload(getattr(operator, _operator))(_operation(_instruction))


def _coefficients(degree: int, kind: type) -> tuple[np.floating, ...]:
    """Of a polynomial P with 2^f − 1 = f·P(f) for |f| ≤ ½: Taylor's, less Chebyshev's polynomials of higher degree; highest power first."""
    taylor = np.array([math.log(2) ** (k + 1) / math.factorial(k + 1) / 2**k for k in range(2 * degree)])
    higher = chebyshev.poly2cheb(taylor)
    higher[: degree + 1] = 0
    P = taylor - chebyshev.cheb2poly(higher)
    return tuple(kind(P[k] * 2**k) for k in range(degree, -1, -1))


#: What is left out is an eighth of a unit in P's last place: (ln 2)^(degree + 2)/(degree + 2)!/2^(2·degree + 1), and a little more.
SINGLE, DOUBLE = _coefficients(5, np.float32), _coefficients(10, np.float64)


def fraction(f):
    """2^f − 1 for |f| ≤ ½, to two units in its last place."""
    raise NotImplementedError("compiled only")


@overload(fraction, jit_options={"fastmath": FAST, "forceinline": True})
def _fraction(f):
    if f.kind == types.float32:
        a0, a1, a2, a3, a4, a5 = SINGLE

        def evaluate(f):
            high = (fill(f, a0) * f + fill(f, a1)) * f + fill(f, a2)
            return f * (((high * f + fill(f, a3)) * f + fill(f, a4)) * f + fill(f, a5))
    else:
        b0, b1, b2, b3, b4, b5, b6, b7, b8, b9, b10 = DOUBLE

        def evaluate(f):
            high = ((fill(f, b0) * f + fill(f, b1)) * f + fill(f, b2)) * f + fill(f, b3)
            high = ((high * f + fill(f, b4)) * f + fill(f, b5)) * f + fill(f, b6)
            return f * ((((high * f + fill(f, b7)) * f + fill(f, b8)) * f + fill(f, b9)) * f + fill(f, b10))

    return evaluate


def numbers(z):
    """Vectors of a vector's type: 1; 1.5·2^(digits), which rounds to an integer what is added to it, in the last bits of the sum; the least exponent."""
    raise NotImplementedError("compiled only")


@overload(numbers, jit_options={"forceinline": True})
def _numbers(z):
    info = np.finfo(z.kind.name)
    one, magic, lowest, log2_e = map(
        info.dtype.type, (1, 1.5 * 2**info.nmant, info.minexp + 1, math.log2(math.e))
    )
    return lambda z: (fill(z, one), fill(z, magic), fill(z, lowest), fill(z, log2_e))


@njit(fastmath=FAST, forceinline=True)
def exp2(z):
    """2^z, where that is finite by a factor of 2; below the least exponent it is that."""
    one, magic, lowest, _ = numbers(z)
    x = choose(z, lowest, lowest, z)
    whole = x + magic
    return (fraction(x - (whole - magic)) + one) * grown(one, whole)


@njit(fastmath=FAST, forceinline=True, error_model="numpy")
def tanh(z):
    """Two vectors, tanh z and 1 − tanh² z, from e^{2|z|} − 1.

    Relative to themselves tanh is right to three roundings, and the slope to 4 + 4·2|z|, as its exponent has one; beyond 32 it is 0.
    """
    one, magic, _, log2_e = numbers(z)
    zero, two = one - one, one + one
    most = two * two * two * two * two  # tanh is 1 up to rounding, and e^{2|z|} far from overflowing
    size = choose(z, zero, zero - z, z)
    x = choose(most, size, most, size) * two * log2_e
    whole = x + magic
    power = grown(one, whole)
    more = fraction(x - (whole - magic)) * power + (power - one)
    inverse = one / (more + two)
    steep = two * two * (more + one) * inverse * inverse
    h = more * inverse
    return choose(zero, z, h, zero - h), choose(most, size, zero, steep)


@njit(fastmath=FAST | {"reassoc"})
def total(values, start, count):
    """A sum in whatever order is fastest, always the same."""
    found = values.dtype.type(0)
    for i in range(start, start + count):
        found += values[i]
    return found


@njit(fastmath=FAST | {"reassoc"})
def inner(a, b, start, low, high):
    """Σ_i a_i b_{start + i} from low to high, likewise."""
    found = a.dtype.type(0)
    for i in range(low, high):
        found += a[i] * b[start + i]
    return found

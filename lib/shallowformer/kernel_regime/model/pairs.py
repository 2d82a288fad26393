"""Pairs of heads: the symmetry behind the symmetric initialisation, and the two parts of a displacement from it."""

from shallowformer import arguments
from shallowformer.kernel_regime.model.parameters import Parameters, difference


def mirror(phi: Parameters) -> Parameters:
    """Rφ: partners i and i + m/2 change places and their readouts change sign.

    R is linear, an isometry and its own inverse; f(X; Rφ) = −f(X; φ), and Rφ⁽⁰⁾ = φ⁽⁰⁾ at a symmetric initialisation.
    """
    half = arguments.even("m", phi.m) // 2
    c, U, W = phi.map(lambda block: block.roll(half, 0)).blocks
    return Parameters(-c, U, W)


def parts(phi: Parameters, phi0: Parameters) -> tuple[Parameters, Parameters]:
    """The two orthogonal parts of δ = φ − φ⁽⁰⁾: what keeps partners together, and what drives them apart.

    They are the symmetric s = (δ + Rδ)/2, in which readouts stay opposite and θ equal, and the antisymmetric δ − s, in which readouts move
    alike and θ oppositely.
    """
    delta = difference(phi, phi0)
    other = mirror(delta)
    return delta.map(lambda a, b: (a + b) / 2, other), delta.map(lambda a, b: (a - b) / 2, other)

"""Pairs of heads: the symmetry behind the symmetric initialisation, and the two parts of a displacement from it."""

import torch

from shallowformer import arguments
from shallowformer.kernel_regime.parameters import Parameters


def mirror(phi: Parameters) -> Parameters:
    """Rφ: partners i and i + m/2 change places and their readouts change sign.

    R is linear, an isometry and its own inverse; f(X; Rφ) = −f(X; φ), and Rφ⁽⁰⁾ = φ⁽⁰⁾ at a symmetric initialisation.

    Args:
        phi: parameters of an even number of heads.

    Returns:
        The mirror image.

    Raises:
        ValueError: the number of heads is odd.
    """
    half = arguments.even("m", phi.m) // 2
    c, U, W = phi.map(lambda block: block.roll(half, 0)).blocks
    return Parameters(-c, U, W)


def parts(phi: Parameters, phi0: Parameters) -> tuple[Parameters, Parameters]:
    """The two orthogonal parts of φ − φ⁽⁰⁾: what keeps partners together, and what drives them apart.

    Args:
        phi: parameters of an even number of heads.
        phi0: the centre, with the same shapes.

    Returns:
        The symmetric part s = (δ + Rδ)/2, in which readouts stay opposite and θ equal, and the antisymmetric part
        δ − s, in which readouts move alike and θ oppositely.

    Raises:
        ValueError: the number of heads is odd, or shapes, dtypes or devices differ.
    """
    delta = difference(phi, phi0)
    other = mirror(delta)
    halves = [
        Parameters(*((a + sign * b) / 2 for a, b in zip(delta.blocks, other.blocks, strict=True)))
        for sign in (1, -1)
    ]
    return halves[0], halves[1]


def difference(phi: Parameters, phi0: Parameters) -> Parameters:
    """The displacement φ − φ⁽⁰⁾, block by block.

    Args:
        phi: parameters.
        phi0: the centre, with the same shapes.

    Returns:
        The displacement.

    Raises:
        ValueError: shapes, dtypes or devices differ.
    """
    arguments.shape("phi.W", phi.W, tuple(phi0.W.shape), "[m, d, d] as in phi0")
    arguments.same_kind("phi0", phi0.W, phi=phi.W)
    return Parameters(*(a - b for a, b in zip(phi.blocks, phi0.blocks, strict=True)))


def norm(phi: Parameters) -> torch.Tensor:
    """Euclidean norm of all parameters together.

    Args:
        phi: parameters, for instance a displacement or a gradient.

    Returns:
        ‖φ‖, a scalar tensor.
    """
    return torch.stack([torch.linalg.vector_norm(block) for block in phi.blocks]).norm()

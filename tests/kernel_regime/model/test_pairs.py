"""Pairs of heads: the mirror, and the two parts of a displacement."""

import pytest
import torch
from torch import Generator

from checks import refused
from shallowformer import data
from shallowformer.kernel_regime.model import pairs, parameters, transformer


def both(m=6, d=3, seed=0):
    generator = Generator().manual_seed(seed)
    return parameters.random(m, d, generator), parameters.symmetric(m, d, generator)


def equal(a, b):
    return all(x.equal(y) for x, y in zip(a.blocks, b.blocks, strict=True))


def test_the_mirror_by_hand():
    phi, _ = both(m=4)
    image = pairs.mirror(phi)
    for i in range(4):
        j = (i + 2) % 4
        assert image.c[i] == -phi.c[j]
        assert image.U[i].equal(phi.U[j])
        assert image.W[i].equal(phi.W[j])


def test_the_mirror_is_its_own_inverse_and_keeps_norms():
    phi, phi0 = both()
    assert equal(pairs.mirror(pairs.mirror(phi)), phi)
    assert equal(pairs.mirror(phi0), phi0)
    assert float(parameters.norm(pairs.mirror(phi))) == pytest.approx(float(parameters.norm(phi)), rel=1e-14)


def test_the_mirror_negates_the_model():
    phi, _ = both()
    X = data.clipped_gaussian(4, 5, 3, Generator().manual_seed(1))
    assert torch.allclose(transformer.f(X, pairs.mirror(phi)), -transformer.f(X, phi), rtol=0, atol=1e-14)


def test_the_parts_add_up_are_orthogonal_and_have_their_symmetry():
    phi, phi0 = both()
    delta = parameters.difference(phi, phi0)
    together, apart = pairs.parts(phi, phi0)
    inner = 0.0
    for s, a, whole in zip(together.blocks, apart.blocks, delta.blocks, strict=True):
        assert torch.allclose(s + a, whole, atol=1e-14)
        inner += float((s * a).sum())
    assert abs(inner) < 1e-13
    assert equal(pairs.mirror(together), together)
    assert equal(pairs.mirror(apart), apart.map(torch.neg))
    assert apart.c[:3].equal(apart.c[3:])
    assert apart.U[:3].equal(-apart.U[3:])


def test_the_norm_is_that_of_all_entries():
    phi, _ = both()
    flat = torch.cat([block.flatten() for block in phi.blocks])
    assert float(parameters.norm(phi)) == pytest.approx(float(flat.norm()), rel=1e-14)


def test_an_odd_number_of_heads_is_refused():
    phi = parameters.random(3, 2, Generator())
    refused("m", "3", "even", pairs.mirror, phi)


def test_other_shapes_and_dtypes_are_refused():
    phi, phi0 = both()
    refused("phi.W", "(4, 3, 3)", "(6, 3, 3)", parameters.difference, both(m=4)[0], phi0)
    refused("phi", "float32", "float64", parameters.difference, phi.map(torch.Tensor.float), phi0)

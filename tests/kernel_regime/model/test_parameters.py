"""Parameters: what fits together, and the two random initialisations."""

import math
from dataclasses import FrozenInstanceError

import pytest
import torch
from torch import Generator

from checks import refused
from shallowformer.kernel_regime.model import parameters
from shallowformer.kernel_regime.model.parameters import Parameters

GOOD = {"c": torch.ones(3), "U": torch.ones(3, 2), "W": torch.ones(3, 2, 2)}


def test_sizes_and_blocks():
    phi = Parameters(**GOOD)
    assert (phi.m, phi.d) == (3, 2)
    assert all(block is GOOD[name] for name, block in zip("cUW", phi.blocks, strict=True))


def test_parameters_are_frozen():
    with pytest.raises(FrozenInstanceError):
        Parameters(**GOOD).c = torch.zeros(3)


def test_map_applies_to_every_block_and_leaves_the_original():
    phi = Parameters(**GOOD)
    doubled = phi.map(lambda block: 2 * block.double())
    assert all(
        block.equal(torch.full_like(block, 2)) and block.dtype == torch.float64 for block in doubled.blocks
    )
    assert all(block.equal(torch.ones_like(block)) and block.dtype == torch.float32 for block in phi.blocks)


@pytest.mark.parametrize(
    ("name", "value", "given", "allowed"),
    [
        ("W", [1.0], "list", "[m d d]"),
        ("W", torch.ones(2, 2), "(2, 2)", "[m d d]"),
        ("W", torch.ones(3, 2, 3), "(3, 2, 3)", "(3, 2, 2) ([m, d, d])"),
        ("W", torch.ones(0, 2, 2), "(0, 2, 2)", "at least 1"),
        ("W", torch.full((3, 2, 2), math.nan), "12 entries", "finite"),
        ("U", torch.ones(2, 3), "(2, 3)", "(3, 2) ([m, d] as in W)"),
        ("U", torch.ones(3), "(3,)", "[m d]"),
        ("U", torch.full((3, 2), math.inf), "6 entries", "finite"),
        ("U", torch.ones(3, 2).double(), "torch.float64", "dtype and device of W (torch.float32"),
        ("c", torch.ones(2), "(2,)", "(3,) ([m] as in W)"),
        ("c", torch.ones(3, 1), "(3, 1)", "[m]"),
        ("c", torch.tensor([1.0, math.nan, 1.0]), "1 entries", "finite"),
        ("c", torch.ones(3, dtype=torch.int64), "torch.int64", "floating-point"),
    ],
)
def test_blocks_that_do_not_fit_are_refused(name, value, given, allowed):
    refused(name, given, allowed, Parameters, **GOOD | {name: value})


@pytest.mark.parametrize("make", [parameters.random, parameters.symmetric])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_shapes_and_dtype(make, dtype):
    phi = make(4, 3, Generator().manual_seed(0), dtype)
    assert [tuple(block.shape) for block in phi.blocks] == [(4,), (4, 3), (4, 3, 3)]
    assert {block.dtype for block in phi.blocks} == {dtype}


@pytest.mark.parametrize("make", [parameters.random, parameters.symmetric])
def test_the_generator_decides(make):
    generator = Generator().manual_seed(7)
    first, second = make(4, 3, generator), make(4, 3, generator)
    again = make(4, 3, Generator().manual_seed(7))
    assert all(a.equal(b) for a, b in zip(first.blocks, again.blocks, strict=True))
    assert not first.W.equal(second.W)


@pytest.mark.parametrize("make", [parameters.random, parameters.symmetric])
def test_the_global_generator_is_left_alone(make):
    before = torch.random.get_rng_state()
    make(4, 3, Generator().manual_seed(7))
    assert torch.random.get_rng_state().equal(before)


def assert_standard_gaussian(values: torch.Tensor):
    """Mean, variance and fourth moment within five standard errors (variances 1, 2 and 96)."""
    N = values.numel()
    for moment, expected, variance in ((1, 0, 1), (2, 1, 2), (4, 3, 96)):
        assert abs(float(values.pow(moment).mean()) - expected) < 5 * (variance / N) ** 0.5


def test_random_entries_are_standard_gaussian():
    phi = parameters.random(2000, 4, Generator().manual_seed(0))
    for block in phi.blocks:
        assert_standard_gaussian(block)


def test_random_heads_are_unpaired():
    phi = parameters.random(4, 3, Generator().manual_seed(0))
    assert not phi.U[:2].equal(phi.U[2:])


def test_symmetric_heads_come_in_pairs_of_opposite_sign():
    phi = parameters.symmetric(6, 3, Generator().manual_seed(0))
    assert phi.U[:3].equal(phi.U[3:])
    assert phi.W[:3].equal(phi.W[3:])
    assert phi.c[:3].equal(-phi.c[3:])
    assert phi.c.abs().equal(torch.ones_like(phi.c))


def test_symmetric_entries_have_the_stated_laws():
    phi = parameters.symmetric(4000, 4, Generator().manual_seed(0))
    assert_standard_gaussian(phi.U[:2000])
    assert_standard_gaussian(phi.W[:2000])
    assert abs(float(phi.c[:2000].mean())) < 5 / 2000**0.5


def test_a_bad_size_is_refused_before_anything_is_drawn():
    generator = Generator().manual_seed(0)
    before = generator.get_state()
    refused("d", "0", "at least 1", parameters.symmetric, 4, 0, generator)
    assert generator.get_state().equal(before)

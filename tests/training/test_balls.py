"""Products of balls: lengths of any size, steps that are shortened, the projection and whom it moved. Points: tuples and mappings alike, block by block."""

import pytest
import torch
from torch import Generator

from checks import refused
from shallowformer.training import balls, points


def units(k=5, *shape, dtype=torch.float64, seed=0):
    return torch.randn(k, *shape, generator=Generator().manual_seed(seed), dtype=torch.float64).to(dtype)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("shape", [(), (3,), (3, 4)])
def test_lengths_are_norms_to_the_last_bit(dtype, shape):
    x = units(5, *shape, dtype=dtype)
    assert balls.lengths(x).equal(torch.linalg.vector_norm(x.reshape(5, -1), dim=1))


@pytest.mark.parametrize("size", [1e-44, 1e-30, 1e25, 1e38])
def test_lengths_neither_overflow_nor_vanish(size):
    """The squares of such entries do, in float32."""
    x = torch.full((2, 4), size)
    assert torch.allclose(balls.lengths(x), torch.full((2,), 2 * size), rtol=1e-6)
    assert torch.allclose(balls.to_length(x, 3.0), torch.full((2, 4), 1.5), rtol=1e-6)


def test_units_are_scaled_to_a_length_and_0_stays_0():
    x = units(3, 2, 2)
    x[1] = 0
    found = balls.to_length(x, torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64))
    assert balls.lengths(found).tolist() == pytest.approx([1.0, 0.0, 3.0])
    assert torch.nn.functional.cosine_similarity(found[2].flatten(), x[2].flatten(), dim=0) > 1 - 1e-12


def test_only_long_steps_are_shortened():
    x = units(6, 4)
    radius = balls.lengths(x) * torch.tensor([2.0, 0.5] * 3, dtype=torch.float64)
    short, outside = balls.shorten(x, radius)
    assert outside.tolist() == [False, True] * 3
    assert short[::2].equal(x[::2])
    assert torch.allclose(short[1::2], x[1::2] / 2, rtol=1e-14)


@pytest.mark.parametrize("radius", [0.0, 0.3, 2.0, 100.0])
def test_the_projection_is_the_nearest_point(radius):
    x, centre = units(6, 3), units(6, 3, seed=1)
    near, outside = balls.project(x, centre, radius)
    assert (balls.lengths(near - centre) <= radius * (1 + 1e-14)).all()
    assert near[~outside].equal(x[~outside])
    # Whoever is in the ball sees the projected point on the way: ⟨x − Πx, z − Πx⟩ ≤ 0.
    for seed in range(20):
        other = centre + balls.shorten(units(6, 3, seed=seed), radius)[0]
        assert ((x - near) * (other - near)).sum(1).max() <= 1e-13


def test_slack_decides_what_counts_as_inside():
    x = torch.tensor([[1.0], [1.05], [1.2]], dtype=torch.float64)
    assert balls.shorten(x, 1.0)[1].tolist() == [False, True, True]
    assert balls.shorten(x, 1.0, 0.1)[1].tolist() == [False, False, True]


@pytest.mark.parametrize("mapping", [False, True])
def test_a_product_projects_every_block_and_counts_whom_it_moved(mapping):
    blocks = (units(4), units(4, 3))
    wrap = (lambda pair: dict(zip("ab", pair, strict=True))) if mapping else tuple
    centre = wrap([torch.zeros_like(block) for block in blocks])
    medians = [float(balls.lengths(block).sort().values[1]) for block in blocks]
    found, moved = balls.Balls(centre, medians)(wrap(blocks))
    assert type(found) is type(centre)
    assert moved.tolist() == [[0.5, 0.5]]
    values = found.values() if mapping else found
    for block, before, radius in zip(values, blocks, medians, strict=True):
        assert block.equal(balls.project(before, torch.zeros_like(before), radius)[0])


@pytest.mark.parametrize(
    ("radii", "name", "given"),
    [
        ((), "radii", "got 0"),
        ((1.0, 1.0, 1.0), "radii", "got 3"),
        ((1.0, -0.3), "radius", "-0.3"),
        ((float("nan"), 1.0), "radius", "nan"),
        ((1.0, torch.tensor([0.3, -0.3])), "radius", "-0.3"),
    ],
)
def test_each_block_has_one_radius_of_at_least_0(radii, name, given):
    with refused(name, given, "at least 0" if name == "radius" else "one a block, 2 of them"):
        balls.Balls((units(4), units(4, 3)), radii)


A, B = torch.tensor([3.0, 4.0]), torch.tensor([[12.0]])
FORMS = [(A, B), {"a": A, "b": B}]


@pytest.mark.parametrize("point", FORMS, ids=["tuple", "mapping"])
def test_arithmetic_keeps_the_form(point):
    moved = points.plus(point, points.mapped(torch.ones_like, point), -2.0)
    assert type(moved) is type(point)
    assert [block.tolist() for block in points.blocks(moved)] == [[1.0, 2.0], [[10.0]]]


@pytest.mark.parametrize("point", FORMS, ids=["tuple", "mapping"])
def test_lengths_are_those_of_all_entries(point):
    zero = points.mapped(torch.zeros_like, point)
    assert float(points.norm(point)) == 13.0
    assert float(points.inner(point, point)) == float(points.squared_distance(point, zero)) == 169.0


def test_blocks_of_a_mapping_meet_by_name():
    other = {"b": -B, "a": -A}
    assert float(points.norm(points.plus(FORMS[1], other))) == 0.0
    assert list(points.plus(FORMS[1], other)) == ["a", "b"]


def test_points_of_different_form_are_refused():
    with pytest.raises(ValueError, match="zip"):
        points.plus((A, B), (A,))
    with pytest.raises(KeyError):
        points.plus(FORMS[1], {"a": A})

"""Admissible sets: what is drawn and what is mapped there lies inside, and nothing inside is moved."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from checks import normal, numbers, refused, source
from shallowformer.verify import regions, sets

EPS = torch.finfo(torch.float64).eps


def norms(x: Tensor) -> Tensor:
    return torch.linalg.vector_norm(x, dim=-1)


REGIONS = {
    "free": (regions.free(2, 3), (2, 3), lambda x: x.isfinite()),
    "free number": (regions.free(), (), lambda x: x.isfinite()),
    "ball": (regions.ball(3), (3,), lambda x: norms(x) <= 1 + 4 * EPS),
    "large ball": (regions.ball(2, 4, radius=7.5), (2, 4), lambda x: norms(x) <= 7.5 * (1 + 4 * EPS)),
    "small ball": (regions.ball(1, radius=1e-3), (1,), lambda x: norms(x) <= 1e-3 * (1 + 4 * EPS)),
    "sphere": (regions.sphere(3), (3,), lambda x: (norms(x) - 1).abs() <= 4 * EPS),
    "large sphere": (
        regions.sphere(2, 4, radius=7.5),
        (2, 4),
        lambda x: (norms(x) - 7.5).abs() <= 7.5 * 4 * EPS,
    ),
    "interval": (regions.interval(-2, 5, 3), (3,), lambda x: (x >= -2) & (x <= 5)),
    "interval number": (regions.interval(0.25, 0.5), (), lambda x: (x >= 0.25) & (x <= 0.5)),
    "tokens": (regions.tokens(4, 2), (4, 2), lambda x: norms(x) <= 1 + 4 * EPS),
    "logits": (regions.logits(5), (5,), lambda x: x.isfinite()),
}
each = pytest.mark.parametrize(("region", "shape", "inside"), REGIONS.values(), ids=REGIONS)


def start(region, restarts: int = 200, seed: int = 0) -> Tensor:
    return sets.product(x=region).draw(restarts, source(seed))["x"]


@each
def test_starting_points_are_admissible(region, shape, inside):
    x = start(region)
    assert tuple(x.shape) == (200, *shape)
    assert x.dtype == torch.float64
    assert inside(x).all()


@each
def test_any_raw_value_is_mapped_inside(region, shape, inside):
    for scale in (1e-6, 1.0, 1e6):
        raw = scale * normal(200, *shape, seed=1)
        admitted = region.admit(raw)
        assert admitted.shape == raw.shape
        assert inside(admitted).all()


@each
def test_admissible_values_stay(region, shape, inside):
    x = start(region)
    assert float((region.admit(x) - x).abs().max()) <= 4 * EPS * float(x.abs().max())


@each
def test_the_map_is_differentiable(region, shape, inside):
    raw = (10 * start(region)).requires_grad_()
    region.admit(raw).sum().backward()
    assert raw.grad.isfinite().all()


@each
def test_the_seed_decides(region, shape, inside):
    assert start(region, seed=3).equal(start(region, seed=3))
    assert not start(region, seed=3).equal(start(region, seed=4))


@each
def test_restarts_do_not_interact(region, shape, inside):
    x = 3 * start(region, 6)
    alone = torch.cat([region.admit(x[r : r + 1]) for r in range(6)])
    assert region.admit(x).equal(alone)


@given(st.floats(1e-3, 1e3), st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=4))
def test_the_ball_maps_to_the_nearest_point(radius, raw):
    admitted = regions.ball(len(raw), radius=radius).admit(numbers(raw))[0].tolist()
    norm = math.hypot(*raw)
    expected = raw if norm <= radius else [radius * entry / norm for entry in raw]
    assert admitted == pytest.approx(expected, rel=1e-14, abs=1e-300)


def test_what_has_no_direction_is_mapped_to_the_sphere_all_the_same():
    raw = torch.zeros(2, 3, dtype=torch.float64)
    raw[1] = torch.tensor([0.0, 1e-12, 0.0])
    assert regions.sphere(3, radius=2).admit(raw).tolist() == [[2, 0, 0], [0, 2, 0]]


@each
def test_edges_are_admissible_and_no_way_leads_out_of_them(region, shape, inside):
    x = region.admit(region.edges(200, source(0)))
    assert inside(x).all()
    slope = normal(x.shape, seed=1)
    way = region.open(x, slope)
    step = 1e-9 * way  # a boundary bends away by its square over the radius
    out = norms((region.admit(x + step) - x - step).reshape(200, -1))
    rounding = 4 * EPS * norms(x.reshape(200, -1)) + 1e-14
    assert (out <= 0.1 * norms(step.reshape(200, -1)) + rounding).all()
    assert (((slope - way) * way).reshape(200, -1).sum(-1).abs() <= 1e-9).all()


def test_edges_of_all_of_space_have_every_size():
    x = regions.free(1).edges(2000, source(0)).abs().log10().flatten()
    assert x.min() < -2.5
    assert x.max() > 5.5
    assert x.histc(9, -3, 6).min() > 100


def test_half_of_the_starting_points_of_a_ball_lie_on_its_boundary():
    share = float(((norms(start(regions.ball(3, radius=2), 4000)) - 2).abs() < 1e-12).double().mean())
    assert abs(share - 1 / 2) < 5 * (1 / 4 / 4000) ** 0.5


def test_starting_points_have_the_stated_spread():
    """Standard deviations over 20 000 numbers, within five standard errors."""
    for region, deviation in ((regions.free(5), 1), (regions.free(5, scale=3), 3), (regions.logits(5), 2)):
        assert float(start(region, 4000).std()) == pytest.approx(deviation, rel=5 / (2 * 20_000) ** 0.5)


def test_starting_points_of_an_interval_are_uniform():
    x = start(regions.interval(-1, 3, 5), 4000)
    assert float(x.mean()) == pytest.approx(1, abs=5 * (16 / 12 / 20_000) ** 0.5)
    assert float(x.min()) < -1 + 0.01
    assert float(x.max()) > 3 - 0.01


def test_every_token_of_a_sequence_has_its_own_ball():
    raw = torch.tensor([[[3.0, 4.0], [0.3, 0.4]]], dtype=torch.float64)
    assert regions.tokens(2, 2).admit(raw).tolist() == [[pytest.approx([0.6, 0.8]), [0.3, 0.4]]]


def test_a_product_draws_and_admits_every_variable():
    over = sets.product(x=regions.ball(2), w=regions.interval(0, 1))
    drawn = over.draw(3, source(0))
    assert {name: tuple(value.shape) for name, value in drawn.items()} == {"x": (3, 2), "w": (3,)}
    admitted = over.admit({"x": torch.tensor([[3.0, 4.0]]), "w": torch.tensor([7.0])})
    assert admitted["x"].tolist() == [pytest.approx([0.6, 0.8])]
    assert admitted["w"].tolist() == [1.0]


def test_a_set_says_what_it_is():
    over = sets.product(
        x=regions.ball(2, radius=3), u=regions.sphere(2), w=regions.interval(0, 1), z=regions.logits(4)
    )
    for text in ("x in ball of radius 3", "u in sphere of radius 1", "w in [0, 1]", "z in ℝ^(4,)"):
        assert text in str(over)


@pytest.mark.parametrize("radius", [0, -1.0, math.inf, math.nan, "1"])
@pytest.mark.parametrize("make", [regions.ball, regions.sphere])
def test_a_bad_radius_is_refused(make, radius):
    refused("radius", repr(radius), "finite number above 0", make, 3, radius=radius)


@pytest.mark.parametrize("scale", [0, -1.0, math.inf, math.nan])
def test_a_bad_scale_is_refused(scale):
    refused("scale", repr(scale), "finite number above 0", regions.free, 3, scale=scale)


@pytest.mark.parametrize("size", [0, -1, 2.0, True])
@pytest.mark.parametrize(
    "make", [regions.free, regions.ball, regions.sphere, regions.logits, lambda size: regions.tokens(2, size)]
)
def test_a_bad_size_is_refused(make, size):
    refused("shape", repr(size), "whole number of at least 1", make, size)


@pytest.mark.parametrize("make", [regions.ball, regions.sphere])
def test_a_ball_and_a_sphere_need_a_dimension(make):
    """Without one, the norm would be taken over the restarts."""
    refused("shape", "()", "at least one", make)


@pytest.mark.parametrize(("low", "high"), [(1, 1), (2, 1), (0, math.nan), (math.nan, 1)])
def test_an_interval_without_length_is_refused(low, high):
    refused("high", str(high), f"above low = {low}", regions.interval, low, high)


@pytest.mark.parametrize(("low", "high"), [(0, math.inf), (-math.inf, 0)])
def test_an_interval_without_end_is_refused(low, high):
    """No starting point can be uniform there: all of them would be infinite."""
    refused("high" if high == math.inf else "low", "inf", "finite", regions.interval, low, high)


@pytest.mark.parametrize("size", [0, -1, 2.0])
def test_a_bad_size_of_an_interval_is_refused(size):
    refused("shape", repr(size), "whole number of at least 1", regions.interval, 0, 1, size)


def test_a_product_of_nothing_is_refused():
    refused("product", "none", "at least one variable", sets.product)


@pytest.mark.parametrize("value", [3, torch.ones(2), sets.product(z=regions.free(1)), None])
def test_a_product_of_what_is_no_region_is_refused(value):
    refused("x", type(value).__name__, "a region such as ball(3)", sets.product, x=value)

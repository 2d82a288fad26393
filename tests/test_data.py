"""Token sequences: where they lie, how they are distributed, and what is refused."""

import math

import pytest
import torch

from checks import normal, numbers, refused, source
from shallowformer import arguments, data

laws = pytest.mark.parametrize("law", [data.clipped_gaussian, data.sphere])


@laws
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("size", [(1, 1, 1), (3, 1, 2), (2, 5, 1), (4, 3, 200)])
def test_tokens_have_their_shape_and_dtype_and_lie_in_the_unit_ball(law, size, dtype):
    X = law(*size, source(0), dtype)
    assert tuple(X.shape) == size
    assert X.dtype == dtype
    assert arguments.tokens(X) is X


@laws
def test_the_generator_decides(law):
    generator = source(3)
    first, second, again = (law(2, 3, 4, generator), law(2, 3, 4, generator), law(2, 3, 4, source(3)))
    assert first.equal(again)
    assert not first.equal(second)


@laws
def test_the_global_generator_is_left_alone(law):
    before = torch.random.get_rng_state()
    law(2, 3, 4, source(3))
    assert torch.random.get_rng_state().equal(before)


def test_clipping_moves_only_tokens_outside_the_ball_and_keeps_directions():
    X = data.clipped_gaussian(50, 4, 2, source(5)).reshape(-1, 2)
    raw = normal(50, 4, 2, seed=5).reshape(-1, 2)
    for token, before in zip(X.tolist(), raw.tolist(), strict=True):
        norm = math.hypot(*before)
        assert token == pytest.approx(
            [entry / norm for entry in before] if norm > 1 else before, rel=1e-14, abs=0
        )


@pytest.mark.parametrize(("d", "inside"), [(1, math.erf(0.5**0.5)), (2, 1 - math.exp(-0.5)), (8, 0.00175)])
def test_gaussian_tokens_are_inside_the_ball_as_often_as_they_should_be(d, inside):
    X = data.clipped_gaussian(1000, 20, d, source(1))
    share = float((X.norm(dim=-1) < 1 - 1e-9).double().mean())
    assert abs(share - inside) < 5 * (inside * (1 - inside) / 20_000) ** 0.5


def test_tokens_on_the_sphere_have_norm_1_and_no_preferred_direction():
    """Mean 0 and second moment I/d within five standard errors."""
    d, N = 3, 20_000
    X = data.sphere(1000, 20, d, source(1)).reshape(N, d)
    assert float((X.norm(dim=-1) - 1).abs().max()) <= 1e-15
    assert float(X.mean(0).abs().max()) < 5 * (1 / d / N) ** 0.5
    assert float((X.T @ X / N - torch.eye(d, dtype=torch.float64) / d).abs().max()) < 5 * (4 / 45 / N) ** 0.5


@laws
@pytest.mark.parametrize("bad", [0, -1, 1.5, True, None])
@pytest.mark.parametrize("name", ["n", "T", "d"])
def test_bad_sizes_are_refused_before_anything_is_drawn(law, name, bad):
    generator = source(0)
    before = generator.get_state()
    with refused(name, repr(bad), "whole number of at least 1"):
        law(**({"n": 2, "T": 3, "d": 4} | {name: bad}), generator=generator)
    assert generator.get_state().equal(before)


# Two camps ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("T", "camp", "ahead"), [(2, None, 1), (5, None, 2), (4, 0, 0), (4, 4, 4), (4, 3, 3)]
)
def test_two_camps_are_opposite_unit_vectors(T, camp, ahead):
    X = data.two_camps(numbers(3.0, -4.0), T, camp)
    assert tuple(X.shape) == (1, T, 2)
    e = [0.6, -0.8]
    for t, token in enumerate(X[0].tolist()):
        assert token == pytest.approx(e if t < ahead else [-entry for entry in e], rel=1e-14, abs=0)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("scale", [1.0, 1e-30, 1e30])
def test_two_camps_keep_the_dtype_and_lie_in_the_unit_ball_whatever_the_length(dtype, scale):
    X = data.two_camps(scale * torch.tensor([1.0, 2.0, 3.0], dtype=dtype), 3)
    assert X.dtype == dtype
    assert arguments.tokens(X) is X
    assert float((X.norm(dim=-1) - 1).abs().max()) <= 4 * torch.finfo(dtype).eps


@pytest.mark.parametrize(
    ("arguments_", "name", "given", "allowed"),
    [
        ((torch.zeros(3), 2), "direction", "norm 0", "not be the zero vector"),
        ((torch.tensor([1.0, math.nan]), 2), "direction", "1 entries", "finite"),
        ((torch.tensor([math.inf]), 2), "direction", "1 entries", "finite"),
        ((torch.ones(1, 3), 2), "direction", "(1, 3)", "[d]"),
        ((torch.ones(3, dtype=torch.int64), 2), "direction", "torch.int64", "floating-point"),
        ((torch.ones(3), 1), "T", "1", "at least 2"),
        ((torch.ones(3), 2.0), "T", "2.0", "whole number"),
        ((torch.ones(3), 4, 5), "camp", "5", "at most T = 4"),
    ],
)
def test_bad_camps_are_refused(arguments_, name, given, allowed):
    refused(name, given, allowed, data.two_camps, *arguments_)


def test_tokens_are_repeated_side_by_side():
    X = data.sphere(2, 3, 2, source(0))
    longer = data.repeated(X, 4)
    assert tuple(longer.shape) == (2, 12, 2)
    assert longer[:, ::4].equal(X)
    assert longer[:, 3::4].equal(X)

"""Two layers with a stream of any width, and the constants about them."""

import math

import pytest
import torch

from companion.theory.beyond import bottleneck, deep, heads, wide, wide_bounds
from shallowformer import data


def source(seed):
    return torch.Generator().manual_seed(seed)


def test_a_stream_as_wide_as_a_token_is_deep_in_other_units():
    X, phi = data.sphere(3, 4, 5, source(0)), wide.start(5, 6, 5, source(1))
    phi["c"] = torch.arange(6.0, dtype=torch.float64)
    units = {**phi, "B1": phi["B1"] / 5**0.5}
    torch.testing.assert_close(wide.f(X, phi), deep.f(X, units))


def test_a_stream_narrower_than_a_token_is_refused():
    with pytest.raises(ValueError, match="N must be at least d"):
        wide.start(3, 4, 5, source(0))


def test_a_start_is_0_and_the_push_lies_in_the_neighbourhood():
    X, phi = data.sphere(1, 2, 4, source(0)), wide.start(6, 8, 4, source(1))
    assert float(wide.f(X, phi).abs().max()) < 1e-15
    delta = wide.coherent(X, phi, 2.0)
    assert float(delta["B1"].norm(dim=1).max()) == pytest.approx(2 / 8**0.5)


def test_the_mean_slope_at_0_is_1_and_the_floor_rises_to_its_limit():
    assert float(bottleneck.slope(torch.tensor(0.0, dtype=torch.float64))) == pytest.approx(1)
    floors = [bottleneck.floor(m, 8, 3 * 8**0.5) for m in (2, 64, 4096, 2**20)]
    assert floors == sorted(floors)
    assert floors[-1] < bottleneck.limit_floor(8, 3 * 8**0.5)
    assert bottleneck.chance(1, 0.5) == pytest.approx(bottleneck.MU / (2 - bottleneck.MU))


def test_the_injective_norm_of_one_head_is_the_spectral_norm():
    W = torch.randn(1, 7, 7, generator=source(3), dtype=torch.float64)
    assert heads.injective(1, 7, source(3)) == pytest.approx(
        float(torch.linalg.matrix_norm(W[0], 2)), rel=1e-3
    )


def test_nothing_moves_without_radii():
    found = wide_bounds.constants(wide_bounds.expected(64, 64, 4, 3), (0.0,) * 6)
    assert found.M == 0
    assert found.K == 3


def test_measured_norms_keep_to_what_is_expected():
    X, phi = data.sphere(2, 3, 4, source(0)), wide.start(32, 32, 4, source(1))
    real, bound = wide_bounds.measured(X, phi), wide_bounds.expected(32, 32, 4, 3, inputs=2)
    for name in ("first", "B", "U", "G", "r", "y", "K"):
        assert getattr(real, name) <= getattr(bound, name)
    assert math.isfinite(wide_bounds.constants(bound, (1.0,) * 6).M)

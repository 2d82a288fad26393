"""The lengths of the initial U: exact coverage, radii."""

import math

import pytest
import torch
from scipy import stats
from torch import Generator

from shallowformer.kernel_regime.model import parameters
from shallowformer.kernel_regime.model.parameters import Parameters
from shallowformer.kernel_regime.neighbourhood import norm_event

GRID = [(m, d, delta) for m in (2, 8, 256, 2**20) for d in (1, 2, 8, 100) for delta in (0.9, 0.05, 1e-8)]


def test_coverage_against_scipy():
    for m, d, _ in GRID[:24]:
        for radius in (0.0, 1.0, math.sqrt(d), math.sqrt(d) + 3):
            assert norm_event.coverage(radius, m, d) == pytest.approx(
                stats.chi(d).cdf(radius) ** (m / 2), rel=1e-9, abs=1e-15
            )


@pytest.mark.parametrize(("m", "d", "delta"), GRID)
def test_the_exact_radius_and_its_bounds(m, d, delta):
    exact = norm_event.exact_radius(m, d, delta)
    assert norm_event.failure(exact, m, d) == pytest.approx(delta, rel=1e-10)
    closed = norm_event.closed_form_radius(m, d, delta)
    assert exact < closed
    for larger in (norm_event.half_tail_radius, norm_event.laurent_massart_radius):
        assert closed * (1 - 1e-15) <= larger(m, d, delta) < norm_event.paper_radius(m, d, delta)


def test_the_table_of_the_chapter():
    for m, paper, exact in (
        (8, 5.789, 4.407),
        (64, 6.423, 4.992),
        (256, 6.790, 5.331),
        (65536, 8.004, 6.455),
    ):
        assert round(norm_event.paper_radius(m, 8, 0.05), 3) == paper
        assert round(norm_event.exact_radius(m, 8, 0.05), 3) == exact


def test_the_closed_form_by_hand():
    # L' = log(4·16/(4·¼)) = log 64, and L' = 0 for a level above m/4
    L = math.log(64)
    assert norm_event.closed_form_radius(16 * 4, 9, 0.25) == pytest.approx(
        math.sqrt(9 + 6 * math.sqrt(L) + 2 * L), rel=1e-14
    )
    assert norm_event.closed_form_radius(2, 9, 0.9) == 3
    assert round(norm_event.closed_form_radius(64, 8, 0.05), 3) == 5.755
    assert round(norm_event.closed_form_radius(256, 8, 0.05), 3) == 6.119


def test_a_tiny_level_does_not_overflow():
    for radius in (norm_event.paper_radius, norm_event.half_tail_radius, norm_event.closed_form_radius):
        assert 37 < radius(2**20, 1, 5e-324) < 41


def test_B_U_is_the_radius_and_the_step():
    assert norm_event.B_U(256, 8, 0.05, 0.0) == norm_event.paper_radius(256, 8, 0.05)
    assert norm_event.B_U(256, 8, 0.05, 3.0) ** 2 == pytest.approx(48.69, abs=0.01)


def test_the_mean_square_bound_by_hand():
    assert norm_event.mean_square_bound(2, 3, 0.0) == 3
    # D = 8, x = 2: (8 + 2·4 + 4)/1 with one pair
    assert norm_event.mean_square_bound(2, 8, 2.0) == pytest.approx(8 + 2 * 4 + 4, rel=1e-14)


def test_the_root_mean_square_over_the_neighbourhood():
    expected = math.sqrt(norm_event.mean_square_bound(64, 8, 1.5)) + 3 / 8
    assert norm_event.root_mean_square_bound(64, 8, 1.5, 3.0) == pytest.approx(expected, rel=1e-15)


def test_the_event_looks_at_the_longest():
    phi0 = parameters.symmetric(8, 4, Generator().manual_seed(0))
    radius = norm_event.paper_radius(8, 4, 0.1)
    just = lambda factor: Parameters(
        phi0.c, torch.cat([phi0.U[:-1] * 0, factor * radius * torch.eye(4, dtype=torch.float64)[:1]]), phi0.W
    )
    assert norm_event.holds(just(0.999), 0.1)
    assert not norm_event.holds(just(1.001), 0.1)

"""The lengths of the initial U: tails, exact coverage, radii."""

import math

import mpmath
import pytest
import torch
from scipy import stats
from torch import Generator

from checks import refused
from shallowformer.kernel_regime import norm_event, parameters
from shallowformer.kernel_regime.parameters import Parameters

GRID = [(m, d, delta) for m in (2, 8, 256, 2**20) for d in (1, 2, 8, 100) for delta in (0.9, 0.05, 1e-8)]


def exact_tail(radius: float, d: int) -> mpmath.mpf:
    with mpmath.workdps(40):
        return mpmath.gammainc(mpmath.mpf(d) / 2, mpmath.mpf(radius) ** 2 / 2, mpmath.inf, regularized=True)


@pytest.mark.parametrize("d", [1, 2, 3, 8, 64, 1024])
def test_tails_agree_with_forty_digits(d):
    radius = math.sqrt(d) + torch.linspace(max(-6.0, 0.05 - math.sqrt(d)), 8, 29, dtype=torch.float64)
    lower, upper = norm_event.tails(radius, d)
    for r, low, up in zip(radius.tolist(), lower.tolist(), upper.tolist(), strict=True):
        exact = exact_tail(r, d)
        assert abs(up / exact - 1) < 1e-12
        assert abs(low / (1 - exact) - 1) < 1e-12
        assert norm_event.tail(r, d) == pytest.approx(up, rel=1e-13)


@pytest.mark.parametrize("d", [1, 2, 8])
def test_tails_are_differentiable(d):
    radius = torch.tensor([0.3, 1.0, 4.0], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda r: norm_event.tails(r, d), radius)


def test_the_mean_norm():
    assert norm_event.mean_norm(1) == pytest.approx(math.sqrt(2 / math.pi), rel=1e-14)
    assert norm_event.mean_norm(2) == pytest.approx(math.sqrt(math.pi / 2), rel=1e-14)
    for d in range(1, 50):
        assert norm_event.mean_norm(d) * norm_event.mean_norm(d + 1) == pytest.approx(d, rel=1e-12)
        assert d - 1 < norm_event.mean_norm(d) ** 2 < d


def test_coverage_against_scipy():
    for m, d, _ in GRID[:24]:
        for radius in (0.0, 1.0, math.sqrt(d), math.sqrt(d) + 3):
            assert norm_event.coverage(radius, m, d) == pytest.approx(
                stats.chi(d).cdf(radius) ** (m / 2), rel=1e-9, abs=1e-15
            )


def test_a_tiny_failure_probability_is_accurate():
    exact = 128 * exact_tail(12.0, 8)
    assert norm_event.failure(12.0, 256, 8) == pytest.approx(float(exact), rel=1e-10)


@pytest.mark.parametrize(("m", "d", "delta"), GRID)
def test_the_exact_radius_and_its_bounds(m, d, delta):
    exact = norm_event.exact_radius(m, d, delta)
    assert norm_event.failure(exact, m, d) == pytest.approx(delta, rel=1e-10)
    for larger in (norm_event.half_tail_radius, norm_event.laurent_massart_radius, norm_event.paper_radius):
        assert exact < larger(m, d, delta) <= norm_event.paper_radius(m, d, delta)


def test_the_table_of_the_chapter():
    for m, paper, exact in (
        (8, 5.789, 4.407),
        (64, 6.423, 4.992),
        (256, 6.790, 5.331),
        (65536, 8.004, 6.455),
    ):
        assert round(norm_event.paper_radius(m, 8, 0.05), 3) == paper
        assert round(norm_event.exact_radius(m, 8, 0.05), 3) == exact


def test_B_U_is_the_radius_and_the_step():
    assert norm_event.B_U(256, 8, 0.05, 0.0) == norm_event.paper_radius(256, 8, 0.05)
    assert norm_event.B_U(256, 8, 0.05, 3.0) ** 2 == pytest.approx(48.69, abs=0.01)


def test_the_mean_square_bound_by_hand():
    assert norm_event.mean_square_bound(2, 3, 0.0) == 3
    # D = 8, x = 2: (8 + 2·4 + 4)/1 with one pair
    assert norm_event.mean_square_bound(2, 8, 2.0) == pytest.approx(8 + 2 * 4 + 4, rel=1e-14)


def test_the_event_looks_at_the_longest():
    phi0 = parameters.symmetric(8, 4, Generator().manual_seed(0))
    radius = norm_event.paper_radius(8, 4, 0.1)
    just = lambda factor: Parameters(
        phi0.c, torch.cat([phi0.U[:-1] * 0, factor * radius * torch.eye(4, dtype=torch.float64)[:1]]), phi0.W
    )
    assert norm_event.holds(just(0.999), 0.1)
    assert not norm_event.holds(just(1.001), 0.1)


@pytest.mark.parametrize(
    "use",
    [
        norm_event.exact_radius,
        norm_event.paper_radius,
        norm_event.half_tail_radius,
        norm_event.laurent_massart_radius,
        lambda m, d, delta: norm_event.B_U(m, d, delta, 1.0),
    ],
)
def test_bad_arguments_are_refused(use):
    with refused("m", "3", "even"):
        use(3, 2, 0.1)
    with refused("d", "0", "at least 1"):
        use(4, 0, 0.1)
    for delta in (0.0, 1.0, -0.1, math.nan):
        with refused("delta", repr(delta), "(0, 1)"):
            use(4, 2, delta)


def test_bad_radii_are_refused():
    for use in (norm_event.coverage, norm_event.failure):
        with refused("radius", "-1.0", "at least 0"):
            use(-1.0, 4, 2)
    with refused("radius", "-1.0", "at least 0"):
        norm_event.tail(-1.0, 2)
    with refused("radius", "down to -1", "at least 0"):
        norm_event.tails(torch.tensor([-1.0], dtype=torch.float64), 2)
    with refused("radius", "float32", "float64"):
        norm_event.tails(torch.tensor([1.0]), 2)
    with refused("rho_u", "-1.0", "at least 0"):
        norm_event.B_U(4, 2, 0.1, -1.0)
    with refused("x", "-1.0", "at least 0"):
        norm_event.mean_square_bound(4, 2, -1.0)

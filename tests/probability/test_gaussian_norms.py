"""Tails of Gaussian norms against forty digits and against scipy."""

import math

import mpmath
import pytest
import torch
from scipy import stats

from checks import refused
from shallowformer.probability import gaussian_norms


def exact_tail(radius: float, d: int) -> mpmath.mpf:
    with mpmath.workdps(40):
        return mpmath.gammainc(mpmath.mpf(d) / 2, mpmath.mpf(radius) ** 2 / 2, mpmath.inf, regularized=True)


@pytest.mark.parametrize("d", [1, 2, 3, 8, 64, 1024])
def test_tails_agree_with_forty_digits(d):
    radius = math.sqrt(d) + torch.linspace(max(-6.0, 0.05 - math.sqrt(d)), 8, 29, dtype=torch.float64)
    lower, upper = gaussian_norms.tails(radius, d)
    for r, low, up in zip(radius.tolist(), lower.tolist(), upper.tolist(), strict=True):
        exact = exact_tail(r, d)
        assert abs(up / exact - 1) < 1e-12
        assert abs(low / (1 - exact) - 1) < 1e-12
        assert gaussian_norms.tail(r, d) == pytest.approx(up, rel=1e-13)


@pytest.mark.parametrize("d", [1, 2, 8])
def test_tails_are_differentiable(d):
    radius = torch.tensor([0.3, 1.0, 4.0], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda r: gaussian_norms.tails(r, d), radius)


def test_the_mean_norm():
    assert gaussian_norms.mean_norm(1) == pytest.approx(math.sqrt(2 / math.pi), rel=1e-14)
    assert gaussian_norms.mean_norm(2) == pytest.approx(math.sqrt(math.pi / 2), rel=1e-14)
    for d in range(1, 50):
        assert gaussian_norms.mean_norm(d) * gaussian_norms.mean_norm(d + 1) == pytest.approx(d, rel=1e-12)
        assert d - 1 < gaussian_norms.mean_norm(d) ** 2 < d


@pytest.mark.parametrize("d", [1, 2, 3, 8, 65])
def test_the_logarithm_of_the_tail(d):
    for radius in (0.0, 0.3, 3.0, 30.0):
        with mpmath.workdps(40):
            exact = float(mpmath.log(exact_tail(radius, d)))
        assert gaussian_norms.log_tail(radius, d) == pytest.approx(exact, rel=1e-13, abs=1e-14)
    # Γ(a, y) ≈ y^{a−1} e^{−y} far out
    a, y = d / 2, (1e8) ** 2 / 2
    assert gaussian_norms.log_tail(1e8, d) == pytest.approx(
        (a - 1) * math.log(y) - math.lgamma(a) - y, rel=1e-15
    )


@pytest.mark.parametrize("D", [1, 2, 3, 8, 256, 10**5])
def test_the_chi_square_tail_with_its_constant(D):
    x = torch.linspace(0, 60, 2001, dtype=torch.float64).numpy()
    ratio = stats.chi2(D).sf(D + 2 * (D * x) ** 0.5 + 2 * x) / stats.chi2(D).sf(D)
    scaled = ratio * torch.as_tensor(x).exp().numpy()
    assert (scaled[1:] <= scaled[:-1] * (1 + 1e-9)).all()


@pytest.mark.parametrize("d", [1, 2, 8, 100])
@pytest.mark.parametrize("N", [1, 4, 128])
def test_the_largest_of_several(N, d):
    for radius in (0.0, 1.0, math.sqrt(d), math.sqrt(d) + 3):
        expected = 1 - stats.chi(d).cdf(radius) ** N
        assert gaussian_norms.tail_of_largest(radius, N, d) == pytest.approx(expected, rel=1e-9, abs=1e-13)
    for delta in (0.9, 0.05, 1e-8):
        radius = gaussian_norms.quantile_of_largest(N, d, delta)
        assert gaussian_norms.tail_of_largest(radius, N, d) == pytest.approx(delta, rel=1e-10)


def test_a_tiny_tail_of_the_largest_is_accurate():
    exact = float(128 * exact_tail(12.0, 8))
    assert gaussian_norms.tail_of_largest(12.0, 128, 8) == pytest.approx(exact, rel=1e-10)


def test_the_bound_of_laurent_and_massart_by_hand():
    assert gaussian_norms.laurent_massart(9, 4.0) == 9 + 2 * 6 + 8
    assert gaussian_norms.laurent_massart(3, 0.0) == 3
    # four vectors of three dimensions: a chi-square variable with twelve degrees of freedom, over four
    assert gaussian_norms.mean_square_bound(4, 3, 3.0) == pytest.approx((12 + 2 * 6 + 6) / 4)
    assert gaussian_norms.mean_square_bound(1, 9, 4.0) == gaussian_norms.laurent_massart(9, 4.0)


@pytest.mark.parametrize("x", [0.0, 0.5, 3.0, 20.0])
@pytest.mark.parametrize(("N", "d"), [(1, 1), (4, 3), (128, 8)])
def test_the_mean_square_exceeds_its_bound_rarely_enough(N, d, x):
    bound = N * gaussian_norms.mean_square_bound(N, d, x)
    assert stats.chi2(N * d).sf(bound) <= math.exp(-x) / 2


def test_arguments_out_of_range_are_refused():
    with refused("radius", "down to -1", "at least 0"):
        gaussian_norms.tails(torch.tensor([-1.0], dtype=torch.float64), 2)
    refused("radius", "float32", "float64", gaussian_norms.tails, torch.tensor([1.0]), 2)
    refused("x", "-1.0", "at least 0", gaussian_norms.mean_square_bound, 2, 2, -1.0)

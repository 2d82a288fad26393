"""The worst sign of a Gaussian: closed forms against integrals, the constant and its certificate."""

import math

import pytest
import torch
from scipy.integrate import quad
from scipy.stats import norm as normal

from shallowformer.probability import dominated


@pytest.mark.parametrize("lam", [0.2, 1.0, 3.0])
@pytest.mark.parametrize("r", [0.3, 1.5, 3.0])
def test_closed_forms_of_the_skewed_variable(lam, r):
    sign = lambda y: -1 if y < r else 1
    integral = lambda f: sum(quad(lambda y: 2 * normal.pdf(y) * f(sign(y) * y), *ends)[0] for ends in ((0, r), (r, 40)))  # fmt: skip
    at = [torch.tensor(value, dtype=torch.float64) for value in (lam, r)]
    assert float(dominated.moment_generating(*at)) == pytest.approx(integral(lambda c: math.exp(lam * c)), rel=1e-9)  # fmt: skip
    assert float(dominated.mean(at[1])) == pytest.approx(integral(lambda c: c), rel=1e-9)


def test_bound_and_attained_value_meet_at_the_worst_threshold_only():
    lam = torch.logspace(-0.9, 1.2, 30, dtype=torch.float64)
    r = dominated.worst_threshold(lam)
    bound, attained = dominated.cgf_bound(lam, r), dominated.cgf(lam, r)
    assert torch.allclose(bound, attained, rtol=1e-12, atol=1e-14)
    for factor in (0.7, 1.4):
        assert (dominated.cgf_bound(lam, factor * r) > bound).all()
        assert (dominated.cgf(lam, factor * r) < attained).all()


def test_the_constant_to_six_digits_and_its_certificate():
    lam = torch.linspace(2, 2.4, 40001, dtype=torch.float64)
    value = float((2 * dominated.cgf(lam, dominated.worst_threshold(lam)) / lam**2).max())
    assert value == pytest.approx(1.6087233131, abs=1e-9)
    assert math.sqrt(value) == pytest.approx(1.268355, abs=5e-7)
    assert math.sqrt(value) <= dominated.certificate() < 1.2684


def test_a_coarser_grid_certifies_less():
    assert dominated.certificate(ratio=1.01) > dominated.certificate(ratio=1.001) > dominated.certificate()


def test_the_ends_of_the_certificate():
    third = 2 * quad(lambda y: y**3 * math.exp(0.35 * y) * normal.pdf(y), 0, 30)[0]
    assert dominated.small_end(0.35) == pytest.approx(1 + 0.35 / 3 * third)
    assert dominated.small_end(0.35) < 1.371
    assert dominated.large_end(3.5) < 1.570
    for lam in (0.1, 0.35):
        at = torch.tensor(lam, dtype=torch.float64)
        assert 2 * float(dominated.cgf(at, dominated.worst_threshold(at))) / lam**2 < dominated.small_end(
            0.35
        )
    for lam in (3.5, 10.0):
        at = torch.tensor(lam, dtype=torch.float64)
        assert 2 * float(dominated.cgf(at, dominated.worst_threshold(at))) / lam**2 < dominated.large_end(3.5)


@pytest.mark.parametrize(("low", "high", "ratio"), [(0.0, 1.0, 1.1), (2.0, 1.0, 1.1), (1.0, 2.0, 1.0)])
def test_a_grid_that_is_none_is_refused(low, high, ratio):
    with pytest.raises(ValueError, match="must"):
        dominated.certificate(low, high, ratio)


@pytest.mark.parametrize("lam", [0.0, -1.0, 31.0])
def test_the_skewed_variable_wants_a_lambda_that_fits_double_precision(lam):
    at, r = torch.tensor(lam, dtype=torch.float64), torch.tensor(1.0, dtype=torch.float64)
    for function in (
        lambda: dominated.cgf(at, r),
        lambda: dominated.cgf_bound(at, r),
        lambda: dominated.worst_threshold(at),
    ):
        with pytest.raises(ValueError, match="lam must lie above 0"):
            function()


def test_a_threshold_below_zero_is_refused():
    at = torch.tensor(1.0, dtype=torch.float64)
    with pytest.raises(ValueError, match="r must be at least 0"):
        dominated.moment_generating(at, -at)

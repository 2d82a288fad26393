"""Bounds on the third cumulant of a random point of the unit ball: attained, and never exceeded."""

import numpy as np
import pytest
import torch

from checks import random_laws, refused
from shallowformer import softmax
from shallowformer.probability import cumulants


def test_kappa_is_the_largest_third_moment():
    s = np.linspace(0, 1, 1_000_001)
    assert pytest.approx((2 * s * (1 - s**2)).max(), rel=1e-11) == cumulants.KAPPA
    assert pytest.approx(0.769800, abs=5e-7) == cumulants.KAPPA
    k = cumulants.skewness_given_mean(torch.tensor(s))
    assert float((k * (1 - torch.tensor(s) ** 4)).max().sqrt()) == pytest.approx(
        cumulants.KAPPA_HS, rel=1e-11
    )


def third_moment(points, masses):
    x, p = torch.tensor(points, dtype=torch.float64)[:, None], torch.tensor(masses, dtype=torch.float64)
    e = torch.ones(1, dtype=torch.float64)
    return float(softmax.third_cumulant_form(x, p, e, e, e).abs()), float(softmax.covariance(x, p))


@pytest.mark.parametrize("s", [0.0, 0.1, 0.3, 1 / 3, 0.4, 0.577, 0.9, 1.0])
def test_the_skewness_bounds_are_attained(s):
    moment, variance = third_moment([1.0, -1.0], [(1 + s) / 2, (1 - s) / 2])
    assert moment == pytest.approx(cumulants.skewness_given_spread(min(variance, 1.0)), abs=1e-8)
    if s < 1 / 3:
        moment, _ = third_moment([1.0, -(1 + 3 * s) / 2], [1 / 3, 2 / 3])
    assert moment == pytest.approx(cumulants.skewness_given_mean(s), abs=1e-14)


@pytest.mark.parametrize(("T", "d"), [(2, 1), (3, 2), (6, 3)])
def test_no_random_law_exceeds_a_bound(T, d):
    X, alpha = random_laws(T, d)
    a = softmax.mean(X, alpha)
    s, spread = a.norm(dim=-1), torch.linalg.eigvalsh(softmax.covariance(X, alpha))[:, -1].clamp(0, 1)
    e = torch.nn.functional.normalize(X[:, 0] - a, dim=-1)
    skew = softmax.third_cumulant_form(X, alpha, e, e, e).abs()
    assert bool((skew <= cumulants.skewness_given_mean(s) + 1e-12).all())
    assert bool((skew <= cumulants.skewness_given_spread(spread) + 1e-7).all())


def test_a_number_gives_a_number_and_a_tensor_a_tensor():
    s = torch.tensor([[0.1, 0.5], [0.9, 1.0]], dtype=torch.float64)
    for bound in (cumulants.skewness_given_mean, cumulants.skewness_given_spread):
        assert bound(s).tolist() == [[bound(float(each)) for each in row] for row in s]
        assert isinstance(bound(0.5), float)


@pytest.mark.parametrize(
    ("call", "name", "given", "allowed"),
    [
        (lambda: cumulants.skewness_given_mean(torch.tensor([0.5, 1.5])), "s", "1.5", "[0, 1]"),
        (lambda: cumulants.skewness_given_mean(1.5), "s", "1.5", "[0, 1]"),
        (lambda: cumulants.skewness_given_mean(-0.5), "s", "-0.5", "at least 0"),
        (lambda: cumulants.skewness_given_spread(torch.tensor([-0.5])), "spread", "-0.5", "[0, 1]"),
    ],
)
def test_what_is_out_of_range_is_refused(call, name, given, allowed):
    refused(name, given, allowed, call)

"""The constants of Lemma 2 against brute-force maximisation, closed forms at special radii, and attained values."""

import itertools
import math

import numpy as np
import pytest
import torch
from scipy import optimize

from checks import refused
from shallowformer import softmax
from shallowformer.kernel_regime import activations, cumulants, hessian, smoothness
from shallowformer.kernel_regime.activations import TANH

RADII = [0.0, 0.2, 0.5, 1.0, math.sqrt(8), 7.0, 30.0]


def value(s, R):
    return (1 - s**2) * (s * R + math.sqrt(1 + s**2 * R**2))


@pytest.mark.parametrize("R", RADII)
def test_h_star_is_the_maximum(R):
    found = optimize.minimize_scalar(
        lambda s: -value(s, R), bounds=(0, 1), method="bounded", options={"xatol": 1e-12}
    )
    assert cumulants.H_star(R) == pytest.approx(-found.fun, rel=1e-13)
    assert value(cumulants.extremal_mean(R), R) == pytest.approx(cumulants.H_star(R), rel=1e-14)


def test_h_star_at_the_radii_of_the_acceptance():
    for R, expected in ((1, 1.240806), (2, 1.811660), (4, 3.221330), (7, 5.470663)):
        assert cumulants.H_star(float(R)) == pytest.approx(expected, abs=6e-7)


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


def random_laws(T, d, n=20_000):
    generator = torch.Generator().manual_seed(T * d)
    draw = lambda *shape: torch.randn(*shape, generator=generator, dtype=torch.float64)
    X = torch.nn.functional.normalize(draw(n, T, d), dim=-1)
    X = X * torch.rand(n, T, 1, generator=generator, dtype=torch.float64) ** 0.2
    return X, torch.softmax(2 * draw(n, T), -1)


@pytest.mark.parametrize(("T", "d"), [(2, 1), (3, 2), (6, 3)])
def test_no_random_law_exceeds_a_bound(T, d):
    X, alpha = random_laws(T, d)
    a = softmax.mean(X, alpha)
    s, spread = a.norm(dim=-1), torch.linalg.eigvalsh(softmax.covariance(X, alpha))[:, -1].clamp(0, 1)
    e = torch.nn.functional.normalize(X[:, 0] - a, dim=-1)
    skew = softmax.third_cumulant_form(X, alpha, e, e, e).abs()
    assert bool((skew <= cumulants.skewness_given_mean(s) + 1e-12).all())
    assert bool((skew <= cumulants.skewness_given_spread(spread) + 1e-7).all())
    for R in (0.3, 1.0, 5.0):
        U = R * e
        h = torch.linalg.eigvalsh(hessian.hidden(X, alpha, U)).abs().amax(-1)
        z = torch.linalg.eigvalsh(hessian.preactivation(X, alpha, U)).abs().amax(-1)
        slope = hessian.gradient(X, alpha, U).norm(dim=-1)
        assert float(z.max()) <= cumulants.H_star(R) * (1 + 1e-12)
        assert float(h.max()) <= smoothness.L2(R) * (1 + 1e-9)
        assert float(slope.max()) <= max(1.0, R) + 1e-12


def brute_force(R, sigma, r_u=None, r_w=None):
    """L2 or G2 on a plain grid, with numpy's eigenvalues."""
    s = torch.linspace(0, 1, 401, dtype=torch.float64)[:, None]
    z = torch.linspace(-1, 1, 801, dtype=torch.float64)[None] * s * R
    s = s.expand_as(z)
    g = torch.stack([s, (1 - s**2) * R], -1)
    mixed = torch.zeros(*s.shape, 2, 2, dtype=torch.float64)
    mixed[..., 0, 1] = mixed[..., 1, 0] = 1 - s**2
    mixed[..., 1, 1] = 2 * s * (1 - s**2) * R
    A = sigma.second(z).abs()[..., None, None] * g[..., None] * g[..., None, :]
    A = A + sigma.first(z).abs()[..., None, None] * mixed
    if r_u is None:
        return float(np.linalg.eigvalsh(A.numpy()).max())
    r = torch.tensor([r_u, r_w], dtype=torch.float64)
    return float((A @ r @ r).max())


@pytest.mark.parametrize("sigma", activations.ALL, ids=lambda sigma: sigma.name)
@pytest.mark.parametrize("R", [0.0, 0.5, 2.0, 7.0])
def test_the_coupled_constants_are_the_maxima(R, sigma):
    grid = brute_force(R, sigma)
    assert grid * (1 - 1e-12) <= smoothness.L2(R, sigma) <= grid * (1 + 2e-4)
    for r_u, r_w in ((3.0, 3.0), (1.0, 0.2), (0.0, 2.0), (2.0, 0.0)):
        grid = brute_force(R, sigma, r_u, r_w)
        assert grid * (1 - 1e-12) <= smoothness.G2(R, r_u, r_w, sigma) <= grid * (1 + 2e-4) + 1e-12


def test_a_ridge_between_the_axes_is_followed():
    R, r_u, r_w = 0.60046, 0.21294, 6.20943  # one grid alone stops 8e-6 short
    assert smoothness.G2(R, r_u, r_w, activations.LOGISTIC) >= brute_force(
        R, activations.LOGISTIC, r_u, r_w
    ) * (1 - 1e-12)
    assert smoothness.G2(R, r_u, r_w, activations.LOGISTIC) > 5.06747


@pytest.mark.parametrize("R", [0.5, 2.0, 7.0])
def test_the_smoothness_constant_is_the_largest_of_the_block_wise_ones(R):
    angles = np.linspace(0, math.pi / 2, 41)
    blocks = [smoothness.G2(R, math.cos(angle), math.sin(angle)) for angle in angles]
    assert max(blocks) <= smoothness.L2(R) * (1 + 1e-11)
    assert max(blocks) >= smoothness.L2(R) * (1 - 2e-3)


@pytest.mark.parametrize("sigma", activations.ALL, ids=lambda sigma: sigma.name)
def test_constants_are_in_order(sigma):
    for R in RADII:
        attained, coupled = smoothness.L2_two_camps(R, sigma), smoothness.L2(R, sigma)
        generic, paper = smoothness.L2_generic(R, sigma), smoothness.L2_paper(R, sigma)
        assert attained * (1 - 1e-9) <= coupled <= generic * (1 + 1e-12) <= paper
        assert smoothness.L1(R, sigma) <= smoothness.L1_paper(R, sigma)
        assert cumulants.H_star(R) <= smoothness.preactivation_paper(R)


@pytest.mark.parametrize(
    "constant",
    [
        smoothness.L1, smoothness.L1_paper, smoothness.L2, smoothness.L2_paper, smoothness.L2_generic, smoothness.L3,
        cumulants.H_star, smoothness.preactivation_paper,
        lambda R: smoothness.G1(R, 3.0, 2.0), lambda R: smoothness.G2(R, 3.0, 2.0),
    ],
)  # fmt: skip
def test_a_constant_does_not_decrease(constant):
    values = [constant(float(R)) for R in np.linspace(0, 10, 41)]
    assert all(after >= before * (1 - 1e-9) for before, after in itertools.pairwise(values))


@pytest.mark.parametrize(
    ("R", "r_u", "r_w"), [(2.0, 1.0, 1.0), (0.1, 1.0, 1.0), (0.0, 2.0, 3.0), (5.0, 0.0, 1.0)]
)
def test_g1_is_the_maximum(R, r_u, r_w):
    s = np.linspace(0, 1, 100_001)
    assert smoothness.G1(R, r_u, r_w) == pytest.approx((r_u * s + r_w * (1 - s**2) * R).max(), rel=1e-9)


@pytest.mark.parametrize("R", [0.5, 2.0, 7.0])
def test_two_camps_are_the_hessian_of_two_camps(R):
    for s in (-0.4, 0.0, 0.3, 0.95):
        X = torch.tensor([[0.6, 0.8], [-0.6, -0.8]], dtype=torch.float64)
        alpha = torch.tensor([(1 + s) / 2, (1 - s) / 2], dtype=torch.float64)
        norm = torch.linalg.eigvalsh(hessian.hidden(X, alpha, R * X[0])).abs().max()
        formula = smoothness.two_camps(R, torch.tensor(s, dtype=torch.float64))
        assert float(formula) == pytest.approx(float(norm), rel=1e-12)
    grid = torch.linspace(-1, 1, 200_001, dtype=torch.float64)
    assert smoothness.L2_two_camps(R) == pytest.approx(float(smoothness.two_camps(R, grid).max()), rel=1e-8)


def test_the_papers_constants():
    assert smoothness.L1_paper(2.0) == pytest.approx(math.sqrt(5))
    assert smoothness.L2_paper(2.0) == pytest.approx(TANH.bounds[2] * 5 + 8 * math.sqrt(5))
    assert smoothness.preactivation_paper(2.0) == pytest.approx(math.sqrt(258))


def test_a_tensor_is_taken_entry_by_entry():
    R = torch.tensor([[0.5, 1.0], [2.0, 7.0]], dtype=torch.float64)
    assert cumulants.H_star(R).tolist() == [[cumulants.H_star(float(r)) for r in row] for row in R]
    assert isinstance(cumulants.skewness_given_mean(0.5), float)


@pytest.mark.parametrize(
    ("call", "name", "given", "allowed"),
    [
        (lambda: cumulants.skewness_given_mean(torch.tensor([0.5, 1.5])), "s", "1.5", "[0, 1]"),
        (lambda: cumulants.skewness_given_mean(1.5), "s", "1.5", "[0, 1]"),
        (lambda: cumulants.skewness_given_mean(-0.5), "s", "-0.5", "at least 0"),
        (lambda: cumulants.skewness_given_spread(torch.tensor([-0.5])), "spread", "-0.5", "[0, 1]"),
        (lambda: cumulants.H_star(-1.0), "R", "-1.0", "at least 0"),
        (lambda: cumulants.H_star(torch.tensor([-1.0])), "R", "-1", "at least 0"),
        (lambda: cumulants.H_star(float("nan")), "R", "nan", "finite"),
        (lambda: smoothness.L1(-2.0), "R", "-2.0", "at least 0"),
        (lambda: smoothness.L1_paper(-2.0), "R", "-2.0", "at least 0"),
        (lambda: smoothness.L2(-2.0), "R", "-2.0", "at least 0"),
        (lambda: smoothness.L2_paper("2"), "R", "'2'", "at least 0"),
        (lambda: smoothness.L2_generic(-2.0), "R", "-2.0", "at least 0"),
        (lambda: smoothness.L3(-2.0), "R", "-2.0", "at least 0"),
        (lambda: smoothness.L2_two_camps(-2.0), "R", "-2.0", "at least 0"),
        (lambda: smoothness.preactivation_paper(-2.0), "R", "-2.0", "at least 0"),
        (lambda: smoothness.G1(1.0, -1.0, 1.0), "r_u", "-1.0", "at least 0"),
        (lambda: smoothness.G2(1.0, 1.0, -1.0), "r_w", "-1.0", "at least 0"),
        (lambda: smoothness.two_camps(1.0, torch.tensor([1.5])), "s", "1.5", "[-1, 1]"),
    ],
)  # fmt: skip
def test_what_is_out_of_range_is_refused(call, name, given, allowed):
    with refused(name, given, allowed):
        call()

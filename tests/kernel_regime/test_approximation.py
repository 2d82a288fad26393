import math

import numpy as np
import pytest
import torch
from scipy.integrate import quad
from scipy.stats import norm as normal

from shallowformer.kernel_regime import (
    activations,
    approximation,
    data,
    gradients,
    mappings,
    orlicz,
    parameters,
    queries,
    skewed,
    transportation,
)

NU = (3.0, 2.0, 1.0)


def test_the_three_versions_of_lemma_5():
    sigma = activations.ERF
    root = math.sqrt(2 * math.log(2 * 50 / 0.1) / 64)
    s0, s1, s2, _ = sigma.bounds
    assert approximation.main_text(NU, 50, 64, 0.1, sigma) == pytest.approx(2 * (3 * s0 + 2 * s1 + s2) * root)
    assert approximation.appendix(NU, 50, 64, 0.1, sigma) == pytest.approx(2 * (3 * s0 + 3 * s1) * root)
    assert approximation.sharp(NU, 50, 64, 0.1, sigma) == pytest.approx(math.sqrt(2) * (3 * s0 + (2 + 1.26838) * s1) * root)  # fmt: skip


def test_the_two_versions_without_n():
    level = math.log(2 / 0.1) / 64
    assert approximation.rms_second_moment(NU, 64, 0.1) == pytest.approx(6 * math.sqrt(2 / 6.4))
    assert approximation.rms_bernstein(NU, 64, 0.1) == pytest.approx(6 * (2 * math.sqrt(level) + 3 * level))


@pytest.mark.parametrize("bound", [approximation.main_text, approximation.appendix, approximation.sharp])
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (((1.0, 1.0), 5, 4, 0.1), "nu must be three"),
        (((1.0, -1.0, 1.0), 5, 4, 0.1), "nu must be three"),
        (((1.0, math.inf, 1.0), 5, 4, 0.1), "nu must be three"),
        ((NU, 0, 4, 0.1), "n must be"),
        ((NU, 5, 5, 0.1), "m must be even"),
        ((NU, 5, 4, 1.0), "delta must be"),
    ],
)
def test_arguments_out_of_range_are_refused(bound, arguments, message):
    with pytest.raises(ValueError, match=message):
        bound(*arguments)


@pytest.mark.parametrize("bound", [approximation.rms_second_moment, approximation.rms_bernstein])
def test_an_odd_width_is_refused(bound):
    with pytest.raises(ValueError, match="m must be even"):
        bound(NU, 5, 0.1)


@pytest.mark.parametrize("lam", [0.2, 1.0, 3.0])
@pytest.mark.parametrize("r", [0.3, 1.5, 3.0])
def test_closed_forms_of_the_skewed_variable(lam, r):
    sign = lambda y: -1 if y < r else 1
    integral = lambda f: sum(quad(lambda y: 2 * normal.pdf(y) * f(sign(y) * y), *ends)[0] for ends in ((0, r), (r, 40)))  # fmt: skip
    at = [torch.tensor(value, dtype=torch.float64) for value in (lam, r)]
    assert float(skewed.moment_generating(*at)) == pytest.approx(integral(lambda c: math.exp(lam * c)), rel=1e-9)  # fmt: skip
    assert float(skewed.mean(at[1])) == pytest.approx(integral(lambda c: c), rel=1e-9)


def test_bound_and_attained_value_meet_at_the_worst_threshold_only():
    lam = torch.logspace(-0.9, 1.2, 30, dtype=torch.float64)
    r = skewed.worst_threshold(lam)
    bound, attained = skewed.cgf_bound(lam, r), skewed.cgf(lam, r)
    assert torch.allclose(bound, attained, rtol=1e-12, atol=1e-14)
    for factor in (0.7, 1.4):
        assert (skewed.cgf_bound(lam, factor * r) > bound).all()
        assert (skewed.cgf(lam, factor * r) < attained).all()


def test_the_constant_to_six_digits_and_its_certificate():
    lam = torch.linspace(2, 2.4, 40001, dtype=torch.float64)
    value = float((2 * skewed.cgf(lam, skewed.worst_threshold(lam)) / lam**2).max())
    assert value == pytest.approx(1.6087233131, abs=1e-9)
    assert math.sqrt(value) == pytest.approx(1.268355, abs=5e-7)
    assert math.sqrt(value) <= skewed.certificate() <= approximation.S_STAR < 1.2684


def test_a_coarser_grid_certifies_less():
    assert skewed.certificate(ratio=1.01) > skewed.certificate(ratio=1.001) > skewed.certificate()


def test_the_ends_of_the_certificate():
    third = 2 * quad(lambda y: y**3 * math.exp(0.35 * y) * normal.pdf(y), 0, 30)[0]
    assert skewed.small_end(0.35) == pytest.approx(1 + 0.35 / 3 * third)
    assert skewed.small_end(0.35) < 1.371
    assert skewed.large_end(3.5) < 1.570
    for lam in (0.1, 0.35):
        at = torch.tensor(lam, dtype=torch.float64)
        assert 2 * float(skewed.cgf(at, skewed.worst_threshold(at))) / lam**2 < skewed.small_end(0.35)
    for lam in (3.5, 10.0):
        at = torch.tensor(lam, dtype=torch.float64)
        assert 2 * float(skewed.cgf(at, skewed.worst_threshold(at))) / lam**2 < skewed.large_end(3.5)


@pytest.mark.parametrize(("low", "high", "ratio"), [(0.0, 1.0, 1.1), (2.0, 1.0, 1.1), (1.0, 2.0, 1.0)])
def test_a_grid_that_is_none_is_refused(low, high, ratio):
    with pytest.raises(ValueError, match="must"):
        skewed.certificate(low, high, ratio)


def test_the_orlicz_norm_of_known_laws():
    coin = torch.tensor([[1.0, -1.0]], dtype=torch.float64)
    half = torch.full_like(coin, 0.5)
    assert float(orlicz.norm(coin, half)) == pytest.approx(1 / math.sqrt(math.log(2)), rel=1e-12)
    rare = torch.tensor([2.0, 0.0], dtype=torch.float64)
    p = torch.tensor([0.01, 0.99], dtype=torch.float64)
    assert float(orlicz.norm(rare, p)) == pytest.approx(2 / math.sqrt(math.log(101)), rel=1e-12)


def test_the_orlicz_norm_of_a_gaussian():
    y = torch.linspace(-30, 30, 60001, dtype=torch.float64)
    p = torch.exp(-(y**2) / 2)
    assert float(orlicz.norm(y, p / p.sum())) == pytest.approx(math.sqrt(8 / 3), rel=1e-6)


def test_the_orlicz_norm_has_a_gradient():
    values = torch.tensor([1.0, -0.4, 0.2], dtype=torch.float64, requires_grad=True)
    p = torch.tensor([0.2, 0.5, 0.3], dtype=torch.float64)
    (slope,) = torch.autograd.grad(orlicz.norm(values, p), values)
    step = 1e-5
    for k in range(3):
        shift = torch.zeros(3, dtype=torch.float64)
        shift[k] = step
        with torch.no_grad():
            difference = (orlicz.norm(values + shift, p) - orlicz.norm(values - shift, p)) / (2 * step)
        assert float(slope[k]) == pytest.approx(float(difference), abs=1e-8)


def test_the_orlicz_norm_wants_as_many_probabilities_as_values():
    with pytest.raises(ValueError, match="probabilities must have shape"):
        orlicz.norm(torch.ones(3), torch.ones(2) / 2)


def test_moments_of_the_hilbert_space_bound():
    """What the proof of the root mean square bound uses, for every p up to 60."""
    gamma = lambda p: math.exp((p / 2 * math.log(2) + math.lgamma((p + 1) / 2) - math.log(math.pi) / 2) / p)
    for p in range(4, 61):
        assert (gamma(p) + math.sqrt(2 / math.pi)) ** p <= math.factorial(p) / 2 * 1.5 ** (p - 2)
        assert gamma(p) + math.sqrt(2 / math.pi) > 2
    assert math.sqrt((gamma(4) + math.sqrt(2 / math.pi)) ** 4) < 4.5
    assert np.isclose(math.e / 8 * (math.sqrt(7) + math.sqrt(2 / math.pi)), 1.1701, atol=1e-3)


@pytest.mark.parametrize("rate", [0.01, 1.0, 50.0])
def test_a_stretched_activation(rate):
    for sigma in activations.ALL:
        stretched = activations.stretched(sigma, rate)
        u = torch.linspace(-3, 3, 7, dtype=torch.float64)
        assert torch.allclose(stretched(u), sigma(rate * u) / rate, rtol=1e-14, atol=0)
        assert stretched.bounds[1] == sigma.bounds[1]
        assert stretched.bounds[2] == pytest.approx(rate * sigma.bounds[2])


def test_a_stretched_activation_needs_a_rate():
    with pytest.raises(ValueError, match="rate must be a finite number above 0"):
        activations.stretched(activations.TANH, 0.0)


def test_the_orlicz_norm_ignores_values_without_weight():
    values = torch.tensor([1.0, -1.0, 5.0], dtype=torch.float64)
    p = torch.tensor([0.5, 0.5, 0.0], dtype=torch.float64)
    assert float(orlicz.norm(values, p)) == pytest.approx(1 / math.sqrt(math.log(2)), rel=1e-12)


@pytest.mark.parametrize(
    ("values", "p", "message"),
    [
        ([0.0, 0.0], [0.5, 0.5], "a variable that is 0"),
        ([0.0, 1.0], [1.0, 0.0], "a variable that is 0"),
        ([1.0, 2.0], [0.5, 0.6], "add up to 1"),
        ([1.0, 2.0], [1.5, -0.5], "at least 0"),
        ([1.0, math.nan], [0.5, 0.5], "values must be finite"),
    ],
)
def test_the_orlicz_norm_refuses_what_is_no_law(values, p, message):
    with pytest.raises(ValueError, match=message):
        orlicz.norm(torch.tensor(values, dtype=torch.float64), torch.tensor(p, dtype=torch.float64))


@pytest.mark.parametrize("lam", [0.0, -1.0, 31.0])
def test_the_skewed_variable_wants_a_lambda_that_fits_double_precision(lam):
    at, r = torch.tensor(lam, dtype=torch.float64), torch.tensor(1.0, dtype=torch.float64)
    for function in (
        lambda: skewed.cgf(at, r),
        lambda: skewed.cgf_bound(at, r),
        lambda: skewed.worst_threshold(at),
    ):
        with pytest.raises(ValueError, match="lam must lie above 0"):
            function()


def test_a_threshold_below_zero_is_refused():
    at = torch.tensor(1.0, dtype=torch.float64)
    with pytest.raises(ValueError, match="r must be at least 0"):
        skewed.moment_generating(at, -at)


@pytest.mark.parametrize(
    "query", [queries.last_token, queries.fixed(torch.tensor([0.6, 0.8], dtype=torch.float64))]
)
@pytest.mark.parametrize("sigma", activations.ALL)
def test_heads_are_as_lipschitz_in_the_tokens_as_the_book_says(query, sigma):
    generator = torch.Generator().manual_seed(5)
    X = data.clipped_gaussian(40, 3, 2, generator)
    nearby = X + 1e-3 * data.clipped_gaussian(40, 3, 2, generator)
    nearby /= nearby.norm(dim=-1, keepdim=True).clamp(min=1)
    phi = parameters.random(200, 2, generator)
    here, there = (gradients.features(inputs, phi, query, sigma) for inputs in (X, nearby))
    steps = ((here.c - there.c).abs(), (here.u - there.u).norm(dim=-1), (here.w - there.w).flatten(2).norm(dim=-1))  # fmt: skip
    r, w = phi.U.norm(dim=-1), torch.linalg.matrix_norm(phi.W, 2)
    apart = (X - nearby).norm(dim=-1).amax(-1)[:, None]
    for nu in ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0), NU):
        change = sum(norm * step for norm, step in zip(nu, steps, strict=True))
        assert (change <= approximation.slope_in_inputs(r, w, nu, sigma) * apart).all()


def test_the_bound_for_all_inputs_at_once():
    slope = (1 + 4 * 2) * (3 * 2 + (1 + 2 * activations.TANH.bounds[2]) * 2 + 4 * activations.TANH.bounds[2])
    slope += (5 + 12 * 2) * 2
    entropy = 4 * 3 * math.log(1 + 2 * 64 / 0.1) + math.log(4 / 0.1)
    size = math.sqrt(2) * (5 + approximation.S_STAR)
    assert approximation.everywhere(NU, 4, 3, 64, 0.1) == pytest.approx(size * math.sqrt(2 * entropy / 64) + 3 * slope / 64)  # fmt: skip
    with pytest.raises(ValueError, match="T must be"):
        approximation.everywhere(NU, 4, 0, 64, 0.1)


def test_every_draw_of_a_list_of_heads_has_the_second_moment_of_the_lemma():
    """E‖e‖² = (2/m) mean Var ḡ, exactly, for heads drawn uniformly from a list of six."""
    generator = torch.Generator().manual_seed(1)
    v = mappings.zero_target((1.0, 1.0, 1.0))
    answers = transportation.g(
        data.clipped_gaussian(4, 3, 2, generator), parameters.random(6, 2, generator), v
    )
    for pairs in (1, 2, 3):
        chosen = torch.cartesian_prod(*[torch.arange(6)] * pairs).reshape(-1, pairs)
        e = answers[:, chosen].mean(-1) - answers.mean(1, keepdim=True)
        assert float(e.pow(2).mean()) == pytest.approx(float(answers.var(1, correction=0).mean()) / pairs, rel=1e-12)  # fmt: skip

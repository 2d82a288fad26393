"""Constants by loops, and bounds along runs."""

import math

import pytest
import torch
from scipy.optimize import brentq

from checks import normal, numbers, refused, source
from shallowformer.token_selection import (
    bounds,
    constants,
    datasets,
    descent,
    gaps,
    gradients,
    rates,
    rules,
    svm,
)


def small(seed=0):
    return datasets.example_1(3, 3, 8, 2.0, 1.0, source(seed))


@pytest.mark.parametrize("seed", range(4))
def test_constants_by_loops(seed):
    data = small(seed)
    n, T = data.n, data.T
    nu = M_o = 0.0
    m_o = s_1 = noise = apart = together = math.inf
    upsilon = constants.upsilon(data)
    for i in range(n):
        m_o = min(m_o, float(data.X[i, data.optimal[i]].norm() ** 2))
        s_1 = min(s_1, float(data.X[i, 0].norm() ** 2))
        for j in range(n):
            for t in range(T):
                for s in range(T):
                    if (i, t) == (j, s):
                        continue
                    inner, both = (
                        float(data.X[i, t] @ data.X[j, s]),
                        t == data.optimal[i] and s == data.optimal[j],
                    )
                    M_o = max(M_o, abs(inner)) if both else M_o
                    nu = nu if both else max(nu, abs(inner))
                    square = float(data.X[j, s].norm() ** 2)
                    if t != data.optimal[i] and inner != 0:
                        noise = min(noise, square / (4 * n * T * upsilon * abs(inner)))
                    if both and data.y[i] == data.y[j]:
                        together = min(together, inner)
                    if both and data.y[i] != data.y[j] and inner != 0:
                        apart = min(apart, square / (4 * n * upsilon * abs(inner)))
    assert constants.nu(data) == pytest.approx(nu)
    assert constants.M_o(data) == pytest.approx(M_o)
    assert constants.m_o(data) == pytest.approx(m_o)
    assert constants.s_1(data) == pytest.approx(s_1)
    assert upsilon == pytest.approx(math.e)
    paper = constants.assumption_1(data)
    assert (paper.noise, paper.apart, paper.together) == pytest.approx((noise, apart, together))
    sides = constants.near_orthogonality(data, 0.1)
    assert sides.left == pytest.approx((m_o - 3 * nu) * s_1)
    assert sides.right == pytest.approx((n - 1) * math.e / 0.2 * nu * (M_o + 3 * nu))


def test_degradation_factors_enclose_every_weight():
    """Ψ_min ≤ ℓ_iΔ_i ≤ Ψ_max at random W, for scores with an offset."""
    X = torch.tensor(
        [[[2.0, 1.0], [0.5, 0.0], [0.5, 9.0]], [[0.0, 1.0], [-0.3, 0.2], [-0.3, 1.0]]], dtype=torch.float64
    )
    data = datasets.Instance(X, torch.ones(2, dtype=torch.float64), numbers(1.0, 0.0))
    for scale in (0.1, 1.0, 30.0):
        W = scale * normal(2, 2)
        a = torch.exp(-gradients.outputs(X, W, data.u, data.queries)) * data.Delta
        assert float(a.max()) <= constants.psi_max(data) * (1 + 1e-12)
        assert float(a.min()) >= constants.psi_min(data) * (1 - 1e-12)


def test_lambert():
    for n, T, upsilon, phi in ((1, 2, 1.0, 0.9), (6, 6, math.e, 1 / 12), (20, 4, 1e5, 0.01)):
        right = n * upsilon * (T - 1) / (math.e * phi**2)
        expected = brentq(lambda x, right=right: x + math.log(x) - math.log(right), 1e-9, 1e3)
        assert rates.Lambda_0(n, T, upsilon, phi) == pytest.approx(expected)
        assert rates.best_Lambda_0(n * (T - 1) + 1, upsilon, phi) == pytest.approx(expected)


@pytest.mark.parametrize("seed", range(3))
def test_a_small_start_spreads_attention(seed, case):
    data = case(3, 4, 5, seed)
    W0 = normal(5, 5, seed=seed)
    W0 *= bounds.start_scale(constants.B(data)) / W0.norm()
    weights = torch.softmax(gradients.logits(data.X, W0, data.queries), 1)
    assert float(weights.min()) >= 1 / (2 * data.T)


def test_the_start_scale_is_attained_by_two_tokens():
    """Tokens ±e₁ and W⁽⁰⁾ = −(log 2/2) e₁e₁ᵀ: the optimal token starts at 1/3 ≥ 1/4, its gap at −log 2 exactly."""
    X = torch.tensor([[[1.0], [-1.0]]], dtype=torch.float64)
    data = datasets.Instance(X, X.new_ones(1), X.new_ones(1))
    gap = data.gaps(torch.full((1, 1), -bounds.start_scale(1.0), dtype=torch.float64))
    assert float(gap) == pytest.approx(-math.log(2))


@pytest.mark.parametrize("seed", range(3))
def test_key_lemma_and_lemma_4_at_random_points(seed):
    data = small(seed)
    problem = gaps.problem(data)
    best, B, generator = svm.w_svm(data), constants.B(data), source(seed)
    for k in range(300):
        z = torch.randn(len(problem.z0), generator=generator, dtype=torch.float64)
        near = torch.from_numpy(problem.target) * torch.rand(1, generator=generator, dtype=torch.float64) * 3
        z = (near + z * 10.0 ** (-(k % 3))) * 10.0 ** (k % 7 - 3)
        now = problem.slope(z.numpy())
        phi, norm = float(min(now.weights.log_best)), float(z.norm())
        pull = float(now.direction @ problem.target)
        assert pull >= bounds.rho_star(B, best.norm) * (1 - 1e-9)
        if phi > -600:
            # φ_min² down to e^{−1200}: Λ₀ from its equation in logs.
            logs = math.log(data.n * constants.upsilon(data) * (data.T - 1)) - 1 - 2 * phi
            Lambda = brentq(lambda x, logs=logs: x + math.log(x) - logs, 1e-9, 2e3)
            pi = rates.key_lemma_excess(norm, best.norm, Lambda)
            assert (1 + pi) * pull >= float(now.direction @ z.numpy()) / norm - 1e-12


@pytest.mark.usefixtures("long")
def test_the_theorems_where_their_hypotheses_hold():
    """E2 at d = 2·10⁵ (a draw with both labels, as the notes' have), with a start of rank one and the largest size allowed."""
    data = datasets.example_1(3, 3, 200_000, 450.0, 1.0, source(1))
    assert abs(float(data.y.sum())) == 1
    phi_min, B = 1 / 6, constants.B(data)
    assert constants.near_orthogonality(data, phi_min).holds
    a, b = normal(2, 200_000, 1, seed=1)
    a *= bounds.start_scale(B) / a.norm() / b.norm()
    best = svm.w_svm(data)
    problem = gaps.problem(data, (a, b), best)
    eta, start = bounds.step_limit(B, phi_min) / 2, float(a.norm() * b.norm())
    run = descent.run(problem, rules.NGD(eta), 2000, at=range(2001))
    t = run.steps.double()
    assert float(run.norm[0]) == pytest.approx(start)
    phi = run.log_best.exp()
    assert float(phi.min()) >= phi_min
    below = phi[:-1] <= 0.5
    assert bool((phi[1:] >= phi[:-1])[below].all())
    rho = bounds.rho_star(B, best.norm)
    low, high = bounds.iterate_norm(t, eta, rho, start)
    assert bool(((low <= run.norm) & (run.norm <= high * (1 + 1e-12))).all())
    Lambda = rates.Lambda_0(3, 3, constants.upsilon(data), phi_min)
    limit = rates.normalised_rate(t, eta, rho, best.norm, Lambda, start)
    assert bool((run.one_minus_corr <= limit).all())
    assert float(limit[100]) == pytest.approx(19.7, rel=0.1)
    assert float(limit[1000]) == pytest.approx(3.06, rel=0.1)
    assert float(run.one_minus_corr[1000]) == pytest.approx(3.7e-7, rel=0.35)
    saturated = rates.log_off(run.norm, run.one_minus_corr, data.T, B, best.norm)
    assert bool((run.log_off.amax(1) <= saturated + 1e-9).all())


def test_polyak_steps_lie_between_their_bounds():
    data = datasets.example_1(6, 6, 400, 20.0, 1.0, source())
    best, B = svm.w_svm(data), constants.B(data)
    run = descent.run(gaps.problem(data, towards=best), rules.Polyak(), 300, at=range(301))
    for length, phi in zip(run.length, run.log_best.exp().amin(1), strict=True):
        low, high = bounds.polyak_lengths(float(data.Delta.max()), B, best.norm, float(phi))
        assert low <= float(length) <= high * (1 + 1e-9)
    assert float(run.length[-1]) == pytest.approx(best.norm / 2)  # the upper bound is met in the end


def test_a_step_of_gradient_descent():
    data = small()
    problem = gaps.problem(data, normal(8, 8))
    run = descent.run(problem, rules.GD(0.3), 200, at=range(201))
    assert float(run.length.max()) <= bounds.gd_step_length(0.3, constants.B(data), constants.psi_max(data))


@pytest.mark.usefixtures("long")
def test_two_tokens_in_closed_form():
    problem = gaps.problem(datasets.two_tokens(), datasets.two_tokens_start(-0.5, 2.0))
    run = descent.run(problem, rules.NGD(0.1), 2000)
    expected = rates.two_token_correlation(run.steps.double(), 0.1, -0.5, 2.0)
    assert torch.allclose(run.one_minus_corr, expected, rtol=1e-9)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: bounds.step_limit(1.0, 0.5), ("phi_min", "0.5", "(0, ½)")),
        (lambda: rates.Lambda_0(1, 1, 1.0, 0.5), ("T", "1", "at least 2")),
        (lambda: rates.Lambda_0(1, 2, 0.5, 0.5), ("upsilon", "0.5", "at least 1")),
        (lambda: constants.near_orthogonality(small(), 0.6), ("phi_min", "0.6", "(0, ½]")),
        (lambda: bounds.polyak_lengths(1.0, 1.0, 1.0, 1.5), ("phi_min", "1.5", "at most")),
    ],
)
def test_arguments_out_of_range(make, said):
    refused(*said, make)


def test_queries_of_their_own_are_outside_the_assumption():
    data = small()
    other = datasets.Instance(data.X, data.y, data.u, data.queries.clone())
    refused("query", "vectors of their own", "a token", constants.near_orthogonality, other, 0.1)

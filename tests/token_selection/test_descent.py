"""The simulator against descent on the real model, closed forms, and the numbers of experiments."""

import math

import mpmath
import numpy as np
import pytest
import torch

from checks import refused, source
from shallowformer.token_selection import datasets, descent, gaps, gradients, rules, svm
from shallowformer.token_selection.instances import Instance
from shallowformer.training import autograd
from shallowformer.training import descent as training
from shallowformer.training.descent import Diverged


def start(d, norm, seed=1):
    W = torch.randn(d, d, generator=source(seed), dtype=torch.float64)
    return norm * W / W.norm()


RULES = [rules.GD(0.1), rules.NGD(0.1), rules.CapLength(rules.Polyak(), 0.3), rules.CapMultiplier(rules.NGD(0.1), 2.0)]  # fmt: skip


@pytest.mark.parametrize("rule", RULES, ids=str)
@pytest.mark.parametrize("shape", [(1, 2, 3), (3, 4, 5), (4, 3, 2)])
def test_the_simulator_is_descent_on_the_model(rule, shape, case):
    """General scores, infeasible data among them: by autograd and by the closed form, through ``training.descent``."""
    # A loss less L* loses digits as it falls, and 1 − φ in the closed form: few steps, so that the direct ways are exact as well.
    data, steps = case(*shape), 15
    W0, least = start(data.d, 1.0), float(gradients.infimum(data))
    problem = gaps.problem(data, W0)
    run = descent.run(problem, rule, steps, at=range(steps + 1))
    model = lambda X, point: gradients.outputs(X, point[0], data.u, data.queries)
    for objective in (
        autograd.Autograd(model, data.X, data.y, gradients.exponential),
        gradients.Attention(data),
    ):
        direct = training.run(objective, (W0,), eta=rules.Multiplier(rule, least), steps=steps, every=1)
        assert torch.allclose(problem.matrix(run.z[-1]), direct.end[0], atol=1e-9)
        assert torch.allclose(run.log_excess.exp(), direct.losses[:, 0] - least, rtol=1e-9, atol=1e-12)
        assert torch.allclose(run.norm[-1], direct.end[0].norm())
    W = problem.matrix(run.z[-1])
    assert torch.allclose(run.gaps[-1], data.gaps(W), atol=1e-9)
    slope = gradients.loss_and_gradients(data.X, data.y, W, data.u, data.queries)[1]
    assert float(run.log_norm[-1]) == pytest.approx(math.log(float(slope.norm())), abs=1e-9)
    if problem.margin > 0:
        best = svm.w_svm(data)
        cos = float((W * best.W).sum() / W.norm() / best.norm)
        assert float(run.one_minus_corr[-1]) == pytest.approx(1 - cos, abs=1e-12)
        assert float(run.pull[-1]) == pytest.approx(
            -float((slope * best.W).sum() / slope.norm() / best.norm), abs=1e-9
        )


def test_momentum_by_a_naive_loop(case):
    data = case(2, 3, 4)
    W = start(4, 0.3)
    problem, velocity = gaps.problem(data, W), torch.zeros(4, 4, dtype=torch.float64)
    for _ in range(12):
        slope = gradients.loss_and_gradients(data.X, data.y, W, data.u, data.queries)[1]
        velocity = 0.9 * velocity - 0.05 * slope / slope.norm()
        W = W + velocity
    run = descent.run(problem, rules.Momentum(rules.NGD(0.05)), 12)
    assert torch.allclose(problem.matrix(run.z[-1]), W, atol=1e-10)


@pytest.mark.parametrize("ahead", [40.0, 2580.0])
def test_no_number_is_one_minus_phi(ahead):
    """One sequence, three tokens, gaps of a known size: against 2000 digits."""
    X = torch.tensor([[[2.0, 0.0], [0.0, 0.0], [0.0, 1.0]]], dtype=torch.float64)
    data = Instance(X, X.new_ones(1), torch.tensor([1.0, -0.25], dtype=torch.float64))
    W0 = torch.tensor([[ahead / 4, 0.0], [0.1, 0.0]], dtype=torch.float64)
    now = gaps.problem(data, W0).slope(gaps.problem(data, W0).z0)
    with mpmath.workdps(2600):
        h = [mpmath.mpf(float(each)) for each in data.gaps(W0)[0]]
        raw = [mpmath.mpf(1), mpmath.exp(-h[0]), mpmath.exp(-h[1])]
        phi = [each / sum(raw) for each in raw]
        gamma = [mpmath.mpf(2), mpmath.mpf(0), mpmath.mpf("-0.25")]
        mean = sum(p * g for p, g in zip(phi, gamma, strict=True))
        excess = mpmath.exp(-mean) - mpmath.exp(-2)
        pull = [mpmath.exp(-mean) * phi[k] * (mean - gamma[k]) for k in (1, 2)]
        D, q = [[2, 0], [2, -1]], [2, 0]
        entry = [
            [sum(p * each[i] * q[j] for p, each in zip(pull, D, strict=True)) for j in range(2)]
            for i in range(2)
        ]
        norm = mpmath.sqrt(sum(e**2 for row in entry for e in row))
        expected = [float(mpmath.log(1 - phi[0])), float(mpmath.log(excess)), float(mpmath.log(norm))]
    found = [float(now.weights.log_off[0]), float(now.log_excess), float(now.log_norm)]
    assert found == pytest.approx(expected, rel=1e-13)


def test_a_correlation_without_cancellation():
    target = np.array([0.6, 0.8])
    for apart in (1e-3, 1e-9, 1e-12):
        z = 1e3 * target + 1e3 * apart * np.array([-0.8, 0.6])
        found = descent.alignment(z, target, 0.0)
        assert float(found.one_minus_corr) == pytest.approx(apart**2 / 2, rel=1e-2)
    assert float(descent.alignment(1e3 * target, target, 1e-7).one_minus_corr) == pytest.approx(0.5e-20)
    assert float(descent.alignment(-target, target, 0.0).one_minus_corr) == pytest.approx(2)
    assert float(descent.alignment(0 * target, target, 0.0).one_minus_corr) == 1


# Section 3.3 ----------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("long")
def test_two_tokens_under_normalised_descent():
    """W_t = w₀ + ηt along e₁e₁ᵀ, so that (1 − corr) t² → C²/(2η²) = 50."""
    problem = gaps.problem(datasets.two_tokens(), datasets.two_tokens_start(-0.5, 1.0))
    run = descent.run(problem, rules.NGD(0.1), 10_000, at=[100, 1000, 10_000])
    scaled = run.one_minus_corr * run.steps**2
    assert scaled.tolist() == pytest.approx([54.9, 50.5, 50.05], rel=2e-3)
    assert float(scaled[-1]) == pytest.approx(50, rel=0.01)
    assert torch.allclose(run.along, -0.5 + 0.1 * run.steps.double(), rtol=1e-12)


@pytest.mark.usefixtures("long")
def test_two_tokens_under_gradient_descent():
    """One number w: w ← w + ηe^{−σ(w)}σ(w)σ(−w), by a loop; and (1 − corr) log² t of the notes."""
    w, steps = -0.5, 10_000
    for _ in range(steps):
        p = 1 / (1 + math.exp(-w))
        w += math.exp(-p) * p / (1 + math.exp(w))
    problem = gaps.problem(datasets.two_tokens(), datasets.two_tokens_start(-0.5, 1.0))
    run = descent.run(problem, rules.GD(1.0), steps, at=[100, 1000, steps])
    assert float(run.along[-1]) == pytest.approx(w, rel=1e-12)
    assert float(run.one_minus_corr[-1]) == pytest.approx(1 - w / math.hypot(w, 1), rel=1e-10)
    assert (run.one_minus_corr * run.steps.log() ** 2).tolist() == pytest.approx([0.82, 0.67, 0.62], abs=0.006)  # fmt: skip


# Experiments ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.usefixtures("long")
def test_the_rates_of_example_1(seed):
    """E1: normalised descent at t⁻² with log(1 − φ) falling linearly; momentum faster; plain descent far behind."""
    data = datasets.example_1(6, 6, 400, 20.0, 1.0, source(seed))
    problem = gaps.problem(data, start(400, 1e-2, seed))
    run = descent.run(problem, rules.NGD(0.02), 6000)
    late = run.steps >= 100
    slope = np.polyfit(run.steps[late].log(), run.one_minus_corr[late].log(), 1)[0]
    assert slope == pytest.approx(-2.0, abs=0.05)
    thousand = int((run.steps == 1000).nonzero()[0])
    assert float(run.one_minus_corr[thousand]) == pytest.approx(3.2e-7, rel=0.35)
    assert float(run.log_off[thousand].max()) == pytest.approx(-2580, rel=0.15)
    assert float(run.log_best.exp().min()) == pytest.approx(1 / 6, rel=0.1)
    at = [1000]
    polyak = descent.run(problem, rules.Polyak(), 1000, at)
    capped = descent.run(problem, rules.CapMultiplier(rules.Polyak(), 50.0), 1000, at)
    plain = descent.run(problem, rules.GD(1e-3), 1000, at)
    found = [float(each.one_minus_corr[0]) for each in (polyak, capped, plain)]
    assert found == pytest.approx([7.3e-6, 3.3e-3, 1.3e-2], rel=0.35)
    # With momentum the residual is bounded as well; how large it is depends on the seed: 0.0101 (nothing but W⁽⁰⁾), or an oscillation.
    momentum = descent.run(problem, rules.Momentum(rules.NGD(0.02)), 4000)
    late = momentum.steps >= 100
    assert 0.01 < float(momentum.residual[late].min()) <= float(momentum.residual[late].max()) < 0.2
    assert 0.3 * 800 < float(momentum.norm[-1]) <= 801  # at most 10 · 0.02 a step


@pytest.mark.usefixtures("long")
def test_a_bad_direction_is_overcome():
    data = datasets.bad_direction()
    best = svm.w_svm(data)
    starts = [gaps.problem(data, -norm * best.W / best.norm) for norm in (0.5, 2.0, 5.0)]
    run = descent.run(gaps.stacked(starts), rules.GD(0.5), 20_000, at=[0, 20_000])
    weights = run.log_best.exp()
    for k, weight in enumerate((0.370, 0.107, 0.005)):
        assert weights[0, k].tolist() == pytest.approx([weight] * 2, abs=5e-4)
        assert weights[1, k].tolist() == pytest.approx([0.9998] * 2, abs=5e-5)
    assert float(run.one_minus_corr[1].max()) < 1e-15


def test_problems_side_by_side(case):
    many = [gaps.problem(case(3, 3, 5, seed=k), start(5, 0.1, k)) for k in range(3)]
    many.append(gaps.problem(datasets.example_1(3, 3, 9, 2.0, 1.0, source())))
    for rule in (rules.NGD(0.05), rules.Momentum(rules.CapLength(rules.Polyak(), 0.1))):
        together = descent.run(gaps.stacked(many), rule, 50)
        for k, each in enumerate(many):
            alone = descent.run(each, rule, 50)
            for name in ("log_excess", "log_norm", "one_minus_corr", "log_off", "gaps", "norm"):
                assert torch.allclose(
                    getattr(together, name)[:, k], getattr(alone, name), rtol=1e-9, atol=1e-10
                ), name


def test_rounding_of_equal_scores_does_not_stand_in_for_a_lost_pull():
    """One of two other tokens, of scores 0.1 + 0.2 − 0.3 and 0, has all weight: its pull is φ_opt Δ = e^{−900} and not 1e−17."""
    X = torch.tensor([[[0.2, 0.0, 0.0, 0.0], [0.1, 0.2, -0.3, 900.0], [0.0, 0.0, 0.0, 895.0]]]).double()
    X[0, 1, :3] = torch.tensor([0.1, 0.2, -0.3], dtype=torch.float64)
    X[0, 0, 0] = 0.2
    data = Instance(X, X.new_ones(1), torch.tensor([1.0, 1.0, 1.0, 0.0], dtype=torch.float64))
    assert 0 < float(data.spread) < 1e-15
    W0 = torch.zeros(4, 4, dtype=torch.float64)
    W0[3, 0] = 5.0
    assert data.gaps(W0)[0].tolist() == pytest.approx([-900, -895])
    problem = gaps.problem(data, W0)
    assert problem.between is None
    now = problem.slope(problem.z0)
    assert float(now.log_norm) < -700


def test_data_without_a_separator_still_run():
    X = torch.tensor([[[0.0, 0.0], [1.0, 0.0]]], dtype=torch.float64)
    run = descent.run(
        gaps.problem(Instance(X, X.new_ones(1), torch.tensor([1.0, 0.0]).double())), rules.NGD(0.1), 5
    )
    assert run.one_minus_corr.tolist() == [1] * len(run.steps)
    assert bool(torch.isneginf(run.log_norm).all())  # a query of zero: no gradient, no step, no NaN
    assert bool(torch.isfinite(run.log_excess).all())
    assert run.norm.tolist() == [0] * len(run.steps)


def test_a_step_without_end(case):
    """An uncapped Polyak step where the optimal tokens have lost."""
    X = torch.tensor([[[1.0], [0.0]]], dtype=torch.float64)
    data = Instance(X, X.new_ones(1), X.new_ones(1))
    with pytest.raises(Diverged, match="cap the length"):
        descent.run(gaps.problem(data, torch.tensor([[-800.0]]).double()), rules.Polyak(), 5)


def test_what_cannot_be_run(case):
    data = case()
    problem = gaps.problem(data)
    refused("at", "[9]", "0 to steps = 5", descent.run, problem, rules.NGD(1.0), 5, at=[9])
    with refused("opt", "below another", "largest scores"):
        gaps.problem(Instance(data.X, data.y, data.u, opt=data.scores.argmin(1)))
    refused("W0", "(4, 4)", "(5, 5)", gaps.problem, data, torch.zeros(4, 4, dtype=torch.float64))
    with refused("instance", "float32", "float64"):
        gaps.problem(Instance(data.X.float(), data.y.float(), data.u.float()))
    refused("problems", "[]", "at least one", gaps.stacked, [])
    refused("problems", "(3, 2)", "of one size", gaps.stacked, [problem, gaps.problem(case(3, 3, 5))])
    with refused("problem", "side by side", "single"):
        gaps.stacked([problem, problem]).matrix(torch.zeros(5, dtype=torch.float64))


# Rules ----------------------------------------------------------------------------------------------------------------


def test_lengths():
    norm, excess = np.log(np.array([0.5, 1e-3])), np.log(np.array([2.0, 1e-2]))
    of = lambda rule: rule.length(3, norm, excess).tolist()
    assert of(rules.GD(2.0)) == pytest.approx([1.0, 2e-3])
    assert of(rules.NGD(2.0)) == [2.0, 2.0]
    assert of(rules.Polyak()) == pytest.approx([2.0, 5.0])
    assert of(rules.CapMultiplier(rules.Polyak(), 10.0)) == pytest.approx([2.0, 1e-2])
    assert of(rules.CapLength(rules.Polyak(), 3.0)) == pytest.approx([2.0, 3.0])
    assert of(rules.Momentum(rules.Polyak())) == pytest.approx([2.0, 5.0])


def test_no_gradient_no_step():
    nothing = np.array([-np.inf])
    assert rules.Polyak().length(0, nothing, np.zeros(1)).tolist() == [0]
    zero = (torch.zeros(2, 2),)
    assert rules.Multiplier(rules.NGD(1.0))(0, torch.ones(1), zero) == 0


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: rules.Momentum(rules.NGD(1.0), 1.0), ("beta", "1.0", "below 1")),
        (lambda: rules.Multiplier(rules.Momentum(rules.NGD(1.0))), ("rule", "Momentum", "without momentum")),
    ],
)
def test_what_is_no_rule(make, said):
    refused(*said, make)


def test_recorded_steps():
    steps = rules.recorded_steps(1000, 3)
    assert steps == [0, 1, 2, 5, 10, 22, 46, 100, 215, 464, 1000]
    assert rules.recorded_steps(1) == [0, 1]

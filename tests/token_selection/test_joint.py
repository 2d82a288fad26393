"""Joint training against descent on the model, and the theorems' numbers."""

import math

import numpy as np
import pytest
import torch

from checks import refused
from shallowformer.token_selection import (
    constants,
    datasets,
    gradients,
    joint,
    joint_bounds,
    joint_rules,
    svm,
)
from shallowformer.training import descent as training


def source(seed=0):
    return torch.Generator().manual_seed(seed)


@pytest.mark.parametrize("shape", [(2, 2, 4), (3, 4, 5)])
def test_gradient_descent_is_that_on_the_model(shape, case):
    data = case(*shape)
    u0 = torch.randn(data.d, generator=source(1), dtype=torch.float64)
    W0 = torch.randn(data.d, data.d, generator=source(2), dtype=torch.float64)
    run = joint.run(data, joint_rules.GD(0.05), 60, at=range(61), u0=u0, W0=W0)
    direct = training.run(gradients.Joint(data), (u0, W0), eta=0.05, steps=60, every=1)
    assert torch.allclose(run.log_loss.exp(), direct.losses[:, 0], rtol=1e-10)
    assert torch.allclose(run.u[-1], direct.end[0], atol=1e-10)
    assert float(run.norm_W[-1]) == pytest.approx(float(direct.end[1].norm()))
    assert torch.allclose(run.gaps[-1], data.gaps(direct.end[1]), atol=1e-10)


def variants():
    scheduled = lambda t, u, W, loss: (0.1 * (t + 1) ** -0.7 / u, 0.1 * (t + 1) ** -0.9 / W if W > 0 else 0.0)
    whole = lambda u, W: math.hypot(u, W)
    return [
        (joint_rules.Scheduled(0.1, 0.7, 0.9), scheduled),
        (joint_rules.JointNGD(0.1), lambda t, u, W, loss: (0.1 / whole(u, W),) * 2),
        (joint_rules.Polyak(0.5, 3.0), lambda t, u, W, loss: (min(0.5 * loss / whole(u, W) ** 2, 3.0),) * 2),
        (joint_rules.Polyak(), lambda t, u, W, loss: (0.5 * loss / whole(u, W) ** 2,) * 2),
    ]


@pytest.mark.parametrize(("rule", "multipliers"), variants(), ids=lambda each: str(each)[:14])
def test_other_rules_by_a_naive_loop_from_zero(rule, multipliers, case):
    data, steps = case(3, 3, 5), 40
    u, W = torch.zeros(5, dtype=torch.float64), torch.zeros(5, 5, dtype=torch.float64)
    for t in range(steps):
        loss, of_W, of_u = gradients.loss_and_gradients(data.X, data.y, W, u, data.queries)
        m_u, m_W = multipliers(t, float(of_u.norm()), float(of_W.norm()), float(loss))
        u, W = u - m_u * of_u, W - m_W * of_W
    run = joint.run(data, rule, steps)
    assert torch.allclose(run.u[-1], u, rtol=1e-8, atol=1e-10)
    assert float(run.norm_W[-1]) == pytest.approx(float(W.norm()), rel=1e-8)
    loss = gradients.loss_and_gradients(data.X, data.y, W, u, data.queries)[0]
    assert float(run.log_loss[-1]) == pytest.approx(math.log(float(loss)), abs=1e-9)
    best = svm.u_svm(data)
    assert run.best_margin == pytest.approx(best.margin)
    assert float(run.one_minus_corr_u[-1]) == pytest.approx(
        1 - float(u @ best.u / u.norm() / best.norm), abs=1e-10
    )
    if float(run.one_minus_corr_W[-1]) != 1:
        target = svm.w_svm(data)
        cos = float((W * target.W).sum() / W.norm() / target.norm)
        assert float(run.one_minus_corr_W[-1]) == pytest.approx(1 - cos, abs=1e-10)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.usefixtures("long")
def test_the_numbers_of_dm(seed):
    """E7, a tenth as long: log L falls as 3ηγt^{1/3}, ‖W‖ grows as η log t, optimal weights never fall below ½."""
    data, eta = datasets.dm(6, 1000, 3.0, 0.1, source(seed)), 0.05
    run = joint.run(data, joint_rules.Scheduled(eta), 10_000)
    late, t = run.steps >= 1000, run.steps.double()
    slope = np.polyfit(t[late] ** (1 / 3), run.log_loss[late], 1)[0]
    assert slope == pytest.approx(-3 * eta * run.best_margin, rel=0.02)
    assert np.polyfit(t[late].log(), run.norm_W[late], 1)[0] == pytest.approx(eta, rel=0.02)
    assert float(run.log_best.exp().min()) >= 0.5 - 1e-12
    assert float(run.optimal_margin[-1] / run.best_margin) == pytest.approx(1, abs=0.02)
    ratio = (run.log_u - run.log_loss).exp() / run.best_margin
    assert float(ratio.min()) == pytest.approx(0.53, abs=0.02)
    # The proved bounds, with the margin that Lemma 12 gives.
    nu = max(constants.nu(data), constants.M_o(data))
    squares = data.best.square().sum(1)
    margin, other = joint_bounds.attended_margin(run.best_margin, nu, 0.5, float(squares.min()), float(squares.max()), 6)  # fmt: skip
    assert float(ratio.min()) * run.best_margin >= max(margin, other)
    C_J = joint_bounds.curvature(eta, constants.B(data))
    assert bool((run.log_loss <= joint_bounds.log_loss(t, eta, margin, C_J)).all())
    most_u, most_W = joint_bounds.norms(t[1:], eta)
    assert bool((run.norm_u[1:] <= most_u).all())
    assert bool((run.norm_W[1:] <= most_W).all())


@pytest.mark.usefixtures("long")
def test_no_underflow_without_decay():
    data = datasets.dm(4, 300, 3.0, 0.1, source())
    run = joint.run(data, joint_rules.Scheduled(0.02, 0.0, 0.0), 8000)
    assert float(run.log_off[-1].max()) < -745
    for name in ("log_loss", "log_u", "one_minus_corr_W", "one_minus_corr_u", "log_off"):
        assert bool(torch.isfinite(getattr(run, name)).all()), name
    assert bool(torch.isfinite(run.log_W[1:]).all())
    assert bool(torch.isneginf(run.log_W[0]))
    assert float(run.length_W[0]) == 0


@pytest.mark.usefixtures("long")
def test_the_margin_bound_along_a_run():
    data, eta = datasets.dm(3, 400, 3.0, 0.1, source()), 0.01
    run = joint.run(data, joint_rules.Scheduled(eta), 3000, at=range(3001))
    assert bool((run.ahead[1:] >= 0).all())
    nu = max(constants.nu(data), constants.M_o(data))
    C_J = joint_bounds.curvature(eta, constants.B(data))
    off = run.log_off.exp().amax(1)
    bound = joint_bounds.decoder_margin(run.length_u[:-1], off[:-1], run.best_margin, nu, 3, C_J)
    counts = bound >= 0
    assert bool((run.optimal_margin[1:] >= bound)[counts].all())


def test_curvature_by_direct_sums():
    eta, B = 0.05, 2.0
    k = torch.arange(1, 10**6, dtype=torch.float64)
    first = (eta * B + 3 * eta**2 * B**3) ** 2 * (k ** (-4 / 3)).sum()
    second = (2 * eta**2 * B**3 + 8 / (6 * 3**0.5) * 3 * eta**3 * B**5) * (k ** (-5 / 3)).sum()
    # The tails, by integrals: 3/N^{1/3} and 1.5/N^{2/3}.
    tails = (eta * B + 3 * eta**2 * B**3) ** 2 * 0.03
    assert joint_bounds.curvature(eta, B) == pytest.approx(float(first + second + tails) / 2, rel=1e-3)


@pytest.mark.usefixtures("long")
def test_lemma_11_at_orthogonal_tokens():
    X = torch.zeros(2, 2, 4, dtype=torch.float64)
    X[0, 0, 0], X[0, 1, 1], X[1, 0, 2], X[1, 1, 3] = 2.0, 1.0, 2.0, 1.0
    data = datasets.Instance(X, X.new_ones(2), X.new_ones(4))
    found = joint_bounds.lemma_11(data)
    assert found.holds
    assert found.G == 3
    assert found.kappa == 1
    assert found.eta == pytest.approx(min(1 / (204 * math.sqrt(2) * 4), 1 / 6))
    run = joint.run(data, joint_rules.Scheduled(found.eta), 2000, at=range(2001))
    assert float(run.log_loss_ratio.max().exp()) <= found.loss_ratio
    assert bool((run.ahead[1:].amin((1, 2)) >= found.growth * run.norm_u[1:]).all())
    assert float(run.log_best.exp().min()) >= 0.5


def test_lemma_11_does_not_hold_for_long_other_tokens():
    X = torch.zeros(1, 2, 2, dtype=torch.float64)
    X[0, 0, 0], X[0, 1, 1] = 1.0, 2.0
    found = joint_bounds.lemma_11(datasets.Instance(X, X.new_ones(1), torch.tensor([1.0, 0.0]).double()))
    assert found.G < 0
    assert not found.holds


def test_what_cannot_be_run(case):
    with refused("W0", "(4, 4)", "(5, 5)"):
        joint.run(case(), joint_rules.GD(0.1), 5, W0=torch.zeros(4, 4, dtype=torch.float64))
    with refused("u0", "(4,)", "(5,)"):
        joint.run(case(), joint_rules.GD(0.1), 5, u0=torch.zeros(4, dtype=torch.float64))
    with refused("at", "[6]", "0 to steps = 5"):
        joint.run(case(), joint_rules.GD(0.1), 5, at=[6])
    with refused("eta", "0.0", "above 0"):
        joint_rules.Scheduled(0.0)
    with refused("p", "-1.0", "at least 0"):
        joint_rules.Scheduled(0.1, p=-1.0)
    with refused("most", "0.0", "above 0"):
        joint_rules.Polyak(most=0.0)
    with refused("instance", "T = 4", "T = 2"):
        joint_bounds.lemma_11(case())

"""Joint training against descent on the model, and the theorems' numbers."""

import math

import numpy as np
import pytest
import torch

from checks import refused, source
from companion.theory.token_selection import joint, joint_bounds, joint_conditions, joint_gram, joint_rules
from shallowformer.token_selection import constants, datasets, gradients, svm
from shallowformer.training import descent as training


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


def distance(data):
    """The largest distance of two signed tokens."""
    signed = (data.y[:, None, None] * data.X).flatten(0, 1)
    return float(torch.cdist(signed, signed).max())


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
    D, Q = float(data.differences.norm(dim=1).max()), float(data.queries.norm(dim=1).max())
    C = joint_bounds.loss_constant_any_data(eta, distance(data), D, Q)
    assert 7 < C < 11
    assert bool((run.log_loss <= joint_bounds.log_loss(t, eta, margin, C)).all())
    # Attention's halves never raise the loss in the first steps, and then the first term is enough.
    assert bool((run.log_loss <= joint_bounds.log_loss(t, eta, margin, joint_bounds.loss_constant(eta, distance(data)))).all())  # fmt: skip
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
    C = joint_bounds.loss_constant(eta, distance(data))
    off = run.log_off.exp().amax(1)
    bound = joint_bounds.decoder_margin(run.length_u[:-1], off[:-1], run.best_margin, nu, 3, C)
    counts = bound >= 0
    assert bool((run.optimal_margin[1:] >= bound)[counts].all())


def test_the_constant_of_the_loss_by_direct_sums():
    eta, R, D, Q = 0.5, 1.5, 1.0, 2.0
    k = torch.arange(1, 10**6 + 1, dtype=torch.float64)
    s, r, size = eta * k ** (-2 / 3), eta / k, 3 * eta * k ** (1 / 3)
    decoder = (s * R) ** 2 / 8
    attention = s * r * (R * size * D**2 * Q + 2 * D**2 * Q) / 8
    attention += ((size * D**2 * Q * r / 4) ** 2 + size * D**3 * Q**2 * r**2 / (6 * 3**0.5)) / 2
    found = joint_bounds.loss_constant_any_data(eta, R, D, Q)
    # What is left of the slowest sum is 3/N^{1/3} of its factor.
    assert found == pytest.approx(float(decoder.sum() + attention[1:].sum()), rel=0.03)
    assert found > float(decoder.sum() + attention[1:].sum())
    assert joint_bounds.loss_constant(eta, R) == pytest.approx(float(decoder.sum()), rel=0.01)


def test_how_far_the_decoder_travels():
    t = torch.arange(0, 2000, dtype=torch.float64)
    S = torch.cat([torch.zeros(1), 0.3 * torch.arange(1, 2000) ** (-2 / 3)]).double().cumsum(0)
    below, above = joint_bounds.travelled(t, 0.3), joint_bounds.norms(t[1:], 0.3)[0]
    assert bool((below <= S + 1e-6).all())
    assert bool((S[1:] <= above + 1e-6).all())
    assert float(S[-1] - below[-1]) < 1e-4


def test_a_margin_bound_that_would_be_negative_is_none():
    assert joint_bounds.attended_margin(1.0, 0.6, 0.5, 1.0, 1.0, 1)[1] == -math.inf
    assert joint_bounds.attended_margin(1.0, 0.1, 0.5, 1.0, 1.0, 1)[1] == pytest.approx(0.4 / 1.1**0.5)


@pytest.mark.usefixtures("long")
@pytest.mark.parametrize("T", [2, 3])
def test_lemma_11_at_orthogonal_tokens(T):
    X = torch.eye(2 * T, dtype=torch.float64).reshape(2, T, 2 * T)
    X[:, 0] *= 2
    data = datasets.Instance(X, X.new_ones(2), X[:, 0].sum(0))
    found = joint_conditions.lemma_11(data)
    assert found.holds
    assert (found.G, found.kappa, found.loss_ratio) == (3, 1, 3 * T**2)
    assert found.eta == pytest.approx(min(4 / (33 * T**2 * math.sqrt(2) * 4), 1 / 6))
    assert found.growth == pytest.approx(3 / (6 * T**3 * math.sqrt(1.011 * 2 * 4)))
    run = joint.run(data, joint_rules.Scheduled(found.eta), 2000, at=range(2001))
    assert float(run.log_loss_ratio.max().exp()) <= found.loss_ratio
    assert bool((run.ahead[1:].amin((1, 2)) >= found.growth * run.norm_u[1:]).all())
    assert bool((run.gaps[2:].diff(dim=0) > 0).all())


def test_conditions_for_two_tokens_and_for_three():
    two = joint_conditions.Lemma11(2, 3, 2.0, 3.0, 0.5, 1.5, 1e-3)
    assert two.losses == pytest.approx(96 * 1.5 * 2 * 1e-3 / 1.5)
    assert two.logits == pytest.approx(4608 * 1.5**3 * 2 * 1e-6 / (1.5 * 0.5))
    assert two.overlap == pytest.approx(4e-3)
    assert two.gap_ratio == pytest.approx(72 * 1.5 * 3 / 1.5)
    three = joint_conditions.Lemma11(3, 2, 1.0, 1.0, 0.5, 0.5, 1e-4)
    assert three.losses == pytest.approx(4 * (1 + 3 * 27) * 1e-4 / 0.5)
    assert three.logits == pytest.approx(12 * 3 * 4 / 3 * 27**2 * 1e-8 / (0.5 * 0.5 * 0.45))
    assert not joint_conditions.Lemma11(2, 3, 2.0, 3.0, 0.0, 1.5, 0.0).holds
    assert not joint_conditions.Lemma11(2, 1, 2.0, 3.0, 0.5, 1.5, 0.0).holds


def test_lemma_11_does_not_hold_for_long_other_tokens():
    X = torch.zeros(2, 2, 4, dtype=torch.float64)
    X[0, 0, 0], X[0, 1, 1], X[1, 0, 2], X[1, 1, 3] = 1.0, 2.0, 1.0, 2.0
    found = joint_conditions.lemma_11(
        datasets.Instance(X, X.new_ones(2), torch.tensor([1.0, 0.0, 1.0, 0.0]).double())
    )
    assert found.G < 0
    assert not found.holds


def test_the_dimension_of_condition_2():
    size = joint_conditions.Gaussian(2, 2.0, 0.1, 0.1)
    x = math.log(4 * 5 / 0.1)
    assert size.dimension == math.ceil(max(36 * 16, 2.2e4 / 0.75**2, 1.1e4 * 4 / 0.75) * x) == 310_835
    scale = 0.2 * math.sqrt(310_835)
    assert size.eta(310_835) == pytest.approx(min(1 / (35 * math.sqrt(2) * scale**2), 1 / (3.1 * scale)))
    refused("d", "1000", "310835", size.eta, 1000)
    allowed = joint_conditions.Orthogonal(12, 1000, 0.1)
    y = math.log(12 * 13 / 0.1)
    assert allowed.product == pytest.approx(math.sqrt(2 * 1000 * y) + y)
    assert allowed.longest == pytest.approx(1000 + 2 * math.sqrt(1000 * y) + 2 * y)
    assert allowed.shortest == pytest.approx(1000 - 2 * math.sqrt(1000 * y))


@pytest.mark.parametrize("T", [2, 4])
def test_the_run_on_inner_products_is_the_run(T):
    data = datasets.dm(4, 30, 3.0, 0.1, source(), T=T)
    K, query = joint_gram.gram(data)
    seen = joint_gram.run(K, query, torch.tensor([0.3], dtype=torch.float64), 61)
    run = joint.run(data, joint_rules.Scheduled(0.3), 60, at=range(61))
    assert torch.allclose(seen.log_loss[:, 0], run.log_loss, atol=1e-12)
    assert torch.allclose(seen.margins[:, 0], run.margins, atol=1e-12)
    assert torch.allclose(seen.pull[:, 0].log(), run.log_u - run.log_loss, atol=1e-12)
    assert torch.allclose(seen.gaps[:, 0].sum((1, 2)), run.gaps.sum((1, 2)), atol=1e-10)
    # After the decoder's half, by the model itself; and what the gaps do in the other half.
    change = seen.gaps[11:13, 0].diff(dim=0)[0]
    pulls = (seen.own + seen.others)[11, 0]
    assert torch.allclose(change / change.norm(), pulls / pulls.norm(), atol=1e-12)


def test_a_run_goes_on_from_a_state():
    data = datasets.dm(3, 30, 3.0, 0.1, source(), T=3)
    K, query = joint_gram.gram(data)
    eta = torch.tensor([0.3], dtype=torch.float64)
    whole = joint_gram.run(K, query, eta, 12)
    # Gaps and margins fix scores and, up to a constant a sequence, logits.
    logits = torch.cat([0 * whole.gaps[8, ..., :1], -whole.gaps[8]], -1)
    best = whole.margins[8] + (torch.softmax(logits, -1)[..., 1:] * whole.ahead[8]).sum(-1)
    scores = torch.cat([best[..., None], best[..., None] - whole.ahead[8]], -1)
    start = joint_gram.State(scores, logits, torch.tensor([8.0], dtype=torch.float64))
    rest = joint_gram.run(K, query, eta, 4, start=start)
    for name in (
        "lengths", "pull", "toward", "pushes", "moves", "margins", "log_loss", "between", "ahead", "gaps", "rises", "spread", "own", "others",
    ):  # fmt: skip
        assert torch.allclose(getattr(rest, name), getattr(whole, name)[8:], atol=1e-12), name
    gained = (whole.margins[1] - whole.margins[0]) / whole.lengths[0]
    assert torch.allclose(whole.rises[0], gained, atol=1e-12)  # attention rests at t = 0


def test_no_law_has_a_larger_third_cumulant():
    generator, worst = source(3), 0.0
    for T in (2, 3, 5):
        law = torch.softmax(3 * torch.randn(20_000, T, generator=generator, dtype=torch.float64), -1)
        a = torch.rand(20_000, T, generator=generator, dtype=torch.float64).round()
        b = torch.rand(20_000, T, generator=generator, dtype=torch.float64)
        b[:10_000] = b[:10_000].round()
        square = (b - (law * b).sum(-1, keepdim=True)) ** 2
        found = (law * a * square).sum(-1) - (law * a).sum(-1) * (law * square).sum(-1)
        worst = max(worst, float(found.abs().max()))
    assert 0.999 * joint_bounds.THIRD_CUMULANT < worst <= joint_bounds.THIRD_CUMULANT + 1e-12


def test_the_run_on_inner_products_is_differentiable():
    data = datasets.dm(2, 30, 3.0, 0.1, source())
    K, query = joint_gram.gram(data)
    eta = torch.tensor([0.3], dtype=torch.float64)
    loss = lambda K: joint_gram.run(K, query, eta, 5).log_loss[-1]
    assert torch.autograd.gradcheck(loss, (K.clone().requires_grad_(),))
    with refused("instance", "vectors", "tokens"):
        joint_gram.gram(datasets.Instance(data.X, data.y, data.u, query=data.X[:, 0] + 1))


def test_what_cannot_be_run(case):
    with refused("W0", "(4, 4)", "(5, 5)"):
        joint.run(case(), joint_rules.GD(0.1), 5, W0=torch.zeros(4, 4, dtype=torch.float64))
    with refused("u0", "(4,)", "(5,)"):
        joint.run(case(), joint_rules.GD(0.1), 5, u0=torch.zeros(4, dtype=torch.float64))
    refused("at", "[6]", "0 to steps = 5", joint.run, case(), joint_rules.GD(0.1), 5, at=[6])
    refused("most", "0.0", "above 0", joint_rules.Polyak, most=0.0)


def test_nothing_moves_where_the_gradient_vanishes():
    X = torch.tensor([[1.0, 0.0], [-1.0, 0.0]], dtype=torch.float64)[None, :, None].expand(1, 2, 2, 2)
    K = torch.einsum("bitd,bjsd->bitjs", X, X)
    eta = torch.tensor([0.5], dtype=torch.float64)
    seen = joint_gram.run(K, torch.zeros(1, 2, dtype=torch.long), eta, 20)
    assert bool((seen.pull == 0).all())
    assert bool((seen.margins == 0).all())

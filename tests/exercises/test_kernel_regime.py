"""Exercises of the room kernel_regime, chapter by chapter: right answers pass, other routes to them too; others are told why they are not."""

import itertools
import math

import pytest
import torch

from companion.exercises.kernel_regime import (
    descent,
    envelopes,
    gradients,
    linear_model,
    linear_run,
    model,
    recurrence,
    self_bounding,
    smoothness,
    softmax_calculus,
    stochastic,
    tangent_kernel,
    theorem_1,
    transportation,
)
from shallowformer import data, softmax
from shallowformer.kernel_regime.model import gradients as model_gradients
from shallowformer.kernel_regime.model import linear_model as model_linear
from shallowformer.kernel_regime.model import parameters


def first(losses, eta, rho_c):
    """The right answer."""
    length = 0.0
    for step, value in enumerate(losses, start=1):
        length += 2 * eta * float(value) ** 0.5
        if length >= rho_c:
            return step
    return None


def test_the_right_contact_passes():
    assert descent.check_earliest_contact(first).passed
    assert not descent.check_earliest_contact(3).passed


def test_a_loss_with_weights_never_grows_up_to_its_edge_and_does_beyond():
    K, w = torch.tensor([[3.0, 1.0], [1.0, 2.0]]).double(), torch.tensor([0.2, 0.9]).double()
    loss = lambda r: float(w @ r**2)
    starts = [torch.tensor([math.cos(t), math.sin(t)]).double() for t in torch.arange(0, 3.15, 0.01)]
    grows = lambda eta: max(loss(r - 2 * eta * K @ (w * r)) / loss(r) for r in starts)
    edge = descent._edge(K, w)
    assert grows(0.999 * edge) <= 1 < grows(1.01 * edge)
    assert descent._edge(K, torch.full((2,), 0.5).double()) == pytest.approx(
        2 / float(torch.linalg.eigvalsh(K)[-1])
    )


def test_the_kernel_after_a_step_by_autograd_passes():
    def kernel_after(kernel, f, eta):
        # u ± v from u² + v² and uv
        plus, minus = (kernel + 2 * f) ** 0.5, (kernel - 2 * f) ** 0.5
        w = torch.tensor([(plus + minus) / 2, (plus - minus) / 2], dtype=torch.float64, requires_grad=True)
        (w.prod() ** 2).backward()
        return (w - eta * w.grad).detach().square().sum()

    assert descent.check_kernel_after(kernel_after).passed


def test_no_drawn_spectrum_of_trace_one_sees_less():
    draw = torch.Generator().manual_seed(0)
    U = torch.randn(20_000, 3, generator=draw, dtype=torch.float64)
    mu = torch.rand(50, 3, generator=draw, dtype=torch.float64)
    mu = torch.cat([mu / mu.sum(1, keepdim=True), torch.full((1, 3), 1 / 3, dtype=torch.float64)])
    means = (mu[:, None] * U).norm(dim=-1).mean(1)
    assert means.argmin() == 50
    assert abs(float(means[50]) - float(U.norm(dim=1).mean()) / 3) < 1e-12
    assert envelopes.check_least_seen(2 * (2 / torch.pi) ** 0.5 / 3).passed


def of_tokens(X, q, U, W):
    return torch.tanh(torch.softmax(X @ W @ q, 0) @ X @ U)


def test_the_gradient_in_the_tokens_and_in_the_query_is_that_of_autograd():
    for _, (X, q, U, W) in gradients._cases(2):
        of_X, of_q = torch.autograd.functional.jacobian(lambda X, q, U=U, W=W: of_tokens(X, q, U, W), (X, q))
        assert torch.allclose(gradients._token_gradient(X, q, U, W), of_X, atol=1e-12)
        assert torch.allclose(gradients._query_gradient(X, q, U, W), of_q, atol=1e-12)


@pytest.mark.parametrize(("check", "argument"), [(gradients.check_token_gradient, 0), (gradients.check_query_gradient, 1)])  # fmt: skip
def test_what_is_right_by_autograd_is_refused(check, argument):
    told = check(lambda *case: torch.func.grad(of_tokens, argument)(*case))
    assert "write the derivative out" in told.message
    told = check(lambda *case: torch.autograd.functional.jacobian(of_tokens, case)[argument])
    assert "write the derivative out" in told.message


def test_a_tangent_by_autograd_is_refused():
    def by_jvp(x, phi0, delta):
        def f(c, U, W):
            a = torch.softmax((W @ x[-1]) @ x.T, -1) @ x
            return (c * torch.tanh((a * U).sum(-1))).sum() / len(c) ** 0.5

        value, slope = torch.func.jvp(f, phi0, delta)
        return value + slope

    assert "write the derivative out" in linear_model.check_tangent(by_jvp).message


def test_what_is_left_after_very_many_steps_passes():
    def unfitted(G, y):
        step = torch.eye(len(y), dtype=y.dtype) - G / G.trace()  # 2ηλ at most 1
        return float((torch.linalg.matrix_power(step, 10**6) @ y).square().mean().sqrt())

    assert linear_run.check_unfitted(unfitted).passed


def test_the_least_departure_found_on_a_grid_passes():
    def departure(before, now, after):
        E = torch.linspace(0, 1, 1_000_001, dtype=torch.float64)
        possible = (now - E).clamp(min=0) ** 2 <= (before + E) * (after + E) + 1e-15
        return float(E[possible][0])

    told = linear_run.check_departure(departure)
    assert told.state == "wrong"  # a grid is no formula, but off by its step at most
    for case in ((1.0, 1.0, 0.5), (1.0, 0.5, 0.4), (0.8, 0.9, 0.3)):
        assert abs(departure(*case) - linear_run.departure(*case)) < 2e-6


def test_roots_of_a_linear_run_s_losses_prove_no_departure():
    draw = torch.Generator().manual_seed(2)
    for _ in range(50):
        sizes, y = (torch.randn(6, generator=draw, dtype=torch.float64) for _ in range(2))
        roots = [float(((1 - 2 * sizes.abs()) ** s * y).norm()) for s in range(6)]
        for three in zip(roots, roots[1:], roots[2:], strict=False):
            assert linear_run.departure(*three) < 1e-12 * three[1]


def test_a_projection_by_pinv_passes_and_a_zero_kernel_learns_nothing():
    def unfitted(G, y):
        return (y - torch.linalg.pinv(G, hermitian=True) @ G @ y).square().mean().sqrt()

    assert linear_run.check_unfitted(unfitted).passed
    zero, ones = torch.zeros(4, 4, dtype=torch.float64), torch.ones(4, dtype=torch.float64)
    assert linear_run.unfitted(zero, ones) == 1


def test_a_bound_by_the_arithmetic_mean_is_told_that_it_is_not_the_best():
    told = linear_run.check_departure(lambda a, b, c: max(0.0, (2 * b - a - c) / 4)).told
    assert "not the best" in told
    for case in ((1.0, 1.0, 0.5), (0.8, 0.9, 0.3)):
        a, b, c = case
        assert (2 * b - a - c) / 4 < linear_run.departure(*case)


def test_a_pair_may_be_a_list():
    assert model.check_merge(lambda Q, K, V, u, beta: [V.T @ u, beta * K.T @ Q]).passed


@pytest.mark.parametrize(
    ("pair", "reason"),
    [
        (lambda Q, K, V, u, beta: V.T @ u, "must return the pair"),
        (lambda Q, K, V, u, beta: (K.T @ Q, V.T @ u), "must have shape"),
    ],
)
def test_what_is_no_head_is_refused(pair, reason):
    assert reason in model.check_merge(pair).told


def test_a_sequence_of_another_length_is_refused():
    assert "expected shape (6, 3), got (3, 3)" in model.check_pad(lambda X, k: X).told


def test_classes_counted_by_what_heads_say_pass():
    """Outputs of a few random heads on all words of three random tokens, rounded."""
    draw = torch.Generator().manual_seed(0)
    tokens = torch.randn(3, 2, generator=draw, dtype=torch.float64)
    X = tokens[torch.cartesian_prod(*[torch.arange(3)] * 6)]
    W = torch.randn(8, 2, 2, generator=draw, dtype=torch.float64)
    logits = torch.einsum("ntd,hde,ne->nht", X, W, X[:, -1])
    a = torch.softmax(logits, -1) @ X
    classes = len({tuple(row) for row in (a.flatten(1) * 1e7).round().long().tolist()})
    assert model.check_told_apart(classes).passed


def test_a_second_derivative_by_autograd_passes():
    def bend(x, w):
        def last(w):
            h = torch.zeros((), dtype=torch.float64)
            for value in x:
                h = torch.tanh(w * h + value)
            return h

        return torch.autograd.functional.hessian(last, torch.tensor(w, dtype=torch.float64))

    assert recurrence.check_bend(bend).passed


def test_a_p_that_is_overwritten_before_q_is_told_so():
    def bend(x, w):
        h = p = q = 0.0
        for value in x:
            new = math.tanh(w * h + value)
            slope = 1 - new**2
            p = slope * (h + w * p)
            q = -2 * new * slope * (h + w * p) ** 2 + slope * (2 * p + w * q)
            h = new
        return q

    assert "before it is overwritten" in recurrence.check_bend(bend).told


def test_the_bound_at_the_best_step_of_a_grid_passes():
    def bound(V0, A2, H, kappa, steps):
        longest = kappa / (H * A2)
        etas = [longest * k / 2000 for k in range(1, 2000)]
        return min(V0 / (2 * eta * (kappa - eta * H * A2) * steps) for eta in etas)

    assert self_bounding.check_other_loss(bound).passed


def test_one_input_of_a_linear_model_stays_below_the_bound_for_log_cosh():
    x, eta, label, total = 0.0, 0.5, 3.0, 0.0
    for _ in range(40):
        total += math.log(math.cosh(x - label))
        x -= eta * math.tanh(x - label)
    assert total / 40 < self_bounding.other_loss(label**2, 1.0, 1.0, 1.0, 40)


def test_forming_the_third_cumulant_is_noticed():
    def answer(X, alpha, U, w):
        Y = X - alpha @ X
        return (Y.T * (alpha * (Y @ U))) @ Y @ w

    assert "d²" in smoothness.check_skewness_product(answer).told


def test_the_constant_of_a_ball_by_a_search_over_splits_passes():
    def constant(L1, L2):
        split = torch.linspace(0, torch.pi / 2, 200_001, dtype=torch.float64)
        return (L2 / 2 * split.cos() ** 2 + L1 * split.sin() * split.cos()).max()

    assert smoothness.check_ball_constant(constant).passed


def test_forming_the_matrix_is_noticed():
    def answer(X, alpha, U):
        Y = X - alpha @ X
        return (Y.T * alpha) @ Y @ U

    assert "d²" in softmax_calculus.check_covariance_product(answer).told


def test_a_norm_by_a_solver_is_refused():
    def by_solver(z):
        p = torch.softmax(z, 0)
        return torch.linalg.eigvalsh(torch.diag(p) - torch.outer(p, p))[-1]

    assert "find the formula" in softmax_calculus.check_spectral_norm(by_solver).message


def test_a_search_over_weights_of_at_most_a_fifth_finds_nothing_below_the_least_norm():
    draw = torch.Generator().manual_seed(0)
    least = 1.0
    for T in range(5, 11):
        alpha = torch.rand(4000, T, generator=draw, dtype=torch.float64) ** 0.3
        alpha = torch.cat(
            [alpha / alpha.sum(-1, keepdim=True), torch.full((1, T), 1 / T, dtype=torch.float64)]
        )
        alpha = alpha[alpha.amax(-1) <= 0.2 + 1e-9]
        least = min(least, float(softmax.inf_to_one_norm(alpha.log()).min()))
    assert softmax_calculus.check_least_norm(least).passed


def test_noise_over_all_batches_of_different_samples_passes():
    def noise(gram, r, b):
        g = 2 * r[:, None] * torch.linalg.cholesky(gram)  # any vectors with this Gram matrix
        batches = torch.tensor(list(itertools.combinations(range(len(r)), b)))
        return (g[batches].mean(1) - g.mean(0)).square().sum(1).mean()

    assert stochastic.check_noise(noise).passed


def test_the_floor_of_the_exact_law_of_the_state_passes():
    """All 2¹² sequences of labels, from 0; after k steps 1 − (1 − 2η)²ᵏ of the floor is reached."""

    def floor(eta):
        draws = torch.cartesian_prod(*[torch.tensor([-1.0, 1.0], dtype=torch.float64)] * 12)
        x = torch.zeros(len(draws), dtype=torch.float64)
        for label in draws.T:
            x = x - 2 * eta * (x - label)
        return x.square().mean() / (1 - (1 - 2 * eta) ** 24)

    assert stochastic.check_floor(floor).passed


def test_a_kernel_by_matrices_is_refused():
    def by_matrices(X, Z, q, p, U, W):
        def blocks(X, q):
            alpha = torch.softmax(X @ W @ q, 0)
            a = alpha @ X
            M = (X - a).T @ (alpha[:, None] * (X - a))
            h = torch.tanh(U @ a)
            return h, (1 - h**2) * a, (1 - h**2) * torch.outer(M @ U, q)

        return sum((one * other).sum() for one, other in zip(blocks(X, q), blocks(Z, p), strict=True))

    assert "tensor of d² entries" in tangent_kernel.check_head_kernel(by_matrices).message


def test_the_nearest_step_is_that_of_a_search():
    """V after a step of a linear model, φ̃ at distance z, tried on a grid: f_lin(φ̃) misses the labels by e."""
    generator = torch.Generator().manual_seed(3)
    J, z = (torch.randn(*shape, generator=generator, dtype=torch.float64) for shape in ((4, 3), (3,)))
    for scale in (0.1, 1.0, 30.0):
        e = scale * torch.randn(4, generator=generator, dtype=torch.float64)
        r = e - J @ z  # residuals at φ, where φ̃ = φ + z
        slope = 2 / 4 * J.T @ r
        after = [float((z + eta * slope).square().sum()) for eta in torch.arange(0, 2, 1e-4).double()]
        best = after.index(min(after)) * 1e-4
        assert abs(theorem_1._nearest_step(r, e, float(slope.square().sum())) - best) < 1e-4


CONTACT, IDLE = descent.check_earliest_contact, transportation.check_idle
READOUT = transportation.check_readout_for


@pytest.mark.parametrize(
    ("check", "answer", "word"),
    [
        (CONTACT, lambda losses, eta, rho_c: 0, "got 0"),
        (CONTACT, lambda losses, eta, rho_c: None, "long enough"),
        (CONTACT, lambda losses, eta, rho_c: "soon", "number of steps"),
        (CONTACT, lambda losses, eta, rho_c: 1 / 0, "ZeroDivisionError"),
        (CONTACT, lambda losses, eta, rho_c: 2, "count steps"),
        (CONTACT, lambda losses, eta, rho_c: first(losses, eta / 2, rho_c), "a factor 2"),
        (CONTACT, lambda losses, eta, rho_c: first(losses, eta, rho_c) or len(losses), "the answer is None"),
        (CONTACT, lambda losses, eta, rho_c: 3 if len(losses) > 3 else 7, "expected 3"),
        (IDLE, lambda c, U, W: c[:, None] * U / U.norm(dim=1, keepdim=True), "looks at c"),
        (IDLE, lambda c, U, W: U, "norm 1"),
        (IDLE, lambda c, U, W: torch.nn.functional.normalize(W[:, 0], dim=1), "not zero"),
        (IDLE, lambda c, U, W: U[:, 0], "shape"),
        (IDLE, lambda c, U, W: U.nothing, "AttributeError"),
        (IDLE, 3.0, "give the function"),
        (READOUT, lambda U: -U[:, 0], "minus the function"),
        (READOUT, lambda U: torch.ones(len(U), dtype=U.dtype), "by parts"),
        (READOUT, lambda U: U, "shape"),
        (READOUT, lambda U: U.nothing, "AttributeError"),
        (READOUT, 1.0, "give the function"),
    ],
)
def test_what_has_more_than_one_right_answer_tells_why_one_is_wrong(check, answer, word):
    feedback = check(answer)
    assert feedback.state == "wrong"
    assert word in feedback.told


def test_the_readout_that_does_what_moving_does_passes():
    assert transportation.check_readout_for(lambda U: None).state == "not yet"
    assert transportation.check_readout_for(lambda U: U[:, 0]).passed


@pytest.mark.parametrize("options", [{"R": 0}, {"R": 1, "draws": 0}])
def test_a_label_size_needs_anchors_and_draws(options):
    with pytest.raises(ValueError, match="must be a whole number of at least 1"):
        transportation.label_size(**options)


def test_an_idle_mapping_may_be_any_odd_one():
    assert transportation.check_idle(lambda c, U, W: None).state == "not yet"
    assert transportation.check_idle(lambda c, U, W: torch.nn.functional.one_hot(torch.zeros(len(U), dtype=int), U.shape[1]) * U[:, :1].sign()).passed  # fmt: skip


def test_from_readouts_of_any_size_the_linear_model_is_the_mean_of_features_on_instructions():
    generator = torch.Generator().manual_seed(0)
    start, v = parameters.symmetric(6, 3, generator), parameters.random(6, 3, generator)
    size = torch.tensor([2.0, 0.3, 1.0], dtype=torch.float64).repeat(2)
    start = parameters.Parameters(size * start.c, start.U, start.W)
    there = parameters.Parameters(*transportation._transport(*start.blocks, *v.blocks))
    X = data.clipped_gaussian(5, 4, 3, generator)
    phi = model_gradients.features(X, start)
    mean = (phi.c * v.c + (phi.u * v.U).sum(-1) + (phi.w * v.W).sum((-2, -1))).mean(1)
    assert torch.allclose(model_linear.f_lin(X, there, start), mean, rtol=1e-12)

"""The ball's constants against derivatives at points of it, and where they are equalities; the certified step; the theorem along runs."""

import math

import pytest
import torch
from torch.autograd.functional import hessian

from checks import refused
from shallowformer.residual import (
    admissible,
    curvature,
    datasets,
    descent,
    local_bounds,
    local_theorem,
    model,
    spectra,
    starts,
)
from shallowformer.residual.parameters import BLOCKS, Parameters, Setting
from shallowformer.residual.smoothed import RELU, SmoothedReLU
from shallowformer.training import points

LAYERS = {"first_Z": "Z", "first_A": "A", "first_H": "H", "first_F": "F"}


def unit(one):
    drawn = tuple(torch.randn(W.shape, generator=one.generator, dtype=W.dtype) for W in one.theta)
    # Block norms as different as they come.
    weights = torch.randn(6, generator=one.generator).exp() ** 2
    drawn = tuple(w * W / W.norm() for w, W in zip(weights, drawn, strict=True))
    return Parameters(*(W / points.norm(drawn) for W in drawn))


def along(one, theta, step, name):
    """First and second derivative of a layer along a step, by forward differentiation twice."""
    layer = lambda t: getattr(
        model.unchecked(one.X, Parameters(*points.plus(theta, step, t)), one.setting), name
    )
    first = lambda t: torch.func.jvp(layer, (t,), (torch.ones_like(t),))[1]
    zero = torch.zeros((), dtype=torch.float64)
    return first(zero), torch.func.jvp(first, (zero,), (torch.ones_like(zero),))[1]


@pytest.mark.parametrize("radius", [0.0, 0.3])
@pytest.mark.parametrize("g", [0.0, 1.0])
@pytest.mark.usefixtures("long")
def test_derivatives_on_the_ball_stay_below_the_forms(case, g, radius):
    for seed in range(4):
        scales = {"W_Q": 2.0, "W_1": 1.5} if seed % 2 else {"W_2": 0.0, "W_V": 0.5}
        one = case(seed=seed, g=g, g_f=0.5, tau=0.5, scales=scales)
        bounds = local_bounds.local(*one.model, radius)
        for _ in range(2):
            theta = Parameters(*points.plus(one.theta, unit(one), radius))
            step = unit(one)
            n = torch.stack([W.norm() for W in step]).numpy()
            for form, name in LAYERS.items():
                first, second = along(one, theta, step, name)
                assert float(first.norm()) <= getattr(bounds, form) @ n * (1 + 1e-12), name
            assert float(second.norm()) <= n @ bounds.second_F @ n * (1 + 1e-12)


#: One token, one number a block, linear part of the activation: F = ((g_f + W_1W_2)(g + W_V)x)W_U. Every form is attained along one direction or another.
NUMBERS = (1e-9, 1e-9, 2.0, 3.0, 5.0, 0.7)


def scalar_network():
    X = torch.full((1, 1, 1), 1.3, dtype=torch.float64)
    theta = Parameters(*(torch.full((1, 1), value, dtype=torch.float64) for value in NUMBERS))
    return X, theta, Setting(0.0, 0.0, SmoothedReLU(1e-3))


def test_the_forms_of_a_product_of_numbers_are_its_derivatives():
    X, theta, setting = scalar_network()
    bounds = local_bounds.local(X, theta, setting, 0.0)
    v, one, two, u = NUMBERS[2:]
    x = 1.3
    assert bounds.first_Z[2:] == pytest.approx([x, 0, 0, 0])
    assert bounds.first_A[2:] == pytest.approx([x * one, x * v, 0, 0], rel=1e-3)
    assert bounds.first_F[2:] == pytest.approx([x * one * two * u, x * v * two * u, x * v * one * u, x * v * one * two], rel=1e-3)  # fmt: skip
    # Second derivatives, the activation's β apart, which a product has not.
    flat = bend_without_beta(X, theta, setting)
    F = lambda z: x * z[0] * z[1] * z[2] * z[3]
    expected = hessian(F, torch.tensor(NUMBERS[2:], dtype=torch.float64))
    assert torch.allclose(torch.from_numpy(flat[2:, 2:].copy()), expected, rtol=1e-3)


def bend_without_beta(X, theta, setting):
    """M less the part of φ″, which is β w_2 w_U ℓ_A ℓ_Aᵀ."""
    bounds = local_bounds.local(X, theta, setting, 0.0)
    w_2, w_U = NUMBERS[4:]
    A = torch.from_numpy(bounds.first_A)
    return bounds.second_F - setting.activation.beta * w_2 * w_U * torch.outer(A, A).numpy()


def test_the_part_of_the_activations_curvature():
    """At Z = 0, where φ″ = β: D²A = β(xW_1)² along W_V, and F has that times W_2W_U."""
    X, theta, setting = scalar_network()
    theta = theta._replace(W_V=torch.zeros(1, 1).double())
    bounds = local_bounds.local(X, theta, setting, 0.0)
    F = lambda v: model.unchecked(X, theta._replace(W_V=v.reshape(1, 1)), setting).F.sum()
    found = float(hessian(F, torch.zeros((), dtype=torch.float64)))
    assert bounds.second_F[2, 2] == pytest.approx(found, rel=1e-6)


def test_attention_moves_by_a_half_at_two_opposite_tokens():
    """Tokens ±x with equal weights: ‖DZ‖ along W_Q is ½ ‖X‖² ‖W_K‖ ‖XW_V‖, so the form of Z is attained."""
    X = torch.tensor([[[1.5], [-1.5]]], dtype=torch.float64)
    theta = Parameters(
        *(torch.tensor([[value]], dtype=torch.float64) for value in (0.0, 0.8, 1.2, 1.0, 1.0, 1.0))
    )
    bounds = local_bounds.local(X, theta, Setting(0.0, 1.0, SmoothedReLU(0.3)), 0.0)
    Z = lambda q: model.unchecked(X, theta._replace(W_Q=q.reshape(1, 1)), Setting(0.0)).Z
    slope = torch.autograd.functional.jacobian(Z, torch.zeros((), dtype=torch.float64))
    assert bounds.first_Z[0] == pytest.approx(float(slope.norm()))


def mixed(X, theta, setting, first, second):
    """‖∂²F/∂a∂b‖ over all outputs, a and b two blocks of one number."""
    shift = lambda name, a: {name: getattr(theta, name) + a}
    move = lambda a, b: shift(first, a + b) if first == second else shift(first, a) | shift(second, b)
    F = lambda a, b: model.unchecked(X, theta._replace(**move(a, b)), setting).F
    zero = torch.zeros((), dtype=torch.float64)
    of_b = lambda a: torch.autograd.functional.jacobian(lambda b: F(a, b), zero, create_graph=True)
    return float(torch.autograd.functional.jacobian(of_b, zero).norm())


def test_attentions_part_of_the_second_form_is_attained_too():
    """The same tokens, F = g_f Z W_U: along W_Q and W_V the weights' ½, along W_Q and W_K with both at 0 the logits' mixed derivative."""
    X = torch.tensor([[[1.5], [-1.5]]], dtype=torch.float64)
    values = dict(zip(BLOCKS, (0.0, 0.8, 1.2, 1.0, 0.0, 0.9), strict=True))
    setting = Setting(0.0, 0.6, SmoothedReLU(0.3), temperature=0.7)
    at = lambda **new: Parameters(*(torch.tensor([[value]]).double() for value in (values | new).values()))
    bounds = local_bounds.local(X, at(), setting, 0.0)
    assert bounds.second_F[0, 2] == pytest.approx(mixed(X, at(), setting, "W_Q", "W_V"))
    bounds = local_bounds.local(X, at(W_K=0.0), setting, 0.0)
    assert bounds.second_F[0, 1] == pytest.approx(mixed(X, at(W_K=0.0), setting, "W_Q", "W_K"))
    # And the pooled tokens, with one that everybody attends to.
    one = torch.tensor([[[1.5], [1.5]]], dtype=torch.float64)
    bounds = local_bounds.local(one, at(), setting, 0.0)
    assert bounds.second_F[2, 5] == pytest.approx(mixed(one, at(), setting, "W_V", "W_U"))
    assert bounds.first_F[2] == pytest.approx(0.6 * 0.9 * 1.5 * math.sqrt(2))


def test_the_softmaxs_part_of_the_second_form():
    """Along W_Q at the same tokens a logistic function bends, by at most 1/(6√3): the share 1/(3√3) of the bound."""
    X, k, v, T = torch.tensor([[[1.5], [-1.5]]], dtype=torch.float64), 0.8, 1.2, 0.7
    steepest = math.log(2 + math.sqrt(3)) / (2 * k * 1.5**2 / T)
    theta = Parameters(*(torch.tensor([[value]]).double() for value in (steepest, k, v, 1.0, 0.0, 0.9)))
    setting = Setting(0.0, 0.6, SmoothedReLU(0.3), temperature=T)
    bounds = local_bounds.local(X, theta, setting, 0.0)
    assert bounds.second_F[0, 0] / (3 * math.sqrt(3)) == pytest.approx(mixed(X, theta, setting, "W_Q", "W_Q"))


def test_the_certified_bound_written_out(case):
    """With the Jacobian's norm from all of the Jacobian."""
    one, r = case(2, 2, 3, 2, 5, 2), 0.05
    F = lambda vector: model.unchecked(one.X, curvature.folded(vector, one.theta), one.setting).F.flatten()
    J = float(torch.linalg.matrix_norm(torch.autograd.functional.jacobian(F, curvature.flat(one.theta)), 2))
    H = local_bounds.local(*one.model, r).bend
    e = float((model.outputs(*one.model) - one.Y).norm())
    expected = (J + r * H) ** 2 + (e + r * J + r * r * H / 2) * H
    assert local_bounds.smoothness(*one.all, r) == pytest.approx(expected)


def test_how_the_forms_grow_with_the_radius():
    """Every norm of a block grows by r, and layers by r times how fast they move."""
    X, theta, setting = scalar_network()
    x, r = 1.3, 0.1
    bounds = local_bounds.local(X, theta, setting, r)
    w = [abs(value) + r for value in NUMBERS]
    m = x**3 * w[2] / 2
    Z = [m * w[1], m * w[0], x + r * x**3 * math.hypot(w[0], w[1]) / 2, 0, 0, 0]
    assert bounds.first_Z == pytest.approx(Z)
    z = x * NUMBERS[2] + r * math.hypot(*Z)
    A = [w[3] * each for each in Z[:3]] + [z, 0, 0]
    assert bounds.first_A == pytest.approx(A)
    a = x * NUMBERS[2] * NUMBERS[3] + r * math.hypot(*A)
    H = [w[4] * each for each in A[:4]] + [a, 0]
    assert bounds.first_H == pytest.approx(H, rel=1e-3)
    h = x * NUMBERS[2] * NUMBERS[3] * NUMBERS[4] + r * math.hypot(*H)
    assert bounds.first_F == pytest.approx([w[5] * each for each in H[:5]] + [h], rel=1e-3)


def test_the_softmax_bends_by_less_than_its_bound():
    """Second derivatives along many directions, exact and as differences: the bound 1 is not exceeded, and not larger than needed by a factor of 4."""
    source, worst = torch.Generator().manual_seed(0), 0.0
    for N in (2, 3, 5):
        z = 2 * torch.randn(4000, N, generator=source, dtype=torch.float64)
        u = torch.nn.functional.normalize(torch.randn(4000, N, generator=source, dtype=torch.float64), dim=-1)
        s = torch.softmax(z, -1)
        y = u - (s * u).sum(-1, keepdim=True)
        v = (s * y**2).sum(-1, keepdim=True)
        bend = s * (y**2 - v)
        along = lambda t, z=z, u=u: torch.softmax(z + t * u, -1)
        h = 1e-3
        numeric = (along(h) - 2 * along(0.0) + along(-h)) / h**2
        assert torch.allclose(numeric, bend, atol=1e-6)
        worst = max(worst, float(bend.norm(dim=-1).max()))
    assert 0.25 < worst <= local_bounds.SOFTMAX_CURVATURE


def instance(seed):
    """The sizes of the note's experiment E-A."""
    source = torch.Generator().manual_seed(seed)
    X = datasets.gaussian(2, 3, 6, source)
    return X, starts.gaussian(6, 4, 40, 2, source), Setting(activation=SmoothedReLU(0.3)), source


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.usefixtures("long")
def test_a_certified_step(seed):
    """Above every sampled Hessian norm, and by less than a factor of 2 on the ball of Theorem A+."""
    X, theta, setting, source = instance(seed)
    known = admissible.constants(X, theta, setting)
    Y = admissible.targets(X, theta, setting, known.loss_plus, source)
    L = local_bounds.smoothness(X, Y, theta, setting, known.radius_plus)
    sampled = curvature.largest_on_ball(X, Y, theta, setting, known.radius_plus, source)
    assert sampled <= L <= 2 * sampled
    at_centre = local_bounds.smoothness(X, Y, theta, setting, 0.0)
    assert curvature.largest(X, Y, theta, setting) <= at_centre <= 1.01 * sampled
    assert local_bounds.local(X, theta, setting, known.radius_plus).lipschitz_A <= known.ell_A


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("factors", [{}, {"W_2": 0.0}, {"W_Q": 0.0, "W_K": 0.0}])
@pytest.mark.usefixtures("long")
def test_the_theorem_along_runs(seed, factors):
    X, theta, setting, source = instance(seed)
    theta = starts.scaled(theta, **factors)
    ball = local_theorem.best(X, theta, setting)
    Y = admissible.targets(X, theta, setting, 0.999 * ball.loss, source)
    mu = 1 / local_bounds.smoothness(X, Y, theta, setting, ball.r)
    run = descent.run(X, Y, theta, setting, mu=mu, steps=300, every=5)
    Phi = float(run.loss[0])
    assert bool((run.loss <= (1 - mu * ball.alpha) ** run.steps.double() * Phi).all())
    assert float(run.path[-1]) <= ball.radius(Phi) <= ball.r
    start = spectra.spectrum(X, theta, setting)
    assert bool((run.sigma_A >= float(start.sigma_A) - ball.lipschitz_A * ball.r).all())
    assert bool((run.sigma_U >= float(start.sigma_U) - ball.r).all())
    assert float(run.displacement.max()) > 0.005 * ball.r
    if not factors:
        assert ball.loss > 50 * admissible.constants(X, theta, setting).loss_plus


def test_the_search_over_radii(case):
    one = case(d_1=40)
    found = local_theorem.best(*one.model)
    for share in (0.5, 0.9, 1.1, 1.5):
        assert local_theorem.guarantee(*one.model, share * found.r).loss <= found.loss * (1 + 1e-5)
    sigma = spectra.spectrum(*one.model)
    ell = local_bounds.local(*one.model, found.r).lipschitz_A
    alpha = (float(sigma.sigma_A) - ell * found.r) ** 2 * (float(sigma.sigma_U) - found.r) ** 2
    assert found.alpha == pytest.approx(alpha)
    assert found.loss == pytest.approx(alpha * found.r**2 / 8)
    assert found.radius(0.02) == pytest.approx(2 * math.sqrt(0.04 / alpha))


def test_a_ball_that_is_too_large_admits_nothing(case):
    ball = local_theorem.guarantee(*case().model, 10.0)
    assert (ball.alpha, ball.loss) == (0.0, 0.0)
    with refused("alpha", "0", "above 0"):
        ball.radius(1.0)


def test_what_is_refused(case):
    one = case()
    with refused("radius", "-1", "at least 0"):
        local_bounds.local(*one.model, -1.0)
    with refused("radius", "0", "above 0"):
        local_theorem.guarantee(*one.model, 0.0)
    with refused("activation", "ReLU", "Lipschitz derivative"):
        local_bounds.local(one.X, one.theta, Setting(activation=RELU), 0.1)
    with refused("P·N", "6", "d_1"):
        local_theorem.best(*case(d_1=5).model)
    with refused("K", "6", "d = 5"):
        local_theorem.guarantee(*case(K=6).model, 0.1)
    with refused("theta", "radius of", "full rank"):
        local_theorem.best(one.X, starts.scaled(one.theta, W_U=0.0), one.setting)
    with refused("theta", "radius of", "full rank"):
        local_theorem.best(one.X[:1].repeat(2, 1, 1), one.theta, one.setting)

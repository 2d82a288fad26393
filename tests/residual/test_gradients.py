"""The six gradients: closed form, autograd, loops over tokens, and a complex step through loops; block gradient bounds."""

import math

import pytest
import torch

import reference
import reference_residual as naive
from checks import refused
from shallowformer.residual import bounds, gradients, model, starts
from shallowformer.residual.parameters import BLOCKS, Parameters, PerBlock, Setting
from shallowformer.residual.smoothed import RELU, SmoothedReLU

COEFFICIENTS = [(1.0, 1.0), (0.0, 1.0), (0.0, 0.0), (1.5, 0.5), (0.3, 0.0)]


def error(found, expected):
    """Largest error over blocks, relative to the largest entry of the block."""
    return max(
        float((a - b).abs().max()) / max(float(b.abs().max()), 1e-300)
        for a, b in zip(found, expected, strict=True)
    )


@pytest.mark.parametrize("tau", [0.0, 0.3])
@pytest.mark.parametrize(("g", "g_f"), COEFFICIENTS)
@pytest.mark.parametrize("seed", range(3))
def test_autograd(case, seed, g, g_f, tau):
    one = case(seed=seed, g=g, g_f=g_f, tau=tau)
    blocks = tuple(W.clone().requires_grad_() for W in one.theta)
    model.loss(one.X, one.Y, Parameters(*blocks), one.setting).backward()
    assert error(gradients.gradients(*one.all), [W.grad for W in blocks]) < 1e-13


@pytest.mark.parametrize("tau", [0.0, 0.3])
@pytest.mark.parametrize(("g", "g_f"), COEFFICIENTS[:4])
@pytest.mark.parametrize("sizes", [(2, 3, 3, 2, 4, 2), (1, 1, 1, 1, 1, 1), (2, 1, 2, 3, 3, 2)])
def test_loops_over_tokens_and_a_complex_step(case, sizes, g, g_f, tau):
    one = case(*sizes, g=g, g_f=g_f, tau=tau)
    found, T = gradients.gradients(*one.all), math.sqrt(sizes[3])
    X, Y, theta = one.X.tolist(), one.Y.tolist(), [W.tolist() for W in one.theta]
    by_loops = [torch.tensor(W, dtype=torch.float64) for W in naive.gradients(X, Y, theta, g, g_f, tau, T)]
    if sizes[1] == 1:  # one token: attention cannot move, and both ways must say 0
        assert not any(bool(W.any()) for W in (*found[:2], *by_loops[:2]))
        found, by_loops = found[2:], by_loops[2:]
    assert error(found, by_loops) < 1e-12
    entries = [entry for W in theta for row in W for entry in row]
    at = lambda values: naive.loss(X, Y, naive.unpack(values, theta), g, g_f, tau, T)
    flat = torch.tensor(reference.complex_step(at, entries), dtype=torch.float64)
    found = torch.cat([W.flatten() for W in gradients.gradients(*one.all)])
    assert float((found - flat).abs().max()) <= 1e-12 * float(flat.abs().max())


def test_what_the_backward_pass_holds(case):
    """Each intermediate is the derivative by what it says, by autograd through the rest of the network."""
    one = case(g=0.7, g_f=0.4)
    back = gradients.backward(*one.all)
    now, W, phi = back.forward, one.theta, one.setting.activation
    end = lambda H: ((H @ W.W_U - one.Y) ** 2).sum() / 2
    from_pre = lambda pre, Z: end(0.4 * Z + phi(pre) @ W.W_2)
    from_Z = lambda Z: from_pre(Z @ W.W_1, Z)
    from_S = lambda S: from_Z(0.7 * one.X + S @ (one.X @ W.W_V))
    from_L = lambda L: from_S(torch.softmax(L, -1))
    L = one.X @ W.W_Q @ W.W_K.T @ one.X.mT / 2
    slope = lambda function, at: torch.func.grad(function)(at)
    assert torch.allclose(back.G, slope(end, now.H))
    assert torch.allclose(back.D, slope(lambda pre: from_pre(pre, now.Z), now.pre))
    assert torch.allclose(back.B, slope(from_Z, now.Z))
    assert torch.allclose(back.M, slope(from_S, now.S))
    assert torch.allclose(back.T, slope(from_L, L))
    assert torch.allclose(back.E, now.F - one.Y)
    assert float(back.loss) == pytest.approx(float(model.loss(*one.all)))


def test_networks_side_by_side(case):
    several = [case(seed=seed, g=g) for seed, g in enumerate((0.0, 0.5, 1.0))]
    setting = Setting(torch.tensor([0.0, 0.5, 1.0]).double(), 1.0, SmoothedReLU(0.3))
    X, Y = (torch.stack([getattr(one, name) for one in several]) for name in "XY")
    theta = starts.side_by_side([one.theta for one in several])
    together = gradients.gradients(X, Y, theta, setting)
    for i, one in enumerate(several):
        assert error([W[i] for W in together], gradients.gradients(*one.all)) < 1e-13


def test_targets_of_another_shape_are_refused(case):
    one = case()
    refused("Y", "(2, 2, 2)", "(2, 3, 2)", gradients.backward, one.X, one.Y[:, 1:], one.theta, one.setting)


# Block gradient bounds ------------------------------------------------------------------------------------------------


def ratios(one):
    found = gradients.gradients(*one.all)
    return [float(W.norm()) / most for W, most in zip(found, bounds.block_gradients(*one.all), strict=True)]


def test_no_block_gradient_exceeds_its_bound(case):
    worst = [0.0] * 6
    for seed in range(60):
        spread = torch.Generator().manual_seed(seed)
        sizes = 10 ** (2 * torch.rand(6, generator=spread) - 1)
        one = case(seed=seed, g=seed % 3 / 2, scales=dict(zip(BLOCKS, sizes.tolist(), strict=True)))
        worst = [max(pair) for pair in zip(worst, ratios(one), strict=True)]
    assert max(worst) <= 1
    assert worst[5] > 0.9  # the bound of W_U is nearly met


def test_four_bounds_are_attained_by_one_number_a_matrix(case):
    """All sizes 1, linear region of the activation: products of numbers, and four of the six bounds hold with equality."""
    one = case(1, 1, 1, 1, 1, 1, tau=0.0, g=0.0, g_f=0.0)
    X = one.X.abs()
    theta = Parameters(*(W.abs() for W in one.theta))
    found = ratios(type(one)(X, one.Y, theta, one.setting, one.generator))
    assert found[2:] == pytest.approx([1, 1, 1, 1])


def test_the_bound_of_the_query_matrix_by_another_route(case):
    """Norms one matrix at a time, and d_k = 4."""
    one = case()
    most = bounds.block_gradients(*one.all)
    assert isinstance(most, PerBlock)
    W = [float(torch.linalg.matrix_norm(block, 2)) for block in one.theta]
    n_B = W[5] * (1 + W[3] * W[4])
    e = math.sqrt(2 * float(model.loss(*one.all)))
    total = sum(
        float(torch.linalg.matrix_norm(x, 2)) ** 4
        * float(torch.linalg.matrix_norm(x @ one.theta.W_V, 2)) ** 2
        for x in one.X
    )
    assert pytest.approx(math.sqrt(total) * W[1] * n_B * e / (2 * 2)) == most.W_Q
    assert pytest.approx(math.sqrt(total) * W[0] * n_B * e / (2 * 2)) == most.W_K


def norms_of(found):
    return torch.stack([W.flatten(-2).norm(dim=-1) for W in found], -1)


def draws(seed, number=40):
    """Networks whose blocks differ in scale by up to a hundred."""
    generator = torch.Generator().manual_seed(seed)
    for _ in range(number):
        X = torch.randn(2, 3, 4, generator=generator, dtype=torch.float64)
        theta = starts.gaussian(4, 2, 5, 3, generator)
        scale = 10 ** (2 * torch.rand(6, generator=generator, dtype=torch.float64) - 1)
        Y = torch.randn(2, 3, 3, generator=generator, dtype=torch.float64)
        yield X, Y, Parameters(*(s * W for s, W in zip(scale, theta, strict=True)))


@pytest.mark.parametrize("activation", [RELU, SmoothedReLU(0.3)])
def test_above_every_gradient_and_below_the_bounds_by_norms(activation):
    setting = Setting(0.7, 0.4, activation)
    for X, Y, theta in draws(0):
        found = norms_of(gradients.gradients(X, Y, theta, setting))
        ours = bounds.by_diameters(X, Y, theta, setting)
        norms = torch.tensor(bounds.block_gradients(X, Y, theta, setting), dtype=torch.float64)
        assert bool((found <= ours * (1 + 1e-12)).all())
        assert bool((ours <= norms * (1 + 1e-12)).all())
        assert bool(torch.allclose(ours[2:], norms[2:], rtol=1e-12))


@pytest.mark.parametrize(
    ("block", "error", "q", "k"), [(0, (1, 0), 0, 2), (1, (1, 0), 2, 0), (2, (1, 1), 0, 2)]
)
def test_attained_by_two_scalar_tokens(block, error, q, k):
    number = lambda value: torch.full((1, 1), float(value), dtype=torch.float64)
    X = torch.tensor([[[1.3], [0.0]]], dtype=torch.float64)
    theta = Parameters(*map(number, (q, k, 0.7, 1.5, 0.8, 1.1)))
    E = torch.tensor(error, dtype=torch.float64).reshape(1, 2, 1)
    Y = gradients.backward(X, torch.zeros_like(E), theta, Setting()).E - E
    found = norms_of(gradients.gradients(X, Y, theta, Setting()))
    ratio = found / bounds.by_diameters(X, Y, theta, Setting())
    assert float(ratio[block]) == pytest.approx(1, abs=1e-12)


def test_side_by_side():
    cases = list(draws(1, 3))
    X, Y = (torch.stack([case[k] for case in cases]) for k in (0, 1))
    together = bounds.by_diameters(X, Y, starts.side_by_side([case[2] for case in cases]), Setting())
    alone = [bounds.by_diameters(*case, Setting()) for case in cases]
    assert torch.allclose(together, torch.stack(alone), rtol=1e-12)


def test_a_diameter_is_the_largest_distance_and_has_a_slope_at_0():
    M = torch.tensor([[0.0, 0.0], [3.0, 4.0], [1.0, 1.0]], dtype=torch.float64)
    assert float(bounds.diameter(M)) == 5
    equal = torch.zeros(3, 2, dtype=torch.float64, requires_grad=True)
    value = bounds.diameter(equal)
    value.backward()
    assert float(value.detach()) == 0
    assert math.isfinite(float(equal.grad.sum()))


def test_errors_of_another_shape_have_no_bounds():
    X, Y, theta = next(iter(draws(2)))
    refused("Y", "(1, 3, 3)", "(2, 3, 3)", bounds.by_diameters, X, Y[:1], theta, Setting())

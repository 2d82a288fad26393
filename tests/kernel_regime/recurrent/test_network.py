"""The recurrent network, its gradients by three routes and how they can grow, its neighbourhood; series with a long memory."""

import math

import pytest
import torch
from scipy.optimize import minimize

from checks import source, unchecked
from companion.theory.kernel_regime import cutoff
from shallowformer import activations, data
from shallowformer.kernel_regime.recurrent import autoregression, backpropagation, network
from shallowformer.kernel_regime.recurrent.network import Units
from shallowformer.training import descent
from shallowformer.training.balls import Balls

SHAPES = [(1, 1, 1, 2), (5, 3, 2, 4), (7, 12, 4, 6), (6, 5, 3, 128)]


def case(n, T, d, m, seed=0):
    generator = torch.Generator().manual_seed(seed)
    X = data.clipped_gaussian(n, T, d, generator)
    draw = lambda *shape: torch.randn(*shape, generator=generator, dtype=torch.float64)
    return X, Units(draw(m), draw(m, d), draw(m)), draw(n)


def by_hand(X, phi):
    """The output by loops over samples, units and tokens."""
    out = []
    for sample in X:
        total = 0.0
        for c, U, w in zip(phi.c, phi.U, phi.w, strict=True):
            h = torch.zeros((), dtype=X.dtype)
            for token in sample:
                h = torch.tanh(U @ token + w * h)
            total = total + c * h
        out.append(total / phi.m**0.5)
    return torch.stack(out)


@pytest.mark.parametrize("shape", SHAPES)
def test_the_output_is_the_loop(shape):
    X, phi, _ = case(*shape)
    assert torch.allclose(network.f(X, phi), by_hand(X, phi), atol=1e-12)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("sigma", activations.ALL, ids=lambda sigma: sigma.name)
def test_per_sample_gradients_are_those_of_autograd(shape, sigma):
    X, phi, _ = case(*shape)
    expected = torch.autograd.functional.jacobian(
        lambda *blocks: network.f(X, Units(*blocks), sigma), phi.blocks
    )
    for found, block in zip(backpropagation.per_sample_gradient(X, phi, sigma), expected, strict=True):
        assert torch.allclose(found, block, atol=1e-12)


@pytest.mark.parametrize("shape", SHAPES)
def test_forwards_and_backwards_agree(shape):
    X, phi, _ = case(*shape)
    forwards = backpropagation.sensitivities(X, phi) * phi.c / phi.m**0.5
    backwards = backpropagation.per_sample_gradient(X, phi)
    assert torch.allclose(forwards, backwards[2], atol=1e-12)
    for found, block in zip(backpropagation.forwards(X, phi), backwards, strict=True):
        assert torch.allclose(found, block, atol=1e-12)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("sigma", activations.ALL, ids=lambda sigma: sigma.name)
def test_the_loss_and_its_gradient(shape, sigma, monkeypatch):
    monkeypatch.setattr(backpropagation, "_IN_CACHE", 3 * 8 * shape[3])  # three samples at a time
    X, phi, y = case(*shape)
    loss = backpropagation.Loss(X, y, sigma)
    value, gradient = loss.losses_and_gradient(phi.blocks)
    residual = network.f(X, phi, sigma) - y
    assert torch.allclose(value, residual.square().mean()[None])
    assert torch.allclose(loss.losses(phi.blocks), value)
    for block, each in zip(gradient, backpropagation.per_sample_gradient(X, phi, sigma), strict=True):
        expected = 2 / len(y) * torch.einsum("j,j...->...", residual, each)
        assert torch.allclose(block, expected, atol=1e-12)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("scale", [0.1, 30.0])
def test_the_compiled_pass_is_the_one_in_torch(dtype, scale):
    X, phi, y = (
        part.map(lambda block: block.to(dtype)) if isinstance(part, Units) else part.to(dtype)
        for part in case(40, 30, 5, 64)
    )
    phi = Units(phi.c, scale * phi.U, phi.w)
    loss = backpropagation.Loss(X, y)
    compiled, plain = loss._way(phi.blocks), loss._passed
    assert compiled != plain
    for labels in (None, y):
        (f, parts), (g, others) = (way(X, labels, phi.blocks) for way in (compiled, plain))
        close = {
            "rtol": 1e3 * torch.finfo(dtype).eps,
            "atol": 1e3 * torch.finfo(dtype).eps * float(g.abs().max()),
        }
        assert torch.allclose(f, g, **close)
        for part, other in zip(parts, others, strict=True):
            assert float((part - other).abs().max()) < 1e3 * torch.finfo(dtype).eps * float(other.abs().max())


def test_all_samples_of_a_compiled_pass_go_through_one_array(monkeypatch):
    """A new one for every few of them left holes in memory: 15 GB in a long run."""
    compiled, seen = backpropagation._compiled_pass(), []
    if compiled is None:
        pytest.skip("pip install numba")
    passed = compiled.passed

    def noted(X, y, point, scratch):
        seen.append(scratch.data_ptr())
        return passed(X, y, point, scratch)

    monkeypatch.setattr(compiled, "passed", noted)
    monkeypatch.setattr(backpropagation, "_IN_CACHE", 2 * 8 * 128)  # two samples at a time
    X, phi, y = case(6, 5, 3, 128)
    loss = backpropagation.Loss(X, y)
    rows = torch.tensor([0, 3, 3, 5, 1, 0, 2, 2, 4])  # more than there are samples
    drawn = loss.losses_and_gradient(phi.blocks, rows)
    assert len(seen) == 5
    assert len(set(seen)) == 1
    some = backpropagation.Loss(X[rows], y[rows]).losses_and_gradient(phi.blocks)
    assert torch.allclose(some[0], drawn[0])
    assert all(torch.allclose(a, b) for a, b in zip(some[1], drawn[1], strict=True))


def test_some_samples_repeated():
    X, phi, y = case(5, 3, 2, 4)
    rows = torch.tensor([0, 3, 3])
    some = backpropagation.Loss(X[rows], y[rows]).losses_and_gradient(phi.blocks)
    drawn = backpropagation.Loss(X, y).losses_and_gradient(phi.blocks, rows)
    assert torch.allclose(some[0], drawn[0])
    assert all(torch.allclose(a, b) for a, b in zip(some[1], drawn[1], strict=True))


def test_the_start_says_nothing_and_its_weights_have_size_gamma():
    generator = torch.Generator().manual_seed(0)
    phi = network.symmetric(64, 3, 1.5, generator)
    X = data.clipped_gaussian(4, 5, 3, generator)
    assert network.f(X, phi).abs().max() < 1e-15
    assert set(phi.w.tolist()) == {1.5, -1.5}
    assert set(phi.c.tolist()) == {1.0, -1.0}
    assert torch.equal(phi.U[:32], phi.U[32:])


def test_descent_stays_in_the_neighbourhood_and_goes_down():
    X, _, y = case(20, 4, 3, 8)
    start = network.symmetric(8, 3, 0.5, torch.Generator().manual_seed(1))
    rho = (0.3, 0.2, 0.1)
    run = descent.run(
        backpropagation.Loss(X, y),
        start.blocks,
        eta=0.2,
        steps=50,
        project=Balls(start.blocks, [radius / start.m**0.5 for radius in rho]),
    )
    end = Units(*run.end)
    assert float(run.losses[-1]) < float(run.losses[0])
    moved = ((end.c - start.c).abs(), (end.U - start.U).norm(dim=1), (end.w - start.w).abs())
    for block, radius in zip(moved, rho, strict=True):
        assert float(block.max()) <= radius / 8**0.5 * (1 + 1e-12)
    assert float(run.active.max()) > 0


def test_tokens_that_do_not_fit_are_refused():
    X, phi, y = case(5, 3, 2, 4)
    with pytest.raises(ValueError, match="X must"):
        network.f(X[..., :1], phi)
    with pytest.raises(ValueError, match="X"):
        network.f(3 * X / X.norm(dim=-1, keepdim=True), phi)
    with pytest.raises(ValueError, match="y must"), unchecked():
        backpropagation.Loss(X, y[:-1])
    with pytest.raises(ValueError, match="w must"), unchecked():
        Units(phi.c, phi.U, phi.w[:-1])


def searched(w, T):
    """Largest |∂h_T/∂w| found over states, any of which some inputs produce."""
    generator = torch.Generator().manual_seed(0)
    start = torch.randn(64, T, generator=generator, dtype=torch.float64)
    largest = 0.0

    def negative(flat):
        nonlocal largest
        free = torch.from_numpy(flat).reshape(64, T).requires_grad_()
        h = torch.cat([torch.zeros(64, 1, dtype=torch.float64), torch.tanh(free)], 1)
        p = torch.zeros(64, dtype=torch.float64)
        for t in range(1, T + 1):
            p = (1 - h[:, t] ** 2) * (h[:, t - 1] + w * p)
        largest = max(largest, float(p.detach().abs().max()))
        value = -p.abs().sum()
        (slope,) = torch.autograd.grad(value, free)
        return float(value.detach()), slope.numpy().ravel()

    minimize(negative, start.numpy().ravel(), jac=True, method="L-BFGS-B", options={"maxiter": 1000})
    return largest


@pytest.mark.parametrize(("w", "T"), [(0.4, 4), (0.9, 5), (1.0, 6), (-1.0, 4), (1.5, 5)])
def test_the_supremum_is_approached_and_not_passed(w, T):
    # From above by no more than the rounding of some dozens of operations.
    assert 1 - 1e-6 < searched(w, T) / cutoff.supremum(w, T) <= 1 + 1e-14


def test_one_step_has_no_past():
    assert cutoff.supremum(1.0, 1) == 0
    assert cutoff.supremum(1.0, 2) == 1


def test_growth_on_either_side_of_one():
    assert cutoff.supremum(0.9, 10**4) == pytest.approx(1 / (2 * (0.9 * 0.1) ** 0.5))
    assert cutoff.supremum(1.0, 10**6) / math.sqrt(10**6 / 2) == pytest.approx(1, rel=1e-4)
    assert cutoff.supremum(1.5, 200) / cutoff.supremum(1.5, 199) == pytest.approx(1.5)
    assert math.isinf(cutoff.supremum(1.5, 10**5))


@pytest.mark.parametrize(("w", "drive"), [(1.0, 0.3), (-1.0, 0.3), (1.05, 0.05), (-1.05, 2.0)])
def test_steep_states_are_reached_by_small_drives(w, drive):
    T = 400
    states = cutoff.steep_states(w, T, drive)
    x = cutoff.drives(states, w)
    assert float(x.abs().max()) <= drive * (1 + 1e-12)
    h = p = torch.zeros((), dtype=torch.float64)
    for each, state in zip(x, states, strict=True):
        before, h = h, torch.tanh(w * h + each)
        p = (1 - h**2) * (before + w * p)
        assert float(h) == pytest.approx(float(state), abs=1e-6)
    least = 0.95 * math.sqrt(T / 2) if abs(w) == 1 else 0.99 * float(states[0]) * abs(w) ** (T - 2)
    assert least <= float(p.abs()) <= cutoff.supremum(w, T)


def test_the_largest_weight():
    assert cutoff.largest_weight(0.5, 3.0, 36) == 1.0


def test_the_series_obeys_its_recursion():
    X = autoregression.series(100_000, 3, 0.9, 0.1, source())
    noise = X[3:] - 0.9 * X[:-3]
    assert float(noise.var()) == pytest.approx(0.1, rel=0.02)
    assert abs(float((noise[1:] * noise[:-1]).mean())) < 0.002
    assert abs(float((noise * X[:-3]).mean())) < 0.005


def test_the_series_is_stationary_from_the_start():
    many = torch.stack([autoregression.series(8, 4, 0.9, 0.1, source(k)) for k in range(4000)])
    assert torch.allclose(many.var(0), torch.full((8,), 0.1 / 0.19, dtype=torch.float64), rtol=0.1)


def test_windows_and_what_follows():
    x, y = autoregression.windows(torch.arange(6.0), 4)
    assert x.tolist() == [[0, 1, 2, 3], [1, 2, 3, 4]]
    assert y.tolist() == [4, 5]
    with pytest.raises(ValueError, match="more than T = 6"):
        autoregression.windows(torch.arange(6.0), 6)


def test_tokens_hold_the_value_and_its_place():
    X = autoregression.tokens(torch.tensor([[1.0, -2.0]], dtype=torch.float64))
    assert X.shape == (1, 2, 17)
    assert X[0, :, 0].tolist() == [1, -2]
    assert torch.allclose(X[0].square().sum(-1), torch.tensor([9.0, 12.0], dtype=torch.float64))


def test_no_such_series():
    with pytest.raises(ValueError, match="alpha"):
        autoregression.series(10, 2, 1.0, 0.1, source())

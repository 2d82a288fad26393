"""The recurrent network, its gradients by three routes, and its neighbourhood."""

import pytest
import torch

from checks import unchecked
from shallowformer import activations, data
from shallowformer.kernel_regime.recurrent import backpropagation, network
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

import pytest
import torch

from shallowformer.kernel_regime import activations, data, gradients, linearisation, model, parameters
from shallowformer.kernel_regime.parameters import Parameters


def point(seed=0, n=3, T=4, d=3, m=6):
    generator = torch.Generator().manual_seed(seed)
    X = data.clipped_gaussian(n, T, d, generator)
    return X, parameters.random(m, d, generator), parameters.random(m, d, generator).map(lambda block: 0.3 * block)  # fmt: skip


def moved(phi, delta):
    return Parameters(*(a + b for a, b in zip(phi.blocks, delta.blocks, strict=True)))


@pytest.mark.parametrize("sigma", activations.ALL, ids=lambda sigma: sigma.name)
@pytest.mark.parametrize(("T", "d", "m"), [(1, 1, 1), (4, 3, 6), (16, 8, 2)])
def test_the_heads_add_up_to_the_error_of_the_model(sigma, T, d, m):
    X, phi, delta = point(T=T, d=d, m=m)
    change = model.f(X, moved(phi, delta), sigma=sigma) - model.f(X, phi, sigma=sigma)
    gradient = gradients.per_sample_gradient(X, phi, sigma=sigma)
    slope = sum((g * step).flatten(1).sum(1) for g, step in zip(gradient, delta.blocks, strict=True))
    errors = linearisation.head_errors(X, phi, delta, sigma=sigma)
    assert errors.shape == (len(X), m)
    assert torch.allclose(errors.sum(1), change - slope, rtol=0, atol=1e-13)


def test_one_head_alone_errs_as_the_model_with_that_head_does():
    X, phi, delta = point()
    alone = lambda p, i: p.map(lambda block: block[i : i + 1])
    for i in range(phi.m):
        one = linearisation.head_errors(X, alone(phi, i), alone(delta, i))[:, 0] / phi.m**0.5
        assert torch.allclose(one, linearisation.head_errors(X, phi, delta)[:, i], rtol=0, atol=1e-14)


def test_a_pair_that_moves_alike_misses_the_product_of_its_two_changes():
    generator = torch.Generator().manual_seed(2)
    X, phi = data.sphere(1, 5, 3, generator), parameters.symmetric(8, 3, generator)
    half = parameters.random(4, 3, generator)
    delta = Parameters(half.c.repeat(2), half.U.repeat(2, 1), half.W.repeat(2, 1, 1))
    rise = model.hidden(X, moved(phi, delta)) - model.hidden(X, phi)
    pair = linearisation.head_errors(X, phi, delta).reshape(2, 4).sum(0)
    assert torch.allclose(pair, 2 * (delta.c * rise[0])[:4] / 8**0.5, rtol=0, atol=1e-14)


def test_no_perturbation_no_error():
    X, phi, delta = point()
    assert linearisation.head_errors(X, phi, delta.map(torch.zeros_like)).abs().max() == 0


def test_the_boundary_is_reached_in_every_block_of_every_head():
    direction = point(m=9)[2]
    delta = linearisation.on_boundary(direction, (1.0, 2.0, 3.0))
    for radius, block, along in zip((1, 2, 3), delta.blocks, direction.blocks, strict=True):
        assert torch.allclose(
            block.reshape(9, -1).norm(dim=1), torch.full((9,), radius / 3, dtype=torch.float64)
        )
        assert torch.nn.functional.cosine_similarity(block.reshape(9, -1), along.reshape(9, -1)).min() > 1 - 1e-12  # fmt: skip


def test_a_block_without_direction_stays():
    direction = point()[2]
    still = Parameters(direction.c, torch.zeros_like(direction.U), direction.W)
    assert linearisation.on_boundary(still, (1, 1, 1)).U.abs().max() == 0


@pytest.mark.parametrize("k", range(3))
def test_a_radius_that_is_not_above_zero_is_refused(k):
    direction = point()[2]
    radius = [1.0, 1.0, 1.0]
    radius[k] = 0.0
    with pytest.raises(ValueError, match=rf"radius\[{k}\] must be a finite number above 0, got 0.0"):
        linearisation.on_boundary(direction, tuple(radius))


def test_a_perturbation_of_another_shape_is_refused():
    X, phi, _ = point()
    other = point(m=4)[2]
    with pytest.raises(ValueError, match=r"delta.W must have shape \(6, 3, 3\)"):
        linearisation.head_errors(X, phi, other)

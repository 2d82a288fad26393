import pytest
import torch

from checks import unchecked
from shallowformer import activations, data, queries
from shallowformer.kernel_regime.bounds import linearisation
from shallowformer.kernel_regime.model import gradients, linear_model, pairs, parameters
from shallowformer.kernel_regime.model.parameters import Parameters
from shallowformer.kernel_regime.neighbourhood import perturbations, region
from shallowformer.training import balls

RHO = (1.0, 2.0, 0.5)


def network(m=6, d=3, T=5, n=1, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return data.clipped_gaussian(n, T, d, generator), parameters.symmetric(m, d, generator)


def moved(phi, delta):
    return Parameters(*(a + b for a, b in zip(phi.blocks, delta.blocks, strict=True)))


def worst(X, phi, rho=RHO, **options):
    return perturbations.adversarial(X, phi, rho, **options)


@pytest.mark.parametrize("way", [perturbations.head_aligned, perturbations.transported])
def test_a_way_ends_on_the_boundary(way):
    X, phi = network(n=3)
    end = moved(phi, way(X, phi, RHO))
    assert region.contains(end, phi, RHO)
    for length, rho in zip(region.displacement(end, phi), RHO, strict=True):
        assert torch.allclose(length, torch.full((6,), rho / 6**0.5, dtype=torch.float64))


def test_head_aligned_raises_every_readout_and_moves_along_the_features():
    X, phi = network(n=3)
    delta = perturbations.head_aligned(X, phi, RHO)
    feature = gradients.features(X, phi)
    assert (delta.c > 0).all()
    for block, along in ((delta.U, feature.u.sum(0)), (delta.W, feature.w.sum(0))):
        cosine = torch.nn.functional.cosine_similarity(block.flatten(1), along.flatten(1))
        assert cosine.min() > 1 - 1e-12


def test_transport_is_antisymmetric_and_for_one_input_steepest_ascent():
    X, phi = network()
    delta = perturbations.transported(X, phi, RHO)
    together, apart = pairs.parts(moved(phi, delta), phi)
    assert float(parameters.norm(together)) < 1e-15 < float(parameters.norm(apart))
    steepest = Parameters(*(block[0] for block in gradients.per_sample_gradient(X, phi)))
    uphill = region.adversarial(steepest, phi, RHO)
    for a, b in zip(moved(phi, delta).blocks, uphill.blocks, strict=True):
        assert torch.allclose(a, b, rtol=0, atol=1e-14)


@pytest.mark.parametrize("sigma", activations.ALL, ids=lambda sigma: sigma.name)
def test_the_adversary_stays_inside_and_reports_the_error_there(sigma):
    X, phi = network()
    delta, value = worst(X, phi, sigma=sigma)
    assert region.contains(moved(phi, delta), phi, RHO)
    error = linear_model.head_errors(X, phi, delta, sigma=sigma).sum()
    assert abs(float(error - value)) < 1e-14


def test_the_adversary_beats_every_random_point_and_stays_below_the_bound():
    X, phi = network()
    value = float(worst(X, phi)[1])
    generator = torch.Generator().manual_seed(9)
    for _ in range(300):
        delta = region.on_boundary(parameters.random(6, 3, generator), RHO)
        assert float(linear_model.head_errors(X, phi, delta).sum().abs()) < value
    assert float(linear_model.head_errors(X, phi, perturbations.head_aligned(X, phi, RHO)).sum()) < value
    assert value < float(linearisation.B_lin(region.longest(phi, RHO[1]), RHO))


def test_the_adversary_agrees_with_a_grid_in_one_dimension():
    X = torch.tensor([[[0.9], [-0.4], [1.0]]], dtype=torch.float64)
    phi = parameters.symmetric(2, 1, torch.Generator().manual_seed(2))
    step = torch.linspace(-1, 1, 401, dtype=torch.float64)
    u, w = torch.meshgrid(2 * step / 2**0.5, 0.5 * step / 2**0.5, indexing="ij")
    total = 0.0
    for i in range(2):
        head = lambda U, W: torch.tanh(U * (torch.softmax(W[..., None] * X[0, :, 0], -1) @ X[0, :, 0]))
        start = [block[i].flatten()[0].clone().requires_grad_() for block in (phi.U, phi.W)]
        value = head(*start)
        slope = torch.autograd.grad(value, start)
        rise = head(start[0].detach() + u, start[1].detach() + w) - value.detach()
        rest = rise - slope[0] * u - slope[1] * w
        total += float((rise.abs() / 2**0.5 + phi.c[i] * rest).max()) / 2**0.5
    assert float(worst(X, phi)[1]) == pytest.approx(total, rel=1e-5)
    assert float(worst(X, phi)[1]) >= total * (1 - 1e-9)


def test_the_two_signs_of_the_error_are_alike():
    X, phi = network()
    mirrored = pairs.mirror(moved(phi, worst(X, phi)[0]))
    error = linear_model.head_errors(X, phi, parameters.difference(mirrored, phi)).sum()
    assert float(error) == pytest.approx(-float(worst(X, phi)[1]), rel=1e-12)


def test_more_effort_finds_no_less():
    X, phi = network(m=32)
    little, more = (float(worst(X, phi, starts=s, steps=k)[1]) for s, k in ((2, 20), (12, 200)))
    assert little <= more * (1 + 1e-12)
    assert little > 0.98 * more


def test_nothing_may_move_nothing_errs():
    X, phi = network()
    delta, value = worst(X, phi, rho=(0.0, 0.0, 0.0))
    assert float(value) == 0
    assert all(float(block.abs().max()) == 0 for block in delta.blocks)


def test_without_a_query_attention_does_not_move():
    X, phi = network()
    delta, value = worst(X, phi, query=queries.fixed(torch.zeros(3, dtype=torch.float64)))
    assert float(delta.W.abs().max()) == 0
    assert float(value) > 0


def test_single_precision_without_slope_gives_numbers():
    X, phi = network(T=1)
    X, phi = X.float(), phi.map(lambda block: block.float())
    delta, value = worst(X, phi, rho=(1.0, 0.0, 1.0))
    assert all(block.isfinite().all() for block in (*delta.blocks, value[None]))


def test_one_token_is_enough():
    X, phi = network(T=1, d=1, m=2)
    assert float(worst(X, phi)[1]) > 0


def test_more_than_one_input_is_refused():
    X, phi = network(n=2)
    with pytest.raises(ValueError, match="X must hold one input, got 2"), unchecked():
        worst(X, phi)


@pytest.mark.parametrize(("dtype", "steep"), [(torch.float32, 300.0), (torch.float64, 1000.0)])
def test_the_adversary_stays_inside_however_steep_attention_is(dtype, steep):
    X, phi = network(m=16, d=4, T=6)
    phi = phi.map(lambda block: block.to(dtype))
    phi = Parameters(phi.c, phi.U, steep * phi.W)
    delta, value = worst(X.to(dtype), phi, starts=4, steps=10)
    for block, rho in zip(delta.blocks, RHO, strict=True):
        assert float(balls.lengths(block).max()) <= rho / 4 * (1 + 64 * torch.finfo(dtype).eps)
    assert bool(value.isfinite())

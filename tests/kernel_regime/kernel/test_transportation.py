import math

import pytest
import torch

from checks import unchecked
from shallowformer import activations, data, queries
from shallowformer.kernel_regime.kernel import mappings, transportation
from shallowformer.kernel_regime.model import gradients, parameters, transformer
from shallowformer.kernel_regime.model.parameters import Parameters


def start(n=3, T=4, d=3, m=6, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return data.clipped_gaussian(n, T, d, generator), parameters.symmetric(m, d, generator), generator


def given(values, nu=(math.inf,) * 3):
    return transportation.Mapping(lambda phi: values, nu)


def close(a, b, atol=1e-13):
    assert torch.allclose(a, b, rtol=0, atol=atol)


@pytest.mark.parametrize("sigma", activations.ALL, ids=lambda sigma: sigma.name)
@pytest.mark.parametrize(("n", "T", "d", "m"), [(1, 1, 1, 2), (3, 4, 3, 6), (2, 8, 5, 4)])
def test_the_pairing_is_the_sum_over_the_three_blocks(sigma, n, T, d, m):
    X, phi, generator = start(n, T, d, m)
    v = parameters.random(m, d, generator)
    feature = gradients.features(X, phi, sigma=sigma)
    for j in range(n):
        for i in range(m):
            expected = feature.c[j, i] * v.c[i] + feature.u[j, i] @ v.U[i] + (feature.w[j, i] * v.W[i]).sum()
            close(transportation.pairing(feature, v)[j, i], expected)


def test_the_linear_model_at_the_transported_point_is_the_average_over_heads():
    X, phi, generator = start()
    v = given(parameters.random(6, 3, generator))
    target = transportation.transported(phi, v)
    gradient = gradients.per_sample_gradient(X, phi)
    f_lin = transformer.f(X, phi) + sum(
        (g * (new - old)).flatten(1).sum(1) for g, new, old in zip(gradient, target.blocks, phi.blocks, strict=True)
    )  # fmt: skip
    close(f_lin, transportation.g(X, phi, v).mean(1))


def test_the_transported_point_only_starts_from_signs():
    _, phi, _ = start()
    with pytest.raises(ValueError, match=r"phi.c must be \+1 or -1 at every head, as at initialisation, got 2.0"):  # fmt: skip
        transportation.transported(Parameters(2 * phi.c, phi.U, phi.W), mappings.sign_of_c())


def test_a_mapping_beyond_its_declared_norms_is_refused():
    _, phi, _ = start()
    v = transportation.Mapping(lambda phi: phi.map(torch.ones_like), (1.0, 2.0, 2.9))
    with pytest.raises(ValueError, match=r"v_w must have norm at most nu = 2\.9 at every head"):
        v(phi)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_values_at_the_declared_norms_are_accepted_in_any_precision(dtype):
    phi = parameters.symmetric(4, 2, torch.Generator().manual_seed(0), dtype)
    for v in (mappings.sign_of_c(0.1), mappings.zero_target((0.1, 0.3, 0.7))):
        assert v(phi).c.dtype == dtype
    with pytest.raises(ValueError, match="v_c must have norm at most"):
        transportation.Mapping(lambda phi: phi.map(lambda b: 0 * b + 0.1001), (0.1, 1.0, 1.0))(phi)


def test_values_of_another_shape_are_refused():
    _, phi, generator = start()
    with pytest.raises(ValueError, match=r"v_w must have shape \(6, 3, 3\)"):
        given(parameters.random(4, 3, generator))(phi)


@pytest.mark.parametrize("nu", [(1.0, 1.0), (1.0, -1.0, 1.0), (1.0, 1.0, float("nan"))])
def test_a_declaration_is_three_numbers_of_at_least_zero(nu):
    with pytest.raises(ValueError, match="nu must be three numbers of at least 0"), unchecked():
        transportation.Mapping(lambda phi: phi, nu)


def test_sup_norms_are_the_largest_norms_of_the_blocks():
    v = Parameters(
        torch.tensor([1.0, -3.0]), torch.tensor([[3.0, 4.0], [0.0, 0.0]]), torch.full((2, 2, 2), 0.5)
    )
    assert transportation.sup_norms(v) == (3.0, 5.0, 1.0)


def test_averages_are_those_of_symmetric_initialisations():
    """Same law: compare means and variances of a mapping that looks at c, over many draws, with the slow way."""
    X, _, generator = start(n=2, T=3, d=2)
    v = transportation.Mapping(
        lambda phi: Parameters(phi.c + phi.U[:, 0].cos(), phi.c[:, None] * phi.U.tanh() + 1, 0 * phi.W), (math.inf,) * 3
    )  # fmt: skip
    fast = transportation.averages(X, v, 4, 20000, generator)
    phi = parameters.symmetric(40000, 2, generator)
    pairs = transportation.pair_means(transportation.g(X, phi, v)).reshape(2, 10000, 2).mean(-1).T
    error = (fast.var(0) / 20000 + pairs.var(0) / 10000).sqrt()
    assert ((fast.mean(0) - pairs.mean(0)).abs() < 5 * error).all()
    assert torch.allclose(fast.var(0), pairs.var(0), rtol=0.1)


def test_averages_do_not_depend_on_the_working_memory_but_through_the_draws():
    X, _, _ = start()
    v = mappings.zero_target((1.0, 1.0, 1.0))
    one = transportation.averages(X, v, 4, 7, torch.Generator().manual_seed(0))
    small = transportation.averages(X, v, 4, 7, torch.Generator().manual_seed(0), held=1)
    assert one.shape == small.shape == (7, 3)


def test_the_represented_function_comes_with_an_honest_error():
    """A section at its own input: K(X, X) for one token, T = 1, d = 1, in closed form by quadrature."""
    X = torch.tensor([[[0.8]]], dtype=torch.float64)
    estimate = transportation.represented(X, mappings.section(X), 40000, torch.Generator().manual_seed(0))
    u = torch.linspace(-10, 10, 20001, dtype=torch.float64)
    density = torch.exp(-(u**2) / 2) / math.sqrt(2 * math.pi) * 1e-3
    t = torch.tanh(0.8 * u)
    exact = float((density * (t**2 + 0.64 * (1 - t**2) ** 2)).sum())
    assert abs(float(estimate.mean) - exact) < 4 * float(estimate.standard_error)
    close(estimate.standard_error, (estimate.variance / 40000).sqrt())


def test_the_variance_of_an_estimate_is_the_sample_variance():
    X, _, _ = start()
    v = mappings.zero_target((1.0, 1.0, 1.0))
    estimate = transportation.represented(X, v, 50, torch.Generator().manual_seed(3), chunk=50)
    drawn = transportation.averages(X, v, 2, 50, torch.Generator().manual_seed(3))
    close(estimate.mean, drawn.mean(0))
    close(estimate.variance, drawn.var(0))


def test_chunks_are_put_together_rightly():
    X, _, _ = start()
    v = mappings.zero_target((1.0, 1.0, 1.0))
    generator = torch.Generator().manual_seed(3)
    drawn = torch.cat([transportation.averages(X, v, 2, k, generator) for k in (20, 20, 10)])
    estimate = transportation.represented(X, v, 50, torch.Generator().manual_seed(3), chunk=20)
    close(estimate.mean, drawn.mean(0))
    close(estimate.variance, drawn.var(0))


def test_the_even_part_is_blind_to_c_and_represents_the_same():
    X, phi, _ = start()
    v = transportation.Mapping(lambda phi: Parameters(phi.c + 2, phi.c[:, None] * phi.U + 1, phi.W), (math.inf,) * 3)  # fmt: skip
    even = transportation.even_part(v)
    flipped = Parameters(-phi.c, phi.U, phi.W)
    for a, b in zip(even(phi).blocks, even(flipped).blocks, strict=True):
        close(a, b)
    close(transportation.g(X, phi, v).mean(1), transportation.g(X, phi, even).mean(1))


def test_an_odd_number_of_heads_has_no_pairs():
    with pytest.raises(ValueError, match="m must be even"):
        transportation.pair_means(torch.ones(2, 3))


def test_a_section_reproduces_the_kernel():
    X, phi, _ = start()
    gradient = torch.cat([g.flatten(1) for g in gradients.per_sample_gradient(X, phi)], 1)
    for j in range(len(X)):
        value = transportation.g(X, phi, mappings.section(X[j : j + 1])).mean(1)
        close(value, gradient @ gradient[j])


def test_a_section_has_one_input():
    with pytest.raises(ValueError, match="anchor must have shape"), unchecked():
        mappings.section(start()[0])


@pytest.mark.parametrize("mapping", [mappings.sign_of_c(2.0), mappings.zero_target((1.0, 2.0, 3.0))])
@pytest.mark.parametrize("query", [queries.last_token, queries.seeded(3, 0)])
def test_what_does_nothing_does_nothing(mapping, query):
    X, phi, _ = start()
    both = Parameters(phi.c.repeat(2), torch.cat([phi.U, -phi.U]), phi.W.repeat(2, 1, 1))
    close(transportation.g(X, both, mapping, query).mean(1), torch.zeros(3, dtype=torch.float64))


def test_the_zero_target_uses_up_its_norms():
    _, phi, _ = start()
    assert transportation.sup_norms(mappings.zero_target((1.0, 2.0, 3.0))(phi)) == (1.0, 2.0, 3.0)


def test_the_zero_target_is_not_zero_for_an_activation_that_is_not_odd():
    X, phi, _ = start()
    both = Parameters(phi.c.repeat(2), torch.cat([phi.U, -phi.U]), phi.W.repeat(2, 1, 1))
    v = mappings.zero_target((1.0, 1.0, 1.0))
    value = transportation.g(X, both, v, sigma=activations.LOGISTIC).mean(1)
    assert value.abs().min() > 0.1


@pytest.mark.parametrize("sigma", activations.ALL, ids=lambda sigma: sigma.name)
def test_the_teacher_is_the_average_over_its_anchors(sigma):
    anchors, phi, _ = start(n=3)
    nu = (2.0, 3.0, 0.1)
    v = mappings.teacher(anchors, nu, sigma=sigma)(phi)
    feature = gradients.features(anchors, phi, sigma=sigma)
    for i in range(phi.m):
        w = feature.w[:, i]
        size = w.flatten(1).norm(dim=1)[:, None, None]
        clipped = torch.where(size > nu[2], nu[2] * w / size, w)
        close(v.c[i], 2 / sigma.bounds[0] * feature.c[:, i].mean())
        close(v.U[i], 3 / sigma.bounds[1] * feature.u[:, i].mean(0))
        close(v.W[i], clipped.mean(0))


@pytest.mark.parametrize("call", [lambda: mappings.sign_of_c(0.0), lambda: mappings.teacher(start()[0], (1.0, 0.0, 1.0))])  # fmt: skip
def test_a_norm_of_a_named_mapping_is_above_zero(call):
    with pytest.raises(ValueError, match="must be a finite number above 0"):
        call()


@pytest.mark.parametrize("sigma", activations.ALL, ids=lambda sigma: sigma.name)
def test_an_exchange_represents_zero_for_gaussian_heads(sigma):
    """In two dimensions, by Monte Carlo: the mean is 0 within five standard errors, its two halves are not."""
    X, _, generator = start(n=2, T=3, d=2)
    v = mappings.exchange(lambda theta: torch.cos(theta + theta.flip(0)))
    phi = parameters.random(40000, 2, generator)
    drawn = transportation.g(X, phi, v, sigma=sigma)
    error = drawn.std(1) / 200
    assert (drawn.mean(1).abs() < 5 * error).all()
    values = v(phi)
    moved = transportation.pairing(
        gradients.features(X, phi, sigma=sigma), Parameters(0 * values.c, values.U, values.W)
    )
    assert (moved.mean(1).abs() > 5 * moved.std(1) / 200).any()


def test_an_exchange_of_a_constant_field_reads_out_the_coordinate():
    _, phi, _ = start()
    values = mappings.exchange(lambda theta: torch.nn.functional.one_hot(torch.tensor(0), 12).to(theta))(phi)
    close(values.c, phi.U[:, 0])
    close(values.U[:, 0], -torch.ones_like(phi.c))
    close(values.W, 0 * phi.W)


def test_a_field_of_another_shape_is_refused():
    _, phi, _ = start()
    with pytest.raises(ValueError, match=r"field\(theta\) must have shape \(6, 12\)"):
        mappings.exchange(lambda theta: theta[:3])(phi)

"""The tangent kernel against plain loops, autograd and exact expectations; its error estimate, chunks and memory."""

import math

import numpy as np
import pytest
import torch
from scipy.stats import t as student
from torch import Generator

import reference
from checks import assert_agrees, refused, unchecked
from shallowformer import activations, data, queries
from shallowformer.exercises.memory import largest_tensor
from shallowformer.kernel_regime.kernel import tangent_kernel as kernel
from shallowformer.kernel_regime.model import gradients, parameters, transformer
from shallowformer.kernel_regime.model.parameters import Parameters

sigmas = pytest.mark.parametrize("sigma", activations.ALL, ids=lambda sigma: sigma.name)
BLOCKS = ("c", "u", "w")


def sample(n=3, T=4, d=3, m=6, seed=0, dtype=torch.float64):
    generator = Generator().manual_seed(seed)
    return data.clipped_gaussian(n, T, d, generator, dtype), parameters.random(m, d, generator, dtype)


def by_autograd(X, phi, query, sigma):
    """Inner products of the gradients of f, block by block, each Float64[Tensor, "n n"]."""
    output = lambda c, U, W: transformer.f(X, Parameters(c, U, W), query, sigma)
    jacobians = torch.autograd.functional.jacobian(output, phi.blocks)
    return [j.flatten(1) @ j.flatten(1).T for j in jacobians]


# At given parameters --------------------------------------------------------------------------------------------------


@sigmas
def test_finite_agrees_with_autograd(case, sigma):
    found = kernel.finite(case.X, case.phi, query=case.query, sigma=sigma)
    expected = by_autograd(case.X, case.phi, case.query, sigma)
    for name, block in zip(BLOCKS, expected, strict=True):
        assert_agrees(getattr(found, name), block, case.logit)
    assert_agrees(found.total, sum(expected), case.logit)


def test_finite_agrees_with_complex_steps_of_loops(case):
    X, _, c, U, W, q = case.lists
    at = [*c, *(e for u in U for e in u), *(e for w in W for row in w for e in row)]
    output = lambda j: (
        lambda phi: reference.output(
            X[j], *reference.unpack(phi, case.phi.m, case.phi.d), q[j], reference.tanh
        )
    )
    G = torch.tensor([reference.complex_step(output(j), at) for j in range(len(X))], dtype=torch.float64)
    assert_agrees(kernel.finite(case.X, case.phi, query=case.query).total, G @ G.T, case.logit)


@sigmas
def test_the_diagonal_is_the_diagonal(case, sigma):
    found = kernel.diagonal(case.X, case.phi, case.query, sigma)
    full = kernel.finite(case.X, case.phi, query=case.query, sigma=sigma)
    for name in (*BLOCKS, "total"):
        assert_agrees(getattr(found, name), getattr(full, name).diagonal(), case.logit)


def test_two_batches_of_samples_give_the_block_between_them():
    X, phi = sample(n=5)
    Z = sample(n=2, T=7, seed=1)[0]
    between = kernel.finite(X[:3], phi, X[3:])
    within = kernel.finite(X, phi)
    for name in BLOCKS:
        assert_agrees(getattr(between, name), getattr(within, name)[:3, 3:])
    other = kernel.finite(X, phi, Z)  # of another length
    gradient = lambda X: torch.cat([g.flatten(1) for g in gradients.per_sample_gradient(X, phi)], 1)
    assert_agrees(other.total, gradient(X) @ gradient(Z).T)


def test_a_gram_matrix_is_symmetric_and_has_no_negative_eigenvalue():
    X, phi = sample(n=20, T=5, d=2, m=4)  # 4·(1 + 2 + 4) = 28 parameters
    for block in (getattr(kernel.finite(X, phi), name) for name in (*BLOCKS, "total")):
        assert_agrees(block, block.T)
        assert torch.linalg.eigvalsh(block).min() > -1e-13


def test_paired_heads_count_as_one_head_of_double_weight():
    generator = Generator().manual_seed(3)
    X, phi = data.sphere(4, 6, 3, generator), parameters.symmetric(10, 3, generator)
    half = phi.map(lambda block: block[:5])
    assert_agrees(kernel.finite(X, phi).total, kernel.finite(X, half).total)


@pytest.mark.parametrize("entries", [1, 100, 2**22])
def test_the_size_of_a_chunk_does_not_matter(entries, monkeypatch):
    X, phi = sample(n=6, m=11)
    whole, of_limit = kernel.finite(X, phi), kernel.limit(X, 32, Generator().manual_seed(0))
    monkeypatch.setattr(kernel, "ENTRIES", entries)
    assert_agrees(kernel.finite(X, phi).total, whole.total)
    assert_agrees(kernel.diagonal(X, phi).total, whole.total.diagonal())
    again = kernel.limit(X, 32, Generator().manual_seed(0))
    assert_agrees(again.total, of_limit.total)
    assert_agrees(again.error, of_limit.error)


def test_single_precision_is_kept_and_agrees_with_double():
    X, phi = sample(n=6, m=40)
    single = kernel.finite(X.float(), phi.map(torch.Tensor.float))
    assert {single.c.dtype, single.u.dtype, single.w.dtype} == {torch.float32}
    assert_agrees(single.total, kernel.finite(X, phi).total, logit=10)
    estimate = kernel.limit(X.float(), 32, Generator().manual_seed(0))
    assert {estimate.total.dtype, estimate.error.dtype} == {torch.float32}


# The limit ------------------------------------------------------------------------------------------------------------


def gauss(step: float):
    """Nodes and weights of a trapezoidal sum for a standard Gaussian expectation; W needs 0.1, U 0.2."""
    x = np.arange(-9, 9 + step / 2, step)
    w = np.exp(-(x**2) / 2)
    return x, w / w.sum()


def exact_in_one_dimension(X, Z, sigma):
    """Lemma 4 for tokens that are numbers and q = X_T, by a product rule over U and W; every block "n k"."""
    (x, w), (y, v) = gauss(0.2), gauss(0.1)
    slope = lambda z: sigma(complex(z, 1e-30)).imag / 1e-30

    def rows(tokens):
        a, MU = [], []
        for lam in y * tokens[-1]:
            alpha = reference.softmax([lam * token for token in tokens])
            mean = sum(p * token for p, token in zip(alpha, tokens, strict=True))
            spread = sum(p * (token - mean) ** 2 for p, token in zip(alpha, tokens, strict=True))
            a.append(mean)
            MU.append(spread * x)
        a = np.array(a)[:, None]
        z = a * x[None]
        s = np.vectorize(slope)(z)
        return np.vectorize(lambda v: sigma(v).real)(z), s * a, s * np.array(MU), tokens[-1]

    ours, theirs = ([rows(tokens) for tokens in batch.squeeze(-1).tolist()] for batch in (X, Z))
    integral = lambda f, g: v @ (f * g) @ w
    blocks = (
        [[integral(f[0], g[0]) for g in theirs] for f in ours],
        [[integral(f[1], g[1]) for g in theirs] for f in ours],
        [[f[3] * g[3] * integral(f[2], g[2]) for g in theirs] for f in ours],
    )
    return tuple(torch.tensor(block, dtype=torch.float64) for block in blocks)


@pytest.mark.parametrize("name", ["tanh", "erf", "logistic"])
def test_limit_agrees_with_exact_expectations(name):
    sigma = next(s for s in activations.ALL if s.name == name)
    X = data.clipped_gaussian(4, 3, 1, Generator().manual_seed(0)) * 0.9
    Z = torch.tensor([[[1.0], [-1.0]], [[0.5], [0.5]]], dtype=torch.float64)
    found = kernel.limit(X, 2**16, Generator().manual_seed(1), Z, sigma=sigma)
    expected = exact_in_one_dimension(X, Z, reference.ACTIVATIONS[name])
    assert ((found.total - sum(expected)).abs() <= 6 * found.error + 1e-12).all()
    for block, exact in zip((found.c, found.u, found.w), expected, strict=True):
        assert (block - exact).abs().max() <= 6 * 2 / 2**8  # 6 standard errors of a summand of size at most 2


def test_limit_of_single_tokens_is_the_arcsine_law():
    X = data.sphere(5, 1, 3, Generator().manual_seed(0)) * torch.tensor([1, 0.8, 0.6, 0.3, 1])[:, None, None]
    found = kernel.limit(X, 2**16, Generator().manual_seed(1), sigma=activations.ERF)
    inner = X[:, 0] @ X[:, 0].T
    size = 1 + 2 * inner.diagonal()
    c = 2 / math.pi * torch.asin(2 * inner / (size[:, None] * size).sqrt())
    u = 4 / math.pi * inner / (size[:, None] * size - 4 * inner**2).sqrt()
    assert ((found.total - c - u).abs() <= 6 * found.error).all()
    assert found.w.abs().max() <= 1e-30


def test_the_standard_error_is_the_spread_of_the_batches():
    X, generator = sample(n=4)[0], Generator().manual_seed(0)
    found = kernel.limit(X, 60, generator, batches=5)
    generator.manual_seed(0)
    batches = torch.stack(
        [kernel.finite(X, kernel._initial(12, 3, generator, X.dtype)).total for _ in range(5)]
    )
    assert_agrees(found.total, batches.mean(0))
    assert_agrees(found.error, batches.std(0) / 5**0.5)
    assert found.heads == 60


def test_the_standard_error_is_honest():
    """Of 1200 intervals at level 99 % between 97.5 % and 99.9 % hold: four binomial standard deviations and more."""
    X = torch.tensor([[[1.0], [-1.0]], [[0.8], [0.1]]], dtype=torch.float64)
    exact = sum(exact_in_one_dimension(X, X, reference.tanh))
    generator = Generator().manual_seed(0)
    width = student.ppf(0.995, 15)
    with unchecked():
        found = [kernel.limit(X, 16 * 64, generator) for _ in range(600)]
    held = [((each.total - exact).abs() <= width * each.error)[0, :] for each in found]
    assert 0.975 <= float(torch.stack(held).double().mean()) <= 0.999


# Memory ---------------------------------------------------------------------------------------------------------------


def test_no_array_of_a_chunk_is_larger_than_allowed(monkeypatch):
    X, phi = sample(n=8, T=5, d=3, m=100)
    monkeypatch.setattr(kernel, "ENTRIES", 8 * 5 * 10)  # ten heads
    assert largest_tensor(kernel.finite, X, phi) <= 400
    of_one_batch = 100 * 3 * 3  # W of its heads, without a sample index
    assert largest_tensor(kernel.limit, X, 16 * 100, Generator()) == of_one_batch


def test_bad_arguments_are_refused():
    X, phi = sample()
    generator = Generator()
    refused("X", "2.0", "unit ball", kernel.finite, 2 * torch.nn.functional.normalize(X, dim=-1), phi)
    refused("Z", "2.0", "unit ball", kernel.finite, X, phi, 2 * torch.nn.functional.normalize(X, dim=-1))
    refused("Z", "torch.float32", "torch.float64", kernel.finite, X, phi, X.float())
    refused("Z", "(3, 4, 2)", "d = 3", kernel.limit, X, 16, generator, X[..., :2])
    refused("heads", "24", "multiple of batches = 16", kernel.limit, X, 24, generator)
    refused("batches", "1", "at least 2", kernel.limit, X, 16, generator, batches=1)
    refused("query(X)", "norm", "unit ball", kernel.diagonal, X, phi, lambda X: 3 * torch.ones_like(X[:, 0]))
    refused("X", "(4, 3)", "n T d", kernel.limit, X[0], 16, generator, query=queries.last_token)

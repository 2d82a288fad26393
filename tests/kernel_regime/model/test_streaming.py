"""Attention that reads a sequence once, against the package's output and gradients with all tokens at hand."""

import pytest
import torch

from companion.theory.kernel_regime import streaming
from shallowformer import activations, data
from shallowformer.kernel_regime.model import gradients, parameters, transformer


def problem(n=3, T=6, d=4, m=5, scale=1.0):
    source = torch.Generator().manual_seed(T)
    phi = parameters.random(m, d, source)
    phi = parameters.Parameters(phi.c, phi.U, scale * phi.W)
    q = data.sphere(1, 1, d, source)[0, 0]
    return data.clipped_gaussian(n, T, d, source), phi, q


def read(X, lam, U, values, k):
    stream = streaming.begin(len(X), lam, k)
    for token in X.unbind(1):
        stream = streaming.read(stream, token, lam, values(token, U))
    return stream


@pytest.mark.parametrize("sigma", activations.ALL, ids=lambda sigma: sigma.name)
@pytest.mark.parametrize("T", [1, 6])
def test_output_and_gradients(sigma, T):
    X, phi, q = problem(T=T)
    query = lambda X: q.expand(len(X), -1)
    lam = phi.W @ q
    one = read(X, lam, phi.U, streaming.for_answers, 1)
    every = read(X, lam, phi.U, streaming.for_gradients, 2 * phi.d)
    assert (one.numbers, every.numbers) == (3, 2 + 2 * phi.d)
    torch.testing.assert_close(streaming.f(one, phi, sigma), transformer.f(X, phi, query, sigma))
    of_c, of_U, of_lam = streaming.per_sample_gradient(every, phi, sigma)
    expected = gradients.per_sample_gradient(X, phi, query, sigma)
    of_W = of_lam[..., None] * q
    for found, right in zip((of_c, of_U, of_W), expected, strict=True):
        torch.testing.assert_close(found, right)


def test_logits_of_thousands_do_not_overflow():
    X, phi, q = problem(T=30, scale=3000.0)
    query = lambda X: q.expand(len(X), -1)
    stream = read(X, phi.W @ q, phi.U, streaming.for_answers, 1)
    torch.testing.assert_close(streaming.f(stream, phi), transformer.f(X, phi, query))

"""Other forms of the model: matrices merged head by head, and attention that reads a sequence once."""

import pytest
import torch

from checks import refused
from companion.theory.kernel_regime import equivalences, streaming
from shallowformer import activations, data
from shallowformer.kernel_regime.model import gradients, parameters, transformer


def draw(*shape):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(sum(shape)), dtype=torch.float64)


def matrices(m=3, k=2, d=4):
    return {
        "W_Q": draw(m, k, d),
        "W_K": 2 * draw(m, k, d),
        "W_V": 3 * draw(m, k, d),
        "u": draw(m, k),
        "c": draw(m),
        "beta": 0.5,
    }


def test_merging_multiplies_head_by_head():
    arguments = matrices()
    merged = equivalences.merge(**arguments)
    for i in range(3):
        for row in range(4):
            for column in range(4):
                entry = sum(
                    0.5 * arguments["W_K"][i, s, row] * arguments["W_Q"][i, s, column] for s in range(2)
                )
                assert float(merged.W[i, row, column]) == pytest.approx(float(entry), rel=1e-12)
            assert float(merged.U[i, row]) == pytest.approx(
                float(sum(arguments["W_V"][i, s, row] * arguments["u"][i, s] for s in range(2))), rel=1e-12
            )
    assert torch.equal(merged.c, arguments["c"])


@pytest.mark.parametrize(
    ("name", "value", "given", "allowed"),
    [
        ("W_K", draw(3, 5, 4), "(3, 5, 4)", "(3, 2, 4)"),
        ("W_V", draw(2, 2, 4), "(2, 2, 4)", "(3, 2, 4)"),
        ("u", draw(3, 4), "(3, 4)", "(3, 2)"),
        ("u", draw(3, 2).float(), "float32", "float64"),
        ("W_Q", draw(2, 4), "(2, 4)", "[m k d]"),
    ],
)
def test_matrices_that_do_not_fit_are_refused(name, value, given, allowed):
    refused(name, given, allowed, equivalences.merge, **{**matrices(), name: value})


def test_block_diagonal_puts_each_vector_into_the_columns_of_its_head():
    U = draw(3, 2)
    V = equivalences.block_diagonal(U)
    expected = torch.zeros(3, 6, dtype=torch.float64)
    for i in range(3):
        expected[i, 2 * i : 2 * i + 2] = U[i]
    assert torch.equal(V, expected)


def test_block_diagonal_refuses_what_is_not_a_matrix():
    refused("U", "(4,)", "[m d]", equivalences.block_diagonal, draw(4))


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

"""The model against plain loops, its symmetries, and its refusals."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Generator

import reference
from checks import assert_agrees, refused
from shallowformer import activations, data, queries
from shallowformer.kernel_regime.model import gradients, parameters, transformer
from shallowformer.kernel_regime.model.parameters import Parameters

sigmas = pytest.mark.parametrize("sigma", activations.ALL, ids=lambda sigma: sigma.name)
seeds = st.integers(0, 10**6)
sizes = st.tuples(*(st.integers(1, 4) for _ in range(4)))  # n, T, d, m


def draw(seed: int, n: int, T: int, d: int, m: int):
    generator = Generator().manual_seed(seed)
    return data.sphere(n, T, d, generator), parameters.random(m, d, generator), queries.seeded(d, seed)


@sigmas
def test_output_agrees_with_loops(case, sigma):
    X, _, c, U, W, q = case.lists
    expected = [
        reference.output(x, c, U, W, qj, reference.ACTIVATIONS[sigma.name])
        for x, qj in zip(X, q, strict=True)
    ]
    assert_agrees(transformer.f(case.X, case.phi, case.query, sigma), expected, case.logit)


@sigmas
def test_hidden_agrees_with_loops(case, sigma):
    X, _, _, U, W, q = case.lists
    h = reference.ACTIVATIONS[sigma.name]
    expected = [
        [reference.hidden(x, Ui, Wi, qj, h) for Ui, Wi in zip(U, W, strict=True)]
        for x, qj in zip(X, q, strict=True)
    ]
    assert_agrees(transformer.hidden(case.X, case.phi, case.query, sigma), expected, case.logit)


def test_the_last_token_and_tanh_are_the_defaults(ordinary):
    explicit = transformer.f(ordinary.X, ordinary.phi, queries.last_token, activations.TANH)
    assert transformer.f(ordinary.X, ordinary.phi).equal(explicit)
    assert not transformer.f(ordinary.X, ordinary.phi, queries.seeded(3, 1)).equal(explicit)


def test_validated_returns_the_queries(case):
    assert transformer.validated(case.X, case.phi, case.query).equal(case.query(case.X))


@given(seeds, sizes)
def test_the_order_of_tokens_does_not_matter_to_a_fixed_query(seed, size):
    X, phi, query = draw(seed, *size)
    shuffled = torch.randperm(size[1], generator=Generator().manual_seed(seed))
    assert_agrees(transformer.f(X[:, shuffled], phi, query), transformer.f(X, phi, query), logit=10)


@given(seeds, sizes, st.integers(2, 3), st.booleans())
def test_repeating_every_token_changes_nothing(seed, size, times, last):
    X, phi, query = draw(seed, *size)
    query = queries.last_token if last else query
    assert_agrees(
        transformer.f(X.repeat_interleave(times, dim=1), phi, query), transformer.f(X, phi, query), logit=10
    )


@given(seeds, sizes)
def test_samples_do_not_interact(seed, size):
    X, phi, query = draw(seed, *size)
    alone = torch.cat([transformer.f(X[j : j + 1], phi, query) for j in range(size[0])])
    assert_agrees(transformer.f(X, phi, query), alone, logit=10)


@given(seeds, sizes)
def test_copies_of_all_heads_multiply_the_output_by_the_root_of_their_number(seed, size):
    X, phi, query = draw(seed, *size)
    fourfold = Parameters(*(torch.cat([block] * 4) for block in phi.blocks))
    assert_agrees(transformer.f(X, fourfold, query), 2 * transformer.f(X, phi, query), logit=10)


@sigmas
def test_the_model_is_0_at_a_symmetric_initialisation(sigma):
    generator = Generator().manual_seed(0)
    phi = parameters.symmetric(64, 3, generator)
    X = data.clipped_gaussian(20, 5, 3, generator)
    assert_agrees(transformer.f(X, phi, sigma=sigma), torch.zeros(20))
    assert not torch.allclose(transformer.hidden(X, phi, sigma=sigma), torch.zeros(1, dtype=torch.float64))


def test_equal_tokens_make_attention_irrelevant():
    X, phi, query = draw(0, 2, 1, 3, 4)
    X = X.expand(2, 5, 3)
    other = Parameters(phi.c, phi.U, torch.flip(phi.W, (0,)))
    assert_agrees(transformer.f(X, phi, query), transformer.f(X, other, query))


def test_dtype_is_kept(ordinary):
    single = ordinary.phi.map(torch.Tensor.float)
    out = transformer.f(ordinary.X.float(), single)
    assert out.dtype == torch.float32
    assert_agrees(out, transformer.f(ordinary.X, ordinary.phi), ordinary.logit)


PHI = parameters.random(4, 2, Generator().manual_seed(0), torch.float32)
TOKENS = torch.full((3, 5, 2), 0.5)
FUNCTIONS = {
    "validated": lambda X, phi, query: transformer.validated(X, phi, query),
    "hidden": transformer.hidden,
    "f": transformer.f,
    "features": gradients.features,
    "per_sample_gradient": gradients.per_sample_gradient,
    "loss_and_gradient": lambda X, phi, query: gradients.loss_and_gradient(X, torch.zeros(3), phi, query),
}
BAD_TOKENS = {
    "list": ([[[0.5, 0.5]]], "list", "[n T d]"),
    "integers": (torch.zeros(3, 5, 2, dtype=torch.int64), "torch.int64", "floating-point"),
    "one sample without its dimension": (torch.zeros(5, 2), "(5, 2)", "[n T d]"),
    "empty batch": (torch.zeros(0, 5, 2), "(0, 5, 2)", "at least 1"),
    "no tokens": (torch.zeros(3, 0, 2), "(3, 0, 2)", "at least 1"),
    "NaN": (torch.full((3, 5, 2), math.nan), "30 entries", "finite"),
    "infinite": (torch.full((3, 5, 2), math.inf), "30 entries", "finite"),
    "norm above 1": (torch.full((3, 5, 2), 0.75), "1.06066", "norm at most 1"),
    "norm above 1 beyond rounding": (torch.tensor([[[1 + 1e-5, 0.0]]]), "1.00001", "norm at most 1"),
    "another dimension": (torch.zeros(3, 5, 3), "(3, 5, 3)", "d = 2 as the parameters"),
}


def never(X):
    raise AssertionError("the query was asked although the tokens are bad")


@pytest.mark.parametrize("bad", BAD_TOKENS.values(), ids=BAD_TOKENS)
@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)
def test_bad_tokens_are_refused_before_the_query_is_asked(function, bad):
    X, given_, allowed = bad
    refused("X", given_, allowed, function, X, PHI, never)


@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)
def test_parameters_of_another_dtype_are_refused_before_the_query_is_asked(function):
    with refused("phi", "torch.float64", "dtype and device of X (torch.float32"):
        function(TOKENS, PHI.map(torch.Tensor.double), never)


BAD_QUERIES = {
    "leaves the ball": (lambda X: 2 * X[:, -1] + 1, "2.828", "unit ball"),
    "wrong shape": (lambda X: X[:1, -1], "(1, 2)", "(3, 2)"),
    "wrong dtype": (lambda X: X[:, -1].double(), "torch.float64", "torch.float32"),
    "NaN": (lambda X: X[:, -1] * math.nan, "6 entries", "finite"),
}


@pytest.mark.parametrize("bad", BAD_QUERIES.values(), ids=BAD_QUERIES)
@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)
def test_bad_queries_are_refused(function, bad):
    query, given_, allowed = bad
    refused("query(X)", given_, allowed, function, TOKENS, PHI, query)


@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)
def test_arguments_are_left_as_they_are(function):
    X, phi = TOKENS.clone(), PHI.map(torch.clone)
    function(X, phi, queries.last_token)
    assert X.equal(TOKENS)
    assert all(after.equal(before) for after, before in zip(phi.blocks, PHI.blocks, strict=True))

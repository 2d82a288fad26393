"""Queries: fixed, last token, seeded; and what ``resolve`` refuses."""

import math

import pytest
import torch
from torch import Generator

from checks import refused
from shallowformer import queries

X = torch.rand(3, 4, 2, generator=Generator().manual_seed(0), dtype=torch.float64) / 2


def test_a_fixed_query_is_the_same_for_every_sample():
    vector = torch.tensor([0.6, -0.8], dtype=torch.float64)
    assert queries.fixed(vector)(X).equal(vector.repeat(3, 1))


@pytest.mark.parametrize(
    ("vector", "given", "allowed"),
    [
        (torch.tensor([1.0, 1.0]), "1.414", "unit ball (norm at most 1)"),
        (torch.ones(1, 2), "(1, 2)", "[d]"),
        (torch.tensor([math.nan, 0.0]), "1 entries", "finite"),
        (torch.tensor([1, 0]), "torch.int64", "floating-point"),
        (torch.ones(0), "(0,)", "at least 1"),
        ([1.0, 0.0], "list", "torch tensor"),
    ],
)
def test_a_bad_fixed_query_is_refused(vector, given, allowed):
    refused("vector", given, allowed, queries.fixed, vector)


def test_the_last_token_is_the_query():
    assert queries.last_token(X).tolist() == [sample[-1] for sample in X.tolist()]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("d", [1, 2, 300])
def test_a_seeded_query_is_a_unit_vector_that_the_theory_allows(d, dtype):
    sample = torch.zeros(2, 3, d, dtype=dtype)
    q = queries.resolve(queries.seeded(d, 3, dtype), sample)
    assert q.dtype == dtype
    assert float((q.norm(dim=-1) - 1).abs().max()) <= 64 * torch.finfo(dtype).eps
    assert q[0].equal(q[1])


def test_the_seed_decides():
    first, again, other = (queries.seeded(2, seed)(X) for seed in (1, 1, 2))
    assert first.equal(again)
    assert not first.equal(other)


def test_a_seeded_query_ignores_and_keeps_the_global_generator():
    before = torch.random.get_rng_state()
    first = queries.seeded(2, 1)(X)
    assert torch.random.get_rng_state().equal(before)
    torch.manual_seed(99)
    assert queries.seeded(2, 1)(X).equal(first)


def test_seeded_queries_are_uniform_on_the_sphere():
    """Over 400 seeds the mean of each entry and of its square are within five standard errors of 0 and 1/2."""
    q = torch.cat([queries.seeded(2, seed)(X[:1]) for seed in range(400)])
    assert float(q.mean(0).abs().max()) < 5 * (1 / 2 / 400) ** 0.5
    assert float((q.pow(2).mean(0) - 1 / 2).abs().max()) < 5 * (1 / 8 / 400) ** 0.5


def test_resolve_returns_the_query_of_every_sample():
    assert queries.resolve(lambda X: X.mean(1), X).equal(X.mean(1))


@pytest.mark.parametrize(
    ("query", "given", "allowed"),
    [
        (lambda X: X[:, -1] * 100, "norm", "unit ball (norm at most 1)"),
        (lambda X: X[:1, -1], "(1, 2)", "(3, 2) ([n, d] as in X)"),
        (lambda X: X[:, :, 0], "(3, 4)", "(3, 2) ([n, d] as in X)"),
        (lambda X: X, "(3, 4, 2)", "[n d]"),
        (lambda X: X[0, 0], "(2,)", "[n d]"),
        (lambda X: X[:, -1].float(), "torch.float32", "dtype and device of X (torch.float64"),
        (lambda X: X[:, -1] * math.nan, "6 entries", "finite"),
        (lambda X: X[:, -1].tolist(), "list", "torch tensor"),
        (queries.fixed(torch.zeros(5, dtype=torch.float64)), "(3, 5)", "(3, 2) ([n, d] as in X)"),
    ],
)
def test_resolve_refuses(query, given, allowed):
    refused("query(X)", given, allowed, queries.resolve, query, X)

"""Lemma 1's gradients against autograd and complex steps of plain loops; chunks and memory."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Generator, Tensor

import reference
from checks import assert_agrees, refused
from shallowformer import activations, arguments, data, queries
from shallowformer.exercises.memory import largest_tensor
from shallowformer.kernel_regime.model import gradients, parameters, transformer

EPS = torch.finfo(torch.float64).eps

sigmas = pytest.mark.parametrize("sigma", activations.ALL, ids=lambda sigma: sigma.name)


def flat(blocks, n: int | None = None) -> Tensor:
    """The blocks c, U, W in one vector, or in one row a sample."""
    return torch.cat([block.reshape(-1) if n is None else block.reshape(n, -1) for block in blocks], -1)


def leaves(phi):
    return phi.map(lambda block: block.clone().requires_grad_())


def naive_output(case, sigma, j: int):
    """f(X⁽ʲ⁾; φ) as a function of the flat parameters."""
    X, _, _, _, _, q = case.lists
    m, d = case.phi.m, case.phi.d
    return lambda phi: reference.output(
        X[j], *reference.unpack(phi, m, d), q[j], reference.ACTIVATIONS[sigma.name]
    )


def naive_loss(case, sigma):
    """L̂_n(φ) as a function of the flat parameters."""
    X, y, _, _, _, q = case.lists
    m, d = case.phi.m, case.phi.d
    return lambda phi: reference.loss(
        X, y, *reference.unpack(phi, m, d), q, reference.ACTIVATIONS[sigma.name]
    )


# One sample at a time -------------------------------------------------------------------------------------------------


@sigmas
def test_per_sample_gradient_agrees_with_complex_steps_of_loops(case, sigma):
    at = flat(case.phi.blocks).tolist()
    n = len(case.X)
    expected = [reference.complex_step(naive_output(case, sigma, j), at) for j in range(n)]
    actual = gradients.per_sample_gradient(case.X, case.phi, case.query, sigma)
    assert_agrees(flat(actual, n), expected, case.logit)


@sigmas
def test_per_sample_gradient_agrees_with_autograd(case, sigma):
    phi = leaves(case.phi)
    out = transformer.f(case.X, phi, case.query, sigma)
    expected = torch.stack([flat(torch.autograd.grad(value, phi.blocks, retain_graph=True)) for value in out])
    actual = gradients.per_sample_gradient(case.X, case.phi, case.query, sigma)
    assert_agrees(flat(actual, len(case.X)), expected, case.logit)


def test_per_sample_gradient_has_the_shapes_of_the_blocks(case):
    actual = gradients.per_sample_gradient(case.X, case.phi, case.query)
    assert [tuple(g.shape) for g in actual] == [(len(case.X), *block.shape) for block in case.phi.blocks]


# Features -------------------------------------------------------------------------------------------------------------


@sigmas
def test_features_agree_with_their_definitions_in_loops(case, sigma):
    X, _, _, U, W, q = case.lists
    h = reference.ACTIVATIONS[sigma.name]
    feature = gradients.features(case.X, case.phi, case.query, sigma)
    assert feature.q.tolist() == q
    for j in range(len(X)):
        for i in range(case.phi.m):
            alpha = reference.softmax(reference.logits(X[j], W[i], q[j]))
            a = reference.mean(X[j], alpha)
            z = reference.dot(U[i], a)
            slope = h(complex(z, 1e-30)).imag / 1e-30
            left = [slope * entry for entry in reference.times(reference.covariance(X[j], alpha), U[i])]
            assert_agrees(feature.c[j, i], h(z), case.logit)
            assert_agrees(feature.u[j, i], [slope * entry for entry in a], case.logit)
            assert_agrees(feature.w_left[j, i], left, case.logit)
            assert_agrees(feature.w[j, i], [[entry * other for other in q[j]] for entry in left], case.logit)


def test_features_do_not_depend_on_the_readout(ordinary):
    other = parameters.Parameters(-3 * ordinary.phi.c, ordinary.phi.U, ordinary.phi.W)
    first, second = (gradients.features(ordinary.X, phi) for phi in (ordinary.phi, other))
    assert all(getattr(first, name).equal(getattr(second, name)) for name in ("c", "u", "w_left", "q", "w"))


# The loss -------------------------------------------------------------------------------------------------------------


@sigmas
def test_loss_agrees_with_loops(case, sigma):
    X, y, c, U, W, q = case.lists
    expected = reference.loss(X, y, c, U, W, q, reference.ACTIVATIONS[sigma.name])
    loss, _ = gradients.loss_and_gradient(case.X, case.y, case.phi, case.query, sigma)
    assert_agrees(loss, expected, case.logit)


@sigmas
def test_loss_gradient_agrees_with_complex_steps_of_loops(case, sigma):
    expected = reference.complex_step(naive_loss(case, sigma), flat(case.phi.blocks).tolist())
    _, gradient = gradients.loss_and_gradient(case.X, case.y, case.phi, case.query, sigma)
    assert_agrees(flat(gradient.blocks), expected, case.logit)


@sigmas
def test_loss_gradient_agrees_with_autograd(case, sigma):
    phi = leaves(case.phi)
    loss = (transformer.f(case.X, phi, case.query, sigma) - case.y).square().mean()
    expected = torch.autograd.grad(loss, phi.blocks)
    by_formula, gradient = gradients.loss_and_gradient(case.X, case.y, case.phi, case.query, sigma)
    assert_agrees(by_formula, loss.detach(), case.logit)
    for actual, wanted in zip(gradient.blocks, expected, strict=True):
        assert_agrees(actual, wanted, case.logit)


def large(n: int, m: int = 8, d: int = 3, T: int = 6, dtype: torch.dtype = torch.float64):
    generator = Generator().manual_seed(n)
    X = data.clipped_gaussian(n, T, d, generator, dtype)
    y = torch.randn(n, generator=generator, dtype=dtype)
    return X, y, parameters.random(m, d, generator, dtype)


@given(st.integers(1, 25), st.integers(1, 30))
def test_the_size_of_a_chunk_does_not_matter(n, chunk):
    X, y, phi = large(n)
    whole, gradient = gradients.loss_and_gradient(X, y, phi, chunk=n)
    loss, chunked = gradients.loss_and_gradient(X, y, phi, chunk=chunk)
    assert_agrees(loss, whole)
    for actual, expected in zip(chunked.blocks, gradient.blocks, strict=True):
        assert_agrees(actual, expected)


def test_more_samples_than_the_default_chunk_agree_with_autograd():
    X, y, phi = large(20_003)
    tracked = leaves(phi)
    expected = torch.autograd.grad((transformer.f(X, tracked) - y).square().mean(), tracked.blocks)
    _, gradient = gradients.loss_and_gradient(X, y, phi)
    for actual, wanted in zip(gradient.blocks, expected, strict=True):
        assert_agrees(actual, wanted, logit=10)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_dtype_and_shapes_are_kept(dtype):
    X, y, phi = large(5, dtype=dtype)
    loss, gradient = gradients.loss_and_gradient(X, y, phi, chunk=2)
    feature = gradients.features(X, phi)
    results = [
        loss,
        *gradient.blocks,
        *gradients.per_sample_gradient(X, phi),
        feature.c,
        feature.u,
        feature.w,
        feature.q,
    ]
    assert {result.dtype for result in results} == {dtype}
    assert loss.shape == ()
    assert [block.shape for block in gradient.blocks] == [block.shape for block in phi.blocks]


def test_float32_agrees_with_float64():
    X, y, phi = large(5)
    _, double = gradients.loss_and_gradient(X, y, phi)
    _, single = gradients.loss_and_gradient(X.float(), y.float(), phi.map(torch.Tensor.float))
    for actual, expected in zip(single.blocks, double.blocks, strict=True):
        assert_agrees(actual, expected, logit=10)


# What the formulas say at the edges -----------------------------------------------------------------------------------


def test_a_zero_query_does_not_train_attention():
    X, y, phi = large(4)
    zero = queries.fixed(torch.zeros(3, dtype=torch.float64))
    _, gradient = gradients.loss_and_gradient(X, y, phi, zero)
    assert gradient.W.equal(torch.zeros_like(phi.W))
    assert gradient.U.abs().max() > 0.01


@pytest.mark.parametrize("T", [1, 5])
def test_equal_tokens_do_not_train_attention(T):
    X, y, phi = large(4)
    _, gradient = gradients.loss_and_gradient(X[:, :1].expand(4, T, 3), y, phi)
    assert_agrees(gradient.W, torch.zeros_like(phi.W))
    assert gradient.U.abs().max() > 0.01


def test_labels_that_the_model_meets_leave_no_gradient():
    X, _, phi = large(4)
    loss, gradient = gradients.loss_and_gradient(X, transformer.f(X, phi), phi)
    assert float(loss) <= (64 * EPS) ** 2
    assert_agrees(flat(gradient.blocks), torch.zeros(flat(phi.blocks).shape))


def test_a_small_step_against_the_gradient_lowers_the_loss_by_its_square():
    X, y, phi = large(6)
    loss, gradient = gradients.loss_and_gradient(X, y, phi)
    step = 1e-6
    moved = parameters.Parameters(*(p - step * g for p, g in zip(phi.blocks, gradient.blocks, strict=True)))
    after, _ = gradients.loss_and_gradient(X, y, moved)
    assert float(loss - after) / step == pytest.approx(float(flat(gradient.blocks).square().sum()), rel=1e-4)


# Memory ---------------------------------------------------------------------------------------------------------------


def largest_new_tensor(n: int, chunk: int, m: int = 64) -> int:
    X, y, phi = large(n, m)
    return largest_tensor(lambda: gradients.loss_and_gradient(X, y, phi, chunk=chunk))


def test_the_record_sees_what_is_not_chunked():
    assert largest_new_tensor(n=256, chunk=256) >= 256 * 64 * 6


def test_the_work_of_a_chunk_does_not_grow_with_the_number_of_samples(monkeypatch):
    for check in ("floating", "in_unit_ball"):
        monkeypatch.setattr(arguments, check, lambda name, value, *rest: value)
    few, many = largest_new_tensor(n=32, chunk=4), largest_new_tensor(n=1024, chunk=4)
    assert few == many
    assert many <= max(4 * 64 * (6 + 3), 64 * 3**2)


def test_checking_the_tokens_makes_nothing_larger_than_the_tokens():
    n, T, d = 1024, 6, 3
    assert largest_new_tensor(n, chunk=4) <= n * T * d


def never(z):
    raise AssertionError("the activation was asked although an argument is bad")


UNUSED = activations.Activation.__new__(activations.Activation)
for field in ("value", "first", "second", "third"):
    object.__setattr__(UNUSED, field, never)


@pytest.mark.parametrize(
    ("y", "given_", "allowed"),
    [
        (torch.zeros(3, dtype=torch.float64), "(3,)", "(4,) ([n] as in X)"),
        (torch.zeros(4, 1, dtype=torch.float64), "(4, 1)", "[n]"),
        (torch.zeros(0, dtype=torch.float64), "(0,)", "at least 1"),
        (torch.zeros(4), "torch.float32", "dtype and device of X (torch.float64"),
        (torch.zeros(4, dtype=torch.int64), "torch.int64", "floating-point"),
        (torch.full((4,), math.nan, dtype=torch.float64), "4 entries", "finite"),
        (torch.full((4,), math.inf, dtype=torch.float64), "4 entries", "finite"),
        ([0.0] * 4, "list", "torch tensor"),
    ],
)
def test_bad_labels_are_refused_before_any_work(y, given_, allowed):
    X, _, phi = large(4)
    refused("y", given_, allowed, gradients.loss_and_gradient, X, y, phi, sigma=UNUSED)


@pytest.mark.parametrize("chunk", [0, -1, 2.5, True])
def test_a_bad_chunk_is_refused_before_any_work(chunk):
    X, y, phi = large(4)
    with refused("chunk", repr(chunk), "whole number of at least 1"):
        gradients.loss_and_gradient(X, y, phi, sigma=UNUSED, chunk=chunk)


def test_labels_are_left_as_they_are():
    X, y, phi = large(4)
    before = y.clone()
    gradients.loss_and_gradient(X, y, phi, chunk=3)
    assert y.equal(before)


def test_gram_is_that_of_the_gradients(case):
    J = torch.cat([b.flatten(1) for b in gradients.per_sample_gradient(case.X, case.phi, case.query)], 1)
    feature = gradients.features(case.X, case.phi, case.query)
    assert_agrees(gradients.gram(feature, case.phi.c), J @ J.T, case.logit)

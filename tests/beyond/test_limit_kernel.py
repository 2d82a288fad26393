"""The tangent kernel of two layers in closed form, at finite widths and in the limit."""

import pytest
import torch

from companion.theory.beyond import limit_kernel, one_token, wide
from shallowformer import data
from shallowformer.kernel_regime.kernel import tangent_kernel


def source(seed):
    return torch.Generator().manual_seed(seed)


def test_what_a_matrix_does_on_both_sides_of_the_tokens_agrees():
    Xi = torch.randn(2, 3, 9, generator=source(0), dtype=torch.float64)
    right, left = limit_kernel.sides(Xi, 4, source(1))
    there = torch.einsum("kna,lta->knlt", right, Xi)  # ⟨ξ_t, W ξ_T⟩
    back = torch.einsum("klta,na->knlt", left, Xi[:, -1])
    torch.testing.assert_close(there, back)


def test_both_sides_have_the_variance_of_the_tokens_lengths():
    Xi = torch.randn(1, 2, 6, generator=source(2), dtype=torch.float64)
    right, left = limit_kernel.sides(Xi, 20000, source(3))
    torch.testing.assert_close(right.var(0)[0], Xi[0, -1].square().sum().expand(6), rtol=0.05, atol=0)
    torch.testing.assert_close(
        left.var(0)[0], Xi[0].square().sum(-1)[:, None].expand(2, 6), rtol=0.05, atol=0
    )


def test_tokens_have_the_gram_matrix_that_they_were_made_from():
    tokens = torch.randn(2, 3, 4, generator=source(4), dtype=torch.float64)
    S = torch.einsum("ntd,lsd->ntls", tokens, tokens)
    made = limit_kernel.factor(S)
    torch.testing.assert_close(torch.einsum("ntd,lsd->ntls", made, made), S)


def test_the_second_layer_alone_has_the_kernel_of_one_layer():
    X = data.clipped_gaussian(2, 3, 2, source(5))
    S = torch.einsum("ntd,lsd->ntls", X, X)
    layer = limit_kernel.average(limit_kernel.drawn(X, 2**16, source(6)), 2**16)
    found = sum(limit_kernel.compose(layer, S, {}).values())
    torch.testing.assert_close(found, tangent_kernel.limit(X, 2**16, source(7)).total, rtol=0.03, atol=0.01)


def test_one_token_has_the_closed_form():
    X = torch.tensor([[[1.0, 0.0]]], dtype=torch.float64)
    found = sum(limit_kernel.limit(X, 2**16, source(8)).values())
    assert float(found) == pytest.approx(one_token.limit(), rel=0.02)


def test_a_step_that_is_short_is_linear():
    t = 1.4
    small = float(one_token.moved(torch.tensor(1e-4, dtype=torch.float64), t))
    assert small == pytest.approx(1e-4 * float(one_token.own(torch.tensor(t, dtype=torch.float64))), rel=1e-5)


def test_a_gradient_at_the_stream_is_one_of_every_token():
    X, phi = data.sphere(2, 3, 4, source(9)), wide.start(5, 6, 4, source(10))
    one = wide.network(phi, 0)
    xi = wide.stream(X, one["B1"], one["U1"], one["W1"])
    right, left = limit_kernel.one_side(xi, one["W2"])
    y = torch.einsum("ntb,kb->knt", xi, one["U2"])
    ell = torch.einsum("kna,nta->knt", right, xi)
    assert limit_kernel.backward(y, ell, one["c"], one["U2"], right, left).shape == xi.shape

"""Derivatives are those of autograd, which is not the answer."""

import pytest
import torch

from companion.exercises.kernel_regime import gradients


def of_tokens(X, q, U, W):
    return torch.tanh(torch.softmax(X @ W @ q, 0) @ X @ U)


def test_the_gradient_in_the_tokens_and_in_the_query_is_that_of_autograd():
    for _, (X, q, U, W) in gradients._cases(2):
        of_X, of_q = torch.autograd.functional.jacobian(lambda X, q, U=U, W=W: of_tokens(X, q, U, W), (X, q))
        assert torch.allclose(gradients._token_gradient(X, q, U, W), of_X, atol=1e-12)
        assert torch.allclose(gradients._query_gradient(X, q, U, W), of_q, atol=1e-12)


@pytest.mark.parametrize(("check", "argument"), [(gradients.check_token_gradient, 0), (gradients.check_query_gradient, 1)])  # fmt: skip
def test_what_is_right_by_autograd_is_refused(check, argument):
    told = check(lambda *case: torch.func.grad(of_tokens, argument)(*case))
    assert "write the derivative out" in told.message
    told = check(lambda *case: torch.autograd.functional.jacobian(of_tokens, case)[argument])
    assert "write the derivative out" in told.message

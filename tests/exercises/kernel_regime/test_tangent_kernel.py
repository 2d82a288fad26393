"""A kernel by matrices is refused."""

import torch

from companion.exercises.kernel_regime import tangent_kernel


def test_a_kernel_by_matrices_is_refused():
    def by_matrices(X, Z, q, p, U, W):
        def blocks(X, q):
            alpha = torch.softmax(X @ W @ q, 0)
            a = alpha @ X
            M = (X - a).T @ (alpha[:, None] * (X - a))
            h = torch.tanh(U @ a)
            return h, (1 - h**2) * a, (1 - h**2) * torch.outer(M @ U, q)

        return sum((one * other).sum() for one, other in zip(blocks(X, q), blocks(Z, p), strict=True))

    assert "tensor of d² entries" in tangent_kernel.check_head_kernel(by_matrices).message

"""The problems of Figure 1, as stated."""

import pytest
import torch

from companion.experiments.kernel_regime import certificates, problems
from shallowformer.kernel_regime.kernel import transportation
from shallowformer.kernel_regime.model import parameters


def test_the_paper_s_problem_is_that_of_the_certificates():
    config = certificates.Config(8, 3, n=30, teacher=300)
    loss, _ = certificates.problem(config)
    found = problems.problem("paper", 3, 30, 300)
    assert torch.equal(found.X, loss.X)
    assert torch.allclose(found.labels.mean, loss.y[:, 0], atol=1e-7)
    for mine, theirs in zip(problems.start(8, 3).blocks, certificates.start(config).blocks, strict=True):
        assert torch.equal(mine, theirs)


def test_released_labels_depend_on_the_diagonal_only():
    given = problems.problem("released", 1, 25, 64)
    assert given.trained == 20
    phi = parameters.diagonal(6, problems.D, problems.source(2))
    assert torch.equal(phi.W, torch.diag_embed(phi.W.diagonal(dim1=1, dim2=2)))
    full = parameters.random(6, problems.D, problems.source(2))
    assert torch.equal(phi.U, full.U)
    assert torch.equal(phi.c, full.c)
    # A plain loop over heads: logits Σ_k W_kk X_tk q_k.
    X, v = given.X[:3], given.teacher(phi)
    for i in range(6):
        weights = torch.softmax((X * (phi.W[i].diagonal() * X[:, -1])[:, None]).sum(-1), -1)
        a = (weights[..., None] * X).sum(1)
        spread = (weights * ((X - a[:, None]) @ phi.U[i]))[..., None] * (X - a[:, None])
        slope = 1 - torch.tanh(a @ phi.U[i]) ** 2
        g = torch.tanh(a @ phi.U[i]) * v.c[i] + slope * (
            a @ v.U[i] + ((spread.sum(1) @ v.W[i]) * X[:, -1]).sum(-1)
        )
        assert torch.allclose(g, transportation.g(X, phi, given.teacher)[:, i], atol=1e-12)


def test_variants_between_take_over_one_difference_at_a_time():
    given = {variant: problems.problem(variant, 1, 25, 64) for variant in problems.VARIANTS}
    assert all(torch.equal(problem.X, given["paper"].X) for problem in given.values())
    assert {variant for variant, problem in given.items() if problem.trained < 25} == {"released"}
    phi = parameters.diagonal(6, problems.D, problems.source(2))
    asked = {variant: problem.teacher(phi).W for variant, problem in given.items()}
    assert torch.equal(asked["diagonal"], asked["paper"])
    assert torch.equal(asked["mixed"], asked["released"])
    assert not torch.allclose(asked["mixed"], asked["paper"])
    # The same draws give the same labels: the released variant is "both", trained on a part.
    assert torch.equal(given["both"].labels.mean, given["released"].labels.mean)
    assert not torch.allclose(given["both"].labels.mean, given["mixed"].labels.mean)


def test_a_variant_must_be_known():
    with pytest.raises(ValueError, match="variant must be one of paper, released"):
        problems.problem("text", 0, 4, 4)

"""The problems of Figure 1, as stated; what labels cost; realisable and other targets."""

import itertools
import math

import pytest
import torch

from companion.experiments.kernel_regime import certificates, outside, prices, problems
from companion.theory.kernel_regime import targets
from shallowformer.experiments.experiment import stored
from shallowformer.kernel_regime.kernel import tangent_kernel, transportation
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


CPU = torch.device("cpu")


def test_the_price_of_one_label_is_one_over_its_kernel():
    config = prices.Config(3, (1, 6), heads=64, teacher=64)
    X = problems.problem("paper", 3, 6, 64).X
    kernel = tangent_kernel.limit(X, 64, torch.Generator().manual_seed(5003)).total
    for name, lists in prices.compute(config, CPU).items():
        assert lists["price"][0] == pytest.approx(1 / float(kernel[0, 0]), rel=1e-9), name


def test_a_price_by_a_plain_route():
    """Two draws of the labels by ``represented``, and a least norm by linear equations."""
    config = prices.Config(1, (8,), heads=64, teacher=512)
    given, source = problems.problem("paper", 1, 8, 512), torch.Generator().manual_seed(5001)
    kernel = tangent_kernel.limit(given.X, 64, source).total
    again = transportation.represented(given.X, given.teacher, 512, source).mean
    price = 8 * given.labels.mean @ torch.linalg.solve(kernel, again) / (given.labels.mean @ again)
    assert prices.compute(config, CPU)["paper"]["price"] == [pytest.approx(float(price), rel=1e-4)]


def test_stored_prices_stay_below_their_ceiling():
    rows = stored(prices.EXPERIMENT)
    assert len(rows) == 11
    for row in rows:
        for name in prices.OWN:
            assert all(a < b for a, b in zip(row[name]["price"], row[name]["ceiling"], strict=True))


def test_the_linear_model_leaves_what_descent_on_it_leaves():
    config = prices.Left(2, 6, heads=64, teacher=64)
    given = problems.problem("mixed", 2, 6, 64)
    kernel = tangent_kernel.limit(given.X, 64, torch.Generator().manual_seed(6002)).total
    residual = y = given.labels.mean
    for _ in range(4000):
        residual = residual - 2 / 4000**0.5 / 6 * kernel @ residual
    left = float(residual.square().sum() / y.square().sum())
    assert prices.compute_left(config, CPU)["left"]["mixed"] == pytest.approx(left, rel=1e-6)


def test_the_closed_form_of_the_linear_model_is_its_descent():
    config = outside.Config(4, 0, n=8, T=3, teacher=16)
    X, Y, Z, labels = outside.problem(config)
    assert torch.equal(Z[:8], -Z[8:])
    assert torch.allclose(Y.square().mean(0), torch.ones(len(targets.NAMES), dtype=Y.dtype))
    even = targets.NAMES.index("product")
    assert torch.allclose(labels[:8, even], labels[8:, even])
    K = tangent_kernel.finite(X, outside.start(config)).total
    lam, V = torch.linalg.eigh(K)
    alpha, f = torch.zeros_like(Y), torch.zeros_like(Y)
    for _ in range(7):
        alpha = alpha - 2 * 0.4 / 8 * (f - Y)
        f = K @ alpha
    assert torch.allclose(outside._after(7, 0.4, lam, V, Y), alpha)


def test_norms_rise_with_the_sample():
    for row in stored(outside.NORMS):
        for values in row["norms"].values():
            assert all(a <= b * (1 + 1e-9) for a, b in itertools.pairwise(values))


def test_certificates_hold():
    for row in stored(outside.CERTIFIED):
        for seen in row["targets"].values():
            assert (seen["theta"] < 1) == (seen["certificate"][-1] != "inf")
            assert all(
                mean <= float(bound) for mean, bound in zip(seen["mean"], seen["certificate"], strict=True)
            )
            assert all(math.isfinite(value) for value in seen["epsilon"])

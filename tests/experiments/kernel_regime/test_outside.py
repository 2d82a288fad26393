"""Realisable and other targets: the linear model in closed form, and what is stored."""

import itertools
import math

import torch

from companion.experiments.kernel_regime import outside
from companion.theory.kernel_regime import targets
from shallowformer.experiments.experiment import stored
from shallowformer.kernel_regime.kernel import tangent_kernel


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

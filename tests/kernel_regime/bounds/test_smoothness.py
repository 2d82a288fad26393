"""The constants of Lemma 2 against brute-force maximisation, closed forms at special radii, and attained values."""

import itertools
import math

import numpy as np
import pytest
import torch
from scipy import optimize

from checks import random_laws, refused
from shallowformer import activations, softmax
from shallowformer.activations import TANH
from shallowformer.kernel_regime.bounds import smoothness
from shallowformer.kernel_regime.model import hessian

RADII = [0.0, 0.2, 0.5, 1.0, math.sqrt(8), 7.0, 30.0]


def value(s, R):
    return (1 - s**2) * (s * R + math.sqrt(1 + s**2 * R**2))


@pytest.mark.parametrize("R", RADII)
def test_h_star_is_the_maximum(R):
    found = optimize.minimize_scalar(
        lambda s: -value(s, R), bounds=(0, 1), method="bounded", options={"xatol": 1e-12}
    )
    assert smoothness.H_star(R) == pytest.approx(-found.fun, rel=1e-13)
    assert value(smoothness.extremal_mean(R), R) == pytest.approx(smoothness.H_star(R), rel=1e-14)


def test_h_star_at_the_radii_of_the_acceptance():
    for R, expected in ((1, 1.240806), (2, 1.811660), (4, 3.221330), (7, 5.470663)):
        assert smoothness.H_star(float(R)) == pytest.approx(expected, abs=6e-7)


@pytest.mark.parametrize(("T", "d"), [(2, 1), (3, 2), (6, 3)])
def test_no_random_law_exceeds_a_bound(T, d):
    X, alpha = random_laws(T, d)
    a = softmax.mean(X, alpha)
    e = torch.nn.functional.normalize(X[:, 0] - a, dim=-1)
    for R in (0.3, 1.0, 5.0):
        U = R * e
        h = torch.linalg.eigvalsh(hessian.hidden(X, alpha, U)).abs().amax(-1)
        z = torch.linalg.eigvalsh(hessian.preactivation(X, alpha, U)).abs().amax(-1)
        slope = hessian.gradient(X, alpha, U).norm(dim=-1)
        assert float(z.max()) <= smoothness.H_star(R) * (1 + 1e-12)
        assert float(h.max()) <= smoothness.L2(R) * (1 + 1e-9)
        assert float(slope.max()) <= max(1.0, R) + 1e-12


@pytest.mark.parametrize("sigma", activations.ALL, ids=lambda sigma: sigma.name)
def test_constants_are_in_order(sigma):
    for R in RADII:
        attained, coupled = smoothness.L2_two_camps(R, sigma), smoothness.L2(R, sigma)
        generic, paper = smoothness.L2_generic(R, sigma), smoothness.L2_paper(R, sigma)
        assert attained * (1 - 1e-9) <= coupled <= generic * (1 + 1e-12) <= paper
        assert smoothness.L1(R, sigma) <= smoothness.L1_paper(R, sigma)
        assert smoothness.H_star(R) <= smoothness.preactivation_paper(R)


@pytest.mark.parametrize(
    "constant",
    [
        smoothness.L1, smoothness.L1_paper, smoothness.L2, smoothness.L2_paper, smoothness.L2_generic, smoothness.L3,
        smoothness.H_star, smoothness.preactivation_paper,
    ],
)  # fmt: skip
def test_a_constant_does_not_decrease(constant):
    values = [constant(float(R)) for R in np.linspace(0, 10, 41)]
    assert all(after >= before * (1 - 1e-9) for before, after in itertools.pairwise(values))


@pytest.mark.parametrize("R", [0.5, 2.0, 7.0])
def test_two_camps_are_the_hessian_of_two_camps(R):
    for s in (-0.4, 0.0, 0.3, 0.95):
        X = torch.tensor([[0.6, 0.8], [-0.6, -0.8]], dtype=torch.float64)
        alpha = torch.tensor([(1 + s) / 2, (1 - s) / 2], dtype=torch.float64)
        norm = torch.linalg.eigvalsh(hessian.hidden(X, alpha, R * X[0])).abs().max()
        formula = smoothness.two_camps(R, torch.tensor(s, dtype=torch.float64))
        assert float(formula) == pytest.approx(float(norm), rel=1e-12)
    grid = torch.linspace(-1, 1, 200_001, dtype=torch.float64)
    assert smoothness.L2_two_camps(R) == pytest.approx(float(smoothness.two_camps(R, grid).max()), rel=1e-8)


def test_the_papers_constants():
    assert smoothness.L1_paper(2.0) == pytest.approx(math.sqrt(5))
    assert smoothness.L2_paper(2.0) == pytest.approx(TANH.bounds[2] * 5 + 8 * math.sqrt(5))
    assert smoothness.preactivation_paper(2.0) == pytest.approx(math.sqrt(258))


CONSTANTS = [
    smoothness.L1, smoothness.L1_paper, smoothness.L2, smoothness.L2_paper, smoothness.L2_generic, smoothness.L3,
    smoothness.L2_two_camps, smoothness.H_star, smoothness.extremal_mean, smoothness.preactivation_paper,
]  # fmt: skip


@pytest.mark.parametrize("constant", CONSTANTS)
def test_a_tensor_is_taken_entry_by_entry(constant):
    R = torch.tensor([[0.0, 0.5], [1.0, 7.0]], dtype=torch.float64)
    found = constant(R)
    assert found.shape == R.shape
    assert isinstance(constant(0.5), float)
    one_by_one = torch.tensor([[constant(float(r)) for r in row] for row in R], dtype=torch.float64)
    assert torch.allclose(found, one_by_one, rtol=1e-14, atol=0)


def test_a_mean_beyond_the_camps_is_refused():
    refused("s", "1.5", "[-1, 1]", smoothness.two_camps, 1.0, torch.tensor([1.5]))

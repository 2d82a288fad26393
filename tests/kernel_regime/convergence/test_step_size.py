"""Step sizes: eigenvalue and trace of the kernel against dense gradients, and the length of a run's path."""

import pytest
import torch
from torch import Generator

from checks import refused
from shallowformer import activations, data, queries
from shallowformer.kernel_regime.convergence import step_size
from shallowformer.kernel_regime.model import gradients, parameters


@pytest.mark.parametrize("sigma", [activations.TANH, activations.LOGISTIC], ids=lambda sigma: sigma.name)
@pytest.mark.parametrize("query", [queries.last_token, queries.seeded(3, 1)], ids=["last", "seeded"])
def test_eigenvalue_and_trace_of_the_gradients(sigma, query):
    generator = Generator().manual_seed(0)
    X, phi = data.clipped_gaussian(7, 4, 3, generator), parameters.random(5, 3, generator)
    J = torch.cat([g.flatten(1) for g in gradients.per_sample_gradient(X, phi, query, sigma)], 1)
    largest = float(torch.linalg.matrix_norm(J, 2)) ** 2 / 7
    assert step_size.curvature(X, phi, query, sigma) == pytest.approx(largest, rel=1e-12)
    assert step_size.trace(X, phi, query, sigma) == pytest.approx(float(J.square().sum()) / 7, rel=1e-12)


def test_equal_inputs_have_one_eigenvalue():
    generator = Generator().manual_seed(1)
    X = data.sphere(1, 4, 3, generator).repeat(6, 1, 1)
    phi = parameters.symmetric(8, 3, generator)
    assert step_size.curvature(X, phi) == pytest.approx(step_size.trace(X, phi), rel=1e-12)


def test_the_path_by_hand():
    found = step_size.path(torch.tensor([4.0, 1.0, 0.25]), 0.5)
    assert found.tolist() == [0.0, 2.0, 3.0, 3.5]
    refused("losses", "-1", "at least 0", step_size.path, -torch.ones(2), 0.1)

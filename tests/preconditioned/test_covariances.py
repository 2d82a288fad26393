"""Spectra as asked for, roots that are roots, and singular matrices refused."""

import pytest
import torch

from checks import refused
from shallowformer.preconditioned import covariances


def test_a_geometric_spectrum():
    found = covariances.geometric(4, 8.0, 1.0)
    assert torch.allclose(found, torch.tensor([8, 4, 2, 1], dtype=torch.float64))
    assert covariances.geometric(1, 2.0, 1.0).tolist() == [2.0]


@pytest.mark.parametrize("condition", [1.0, 10.0, 1000.0])
def test_the_spectrum_is_as_asked_for(condition, generator):
    values = torch.linalg.eigvalsh(covariances.random(4, condition, generator()))
    assert torch.allclose(values.flip(0), covariances.geometric(4, 1.0, 1 / condition), rtol=1e-10)


def test_bases_are_orthogonal_and_of_both_orientations(generator):
    g = generator()
    signs = set()
    for _ in range(20):
        O = covariances.orthogonal(3, g)
        assert torch.allclose(O @ O.T, torch.eye(3, dtype=torch.float64), atol=1e-14)
        signs.add(round(float(torch.linalg.det(O))))
    assert signs == {1, -1}


def test_roots(generator):
    Sigma = covariances.random(5, 100.0, generator())
    root, inverse = covariances.roots(Sigma)
    one = torch.eye(5, dtype=torch.float64)
    assert torch.allclose(root @ root, Sigma, atol=1e-14)
    assert torch.allclose(root @ inverse, one, atol=1e-13)
    assert torch.equal(root.T.round(decimals=13), root.round(decimals=13))


def test_refused(draw):
    singular = torch.diag(torch.tensor([1.0, 1e-18], dtype=torch.float64))
    refused("Sigma", "1e-18", "positive definite", covariances.roots, singular)
    refused("Sigma", "-1", "positive definite", covariances.roots, -torch.eye(2, dtype=torch.float64))
    with refused("Sigma", "differ", "symmetric"):
        covariances.roots(torch.tensor([[1.0, 0.5], [0.0, 1.0]], dtype=torch.float64))
    refused("Sigma", "(2, 3)", "square", covariances.roots, draw(2, 3))
    with refused("Sigma", "1 entries", "finite"):
        covariances.roots(torch.tensor([[torch.nan]], dtype=torch.float64))
    refused("condition", "0.5", "at least 1", covariances.random, 2, 0.5, torch.Generator())
    refused("smallest", "3", "largest = 2", covariances.geometric, 2, 2.0, 3.0)

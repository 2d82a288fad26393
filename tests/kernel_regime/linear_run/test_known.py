"""What is known before the first step, against plain iteration."""

import functools

import pytest
import torch
from torch.autograd.functional import jacobian

from checks import refused
from shallowformer import data
from shallowformer.kernel_regime.kernel import tangent_kernel
from shallowformer.kernel_regime.linear_run import curvature, known
from shallowformer.kernel_regime.model import gradients, parameters

ETA, STEPS = 0.4, 12


def task(n=7, T=4, d=2, m=6, seed=0):
    generator = torch.Generator().manual_seed(seed)
    X = data.clipped_gaussian(n, T, d, generator)
    y = 0.3 * torch.randn(n, generator=generator, dtype=torch.float64)
    return X, y, parameters.symmetric(m, d, generator)


def test_the_linear_run_is_descent_on_the_linear_model():
    X, y, phi0 = task()
    G = tangent_kernel.finite(X, phi0).total / len(X)
    run = known.linear_run(G, y, ETA, STEPS)
    u, powers = -y, torch.eye(len(X), dtype=X.dtype)
    values, vectors = torch.linalg.eigh(G)
    root = vectors * values.clamp(min=0).sqrt()
    for s in range(STEPS + 1):
        assert torch.allclose(run.u[s], u, rtol=1e-12, atol=1e-14)
        assert float(run.mu[s]) == pytest.approx(float(u.norm()) / len(X) ** 0.5, rel=1e-12)
        norm = lambda matrix: float(torch.linalg.matrix_norm(matrix, 2))
        assert float(run.smooth[s]) == pytest.approx(norm(2 * ETA * G @ powers), rel=1e-9)
        assert float(run.rough[s]) == pytest.approx(norm(powers @ root), rel=1e-9)
        u, powers = u - 2 * ETA * G @ u, powers - 2 * ETA * G @ powers


def plain_path(X, y, phi0):
    """α, β, γ, χ of all pairs before every step, from full derivatives by automatic differentiation."""
    n, N, d = len(X), phi0.m // 2, phi0.d
    theta = torch.cat([phi0.U, phi0.W.flatten(1)], 1)[:N]

    def values(point):  # h of all samples and pairs
        U, W = point[:, :d], point[:, d:].reshape(N, d, d)
        alpha = torch.softmax(torch.einsum("ntd,Nde,ne->nNt", X, W, X[:, -1]), -1)
        return torch.tanh(torch.einsum("nNt,ntd,Nd->nN", alpha, X, U))

    first = lambda point: jacobian(values, point, create_graph=True)
    g = torch.einsum("jiip->jip", first(theta))
    H = torch.einsum("jiipiq->jipq", jacobian(first, theta))
    h, c, unit = values(theta), phi0.c[:N], 2 * ETA / phi0.m**0.5
    G = tangent_kernel.finite(X, phi0).total / n
    u, path = -y, []
    alpha, beta = torch.zeros_like(theta), torch.zeros_like(theta)
    gamma, chi = torch.zeros(N, dtype=X.dtype), torch.zeros(N, dtype=X.dtype)
    for _ in range(STEPS + 1):
        path.append((alpha, beta, gamma, chi))
        mean = functools.partial(torch.einsum, "j,j...->...", u / n)
        Ha = torch.einsum("jipq,iq->jip", H, alpha)
        beta = beta - unit * mean(c[:, None] * Ha + gamma[:, None] * g)
        chi = chi - unit * mean(torch.einsum("jip,ip->ji", g, alpha))
        alpha, gamma = alpha - unit * c[:, None] * mean(g), gamma - unit * mean(h)
        u = u - 2 * ETA * G @ u
    return [torch.stack(part) for part in zip(*path, strict=True)]


@pytest.fixture(scope="module")
def plain():
    """The path of ``task()``."""
    return plain_path(*task())


def test_the_path_of_the_pairs_to_second_order(plain):
    X, y, phi0 = task()
    _, found = known.known(X, y, phi0, ETA, STEPS)
    alpha, beta, gamma, chi = plain
    for got, want in (
        (found.alpha, alpha.norm(dim=-1)),
        (found.beta, beta.norm(dim=-1)),
        (found.gamma, gamma.abs()),
        (found.chi, chi.abs()),
    ):
        assert torch.allclose(got, want, rtol=1e-9, atol=1e-14)


@pytest.mark.parametrize("every", [1, 3, 5, 100])
def test_sizes_along_a_reference_and_the_distances_from_it(every, plain):
    X, y, phi0 = task()
    _, found = known.known(X, y, phi0, ETA, STEPS, every)
    alpha, _, gamma, _ = plain
    N = phi0.m // 2
    heads = curvature.Heads(X, X[:, -1], phi0.U[:N], phi0.W[:N])
    for s in range(STEPS + 1):
        at = min(s - s % every + every // 2, STEPS)
        assert torch.allclose(found.off_alpha[s], (alpha[s] - alpha[at]).norm(dim=-1), atol=1e-12)
        assert torch.allclose(found.off_gamma[s], (gamma[s] - gamma[at]).abs(), atol=1e-12)
        assert torch.allclose(found.reference[s], alpha[at].norm(dim=-1), atol=1e-12)
        along = heads.along(heads.seen(alpha[at]))
        assert torch.allclose(found.g_alpha[s], along.first.square().mean(0).sqrt(), atol=1e-12)
        assert torch.allclose(found.t_alpha[s], along.cubic.square().mean(0).sqrt(), atol=1e-12)
        if s % every == 0:
            assert float(found.off_beta[s].max()) == 0


def test_the_operator_norm_is_that_of_the_data():
    X, y, phi0 = task()
    _, found = known.known(X, y, phi0, ETA, STEPS)
    N, m = phi0.m // 2, phi0.m
    _, gU, gW = gradients.per_sample_gradient(X, phi0)
    full = m**0.5 * torch.cat([gU, gW.flatten(2)], 2)[:, :N]
    for i in range(N):
        want = torch.linalg.matrix_norm(full[:, i], 2) / len(X) ** 0.5
        assert float(found.operator[i]) == pytest.approx(float(want), rel=1e-9)
        assert found.operator[i] <= found.gradient[i] * (1 + 1e-12)


def test_parts_do_not_change_what_is_known(monkeypatch):
    X, y, phi0 = task()
    whole = known.known(X, y, phi0, ETA, STEPS, 3)[1]
    monkeypatch.setattr(known, "ENTRIES", 1)
    for name, part in vars(known.known(X, y, phi0, ETA, STEPS, 3)[1]).items():
        assert torch.allclose(part, getattr(whole, name), rtol=1e-12, atol=1e-15), name


def test_refusals():
    X, y, phi0 = task()
    unpaired = parameters.random(6, 2, torch.Generator().manual_seed(0))
    refused("phi0", "i + m/2", "symmetric", known.known, X, y, unpaired, ETA, STEPS)
    with refused("phi0.c", "2.0", "±1"):
        known.known(X, y, parameters.Parameters(2 * phi0.c, phi0.U, phi0.W), ETA, STEPS)
    refused("eta", "1000.0", "at most 1/λ_max", known.known, X, y, phi0, 1000.0, STEPS)
    refused("steps", "0", "at least 1", known.known, X, y, phi0, ETA, 0)
    refused("y", "(3,)", "[n]", known.known, X, y[:3], phi0, ETA, STEPS)

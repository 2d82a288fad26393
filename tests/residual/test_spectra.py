"""Singular values by eigenvalues of Gram matrices; both PL inequalities, and where they are equalities."""

import math

import pytest
import torch

from checks import refused
from shallowformer.residual import gradients, model, spectra, starts
from shallowformer.residual.parameters import BLOCKS, Parameters, Setting
from shallowformer.residual.smoothed import RELU, SmoothedReLU


def by_gram(M):
    """σ_min of a matrix with at least as many columns as rows, from M Mᵀ."""
    return math.sqrt(max(float(torch.linalg.eigvalsh(M @ M.T)[0]), 0.0))


def test_every_number_by_gram_matrices(case):
    one = case(P=1, N=3, d=5, d_1=12)
    now, found = model.forward(*one.model), spectra.spectrum(*one.model)
    assert float(found.sigma_A) == pytest.approx(by_gram(now.A[0]))
    assert float(found.sigma_Z) == pytest.approx(by_gram(now.Z[0]))
    assert float(found.sigma_H) == pytest.approx(by_gram(now.H[0]))
    assert float(found.sigma_U) == pytest.approx(by_gram(one.theta.W_U.T))
    assert float(found.smallest_Z[0]) == pytest.approx(by_gram(now.Z[0]))
    top = math.sqrt(float(torch.linalg.eigvalsh(now.Z[0] @ now.Z[0].T)[-1]))
    assert float(found.largest_Z[0]) == pytest.approx(top)
    assert float(found.condition_Z[0]) == pytest.approx(top / by_gram(now.Z[0]))
    assert torch.allclose(spectra.condition(now.Z), found.condition_Z)
    assert torch.allclose(spectra.largest(now.Z), found.largest_Z)


def test_sequences_are_stacked_row_by_row(case):
    now = model.forward(*case().model)
    rows = spectra.stacked(now.A)
    assert rows.shape == (6, 12)
    assert torch.equal(rows[4], now.A[1, 1])
    assert float(spectra.spectrum(*case().model).sigma_A) == pytest.approx(by_gram(rows))


def test_networks_side_by_side(case):
    several = [case(seed=seed) for seed in range(3)]
    X, theta = torch.stack([one.X for one in several]), starts.side_by_side([one.theta for one in several])
    together = spectra.spectrum(X, theta, several[0].setting)
    for i, one in enumerate(several):
        alone = spectra.spectrum(*one.model)
        for name in spectra.Spectrum.__dataclass_fields__:
            assert torch.allclose(getattr(together, name)[i], getattr(alone, name))


def squares(one):
    return [float(W.square().sum()) for W in gradients.gradients(*one.all)]


def test_pl_inequalities_on_badly_scaled_networks(case):
    least = {"2": math.inf, "U": math.inf}
    for seed in range(60):
        sizes = 10 ** (2 * torch.rand(6, generator=torch.Generator().manual_seed(seed)) - 1)
        scales = dict(zip(BLOCKS, sizes.tolist(), strict=True))
        wide = case(2, 4, 5, 3, 24, 3, seed=seed, scales=scales, tau=seed % 2 * 0.3)
        Phi, found = float(model.loss(*wide.all)), squares(wide)
        least["2"] = min(least["2"], found[4] / (float(spectra.pl_2(*wide.model)) * Phi))
        tall = case(1, 4, 9, 3, 5, 3, seed=seed, scales=scales, tau=seed % 2 * 0.3)
        Phi, found = float(model.loss(*tall.all)), squares(tall)
        least["U"] = min(least["U"], found[5] / (float(spectra.pl_u(*tall.model)) * Phi))
    assert least["2"] >= 1
    assert least["U"] >= 1


def test_both_are_equalities_along_the_smallest_singular_vectors(case):
    """E = u vᵀ with u the last left singular vector of Ā (of H̄) and v the right one of W_U."""
    one = case(2, 3, 7, 3, 12, 2)
    now = model.forward(*one.model)
    v = torch.linalg.svd(one.theta.W_U, full_matrices=False)[2][-1]
    for M, block, constant in ((now.A, 4, spectra.pl_2), (now.H, 5, spectra.pl_u)):
        u = torch.linalg.svd(spectra.stacked(M), full_matrices=False)[0][:, -1]
        Y = now.F - (u[:, None] * v).reshape(now.F.shape)
        changed = type(one)(one.X, Y, one.theta, one.setting, one.generator)
        assert squares(changed)[block] == pytest.approx(float(constant(*one.model)) / 2)  # Φ = ½


def test_sizes_at_which_nothing_is_said_are_refused(case):
    refused("P·N", "6", "d_1, the columns of W_1, = 5", spectra.pl_2, *case(d_1=5).model)
    refused("K", "6", "d = 5", spectra.pl_2, *case(K=6).model)
    refused("P·N", "6", "d = 5", spectra.pl_u, *case(d=5).model)


@pytest.mark.parametrize("g", [0.0, 1.0, 5.0])
def test_weyl(case, g):
    for seed in range(20):
        one = case(seed=seed, g=g, scales={"W_V": 0.1})
        assert bool((spectra.spectrum(*one.model).smallest_Z >= spectra.weyl(*one.model) - 1e-12).all())
    expected = [g * by_gram(x) - math.sqrt(3) * float(x.norm(dim=1).max()) * float(torch.linalg.matrix_norm(one.theta.W_V, 2)) for x in one.X]  # fmt: skip
    assert spectra.weyl(*one.model).tolist() == pytest.approx(expected)


def test_weyl_is_attained(case):
    """Tokens √N-orthonormal ± a common direction would need more; one token is enough: Z = x(g + W_V), W_V = −½I."""
    one = case(N=1, d=3, g=2.0)
    setting = Setting(2.0, 1.0, RELU)
    theta = one.theta._replace(W_V=-0.5 * torch.eye(3).double())
    found = spectra.spectrum(one.X, theta, setting).smallest_Z
    assert torch.allclose(found, spectra.weyl(one.X, theta, setting))


def test_weyl_side_by_side(case):
    several = [case(seed=seed, g=g) for seed, g in enumerate((0.5, 1.0))]
    X, theta = torch.stack([one.X for one in several]), starts.side_by_side([one.theta for one in several])
    found = spectra.weyl(X, theta, Setting(torch.tensor([0.5, 1.0]).double(), 1.0, SmoothedReLU(0.3)))
    for i, one in enumerate(several):
        assert torch.allclose(found[i], spectra.weyl(*one.model))


def test_a_residual_does_not_give_full_rank(case):
    """Uniform attention and W_V = −I: Z = X − mean, whatever rank X has."""
    one = case(N=4, d=6, scales={"W_Q": 0.0})
    theta = one.theta._replace(W_V=-torch.eye(6).double())
    assert float(spectra.smallest(one.X).min()) > 0.1
    assert float(spectra.spectrum(one.X, Parameters(*theta), one.setting).smallest_Z.max()) < 1e-14

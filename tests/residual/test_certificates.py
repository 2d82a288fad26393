"""Certificates: their fixed points and formulas by hand, what they promise along runs, what is refused."""

import dataclasses
import math

import pytest
import torch

from checks import refused
from companion.theory.residual import certificates, derivatives, tangent
from companion.theory.residual.path_length import Certificate
from shallowformer.residual import curvature, datasets, descent, model, spectra, starts
from shallowformer.residual.parameters import Setting
from shallowformer.residual.smoothed import RELU, SmoothedReLU

SMOOTH = Setting(activation=SmoothedReLU(0.3))


def instance(seed, sizes=(2, 3, 6, 4, 40, 2), setting=SMOOTH):
    P, N, d, *rest = sizes
    source = torch.Generator().manual_seed(seed)
    X = datasets.gaussian(P, N, d, source)
    return X, starts.gaussian(d, *rest, source), setting


@pytest.mark.parametrize("delta", [0.02, 0.5, 0.95])
def test_every_certificate_solves_its_equation(delta):
    X, theta, setting = instance(0)
    sigma = spectra.spectrum(X, theta, setting)
    a, u, h = (float(value) for value in (sigma.sigma_A, sigma.sigma_U, sigma.sigma_H))
    at = lambda r: derivatives.forms(X, theta, setting, r)
    J = tangent.jacobian(X, theta, setting)
    low, high = (float(torch.linalg.svdvals(J)[k]) for k in (-1, 0))
    for found, s_0, slope in (
        (certificates.by_kernel(X, theta, setting, delta), low, lambda r: float(at(r).M_2)),
        (certificates.by_layers(X, theta, setting, delta), a * u, lambda r: math.hypot(a, float(at(r).ell_A) * u)),
        (certificates.by_unembedding(X, theta, setting, delta), h, lambda r: float(at(r).ell_H)),
    ):  # fmt: skip
        assert found.s_0 == pytest.approx(s_0)
        assert found.slope == pytest.approx(slope(found.r))
        assert found.r * slope(found.r) == pytest.approx(delta * s_0)
        assert found.delta == pytest.approx(delta)
        assert pytest.approx(float(at(found.r).M_2)) == found.M_2
        assert pytest.approx(high) == found.J_0


def test_both_readouts_keep_the_unembedding_above_its_share():
    X, theta, setting = instance(1, (2, 4, 7, 3, 7, 2))
    sigma_U = float(spectra.smallest(theta.W_U))
    found = certificates.by_both(X, theta, setting, 0.5, share=0.25)
    assert found.s_0**2 == pytest.approx(float(tangent.readout(X, theta, setting, sigma_U / 4)))
    at = derivatives.forms(X, theta, setting, found.r)
    assert found.slope == pytest.approx(math.hypot(float(at.ell_H), sigma_U / 4 * float(at.ell_A)))
    tight = certificates.by_both(X, theta, setting, 0.99, share=1 - 1e-6)
    assert tight.r <= sigma_U * 1.001e-6
    assert tight.delta < 0.99


def test_relu_stops_before_the_nearest_kink():
    X, theta, setting = instance(0, setting=Setting(activation=RELU))
    found = certificates.by_layers(X, theta, setting, 0.75, one_sided=True)
    nearest = float(model.forward(X, theta, setting).pre.abs().min())
    ell_A = float(derivatives.forms(X, theta, setting, found.r, one_sided=True).ell_A)
    assert found.r * ell_A == pytest.approx(nearest)
    assert found.r * ell_A < nearest
    assert found.delta < 0.1


KERNEL = Certificate(s_0=0.5, slope=3.0, r=0.1, J_0=2.0, M_2=3.0)
LAYERS = dataclasses.replace(KERNEL, slope=1.0, r=0.2)


def test_formulas_of_the_kernels_certificate():
    assert KERNEL.delta == pytest.approx(0.6)
    assert KERNEL.mu == pytest.approx(1 / 2.3**2)
    assert KERNEL.error == pytest.approx(0.05 - 0.015)
    assert KERNEL.loss == pytest.approx(0.035**2 / 2)
    assert KERNEL.least(KERNEL.error) == pytest.approx(0.4 * 0.5)
    assert KERNEL.path(KERNEL.error) == pytest.approx(KERNEL.r)
    assert KERNEL.path(0.02) == pytest.approx((0.5 - math.sqrt(0.25 - 0.12)) / 3)
    assert KERNEL.distance(0.02, 0.01) == pytest.approx(0.01 / math.sqrt(0.25 - 0.12))
    factor = (1 - 0.1 * (0.25 - 0.12) * (1 - 0.15 * 0.01)) ** 2
    assert KERNEL.factor(0.02, 0.01, mu=0.1) == pytest.approx(factor)
    assert KERNEL.factor(0.02, 0.0) == pytest.approx((1 - KERNEL.mu * 0.13) ** 2)


def test_formulas_of_the_layers_certificate():
    budget, mu = 0.5 * 0.2 - 0.02, 1 / 2.6**2
    assert LAYERS.error == pytest.approx(budget / (1 + mu * 3 * budget))
    assert LAYERS.spent(LAYERS.error) == pytest.approx(budget)
    assert LAYERS.path(LAYERS.error) == pytest.approx(0.2)
    spent = 0.03 / (1 - mu * 3 * 0.03)
    assert LAYERS.least(0.03) == pytest.approx(math.sqrt(0.25 - 2 * spent))
    later = 0.01 / (1 - mu * 3 * 0.01)
    assert LAYERS.distance(0.03, 0.01) == pytest.approx(later / LAYERS.least(0.03))


@pytest.mark.parametrize("by", ["kernel", "layers", "unembedding", "both"])
@pytest.mark.usefixtures("long")
def test_a_run_keeps_what_is_promised(by):
    X, theta, setting = instance(2)
    found = getattr(certificates, f"by_{by}")(X, theta, setting, 0.5)
    E = torch.randn(2, 3, 2, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    e = 0.999 * found.error
    Y = model.outputs(X, theta, setting) - e / E.norm() * E
    run = descent.run(X, Y, theta, setting, mu=found.mu, steps=60, every=1)
    errors = (2 * run.loss).sqrt()
    assert bool((run.loss[1:] <= found.factor(e, errors[:-1]) * run.loss[:-1] * (1 + 1e-9)).all())
    assert float(run.path[-1]) <= found.path(e) <= found.r
    assert float(errors[0]) == pytest.approx(e)


@pytest.mark.usefixtures("long")
def test_the_certified_step_covers_the_ball():
    X, theta, setting = instance(1)
    source = torch.Generator().manual_seed(0)
    Y = model.outputs(X, theta, setting) + 0.01
    L = certificates.smoothness(X, Y, theta, setting, 0.02)
    sampled = curvature.largest_on_ball(X, Y, theta, setting, 0.02, source)
    assert sampled <= L <= 1.6 * sampled
    at_centre = certificates.smoothness(X, Y, theta, setting, 0.0)
    e, M_2 = 0.01 * math.sqrt(12), float(derivatives.forms(X, theta, setting, 0.0).M_2)
    assert at_centre == pytest.approx(tangent.ends(X, theta, setting)[1] ** 2 + e * M_2)


def test_blocks_of_zeros_are_allowed():
    X, theta, setting = instance(0)
    theta = starts.scaled(theta, W_Q=0.0, W_K=0.0, W_2=0.0)
    assert certificates.by_layers(X, theta, setting).error > 0


def test_what_is_refused():
    X, theta, setting = instance(0)
    for by in ("kernel", "layers", "unembedding", "both"):
        refused("delta", "1.0", "(0, 1)", getattr(certificates, f"by_{by}"), X, theta, setting, 1.0)
    with refused("W_U", "full rank", "above rounding"):
        certificates.by_layers(X, starts.scaled(theta, W_U=0.0), setting)
    with refused("hidden layer A", "full rank", "above rounding"):
        certificates.by_layers(X[:1].repeat(2, 1, 1), theta, setting)
    with refused("the Jacobian of all outputs", "full rank", "above rounding"):
        certificates.by_kernel(X[:1].repeat(2, 1, 1), theta, setting)
    with refused("H", "full rank", "above rounding"):
        certificates.by_unembedding(X[:1].repeat(2, 1, 1), theta, setting)
    with refused("[H, cA]", "full rank", "above rounding"):
        certificates.by_both(X[:1].repeat(2, 1, 1), theta, setting)
    refused("P·N", "6", "d", certificates.by_unembedding, *instance(0, (2, 3, 5, 4, 40, 2)))
    refused("P·N", "6", "d_1", certificates.by_layers, *instance(0, (2, 3, 6, 4, 5, 2)))
    refused("K", "7", "d = 6", certificates.by_both, *instance(0, (2, 3, 6, 4, 40, 7)))
    refused("activation", "ReLU", "Lipschitz", certificates.by_layers, X, theta, Setting(activation=RELU))
    refused("e", "0.04", "error = 0.035", KERNEL.path, 0.04)
    refused("mu", "0.5", "mu = 0.189", KERNEL.factor, 0.01, 0.01, 0.5)

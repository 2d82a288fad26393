"""Constants against a direct calculation, each bound against points of the region it is for, and both theorems along runs."""

import math

import pytest
import torch

from checks import refused
from companion.theory.residual import admissible, certificates
from shallowformer.residual import curvature, datasets, descent, gradients, model, spectra, starts
from shallowformer.residual.parameters import BLOCKS, Parameters, PerBlock, Setting
from shallowformer.residual.smoothed import RELU, SmoothedReLU
from shallowformer.training import points

SMOOTH = Setting(activation=SmoothedReLU(0.3))


def instance(seed, setting=SMOOTH):
    """The sizes of the note's experiment E-A."""
    source = torch.Generator().manual_seed(seed)
    X = datasets.gaussian(2, 3, 6, source)
    return X, starts.gaussian(6, 4, 40, 2, source), setting, source


def spectral(W):
    return float(torch.linalg.matrix_norm(W, 2))


def test_every_constant_written_out(case):
    one = case(2, 3, 5, 4, 12, 2, g=0.7, g_f=0.4)
    found, X = admissible.constants(*one.model), one.X
    Q, K, V, W1, W2, U = (1.5 * spectral(W) for W in one.theta)
    rho = math.sqrt(sum(3 * max(float(x.norm()) ** 2 for x in tokens) for tokens in X))
    zeta = 0.7 * float(X.norm()) + rho * V
    n_B = U * (0.4 + W1 * W2)
    m = V / (2 * math.sqrt(4)) * math.sqrt(sum(spectral(tokens) ** 6 for tokens in X))
    h = 0.4 * zeta + zeta * W1 * W2
    c = PerBlock(m * K * n_B, m * Q * n_B, rho * n_B, zeta * W2 * U, zeta * W1 * U, h)
    c_Z = m * (c.W_Q * K + Q * c.W_K) + rho * c.W_V
    c_A = c_Z * W1 + zeta * c.W_1
    assert list(found.c) == pytest.approx(list(c))
    assert (found.rho, found.zeta, found.n_B, found.m, found.h) == pytest.approx((rho, zeta, n_B, m, h))
    assert (found.c_Z, found.c_A, found.a) == pytest.approx((c_Z, c_A, zeta * W1))
    assert found.ell_A == pytest.approx(math.sqrt(W1**2 * (m**2 * (K**2 + Q**2) + rho**2) + zeta**2))
    A = model.forward(*one.model).A.reshape(6, 12)
    sigma_A = math.sqrt(float(torch.linalg.eigvalsh(A @ A.T)[0]))
    sigma_U = math.sqrt(float(torch.linalg.eigvalsh(one.theta.W_U.T @ one.theta.W_U)[0]))
    assert (found.sigma_A, found.sigma_U) == pytest.approx((sigma_A, sigma_U))
    alpha = sigma_A**2 * sigma_U**2 / 16
    assert found.alpha == pytest.approx(alpha)
    norms = [spectral(W) for W in one.theta]
    slack = min(*(norm / 2 / each for norm, each in zip(norms, c, strict=True)), sigma_U / 2 / c.W_U, sigma_A / 2 / c_A)  # fmt: skip
    assert 2 / alpha * math.sqrt(2 * found.loss_A) == pytest.approx(slack)
    r = min(min(norms) / 2, sigma_U / 2, sigma_A / 2 / found.ell_A)
    assert 2 * math.sqrt(2 * found.loss_plus / alpha) == pytest.approx(r)
    assert found.radius(found.loss_plus) == pytest.approx(found.radius_plus) == pytest.approx(r)
    assert found.distance(0.5, 1.0, 3) == pytest.approx(2 / alpha * math.hypot(*c) * (1 - alpha) ** 1.5)


@pytest.mark.parametrize("g", [0.0, 0.5, 1.0])
def test_what_the_constants_bound_on_the_region(g, case):
    """Random points of the box, on its boundary too: norms, gradients and the change of the hidden layer stay below what is said."""
    for seed in range(15):
        one = case(2, 3, 5, 4, 12, 2, g=g, seed=seed)
        known, start = admissible.constants(*one.model), model.forward(*one.model)
        for scale in (0.01, 0.3, 1.0):
            moves = [torch.randn(W.shape, generator=one.generator, dtype=W.dtype) for W in one.theta]
            moves = [
                scale * norm / 2 * move / move.norm() for norm, move in zip(known.norms, moves, strict=True)
            ]
            theta = Parameters(*points.plus(one.theta, tuple(moves)))
            back = gradients.backward(one.X, one.Y, theta, one.setting)
            now, e = back.forward, math.sqrt(2 * float(back.loss))
            assert float((now.S @ one.X).norm()) <= known.rho
            assert float(now.Z.norm()) <= known.zeta
            assert float(now.A.norm()) <= known.a
            assert float(now.H.norm()) <= known.h
            assert float(back.B.norm()) <= known.n_B * e
            for name in BLOCKS:
                assert float(getattr(back.gradients, name).norm()) <= getattr(known.c, name) * e
            moved = float(points.norm(tuple(moves)))
            assert float((now.A - start.A).norm()) <= known.ell_A * moved


@pytest.mark.parametrize(
    ("tokens", "blocks", "g", "moved", "share"),
    [
        # One token, W_V and W_1 small: moving W_1 changes A by ‖Z‖ a unit, and ζ is ‖Z‖.
        ([1.0], (1e-6, 1e-6, 1e-6, [1e-6], 1.0, 1.0), 1.0, "W_1", 1.0),
        # One token, no residual, W_1 large: moving W_V changes A by ‖X‖‖W_1‖ a unit; the bound has 3/2 of the latter.
        ([1.0], (1e-6, 1e-6, 1e-2, [1e2], 1.0, 1.0), 0.0, "W_V", 2 / 3),
        # Two long tokens ±x with equal weights, where the softmax moves by ½: 3/2 three times, and √2 for a hidden layer with both signs.
        ([100.0, -100.0], (1e-12, 1.0, 1.0, [1.0, -1.0], 1.0, 1.0), 0.0, "W_Q", 1 / (1.5**3 * math.sqrt(2))),
    ],
)
def test_where_the_hidden_layers_constant_is_met(tokens, blocks, g, moved, share):
    X = torch.tensor(tokens, dtype=torch.float64)[None, :, None]
    W = dict(zip(BLOCKS, (torch.tensor(w, dtype=torch.float64).reshape(1, -1) for w in blocks), strict=True))
    W["W_2"] = W["W_2"].expand(W["W_1"].shape[1], 1)
    setting, theta = Setting(g, 1.0, SmoothedReLU(1e-16)), Parameters(**W)
    known = admissible.constants(X, theta, setting).ell_A
    step = 1e-3 * torch.linalg.matrix_norm(W[moved], 2)
    there = theta._replace(**{moved: W[moved] + step * W[moved] / W[moved].norm()})
    change = model.forward(X, there, setting).A - model.forward(X, theta, setting).A
    assert float(change.norm() / step) == pytest.approx(share * known, rel=1e-3)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("theorem", ["A", "plus"])
@pytest.mark.usefixtures("long")
def test_both_theorems_along_runs(seed, theorem):
    X, theta, setting, source = instance(seed)
    known = admissible.constants(X, theta, setting)
    loss = 0.999 * (known.loss_A if theorem == "A" else known.loss_plus)
    Y = admissible.targets(X, theta, setting, loss, source)
    # Certified on the ball that holds the path; the half-norm box of Theorem A is far larger than what its proof needs.
    r = known.radius(loss)
    mu = 1 / certificates.smoothness(X, Y, theta, setting, r)
    run = descent.run(X, Y, theta, setting, mu=mu, steps=400, every=5)
    Phi = float(run.loss[0])
    assert Phi == pytest.approx(loss, rel=1e-6)
    assert mu <= 1 / (16 * known.alpha)
    assert bool((run.loss <= (1 - mu * known.alpha) ** run.steps.double() * Phi).all())
    assert bool((run.sigma_A >= known.sigma_A / 2).all())
    assert bool((run.sigma_U >= known.sigma_U / 2).all())
    assert bool((run.displacements <= torch.tensor(known.norms).double() / 2).all())
    assert float(run.path[-1]) <= r
    # The end stands for the limit: it is nearer to it than the bound at its own loss.
    gap = float(points.norm(points.plus(theta, run.end, -1.0))) - known.radius(float(run.loss[-1]))
    assert gap <= known.radius(Phi)
    assert gap <= known.distance(Phi, mu, 0)
    if theorem == "plus":
        sampled = curvature.largest_on_ball(X, Y, theta, setting, r, source)
        assert sampled * mu <= 1
        assert float(run.displacement.max()) > 0.01 * r


@pytest.mark.usefixtures("long")
def test_the_admissible_loss_grows_by_orders_of_magnitude():
    """The referee's numbers: 2.9e-16, 7.2e-16, 2.4e-16, 8.1e-14 become 6.1e-9, 4.4e-9, 3.3e-9, 7.8e-8."""
    known = [admissible.constants(*instance(seed)[:3]) for seed in range(4)]
    assert [one.loss_A for one in known] == pytest.approx([2.9e-16, 7.2e-16, 2.4e-16, 8.1e-14], rel=0.02)
    assert [one.loss_plus for one in known] == pytest.approx([6.1e-9, 4.4e-9, 3.3e-9, 7.8e-8], rel=0.02)


@pytest.mark.usefixtures("long")
def test_without_a_residual_hardly_any_loss_is_admissible():
    with_it, without = (
        admissible.constants(*instance(0, Setting(g, 1.0, SmoothedReLU(0.3)))[:3]) for g in (1.0, 0.0)
    )
    assert without.sigma_A < 0.05 * with_it.sigma_A
    assert without.loss_plus < 1e-4 * with_it.loss_plus


def test_what_is_refused(case):
    one = case()
    with refused("activation", "tau = 0", "Lipschitz derivative"):
        admissible.constants(one.X, one.theta, Setting(activation=RELU))
    for name in BLOCKS:
        zero = starts.scaled(one.theta, **{name: 0.0})
        refused(name, "norm 0", "must not be 0", admissible.constants, one.X, zero, one.setting)
    refused("P·N", "6", "d_1", admissible.constants, *case(d_1=5).model)
    refused("K", "6", "d = 5", admissible.constants, *case(K=6).model)
    twice = one.X[:1].repeat(2, 1, 1)
    refused("A", "got", "full rank", admissible.constants, twice, one.theta, one.setting)
    refused("loss", "1e-30", "rounding", admissible.targets, *one.model, 1e-30, one.generator)
    known = admissible.constants(*one.model)
    refused("mu", "got", "1/alpha", known.distance, 1.0, 2 / known.alpha, 1)


def test_prescribed_losses(case):
    one = case()
    for loss in (1e-18, 1e-6, 3.0):
        Y = admissible.targets(*one.model, loss, one.generator)
        assert float(model.loss(one.X, Y, one.theta, one.setting)) == pytest.approx(loss, rel=1e-6)
    assert float(spectra.pl_2(*one.model)) == pytest.approx(32 * admissible.constants(*one.model).alpha)

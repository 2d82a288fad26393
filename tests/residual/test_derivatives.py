"""The forms on a ball against derivatives at points of it; how they grow with the radius; where they are equalities, the chapter checks."""

import math

import pytest
import torch

from checks import refused
from companion.theory.residual import derivatives, jets
from shallowformer.residual import model, starts
from shallowformer.residual.parameters import Parameters, Setting
from shallowformer.residual.smoothed import RELU, SmoothedReLU
from shallowformer.training import points

LAYERS = ("Z", "A", "H", "F")


def unit(one):
    """A direction whose block norms are as different as they come."""
    drawn = [torch.randn(W.shape, generator=one.generator, dtype=W.dtype) for W in one.theta]
    weights = torch.randn(6, generator=one.generator).exp() ** 2
    drawn = tuple(w * W / W.norm() for w, W in zip(weights, drawn, strict=True))
    return Parameters(*(W / points.norm(drawn) for W in drawn))


def along(one, theta, step, name):
    layer = lambda t: getattr(
        model.unchecked(
            one.X, Parameters(*(a + t * b for a, b in zip(theta, step, strict=True))), one.setting
        ),
        name,
    )
    first = lambda t: torch.func.jvp(layer, (t,), (torch.ones_like(t),))[1]
    zero = torch.zeros((), dtype=torch.float64)
    return torch.func.jvp(first, (zero,), (torch.ones_like(zero),))


@pytest.mark.parametrize("radius", [0.0, 0.3])
@pytest.mark.parametrize("g", [0.0, 1.0])
@pytest.mark.usefixtures("long")
def test_derivatives_on_the_ball_stay_below_the_forms(case, g, radius):
    for seed in range(4):
        scales = {"W_Q": 2.0, "W_1": 1.5} if seed % 2 else {"W_2": 0.0, "W_V": 0.5}
        one = case(seed=seed, g=g, g_f=0.5, tau=0.5, scales=scales)
        found = derivatives.forms(*one.model, radius)
        for _ in range(2):
            theta, step = Parameters(*points.plus(one.theta, unit(one), radius)), unit(one)
            n = torch.stack([W.norm() for W in step])
            for name in LAYERS:
                first, second = along(one, theta, step, name)
                assert float(first.norm()) <= float(getattr(found, name) @ n) * (1 + 1e-12), name
            assert float(second.norm()) <= float(n @ found.second @ n) * (1 + 1e-12)


def test_jets_against_automatic_differentiation(case):
    one = case(g=0.7, g_f=0.5, tau=0.5)
    step = unit(one)
    found = jets.along(one.X, one.theta, step, one.setting)
    for name in LAYERS:
        value, first, second = getattr(found, name)
        assert torch.allclose(value, getattr(model.forward(*one.model), name), rtol=1e-12)
        for ours, right in zip((first, second), along(one, one.theta, step, name), strict=True):
            assert torch.allclose(ours, right, rtol=1e-10, atol=1e-12), name


def test_norms_of_the_forms(case):
    found = derivatives.forms(*case().model, 0.1)
    assert float(found.ell_A) == pytest.approx(math.sqrt(float((found.A**2).sum())))
    assert float(found.ell_H) == pytest.approx(math.sqrt(float((found.H**2).sum())))
    assert float(found.C) == pytest.approx(math.sqrt(float((found.F**2).sum())))
    n = torch.linalg.eigh(found.second)[1][:, -1].abs()
    assert float(found.M_2) == pytest.approx(float(n @ found.second @ n))


def test_what_the_hidden_layers_form_does_not_contain(case):
    one = case()
    other = starts.scaled(one.theta, W_2=7.0, W_U=0.1)
    first, second = (derivatives.forms(one.X, theta, one.setting, 0.2) for theta in (one.theta, other))
    assert torch.equal(first.A, second.A)
    assert first.A[4:].tolist() == [0.0, 0.0]
    assert first.H[5] == 0


def test_how_the_forms_grow_with_the_radius():
    """One number a block, two tokens: every norm grows by r, every diameter by r times that of the tokens, layers by r times how fast they move."""
    x, r, beta = (1.3, -0.4), 0.1, SmoothedReLU(0.3).beta
    W = dict(zip(Parameters._fields, (0.4, 0.7, -0.9, 0.6, 0.8, 1.1), strict=True))
    theta = Parameters(*(torch.full((1, 1), value, dtype=torch.float64) for value in W.values()))
    setting = Setting(0.5, 0.25, SmoothedReLU(0.3), temperature=2.0)
    X = torch.tensor(x, dtype=torch.float64).reshape(1, 2, 1)
    found, now = derivatives.forms(X, theta, setting, r), model.forward(X, theta, setting)
    w = {name: abs(value) + r for name, value in W.items()}
    size, D = math.hypot(*x), x[0] - x[1]
    keys, values = D * w["W_K"], D * w["W_V"]
    # ‖W_Q⁽⁰⁾‖ + r stands for the query matrix here, as a product of numbers is one.
    SX = [D * keys * size / 8, D * D * size * w["W_Q"] / 8]
    Z = [values * keys * size / 8, D * values * size * w["W_Q"] / 8]
    rho = float((now.S @ X).norm()) + r * math.hypot(*SX)
    Z = [*Z, rho, 0, 0, 0]
    z = float(now.Z.norm()) + r * math.hypot(*Z)
    A = [w["W_1"] * value for value in Z]
    A[3] = z
    a = float(now.A.norm()) + r * math.hypot(*A)
    H = [(0.25 + w["W_1"] * w["W_2"]) * value for value in Z]
    H[3], H[4] = w["W_2"] * z, a
    h = float(now.H.norm()) + r * math.hypot(*H)
    F = [w["W_U"] * value for value in H]
    F[5] = h
    for name, expected in zip(("SX", *LAYERS), ([*SX, 0, 0, 0, 0], Z, A, H, F), strict=True):
        assert getattr(found, name).tolist() == pytest.approx(expected), name

    M = found.second.tolist()
    third = D**3 / (6 * math.sqrt(3)) * size * 1.3 / 4
    through = 0.25 + w["W_1"] * w["W_2"]
    logit = (w["W_K"], w["W_Q"])
    Z_2 = [[w["W_V"] * third * a * b for b in logit] for a in logit]
    Z_2[0][1] += D * values * size / 8
    bent = lambda i, j: w["W_U"] * (through * Z_2[i][j] + w["W_2"] * beta * A[i] * A[j])
    assert M[0][:2] == pytest.approx([bent(0, 0), bent(0, 1)])
    assert M[1][1] == pytest.approx(bent(1, 1))
    assert M[0][2] == pytest.approx(w["W_U"] * (through * SX[0] + w["W_2"] * beta * A[0] * A[2]))
    assert M[2][3] == pytest.approx(w["W_U"] * w["W_2"] * (Z[2] + beta * A[2] * A[3]))
    assert M[3][4] == pytest.approx(w["W_U"] * A[3])
    assert M[3][5] == pytest.approx(H[3])
    assert M[4][4] == M[5][5] == 0


def test_networks_side_by_side(case):
    several = [case(seed=seed) for seed in range(3)]
    X = torch.stack([one.X for one in several])
    theta = starts.side_by_side([one.theta for one in several])
    radius = torch.tensor([0.0, 0.1, 0.2], dtype=torch.float64)
    found = derivatives.forms(X, theta, several[0].setting, radius)
    for k, one in enumerate(several):
        alone = derivatives.forms(*one.model, float(radius[k]))
        assert torch.allclose(found.second[k], alone.second, rtol=1e-12)
        assert torch.allclose(found.F[k], alone.F, rtol=1e-12)


def test_the_diameter_is_the_largest_distance():
    X = torch.randn(3, 5, 2, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    assert torch.allclose(derivatives.diameter(X), torch.cdist(X, X).amax((-2, -1)))


def test_relu_on_one_side_of_its_kinks(case):
    one = case(tau=0.0)
    found = derivatives.forms(*one.model, 0.1, one_sided=True)
    # Without the activation's curvature, so less than for any smoothed one.
    smooth = Setting(activation=SmoothedReLU(1e-9))
    assert float(found.M_2) < float(derivatives.forms(one.X, one.theta, smooth, 0.1).M_2)


def test_what_is_refused(case):
    one = case()
    refused("radius", "-1", "at least 0", derivatives.forms, *one.model, -1.0)
    with refused("activation", "ReLU", "Lipschitz derivative"):
        derivatives.forms(one.X, one.theta, Setting(activation=RELU), 0.1)

"""Numbers of a start against definitions, and what is refused."""

import math

import pytest
import torch

from checks import refused
from shallowformer.residual import model, starts
from shallowformer.residual.parameters import Setting
from shallowformer.residual.random_start import slopes, start
from shallowformer.residual.spectra import largest, stacked


@pytest.mark.parametrize("W_2", [0.0, 1.0])
def test_numbers_are_what_their_names_say(posed, W_2):
    X, Y, theta, setting = posed(d_1=12, W_2=W_2, P=2, N=2, d=5, K=2)
    s = start.measure(X, Y, theta, setting)
    now = model.forward(X, theta, setting)
    A, Z, E = stacked(now.A), stacked(now.Z), stacked(now.F - Y)
    pull = torch.linalg.pinv(A) @ E
    norm = lambda M: float(torch.linalg.matrix_norm(M, 2))
    expected = {
        "sigma_A": 1 / norm(torch.linalg.pinv(A)),
        "a": norm(A),
        "sigma_U": 1 / norm(torch.linalg.pinv(theta.W_U)),
        "u": norm(theta.W_U),
        "w": norm(theta.W_1),
        "z": norm(Z),
        "z_row": max(float(row.norm()) for row in Z),
        "e": float(E.norm()),
        "y": norm(stacked(Y)),
        "psi": float((pull @ torch.linalg.pinv(theta.W_U)).norm()),
        "q": float(pull.norm()),
        "q_2": norm(pull),
        "h": norm(stacked(now.H)),
        "w_2": norm(theta.W_2),
    }
    for name, value in expected.items():
        assert getattr(s, name) == pytest.approx(value, rel=1e-9, abs=1e-12), name
    for p, tokens in enumerate(X):
        c = tokens - tokens.mean(0)
        size = norm(c)
        assert s.centred[p] == pytest.approx(size)
        assert s.values[p] == pytest.approx(norm(c @ theta.W_V))
        assert s.pairs[p] == pytest.approx(norm(tokens) * size / math.sqrt(2))
        wanted = math.hypot(norm(tokens) * norm(c @ theta.W_K), norm(tokens @ theta.W_Q) * size) / math.sqrt(
            2
        )
        assert s.logits[p] == pytest.approx(wanted)
    assert s.distance <= s.e
    assert s.rate == pytest.approx((s.sigma_A * s.sigma_U) ** 2)


def test_the_derivative_of_attention_is_that_of_differences(posed):
    X, _, theta, setting = posed(d_1=4)
    J = start.attention_jacobian(X, theta, setting)
    column = 9 + 3  # the fourth entry of W_Q, after the nine of W_V
    step = torch.zeros(6, dtype=torch.float64)
    step[3] = 1e-6
    outputs = lambda sign: model.forward(
        X, theta._replace(W_Q=theta.W_Q + sign * step.reshape(3, 2)), setting
    ).Z.flatten()
    assert torch.allclose((outputs(1) - outputs(-1)) / 2e-6, J[:, column], atol=1e-8)


def test_starts_that_have_no_certificate_are_refused(posed):
    X, Y, theta, setting = posed(d_1=6)
    with refused("P·N", "2", "d_1"):
        start.measure(X, Y, theta._replace(W_1=theta.W_1[:, :1], W_2=theta.W_2[:1]), setting)
    with refused("K", "4", "d"):
        start.measure(
            X, Y.expand(1, 2, 4).clone(), theta._replace(W_U=torch.randn(3, 4, dtype=torch.float64)), setting
        )
    refused("W_2", "norm", "must be 0", start.measure, X, Y, theta._replace(W_2=theta.W_2 + 1), Setting())
    with refused("W_2", "norm", "must be 0"):
        start.measure(X, Y, theta._replace(W_2=theta.W_2 + 1), setting, smooth=False)
    refused("smooth", "True", "False for ReLU", start.measure, X, Y, theta, Setting(), smooth=True)
    with refused("W_U", "least singular value", "full rank"):
        start.measure(X, Y, starts.scaled(theta, W_U=0.0), setting)
    silent = Setting(g=0.0, activation=setting.activation)
    with refused("A", "least singular value", "full rank"):  # equal attention: equal tokens
        start.measure(X, Y, starts.scaled(theta, W_Q=0.0, W_K=0.0), silent)
    refused("Y", "0", "differ", start.measure, X, model.outputs(X, theta, setting), theta, setting)
    refused("W_1", "NaN", "finite", start.measure, X, Y, theta._replace(W_1=theta.W_1 * torch.nan), setting)


@pytest.mark.parametrize("N", [1, 3])
def test_attentions_derivative_moves_no_further_than_the_bound(posed, N):
    """Matrices and two sequences; with one token each there is nothing to move."""
    generator = torch.Generator().manual_seed(N)
    X, Y, theta, setting = posed(P=2, N=N, d=6, K=2, d_1=9)
    s, most = start.measure(X, Y, theta, setting), 0.0
    at_first = start.attention_jacobian(X, theta, setting)
    for size in torch.logspace(-3, 1, 12, dtype=torch.float64):
        step = [torch.randn(W.shape, generator=generator, dtype=W.dtype) for W in theta[:3]]
        step = [float(size) * part / sum(p.square().sum() for p in step).sqrt() for part in step]
        after = theta._replace(W_Q=theta.W_Q + step[0], W_K=theta.W_K + step[1], W_V=theta.W_V + step[2])
        moved = float(largest(start.attention_jacobian(X, after, setting) - at_first))
        bound = slopes.jacobian_drift(s, float(size))
        assert moved <= bound * (1 + 1e-9) + 1e-12
        most = max(most, moved / bound if bound else 0.0)
    assert (N == 1) == (most == 0.0)

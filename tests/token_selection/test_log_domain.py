"""Attention in log form against 2000 digits."""

import mpmath
import numpy as np
import pytest

from shallowformer.token_selection import log_domain

GAPS = [[0.0, 0.0], [0.3, -1.2], [40.0, 41.0], [2580.0, 2600.0], [-900.0, 3.0], [-700.0, -700.5]]


@pytest.fixture(autouse=True, scope="module")
def _digits():
    before, mpmath.mp.dps = mpmath.mp.dps, 2000
    yield
    mpmath.mp.dps = before


def exact(gaps):
    """φ of the optimal token, then of the others."""
    raw = [mpmath.mpf(1), *(mpmath.exp(-mpmath.mpf(h)) for h in gaps)]
    return [each / sum(raw) for each in raw]


@pytest.mark.parametrize("gaps", GAPS)
def test_weights(gaps):
    phi = exact(gaps)
    found = log_domain.Weights.of(np.array([gaps]))
    assert float(found.log_best[0]) == pytest.approx(float(mpmath.log(phi[0])), rel=1e-14)
    assert float(found.log_off[0]) == pytest.approx(float(mpmath.log(1 - phi[0])), rel=1e-14, abs=1e-300)
    assert found.log_rest[0].tolist() == pytest.approx([float(mpmath.log(p)) for p in phi[1:]], rel=1e-13)


@pytest.mark.parametrize("gaps", GAPS)
@pytest.mark.parametrize("ahead", [[1.0, 2.5], [2.5, 1e-7], [1.0, 1.0], [-0.5, 2.0]])
def test_pulls(gaps, ahead):
    phi, scores = exact(gaps), [0.0, *(-a for a in ahead)]
    mean = sum(p * mpmath.mpf(s) for p, s in zip(phi, scores, strict=True))
    a = np.array([ahead])
    signs, logs = log_domain.pulls(log_domain.Weights.of(np.array([gaps])), a, a[:, :, None] - a[:, None, :])
    for k in range(2):
        pull = mean - mpmath.mpf(scores[k + 1])
        assert float(signs[0, k]) == float(mpmath.sign(pull))
        assert float(logs[0, k]) == pytest.approx(float(mpmath.log(abs(pull))), rel=1e-12, abs=1e-12)


def test_pulls_with_equal_scores_need_no_other_tokens():
    weights, ahead = log_domain.Weights.of(np.array([[-3.0, 700.0]])), np.array([[0.7, 0.7]])
    for between in (None, np.zeros((1, 2, 2))):
        signs, logs = log_domain.pulls(weights, ahead, between)
        assert signs.tolist() == [[1, 1]]
        assert logs[0].tolist() == pytest.approx([float(weights.log_best[0] + np.log(0.7))] * 2)


def test_log_expm1():
    logs = np.array([-2000.0, -21.0, -20.0, -1.0, 0.0, 2.0, 5.0])
    for log_x, found in zip(logs, log_domain.log_expm1(logs), strict=True):
        expected = mpmath.log(mpmath.expm1(mpmath.exp(mpmath.mpf(float(log_x)))))
        assert float(found) == pytest.approx(float(expected), rel=1e-14)


def test_log_of_an_empty_sum():
    with np.errstate(divide="ignore"):
        found = log_domain.log_sum_exp(np.array([[-np.inf, -np.inf], [0.0, -np.inf]]))
    assert found.tolist() == [-np.inf, 0]

"""Series with a long memory and their windows."""

import pytest
import torch

from checks import source
from shallowformer.kernel_regime.recurrent import autoregression


def test_the_series_obeys_its_recursion():
    X = autoregression.series(100_000, 3, 0.9, 0.1, source())
    noise = X[3:] - 0.9 * X[:-3]
    assert float(noise.var()) == pytest.approx(0.1, rel=0.02)
    assert abs(float((noise[1:] * noise[:-1]).mean())) < 0.002
    assert abs(float((noise * X[:-3]).mean())) < 0.005


def test_the_series_is_stationary_from_the_start():
    many = torch.stack([autoregression.series(8, 4, 0.9, 0.1, source(k)) for k in range(4000)])
    assert torch.allclose(many.var(0), torch.full((8,), 0.1 / 0.19, dtype=torch.float64), rtol=0.1)


def test_windows_and_what_follows():
    x, y = autoregression.windows(torch.arange(6.0), 4)
    assert x.tolist() == [[0, 1, 2, 3], [1, 2, 3, 4]]
    assert y.tolist() == [4, 5]
    with pytest.raises(ValueError, match="more than T = 6"):
        autoregression.windows(torch.arange(6.0), 6)


def test_tokens_hold_the_value_and_its_place():
    X = autoregression.tokens(torch.tensor([[1.0, -2.0]], dtype=torch.float64))
    assert X.shape == (1, 2, 17)
    assert X[0, :, 0].tolist() == [1, -2]
    assert torch.allclose(X[0].square().sum(-1), torch.tensor([9.0, 12.0], dtype=torch.float64))


def test_no_such_series():
    with pytest.raises(ValueError, match="alpha"):
        autoregression.series(10, 2, 1.0, 0.1, source())

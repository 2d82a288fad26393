"""Without the regulariser: flat saddles, valleys without slope, minima of any condition."""

import pytest
import torch

from checks import refused
from companion.theory.preconditioned import unregularised
from shallowformer.preconditioned import factorisation

S = torch.tensor([1.5, 1.0, 0.8], dtype=torch.float64)


@pytest.mark.parametrize("width", [3, 4])
def test_saddles_get_flat(width):
    limit = float(S[-1] * (1 + S[-1] / S[width - 3]))
    for gamma in (4.0, 40.0):
        U, V = unregularised.saddle(S, gamma, width)
        assert max(float(g.abs().max()) for g in factorisation.gradient(U, V, S.diag(), 0.0)) < 1e-11
        least = float(torch.linalg.eigvalsh(factorisation.hessian(U, V, S.diag(), 0.0))[0])
        assert -limit / gamma**2 - 1e-10 <= least < 0
    assert -least * gamma**2 == pytest.approx(limit, rel=1e-3)


def test_valleys_have_no_slope():
    for gamma in (2.0, 10.0):
        U, V = unregularised.valley(S, gamma)
        f = float(factorisation.value(U, V, S.diag(), 0.0))
        slope = sum(float(g.square().sum()) for g in factorisation.gradient(U, V, S.diag(), 0.0))
        assert f == pytest.approx(1.5**2 / (2 * gamma**4), rel=1e-10)
        assert slope / f == pytest.approx(6 * 1.5 / gamma**2, rel=1e-9)
        assert float(torch.linalg.eigvalsh(factorisation.hessian(U, V, S.diag(), 0.0))[-1]) >= 1.5 * gamma**2


def test_minima(draw):
    G = draw(3, 3)
    U, V = G, (torch.linalg.inv(G) @ S.diag()).T
    found = torch.linalg.eigvalsh(factorisation.hessian(U, V, S.diag(), 0.0))
    assert torch.allclose(found[9:], unregularised.minimum_spectrum(U, V), rtol=1e-9)
    assert float(found[:9].abs().max()) < 1e-9 * float(found[-1])


def test_refused():
    refused("width", "5", "at most 2d − 2 = 4", unregularised.saddle, S, 2.0, 5)
    refused("s", "[0.8, 1.0, 1.5]", "largest first", unregularised.valley, S.flip(0), 2.0)
    refused("s", "[1.5]", "two singular values", unregularised.valley, S[:1], 2.0)
    refused("V", "(2, 2)", "as U", unregularised.minimum_spectrum, S.diag(), S[:2].diag())

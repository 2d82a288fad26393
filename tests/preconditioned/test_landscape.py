"""All stationary points are stationary, descent finds no others, and Hessians have the eigenvalues that theory says; without the regulariser, too."""

import pytest
import torch

from checks import refused
from companion.theory.preconditioned import unregularised
from shallowformer.preconditioned import covariances, factorisation, landscape
from shallowformer.training import descent

S = torch.tensor([2.0, 1.3, 0.7, 0.3], dtype=torch.float64)


def target(generator, m=4, d=4, s=S):
    P, Q = (covariances.orthogonal(size, generator(seed))[:, : len(s)] for size, seed in ((m, 1), (d, 2)))
    return P * s @ Q.T


@pytest.mark.parametrize(("m", "d"), [(4, 4), (6, 4), (4, 5)])
@pytest.mark.parametrize("lam", [0.5, 0.2])
def test_stationary_points(m, d, lam, generator):
    M = target(generator, m, d)
    points = landscape.stationary_points(M)
    assert len(points) == 16
    assert points[0].kept == ()
    assert points[-1].is_optimum
    for point in points:
        slope = factorisation.gradient(point.U, point.V, M, lam)
        assert max(float(each.abs().max()) for each in slope) < 1e-13
        assert float(factorisation.value(point.U, point.V, M, lam)) == pytest.approx(point.value, abs=1e-13)
        least = float(torch.linalg.eigvalsh(factorisation.hessian(point.U, point.V, M, lam))[0])
        assert least == pytest.approx(point.least_eigenvalue, abs=1e-12)
        assert (point.least_eigenvalue < 0) is not point.is_optimum


def test_the_numbers_of_the_notes(generator):
    M = target(generator)
    for kept, expected in (((), -2), ((0,), -1.3), ((0, 1), -0.7), ((1, 3), -2), ((0, 1, 2), -0.3)):
        assert landscape.stationary(M, kept).least_eigenvalue == pytest.approx(expected, abs=1e-12)


def test_any_rotation_and_more_columns(generator):
    M = target(generator)
    O = covariances.orthogonal(6, generator())[:, :2]
    point = landscape.stationary(M, (2, 0), O)
    assert point.kept == (0, 2)
    assert point.U.shape == (4, 6)
    assert max(float(g.abs().max()) for g in factorisation.gradient(point.U, point.V, M)) < 1e-13
    least = float(torch.linalg.eigvalsh(factorisation.hessian(point.U, point.V, M))[0])
    assert least == pytest.approx(-1.3, abs=1e-12)


def test_there_are_no_others(generator, draw):
    """Newton's method on ‖∇f‖² = 0 from random points ends in one of the 2^r, told by its value."""
    M = target(generator)
    values = torch.tensor([point.value for point in landscape.stationary_points(M)], dtype=torch.float64)
    met = set()
    for seed in range(60):
        p = draw(32, seed=100 + seed)
        damping = 1.0
        for _ in range(300):
            U, V = p[:16].view(4, 4), p[16:].view(4, 4)
            g = torch.cat([each.flatten() for each in factorisation.gradient(U, V, M)])
            H = factorisation.hessian(U, V, M)
            step = torch.linalg.solve(H @ H + damping * torch.eye(32, dtype=torch.float64), H @ g)
            new = p - step
            after = factorisation.gradient(new[:16].view(4, 4), new[16:].view(4, 4), M)
            if sum(float(each.square().sum()) for each in after) < float(g @ g):
                p, damping = new, damping / 3
            else:
                damping *= 4
            if float(g.norm()) < 1e-11:
                break
        if float(g.norm()) < 1e-11:
            off = (factorisation.value(p[:16].view(4, 4), p[16:].view(4, 4), M) - values).abs()
            assert float(off.min()) < 1e-9
            met.add(int(off.argmin()))
    assert len(met) >= 4


@pytest.mark.parametrize("lam", [0.0, 0.3, 0.5, 2.0])
@pytest.mark.parametrize(("m", "d"), [(4, 4), (6, 4), (5, 7)])
def test_the_spectrum_at_the_optimum(lam, m, d, generator):
    M = target(generator, m, d)
    U, V = landscape.optimum(M, covariances.orthogonal(4, generator(5)), rank=4)
    found = torch.linalg.eigvalsh(factorisation.hessian(U, V, M, lam))
    expected = landscape.hessian_spectrum(S, lam, m, d)
    assert len(expected) == (m + d) * 4
    assert torch.allclose(found, expected, atol=1e-12)


def test_the_spectrum_at_one_half():
    """s_i + s_j three times, 2s_i twice, and zeros."""
    i, j = torch.triu_indices(4, 4, 1)
    pairs = S[i] + S[j]
    expected = torch.cat([pairs, pairs, pairs, 2 * S, 2 * S, torch.zeros(6)]).sort().values
    assert torch.allclose(landscape.hessian_spectrum(S), expected)


@pytest.mark.parametrize("lam", [0.1, 0.5, 1.7])
@pytest.mark.parametrize(
    ("m", "d", "r", "s", "kept"),
    [
        (4, 4, 4, (2.0, 1.3, 0.7, 0.3), (0, 2)),
        (3, 3, 3, (2.0, 2.0, 0.7), (1,)),
        (2, 2, 2, (2.0, 2.0), ()),
        (5, 4, 3, (2.0, 1.3, 0.7), (0, 1, 2)),
        (5, 4, 5, (2.0, 1.3), (1,)),
        (4, 3, 2, (2.0, 1.3, 0.7), (0, 2)),
    ],
)
def test_the_spectrum_at_any_stationary_point(m, d, r, s, kept, lam, generator):
    s = torch.tensor(s, dtype=torch.float64)
    P, Q = (covariances.orthogonal(size, generator(seed))[:, : len(s)] for size, seed in ((m, 1), (d, 2)))
    O = covariances.orthogonal(r, generator(3))[:, : len(kept)]
    some = list(kept)
    U, V = (A[:, some] * s[some].sqrt() @ O.T for A in (P, Q))
    found = torch.linalg.eigvalsh(factorisation.hessian(U, V, P * s @ Q.T, lam))
    rest = [i for i in range(len(s)) if i not in kept]
    assert torch.allclose(found, landscape.stationary_spectrum(s[some], s[rest], lam, r, m, d), atol=1e-12)


def test_the_spectrum_at_the_optimum_twice():
    none = S[:0]
    assert torch.allclose(
        landscape.stationary_spectrum(S, none, 0.3, 4, 5, 6), landscape.hessian_spectrum(S, 0.3, 5, 6)
    )
    refused("lost", "above 0", "-1", landscape.stationary_spectrum, S, -S[:1] / S[0], 0.5, 4, 5, 5)
    refused("columns", "3", "at least 4", landscape.stationary_spectrum, S, none, 0.5, 3, 4, 4)


def test_an_optimum_of_lower_rank(generator):
    M = target(generator, s=S[:2])
    U, V = landscape.optimum(M, rank=2)
    assert U.shape == V.shape == (4, 2)
    assert torch.allclose(U @ V.T, M, atol=1e-14)
    run = descent.run(factorisation.Factorisation(M), (U + 0.1, V), eta=0.2, steps=100)
    assert float(run.losses[-1]) < 1e-20
    full, _ = landscape.optimum(M)
    assert float(full[:, 2:].abs().max()) < 1e-7


def test_what_landscape_refuses(generator, draw):
    M = target(generator)
    refused("target", "singular values", "full rank", landscape.stationary_points, target(generator, s=S[:3]))
    refused("target", "2.0", "distinct", landscape.stationary, 2 * torch.eye(2, dtype=torch.float64), (0,))
    refused("kept", "(0, 0)", "different indices from 0 to 3", landscape.stationary, M, (0, 0))
    refused("kept", "(4,)", "from 0 to 3", landscape.stationary, M, (4,))
    refused("O", "off", "orthonormal", landscape.stationary, M, (0,), draw(4, 1))
    with refused("O", "(1, 1)", "at least 4 rows"):
        landscape.stationary(M, (0,), torch.eye(1, dtype=torch.float64))
    refused("target", "13", "at most 12", landscape.stationary_points, torch.diag(torch.arange(1.0, 14)))
    refused("rank", "5", "min(m, d) = 4", landscape.optimum, M, rank=5)
    refused("singular_values", "0", "above 0", landscape.hessian_spectrum, torch.zeros(1))
    refused("m", "1", "at least 4", landscape.hessian_spectrum, S, m=1)


THREE = torch.tensor([1.5, 1.0, 0.8], dtype=torch.float64)


@pytest.mark.parametrize("width", [3, 4])
def test_saddles_get_flat(width):
    limit = float(THREE[-1] * (1 + THREE[-1] / THREE[width - 3]))
    for gamma in (4.0, 40.0):
        U, V = unregularised.saddle(THREE, gamma, width)
        assert max(float(g.abs().max()) for g in factorisation.gradient(U, V, THREE.diag(), 0.0)) < 1e-11
        least = float(torch.linalg.eigvalsh(factorisation.hessian(U, V, THREE.diag(), 0.0))[0])
        assert -limit / gamma**2 - 1e-10 <= least < 0
    assert -least * gamma**2 == pytest.approx(limit, rel=1e-3)


def test_valleys_have_no_slope():
    for gamma in (2.0, 10.0):
        U, V = unregularised.valley(THREE, gamma)
        f = float(factorisation.value(U, V, THREE.diag(), 0.0))
        slope = sum(float(g.square().sum()) for g in factorisation.gradient(U, V, THREE.diag(), 0.0))
        assert f == pytest.approx(1.5**2 / (2 * gamma**4), rel=1e-10)
        assert slope / f == pytest.approx(6 * 1.5 / gamma**2, rel=1e-9)
        assert (
            float(torch.linalg.eigvalsh(factorisation.hessian(U, V, THREE.diag(), 0.0))[-1]) >= 1.5 * gamma**2
        )


def test_minima(draw):
    G = draw(3, 3)
    U, V = G, (torch.linalg.inv(G) @ THREE.diag()).T
    found = torch.linalg.eigvalsh(factorisation.hessian(U, V, THREE.diag(), 0.0))
    assert torch.allclose(found[9:], unregularised.minimum_spectrum(U, V), rtol=1e-9)
    assert float(found[:9].abs().max()) < 1e-9 * float(found[-1])


def test_what_unregularised_refuses():
    refused("width", "5", "at most 2d − 2 = 4", unregularised.saddle, THREE, 2.0, 5)
    refused("s", "[0.8, 1.0, 1.5]", "largest first", unregularised.valley, THREE.flip(0), 2.0)
    refused("s", "[1.5]", "two singular values", unregularised.valley, THREE[:1], 2.0)
    refused("V", "(2, 2)", "as U", unregularised.minimum_spectrum, THREE.diag(), THREE[:2].diag())

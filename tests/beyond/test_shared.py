"""The shared layer: its start, its Jacobian, and what is known of a run."""

import pytest
import torch
from torch.func import grad, vmap

from companion.experiments.beyond import shared_layer as experiment
from companion.theory.beyond import dense, shared_band, shared_layer, shared_run, shared_start
from shallowformer import data
from shallowformer.experiments.experiment import stored


def source(seed=0):
    return torch.Generator().manual_seed(seed)


X = data.clipped_gaussian(5, 4, 3, source())
Y = 0.01 * X.mean((1, 2))


@pytest.mark.parametrize(("p", "m"), [(2, 2), (4, 2), (2, 6)])
def test_the_start_is_its_own_mirror_image(p, m):
    phi = shared_layer.start(p, m, 3, source())
    mirrored = dense.mirror(phi)
    assert all(torch.equal(phi[name], mirrored[name]) for name in phi)
    assert dense.f(X, phi).abs().max() < 1e-15


def test_the_jacobian_is_that_of_autograd():
    phi = shared_layer.start(6, 4, 3, source(1))
    phi = {name: block + 0.1 * torch.randn(block.shape, generator=source(2)) for name, block in phi.items()}
    rows = vmap(lambda x: grad(lambda p: dense.f(x[None], p)[0])(phi))(X)
    for name, block in shared_run.jacobian(X, phi).items():
        assert torch.allclose(block, rows[name], atol=1e-12)


def test_what_the_start_knows_bounds_what_the_path_knows():
    phi = shared_layer.start(4, 4, 3, source(3))
    known = [route(X, Y, phi, 1.0, 5) for route in (shared_run.along, shared_start.at_the_start)]
    for at, bound in zip(*(facts.places for facts in known), strict=True):
        assert at.remainder <= bound.remainder + 1e-15
        assert at.seen <= bound.seen + 1e-12
        assert at.N <= bound.N + 1e-12
        assert (at.turned <= bound.turned + 1e-12).all()
        assert (at.pull_heads <= bound.pull_heads + 1e-12).all()
    near, far = (shared_band.band(facts, 1.0, 4).E for facts in known)
    assert (near <= far + 1e-15).all()


def test_a_row_is_consistent():
    for row in stored(experiment.EXPERIMENT):
        if row["part"] == "worst":
            bound = shared_layer.bound(row["N"], row["p"], row["m"], experiment.THREES).total
            assert 0 < row["worst"] < bound == pytest.approx(row["bound"])
        if row["part"] == "random":
            assert 0 < row["rms"] < row["largest"]
        if row["part"] == "run":
            assert 0 < row["last"] < 1

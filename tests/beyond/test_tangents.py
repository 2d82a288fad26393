"""Linear models, the neighbourhood, labels and runs of any architecture, against the book's own for the paper's model."""

import pytest
import torch

from checks import source
from companion.theory.beyond import dense, directions, single_layer, tangents, teachers, training
from shallowformer import data
from shallowformer.kernel_regime.convergence import descent
from shallowformer.kernel_regime.kernel import tangent_kernel
from shallowformer.kernel_regime.model import linear_model, parameters
from shallowformer.kernel_regime.model.loss import Loss
from shallowformer.kernel_regime.model.parameters import Parameters
from shallowformer.training import points

F64, THREES = torch.float64, (3.0, 3.0, 3.0)
X = data.clipped_gaussian(5, 4, 3, torch.Generator().manual_seed(0))
START = parameters.symmetric(6, 3, torch.Generator().manual_seed(1))
PHI0 = dict(zip("cUW", START.blocks, strict=True))


def test_the_gap_is_that_of_the_book():
    delta = directions.random_boundary(PHI0, THREES, source())
    errors = linear_model.head_errors(X, START, Parameters(**delta)).sum(1)
    assert torch.allclose(tangents.gap(single_layer.HEADS, X, PHI0, delta), errors)


def test_the_diagonal_is_that_of_the_tangent_kernel():
    assert torch.allclose(
        tangents.diagonal(single_layer.HEADS, X, PHI0), tangent_kernel.diagonal(X, START).total
    )


def test_boundary_points_and_projections_have_the_radii():
    phi0 = dense.start(4, 3, source(), F64)
    delta = directions.random_boundary(phi0, THREES, source(1))
    assert directions.extent(delta) == pytest.approx({"c": 3.0, "V": 3.0, "W": 3.0})
    far, near = ({name: scale * block for name, block in delta.items()} for scale in (2.0, 0.5))
    project = directions.projection({name: torch.zeros_like(block) for name, block in phi0.items()}, THREES)
    back, moved = project(far)
    assert all(torch.allclose(back[name], delta[name]) for name in delta)
    assert moved.tolist() == [[1.0, 1.0, 1.0]]
    assert all(torch.equal(project(near)[0][name], near[name]) for name in near)
    assert directions.extent(directions.on_boundary({"c": torch.zeros(4, dtype=F64)}, THREES)) == {"c": 0.0}


def test_labels_have_their_size_and_are_sections_of_the_kernel():
    y = teachers.labels(single_layer.HEADS, X, 8, 3, source(4))
    assert float(y.square().mean().sqrt()) == pytest.approx(teachers.SIZE)
    draw = source(4)
    teacher = Parameters(**single_layer.start(8, 3, draw, F64))
    anchors = data.clipped_gaussian(3, 4, 3, draw)
    K = tangent_kernel.finite(torch.cat([X, anchors]), teacher).total[:5, 5:]
    section = K @ torch.tensor([1.0, -1.0, 1.0], dtype=F64)
    assert torch.allclose(y / y.norm(), section / section.norm())


def test_a_run_is_that_of_the_book_s_trainer():
    y = torch.linspace(-1, 1, 5, dtype=F64)
    run = training.run(single_layer.HEADS, X, y, PHI0, eta=0.5, steps=30, rho=(0.3, 0.3, 0.3))
    other = descent.run(Loss(X, y), START, eta=0.5, steps=30, rho=(0.3, 0.3, 0.3))
    assert torch.allclose(run.step_losses, other.step_losses)
    assert torch.allclose(run.losses[-1], other.losses[-1])
    assert torch.allclose(run.active[-1], other.active[-1])
    end = points.plus(PHI0, run.end)
    assert all(torch.allclose(end[name], getattr(other.phi[0], name)) for name in "cUW")


@pytest.mark.parametrize(("eta", "steps"), [(0.0, 3), (-1.0, 3), (0.5, 0)])
def test_a_senseless_run_is_refused(eta, steps):
    with pytest.raises(ValueError, match="must be"):
        training.run(single_layer.HEADS, X, X[:, 0, 0], PHI0, eta=eta, steps=steps, rho=THREES)

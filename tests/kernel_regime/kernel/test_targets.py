"""Targets outside the class: their symmetries, and the part that the model can reach. Labels by chunks of heads, and mappings of teachers."""

import pytest
import torch
from torch import Generator

from checks import unchecked
from companion.experiments.kernel_regime import problems
from companion.theory.kernel_regime import targets
from shallowformer import data
from shallowformer.kernel_regime.kernel import mappings, transportation
from shallowformer.kernel_regime.kernel.labels import labelled
from shallowformer.kernel_regime.model import parameters, transformer


def some(n=5, T=4, d=3, seed=0):
    return data.sphere(n, T, d, Generator().manual_seed(seed))


def swapped(X):
    return X[:, [1, 0, *range(2, X.shape[1])]]


@pytest.mark.parametrize("name", ["sharp head", "jump", "match", "wave"])
def test_these_have_the_model_s_symmetries(name):
    X, target = some(), targets.FIXED[name]
    assert torch.allclose(target(-X), -target(X), atol=1e-12)
    assert torch.allclose(target(swapped(X)), target(X), atol=1e-12)
    assert torch.allclose(targets.reachable(target, X), target(X), atol=1e-12)


def test_these_do_not():
    X = some()
    assert torch.equal(targets.product(-X), targets.product(X))
    assert torch.allclose(targets.reachable(targets.product, X), torch.zeros(5, dtype=X.dtype))
    assert torch.allclose(targets.reachable(targets.first_token, X), X[:, :-1, 0].mean(1))


def test_a_network_is_its_own_reachable_part():
    X, phi = some(), parameters.random(6, 3, Generator().manual_seed(1))
    f = lambda Z: transformer.f(Z, phi)
    assert torch.allclose(targets.reachable(f, X), f(X), atol=1e-12)


def test_a_match_is_the_token_that_agrees_best():
    X = torch.tensor([[[0.1, 0.9], [0.5, -0.5], [0.0, 1.0]]])
    assert targets.match(X).tolist() == pytest.approx([0.1])


def test_a_sharp_head_is_a_head():
    X = some()
    head = parameters.Parameters(
        torch.ones(1, dtype=X.dtype),
        3 * torch.eye(3, dtype=X.dtype)[:1],
        targets.SHARPNESS * torch.eye(3, dtype=X.dtype)[None],
    )
    assert torch.allclose(targets.sharp_head(X), transformer.f(X, head))


def test_an_orbit_is_closed_under_both_symmetries():
    X = targets.orbit(some(n=2))
    assert X.shape == (2 * 2 * 6, 4, 3)
    rows = {tuple(x.flatten().tolist()) for x in X}
    assert len(rows) == len(X)
    assert {tuple((-x).flatten().tolist()) for x in X} == rows
    assert {tuple(x.flatten().tolist()) for x in swapped(X)} == rows


def test_labels_are_reproducible_and_named():
    drawn = [targets.labels(some(), Generator().manual_seed(3), heads=16, anchors=2) for _ in range(2)]
    assert tuple(drawn[0]) == targets.NAMES
    assert all(torch.equal(drawn[0][name], drawn[1][name]) for name in targets.NAMES)


def test_long_sequences_are_refused():
    with pytest.raises(ValueError, match="X must hold at most 7 tokens"):
        targets.reachable(targets.jump, some(T=8))
    with pytest.raises(ValueError, match="X must hold at most 7 tokens"):
        targets.orbit(some(T=8))


@pytest.mark.parametrize("variant", problems.FIGURE)
def test_fast_labels_are_those_of_represented(variant):
    X = data.clipped_gaussian(40, 5, 3, problems.source(0))
    teacher = mappings.teacher(X[:4], problems.THREES)
    fast, slow = (
        estimate(X, teacher, 600, torch.Generator().manual_seed(1), law=problems.FIGURE[variant].law)
        for estimate in (labelled, transportation.represented)
    )
    assert torch.allclose(fast.mean, slow.mean, atol=1e-7)
    assert torch.allclose(fast.variance, slow.variance, rtol=1e-4)
    assert torch.allclose(fast.standard_error, slow.standard_error, rtol=1e-4)


def test_weights_of_anchors_must_not_exceed_one():
    X = data.clipped_gaussian(3, 4, 2, problems.source(0))
    equal = mappings.teacher(X, problems.THREES)
    same = mappings.teacher(X, problems.THREES, weights=torch.full((3,), 1 / 3, dtype=X.dtype))
    phi = parameters.random(5, 2, problems.source(1))
    for a, b in zip(equal(phi).blocks, same(phi).blocks, strict=True):
        assert torch.allclose(a, b, atol=1e-15)
    with pytest.raises(ValueError, match="sum to at most 1"):
        mappings.teacher(X, problems.THREES, weights=torch.ones(3, dtype=X.dtype))
    with pytest.raises(ValueError, match="weights"), unchecked():
        mappings.teacher(X, problems.THREES, weights=torch.zeros(2, dtype=X.dtype))

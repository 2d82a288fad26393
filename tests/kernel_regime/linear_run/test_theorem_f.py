"""Theorem F along real runs, and its recursion's limits."""

import functools
import math

import pytest
import torch

from shallowformer import data
from shallowformer.kernel_regime.linear_run import known, theorem_f
from shallowformer.kernel_regime.model import gradients, pairs, parameters, transformer

ETA, STEPS = 0.4, 30


def task(n=10, T=4, d=3, m=16, seed=0, size=0.05):
    generator = torch.Generator().manual_seed(seed)
    X = data.clipped_gaussian(n, T, d, generator)
    y = size * torch.randn(n, generator=generator, dtype=torch.float64)
    return X, y, parameters.symmetric(m, d, generator)


def descend(X, y, phi0, steps=STEPS):
    """Parameters before every step of gradient descent, and after the last."""
    run = [phi0]
    for _ in range(steps):
        _, gradient = gradients.loss_and_gradient(X, y, run[-1])
        run.append(run[-1].map(lambda a, b: a - ETA * b, gradient))
    return run


descended = functools.cache(lambda m, seed: descend(*task(m=m, seed=seed)))


@pytest.mark.parametrize("every", [1, 7])
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("m", [2, 8, 32])
def test_every_bound_holds_at_every_step_for_every_pair(m, seed, every):
    X, y, phi0 = task(m=m, seed=seed)
    run, facts = known.known(X, y, phi0, ETA, STEPS, every)
    sure = theorem_f.certificate(run, facts, ETA, m)
    N, tiny = m // 2, 1e-13
    for s, phi in enumerate(descended(m, seed)):
        residual = transformer.f(X, phi) - y
        assert float((residual - run.u[s]).square().mean().sqrt()) <= float(sure.E[s]) + tiny
        assert float(sure.lower[s]) - tiny <= float(residual.square().mean()) <= float(sure.upper[s]) + tiny
        together, apart = pairs.parts(phi, phi0)
        length = lambda part: (part.U[:N].square().sum(1) + part.W[:N].square().sum((1, 2))).sqrt()
        for true, bound in (
            (length(apart), sure.moves.alpha[s]),
            (length(together), sure.moves.beta[s]),
            (apart.c[:N].abs(), sure.moves.gamma[s]),
            (together.c[:N].abs(), sure.moves.chi[s]),
        ):
            assert (true <= bound + tiny).all()
        readout, head = (float(reach[s]) for reach in sure.reach)
        moved = parameters.difference(phi, phi0)
        assert m**0.5 * float(moved.c.abs().max()) <= readout + tiny
        assert (
            m**0.5 * float(max(moved.U.norm(dim=1).max(), moved.W.flatten(1).norm(dim=1).max()))
            <= head + tiny
        )


def test_small_labels_make_it_sharp():
    """To leading order everything is known: bounds on the pairs come true as labels go to 0."""
    X, y, phi0 = task(size=1e-5)
    sure = theorem_f.certify(X, y, phi0, ETA, STEPS)
    together, apart = pairs.parts(descend(X, y, phi0)[-1], phi0)
    N = phi0.m // 2
    length = lambda part: (part.U[:N].square().sum(1) + part.W[:N].square().sum((1, 2))).sqrt()
    assert torch.allclose(sure.moves.alpha[-1], length(apart), rtol=1e-6)
    assert torch.allclose(sure.moves.beta[-1], length(together), rtol=1e-3)
    assert float(sure.E[-1]) < 1e-3 * float(sure.mu[-1])


def test_the_distance_falls_like_one_over_m():
    at = {m: float(theorem_f.certify(*task(m=m, size=0.02), ETA, STEPS).E[-1]) for m in (32, 512)}
    assert math.log(at[512] / at[32]) / math.log(16) == pytest.approx(-1, abs=0.25)


def test_a_recursion_that_explodes_says_nothing_from_there_on():
    X, y, phi0 = task(m=2, size=3.0)
    sure = theorem_f.certify(X, y, phi0, ETA, 200)
    gone = ~sure.E.isfinite()
    first = int(gone.nonzero()[0])
    assert 0 < first < 200
    assert gone[first:].all()
    assert sure.upper[gone].isinf().all()
    assert (sure.lower[gone] == 0).all()
    assert all(reach[first + 1 :].isinf().all() for reach in sure.reach)


def test_evaluating_less_often_costs_little_and_stays_a_bound():
    X, y, phi0 = task()
    exact, coarse = (theorem_f.certify(X, y, phi0, ETA, STEPS, every).E for every in (1, 3))
    assert (coarse >= exact * (1 - 1e-9)).all()
    assert float(coarse[-1]) < 1.5 * float(exact[-1])

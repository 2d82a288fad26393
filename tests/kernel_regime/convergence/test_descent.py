"""Projected gradient descent: step by step against the plain formulas, stopped and resumed, refused and diverged."""

import inspect
import signal
import subprocess
import sys

import pytest
import torch
from torch import Generator

from checks import assert_agrees, refused
from shallowformer import data
from shallowformer.kernel_regime.convergence import descent
from shallowformer.kernel_regime.model import gradients, parameters
from shallowformer.kernel_regime.model.loss import Loss
from shallowformer.kernel_regime.model.parameters import Parameters
from shallowformer.kernel_regime.neighbourhood import region

pytestmark = pytest.mark.first

RHO = (0.3, 0.2, 0.1)


def problem():
    generator = Generator().manual_seed(0)
    X = data.clipped_gaussian(60, 5, 3, generator)
    y = 0.3 * torch.randn(60, generator=generator, dtype=torch.float64)
    return Loss(X, y), [parameters.symmetric(m, 3, generator) for m in (4, 8, 8)]


def plainly(loss, phi0, eta, steps, rho, rows=None):
    """Iterates φ⁽⁰⁾ … φ⁽τ⁾, by the formulas."""
    iterates = [phi0]
    for step in range(steps):
        now = slice(None) if rows is None else rows[step]
        _, slope = gradients.loss_and_gradient(loss.X[now], loss.y[now, 0], iterates[-1])
        phi = Parameters(*(a - eta * b for a, b in zip(iterates[-1].blocks, slope.blocks, strict=True)))
        iterates.append(phi if rho is None else region.project(phi, phi0, rho))
    return iterates


def same(first, second):
    """Bit for bit."""
    tensors = lambda run: [
        *(block for group in (run.phi, run.average) for phi in group for block in phi.blocks),
        *(run.step_losses, run.steps, run.losses, run.displacement, run.active),
    ]
    return all(a.equal(b) for a, b in zip(tensors(first), tensors(second), strict=True))


@pytest.mark.parametrize("rho", [None, RHO, (0.0, 0.0, 0.0)])
def test_every_student_descends_as_the_formulas_say(rho):
    loss, students = problem()
    run = descent.run(loss, students, eta=0.5, steps=30, rho=rho, every=7)
    assert run.steps.tolist() == [0, 7, 14, 21, 28, 30]
    for k, phi0 in enumerate(students):
        iterates = plainly(loss, phi0, 0.5, 30, rho)
        for actual, expected in zip(run.phi[k].blocks, iterates[-1].blocks, strict=True):
            assert_agrees(actual, expected, 10)
        for b, actual in enumerate(run.average[k].blocks):
            assert_agrees(actual, torch.stack([phi.blocks[b] for phi in iterates[:-1]]).mean(0), 10)
        for record, step in enumerate(run.steps.tolist()):
            wanted, _ = gradients.loss_and_gradient(loss.X, loss.y[:, 0], iterates[step])
            assert_agrees(run.losses[record, k], wanted, 10)
            if step < 30:
                assert_agrees(run.step_losses[step, k], wanted, 10)
            moved = region.displacement(iterates[step], phi0)
            assert_agrees(
                run.displacement[record, k], torch.stack([part.max() * phi0.m**0.5 for part in moved]), 10
            )
        if rho is not None:
            assert region.contains(run.phi[k], phi0, rho)


def test_the_share_of_heads_on_the_boundary_is_counted_block_by_block():
    loss, students = problem()
    run = descent.run(loss, students[1], eta=0.5, steps=30, rho=(100.0, 100.0, 1e-4), every=10)
    assert run.active[0].tolist() == [[0.0, 0.0, 0.0]]
    assert run.active[-1].tolist() == [[0.0, 0.0, 1.0]]


@pytest.mark.parametrize("batch", [1, 7])
def test_batches_are_drawn_with_replacement_from_the_seed(batch):
    loss, (phi0, *_) = problem()
    generator = Generator().manual_seed(5)
    rows = [torch.randint(60, (batch,), generator=generator) for _ in range(20)]
    run = descent.run(loss, phi0, eta=0.1, steps=20, rho=RHO, batch=batch, seed=5)
    for actual, expected in zip(
        run.phi[0].blocks, plainly(loss, phi0, 0.1, 20, RHO, rows)[-1].blocks, strict=True
    ):
        assert_agrees(actual, expected, 10)
    assert not same(run, descent.run(loss, phi0, eta=0.1, steps=20, rho=RHO, batch=batch, seed=6))


def test_an_observer_is_asked_at_the_records():
    loss, (phi0, *_) = problem()
    seen = descent.run(
        loss,
        phi0,
        eta=0.1,
        steps=4,
        rho=RHO,
        every=2,
        observe=lambda step, phis: {"step": step, "c": phis[0].c.norm()},
    ).observed
    assert [entry["step"] for entry in seen] == [0, 2, 4]
    assert float(seen[0]["c"]) == pytest.approx(2.0)


def long_run(path):
    """A run that can be killed before its end. Its source is run by another process, too, so it imports what it needs."""
    import torch

    from shallowformer import data
    from shallowformer.kernel_regime.convergence import descent
    from shallowformer.kernel_regime.model import parameters
    from shallowformer.kernel_regime.model.loss import Loss

    torch.set_num_threads(1)  # sums depend on how they are split
    generator = torch.Generator().manual_seed(0)
    X = data.clipped_gaussian(60, 5, 3, generator)
    y = 0.3 * torch.randn(60, generator=generator, dtype=torch.float64)
    phi0 = parameters.symmetric(8, 3, generator)
    return descent.run(Loss(X, y), phi0, eta=0.1, steps=500, rho=(3.0,) * 3, checkpoint=path, save_every=50)


#: A thread of the run's own waits for its checkpoint, so that a busy machine cannot let the run end before.
KILLED = """
import os, pathlib, signal, sys, threading, time
def kill():
    while not pathlib.Path(sys.argv[1]).exists():
        time.sleep(0.001)
    os.kill(os.getpid(), signal.SIGKILL)
threading.Thread(target=kill, daemon=True).start()
long_run(sys.argv[1])
"""


def test_a_run_that_is_killed_goes_on_bit_for_bit(tmp_path, long):
    path, threads = tmp_path / "run.pt", torch.get_num_threads()
    done = subprocess.run([sys.executable, "-c", inspect.getsource(long_run) + KILLED, path])
    assert done.returncode == -signal.SIGKILL, "the run ended before it was killed"
    whole, resumed = long_run(None), long_run(path)
    torch.set_num_threads(threads)
    assert same(whole, resumed)


def test_a_checkpoint_of_another_run_is_refused_and_kept(tmp_path):
    loss, students = problem()
    path = tmp_path / "run.pt"
    settings = dict(steps=6, rho=RHO, checkpoint=path)
    descent.run(loss, students, eta=0.5, **settings)
    before = path.read_bytes()
    refused("checkpoint", "run.pt", "this run", descent.run, loss, students, eta=0.4, **settings)
    refused("checkpoint", "run.pt", "this run", descent.run, loss, students[:2], eta=0.5, **settings)
    assert path.read_bytes() == before


@pytest.mark.parametrize(("rho", "allowed"), [((1.0, -1.0, 1.0), "at least 0"), ((1.0, 1.0), "three")])
def test_bad_radii_are_refused(rho, allowed):
    refused("rho", str(rho), allowed, descent.run, *problem(), eta=0.1, steps=5, rho=rho)


def test_progress_is_shown_when_asked(capsys):
    loss, (phi0, *_) = problem()
    descent.run(loss, phi0, eta=0.1, steps=5, rho=RHO)
    assert capsys.readouterr().err == ""
    descent.run(loss, phi0, eta=0.1, steps=5, rho=RHO, progress=True)
    assert "5/5" in capsys.readouterr().err

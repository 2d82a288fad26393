"""Descent on models that are no Transformers: against plain loops, with a projection and a step size handed in, stopped and resumed. Rules for the step size."""

from dataclasses import dataclass

import pytest
import torch

from checks import refused
from shallowformer.training import descent, points
from shallowformer.training.balls import Balls
from shallowformer.training.step_sizes import Constant, Polyak
from simple_models import Quadratic, network, quadratic


def plainly(objective, start, rates, project=None, rows=None):
    """Iterates, by the formulas."""
    iterates = [start]
    for s, rate in enumerate(rates):
        _, gradient = objective.losses_and_gradient(iterates[-1], None if rows is None else rows[s])
        after = points.mapped(lambda a, b, r=rate: torch.add(a, b, alpha=-r), iterates[-1], gradient)
        iterates.append(after if project is None else project(after)[0])
    return iterates


def equal(point, other):
    return all(a.equal(b) for a, b in zip(points.blocks(point), points.blocks(other), strict=True))


def same(first, second):
    """Bit for bit."""
    tensors = lambda run: (run.step_losses, run.step_sizes, run.steps, run.losses, run.active)
    ends = equal(first.end, second.end) and equal(first.average, second.average)
    return ends and all(a.equal(b) for a, b in zip(tensors(first), tensors(second), strict=True))


PROBLEMS = {"quadratic": quadratic, "network": network}


@pytest.mark.parametrize("problem", PROBLEMS.values(), ids=PROBLEMS)
@pytest.mark.parametrize("radius", [None, 0.1, 10.0])
def test_descent_is_the_plain_loop_bit_for_bit(problem, radius):
    objective, start = problem()
    project = None if radius is None else Balls(start, [radius] * len(start))
    run = descent.run(objective, start, eta=0.1, steps=12, project=project, every=5)
    iterates = plainly(objective, start, [0.1] * 12, project)
    assert type(run.end) is type(start)
    assert equal(run.start, start)
    assert equal(run.end, iterates[-1])
    assert run.steps.tolist() == [0, 5, 10, 12]
    assert run.step_losses.flatten().tolist() == [float(objective.losses(p)) for p in iterates[:-1]]
    assert run.losses.flatten().tolist() == [float(objective.losses(iterates[s])) for s in run.steps]
    assert run.step_sizes.tolist() == [[0.1] * len(start)] * 12
    mean = points.mapped(lambda *blocks: torch.stack(blocks).mean(0), *iterates[:-1])
    for found, expected in zip(points.blocks(run.average), points.blocks(mean), strict=True):
        assert torch.allclose(found, expected, rtol=1e-13)
    assert (float(run.active[1:].max()) > 0) == (radius == 0.1)
    assert run.observed == []


def test_a_quadratic_is_known_in_closed_form():
    objective, (x,) = quadratic()
    run = descent.run(objective, (x,), eta=0.25, steps=30)
    mean = objective.a.mean(0)
    assert torch.allclose(run.end[0], mean + 0.75**30 * (x - mean), rtol=0, atol=1e-13)


def test_any_projection_may_be_handed_in():
    objective, start = quadratic()

    def onto_the_positive(point):
        return (point[0].clamp(min=0),), (point[0] < 0).double().mean()[None, None]

    run = descent.run(objective, start, eta=0.5, steps=60, project=onto_the_positive)
    assert torch.allclose(run.end[0], objective.a.mean(0).clamp(min=0), rtol=0, atol=1e-12)
    assert float(run.active[-1]) == float((objective.a.mean(0) < 0).double().mean())


def test_batches_are_drawn_with_replacement_from_the_seed():
    objective, start = network()
    generator = torch.Generator().manual_seed(5)
    rows = [torch.randint(7, (3,), generator=generator) for _ in range(9)]
    run = descent.run(objective, start, eta=0.1, steps=9, batch=3, seed=5)
    assert equal(run.end, plainly(objective, start, [0.1] * 9, rows=rows)[-1])
    assert not same(run, descent.run(objective, start, eta=0.1, steps=9, batch=3, seed=6))


def test_a_polyak_step_lands_where_a_parabola_is_least():
    objective = Quadratic(torch.zeros(1, 3, dtype=torch.float64))
    start = (torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64),)
    run = descent.run(objective, start, eta=Polyak(2.0), steps=2)
    assert run.step_sizes.tolist() == [[1.0], [0.0]]
    assert run.end[0].tolist() == [0.0, 0.0, 0.0]


@dataclass(frozen=True)
class Slower:
    """A step size for each block, that falls with time."""

    first: float

    def __call__(self, step, losses, gradient):
        return self.first / (step + 1), self.first / (step + 1) ** 2


def test_a_rule_may_look_at_the_step_and_treat_blocks_apart():
    objective, start = network()
    run = descent.run(objective, start, eta=Slower(0.5), steps=4)
    phi = start
    for step, rates in enumerate(run.step_sizes.tolist()):
        assert rates == [0.5 / (step + 1), 0.5 / (step + 1) ** 2]
        _, gradient = objective.losses_and_gradient(phi)
        phi = {
            name: torch.add(phi[name], gradient[name], alpha=-rate)
            for name, rate in zip(phi, rates, strict=True)
        }
    assert equal(run.end, phi)


def test_an_observer_is_asked_at_the_records_and_may_say_anything():
    objective, start = network()
    run = descent.run(
        objective, start, eta=0.1, steps=4, every=2, observe=lambda s, p: (s, p["outer"].norm())
    )
    assert [step for step, _ in run.observed] == [0, 2, 4]
    assert float(run.observed[0][1]) == float(start["outer"].norm())


@pytest.mark.parametrize("problem", PROBLEMS.values(), ids=PROBLEMS)
@pytest.mark.parametrize("batch", [None, 3])
@pytest.mark.parametrize("stop", [1, 10, 13, 29])
def test_a_run_that_is_stopped_goes_on_bit_for_bit(tmp_path, problem, stop, batch):
    objective, start = problem()
    path = tmp_path / "deep" / "run.pt"

    def impatient(step, _):
        if step >= stop:
            raise KeyboardInterrupt
        return {"step": step}

    patient = lambda step, _: {"step": step}
    settings = dict(
        eta=0.1, steps=30, project=Balls(start, [0.2] * len(start)), batch=batch, every=1, save_every=5
    )
    whole = descent.run(objective, start, **settings, observe=patient)
    with pytest.raises(KeyboardInterrupt):
        descent.run(objective, start, **settings, checkpoint=path, observe=impatient)
    resumed = descent.run(objective, start, **settings, checkpoint=path, observe=patient)
    assert same(whole, resumed)
    assert resumed.observed == whole.observed
    again = descent.run(
        objective, start, **settings, checkpoint=path, observe=lambda *_: pytest.fail("asked")
    )
    assert same(whole, again)
    assert [file.name for file in path.parent.iterdir()] == ["run.pt"]
    more = settings | {"steps": 40}
    further = descent.run(objective, start, **more, checkpoint=path, observe=patient)
    assert same(further, descent.run(objective, start, **more))
    refused("steps", "30", "at least 40", descent.run, objective, start, **settings, checkpoint=path)


@pytest.mark.parametrize("steps", [28, 30])
def test_a_run_that_is_lengthened_records_when_a_longer_one_does(tmp_path, steps):
    objective, start = quadratic()
    settings = dict(eta=0.1, every=7, observe=lambda step, _: step)
    descent.run(objective, start, steps=steps, checkpoint=tmp_path / "run.pt", **settings)
    longer = descent.run(objective, start, steps=40, checkpoint=tmp_path / "run.pt", **settings)
    assert same(longer, descent.run(objective, start, steps=40, **settings))
    assert longer.observed == [0, 7, 14, 21, 28, 35, 40]


def test_a_checkpoint_of_another_run_is_refused_and_kept(tmp_path):
    objective, start = quadratic()
    path = tmp_path / "run.pt"
    mine = dict(eta=0.1, steps=6, project=Balls(start, [0.2]), batch=2, seed=1, every=2, checkpoint=path)
    descent.run(objective, start, **mine)
    before = path.read_bytes()
    others = [
        ("objective", Quadratic(objective.a + 1e-9), start, {}),
        ("start", objective, (start[0] + 1e-9,), {}),
        ("eta", objective, start, {"eta": 0.2}),
        ("eta", objective, start, {"eta": Polyak(0.1)}),
        ("project", objective, start, {"project": Balls(start, [0.3])}),
        ("project", objective, start, {"project": None}),
        ("batch", objective, start, {"batch": None}),
        ("seed", objective, start, {"seed": 2}),
        ("every", objective, start, {"every": 3}),
    ]
    for what, other, point, settings in others:
        refused("checkpoint", "run.pt", f"other {what};", descent.run, other, point, **mine | settings)
    assert path.read_bytes() == before
    descent.run(objective, start, **mine)


def test_a_loss_that_is_not_finite_says_where_and_why():
    objective, start = network()
    with pytest.raises(descent.Diverged, match=r"student 0 is \S+ at step \d+.*too long.*eta=1e\+200"):
        descent.run(objective, start, eta=1e200, steps=50)


@pytest.mark.parametrize(
    ("argument", "value", "allowed"),
    [
        ("eta", 0.0, "above 0"),
        ("steps", 0, "at least 1"),
        ("batch", 0, "at least 1"),
        ("every", 0, "at least 1"),
        ("save_every", 0, "at least 1"),
    ],
)
def test_bad_settings_are_refused(argument, value, allowed):
    objective, start = quadratic()
    with refused(argument, str(value), allowed):
        descent.run(objective, start, **(dict(eta=0.1, steps=5) | {argument: value}))


@pytest.mark.parametrize("rates", [(), (0.1, 0.1)])
def test_a_rule_gives_one_step_size_a_block(rates):
    objective, start = quadratic()
    with refused("step sizes", str(len(rates)), "one a block, 1"):
        descent.run(objective, start, eta=lambda *_: rates, steps=1)


LOSS, GRADIENT = torch.tensor([3.0]), (torch.tensor([1.0, 2.0]), torch.tensor([[2.0]]))


def test_a_constant_step_is_constant():
    assert Constant(0.25)(7, LOSS, GRADIENT) == 0.25


def test_a_polyak_step_by_hand():
    assert Polyak(0.5)(0, LOSS, GRADIENT) == pytest.approx(0.5 * 3 / 9)
    assert Polyak(2.0, least=1.0)(5, LOSS, dict(zip("ab", GRADIENT, strict=True))) == pytest.approx(2 * 2 / 9)


def test_where_the_gradient_is_0_a_polyak_step_is_0():
    assert Polyak(1.0)(0, torch.tensor([0.0]), (torch.zeros(3),)) == 0.0


def test_rules_refuse_what_they_cannot_do():
    refused("eta", "0.0", "above 0", Constant, 0.0)
    refused("factor", "-1.0", "above 0", Polyak, -1.0)
    refused("least", "nan", "finite", Polyak, 1.0, least=float("nan"))
    refused("losses", "2", "one model", Polyak(1.0), 0, torch.ones(2), GRADIENT)

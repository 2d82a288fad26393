"""The voice of preconditioned attention: conventions, hypotheses, pieces that are tight, and runs that it must hold for."""

import math
from dataclasses import replace

import pytest
import torch

from companion.theory.one_layer import dials, direction, preconditioned, tilted
from companion.theory.one_layer.dials import Dials
from companion.theory.one_layer.run import factors, run, run_many
from shallowformer.preconditioned import algorithm, factorisation, gradients, limit, noise
from shallowformer.preconditioned.problems import Problem as Law
from shallowformer.training import descent

HOME = Dials(
    "preconditioned", "regression", 5, n=128, d=2, noise=0.1, away=0.05, steps=16, radius=0.05,
    least=0.75, centred=True,
)  # fmt: skip


#: Of plain steps: about half of the longest at the radii below.
PLAIN = 0.035


def made(world="preconditioned", **changes):
    """A problem; plain steps have a length of their own, as automatic differentiation takes seconds to load."""
    problem = dials.problem(replace(HOME, **changes))
    if world == "preconditioned":
        return problem
    return replace(problem, eta=PLAIN, switches=replace(problem.switches, rule="plain"))


def voices(problem):
    return {each.voice: each for each in preconditioned.predict(problem)}


@pytest.mark.parametrize("world", ["regression", "preconditioned"])
def test_the_layer_is_attention_regression(world):
    problem = made(world=world, alpha=2.0, radius=0.4)
    A, B = 2 * problem.start["U"], problem.start["W"][0].T
    torch.testing.assert_close(
        problem.outputs(problem.start), gradients.outputs(A, B, problem.q, problem.q), rtol=1e-12, atol=1e-12
    )
    method, start = factors(problem)
    share = method.losses(start)[0] / (problem.y.square().sum(1).mean() / 2)
    torch.testing.assert_close(share, problem.loss(problem.outputs(problem.start)), rtol=1e-11, atol=0)
    data = tilted.Whitened.of(problem)
    torch.testing.assert_close(data.g.T @ data.g / len(data.g), torch.eye(2).to(data.g))
    torch.testing.assert_close(torch.linalg.matrix_norm(data.B, 2), torch.tensor(0.4).to(data.B))


def test_a_run_of_the_rule_is_that_of_the_algorithm():
    problem = made(radius=0.4)
    method, start = factors(problem)
    done = algorithm.run(method, start, problem.steps, eta=problem.eta)
    trivial = problem.y.square().sum(1).mean() / 2
    torch.testing.assert_close(run(problem), done.loss[[0, 1, 2, 4, 8, 16]] / trivial, rtol=1e-12, atol=0)
    torch.testing.assert_close(run_many([problem], [3, 4])[0], done.loss[3:5] / trivial, rtol=1e-12, atol=0)
    assert run(made(step=40.0, radius=0.4, away=0.4, steps=16))[-1] == torch.inf
    huge = {**problem.start, "U": 1e200 * problem.start["U"]}
    assert run(replace(problem, start=huge)).isinf().all()


@pytest.mark.parametrize(
    "change",
    [
        {"heads": "own"}, {"activation": "tanh"}, {"skip": 0.5}, {"loss": "exponential"},
        {"trained": "W"}, {"trained": "CUW"}, {"rule": "normalised"},
    ],
)  # fmt: skip
def test_says_nothing_of_other_layers(change):
    problem = made()
    assert preconditioned.predict(problem)
    start, y = dict(problem.start), problem.y
    if change == {"heads": "own"}:
        start["W"] = start["W"].expand(problem.m, -1, -1)
    if change == {"loss": "exponential"}:
        y = y.sign()
    other = replace(problem, switches=replace(problem.switches, **change), start=start, y=y)
    assert preconditioned.predict(other) == []


def test_says_nothing_beyond_its_hypotheses():
    problem = made()
    assert preconditioned.predict(made(radius=0.71)) == []
    assert preconditioned.predict(replace(problem, X=problem.X.flip(0) * 1.01)) == []
    short = {"X": problem.X[:2, :2], "q": problem.q[:2], "y": problem.y[:2]}
    assert preconditioned.predict(replace(problem, **short)) == []
    assert set(voices(made(world="regression"))) == {"forecast"}
    assert set(voices(made(radius=0.4, centred=False))) == {"forecast"}
    for world, source in (("layer", "gaussian"), ("attention", "selection")):
        assert preconditioned.predict(dials.problem(Dials(world, source, 0))) == []


@pytest.mark.usefixtures("long")
def test_the_theorem_holds():
    spoke = 0
    for seed in range(9):
        problem = made(
            seed=seed, n=(64, 128)[seed % 2], d=2 + seed % 2, away=(0.03, 0.1, 0.4)[seed % 3], noise=0.2 * (seed % 3),
            radius=(0.02, 0.05, 0.1)[seed // 3], step=(0.5, 0.98)[seed % 2], steps=16,
        )  # fmt: skip
        said = voices(problem)
        if "theorem" in said:
            truth = run(problem)
            assert said["theorem"].holds(truth).all()
            spoke += int(said["theorem"].speaks()[1:].sum())
    assert spoke > 20


def cut(g, b):
    """True e_i and H_i at B̃ = b."""
    p = torch.softmax(b * g @ g.T, -1)
    z = p @ g
    return z - b * g, p @ g.square() - z.square() - 1


def one_dimension():
    return tilted.Whitened.of(made(d=1, n=40, noise=0.3))


def tight():
    """In one dimension and at a small radius the bounds of softmax and of the bias are what they bound."""
    data, b = one_dimension(), 3e-5
    (e, H), off = cut(data.g, b), direction.softmax(data, b)
    truth = [
        direction.rms(e[:, 0]), float((e * data.g).mean().abs()), direction.rms((H * data.g)[:, 0]),
        direction.rms((H * e)[:, 0]), direction.rms((H * data.omega)[:, 0]),
    ]  # fmt: skip
    holds = all(a <= bound <= 1.03 * a for a, bound in zip(truth, off, strict=True))
    U, V, c = 1.3, 0.9, 0.9 / b
    F = U * V - float(data.T)
    E = F * data.g + c * U * e - data.omega
    of_U = c * float((E * (data.g * b + e)).mean()) - F * V
    of_V = float((data.g * (1 + H) * c * U * E).mean()) / c - F * U
    delta, a = direction.bias(direction.Reach(U, V, abs(F)), float(data.omega.square().mean().sqrt()), b, off)
    return holds and math.hypot(of_U, of_V) <= delta and c * U * truth[0] <= a <= 1.03 * c * U * truth[0]


def test_what_is_known_of_softmax_is_tight_and_a_mistake_is_noticed(monkeypatch):
    assert tight()
    right = direction.excess
    monkeypatch.setattr(direction, "excess", lambda g, top: [each / 2 for each in right(g, top)])
    assert not tight()


def test_what_is_known_of_softmax_holds_at_random_points():
    generator = torch.Generator().manual_seed(3)
    data = tilted.Whitened.of(made(d=3, n=64, centred=False))
    for b in (0.05, 0.2, 0.6):
        off = direction.softmax(data, b)
        for _ in range(20):
            B = torch.randn(3, 3, generator=generator, dtype=torch.float64)
            q = data.g @ (b * B / torch.linalg.matrix_norm(B, 2))
            p = torch.softmax(q @ data.g.T, -1)
            z = p @ data.g
            e = z - q
            H = (
                torch.einsum("ij,ja,jb->iab", p, data.g, data.g)
                - z[:, :, None] * z[:, None]
                - torch.eye(3).to(z)
            )
            size, length = torch.linalg.matrix_norm(H, 2), e.norm(dim=1)
            along = float((e.T @ data.g / len(e)).norm())
            assert direction.rms(length) <= off.e
            assert along <= off.along
            assert direction.rms(size * data.g.norm(dim=1)) <= off.h_g
            assert direction.rms(size * length) <= off.h_e
            assert direction.rms(size * data.omega.norm(dim=1)) <= off.h_omega


def steps_of_the_adversary(delta, eta, x):
    """What f is before and after a step on the slice, with δ towards the saddle."""
    s = 0.7
    f = lambda x: (x**2 - 2 * s) ** 2 / 8
    return f(x), f(x - eta * ((x**2 - 2 * s) * x / 2 + delta))


def test_a_level_falls_as_against_the_adversary(monkeypatch):
    s = torch.tensor([2.0, 0.7], dtype=torch.float64)

    def holds(eta, share):
        before, after = steps_of_the_adversary(share, eta, 1.0)
        level = preconditioned.fallen(before, share, s, eta)
        return after <= level * (1 + 1e-12)

    assert all(holds(eta, share) for eta in (1e-3, 0.1) for share in (0.0, 0.05, 0.2))
    right = preconditioned.bounds.pl_constant
    monkeypatch.setattr(preconditioned.bounds, "pl_constant", lambda s, f: 2 * right(s, f))
    assert not all(holds(eta, share) for eta in (1e-3, 0.1) for share in (0.0, 0.05, 0.2))
    monkeypatch.undo()
    assert preconditioned.fallen(0.246, 0.0, s, 0.1) == math.inf  # the saddle's level is 0.245
    assert preconditioned.fallen(0.01, 0.4, s, 0.1) == math.inf  # too large a bias
    assert preconditioned.fallen(0.01, 0.0, s, 0.25) == math.inf  # too long a step


def test_the_tube_holds_what_is_pushed_by_delta():
    generator = torch.Generator().manual_seed(1)
    draw = lambda: torch.randn(3, 3, generator=generator, dtype=torch.float64)
    target = torch.tensor([1.5, 1.0, 0.7], dtype=torch.float64).diag()
    for _ in range(4):
        start, eta, delta = (draw(), draw()), 0.1, 0.02
        tube, point = preconditioned.Tube(start, target, eta), start
        for _ in range(12):
            push = draw(), draw()
            size = math.hypot(*(float(each.norm()) for each in push))
            slope = factorisation.gradient(*point, target)
            point = tuple(
                w - eta * (g + delta * p / size) for w, g, p in zip(point, slope, push, strict=True)
            )
            tube.step(delta)
            gone = math.hypot(float((point[0] - tube.U).norm()), float((point[1] - tube.V).norm()))
            assert gone <= tube.r * (1 + 1e-12)
            assert float(factorisation.value(*point, target)) <= tube.level()
            misfit = float((point[0] @ point[1].T - target).norm())
            assert tube.F - tube.moved() <= misfit <= tube.reach().F


@pytest.mark.parametrize("world", ["regression", "preconditioned"])
def test_the_forecast_is_descent_of_the_limit(world):
    problem = made(world=world, n=64, radius=0.4, noise=0.5, away=0.2)
    data = tilted.Whitened.of(problem)
    law = tilted.Tilted.of(data)
    assert abs(law.residual - float(data.omega.square().sum(1).mean())) < 1e-12
    if world == "regression":
        there = Law(data.root @ data.root, data.T @ torch.linalg.inv(data.root))
        start = problem.start["U"], problem.start["W"][0].T
        objective, eta = limit.Population(there), 2 * problem.eta
    else:
        start = factors(problem)[1]
        objective, eta = factorisation.Factorisation(data.T), problem.eta
    walk = tilted.plain if world == "regression" else tilted.structured
    A, B = walk(problem, data, law)[-1]
    end = descent.run(objective, start, eta=eta, steps=problem.steps).end
    if world == "regression":
        end = end[0] @ data.root, data.root @ end[1] @ data.root
    torch.testing.assert_close(A @ B.T, end[0] @ end[1].T, rtol=1e-9, atol=1e-11)
    excess = (A @ B.T - data.T).square().sum()
    torch.testing.assert_close(law.slopes(A, B)[0] - law.residual, excess, rtol=1e-9, atol=1e-12)


def test_the_tilted_slopes_are_those_of_its_loss():
    data = tilted.Whitened.of(made(n=20, d=3, centred=False))
    law = tilted.Tilted.of(data)
    A, B = (each.clone().requires_grad_() for each in (data.A, data.B))
    z = law.mu + data.g @ B @ law.S
    value = (z @ A.T - data.y).square().sum(1).mean()
    slopes = torch.autograd.grad(value / 2, (A, B))
    torch.testing.assert_close(law.slopes(A, B), (value, *slopes), rtol=1e-10, atol=1e-12)
    design = torch.cat([torch.ones(20, 1).to(data.g), data.g], 1)
    left = data.y - design @ torch.linalg.lstsq(design, data.y).solution
    assert law.residual == pytest.approx(float(left.square().sum(1).mean()), rel=1e-9)


def test_what_is_neglected_is_the_price_without_its_first_orders():
    data = tilted.Whitened.of(made(n=64, radius=0.4))
    law, one = tilted.Tilted.of(data), torch.eye(2, dtype=torch.float64)
    q = data.g @ data.B
    rho2, size = q.square().sum(1), data.A.square().sum()
    first = size * (1 + rho2) + (q @ data.A.T).square().sum(1)
    price = (noise.at_query(data.A, q, one) - first) / (64 - 1 + rho2.exp())
    assert tilted.missed(data.A, data.B, data.g, law) == pytest.approx(float(price.mean()), rel=1e-9)
    assert tilted.missed(data.A, data.B * 2, data.g, law) == math.inf


def test_without_noise_at_the_optimum_what_is_left_is_the_price():
    problem = made(noise=0.0, away=0.0, n=64, radius=0.3)
    data = tilted.Whitened.of(problem)
    said = voices(problem)["forecast"]
    price = tilted.missed(data.A, data.B, data.g, tilted.Tilted.of(data)) / data.trivial
    torch.testing.assert_close(said.high, torch.full_like(said.high, price), rtol=1e-6, atol=1e-12)
    assert said.low.abs().max() < 1e-12
    assert said.holds(run(problem)).all()


def test_the_forecast_says_nothing_where_the_limit_leaves_the_radius():
    said = voices(made(world="regression", radius=0.69, away=0.4, steps=512, d=3, n=64))["forecast"]
    assert not said.speaks().all()


@pytest.mark.parametrize(
    "change",
    [{"n": 16, "d": 6, "radius": 0.7}, {"d": 8, "n": 32}, {"away": 3.0, "step": 30.0}, {"d": 1, "away": 0.0}],
)
@pytest.mark.usefixtures("long")
def test_never_raises_and_a_theorem_holds_at_the_ends_of_the_dials(change):
    problem = made(steps=8, **change)
    said = voices(problem)
    assert "theorem" not in said or said["theorem"].holds(run(problem)).all()
    nothing = {**problem.start, "U": 0 * problem.start["U"]}
    assert preconditioned.predict(replace(problem, start=nothing)) == []

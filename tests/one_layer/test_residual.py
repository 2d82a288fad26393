from dataclasses import replace

import pytest
import torch

from companion.theory.one_layer import bends, dials, residual, run, tangent
from companion.theory.one_layer.dials import Dials
from companion.theory.one_layer.layer import ACTIVATIONS, Switches, attended
from companion.theory.one_layer.problem import Problem, checkpoints, symmetric

F64 = torch.float64


@pytest.fixture(autouse=True)
def one_thread():
    """Matrices are so small that threads cost more than they do."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def voices(problem):
    return {one.voice: one for one in residual.predict(problem)}


def small(heads, activation, trained, generator, skip=0.7, k=1, m=4, n=3, d=2, T=3, opposite=False):
    draw = lambda *size: torch.randn(*size, generator=generator, dtype=F64)
    if opposite:
        start = symmetric(m, m if heads == "own" else 1, d, generator)
        start["C"] = start["C"].expand(m, k).clone()
    else:
        start = {"C": draw(m, k), "U": draw(m, d), "W": draw(m if heads == "own" else 1, d, d)}
    switches = Switches(heads, activation, skip, 2.0, trained)
    return Problem(draw(n, T, d), draw(n, d), draw(n, k), start, switches, 0.01, 4)


def in_the_worst_direction(which, step, alpha=1024.0, m=16, n=3):
    """Labels are an eigenvector of the start's kernel, so that errors are."""
    made = dials.problem(Dials("layer", "gaussian", 5, m=m, n=n, alpha=alpha, steps=32, step=step))
    vectors = torch.linalg.eigh(tangent.gram(made))[1]
    return replace(made, y=n**0.5 * vectors[:, [which]])


@pytest.mark.parametrize("world", ["classifier", "attention", "normalised", "decoder", "preconditioned"])
def test_other_losses_and_rules_are_not_spoken_of(world):
    source = dials.SOURCES[world][0]
    m = {"selection": 1, "regression": 4}.get(source, 16)
    assert residual.predict(dials.problem(Dials(world, source, 0, m=m, n=8))) == []


def test_steps_beyond_two_over_the_largest_eigenvalue_are_refused():
    assert residual.predict(dials.problem(Dials("layer", "gaussian", 0, n=4, step=1.01))) == []
    assert residual.predict(dials.problem(Dials("layer", "gaussian", 0, n=4, step=0.99))) != []


def test_without_a_positive_eigenvalue_or_with_large_errors_nothing_is_proved():
    more_outputs_than_parameters = dials.problem(Dials("regression", "regression", 0, m=4, n=16, T=16))
    assert set(voices(more_outputs_than_parameters)) == {"forecast"}
    twice = dials.problem(Dials("layer", "gaussian", 0, m=64, n=2, alpha=256.0))
    assert set(voices(twice)) == {"forecast", "theorem"}
    same = replace(twice, X=twice.X[[0, 0]], q=twice.q[[0, 0]])  # two equal samples
    assert set(voices(same)) == {"forecast"}
    assert set(voices(dials.problem(Dials("layer", "gaussian", 0, m=64, n=4, alpha=0.25)))) == {"forecast"}


def test_it_never_raises_at_the_edges(long):
    generator = torch.Generator().manual_seed(0)
    for T, d, m, n in ((1, 1, 1, 1), (1, 3, 2, 2), (4, 1, 2, 1)):
        for heads in ("own", "shared"):
            for trained in ("C", "U", "W", "CUW"):
                made = small(heads, "tanh", trained, generator, T=T, d=d, m=m, n=n)
                for one in residual.predict(made):
                    assert (one.low <= one.high).all()
                    assert one.high.isfinite().all()


@pytest.mark.parametrize(
    ("world", "m", "n", "alpha", "step", "skip"),
    [
        ("layer", 16, 2, 32.0, 0.1, 0.0),
        ("layer", 64, 2, 128.0, 0.5, 1.0),
        ("layer", 16, 4, 512.0, 0.3, 0.0),
        ("layer", 64, 4, 512.0, 0.7, 0.5),
        ("shared", 16, 2, 512.0, 0.1, 0.0),
        ("shared", 8, 2, 2048.0, 0.5, 1.0),
        ("readout", 8, 16, 1.0, 0.9, 0.0),
    ],
)
def test_the_theorem_holds(world, m, n, alpha, step, skip, long):
    for seed in range(2):
        made = dials.problem(
            Dials(world, "gaussian", seed, m=m, n=n, alpha=alpha, step=step, skip=skip, steps=16)
        )
        theorem = voices(made)["theorem"]
        assert theorem.holds(run.run(made)).all(), seed
        assert theorem.speaks()[1:].any()


@pytest.mark.parametrize(("which", "step", "side"), [(0, 0.25, "high"), (0, 0.6, "high"), (-1, 0.2, "low")])
def test_in_the_worst_direction_the_theorem_is_sharp_and_a_constant_a_little_better_is_wrong(
    which, step, side
):
    made = in_the_worst_direction(which, step)
    truth, theorem = run.run(made), voices(made)["theorem"]
    assert theorem.holds(truth, rounding=1e-12).all()
    start = residual._start(made)
    known = residual.by_kernel(made, start)
    better = replace(known, s=1.05 * known.s) if side == "high" else replace(known, nu=0.95 * known.nu)
    low, high = (
        ends[checkpoints(made.steps)].square() / made.y.square().sum()
        for ends in residual._between(start, better, 32)
    )
    assert ((truth < low * (1 - 1e-9)) | (truth > high * (1 + 1e-9))).any()


def on_one_sample(y):
    """F(u) = tanh(u) from u = 1.5, whose largest value is 1: no zero is near for larger labels."""
    one = torch.ones(1, 1, dtype=F64)
    start = {"C": one, "U": 1.5 * one, "W": torch.zeros(1, 1, 1, dtype=F64)}
    return Problem(one[None], one, y * one, start, Switches(trained="U"), 0.1, 4)


def test_labels_out_of_reach_are_not_certified():
    made = on_one_sample(1.0)
    M = bends.bounds(made, bends.still(made), bends.Moved(*torch.zeros(3, 1, dtype=F64), 0.0)).M
    t = torch.tanh(torch.tensor(1.5, dtype=F64))
    assert abs(M - float(2 * t * (1 - t**2))) < 1e-12
    assert "theorem" not in voices(on_one_sample(1.2))  # above the largest value, 1
    assert "theorem" in voices(on_one_sample(0.93))


def product(e):
    """F = CU from C = U = 1, where M = 1 and σ_min = √2 − path are exact: errors above 1 have no zero."""
    one = torch.ones(1, 1, dtype=F64)
    start = {"C": one, "U": one, "W": torch.zeros(1, 1, 1, dtype=F64)}
    return Problem(one[None], one, (1 - e) * one, start, Switches("own", "identity", trained="CU"), 0.05, 64)


@pytest.mark.parametrize("e", [0.2, 0.9])
def test_halved_bends_promise_what_is_not_so(e, monkeypatch):
    made, right = product(e), bends.bounds
    truth, theorem = run.run(made), voices(made)["theorem"]
    assert theorem.holds(truth, rounding=1e-12).all()
    assert torch.allclose(theorem.high, truth, rtol=1e-6, atol=1e-20)
    assert "theorem" not in voices(product(1.01))
    monkeypatch.setattr(bends, "bounds", lambda *all: replace(right(*all), M=right(*all).M / 2))
    assert not voices(made)["theorem"].holds(truth, rounding=1e-9).all()
    assert "theorem" in voices(product(1.01))  # a loss that has no zero


def second(made, point):
    """All second derivatives of the outputs in the trained blocks, and the Jacobian."""
    names = sorted(made.switches.trained)
    sizes = [point[name].numel() for name in names]

    def outputs(flat):
        parts = zip(names, flat.split(sizes), strict=True)
        return made.outputs(point | {name: part.view_as(point[name]) for name, part in parts}).flatten()

    flat = torch.cat([point[name].flatten() for name in names])
    J = torch.func.jacrev(outputs)
    return torch.func.jacfwd(J)(flat), J(flat)


def bent(H, generator, sweeps=8):
    """A lower bound on max ‖H[v, w]‖, by alternating maximisation."""
    v, w = torch.randn(2, H.shape[-1], generator=generator, dtype=F64)
    v, w = v / v.norm(), w / w.norm()
    unit = lambda x: x / x.norm().clamp(min=1e-300)
    for _ in range(sweeps):
        y = unit(torch.einsum("npq,p,q->n", H, v, w))
        A = torch.einsum("npq,n->pq", H, y)
        w = unit(A.T @ v)
        v = unit(A @ w)
    return float(torch.einsum("npq,p,q->n", H, v, w).norm())


def moved_somewhere(made, scale, generator):
    """How far blocks may move, and a point where they have."""
    draw = lambda *size: torch.randn(*size, generator=generator, dtype=F64)
    far, point = {}, {}
    for name, block in made.start.items():
        rho = scale * torch.rand(len(block), generator=generator, dtype=F64) * (name in made.switches.trained)
        way = draw(*block.shape).flatten(1)
        way = rho[:, None] * way / way.norm(dim=1, keepdim=True)
        far[name], point[name] = rho, block + way.view_as(block)
    return bends.Moved(**far, all=10 * scale), point


@pytest.mark.parametrize("heads", ["own", "shared"])
@pytest.mark.parametrize("activation", list(ACTIVATIONS))
def test_no_derivative_exceeds_its_bound(heads, activation, long):
    generator = torch.Generator().manual_seed(3)
    for trained in ("U", "W", "CUW"):
        for k, opposite in ((1, True), (2, False)):
            made = small(heads, activation, trained, generator, k=k, opposite=opposite)
            for scale in (0.0, 0.3):
                moved, point = moved_somewhere(made, scale, generator)
                found = bends.bounds(made, bends.still(made), moved)
                H, J = second(made, point)
                assert bent(H, generator) <= found.M * (1 + 1e-9) + 1e-12
                sizes = [b.numel() for name in sorted(trained) for b in made.start[name]]
                at_most = torch.cat([getattr(found, name) for name in sorted(trained)])
                for block, bound in zip(J.split(sizes, 1), at_most, strict=True):
                    assert torch.linalg.matrix_norm(block, 2) <= bound * (1 + 1e-9) + 1e-12
                hidden = lambda at, made=made: ACTIVATIONS[made.switches.activation](
                    (attended(made.X, made.q, at["W"], made.switches.skip) * at["U"]).sum(-1)
                )
                way = sum((point[name] - made.start[name]).square().sum() for name in "UW").sqrt()
                change = torch.linalg.matrix_norm(hidden(point) - hidden(made.start), 2)
                assert made.switches.alpha * made.m**-0.5 * change <= found.ell * way * (1 + 1e-9) + 1e-12


@pytest.mark.parametrize("trained", ["U", "W", "CU", "CW"])
def test_on_one_unit_one_sample_and_one_dimension_the_bends_are_exact_at_the_start(trained):
    generator = torch.Generator().manual_seed(1)
    made = small("own", "identity" if trained != "U" else "tanh", trained, generator, m=1, n=1, d=1)
    moved = bends.Moved(*torch.zeros(3, 1, dtype=F64), 0.0)
    H, _ = second(made, made.start)
    # a form in two blocks is bounded by the sizes of its entries: exact up to their signs
    exact = float(torch.linalg.matrix_norm(H[0].abs(), 2))
    assert abs(bends.bounds(made, bends.still(made), moved).M / exact - 1) < 1e-9


def test_the_key_inequality_beyond_one_over_the_largest_eigenvalue():
    generator = torch.Generator().manual_seed(0)
    draw = lambda: torch.rand(200_000, 3, generator=generator, dtype=F64)
    nu, eps = 1 + 0.9 * draw()[:, :1], 0.1 * draw()[:, :1]
    x = eps + (nu - eps) * draw().round(decimals=1)  # ends of the interval are drawn, too
    p = draw() ** 8
    p = p / p.sum(-1, keepdim=True)
    way = (eps[:, 0] * (p * x).sum(-1)).sqrt()
    drop = 1 - (p * (1 - x) ** 2).sum(-1).sqrt()
    c = (nu * (2 - nu - eps)).clamp(min=1e-12) ** -0.5
    ratio, allowed = way / drop, (2 - nu - eps)[:, 0] > 0
    assert (ratio <= c[:, 0] * (1 + 1e-9))[allowed].all()
    assert (ratio / c[:, 0])[allowed].max() > 0.95
    assert (ratio > 1.05)[allowed].any()  # 1 is not enough


def test_for_one_sample_the_forecast_is_one_factor():
    made = dials.problem(Dials("layer", "gaussian", 2, n=1, step=0.2))
    forecast = voices(made)["forecast"]
    expected = (1 - 2 * 0.2) ** (2 * torch.tensor(forecast.steps, dtype=F64))
    assert torch.allclose(forecast.low, expected, rtol=1e-9, atol=0)
    assert torch.allclose(forecast.high, expected, rtol=1e-9, atol=0)


def test_a_readout_is_known_exactly_and_lies_within_its_forecast():
    made = dials.problem(Dials("readout", "gaussian", 1, m=8, n=16, step=0.4, steps=64))
    said, truth = voices(made), run.run(made)
    assert said["theorem"].holds(truth, rounding=1e-12).all()
    assert (said["theorem"].high - said["theorem"].low).max() == 0
    assert said["forecast"].holds(truth).all()
    z = (attended(made.X, made.q, made.start["W"]) * made.start["U"]).sum(-1)
    hidden = made.m**-0.5 * torch.tanh(z)
    half = hidden[
        :, : made.m // 2
    ]  # the others are their negatives; least squares is unsafe without full rank
    best = half @ torch.linalg.lstsq(half, made.y).solution
    assert float(said["theorem"].low[-1]) >= float((best - made.y).square().sum() / made.y.square().sum())

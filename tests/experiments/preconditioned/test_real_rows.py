"""Rows of tables as tokens: reduced formulas against the package's attention, and rows that are what they say."""

import pytest
import torch

from checks import normal, source
from companion.experiments.preconditioned import real_rows
from companion.theory.preconditioned import race, rows
from shallowformer.preconditioned import covariances, gradients, landscape, limit, noise
from shallowformer.training import descent

CPU = torch.device("cpu")
S = torch.tensor([1.5, 0.75, 0.375], dtype=torch.float64)


@pytest.fixture
def table():
    """Skewed, correlated rows, with mean 0."""
    x = torch.exp(0.5 * normal(60, 4)) @ normal(4, 4, seed=1)
    return x - x.mean(0)


def full(x, b):
    """Layer and projections, and A, B, M in full."""
    Sigma = x.T @ x / len(x)
    _, inverse = covariances.roots(Sigma)
    P, Q = covariances.orthogonal(3, source(1)), covariances.orthogonal(4, source(2))[:, :3]
    c = S[0].sqrt() / b
    A, B = c * P * S.sqrt() @ Q.T @ inverse, inverse @ (Q * S.sqrt() @ Q.T) @ inverse / c
    return A, B, P * S @ Q.T @ inverse, rows.whitened(x) @ Q, Sigma


@pytest.mark.parametrize("b", [0.1, 0.5])
def test_three_directions_say_what_the_whole_layer_does(table, b):
    A, B, M, h, Sigma = full(table, b)
    layer = rows.Layer(S, b)
    off = gradients.outputs(A, B, table, table) - table @ M.T
    assert rows.floor(layer, h) == pytest.approx(float(off.square().sum(1).mean() / S.square().sum()))
    torch.testing.assert_close(A @ Sigma @ B.T, M)
    norm = torch.linalg.matrix_norm(limit.whitened(A, B, Sigma)[1], 2)
    assert float(norm) == pytest.approx(b)
    p = torch.softmax(table @ B @ table.T, 1)
    answers = p @ table @ A.T
    spread = sum(
        len(p) * (p[i].square()[:, None] * (table @ A.T - answers[i]).square()).sum() for i in range(len(p))
    )
    assert rows.constant(layer, h) == pytest.approx(float(spread) / len(p))


def test_many_gaussian_rows_have_the_noise_constant():
    h = rows.whitened(normal(4000, 3))
    assert rows.constant(rows.Layer(S, 0.2), h) == pytest.approx(noise.at_radius(S, 0.2), rel=0.03)
    assert rows.kurtosis(h) == pytest.approx(1.0, abs=0.05)
    of_line, of_limit = rows.errors(rows.Layer(S, 0.2), h, 500, 40, 100, source(1), gaussian=True)
    assert of_limit * 500 == pytest.approx(noise.at_radius(S, 0.2), rel=0.15)
    assert of_line * float(S.square().sum()) == pytest.approx(of_limit)


def test_noise_of_a_table_is_its_constant(table):
    *_, h, _ = full(table, 0.3)
    layer = rows.Layer(S, 0.3)
    _, off = rows.errors(layer, h, 2000, 60, 200, source(1))
    assert 2000 * off == pytest.approx(rows.constant(layer, h), rel=0.2)


def test_adam_is_torchs():
    target = normal(3, 2)
    weight = torch.nn.Parameter(torch.zeros(3, 2, dtype=torch.float64))
    theirs, ours = torch.optim.Adam([weight], lr=0.1, eps=1e-12), (weight.detach().clone(),)
    rule = race.adam(0.1)
    for _ in range(5):
        theirs.zero_grad()
        (weight - target).square().sum().backward()
        theirs.step()
        slope = (2 * (ours[0] - target),)
        ours = (ours[0] + rule(slope)[0],)
    torch.testing.assert_close(ours[0], weight.detach())


class Bowl:
    """‖x‖², which one plain step of ½ solves."""

    n = 1

    def losses(self, point):
        return point[0].square().sum()[None]

    def losses_and_gradient(self, point, rows=None):
        return point[0].square().sum()[None], (2 * point[0],)


def test_steps_are_counted_and_the_best_is_kept():
    start = (torch.ones(2, dtype=torch.float64),)
    assert race.steps_to(Bowl(), start, race.plain(0.5), 1e-9, 5) == 1
    assert race.steps_to(Bowl(), start, race.plain(0.25), 1e-9, 5) is None
    assert race.steps_to(Bowl(), start, race.plain(1e200), 1e-9, 5) is None
    assert race.best_of(Bowl(), start, race.plain, [0.25, 0.4, 0.5, 3.0], 1e-9, 50) == (1, 2)
    assert race.best_of(Bowl(), start, race.plain, [3.0], 1e-9, 50) == (None, None)


def test_all_methods_start_from_the_same_attention():
    task = real_rows.posed("wine", "drawn", 0, 60)
    U, V = landscape.optimum(real_rows.drawn(13, source(5)))
    found = real_rows.runners(task.X, task.Y, (U @ normal(3, 13), V @ normal(3, 13)))
    at = {name: objective.parameters(point) for name, (objective, point, *_) in found.items()}
    for name in real_rows.METHODS[1:]:
        for mine, first in zip(at[name], at["preconditioned"], strict=True):
            torch.testing.assert_close(mine, first)
        losses = found[name][0].losses(found[name][1])
        torch.testing.assert_close(losses, found["preconditioned"][0].losses(found["preconditioned"][1]))


def test_preconditioned_steps_do_not_see_the_covariance():
    counts = {
        kind: real_rows.at_race(real_rows.Race("wine", kind, 0, n=60, most=40), CPU)
        for kind in ("real", "whitened")
    }
    assert counts["real"]["preconditioned"] == counts["whitened"]["preconditioned"] < 40
    assert counts["real"]["kappa"] > 10 > counts["whitened"]["kappa"]


def test_drawn_labels_have_their_singular_values_and_squares_find_them():
    task = real_rows.posed("diabetes", "drawn", 3, 100)
    Sigma = task.X.T @ task.X / 100
    M = torch.linalg.lstsq(task.X, task.Y).solution.T
    torch.testing.assert_close(torch.linalg.svdvals(M @ covariances.roots(Sigma)[0]), S)
    torch.testing.assert_close(task.fresh @ M.T, task.wanted)


def test_ridge_leaves_one_out():
    task = real_rows.posed("diabetes", "own", 3, 40)
    M, weight = real_rows.ridge(task.X, task.Y)
    d = task.X.shape[1]
    fit = lambda X, Y, n: Y.T @ X @ torch.linalg.inv(X.T @ X + n * weight * torch.eye(d).double())
    torch.testing.assert_close(M, fit(task.X, task.Y, 40))
    keep = torch.arange(40) != 7
    left = task.Y[7] - fit(task.X[keep], task.Y[keep], 40) @ task.X[7]
    H = task.X @ torch.linalg.inv(task.X.T @ task.X + 40 * weight * torch.eye(d).double()) @ task.X.T
    torch.testing.assert_close(left, (task.Y - H @ task.Y)[7] / (1 - H[7, 7]))


def test_contexts_are_compared_on_the_same_queries(monkeypatch):
    monkeypatch.setattr(real_rows, "RADII", (0.4,))
    monkeypatch.setattr(real_rows, "SUBSETS", 2)
    # 89 rows to train on and 89 held out, of which 44 are the other context.
    found = real_rows.at_end(real_rows.Trained("wine", "own", 0, 89, 2), CPU)
    assert (found["rows"], found["other rows"]) == (89, 44)
    task = real_rows.posed("wine", "own", 0, 89)
    method = real_rows.algorithm.Algorithm(task.X, task.Y, radius=0.4)
    A, B = method.parameters(method.point(*real_rows.starts.spectral(method.moments, symmetric=True)))
    asked = task.wanted[44:]
    off = lambda answers: float((answers - asked).square().sum() / asked.square().sum())
    weights = lambda rows: torch.softmax(task.fresh[44:] @ B @ rows.T, 1)
    for name, rows_of_context in (("half begin", task.X), ("half begin other", task.fresh[:44])):
        assert found[name] == [pytest.approx(off(weights(rows_of_context) @ rows_of_context @ A.T))]
    squares = torch.linalg.lstsq(task.X, task.Y).solution
    assert found["half squares"] == pytest.approx(off(task.fresh[44:] @ squares))
    torch.testing.assert_close(A @ method.moments.Sigma @ B.T, squares.T)
    subsets = [found[f"{name}fewer"][0] for name in ("half ", "half begin ")]
    assert all(0 < value < 5 for value in subsets)


def test_a_step_that_diverges_is_halved_or_told():
    task = real_rows.posed("weather", "drawn", 0, 60)
    method = real_rows.algorithm.Algorithm(task.X, task.Y, radius=0.4)
    start = real_rows.starts.spectral(method.moments, symmetric=True)
    A, B, halved = real_rows.settled(method, start, 5, 8)
    assert 0 <= halved <= 8
    assert torch.isfinite(A).all()
    assert torch.isfinite(B).all()

    class Steep(real_rows.algorithm.Algorithm):
        @property
        def default_step(self):
            return 1e9

    with pytest.raises(descent.Diverged, match="2 halvings"):
        real_rows.settled(Steep(task.X, task.Y, radius=0.4), start, 5, 2)


def test_unknown_kinds_are_refused():
    with pytest.raises(ValueError, match="labels"):
        real_rows.at_limit(real_rows.Limit("wine", "borrowed", 0), CPU)
    with pytest.raises(ValueError, match="rows"):
        real_rows.at_race(real_rows.Race("wine", "made up", 0, n=60, most=2), CPU)

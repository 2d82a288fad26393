"""The search finds known maxima, never leaves the admissible set, and repeats itself for a seed."""

import math

import pytest
import torch
from torch import Generator, Tensor

from checks import refused
from shallowformer.verify import SearchResult, ball, free, interval, maximise, product, sphere, tokens

SEEDS = [0, 1, 2]
#: A tenth of what a check of an inequality counts as reached.
NEAR = 1e-7


def gaussian(seed: int, *shape: int) -> Tensor:
    return torch.randn(*shape, generator=Generator().manual_seed(seed), dtype=torch.float64)


def quadratic_form(A: Tensor):
    return lambda x: torch.einsum("ri,ij,rj->r", x, A, x)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("region", [ball, sphere])
def test_a_quadratic_form_is_largest_at_its_top_eigenvector(region, seed):
    A = gaussian(10 + seed, 5, 5)
    A = A + A.T
    values, vectors = torch.linalg.eigh(A)
    result = maximise(quadratic_form(A), product(x=region(5)), seed=seed)
    assert result.value == pytest.approx(float(values[-1]), rel=NEAR)
    assert abs(float(result.point["x"][0] @ vectors[:, -1])) == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_negative_definite_form_is_largest_inside_the_ball(seed):
    result = maximise(lambda x: -(x - 0.25).square().sum(-1), product(x=ball(3)), seed=seed)
    assert result.value == pytest.approx(0, abs=1e-6)
    assert result.point["x"][0].tolist() == pytest.approx([0.25] * 3, abs=1e-3)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_linear_form_on_a_ball_is_largest_at_radius_times_norm(seed):
    b = gaussian(seed, 8)
    result = maximise(lambda x: x @ b, product(x=ball(8, radius=2.5)), seed=seed)
    assert result.value == pytest.approx(2.5 * float(b.norm()), rel=NEAR)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_linear_form_on_an_interval_is_largest_in_a_corner(seed):
    b = torch.tensor([1.0, -2.0, 0.5], dtype=torch.float64)
    result = maximise(lambda x: x @ b, product(x=interval(-1, 3, 3)), seed=seed)
    assert result.value == pytest.approx(3 + 2 + 1.5, rel=1e-12)
    assert result.point["x"][0].tolist() == pytest.approx([3, -1, 3], rel=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_largest_variance_of_tokens_in_the_ball_is_1(seed):
    def variance(X, z):
        alpha = torch.softmax(z, -1)
        a = torch.einsum("rt,rtd->rd", alpha, X)
        return torch.einsum("rt,rtd->r", alpha, (X - a[:, None]) ** 2)

    result = maximise(variance, product(X=tokens(3, 2), z=free(3, scale=2.0)), seed=seed)
    assert 1 - 1e-6 <= result.value <= 1 + 1e-12


@pytest.mark.parametrize("seed", SEEDS)
def test_many_starts_find_the_highest_of_several_peaks(seed):
    wave = lambda x: torch.cos(3 * x) - 0.1 * (x - 2) ** 2
    grid = torch.linspace(-10, 10, 200_001, dtype=torch.float64)
    result = maximise(wave, product(x=interval(-10, 10)), seed=seed)
    assert result.value == pytest.approx(float(wave(grid).max()), abs=1e-6)


def test_no_iterate_leaves_the_admissible_set():
    seen = []

    def objective(x, u, w):
        for value in (x, u, w):
            seen.append(value.detach().clone())
        assert (x.norm(dim=-1) <= 0.5 * (1 + 1e-15)).all()
        assert ((u.norm(dim=-1) - 2).abs() <= 1e-14).all()
        assert ((w >= -1) & (w <= 1)).all()
        return 1e3 * x.sum(-1) + u.prod(-1) + w**3

    over = product(x=ball(3, radius=0.5), u=sphere(2, radius=2.0), w=interval(-1, 1))
    result = maximise(objective, over, restarts=8, steps=50)
    assert len(seen) > 3 * 51
    assert result.value == pytest.approx(1e3 * 0.5 * 3**0.5 + 2 + 1, rel=1e-6)


def test_the_point_has_the_value():
    objective = quadratic_form(torch.diag(torch.tensor([1.0, 3.0, 2.0], dtype=torch.float64)))
    result = maximise(objective, product(x=ball(3)), restarts=5, steps=20)
    assert result.point["x"].shape == (1, 3)
    assert float(objective(**result.point)) == pytest.approx(result.value, rel=1e-14)
    assert result.values.shape == (5,)
    assert float(result.values.max()) == result.value


def run(seed: int) -> SearchResult:
    return maximise(
        lambda x: torch.sin(5 * x).prod(-1), product(x=ball(3, radius=4)), restarts=6, steps=30, seed=seed
    )


def test_the_seed_decides():
    first, again, other = run(4), run(4), run(5)
    assert first.values.equal(again.values)
    assert first.point["x"].equal(again.point["x"])
    assert not first.values.equal(other.values)


def test_the_global_generator_is_left_alone():
    before = torch.random.get_rng_state()
    run(0)
    assert torch.random.get_rng_state().equal(before)


def test_without_steps_only_the_starting_points_are_evaluated():
    over = product(x=ball(3))
    start = over.draw(7, Generator().manual_seed(2))["x"]
    result = maximise(lambda x: x.sum(-1), over, restarts=7, steps=0, seed=2)
    assert result.values.tolist() == pytest.approx(start.sum(-1).tolist(), rel=1e-14)


def test_the_search_is_at_least_as_good_as_its_starting_points():
    """The first step leaves the narrow peak at the start for good; the start still counts."""
    over = product(x=free(1))
    start = over.draw(4, Generator().manual_seed(0))["x"][:, 0]

    def needle(x):
        return torch.where(x[:, 0] == start, 5.0, 0.0) + x[:, 0].clamp(max=1)

    result = maximise(needle, over, restarts=4, steps=20)
    assert (result.values >= 5 + start.clamp(max=1)).all()


def test_nan_counts_as_minus_infinity():
    result = maximise(lambda x: x.sqrt(), product(x=interval(-1, 1)), restarts=16, steps=100)
    assert result.value == pytest.approx(1, rel=1e-9)
    assert result.values.max() == result.value
    assert not result.values.isnan().any()


@pytest.mark.parametrize("seed", SEEDS)
def test_a_step_over_the_edge_of_an_interval_comes_back(seed):
    result = maximise(lambda x: -((x - 0.97) ** 2), product(x=interval(0, 1)), restarts=1, seed=seed)
    assert result.value == pytest.approx(0, abs=1e-10)


def test_a_variable_without_a_usable_gradient_stays_and_the_others_climb():
    """At 0 · x the root has slope ∞, which the chain rule turns into NaN."""
    over = product(x=ball(1), w=interval(0, 1))
    result = maximise(lambda x, w: (0 * x[:, 0]).sqrt() + w, over, restarts=4, steps=100)
    assert result.values.tolist() == pytest.approx([1.0] * 4, rel=1e-12)
    assert result.point["x"].isfinite().all()


def test_an_infinite_value_is_found_and_does_no_harm_to_other_restarts():
    result = maximise(
        lambda x: torch.where(x > 0.5, math.inf, x), product(x=interval(0, 1)), restarts=8, steps=40
    )
    assert result.value == math.inf
    assert result.point["x"] > 0.5


def test_an_objective_without_gradient_is_refused_unless_it_is_only_evaluated():
    flat = lambda x: x.detach().sum(-1)
    with pytest.raises(ValueError, match=r"objective must be differentiable.*without a gradient"):
        maximise(flat, product(x=ball(2)), restarts=9, steps=10)
    assert maximise(flat, product(x=ball(2)), restarts=9, steps=0).values.isfinite().all()


def test_undefined_values_are_counted():
    result = maximise(lambda x: torch.where(x > 0, x, math.nan), product(x=free()), restarts=32, steps=0)
    assert 0 < result.undefined < 32


def test_starting_vectors_of_a_ball_have_lengths_of_their_own():
    lengths = product(x=ball(5, 3)).draw(8, torch.Generator().manual_seed(0))["x"].norm(dim=-1)
    assert lengths.std(-1).max() > 0.1


# Out of sight ---------------------------------------------------------------------------------------------------------


def beyond(size: float):
    """Flat but for points farther out."""
    return lambda x: torch.where(x[:, 0].abs() > size, 2.0, 0.5).double() + 0 * x[:, 0]


OUT_OF_SIGHT = {
    "far out": (beyond(50), free(1), 2),
    "very far out": (beyond(3e5), free(1), 2),
    "close to 0": (lambda x: torch.where(x[:, 0].abs() < 1e-2, 2.0, 0.5).double() + 0 * x[:, 0], free(1), 2),
    "a cap of the ball": (beyond(0.999), ball(3), 2),
    "the centre of the ball": (lambda x: torch.where(x.norm(dim=-1) < 1e-3, 2.0, 0.5).double() + 0 * x[:, 0], ball(3), 2),
    "a corner behind a plateau": (lambda x: 0.5 + (x[:, 0] * x[:, 1] - 0.95).clamp(min=0) * 100, interval(-1, 1, 2), 5.5),
    "at infinity": (lambda x: 1.5 * x[:, 0].clamp(min=0) / (1000 + x[:, 0].clamp(min=0)), free(2, scale=2.0), 1.5),
}  # fmt: skip


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("objective", "region", "most"), OUT_OF_SIGHT.values(), ids=OUT_OF_SIGHT)
def test_what_lies_out_of_sight_is_found(objective, region, most, seed):
    result = maximise(objective, product(x=region), seed=seed)
    assert result.value == pytest.approx(most, rel=2e-3)


def test_without_edges_the_search_keeps_to_what_is_drawn():
    assert maximise(beyond(50), product(x=free(1)), edges=False).value == 0.5


@pytest.mark.parametrize("seed", SEEDS)
def test_what_is_attained_where_logits_go_to_minus_infinity_is_reached(seed):
    """The norm of softmax's Jacobian is at most a half: two logits are equal there and the others are gone."""

    def norm(z):
        p = torch.softmax(z, -1)
        return torch.linalg.matrix_norm(torch.diag_embed(p) - p[:, :, None] * p[:, None], ord=2)

    result = maximise(norm, product(z=free(5, scale=2.0)), seed=seed)
    assert result.value == pytest.approx(0.5, rel=1e-6)


def test_a_point_that_the_objective_refuses_is_not_looked_at_again():
    def picky(x):
        if (x.abs() > 100).any():
            raise ValueError("too large")
        return -(x[:, 0] - 3).square()

    assert maximise(picky, product(x=free(1))).value == pytest.approx(0, abs=1e-9)


def evaluations(**options) -> int:
    """How many the search for the top of a parabola takes."""
    calls = []
    maximise(lambda x: calls.append(1) or -x.square().sum(-1), product(x=ball(3)), **options)
    return len(calls)


def test_a_search_that_has_arrived_ends():
    assert evaluations(steps=200) == evaluations(steps=5000) < 200


def test_what_is_said_to_be_attained_is_searched_for_longer():
    assert evaluations(steps=500, attains=1.0) > 500


def test_restarts_that_arrive_are_counted():
    two_hills = lambda x: torch.where(x[:, 0] > 0, 1 - (x[:, 0] - 0.5) ** 2, 2 - (x[:, 0] + 0.5) ** 2)
    result = maximise(two_hills, product(x=interval(-1, 1, 1)))
    assert 3 <= result.arrived == int((result.values > 1.9999).sum()) < 32


def test_restarts_that_are_moved_to_the_best_count_as_one():
    """A kinked peak beside a wide one: few restarts find its basin, others are sent there."""
    centre = torch.tensor([1.3, -0.7, 0.9], dtype=torch.float64)

    def hills(x):
        wide, y = 1 / (1 + 0.05 * (x + 2).square().sum(1)), x - centre
        ridge = 0.25 * (y[:, 0] - 3 * y[:, 1]).abs() + 0.3 * (y[:, 2] + 2 * y[:, 1]).abs()
        return torch.maximum(wide, 1.3 - ridge - 0.02 * y.abs().sum(1))

    for seed in range(8):
        assert maximise(hills, product(x=free(3, scale=2.0)), seed=seed).arrived <= 4


@pytest.mark.parametrize("edges", [False, True])
def test_a_place_without_a_value_is_noticed_where_restarts_climb_into_it(edges):
    broken = lambda x: torch.where(x > 0.999, math.nan, x)[:, 0]
    assert maximise(broken, product(x=interval(0, 1, 1)), edges=edges).undefined > 0


def never(x):
    raise AssertionError("the objective was asked although an argument is bad")


@pytest.mark.parametrize(
    ("name", "value", "allowed"),
    [
        ("restarts", 0, "at least 1"),
        ("restarts", 2.0, "whole number"),
        ("steps", -1, "at least 0"),
        ("steps", None, "whole number"),
        ("rate", 0.0, "above 0"),
        ("rate", math.nan, "finite number above 0"),
    ],
)
def test_a_bad_budget_is_refused_before_the_search(name, value, allowed):
    refused(name, repr(value), allowed, maximise, never, product(x=ball(2)), **{name: value})


@pytest.mark.parametrize(
    ("objective", "given"),
    [
        (lambda x: x, "(32, 2)"),
        (lambda x: x.sum(), "()"),
        (lambda x: x[:5, 0], "(5,)"),
        (lambda x: 1.0, "float"),
    ],
)
def test_an_objective_must_return_one_number_a_restart(objective, given):
    refused("objective", given, "shape (32,)", maximise, objective, product(x=ball(2)))

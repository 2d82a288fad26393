"""Inequalities: tight, loose and violated ones; a search that falls short; checks that could not fail."""

import math
from dataclasses import replace

import pytest
import torch

from checks import refused
from shallowformer import verify
from shallowformer.verify import ClaimFailed, Inequality, ball, batch, interval, product, sphere

NAN, INF = math.nan, math.inf
BALL = product(x=ball(3))
QUICK = {"restarts": 8, "steps": 100}


def squared_norm(x):
    return x.square().sum(-1)


def check(lhs=squared_norm, rhs=1.0, over=BALL, expect="tight", **options) -> Inequality:
    return Inequality(
        "kr-lemma-2", lhs, rhs, over, expect, "rounding of a dozen products", **(QUICK | options)
    )


def settle(lhs=squared_norm, rhs=1.0, over=BALL, expect="tight", **options) -> verify.Verdict:
    return verify.inequality("kr-lemma-2", lhs, rhs, over, expect, "rounding", **(QUICK | options))


# The three verdicts ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("rhs", "verdict"), [(1.0, "tight"), (2.0, "loose"), (0.5, "violated")])
def test_each_verdict_is_reached(rhs, verdict):
    assert check(rhs=rhs, expect=verdict).run().verdict == verdict


@pytest.mark.parametrize(("rhs", "verdict"), [(1.0, "tight"), (2.0, "loose"), (0.5, "violated")])
@pytest.mark.parametrize("expect", ["tight", "loose", "violated"])
def test_only_the_expected_verdict_passes(rhs, verdict, expect):
    if expect == verdict:
        assert settle(rhs=rhs, expect=expect).passed
    else:
        with pytest.raises(
            ClaimFailed, match=rf"claim kr-lemma-2 expects '{expect}' but its check says '{verdict}'"
        ):
            settle(rhs=rhs, expect=expect)


@pytest.mark.parametrize("seed", range(5))
def test_the_verdict_does_not_depend_on_the_seed(seed):
    assert check(seed=seed).run().measured["ratio"] == pytest.approx(1, abs=1e-12)


def test_the_right_side_may_depend_on_the_point():
    over = product(x=ball(2), y=ball(2))
    inner = lambda x, y: (x * y).sum(-1)
    norms = lambda x, y: x.norm(dim=-1) * y.norm(dim=-1)
    assert settle(inner, norms, over).verdict == "tight"
    assert settle(inner, lambda x, y: 0.9 * norms(x, y), over, "violated").verdict == "violated"


def test_sides_that_are_computed_together_are_evaluated_once():
    calls = []

    def together(x):
        calls.append(len(x))
        return squared_norm(x), 2 * squared_norm(x) + 1

    left = []
    alone = lambda x: left.append(len(x)) or squared_norm(x)
    apart = check(alone, lambda x: 2 * squared_norm(x) + 1, expect="loose").run()
    both = check(*verify.sides(together), expect="loose")
    verdict = both.run()
    assert calls == left
    assert verdict.measured["ratio"] == pytest.approx(apart.measured["ratio"], rel=1e-12)
    point = {"x": torch.ones(1, 3, dtype=torch.float64)}
    assert (both.lhs(**point), both.rhs(**point)) == (3.0, 7.0)
    assert both.scaled(0.5).ratio(**point) == pytest.approx(6 / 7)


def test_the_measured_slack_is_in_the_headline():
    verdict = check(rhs=4.0, expect="loose").run()
    assert verdict.measured["ratio"] == pytest.approx(1 / 4)
    assert verdict.headline == "loose ×4"


def test_the_witness_is_admissible_and_has_the_ratio():
    verdict = check(rhs=0.5, expect="violated").run()
    x = verdict.witness["x"]
    assert x.shape == (3,)
    assert float(x.norm()) <= 1 + 1e-15
    assert float(squared_norm(x[None])) / 0.5 == pytest.approx(verdict.measured["ratio"], rel=1e-14)


def test_the_budget_is_reported():
    spent = {"sets": 1, "restarts": 8, "steps": 100, "seed": 5}
    assert check(seed=5).run().budget == {**spent, "starts": "inside and at edges"}
    assert check(seed=5, edges=False).run().budget == {**spent, "starts": "inside"}


def test_a_scaled_right_side_turns_a_tight_claim_red():
    tight = check()
    assert tight.scaled(0.99).run().verdict == "violated"
    assert tight.scaled(1.01).run().verdict == "loose"
    depends = check(rhs=lambda x: torch.ones(len(x), dtype=torch.float64))
    assert depends.scaled(0.99).run().verdict == "violated"
    assert tight.run().verdict == "tight"


def test_rounding_and_gap_bound_what_counts_as_tight():
    assert check(rhs=1 - 1e-9).run().verdict == "violated"
    assert check(rhs=1 - 1e-9, rounding=1e-8).run().verdict == "tight"
    assert check(rhs=1 + 1e-4).run().verdict == "loose"
    assert check(rhs=1 + 1e-4, gap=1e-3).run().verdict == "tight"


# A search that has not arrived ----------------------------------------------------------------------------------------


def ridge(x):
    """Rises so slowly along a bent ridge that few steps do not get to its end, where it is 1."""
    return 1 / (1 + (x[:, 0] - 1).square() + 1e4 * (x[:, 1] - x[:, 0].square()).square())


BENT = product(x=interval(-2, 2, 2))


def test_a_bound_is_not_loose_where_the_search_has_not_arrived():
    verdict = check(ridge, 1.0, BENT, "loose", restarts=8, steps=6).run()
    assert verdict.verdict == "undecided"
    said = "the search had not arrived: 1 of 8 restarts, and was still rising; search longer"
    assert said in verdict.summary
    assert check(ridge, 2.0, BENT, "loose", restarts=32, steps=600).run().verdict == "loose"


def test_where_the_largest_ratio_is_stated_the_card_says_that_the_search_had_not_arrived():
    some = check(ridge, 2.0, BENT, "loose", restarts=8, steps=6)
    stated = replace(some, attains=some.run().measured["ratio"]).run()
    assert stated.passed
    assert "the search had not arrived: 1 of 8 restarts" in stated.summary


@pytest.mark.parametrize(
    "lhs",
    [
        lambda x: 0.5 + 0 * x[:, 0],
        lambda x: torch.where(x[:, 0] > 0.999, 2.0, 0.5).double() + 0 * x[:, 1],
        lambda x: 0.5 + 100 * (x.prod(-1) - 0.99995).clamp(min=0),
    ],
    ids=["constant", "jump", "corner"],
)
def test_where_nothing_climbs_nothing_is_loose(lhs):
    verdict = check(lhs, 1.0, product(x=interval(-1, 1, 3)), "loose", edges=False).run()
    assert verdict.verdict == "undecided"
    assert "the slope was 0 at every start" in verdict.summary
    assert check(lhs, 1.0, product(x=interval(-1, 1, 3)), "loose", edges=False, attains=0.5).run().passed


def test_points_that_are_only_drawn_make_nothing_loose():
    assert "no climb was made" in check(rhs=2.0, expect="loose", steps=0).run().summary
    assert check(rhs=2.0, expect="loose", steps=0).run().verdict == "undecided"


def test_a_supremum_at_infinity_is_not_below_the_bound():
    over = product(z=verify.free(2))
    far = lambda z: 1.5 * z[:, 0].clamp(min=0) / (1e9 + z[:, 0].clamp(min=0))
    assert check(far, 1.0, over, "loose", steps=20).run().verdict == "undecided"
    assert check(far, 1.0, over, "loose", steps=300).run().verdict == "violated"


# A violation that may be rounding -------------------------------------------------------------------------------------


def bregman(x, y):
    """What log-sum-exp departs from its tangent: at most ¼‖x − y‖²."""
    logs = torch.logsumexp(y, -1) - torch.logsumexp(x, -1)
    return logs - (torch.softmax(x, -1) * (y - x)).sum(-1)


NEAR_0 = product(x=interval(-1, 1, 1))
PAIRS = product(x=verify.logits(4), y=verify.logits(4))
CANCELLING = {
    "cosine": (lambda x: 1 - torch.cos(x[:, 0]), lambda x: x[:, 0] ** 2 / 2, NEAR_0),
    "sum": (lambda x: (x + 1).sum(-1) - 3, lambda x: x.sum(-1), product(x=interval(1e-12, 1, 3))),
    "tangent": (bregman, lambda x, y: 0.25 * (x - y).square().sum(-1), PAIRS),
    # So near that every processor's last digits decide.
    "near the diagonal": (
        lambda x, z: bregman(x, x + 1e-7 * z),
        lambda x, z: 0.25e-14 * z.square().sum(-1),
        product(x=verify.logits(4), z=interval(-1, 1, 4)),
    ),
}


@pytest.mark.parametrize("name", ["cosine", "sum", "near the diagonal"])
@pytest.mark.parametrize("expect", ["tight", "loose", "violated"])
def test_a_true_claim_is_not_refuted_by_cancellation(name, expect):
    lhs, rhs, over = CANCELLING[name]
    verdict = check(lhs, rhs, over, expect, restarts=32, steps=300).run()
    assert verdict.measured["ratio"] > 1 + 1e-12
    assert verdict.verdict == "undecided"
    assert "is rounding" in verdict.summary


@pytest.mark.parametrize("name", ["cosine", "tangent"])
def test_a_false_claim_is_refuted_although_larger_ratios_are_rounding(name):
    lhs, rhs, over = CANCELLING[name]
    verdict = check(lhs, lambda **point: 0.75 * rhs(**point), over, "violated", restarts=32, steps=300).run()
    assert verdict.passed
    assert 1.2 < verdict.measured["ratio"] < 1.4
    again = {name: value[None] for name, value in verdict.witness.items()}
    assert float(lhs(**again) / rhs(**again)) == pytest.approx(0.75 * verdict.measured["ratio"], rel=1e-9)


def test_a_violation_far_above_rounding_is_believed_however_small():
    assert check(rhs=1 - 1e-11, expect="violated").run().passed
    assert check(lambda x: 1e-30 * squared_norm(x), 1e-30 * (1 - 1e-11), expect="violated").run().passed


def test_a_function_that_refuses_shaken_points_is_believed():
    def picky(x):
        if len(x) > 8:
            raise ValueError("too many")
        return 1 - torch.cos(x[:, 0])

    verdict = check(picky, lambda x: x[:, 0] ** 2 / 2, NEAR_0, "violated", restarts=8).run()
    assert verdict.verdict in ("violated", "tight", "loose")


# Recorded -------------------------------------------------------------------------------------------------------------


def test_what_is_recorded_can_fail_and_is_no_bound():
    listed = {"steps": 0, "restarts": 50, "attains": 0.9, "gap": 1e-3, "support": "numerical"}
    stored = lambda x: 0.9 + 0 * x.sum(-1)
    verdict = settle(stored, 1.0, expect="recorded", **listed)
    assert (verdict.verdict, verdict.kind) == ("recorded", "recorded")
    for typed in (0.88, 0.92):
        with pytest.raises(ClaimFailed):
            settle(stored, 1.0, expect="recorded", **listed | {"attains": typed})
    with refused("support", "'proved'", "numerical or open"):
        settle(stored, 1.0, expect="recorded", **listed | {"support": "proved"})


# A search that falls short --------------------------------------------------------------------------------------------

NEEDLE = torch.tensor([0.123, -0.456, 0.789], dtype=torch.float64)


def needle(x):
    """1 at a single point, 1/2 elsewhere, without a slope that leads there."""
    return torch.where((x == NEEDLE).all(-1), 1.0, 0.5) + 0 * x.sum(-1)


SEEN = {"needle": batch(x=NEEDLE)}


@pytest.mark.parametrize(
    ("sides", "options", "said"),
    [
        ((needle,), {}, "reached only ratio 0.5000000, the claim says 1.0000000"),
        ((needle,), {"known": SEEN}, "'search fell short': the search reached only ratio 0.5"),
        ((needle, 2.0), {"expect": "loose", "known": SEEN}, "reached only ratio 0.2500000, a known point has 0.5"),
        ((), {"rhs": 4.0, "expect": "loose", "attains": 0.3}, "only ratio 0.2500000, the claim says 0.3000000 is attained"),
        ((), {"rhs": 4.0, "expect": "loose", "attains": 0.2}, "ratio 0.2500000, the claim says that 0.2000000 is the most"),
        ((), {"rhs": 0.5, "expect": "violated", "attains": 3.0}, "the claim says 3.0000000 is attained"),
    ],
)  # fmt: skip
def test_what_is_said_of_the_largest_ratio_must_be_reached_and_no_more(sides, options, said):
    with pytest.raises(ClaimFailed, match=rf"claim kr-lemma-2 .*{said}"):
        settle(*sides, **options)


def test_what_is_attained_passes():
    assert settle(rhs=4.0, expect="loose", attains=0.25).passed
    assert settle(rhs=0.5, expect="violated", attains=2.0).passed


def test_a_known_point_can_violate_a_claim_that_the_search_does_not():
    check_ = check(needle, 0.75, expect="loose", known={"needle": batch(x=NEEDLE)})
    verdict = check_.run()
    assert verdict.verdict == "violated"
    assert not verdict.passed
    assert verdict.witness["x"].equal(NEEDLE)
    assert verdict.measured["known_needle"] == pytest.approx(4 / 3)


def test_a_known_extremal_point_is_named_when_it_is_reached():
    verdict = check(known={"corner": batch(x=[1.0, 0.0, 0.0])}).run()
    assert verdict.passed
    assert "as at the known corner" in verdict.summary
    assert verdict.measured["known_corner"] == 1


# Several sets ---------------------------------------------------------------------------------------------------------


def test_a_tight_claim_must_be_reached_in_every_set():
    whole, half = product(x=ball(2)), product(x=ball(2, radius=0.5))
    assert settle(over={"plane": whole, "space": BALL}).passed
    with pytest.raises(ClaimFailed, match=r"reached only ratio 0\.2500000 over half"):
        settle(over={"plane": whole, "half": half})


def test_the_worst_of_several_sets_decides():
    over = {"half": product(x=ball(2, radius=0.5)), "whole": product(x=ball(4))}
    verdict = check(over=over, rhs=0.5, expect="violated").run()
    assert verdict.passed
    assert verdict.measured["ratio"] == pytest.approx(2)
    assert verdict.measured["searched_half"] == pytest.approx(0.5)
    assert verdict.measured["searched_whole"] == pytest.approx(2)
    assert verdict.witness["x"].shape == (4,)
    assert "(whole)" in verdict.summary
    assert verdict.budget["sets"] == 2


# Checks that could not fail -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("expect", ["tight", "loose", "violated"])
def test_a_left_side_that_is_nowhere_a_number_fails(expect):
    assert not check(lambda x: NAN * squared_norm(x), expect=expect).run().passed


def test_a_known_point_where_the_ratio_is_no_number_fails():
    ratio = lambda x: squared_norm(x) / x.sign().abs().amax(-1)
    assert not check(ratio, known={"centre": batch(x=[0.0, 0.0, 0.0])}).run().passed


def test_a_right_side_that_turns_negative_does_not_pass():
    """2 + ‖x‖² ≤ −1 is false everywhere, though the ratio is below 1."""
    verdict = check(lambda x: 2 + squared_norm(x), lambda x: -1 + 0 * squared_norm(x), expect="loose").run()
    assert not verdict.passed


def never(x):
    raise AssertionError("the check ran although an argument is bad")


NO_ALLOWANCE = [(value, repr(value), "finite number above 0") for value in (0, -1e-3, NAN, INF)]


@pytest.mark.parametrize(
    ("name", "value", "given", "allowed"),
    [
        *(("rhs", value, repr(value), "above 0") for value in (0.0, -1.0, NAN, INF)),
        ("gap", 1.0, "1.0", "below 1"),  # it would make everything tight
        ("expect", "holds", "'holds'", "'tight', 'loose', 'violated' or 'recorded'"),
        *((name, *bad) for name in ("attains", "gap", "rounding") for bad in NO_ALLOWANCE),
        ("restarts", 0, "0", "at least"),
        ("steps", -1, "-1", "at least"),
        ("over", {}, "none", "admissible set"),
        ("over", ball(3), "Region", "admissible set"),
        ("over", {"x": ball(3)}, "Region", "admissible set"),
        ("over", None, "NoneType", "admissible set"),
    ],
)
def test_a_bad_argument_is_refused_before_the_search(name, value, given, allowed):
    refused(name, given, allowed, settle, never, **{name: value})


def test_no_reason_is_refused():
    refused(
        "because",
        "nothing",
        "differ by so much",
        verify.inequality,
        "kr-lemma-2",
        never,
        1.0,
        BALL,
        "tight",
        "",
    )


def test_a_side_of_the_wrong_shape_is_refused():
    refused("objective", "(8, 3)", "one number a restart", settle, lambda x: x)


def test_batch_makes_a_batch_of_one_in_float64():
    point = batch(x=[1, 2], y=torch.ones(2, 2), z=3)
    assert {name: tuple(value.shape) for name, value in point.items()} == {
        "x": (1, 2),
        "y": (1, 2, 2),
        "z": (1,),
    }
    assert {value.dtype for value in point.values()} == {torch.float64}


def test_sets_of_every_kind_can_be_searched():
    over = product(x=sphere(2), w=interval(0, 1))
    assert settle(lambda x, w: w * x[:, 0], 1.0, over).passed


def test_a_left_side_that_is_undefined_somewhere_fails_and_says_so():
    verdict = check(lambda x: torch.where(x[:, 0] > 0, x[:, 0], math.nan)).run()
    assert not verdict.passed
    assert "not a number at" in verdict.summary


@pytest.mark.parametrize(
    ("point", "message"),
    [
        ({"x": [2.0, 0.0, 0.0]}, r"known\['it'\] must lie in the set: x in ball"),
        ({"y": [0.5, 0.0, 0.0]}, r"known\['it'\] must have the variables x, got y"),
    ],
)
def test_a_known_point_must_be_a_point_of_the_set(point, message):
    with pytest.raises(ValueError, match=message):
        check(lambda x: x[:, 0], known={"it": batch(**point)})


def test_what_is_said_to_be_attained_is_recorded():
    half = check(lambda x: x[:, 0], 2.0, expect="loose", attains=0.5)
    assert half.run().measured["attains"] == 0.5


def test_a_known_point_that_is_not_extremal_fails_and_is_named():
    verdict = check(lambda x: x[:, 0], known={"halfway": batch(x=[0.5, 0.0, 0.0])}).run()
    assert not verdict.passed
    assert "the known halfway has only ratio 0.5" in verdict.summary


def test_a_known_point_with_more_than_is_said_to_be_the_most_is_red():
    """The search does not find it, for it lies on a spike; and what it finds is near enough."""
    spike = lambda x: 0.54 * x**2 + 0.53 * (x == 0.2371)
    claimed = check(spike, over=product(x=interval(-1.0, 1.0)), expect="loose", attains=0.5, gap=0.1)
    assert claimed.run().passed
    verdict = replace(claimed, known={"spike": batch(x=0.2371)}).run()
    assert not verdict.passed
    assert "spike" in verdict.summary


@pytest.mark.parametrize(
    ("sides", "who"),
    [
        ((lambda x: 0.75 * _doubled(x).norm(dim=-1), lambda x: x.norm(dim=-1)), "lhs"),
        ((lambda x: 0.5 * x.norm(dim=-1), lambda x: _doubled(x).norm(dim=-1)), "rhs"),
        (verify.sides(lambda x: (0.75 * _doubled(x).norm(dim=-1), x.norm(dim=-1))), "sides"),
    ],
)
def test_who_writes_on_a_point_is_refused(sides, who):
    with pytest.raises(RuntimeError, match=f"{who} must not write on what it is given, wrote on x"):
        check(*sides, expect="loose").run()


def _doubled(x):
    with torch.no_grad():
        return x.mul_(2)


def test_a_witness_that_does_not_reproduce_is_not_believed():
    generator = torch.Generator().manual_seed(0)
    drawn = lambda x: 0 * x.norm(dim=-1) + 0.4 * torch.randn(len(x), generator=generator, dtype=torch.float64)
    verdict = check(drawn, expect="violated").run()
    assert verdict.verdict == "search fell short"
    assert "where it is evaluated again" in verdict.summary

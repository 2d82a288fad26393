"""Probabilities: the exact binomial interval, the three verdicts, and refusals."""

import math
import re

import pytest
import torch

from checks import refused, source
from shallowformer import verify
from shallowformer.verify import ClaimFailed, Probability
from shallowformer.verify.probability import interval, quantile_interval

LEVEL = 0.99  # as every summary says
ALPHA = 1 - LEVEL


def binomial(k: int, n: int, p: float) -> float:
    return math.comb(n, k) * p**k * (1 - p) ** (n - k)


def at_least(k: int, n: int, p: float) -> float:
    return math.fsum(binomial(j, n, p) for j in range(k, n + 1))


# The interval ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("draws", [1, 10, 500, 100_000])
def test_no_failure_has_a_closed_form(draws):
    assert interval(0, draws) == (0, pytest.approx(1 - (ALPHA / 2) ** (1 / draws), rel=1e-9))


@pytest.mark.parametrize("draws", [1, 10, 500])
def test_nothing_but_failures_has_a_closed_form(draws):
    assert interval(draws, draws) == (pytest.approx((ALPHA / 2) ** (1 / draws), rel=1e-9), 1)


@pytest.mark.parametrize(("failures", "draws"), [(1, 2), (1, 20), (7, 20), (19, 20), (3, 150)])
def test_the_ends_leave_half_the_error_in_each_tail(failures, draws):
    low, high = interval(failures, draws)
    assert at_least(failures, draws, low) == pytest.approx(ALPHA / 2, rel=1e-7)
    assert 1 - at_least(failures + 1, draws, high) == pytest.approx(ALPHA / 2, rel=1e-7)
    assert low < failures / draws < high


def test_swapping_failure_and_success_mirrors_the_interval():
    low, high = interval(4, 30)
    assert interval(26, 30) == pytest.approx((1 - high, 1 - low), rel=1e-9)


@pytest.mark.parametrize("p", [0.01, 0.1, 0.37, 0.5, 0.9])
def test_the_interval_covers_every_probability_at_its_level(p):
    draws = 60
    held = [k for k in range(draws + 1) if interval(k, draws)[0] <= p <= interval(k, draws)[1]]
    assert math.fsum(binomial(k, draws, p) for k in held) >= LEVEL


@pytest.mark.parametrize(
    ("failures", "draws", "name", "given", "allowed"),
    [
        (0, 0, "draws", "0", "at least 1"),
        (1, 2.0, "draws", "2.0", "whole number"),
        (-1, 5, "failures", "-1", "at least 0"),
        (6, 5, "failures", "6", "at most draws = 5"),
        (1.0, 5, "failures", "1.0", "whole number"),
    ],
)
def test_bad_counts_are_refused(failures, draws, name, given, allowed):
    refused(name, given, allowed, interval, failures, draws)


# Verdicts -------------------------------------------------------------------------------------------------------------


def often(p: float):
    return lambda draws, generator: torch.rand(draws, generator=generator) < p


def exactly(failures: int):
    return lambda draws, generator: torch.arange(draws) < failures


def check(fails, at_most=0.05, draws=2000, **options) -> Probability:
    return Probability("kr-lemma-5", fails, at_most, draws, **options)


def given(*args, **options) -> Probability:
    """A check whose draws are given, not drawn."""
    return check(*args, stored=True, **options)


@pytest.mark.parametrize(("p", "verdict"), [(0.01, "supported"), (0.05, "undecided"), (0.1, "violated")])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_frequency_below_at_and_above_the_level(p, verdict, seed):
    """At p equal to the level the interval misses it once in two hundred; seeds 0, 1 and 2 are not among those."""
    assert check(often(p), seed=seed).run().verdict == verdict


@pytest.mark.parametrize("expect", ["supported", "violated"])
def test_only_what_is_expected_passes(expect):
    for p, found in ((0.01, "supported"), (0.05, "undecided"), (0.1, "violated")):
        if found == expect:
            assert verify.settle(check(often(p), expect=expect)).passed
        else:
            said = rf"claim kr-lemma-5 expects '{expect}' but its check says '{found}'"
            with pytest.raises(ClaimFailed, match=said):
                verify.settle(check(often(p), expect=expect))


def test_the_ends_of_the_interval_decide():
    low, high = interval(50, 1000)
    for at_most, verdict in (
        (high * 1.001, "supported"),
        (high * 0.999, "undecided"),
        (low * 1.001, "undecided"),
        (low * 0.999, "violated"),
    ):
        assert given(exactly(50), at_most, 1000).run().verdict == verdict


@pytest.mark.parametrize("at_most", [0.2, 0.05, 0.01, 1e-3])
def test_the_advised_number_of_draws_suffices_where_nothing_fails(at_most):
    """The docstring of ``verify.probability`` says: take at least so many / ``at_most``."""
    advice = re.search(r"take at least ([\d.]+) / ``at_most``", verify.probability.__doc__)
    draws = math.ceil(float(advice[1]) / at_most)
    assert given(exactly(0), at_most, draws).run().verdict == "supported"


def test_measured_numbers_and_budget_are_reported():
    verdict = given(exactly(10), seed=4).run()
    assert verdict.measured == {"frequency": 10 / 2000, "interval": list(interval(10, 2000)), "at_most": 0.05}
    assert verdict.budget == {"draws": 2000, "seed": 4}


def test_the_seed_decides():
    first, again, other = (check(often(0.5), seed=seed).run().measured["frequency"] for seed in (1, 1, 2))
    assert first == again
    assert first != other


def never(draws, generator):
    raise AssertionError("something was drawn although an argument is bad")


@pytest.mark.parametrize(
    ("name", "value", "allowed"),
    [
        ("at_most", 0, "(0, 1)"),
        ("at_most", 1.0, "(0, 1)"),
        ("at_most", -0.1, "(0, 1)"),
        ("at_most", math.nan, "(0, 1)"),
        ("draws", 0, "at least 1"),
        ("draws", 10.0, "whole number"),
        ("expect", "holds", "'supported' or 'violated'"),
    ],
)
def test_a_bad_argument_is_refused_before_anything_is_drawn(name, value, allowed):
    with refused(name, repr(value), allowed):
        verify.probability(
            **({"claim": "my-claim", "fails": never, "at_most": 0.1, "draws": 100} | {name: value})
        )


@pytest.mark.parametrize(
    ("fails", "given"),
    [
        (lambda draws, _: torch.zeros(draws), "torch.float32"),
        (lambda draws, _: torch.zeros(draws + 1, dtype=torch.bool), "(101,)"),
        (lambda draws, _: torch.zeros(draws, 1, dtype=torch.bool), "(100, 1)"),
        (lambda draws, _: torch.tensor(False), "()"),
        (lambda draws, _: [False] * draws, "list"),
        (lambda draws, _: 0, "int"),
    ],
)
def test_a_wrong_result_is_refused_and_shown(fails, given):
    refused("fails", given, "100 booleans", verify.probability, "my-claim", fails, 0.1, 100)


@pytest.mark.parametrize("value", [math.nan, math.inf])
@pytest.mark.parametrize(
    "fails",
    [
        lambda x, y: x > y,
        lambda x, y: ~(x <= y),
        lambda x, y: (x - 1 < y - 1) | (x == 0),
        lambda x, y: torch.gt(x, y),
    ],
)
def test_draws_that_no_comparison_can_judge_are_refused(fails, value):
    """NaN is never above anything; nor is an infinity above another."""

    def drawn(draws, generator):
        x = torch.randn(draws, generator=generator)
        x[7] = value
        return fails(x, torch.full_like(x, value if value == math.inf else 1.0))

    refused("fails", "compared", "numbers", check(drawn).run)


def test_an_infinite_draw_is_above_every_number():
    def drawn(draws, generator):
        return torch.randn(draws, generator=generator) * math.inf > 1

    assert check(drawn, at_most=0.6).run().measured["frequency"] == pytest.approx(0.5, abs=0.05)


def test_draws_that_ignore_their_generator_are_refused():
    own = lambda draws, _: torch.rand(draws, generator=source(0)) < 0.01
    refused("fails", "left it as it was", "stored=True", check(own).run)
    assert given(own).run().verdict == "supported"
    seeded = lambda draws, g: torch.rand(draws, generator=source(g.initial_seed())) < 0.01
    assert check(seeded).run().verdict == "supported"


# Quantiles ------------------------------------------------------------------------------------------------------------


def exponential(scale: float = 1.0):
    return lambda draws, generator: -scale * torch.rand(draws, generator=generator, dtype=torch.float64).log()


@pytest.mark.parametrize("quantile", [0.05, 0.5, 0.95])
@pytest.mark.parametrize("draws", [120, 1001])
def test_the_ends_of_a_quantile_leave_at_most_half_the_error_in_each_tail_and_no_rank_nearer_does(
    draws, quantile
):
    low, high = quantile_interval(torch.arange(1.0, draws + 1), quantile)  # values are their ranks
    below = lambda rank: math.fsum(binomial(j, draws, quantile) for j in range(rank))
    assert below(int(low)) <= ALPHA / 2 < below(int(low) + 1)
    assert at_least(int(high), draws, quantile) <= ALPHA / 2 < at_least(int(high) - 1, draws, quantile)


def test_ratios_count_as_failures_above_one():
    verdict = given(lambda draws, _: torch.arange(draws) / 1000.0, at_most=0.6, attains=0.8).run()
    assert verdict.measured["frequency"] == pytest.approx(999 / 2000)
    assert verdict.verdict == "supported"


def test_the_stated_quantile_must_lie_in_its_interval():
    exact = -math.log(0.05) / 10
    found = check(exponential(0.1), attains=exact).run()
    low, high = found.measured["quantile_interval"]
    assert found.verdict == "supported"
    assert low < exact < high
    assert f"95 % quantile of left side over right side in [{low:.4g}, {high:.4g}]" in found.summary
    for wrong in (0.9 * low, 1.1 * high):
        assert not check(exponential(0.1), attains=wrong).run().passed


def test_a_bound_with_another_constant_is_noticed_from_the_stated_power_on():
    exact, pinned = (
        -math.log(0.05) / 10,
        check(exponential(0.1), attains=-math.log(0.05) / 10).run().notices.pinned,
    )
    assert 0.05 < pinned < 0.15
    for factor, passes in ((1 + 1.01 * pinned, False), (1 / (1 + 1.01 * pinned), False), (1.0, True)):
        assert check(exponential(0.1 * factor), attains=exact).run().passed == passes


def test_at_an_atom_the_stated_quantile_may_be_off_by_a_rounding_and_by_no_more():
    third = 1 / 3
    atom = lambda draws, _: torch.full((draws,), third, dtype=torch.float64)
    assert given(atom, attains=third * (1 + 4e-16)).run().passed
    assert given(atom, attains=third * (1 - 4e-16)).run().passed
    assert not given(atom, attains=third * (1 + 1e-11)).run().passed
    assert not given(atom, attains=third * (1 - 1e-11)).run().passed


def test_another_quantile_can_be_named():
    assert check(exponential(0.1), attains=0.1 * math.log(2), quantile=0.5).run().passed
    assert not check(exponential(0.1), attains=0.1 * math.log(2)).run().passed


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"quantile": 0.5}, "attains"),
        ({"attains": -1.0}, "attains"),
        ({"attains": 1.0, "quantile": 1.0}, "quantile"),
        ({"attains": 1.0, "draws": 100}, "draws"),
    ],
)
def test_a_quantile_that_could_not_be_checked_is_refused(options, name):
    with pytest.raises(ValueError, match=name):
        check(exponential(), **options)


def test_a_quantile_needs_ratios_and_ratios_are_numbers():
    with pytest.raises(ValueError, match="ratios"):
        given(exactly(3), attains=0.5).run()
    with pytest.raises(ValueError, match="NaN"):
        given(lambda draws, _: torch.full((draws,), math.nan), attains=0.5).run()
    with pytest.raises(ValueError, match="numbers"):
        quantile_interval(torch.tensor([math.nan] * 500), 0.5)

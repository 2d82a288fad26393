"""Rates: fits of known power laws, coverage of the interval, the three verdicts, and refusals."""

import math
import re
from dataclasses import replace

import numpy as np
import pytest

from checks import refused
from shallowformer import verify
from shallowformer.verify import ClaimFailed, Rate
from shallowformer.verify.rate import fit

NAN, INF = math.nan, math.inf
LEVEL = 0.95  # as every summary says
X = np.array([8.0, 16.0, 32.0, 64.0])


def noisy(exponent: float, noise: float):
    """A measurement 3·x^exponent with log-normal noise of its own for every value and seed."""

    def measure(x: float, seed: int) -> float:
        return 3 * x**exponent * math.exp(noise * np.random.default_rng([seed, int(x)]).standard_normal())

    return measure


#: Of a law without noise.
EXACT = {"seeds": [0], "deterministic": True}


def check(exponent=-0.5, relation="equal", measure=None, noise=0.05, seeds=range(10), **options) -> Rate:
    measure = measure or noisy(-0.5, noise)
    fields = {"resolution": 0.3, "because": "noise of the measurement"} | options
    return Rate("kr-theorem-1", measure, X.tolist(), exponent, relation, list(seeds), **fields)


# The fit --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("slope", [-1.0, -0.5, 0.0, 2.0])
def test_an_exact_power_law_is_recovered(slope):
    line = fit(X, np.array([5 * X**slope] * 3))
    assert line.slope == pytest.approx(slope, abs=1e-14)
    assert math.exp(line.intercept) == pytest.approx(5, rel=1e-13)
    assert line.high - line.low <= 1e-14


def test_an_exact_geometric_law_is_recovered():
    x = np.array([0.0, 1.0, 2.0, 5.0])
    line = fit(x, np.array([7 * 0.8**x]), "geometric")
    assert line.slope == pytest.approx(math.log(0.8), rel=1e-13)
    assert math.exp(line.intercept) == pytest.approx(7, rel=1e-13)


def test_the_slope_is_the_least_squares_slope_of_the_means_over_seeds():
    y = np.exp(np.random.default_rng(0).standard_normal((6, 4)))
    expected_slope, expected_intercept = np.polyfit(np.log(X), np.log(y).mean(0), 1)
    line = fit(X, y)
    assert line.slope == pytest.approx(expected_slope, rel=1e-12)
    assert line.intercept == pytest.approx(expected_intercept, rel=1e-12)
    assert line.low <= line.slope <= line.high


def test_a_single_seed_gives_an_interval_without_width():
    line = fit(X, np.exp(np.random.default_rng(0).standard_normal((1, 4))))
    assert line.low == line.high == line.slope


def test_whole_seeds_are_resampled():
    """A factor common to all values of a seed moves no slope, however much it varies between seeds."""
    factors = np.exp(10 * np.random.default_rng(0).standard_normal((12, 1)))
    line = fit(X, factors * X**-0.5)
    assert line.high - line.low <= 1e-12


def test_the_bootstrap_is_deterministic_and_its_seed_decides():
    y = np.exp(np.random.default_rng(0).standard_normal((6, 4)))
    assert fit(X, y) == fit(X, y)
    assert fit(X, y, seed=0).low != fit(X, y, seed=1).low


def coverage(seeds: int, data_sets: int = 1000) -> float:
    """How often the interval holds the true slope, over synthetic data sets of a power law with log-normal noise."""
    generator = np.random.default_rng(7)
    inside = 0
    for _ in range(data_sets):
        line = fit(X, 2 * X**-0.5 * np.exp(0.2 * generator.standard_normal((seeds, len(X)))))
        inside += line.low <= -0.5 <= line.high
    return inside / data_sets


@pytest.mark.parametrize("seeds", [10, 40])
def test_the_interval_holds_the_true_slope_as_often_as_it_says(seeds):
    """Within four standard errors of its level, at the recommended least number of seeds and at more."""
    assert abs(coverage(seeds) - LEVEL) < 4 * (LEVEL * (1 - LEVEL) / 1000) ** 0.5


@pytest.mark.parametrize(
    ("x", "y", "law", "name", "given", "allowed"),
    [
        ([1, 2], np.ones((2, 2)), "power", "x", "[1.0, 2.0]", "at least three different values"),
        ([1, 2, 2], np.ones((2, 3)), "power", "x", "[1.0, 2.0, 2.0]", "at least three different values"),
        ([[1, 2, 3]], np.ones((2, 3)), "power", "x", "[[1.0, 2.0, 3.0]]", "at least three different values"),
        ([0, 1, 2], np.ones((2, 3)), "power", "x", "[0.0, 1.0, 2.0]", "above 0 for a power law"),
        ([1, 2, INF], np.ones((2, 3)), "power", "x", "inf", "finite"),
        ([1, 2, 3, NAN], np.ones((2, 4)), "power", "x", "nan", "above 0"),
        ([1, 2, 3, NAN], np.ones((2, 4)), "geometric", "x", "nan", "finite"),
        ([1, 2, 3], np.ones(3), "power", "y", "(3,)", "[seeds, 3]"),
        ([1, 2, 3], np.ones((2, 4)), "power", "y", "(2, 4)", "[seeds, 3]"),
        ([1, 2, 3], np.ones((0, 3)), "power", "y", "(0, 3)", "[seeds, 3]"),
        ([1, 2, 3], np.ones((2, 3)), "linear", "law", "'linear'", "'power' or 'geometric'"),
    ],
)
def test_fit_refuses(x, y, law, name, given, allowed):
    refused(name, given, allowed, fit, x, y, law)


@pytest.mark.parametrize("value", [0.0, -1.0, NAN, INF])
def test_fit_refuses_measurements_without_a_logarithm_and_shows_them(value):
    y = np.ones((2, 3))
    y[1, 2] = value
    refused("y", str(value), "finite and above 0", fit, [1, 2, 3], y)


# Verdicts -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("exponent", "relation", "verdict"),
    [
        (-0.5, "equal", "supported"),
        (-1.0, "equal", "violated"),
        (0.0, "equal", "violated"),
        (-0.5, "at most", "supported"),
        (0.0, "at most", "supported"),
        (-1.0, "at most", "violated"),
        (-0.5, "at least", "supported"),
        (-1.0, "at least", "supported"),
        (0.0, "at least", "violated"),
    ],
)
def test_a_slope_of_minus_one_half_against_other_claims(exponent, relation, verdict):
    """Noise of 1 % over ten seeds: the interval is about 0.01 wide, and an allowance of 0.02 keeps its ends at bay."""
    assert check(exponent, relation, noise=0.01, bias=0.02).run().verdict == verdict


@pytest.mark.parametrize("exponent", [-1.0, -1 / 3, 0.3, 0.5, 1.0, 2.0])
def test_an_exact_law_is_supported_though_its_slope_is_rounded(exponent):
    assert check(exponent, measure=lambda x, seed: 3 * x**exponent, **EXACT).run().verdict == "supported"


def test_too_much_noise_is_undecided_and_fails():
    loud = check(noise=2.0)
    assert loud.run().verdict == "undecided"
    with pytest.raises(
        ClaimFailed, match="claim kr-theorem-1 expects 'supported' but its check says 'undecided'"
    ):
        verify.settle(loud)


@pytest.mark.parametrize("relation", ["equal", "at most"])
def test_an_interval_that_excludes_the_claim_contradicts_it_however_wide(relation):
    """It lies above the claimed −3 from end to end: a finer resolution could only confirm that."""
    assert check(-3.0, relation, noise=0.5, resolution=1e-3, expect="violated").run().verdict == "violated"


def test_one_seed_needs_to_be_declared_deterministic():
    with pytest.raises(ValueError, match=r"seeds.*deterministic=True.*got 1"):
        check(seeds=[0])
    exact = check(-0.5, measure=lambda x, seed: x**-0.5, seeds=[0], deterministic=True).run()
    assert exact.verdict == "supported"
    assert "interval" not in exact.summary


def test_an_expected_violation_passes_and_an_unexpected_support_fails():
    assert verify.settle(check(-1.0, expect="violated")).passed
    with pytest.raises(ClaimFailed, match="kr-theorem-1"):
        verify.settle(check(-0.5, measure=lambda x, seed: x**-0.5, bias=0.01, expect="violated", **EXACT))


def test_a_known_bias_is_allowed_for_and_no_more():
    drifting = lambda x, seed: x**-0.45
    assert check(measure=drifting, **EXACT).run().verdict == "violated"
    assert check(measure=drifting, bias=0.06, **EXACT).run().verdict == "supported"
    assert check(measure=drifting, bias=0.04, **EXACT).run().verdict == "violated"


def test_a_geometric_law():
    geometric = lambda x, seed: 0.9**x
    assert (
        check(math.log(0.9), measure=geometric, law="geometric", bias=1e-9, **EXACT).run().verdict
        == "supported"
    )
    assert (
        check(math.log(0.95), measure=geometric, law="geometric", bias=1e-9, **EXACT).run().verdict
        == "violated"
    )


def test_measured_numbers_and_budget_are_reported():
    verdict = check().run()
    low, high = verdict.measured["interval"]
    assert low <= verdict.measured["slope"] <= high
    assert (verdict.measured["exponent"], verdict.measured["relation"], verdict.measured["range"]) == (
        -0.5,
        "equal",
        [8, 64],
    )
    assert verdict.budget == {"seeds": 10, "points": 4, "resamples": 2000}


def test_every_value_is_measured_once_for_every_seed():
    asked = []

    def measure(x, seed):
        asked.append((x, seed))
        return 1.0 + seed

    check(0.0, measure=measure, seeds=(3, 5)).run()
    assert sorted(asked) == sorted((x, seed) for x in X.tolist() for seed in (3, 5))


# Whether a line fits at all -------------------------------------------------------------------------------------------

#: As steep as 1/x from end to end, and rising in its second half.
V = {4: 10 / 4, 16: 1 / 16, 64: 10 / 64}


@pytest.mark.parametrize("relation", ["equal", "at most", "at least"])
@pytest.mark.parametrize("noise", [0.0, 0.01])
def test_a_line_that_does_not_fit_supports_nothing(relation, noise):
    draw = lambda x, seed: V[x] * math.exp(noise * np.random.default_rng([seed, x]).standard_normal())
    seeds = range(10) if noise else [0]
    bent = replace(
        check(-1, relation, draw, seeds=seeds, deterministic=not noise, bias=0.02), over=(4, 16, 64)
    )
    verdict = bent.run()
    assert verdict.measured["slope"] == pytest.approx(-1, abs=0.02)
    assert verdict.verdict == "violated"
    ends = {"equal": "(4 and 16|16 and 64)", "at most": "16 and 64", "at least": "4 and 16"}[relation]
    assert re.search(rf"but between {ends} the slope is (-2\.6|0\.6)", verdict.summary)
    assert replace(bent, expect="violated").run().notices.change == pytest.approx(1.66, abs=0.1)


def test_a_correction_that_the_bias_allows_fits():
    """(1 + 1/x)/x: its slope between 8 and 16 is −1.08, over the whole range −1.05."""
    curved = lambda x, seed: (1 + 1 / x) / x
    assert check(-1, measure=curved, bias=0.06, **EXACT).run().verdict == "supported"
    assert check(-1, "at least", curved, bias=0.03, **EXACT).run().verdict == "violated"


def test_an_upper_bound_may_bend_below_its_exponent():
    faster = lambda x, seed: x**-0.5 / (1 + x / 16)
    assert check(-0.5, "at most", faster, **EXACT).run().verdict == "supported"


@pytest.mark.parametrize("seed", range(3))
def test_noise_does_not_bend_a_line(seed):
    few = range(100 * seed, 100 * seed + 10)
    assert check(noise=0.05, seeds=few, bias=0.02).run().verdict == "supported"


def never(x, seed):
    raise AssertionError("something was measured although an argument is bad")


def declare(**changes):
    good = dict(
        claim="my-claim",
        measure=never,
        over=X.tolist(),
        exponent=-0.5,
        relation="equal",
        seeds=[0, 1],
        resolution=0.1,
        because="noise",
    )
    return verify.rate(**(good | changes))


@pytest.mark.parametrize(
    ("name", "value", "allowed"),
    [
        ("resolution", 0, "above 0"),
        ("resolution", -0.1, "above 0"),
        ("resolution", NAN, "above 0"),
        ("resolution", INF, "finite"),
        ("relation", "<=", "'equal', 'at most' or 'at least'"),
        ("expect", "tight", "'supported' or 'violated'"),
        ("bias", -0.1, "at least 0"),
        ("bias", NAN, "at least 0"),
        ("bias", INF, "finite"),
        ("exponent", NAN, "finite"),
        ("exponent", INF, "finite"),
        ("law", "linear", "'power' or 'geometric'"),
    ],
)
def test_a_bad_argument_is_refused_before_anything_is_measured(name, value, allowed):
    refused(name, repr(value), allowed, declare, **{name: value})


def test_no_reason_is_refused_before_anything_is_measured():
    refused("because", "nothing", "differ by so much", declare, because="")


@pytest.mark.parametrize("over", [(1, 2), (2, 2, 2), (), (0, 1, 2)])
def test_bad_values_are_refused_before_anything_is_measured(over):
    with pytest.raises(
        ValueError, match=r"\b(over|x) must (hold at least three different values|be above 0)"
    ):
        declare(over=over)


def test_a_measurement_that_ignores_its_seed_is_refused():
    with refused("measure", "the same at seeds 0 and 1", "deterministic=True"):
        declare(measure=lambda x, seed: x**-0.5)
    some = lambda x, seed: x**-0.5 * (1 + seed % 2)
    with refused("measure", "the same at seeds 0 and 2", "deterministic=True"):
        declare(measure=some, seeds=[0, 1, 2])


def test_the_same_seed_twice_is_refused():
    refused("seeds", "[0, 1, 0]", "different", declare, seeds=[0, 1, 0])


def test_no_seed_is_refused():
    with pytest.raises(ValueError, match="seeds"):
        declare(seeds=())


@pytest.mark.parametrize("value", [0.0, -1.0, NAN, INF])
def test_measurements_without_a_logarithm_are_refused(value):
    with pytest.raises(ValueError, match="y must be finite and above 0"):
        declare(measure=lambda x, seed: value if seed else 1.0)

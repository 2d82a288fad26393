"""Settling a check: what is shown, and what is raised."""

import inspect
import math
import re
from dataclasses import fields

import pytest
import torch

from checks import refused
from shallowformer import verify

CASE = {"x": torch.ones(2, dtype=torch.float64)}


def holds(claim: str = "kr-fact-1", **options) -> verify.Verdict:
    return verify.identity(
        claim, lambda x: 2 * x, {"sum": lambda x: x + x}, [CASE], 1e-15, "exact", **options
    )


def fails(claim: str = "kr-fact-1", **options) -> verify.Verdict:
    return verify.identity(
        claim, lambda x: 3 * x, {"sum": lambda x: x + x}, [CASE], 1e-15, "exact", **options
    )


def one_of_each_kind() -> list[verify.Verdict]:
    return [
        holds("my-identity"),
        verify.inequality(
            "my-inequality",
            lambda x: x.square().sum(-1),
            1.0,
            verify.product(x=verify.ball(2)),
            "tight",
            "exact",
        ),
        verify.rate(
            "my-rate",
            lambda x, seed: x**0.5,
            (1, 4, 16),
            0.5,
            "at most",
            [0],
            0.1,
            "exact",
            bias=1e-9,
            deterministic=True,
        ),
        verify.probability("my-probability", lambda draws, g: torch.rand(draws, generator=g) < 0, 0.1, 100),
        verify.enclosure("my-constant", lambda: math.pi, lambda: (3.1415, 3.1416), [{}], 1e-4, "four digits"),
    ]


def test_every_kind_returns_its_verdict_and_prints_its_line(capsys):
    verdicts = one_of_each_kind()
    assert [verdict.kind for verdict in verdicts] == [
        "identity",
        "inequality",
        "rate",
        "probability",
        "enclosure",
    ]
    assert all(verdict.passed for verdict in verdicts)
    assert capsys.readouterr().out == "".join(verdict.line() + "\n" for verdict in verdicts)


def test_a_failed_claim_is_shown_and_raised_by_name(capsys):
    with pytest.raises(verify.ClaimFailed) as caught:
        fails("kr-lemma-2-sharp/upper")
    message = str(caught.value)
    assert message.startswith("claim kr-lemma-2-sharp/upper expects 'holds' but its check says 'violated': ")
    assert "sum" in message
    assert capsys.readouterr().out.startswith("✗ kr-lemma-2-sharp/upper ")


def test_an_expected_violation_passes_and_an_unexpected_truth_fails():
    assert fails(expect="violated").verdict == "violated"
    with pytest.raises(
        verify.ClaimFailed, match="claim kr-fact-1 expects 'violated' but its check says 'holds'"
    ):
        holds(expect="violated")


@pytest.mark.parametrize("support", ["proved", "numerical", "open"])
def test_support_and_finding_reach_the_verdict(support):
    verdict = holds(support=support, finding="a sentence")
    assert (verdict.support, verdict.finding) == (support, "a sentence")


def test_an_unknown_support_is_refused_before_the_check_runs():
    def never(**_):
        raise AssertionError("the check ran although an argument is bad")

    with refused("support", "'sure'", "proved, numerical, open"):
        verify.identity("my-claim", never, {"route": never}, [CASE], 1e-15, "exact", support="sure")


@pytest.mark.parametrize(
    "declare",
    [
        lambda claim: verify.Identity(claim, len, {"route": len}, [CASE], 1e-15, "exact", {}),
        lambda claim: verify.Inequality(claim, len, 1.0, verify.product(x=verify.ball(2)), "tight", "exact"),
        lambda claim: verify.Rate(claim, len, (1, 2, 3), 0.5, "equal", (0,), 0.1, "exact"),
        lambda claim: verify.Probability(claim, len, 0.1, 100),
        lambda claim: verify.Enclosure(claim, len, len, [CASE], 1e-15, "exact"),
        lambda claim: verify.Control(claim, len, "exact"),
    ],
)
def test_every_kind_refuses_a_bad_id(declare):
    refused("claim", "'kr-nonsense'", "PREFIX-KIND-NUMBER", declare, "kr-nonsense")


def test_the_public_names_exist():
    assert all(hasattr(verify, name) for name in verify.__all__)


@pytest.mark.parametrize("kind", ["identity", "inequality", "rate", "probability", "enclosure", "control"])
def test_a_misspelt_option_is_named(kind):
    arguments = {
        "identity": (lambda x: x, {"same": lambda x: x}, [CASE], 1e-15, "exact"),
        "inequality": (lambda x: x, 1.0, verify.product(x=verify.ball(2)), "tight", "exact"),
        "rate": (lambda x, seed: x, (1, 2, 4), 1.0, "equal", (0, 1), 0.1, "exact"),
        "probability": (lambda draws, generator: torch.zeros(draws, dtype=torch.bool), 0.1, 100),
        "enclosure": (lambda: 1.0, lambda: (1.0, 1.0), [{}], 1e-15, "exact"),
        "control": (lambda kept: (1, 1 if kept else 0), "exact"),
    }[kind]
    with pytest.raises(ValueError, match=r"options must be among .*; got stepps"):
        getattr(verify, kind)("my-claim", *arguments, stepps=3)


@pytest.mark.parametrize(
    "kind",
    [verify.Identity, verify.Inequality, verify.Rate, verify.Probability, verify.Enclosure, verify.Control],
)
def test_help_says_what_every_argument_is(kind):
    told = inspect.getdoc(getattr(verify, kind.kind))
    lacking = [
        field.name for field in fields(kind) if not re.search(rf"^    {field.name}: ", told, re.MULTILINE)
    ]
    assert not lacking

"""Ids of claims: what they say, and what is refused."""

from dataclasses import FrozenInstanceError

import pytest

from checks import refused
from shallowformer.verify import claims


@pytest.mark.parametrize(
    ("text", "paper", "number", "variant"),
    [
        ("kr-fact-1", "arda2026", "Fact 1", ""),
        ("kr-fact-1-sharp", "arda2026", "Fact 1", "sharp"),
        ("kr-theorem-a", "arda2026", "Theorem A", ""),
        ("kr-lemma-12-two-words", "arda2026", "Lemma 12", "two-words"),
        ("rt-proposition-3", "qin2025", "Proposition 3", ""),
        ("ts-corollary-b-2", "vasudeva2024", "Corollary B", "2"),
        ("pa-definition-1", "goel2026", "Definition 1", ""),
        ("ts-definition-a1", "vasudeva2024", "Assumption 1", ""),
        ("ts-definition-a1-sufficient", "vasudeva2024", "Assumption 1", "sufficient"),
        ("ts-definition-c2", "vasudeva2024", "Condition 2", ""),
        ("ts-definition-a", "vasudeva2024", "Definition A", ""),
        ("ts-remark-e1", "vasudeva2024", "Example 1", ""),
        ("pa-remark-1", "goel2026", "Remark 1", ""),
    ],
)
def test_an_id_says_which_papers_statement_it_is(text, paper, number, variant):
    claim = claims.parse(text)
    assert (claim.paper, claim.number, claim.variant) == (paper, number, variant)
    assert (claim.label, claim.part) == (text, "")
    assert not claim.own


@pytest.mark.parametrize(
    ("text", "origin"),
    [
        ("kr-fact-1", "paper"),
        ("kr-fact-1-sharp", "book"),
        ("kr-theorem-a", "book"),
        ("kr-lemma-5-appendix/constant", "paper"),
        ("kr-theorem-1-features", "paper"),
    ],
)
def test_an_id_says_whose_statement_it_is(text, origin):
    assert claims.parse(text).origin == origin


def test_the_part_behind_a_slash_is_not_in_the_label():
    claim = claims.parse("kr-fact-1-sharp/formula-2")
    assert (claim.label, claim.part, claim.number, claim.variant) == (
        "kr-fact-1-sharp",
        "formula-2",
        "Fact 1",
        "sharp",
    )


@pytest.mark.parametrize("text", ["my-claim", "claim", "a1", "2-norms", "my-lemma-1", "krypton-lemma"])
def test_any_other_label_is_a_claim_of_ones_own(text):
    claim = claims.parse(text)
    assert claim.own
    assert (claim.label, claim.paper, claim.number, claim.variant) == (text, "", "", "")


def test_a_claim_of_ones_own_may_have_parts():
    assert claims.parse("my-claim/second") == claims.ClaimId("my-claim", "second", "", "", "")


BAD_CHARACTERS = [
    "",
    " ",
    "Kr-fact-1",
    "my claim",
    "a_b",
    "a--b",
    "-a",
    "a-",
    "a/",
    "/a",
    "a/b/c",
    "ä",
    "a\n",
    "a.b",
    None,
    7,
]


@pytest.mark.parametrize("text", BAD_CHARACTERS)
def test_what_cannot_be_a_label_is_refused(text):
    with refused("claim", repr(text), "lower-case words joined by '-', with at most one '/part'"):
        claims.parse(text)


@pytest.mark.parametrize(
    "text",
    [
        "kr",
        "kr-fact",
        "kr-1",
        "kr-conjecture-1",
        "rt-lemma-x1",
        "pa-theorem-ab",
        "ts-fact1",
        "kr-sharp/part",
        "ts-lemma-a1",
        "ts-remark-a1",
    ],
)
def test_a_papers_prefix_needs_kind_and_number(text):
    refused("claim", repr(text), "PREFIX-KIND-NUMBER[-VARIANT]", claims.parse, text)


def test_every_paper_has_its_room():
    assert {room for _, room in claims.ROOMS.values()} == {
        "kernel_regime",
        "residual",
        "token_selection",
        "preconditioned",
    }


def test_an_id_is_frozen():
    with pytest.raises(FrozenInstanceError):
        claims.parse("kr-fact-1").label = "kr-fact-2"

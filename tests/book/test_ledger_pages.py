"""What the errata page and the scoreboard say of whose a statement is, and how they set a finding."""

import pytest

from bookext.chapters import LEDGER, statements
from bookext.ledger_pages import Errata, _credit, _raised
from shallowformer.verify import ledger


@pytest.mark.parametrize(
    ("number", "variant", "credit"),
    [
        ("Lemma 5", "sharp", " (sharpens or adds to Lemma 5 of {cite:t}`arda2026`)"),
        ("Theorem D", "paired", " (sharpens or adds to Theorem D of this book)"),
        ("Theorem D", "", " (this book)"),
    ],
)
def test_a_variant_is_credited_to_what_it_is_a_variant_of(number, variant, credit):
    entry = {"origin": "book", "paper": "arda2026", "number": number, "variant": variant}
    assert _credit(entry) == credit


def test_no_lettered_statement_is_credited_to_a_paper():
    lines = Errata.markdown(None, ledger.read(LEDGER), statements())
    assert any("Theorem A of this book" in line for line in lines)
    assert not any(f" {letter} of {{cite:t}}" in line for letter in "ABCDEFGHWXYZ" for line in lines)


@pytest.mark.parametrize(
    ("finding", "set"),
    [
        ("like m^(−1/2)", "like m{sup}`−1/2`"),
        ("(λ/R)^{1/2} times", "(λ/R){sup}`1/2` times"),
        ("ν̄_w and B_lin², y^max", "ν̄{sub}`w` and B{sub}`lin`², y{sup}`max`"),
        ("1 − ‖a‖² at T = 1", "1 − ‖a‖² at T = 1"),
    ],
)
def test_exponents_are_raised_and_indices_lowered(finding, set):
    assert _raised(finding) == set

import json

import pytest

from shallowformer.verify import ledger
from shallowformer.verify.power import Power
from shallowformer.verify.verdict import Verdict


def verdict(claim, ratio=0.5, **changes) -> dict:
    fields = {
        "kind": "inequality",
        "expectation": "loose",
        "verdict": "loose",
        "summary": "s",
        "measured": {"ratio": ratio},
        "budget": {"seed": 0},
        "notices": Power("constant", 0.5),
    }
    return Verdict(claim=claim, **{**fields, **changes}).entry()


def gathered(*verdicts):
    return ledger.gather(("book/a", one) for one in verdicts)


def test_an_entry_says_which_statement_of_which_paper():
    (entry,) = gathered(verdict("kr-fact-1-sharp"))
    assert (entry["id"], entry["paper"], entry["number"], entry["variant"], entry["chapter"]) == ("kr-fact-1-sharp", "arda2026", "Fact 1", "sharp", "book/a")  # fmt: skip


def test_parts_are_kept_under_their_claim():
    (entry,) = gathered(verdict("kr-fact-1/b"), verdict("kr-fact-1"), verdict("kr-fact-1/a"))
    assert [part["id"] for part in entry["parts"]] == ["kr-fact-1/a", "kr-fact-1/b"]


def test_readers_own_claims_stay_out():
    assert gathered(verdict("my-claim")) == []


def test_a_claim_checked_twice_is_refused():
    with pytest.raises(ValueError, match=r"kr-fact-1 is checked twice.*book/a"):
        gathered(verdict("kr-fact-1"), verdict("kr-fact-1"))


def test_a_part_checked_twice_is_refused():
    with pytest.raises(ValueError, match="two parts of the same name"):
        gathered(verdict("kr-fact-1"), verdict("kr-fact-1/a"), verdict("kr-fact-1/a"))


def test_a_part_without_its_claim_is_refused():
    with pytest.raises(ValueError, match=r"kr-fact-1.*only in parts"):
        gathered(verdict("kr-fact-1/a"))


def test_writing_and_reading_gives_the_same(tmp_path):
    entries = gathered(verdict("kr-fact-1", 1 / 3), verdict("kr-lemma-2", float("inf")))
    ledger.write(tmp_path / "ledger.json", entries)
    assert ledger.read(tmp_path / "ledger.json") == entries
    assert [path.name for path in tmp_path.iterdir()] == ["ledger.json"]


def test_the_order_of_keys_does_not_reach_the_file(tmp_path):
    ways = (
        {"measured": {"b": 1.0, "a": 2.0}, "budget": {"seed": 0, "draws": 9}},
        {"measured": {"a": 2.0, "b": 1.0}, "budget": {"draws": 9, "seed": 0}},
    )
    for name, fields in zip("xy", ways, strict=True):
        ledger.write(tmp_path / name, gathered(verdict("kr-fact-1", **fields)))
    assert (tmp_path / "x").read_text() == (tmp_path / "y").read_text()


def test_no_file_is_an_empty_ledger(tmp_path):
    assert ledger.read(tmp_path / "none.json") == []


@pytest.mark.parametrize("text", ["{", json.dumps({"id": 1}), json.dumps([{"claim": "x"}])])
def test_another_file_is_refused(tmp_path, text):
    (tmp_path / "ledger.json").write_text(text)
    with pytest.raises(ValueError, match=r"ledger\.json"):
        ledger.read(tmp_path / "ledger.json")


def test_the_same_run_differs_in_nothing():
    assert ledger.differences(gathered(verdict("kr-fact-1")), gathered(verdict("kr-fact-1"))) == []


@pytest.mark.parametrize(
    ("changed", "word"),
    [
        ({"ratio": 0.502}, "ratio"),
        ({"verdict": "violated"}, "verdict"),
        ({"expectation": "tight"}, "expectation"),
        ({"budget": {"seed": 1}}, "budget"),
        ({"support": "open"}, "support"),
        ({"measured": {"ratio": 0.5, "more": 1.0}}, "more"),
    ],
)
def test_a_difference_is_named_with_its_claim(changed, word):
    (line,) = ledger.differences(gathered(verdict("kr-fact-1", **changed)), gathered(verdict("kr-fact-1")))
    assert line.startswith("kr-fact-1: ")
    assert word in line


def test_rounding_is_no_difference():
    assert ledger.differences(gathered(verdict("kr-fact-1", 0.5001)), gathered(verdict("kr-fact-1"))) == []


def test_the_size_of_a_rounding_error_is_no_difference():
    one, other = ({"error_autograd": error, "tolerance_autograd": 1e-12} for error in (1e-16, 4e-15))
    assert (
        ledger.differences(
            gathered(verdict("kr-fact-1", measured=one)), gathered(verdict("kr-fact-1", measured=other))
        )
        == []
    )


def test_a_changed_part_is_a_difference():
    stored = gathered(verdict("kr-fact-1"), verdict("kr-fact-1/a"))
    fresh = gathered(verdict("kr-fact-1"), verdict("kr-fact-1/a", 0.9))
    assert [line.split(":")[0] for line in ledger.differences(fresh, stored)] == ["kr-fact-1/a"]


def test_missing_and_new_claims_are_differences():
    lines = ledger.differences(gathered(verdict("kr-fact-1")), gathered(verdict("kr-fact-2")))
    assert lines == ["kr-fact-1: checked, but not in the ledger", "kr-fact-2: in the ledger, but not checked"]


@pytest.mark.parametrize(
    ("new", "old", "same"),
    [
        (Power("constant", 0.5), Power("constant", 0.5005), True),
        (Power("constant", 0.5), Power("constant", 0.51), False),
        (Power("constant", 0.5), Power("level", 0.5), False),
        # As far apart as the ratios that they come from may be, and no further.
        (Power("constant", 0.1698), Power("constant", 0.1692), True),
        (Power("constant", 0.1698), Power("constant", 0.1686), False),
        (Power("constant", 1.3e-4), Power("constant", 3.8e-5), True),
        (Power("constant", 2e-3), Power("constant", 9e-4), False),
        (Power("exponent", 0.0101), Power("exponent", 0.0083), True),
        (Power("exponent", 0.0115), Power("exponent", 0.0102), False),
        (Power("value", 1e-10), Power("value", 3e-10), True),
    ],
)
def test_a_power_that_has_changed_is_named(new, old, same):
    fresh, stored = gathered(verdict("kr-fact-1", notices=new)), gathered(verdict("kr-fact-1", notices=old))
    assert (ledger.differences(fresh, stored) == []) == same


def test_a_power_that_is_missing_is_named():
    fresh, stored = gathered(verdict("kr-fact-1")), gathered(verdict("kr-fact-1"))
    del stored[0]["notices"]
    assert "notices" in ledger.differences(fresh, stored)[0]

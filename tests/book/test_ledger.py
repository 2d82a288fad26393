"""No statement without a verdict, no verdict without a statement; what an entry of the ledger says."""

import re

from bookext.chapters import LEDGER, ROOT, chapter_of, statements
from shallowformer.verify import ledger, power
from shallowformer.verify.claims import parse

ENTRIES = ledger.read(LEDGER)


def test_the_ledger_is_not_empty():
    assert ENTRIES


def test_every_statement_has_a_verdict_and_every_verdict_a_statement():
    labelled = {label for label in statements() if not parse(label).own}
    assert labelled == {entry["id"] for entry in ENTRIES}


def test_a_verdict_is_reached_where_its_statement_stands():
    where = {label: chapter_of(statement["page"]) for label, statement in statements().items()}
    assert {entry["id"]: entry["chapter"] for entry in ENTRIES} == {
        entry["id"]: where[entry["id"]] for entry in ENTRIES
    }


#: The numbered items of Arda, Cayci, Eryilmaz 2026, by kind.
NUMBERED = {"fact": 4, "definition": 3, "lemma": 6, "theorem": 1, "proposition": 2, "remark": 10}


def test_every_numbered_item_of_the_paper_has_a_verdict_and_is_in_the_table():
    items = {f"kr-{kind}-{k}" for kind, count in NUMBERED.items() for k in range(1, count + 1)}
    assert items <= {entry["id"] for entry in ENTRIES}
    notes = (ROOT / "book/experiments/reproduction.md").read_text(encoding="utf-8")
    table = notes.split("## Every numbered item")[1].split("\n\n")[1]
    listed = re.findall(r"<(kr-[a-z]+-\d+)>", table)
    assert sorted(listed) == sorted(items)


def test_every_numbered_item_of_the_second_paper_is_in_its_table():
    """Vasudeva, Deora, Thrampoulidis 2024: what has a verdict, and what is said to be not readable or told elsewhere."""
    text = (ROOT / "book/token_selection/selection_supplement.md").read_text(encoding="utf-8")
    table = text.split("## Every numbered item")[1].split("\n\n")[2]
    numbers = {
        kind: {int(number) for found in re.findall(rf"{kind}s? ([\d, ]+)", table) for number in found.split(", ") if number.strip()}
        for kind in ("Definition", "Assumption", "Example", "Condition", "Lemma", "Theorem", "Remark")
    }  # fmt: skip
    assert numbers == {
        "Definition": {1},
        "Assumption": {1, 2},
        "Example": {1},
        "Condition": {1, 2},
        "Lemma": set(range(1, 14)),
        "Theorem": set(range(1, 11)),
        "Remark": {1, 2, 3},
    }
    assert set(re.findall(r"<(ts-[a-z]+-[a-z]?\d+)>", table)) <= {entry["id"] for entry in ENTRIES}


def test_every_numbered_item_of_the_residual_paper_is_in_its_table():
    """Qin, Zhou, Jiang, Zhu 2025: each has a verdict; (10)–(17) and the lemmas it quotes by other papers' numbers are told beside them."""
    text = (ROOT / "book/residual/convergence_supplement.md").read_text(encoding="utf-8")
    table = text.split("## Every numbered item")[1].split("\n\n")[2]
    items = {"rt-definition-a1", "rt-corollary-1"}
    items |= {f"rt-theorem-{k}" for k in (1, 2, 3)} | {f"rt-lemma-{k}" for k in (1, 2, 3, 4)}
    assert items <= set(re.findall(r"<(rt-[a-z]+-a?\d+)>", table))
    assert items <= {entry["id"] for entry in ENTRIES}


def test_an_entry_says_what_was_claimed_measured_and_tried():
    kinds = ("identity", "inequality", "rate", "probability", "enclosure", "recorded")
    assert [e["id"] for e in ENTRIES if e["verdict"] != e["expectation"] or e["kind"] not in kinds] == []
    said = ("measured", "budget", "paper", "number", "because")
    assert [(e["id"], field) for e in ENTRIES for field in said if not e[field]] == []


def test_what_is_said_to_be_proved_has_a_proof_in_its_section():
    for label in [entry["id"] for entry in ENTRIES if entry["support"] == "proved"]:
        text = (ROOT / f"{statements()[label]['page']}.md").read_text(encoding="utf-8")
        assert "{prf:proof}" in text.split(f":label: {label}\n")[1].split("\n## ")[0], label


#: Those of a statement's parts, too.
CHECKS = [check for entry in ENTRIES for check in (entry, *entry["parts"])]


def test_a_loose_bound_says_what_is_attained():
    loose = [check for check in CHECKS if check["verdict"] == "loose"]
    assert [check["id"] for check in loose if "attains" not in check["measured"]] == []


def test_every_check_says_what_it_would_notice():
    assert {check["notices"]["what"] for check in CHECKS} <= set(power.KINDS)
    assert [check["id"] for check in CHECKS if not float(check["notices"]["change"]) > 0] == []


def blindness(check):
    """The smallest change that a check notices: by its verdict, or by the ratio or quantile that is stated."""
    notices = check["notices"]
    return min(float(notices["change"]), notices.get("pinned", float("inf")))


#: Of a refuted formula the number says how far it is from the truth.
TRUE = [check for check in CHECKS if check["verdict"] not in ("violated", "not implied")]


def test_what_is_recorded_is_no_evidence():
    recorded = [check for check in CHECKS if check["verdict"] == "recorded"]
    assert {check["id"] for check in recorded if check["support"] == "proved"} == set()
    # The check that carries a statement's own id is what its badge says.
    carried = {entry["id"] for entry in ENTRIES if entry["verdict"] == "recorded"}
    assert {label for label in carried if "-remark-" not in label} == set()


def test_nine_of_ten_bounds_and_identities_notice_a_change_of_one_twentieth():
    found = [blindness(check) <= 0.05 for check in TRUE if check["kind"] in ("inequality", "identity")]
    assert sum(found) >= 0.9 * len(found)


def test_every_probability_notices_a_constant_off_by_a_fifth():
    blind = {check["id"]: blindness(check) for check in TRUE if check["kind"] == "probability"}
    assert {name: change for name, change in blind.items() if change > 0.2} == {}


def test_no_check_is_blind_to_a_factor_of_two():
    found = {check["id"]: blindness(check) for check in TRUE if check["kind"] != "rate"}
    assert {name: change for name, change in found.items() if change >= 0.5} == {}

"""Every hypothesis of a paper's or a core statement is a row that says what it is for, and none is guessed."""

import re

import pytest
from planted import mistakes

from bookext import hypotheses
from bookext.chapters import LEDGER, ROOT, statements
from bookext.hypotheses import STATUS
from bookext.markup import directives
from bookext.notebooks.markdown import Flattener
from shallowformer.verify import ledger
from shallowformer.verify.claims import parse
from shallowformer.verify.mistakes import PUT_BACK

#: Directives of what has a conclusion under hypotheses; a remark or a definition may be listed, too.
CONCLUDES = ("property", "lemma", "theorem", "proposition", "corollary")
ENTRIES = {entry["id"]: entry for entry in ledger.read(LEDGER)}
CHECKS = {check["id"]: check for entry in ENTRIES.values() for check in (entry, *entry["parts"])}
ROWS = [(label, row) for label, listed in hypotheses.rows().items() for row in listed]


def core():
    """The labels of the statements that are marked as core."""
    texts = {ROOT / f"{one['page']}.md" for one in statements().values()}
    found = (each for path in texts for each in directives(path.read_text(encoding="utf-8")))
    return {each.options["label"] for each in found if "core" in each.options.get("class", "").split()}


def test_every_statement_of_a_paper_and_every_core_one_is_listed():
    papers = {label for label, entry in ENTRIES.items() if entry["origin"] == "paper"}
    due = {label for label in papers | core() if statements()[label]["kind"] in CONCLUDES}
    assert due - set(hypotheses.pages()) == set()


def test_what_is_listed_is_a_statement_and_listed_once():
    listed = [label for page in hypotheses.files().values() for label in page]
    assert set(listed) <= set(ENTRIES)
    assert len(listed) == len(set(listed))


def wrong(label, row):
    """What is wrong with a row."""
    said = []
    if row.status not in hypotheses.STATUS:
        return [f"{row.status} is no status"]
    if len(row.hypothesis) > 90 or "{" + "eq}" in row.hypothesis or ":ref}" in row.hypothesis:
        said.append("no phrase: too long, or with a link")
    shows = [name for name in ("check", "rests_on", "cite", "proof", "tried") if getattr(row, name)]
    may = {"needed": {"check"}, "not needed": {"rests_on", "cite", "proof"}, "this proof": {"tried"}, "unknown": set()}  # fmt: skip
    if row.status in ("needed", "this proof") and set(shows) != may[row.status]:
        said.append(f"{row.status} is shown by {may[row.status]}, got {shows}")
    if row.status == "not needed" and not (shows and set(shows) <= may["not needed"]):
        said.append(f"not needed is shown by a stronger statement, a source or a proof, got {shows}")
    if row.status == "unknown" and shows:
        said.append(f"unknown, and yet {shows}")
    if row.check and row.check not in hypotheses.controls():
        verdict = CHECKS.get(row.check, {}).get("verdict")
        if verdict not in ("violated", "not implied"):
            said.append(f"{row.check} refutes nothing: {verdict}")
    if row.check in hypotheses.controls() and parse(row.check).label != label:
        said.append(f"{row.check} is a control of another statement")
    if row.rests_on and ENTRIES.get(row.rests_on, {}).get("support") not in ("proved", "machine-checked"):
        said.append(f"{row.rests_on} is not proved")
    return said


def test_a_row_is_shown_by_what_its_status_asks_for():
    assert {f"{label}: {row.hypothesis}": said for label, row in ROWS if (said := wrong(label, row))} == {}


GOOD = {"hypothesis": "a convex loss", "status": "needed", "because": "It fails.", "check": "kr-lemma-5"}


@pytest.mark.parametrize(
    "change",
    [
        {"status": "surely"},
        {"check": ""},
        {"check": "kr-theorem-a"},
        {"tried": "a little"},
        {"status": "not needed", "check": ""},
        {"status": "not needed", "check": "", "rests_on": "kr-lemma-99"},
        {"status": "this proof"},
        {"status": "unknown"},
        {"hypothesis": "a " * 50},
        {"hypothesis": "small errors, {eq}`eq-x`"},
    ],
)
def test_a_wrong_row_is_noticed(change):
    assert wrong("kr-lemma-5", hypotheses.Row(**GOOD)) == []
    assert wrong("kr-lemma-5", hypotheses.Row(**GOOD | change)) != []


def test_most_rows_are_decided():
    decided = [row for _, row in ROWS if row.status in ("needed", "not needed")]
    assert len(decided) >= 0.6 * len(ROWS)


def test_every_control_belongs_to_a_row_and_fails_where_the_hypothesis_is_put_back():
    found = hypotheses.controls()
    assert {row.check for _, row in ROWS} >= set(found)
    assert set(found) & set(CHECKS) == set()
    assert {entry["verdict"] for entry in found.values()} <= {"needed"}
    planted = {claim: some for page in hypotheses.files() for claim, some in mistakes(page).items()}
    assert [claim for claim in found if PUT_BACK not in planted.get(claim, ())] == []


@pytest.mark.parametrize("page", hypotheses.files())
def test_a_page_tells_of_the_statements_of_its_file(page):
    text = (ROOT / f"{page}.md").read_text(encoding="utf-8")
    told = re.findall(r"^`{3,}\{hypotheses\} (?!counts)(\S+)$", text, re.MULTILINE)
    assert sorted(told) == sorted(hypotheses.files()[page])
    assert {entry["chapter"] for entry in hypotheses.controls().values()} <= set(hypotheses.files())


@pytest.mark.parametrize("page", hypotheses.files())
def test_a_notebook_tells_what_each_hypothesis_is_for(page):
    flattener = Flattener(ROOT / f"{page}.md")
    for label, listed in hypotheses.files()[page].items():
        told = flattener.text(f"```{{hypotheses}} {label}\n```")
        words = ["No hypotheses"] if isinstance(listed, str) else [STATUS[row.status][0] for row in listed]
        assert all(word in told for word in words)
        assert not re.search(r"\{(?:prf|cite|eq|\.)|<a |on the site", told)


def test_a_row_with_an_unknown_key_is_refused():
    with pytest.raises(ValueError, match="kr-lemma-2: a row has a key"):
        hypotheses._rows("kr-lemma-2", [{"hypothesis": "x", "status": "needed", "because": "y", "why": "z"}])


def test_a_row_that_would_break_its_table_is_refused():
    with pytest.raises(ValueError, match=r"kr-lemma-2: .* write \\vert"):
        hypotheses._rows("kr-lemma-2", [{"hypothesis": "$|x|$", "status": "unknown", "because": "y"}])


def test_formulas_of_a_phrase_are_set_and_the_rest_is_escaped():
    words = hypotheses._words("$T\\ge1$ tokens & <more>")
    assert words == '<span class="math notranslate nohighlight">\\(T\\ge1\\)</span> tokens &amp; &lt;more&gt;'

"""Every statement of a paper says where in it it stands, in a version that is declared; bibliography, citation and landing page name the same."""

import json
import re

import pytest
import yaml
from bs4 import BeautifulSoup
from built import file, parsed
from pybtex.database import parse_file

from bookext import provenance
from bookext.chapters import LEDGER, ROOT
from bookext.ledger_pages import ERRATA
from bookext.results import of_the_book
from shallowformer.verify.claims import OF_THE_PAPER, parse

PAPERS, STATEMENTS = provenance.read()["papers"], provenance.read()["statements"]
OF_PAPERS = {entry["id"] for entry in json.loads(LEDGER.read_text("utf-8")) if entry["origin"] == "paper"}
#: The places of a statement, in the order of the line below it.
PARTS = ("at", "proof", "also")
#: A version of one of the papers, wherever one is named.
NAMED = re.compile("|".join(rf"{known['arxiv']}(v\d+)?" for known in PAPERS.values()))


def wrong(label, found):
    """What is wrong with a statement's entry."""
    places = {part: provenance.PLACE.fullmatch(found[part]) for part in PARTS if part in found}
    said = [f"{part} is no place" for part, place in places.items() if place is None]
    said += [f"{key} is not known" for key in sorted(set(found) - {*PARTS, "words", "lost"})]
    if said or "at" not in places:
        return [*said, *(["no place"] if "at" not in found else [])]
    for part, place in places.items():
        first, last = (re.findall(r"\d+", place["equations"] or "(0)–(1)") * 2)[:2]
        if "–" in (place["equations"] or "") and int(first) >= int(last):
            said.append(f"{part}: {place['equations']} is no range")
    number = places["at"]["number"]
    # Of one paper we have the abstract: neither section nor number can be seen.
    if number != parse(label).number and not (places["at"]["section"] == "Abstract" and "lost" in found):
        said.append(f"{number} is not {parse(label).number}")
    if "proof" in places and places["proof"]["prefix"] == "as " and places["proof"]["number"] == number:
        said.append("restated as itself")
    if not 1 < len(found.get("words", "").split()) <= 25 or "$" in found.get("words", "$"):
        said.append("no words to find it by")
    return said


def test_every_statement_of_a_paper_has_a_place_and_every_place_a_statement():
    assert set(STATEMENTS) == OF_PAPERS
    assert OF_PAPERS > OF_THE_PAPER


def test_a_place_is_one_and_has_the_number_of_the_statement():
    assert {label: said for label, entry in STATEMENTS.items() if (said := wrong(label, entry))} == {}


GOOD = {"at": "Section 5.1, Lemma 1, (5)–(8)", "proof": "Appendix A.2, as Theorem 5, (11)", "words": "some words"}  # fmt: skip


@pytest.mark.parametrize(
    ("change", "finding"),
    [
        ({"at": "Section 5.1, Lemma 2"}, "Lemma 2 is not Lemma 1"),
        ({"at": "Section 5.1"}, "None is not Lemma 1"),
        ({"at": "Abstract"}, "None is not Lemma 1"),
        ({"at": "on page 7"}, "at is no place"),
        ({"proof": "Appendix A.2, (11)-(14)"}, "proof is no place"),
        ({"proof": "Appendix A.2, (14)–(11)"}, "proof: (14)–(11) is no range"),
        ({"proof": "Appendix A.2, as Lemma 1"}, "restated as itself"),
        ({"words": ""}, "no words to find it by"),
        ({"words": "a $x$ b"}, "no words to find it by"),
        ({"page": 3}, "page is not known"),
    ],
)
def test_what_is_wrong_with_a_place_is_found(change, finding):
    assert wrong("kr-lemma-1", GOOD) == []
    assert wrong("kr-lemma-1", GOOD | change) == [finding]


def test_errata_name_the_same_places():
    compared = []
    for each in yaml.safe_load(ERRATA.read_text("utf-8")):
        claim = parse(each["check"])
        found = STATEMENTS.get(claim.label) or STATEMENTS.get(claim.label.removesuffix(f"-{claim.variant}"))
        if found:
            place = re.match(r"(?:Section|Appendix) [\w.-]*\w", each["where"])[0]
            assert place in {found[part].split(",")[0] for part in PARTS if part in found}, each["check"]
            compared.append(claim.label)
    assert {"kr-lemma-5", "kr-lemma-5-orlicz", "kr-remark-9-norm"} <= set(compared)


def test_papers_are_those_of_the_ids_and_their_versions_are_declared():
    assert set(PAPERS) == {parse(label).paper for label in STATEMENTS}
    for paper, known in PAPERS.items():
        assert known["treated"] in known["versions"], paper
        assert list(known["versions"]) == [f"v{n + 1}" for n in range(len(known["versions"]))], paper
        assert all(each["known"] for each in known["versions"].values()), paper
        assert known["unread"], paper
        month = next(iter(known["versions"].values()))["day"]  # the number of a preprint begins with it
        assert known["arxiv"].startswith(month[-2:]), paper


@pytest.mark.parametrize("where", ["CITATION.cff", "README.md", "book/index.md", "book/references.bib", "book/bibliography.md"])  # fmt: skip
def test_a_version_that_is_named_is_the_one_treated(where):
    found = [(m[0], m[1]) for m in NAMED.finditer((ROOT / where).read_text("utf-8"))]
    treated = {provenance.version(paper) for paper in PAPERS}
    assert all(whole in treated for whole, version in found if version)


def test_the_citation_names_each_version():
    cited = {
        each["url"]: each for each in yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))["references"]
    }
    for paper, known in PAPERS.items():
        each = cited.pop(f"https://arxiv.org/abs/{provenance.version(paper)}")
        assert each["version"] == known["treated"]
    assert not cited


def test_the_sources_name_each_version():
    sources = parse_file(str(ROOT / "book/references.bib")).entries
    for paper, words in zip(PAPERS, provenance.treated(), strict=True):
        assert sources[paper].fields["eprint"] == PAPERS[paper]["arxiv"]
        assert sources[paper].fields["note"].removesuffix(" on arXiv") == f"Treated here: {words}"


def test_the_landing_page_says_each_version_in_one_sentence():
    page = (ROOT / "book/index.md").read_text("utf-8")
    words = [re.escape(said) for said in provenance.treated()]
    sentence = rf"Of the first it treats {words[0]}\b[^;]*, of the second {words[1]}, of the third {words[2]}, of the fourth {words[3]};"
    assert re.search(sentence, page)


@pytest.mark.parametrize("label", STATEMENTS)
def test_the_line_stands_below_the_statement(site, label):
    box = parsed(file(of_the_book()[label].page)).find(id=label)
    last = box.find_all("p", recursive=False)[-1]
    assert last["class"] == ["statement-source"]
    assert last.get_text() == BeautifulSoup(provenance.line(label), "html.parser").get_text()
    assert STATEMENTS[label]["at"] in last.get_text()
    assert len(box.select(".statement-source")) == 1


def test_a_statement_of_the_book_has_no_such_line():
    assert provenance.line("kr-theorem-a") == ""
    assert provenance.source("kr-theorem-a") == {}


def test_the_site_s_ledger_has_the_places(site):
    entries = json.loads((site / "ledger.json").read_text("utf-8"))
    assert {entry["id"] for entry in entries if "source" in entry} == set(STATEMENTS)
    for entry in (entry for entry in entries if "source" in entry):
        assert entry["source"]["place"] == STATEMENTS[entry["id"]]["at"]
        assert entry["source"]["version"] == provenance.version(entry["paper"])
        assert entry["source"]["place"].startswith(entry["source"]["section"])


def test_the_bibliography_says_what_was_not_read(site):
    words = parsed(file("book/bibliography")).get_text()
    for paper, known in PAPERS.items():
        assert f"arXiv {provenance.version(paper)}" in words
        assert known["unread"] in words

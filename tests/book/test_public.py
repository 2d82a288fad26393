"""What others may link to: the ledger as a file, an address and a badge for every statement, none of which goes away."""

import json
from xml.etree import ElementTree

import jsonschema
from bs4 import BeautifulSoup
from built import SITE, ids

from bookext import address, public
from bookext.chapters import LEDGER, statements
from bookext.results import of_the_book
from shallowformer.verify import report


def test_the_site_s_ledger_keeps_the_schema_and_lacks_nothing():
    there = json.loads((SITE / "ledger.json").read_text(encoding="utf-8"))
    jsonschema.validate(there, json.loads((SITE / "ledger.schema.json").read_text(encoding="utf-8")))
    stored = {entry["id"]: entry for entry in json.loads(LEDGER.read_text(encoding="utf-8"))}
    assert {entry["id"] for entry in there} == set(stored)
    for entry in there:
        assert stored[entry["id"]].items() <= entry.items()
        assert entry["address"].endswith(f"/s/{entry['id']}/")
        assert ("formal" in entry) >= (entry["support"] == "machine-checked")


def test_every_statement_has_an_address_that_leads_to_it():
    for label in statements():
        page = SITE / "s" / label / "index.html"
        soup = BeautifulSoup(page.read_text(encoding="utf-8"), "html.parser")
        there = soup.select_one("main a")["href"]
        assert soup.find("meta", attrs={"http-equiv": "refresh"})["content"] == f"0; url={there}"
        target, _, anchor = there.partition("#")
        assert anchor in ids((page.parent / target).resolve()), label


def test_badges_say_the_verdict_and_can_be_read():
    for label, result in of_the_book().items():
        badge = SITE / "s" / label / "badge.svg"
        assert badge.exists() == bool(result.headline)
        if result.headline:
            picture = ElementTree.fromstring(badge.read_text(encoding="utf-8"))
            assert result.headline in picture.get("aria-label")
            assert "fill" in picture[2].attrib
            assert picture[2].get("fill").startswith("#")


def test_what_was_released_has_not_gone():
    tag = address.git("describe", "--tags", "--abbrev=0")
    released = json.loads(address.git("show", f"{tag}:results/ledger.json") or "[]") if tag else []
    assert {entry["id"] for entry in released} <= set(statements())


def test_a_statement_without_a_formal_proof_says_nothing_of_one():
    assert public._formal("kr-theorem-9") == {}
    assert report.schema()["items"]["required"] == ["parts"]

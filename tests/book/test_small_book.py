"""What a new author meets, on a small book: the template is a chapter; a false claim and a ledger that differs fail, and are named."""

import json

import pytest
from built import parsed
from small_book import TEMPLATE, SmallBook
from validity import findings


@pytest.fixture(scope="module")
def book(tmp_path_factory):
    """The small book, executed, its findings accepted, built."""
    book = SmallBook(tmp_path_factory.mktemp("small"))
    executed = book.execute("--accept")
    assert executed.returncode == 0, executed.stdout + executed.stderr
    built = book.build()
    assert built.returncode == 0, built.stdout[-3000:] + built.stderr[-3000:]
    assert "Executing notebook" not in built.stdout + built.stderr, (
        "the builder must find what has been executed"
    )
    return book


def test_the_chapter_from_the_template_is_a_page(book):
    page = parsed(book.site / f"{TEMPLATE}.html")
    assert page.select_one(".verdict-passed code").get_text() == "my-first-statement"
    assert page.find("details", class_="sd-dropdown")
    assert page.select_one("a.btn-download-notebook")
    assert findings(book.site / f"{TEMPLATE}.html") == []


def test_the_chapter_from_the_template_can_be_read_in_a_browser(book, browser):
    from browsing import serving, visit, visiting

    with serving(book.site) as served, visiting(browser) as context:
        seen = visit(context, served, TEMPLATE, ["light", "phone"])
    assert seen.troubles == []
    assert (
        seen.found("unrendered", "wrong", "silent", "raw", "cut", "unreachable", "scripted", "uncopied") == {}
    )
    assert not any(seen.axe.values()), seen.axe


def test_a_claim_that_begins_with_my_is_not_recorded(book):
    assert [entry["id"] for entry in json.loads(book.read("results/ledger.json"))] == ["kr-fact-3-sharp"]


def test_a_false_claim_fails_the_build_and_is_named(book):
    text = book.read(f"{TEMPLATE}.md")
    book.write(f"{TEMPLATE}.md", text.replace("return 2 * (1", "return 1.9 * (1"))
    run = book.execute()
    book.write(f"{TEMPLATE}.md", text)
    assert run.returncode == 1
    assert "claim my-first-statement expects 'tight' but its check says 'violated'" in run.stderr


def test_a_ledger_that_says_something_else_fails_the_build_and_is_named(book):
    text = book.read("results/ledger.json")
    book.write("results/ledger.json", text.replace('"expectation": "tight"', '"expectation": "loose"', 1))
    run = book.execute()
    book.write("results/ledger.json", text)
    assert run.returncode == 1
    assert "expectation is 'tight', the ledger says 'loose'" in run.stderr
    assert "make ledger" in run.stderr

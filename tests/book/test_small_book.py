"""What a new author meets, on a small book: the template is a chapter; a false claim and a ledger that differs fail, and are named."""

import json
import shutil
import subprocess

import pytest
from bs4 import BeautifulSoup
from built import parsed
from small_book import TEMPLATE, SmallBook
from validity import findings


@pytest.fixture(scope="module")
def book(tmp_path_factory):
    """The small book, executed, its findings accepted, built."""
    book = SmallBook(tmp_path_factory.mktemp("small"))
    executed = book.execute("--accept")
    assert executed.returncode == 0, executed.stdout + executed.stderr
    assert "Executing notebook" not in book.build(), "the builder must find what has been executed"
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


@pytest.fixture
def look(book, browser):
    """Ask a page with a long title of an exercise something, in a guise."""
    from browsing import GUISES, arrive, serving, visiting

    exercise = """() => document.querySelector("article p").insertAdjacentHTML("afterend",
      `<div class="exercise admonition"><p class="admonition-title">${"Exercise ".repeat(20)}</p></div>`)"""

    def look(guise, question):
        viewport, scheme = GUISES[guise]
        with (
            serving(book.site) as served,
            visiting(browser, viewport=viewport, color_scheme=scheme) as context,
        ):
            tab = context.new_page()
            arrive(tab, served.url(TEMPLATE))
            tab.locator(f"html[data-theme={scheme}]").wait_for(state="attached")
            tab.evaluate(exercise)
            return tab.evaluate(question)

    return look


@pytest.mark.parametrize("guise", ["light", "dark", "phone"])
def test_the_foot_of_a_page_is_in_line_with_its_text_and_its_rule_is_like_others(look, guise):
    seen = """() => {
      const left = selector => document.querySelector(selector).getBoundingClientRect().left;
      const rule = selector => getComputedStyle(document.querySelector(selector)).borderTopColor;
      return [left(".last-updated") - left("article p"), rule(".bd-footer-content") === rule(".bd-footer")];
    }"""
    assert look(guise, seen) == [0, True]


def test_the_pencil_of_an_exercise_stands_in_the_first_line_of_its_title(look):
    pencil = """() => {
      const title = document.querySelector(".exercise > .admonition-title"), style = getComputedStyle(title, "::after");
      return [style.content, title.offsetHeight, parseFloat(style.top)];
    }"""
    content, height, top = look("phone", pencil)
    assert content not in ("none", "normal")
    assert height > 60
    assert top < 10


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


def used_by(book) -> list[str]:
    """What a statement's title says: how many of which page."""
    page = BeautifulSoup(book.files()["book/kernel_regime/recorded.html"], "html.parser")
    return [link.get_text() for link in page.select("#kr-fact-3-sharp .used-by")]


def test_a_statement_knows_by_how_many_it_is_used_after_a_change_on_another_page(book):
    """What it says when the change is taken back the next test sees."""
    words = book.read("book/words.md")
    assert used_by(book) == ["used by 1"]
    book.write("book/words.md", words.replace("By {prf:ref}`Fact 3 <kr-fact-3-sharp>`.", "At once."))
    book.build()
    book.write("book/words.md", words)
    assert used_by(book) == []


@pytest.mark.skipif(not shutil.which("git"), reason="needs git")
def test_after_a_change_the_site_is_what_it_would_be_if_built_from_nothing(book):
    """The whole site, byte for byte: one page has other words, and so another card; one was committed, and so has a day."""
    git = ("git", "-c", "user.name=A", "-c", "user.email=a@example.org", "-C", book.root)
    for command in "init -q", "add book/words.md", "commit -q -m Words --date=2026-02-01T00:00:00Z":
        subprocess.run([*git, *command.split()], check=True)
    supplement = "book/kernel_regime/recorded_supplement.md"
    book.build()  # what other tests wrote, and wrote back, is read again
    assert used_by(book) == ["used by 1"]
    book.write(supplement, book.read(supplement).replace("zebra", "gazelle"))
    assert "0 added, 1 changed" in book.build()
    rebuilt = book.files()
    assert b"01 February 2026" in rebuilt["book/words.html"]
    shutil.rmtree(book.site)
    shutil.rmtree(book.root / "_build/.doctrees")
    assert "6 added" in book.build()
    built = book.files()
    assert sorted(rebuilt) == sorted(built)
    assert [name for name in built if rebuilt[name] != built[name]] == []

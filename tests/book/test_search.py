"""The search of the built site in Chromium: it finds every statement by its words, leads to it, and works from disk."""

import re

import pytest
from browsing import DESKTOP, visiting
from built import CHAPTER, CHAPTERS, LABELS, few_first

from bookext.chapters import statements


def words(label: str) -> str:
    """The words of a statement's title."""
    title = re.sub(r"\([^()]*\)$", "", statements()[label]["title"].split("{cite")[0].strip())
    return " ".join(re.findall(r"[A-Za-z][\w-]*", re.sub(r"\$[^$]*\$", "", title)))


def test_search_finds_statements_by_their_words_and_leads_to_them(go, served):
    tab = go("search")
    tab.keyboard.type(words(LABELS[0]))
    tab.keyboard.press("Enter")
    tab.wait_for_url("**/search.html?q=*")
    tab.locator("#search-results .search-summary", has_text="found").wait_for()
    links = tab.locator("#search-results li > a")
    listed = links.evaluate_all("links => links.map(link => link.pathname)")
    # The others without loading the page again: what the search page itself calls.
    ask = "query => Search._performSearch(...Search._parseQuery(query)).map(result => `/${result[0]}.html`)"
    assert set(listed) == set(tab.evaluate(ask, words(LABELS[0])))
    lost = [
        label
        for label in LABELS
        if f"/{statements()[label]['page']}.html" not in tab.evaluate(ask, words(label))
    ]
    assert lost == []
    tab.locator(f"#search-results a[href^='{CHAPTER}.html']").first.click()
    tab.locator(f"[id='{LABELS[0]}']").wait_for()


@pytest.mark.parametrize(
    ("words", "labels"),
    [
        ("Theorem F", ["kr-theorem-f"]),
        ("theorem a+", ["rt-theorem-a-plus"]),
        ("Theorem A", ["kr-theorem-a", "rt-theorem-a"]),
        ("strict complementarity", ["ts-definition-1-strict"]),
    ],
)
def test_a_statement_s_name_leads_to_its_box_first(go, words, labels):
    tab = go("search")
    ask = "query => Search._performSearch(...Search._parseQuery(query)).map(result => result[0] + result[2])"
    best = tab.evaluate(ask, words)[-len(labels) :]  # they are shown from the last one on
    assert set(best) == {f"{statements()[label]['page']}#{label}" for label in labels}


def test_what_the_search_shows_of_a_page_is_its_text(go):
    tab = go("search")
    seen = tab.evaluate(
        "async page => Search.htmlToText(await (await fetch(page)).text())", f"{CHAPTER}.html"
    )
    assert "Print, or save as PDF" not in seen
    assert "Symbols of this chapter" not in seen
    assert "Exercises" in seen


@pytest.mark.parametrize("words", ["NTK", "neural tangent kernel", "lazy training", "kernel regime"])
def test_search_knows_the_subject_by_its_other_names(go, words):
    tab = go("search")
    ask = "query => Search._performSearch(...Search._parseQuery(query)).map(result => result[0])"
    assert {"book/tour", "book/kernel_regime/tangent_kernel"} <= set(tab.evaluate(ask, words))


@pytest.mark.parametrize("page", few_first(CHAPTERS))
def test_who_comes_from_the_search_finds_the_words_marked(go, page):
    tab = go(page)
    # A letter stands in every style and every hidden title; at an error there the word after it finds no marks.
    tab.evaluate("localStorage.setItem('sphinx_highlight_terms', 'a the')")
    tab.reload()
    tab.locator("p .highlighted", has_text=re.compile("^the$", re.IGNORECASE)).first.wait_for(
        state="attached"
    )
    assert tab.locator("article :is(style, title) :is(span, tspan)").count() == 0


def test_search_is_a_key_away(go):
    tab = go(CHAPTER)
    tab.keyboard.press("Control+k")
    tab.locator(".search-button__wrapper.show input").wait_for()
    tab.keyboard.type("softmax")
    tab.keyboard.press("Enter")
    tab.wait_for_url("**/search.html?q=softmax")
    tab.locator("#search-results li > a").first.wait_for()


def test_search_works_from_disk(browser, site):
    with visiting(browser, viewport=DESKTOP) as context:
        tab = context.new_page()
        tab.goto(f"{site.as_uri()}/search.html?q=softmax")
        tab.locator("#search-results li > a", has_text="Softmax calculus").first.wait_for()

"""The HTML of every page of the built site: well nested, no id twice, no link that leads nowhere, no control without a name."""

import json
from pathlib import Path

import pytest
from bs4 import BeautifulSoup
from building import ALL_PAGES, BOOK_PAGES
from validity import broken_links, findings

from bookext import address
from bookext.chapters import LEDGER, ROOT, chapters

CHAPTERS = [path.relative_to(ROOT).with_suffix("").as_posix() for path in chapters()]


def test_these_are_all_pages(site):
    found = {page.relative_to(site).with_suffix("").as_posix() for page in site.rglob("*.html")}
    assert {page for page in found if not page.startswith(("_static", "_sources"))} == set(ALL_PAGES)


@pytest.mark.parametrize("page", ALL_PAGES)
def test_a_page_is_valid(site, page):
    assert findings((site / f"{page}.html").read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("page", ALL_PAGES)
def test_links_lead_somewhere(site, page):
    assert broken_links(site, site / f"{page}.html", address.site()) == []


@pytest.mark.parametrize("page", CHAPTERS)
def test_a_chapter_leads_to_its_notebook(site, page):
    soup = BeautifulSoup((site / f"{page}.html").read_text(encoding="utf-8"), "html.parser")
    assert soup.select_one("a.btn-colab")["href"] == address.colab(page)
    download = soup.select_one("a.btn-download-notebook")["href"]
    assert (site / page).parent.joinpath(download).resolve() == site.resolve() / "notebooks" / address.notebook(page)  # fmt: skip


@pytest.mark.parametrize("page", BOOK_PAGES)
def test_a_page_says_how_to_cite_it(site, page):
    soup = BeautifulSoup((site / f"{page}.html").read_text(encoding="utf-8"), "html.parser")
    assert f"url = {{{address.site()}{page}.html}}" in soup.select_one(".cite-page pre").get_text()


@pytest.mark.parametrize("page", CHAPTERS)
def test_the_notebook_of_a_chapter_is_there(site, page):
    notebook = json.loads((site / "notebooks" / address.notebook(page)).read_text(encoding="utf-8"))
    assert notebook["nbformat"] == 4


def test_no_other_verdict_stands_in_the_book(site):
    badges = [
        badge.find_parent(class_="proof")["id"]
        for page in ALL_PAGES
        for badge in BeautifulSoup((site / f"{page}.html").read_text(encoding="utf-8"), "html.parser").select("div.proof a.verdict-badge[href^='#check-']")
    ]  # fmt: skip
    assert sorted(badges) == sorted(entry["id"] for entry in json.loads(LEDGER.read_text(encoding="utf-8")))


def document(body: str, head: str = "<title>T</title>", lang: str = ' lang="en"') -> str:
    return f"<!DOCTYPE html><html{lang}><head><meta charset=utf-8>{head}</head><body><main><h1>T</h1>{body}</main></body></html>"


def test_a_sound_page_has_no_findings():
    body = '<h2 id="b">B</h2><a href="#b">to B</a><button aria-label="go"></button><img src="a.png" alt="A">'
    assert findings(document(body)) == []


@pytest.mark.parametrize(
    ("html", "finding"),
    [
        (document("<p><div>x</div></p>"), "unexpected-end-tag"),
        (document('<a href="#"><a href="#">x</a></a>'), "unexpected-start-tag-implies-end-tag"),
        (document("<div>x"), "end-tag-too-early"),
        (document("x").removeprefix("<!DOCTYPE html>"), "expected-doctype"),
        (document('<p id="a">x</p><p id="a">y</p>'), "'a' is used 2 times"),
        (document('<p aria-labelledby="nobody">x</p>'), "aria-labelledby='nobody' of <p>"),
        (document('<label for="nobody">x</label>'), "for='nobody'"),
        (document('<a href="x.html"><i></i></a>'), "no name: <a"),
        (document("<button></button>"), "no name: <button"),
        (document('<input name="q">'), "no label"),
        (document('<img src="a.png">'), "no alternative text"),
        (document("x", lang=""), "no language"),
        (document("x", head=""), "no title"),
        (document("x").replace("main>", "div>"), "not one <main>"),
        (document("<h1>again</h1>"), "2 of them <h1>"),
        (document("<h3>x</h3>"), "<h3> after <h1>"),
    ],
    ids=lambda value: value if not value.startswith("<") else "",
)  # fmt: skip
def test_what_is_wrong_is_found(html, finding):
    assert any(finding in found for found in findings(html))


def test_broken_links_are_found(tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "b.html").write_text('<p id="here">x</p>')
    page = Path(tmp_path / "a.html")
    good = [
        "sub/b.html#here",
        "#top",
        "https://elsewhere.org/x",
        "https://site.org/book/sub/b.html",
        "sub/b.html?q=1",
    ]
    bad = ["sub/c.html", "sub/b.html#there", "#nowhere", "https://site.org/book/c.html", "/book/d.png"]
    page.write_text('<p id="top"></p>' + "".join(f'<a href="{link}">x</a>' for link in good + bad))
    assert broken_links(tmp_path, page, "https://site.org/book/") == bad

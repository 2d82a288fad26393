"""The HTML of every page of the built site: well nested, no id twice, no link that leads nowhere, no control without a name."""

from pathlib import Path

import pytest
from built import ALL_PAGES, file
from validity import broken_links, findings

from bookext import address


@pytest.mark.parametrize("page", ALL_PAGES)
def test_a_page_is_valid(site, page):
    assert findings(file(page)) == []


@pytest.mark.parametrize("page", ALL_PAGES)
def test_links_lead_somewhere(site, page):
    assert broken_links(site, file(page), address.site()) == []


def document(body: str, head: str = "<title>T</title>", lang: str = ' lang="en"') -> str:
    return f"<!DOCTYPE html><html{lang}><head><meta charset=utf-8>{head}</head><body><main><h1>T</h1>{body}</main></body></html>"


@pytest.fixture
def found(tmp_path):
    """What is found in a page that holds this."""

    def find(html):
        (tmp_path / "page.html").write_text(html, encoding="utf-8")
        return findings(tmp_path / "page.html")

    return find


def test_a_sound_page_has_no_findings(found):
    body = '<h2 id="b">B</h2><a href="#b">to B</a><button aria-label="go"></button><img src="a.png" alt="A">'
    assert found(document(body)) == []


@pytest.mark.parametrize(
    ("html", "finding"),
    [
        (document("<p><div>x</div></p>"), "unexpected-end-tag"),
        (document('<a href="#"><a href="#">x</a></a>'), "unexpected-start-tag-implies-end-tag"),
        (document("<div>x"), "end-tag-too-early"),
        (document('<pre><span class="n">x</pre>'), "end-tag-too-early"),
        (document("<pre>x</span><span></pre>"), "unexpected-end-tag"),
        (document("<pre>a < b && c</pre>"), "expected-tag-name"),
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
def test_what_is_wrong_is_found(found, html, finding):
    assert any(finding in each for each in found(html))


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

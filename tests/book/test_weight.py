"""What the pages of the built site weigh, compressed as hosts send them: by what they are made of, whatever a browser asks for first."""

import functools
import gzip
import re
from pathlib import Path

import pytest
from bs4 import BeautifulSoup, Tag
from built import BOOK_PAGES, SITE, few_first, file, parsed, text

#: Bytes of what is one page's alone, and of what pages share, which is loaded once in a visit; together a first visit.
OWN, SHARED = 200_000, 1_000_000

#: Kinds of files that hosts send compressed.
TEXT = {".html", ".css", ".js", ".svg"}
#: Fonts, which styles and MathJax load when a letter of theirs is met.
FONTS = ("_static/mathjax/output/chtml/fonts/woff-v2/*", "_static/vendor/fontawesome/*/webfonts/fa-solid-900.woff2")  # fmt: skip


def weight(files: set[Path]) -> int:
    sizes = (len(gzip.compress(f.read_bytes(), 6)) if f.suffix in TEXT else f.stat().st_size for f in files)
    return sum(sizes)


def named(page: str, elements: list[Tag]) -> set[Path]:
    """The files of the site that these elements of a page load."""
    found = (e.get("src") or e.get("data") or e.get("href") or "" for e in elements)
    return {
        (file(page).parent / name.partition("?")[0]).resolve() for name in found if name and ":" not in name
    }


def own(page: str) -> set[Path]:
    """What is a page's alone: its text, and its pictures."""
    return {file(page).resolve(), *named(page, parsed(file(page)).select("img, object, source"))}


@functools.cache
def shared() -> frozenset[Path]:
    """What pages share: styles, scripts, fonts."""
    fonts = (font.resolve() for pattern in FONTS for font in SITE.glob(pattern))
    kinds = "link[rel~=stylesheet], link[rel~=icon], script"
    # of every page, so pages are not parsed for it
    tags = {page: "</script>".join(re.findall(r"<(?:link|script)\b[^>]*>", text(file(page)))) for page in BOOK_PAGES}  # fmt: skip
    loaded = (named(page, BeautifulSoup(tag, "html.parser").select(kinds)) for page, tag in tags.items())
    return frozenset({*fonts, *set().union(*loaded)})


@pytest.mark.parametrize("page", BOOK_PAGES)
def test_a_page_s_own_files_are_light(site, page):
    assert bool(parsed(file(page)).select("article img")) == (len(own(page)) > 1)
    assert 0 < weight(own(page)) <= OWN


def test_what_pages_share_is_light(site):
    assert 0 < weight(shared()) <= SHARED


@pytest.mark.parametrize("page", few_first(BOOK_PAGES))
def test_a_browser_loads_nothing_else(browser, served, page):
    from browsing import DESKTOP, arrive, visiting

    with visiting(browser, viewport=DESKTOP) as context:
        tab = context.new_page()
        served.asked.clear()
        arrive(tab, served.url(page))
        tab.wait_for_load_state("networkidle")
    assert {path.resolve() for path in served.sent()} - own(page) - shared() == set()

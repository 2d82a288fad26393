"""Every page of the built site in Chromium: as it comes, and on a phone in the dark, with every fold open."""

import pytest
from browsing import GUISES, serving, visit
from building import ALL_PAGES

#: Every page large and light, small and dark; what surrounds all pages alike is seen large and dark on one, if not ``thorough``.
VISITS = [
    pytest.param(
        (page, guise),
        id=f"{page}:{guise}",
        marks=[pytest.mark.thorough] * (guise == "dark" and page != "book/kernel_regime/gradients"),
    )
    for page in ALL_PAGES
    for guise in GUISES
]


@pytest.fixture(scope="module", params=VISITS)
def seen(browser, served, request):
    """A page in a guise, opened once for all tests."""
    return visit(browser, served, *request.param)


def test_nothing_goes_wrong_and_no_other_host_is_asked(seen):
    assert seen.troubles == []


def test_every_formula_is_rendered_and_can_be_read_aloud(seen):
    assert seen.look["unrendered"] == []
    assert seen.look["wrong"] == []
    assert seen.look["silent"] == []
    assert seen.look["raw"] == []


def test_axe_finds_nothing(seen):
    assert seen.axe == []


def test_nothing_is_cut_off_and_what_scrolls_can_be_reached(seen):
    assert seen.look["cut"] == []
    assert seen.look["sideways"] <= 0
    assert seen.look["unreachable"] == []


def test_no_fold_needs_a_script_and_all_code_can_be_copied(seen):
    assert seen.look["scripted"] == []
    assert seen.look["uncopied"] == []


@pytest.mark.parametrize(
    ("html", "field"),
    [
        ('<img src="missing.png" alt="x">', "troubles"),
        ('<img src="http://localhost:9/a.png" alt="x">', "troubles"),
        ("<script>throw Error('x')</script>", "troubles"),
        ("<script>console.warn('x')</script>", "troubles"),
        (r'<span class="math">\(x\)</span>', "unrendered"),
        (r"<p>\(x\)</p>", "raw"),
        ("<mjx-merror>x</mjx-merror>", "wrong"),
        ("<mjx-container>x</mjx-container>", "silent"),
        ('<div style="overflow: hidden; width: 9em"><p style="width: 30em">This line is longer than its box.</p></div>', "cut"),
        ('<p style="width: 200em">' + "wide " * 300 + "</p>", "cut"),
        ('<div style="overflow: auto; width: 9em"><p style="width: 30em">x</p></div>', "unreachable"),
        ('<div class="cell_input"></div>', "uncopied"),
        ('<div class="admonition dropdown"></div>', "scripted"),
        ('<p style="color: #bbb">Pale</p>', "axe"),
        ('<pre><span class="k">one</span> <span class="s" style="color: #bbb">two</span></pre>', "axe"),
        ("<h3>After a first heading</h3>", "axe"),
        ('<button style="width: 3em; height: 3em"></button>', "axe"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_seen(browser, tmp_path, html, field):
    page = f'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>T</title><link rel="icon" href="data:,"></head><body><main><h1>T</h1>{html}</main></body></html>'
    (tmp_path / "page.html").write_text(page, encoding="utf-8")
    with serving(tmp_path) as served:
        found = visit(browser, served, "page", "light")
    seen = {**found.look, "troubles": found.troubles, "axe": found.axe}
    assert seen[field]


def test_a_sound_page_is_not_blamed(browser, tmp_path):
    page = '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>T</title><link rel="icon" href="data:,"></head><body><main><h1>T</h1><p>Text</p></main></body></html>'
    (tmp_path / "page.html").write_text(page, encoding="utf-8")
    with serving(tmp_path) as served:
        found = visit(browser, served, "page", "phone")
    assert [found.troubles, found.axe] == [[], []]
    assert not any(value for name, value in found.look.items() if name != "formulas")

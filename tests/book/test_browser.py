"""Every page of the built site in Chromium, with every fold open: on a phone in the dark, some as they come, too."""

import pytest
from browsing import GUISES, serving, visit, visiting
from built import ALL_PAGES

CHAPTER = "book/kernel_regime/gradients"
#: One page of each kind: what axe says of it holds for all of them.
KINDS = {
    "book/index",
    CHAPTER,
    "book/kernel_regime/softmax_calculus",
    "book/map",
    "book/scoreboard",
    "search",
    "404",
}
#: Every page is opened once, small and dark, where most goes wrong; one of each kind large and light before.
QUICK = [
    pytest.param((page, ("light", "phone") if page in KINDS else ("phone",), page in KINDS), id=page)
    for page in ALL_PAGES
]
#: ``thorough``: every page once for each guise, by a browser that remembers nothing, and judged by axe; one such visit is quick.
FRESH = [
    pytest.param(
        (page, (guise,)),
        id=f"{page}:{guise}",
        marks=[pytest.mark.thorough] * ((page, guise) != (CHAPTER, "dark")),
    )
    for page in ALL_PAGES
    for guise in GUISES
]


@pytest.fixture(scope="module")
def context(browser):
    """A browser that comes back."""
    with visiting(browser) as context:
        yield context


@pytest.fixture(scope="module")
def plain(browser):
    """One whose code has no colours: a quarter of a page's elements."""
    with visiting(browser, colours=False) as context:
        yield context


@pytest.fixture(scope="module", params=[*QUICK, *FRESH])
def seen(browser, context, plain, served, request):
    """A page, opened once for all tests; with the colours of its code where axe looks at them."""
    if len(request.param) == 3:
        return visit(context if request.param[2] else plain, served, *request.param)
    with visiting(browser) as fresh:
        return visit(fresh, served, *request.param)


def test_nothing_goes_wrong_and_no_other_host_is_asked(seen):
    assert seen.troubles == []


def test_every_formula_is_rendered_and_can_be_read_aloud(seen):
    assert seen.found("unrendered", "wrong", "silent", "raw") == {}


def test_axe_finds_nothing(seen):
    assert not any(seen.axe.values()), seen.axe


def test_nothing_is_cut_off_and_what_scrolls_fades_and_can_be_reached(seen):
    assert seen.found("cut", "faded", "abrupt", "unreachable") == {}
    assert all(look["sideways"] <= 0 for look in seen.looks.values())


def test_no_font_makes_a_page_wider_than_a_phone(seen):
    assert not any(seen.sideways.values()), seen.sideways


def test_no_fold_needs_a_script_and_all_code_can_be_copied(seen):
    assert seen.found("scripted", "uncopied") == {}


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
        ('<mjx-container><mjx-assistive-mml><math><mtext mathcolor="red">x</mtext></math></mjx-assistive-mml></mjx-container>', "wrong"),
        ("<mjx-container>x</mjx-container>", "silent"),
        ('<div style="overflow: hidden; width: 9em"><p style="width: 30em">This line is longer than its box.</p></div>', "cut"),
        ('<p style="width: 200em">' + "wide " * 300 + "</p>", "cut"),
        ('<div style="overflow: auto; width: 9em"><p style="width: 30em">x</p></div>', "unreachable"),
        ('<article><div class="highlight"><pre><b style="display: block; overflow: auto; width: 9em">' + "long " * 30 + "</b></pre></div></article>", "unreachable"),
        ('<p style="mask-image: linear-gradient(#000, transparent)">x</p>', "faded"),
        ('<article><pre style="overflow: auto; width: 9em">A line that is longer than its box.</pre></article>', "abrupt"),
        ('<div class="cell_input"></div>', "uncopied"),
        ('<div class="admonition dropdown"></div>', "scripted"),
        ('<p style="color: #bbb">Pale</p>', "axe"),
        ('<pre><span class="k">one</span> <span class="s" style="color: #bbb">two</span></pre>', "axe"),
        ('<table><tbody><tr><td>Dark</td></tr><tr><td style="color: #bbb">Pale</td></tr></tbody></table>', "axe"),
        ('<table><tr><td>Dark</td></tr></table><table style="color: #bbb"><tr><td>Pale</td></tr></table>', "axe"),
        ('<table><tr><td><a href="#">Named</a></td></tr><tr><td><a href="#"></a></td></tr></table>', "axe"),
        ('<table><tr><td><b>x</b> <i>y</i></td></tr><tr><td><i>y <b style="color: #bbb">Pale</b></i></td></tr></table>', "axe"),
        ('<ul class="bd-sidebar-primary"><li>Dark</li><li class="pale">Same <u style="color: #bbb">Pale</u></li></ul>', "axe"),
        ("<h3>After a first heading</h3>", "axe"),
        ('<button style="width: 3em; height: 3em"></button>', "axe"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_seen(context, tmp_path, html, field):
    page = f'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>T</title><link rel="icon" href="data:,"></head><body><main><h1>T</h1>{html}</main></body></html>'
    (tmp_path / "page.html").write_text(page, encoding="utf-8")
    with serving(tmp_path) as served:
        found = visit(context, served, "page", ["light"], axe=field == "axe")
    seen = {**found.looks["light"], **found.axe, "troubles": found.troubles}
    assert seen["light" if field == "axe" else field]


def test_a_font_that_makes_a_page_too_wide_is_seen(context, tmp_path):
    page = '<!DOCTYPE html><html lang="en"><head><title>T</title><style>html[style*="serif"] p { width: 200em }</style></head><body><p>Text</p></body></html>'
    (tmp_path / "page.html").write_text(page, encoding="utf-8")
    with serving(tmp_path) as served:
        found = visit(context, served, "page", ["phone"], axe=False)
    assert found.looks["phone"]["sideways"] <= 0 < max(found.sideways.values())
    assert len(found.sideways) == 2


def test_a_sound_page_is_not_blamed(context, tmp_path):
    page = '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>T</title><link rel="icon" href="data:,"></head><body><main><h1>T</h1><p>Text</p></main></body></html>'
    (tmp_path / "page.html").write_text(page, encoding="utf-8")
    with serving(tmp_path) as served:
        found = visit(context, served, "page", ["light", "phone"])
    assert [found.troubles, found.axe] == [[], {"light": [], "phone": []}]
    assert not any(v for look in found.looks.values() for name, v in look.items() if name != "formulas")

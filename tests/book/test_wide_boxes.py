"""Formulas, code and pictures that are wider than the column: they scroll, and only they fade and are stops for the keyboard."""

from contextlib import contextmanager

import pytest
from browsing import DESKTOP, LOOK, PHONE, visiting

from bookext.chapters import ROOT

#: The page with the most formulas in its lines.
PAGE = "book/kernel_regime/theorem_1"
SCRIPT = (ROOT / "book/_static/book.js").read_text(encoding="utf-8")
#: The script has seen the formulas' boxes: some do not fit.
MEASURED = (
    "() => document.querySelector('article .math:is(.is-snug, .is-wide), article mjx-container[tabindex]')"
)
#: Letters that stick out of their places as those of another font may, whatever fonts a machine has: no box changes by it.
STICK_OUT = """() => {
  const style = document.createElement("style");
  style.id = "stick-out";
  style.textContent = "mjx-c::before { transform: translateX(6px) }";
  document.head.append(style);
}"""
#: A formula in a line of text that is too wide for any screen, whatever the page has.
TOO_WIDE = (
    rf'<span class="math notranslate nohighlight">\({"+".join(f"x_{{{k}}}" for k in range(60))}\)</span>'
)
#: Down to the last line and back, a screen at a time.
READ_THROUGH = """async () => {
  const pause = () => new Promise(requestAnimationFrame);
  for (let y = 0; y < document.documentElement.scrollHeight; y += innerHeight) { scrollTo(0, y); await pause(); }
  scrollTo(0, 0);
  await pause();
}"""


def with_wide_formula(html: str) -> str:
    """The page with ``TOO_WIDE`` at the end of its first paragraph."""
    before, article, text = html.partition("<article")
    return before + article + text.replace("</p>", f" {TOO_WIDE}</p>", 1)


@contextmanager
def waiting_for_fonts(browser, served, viewport, script=SCRIPT):
    """The page as a browser shows it that knows nothing: its formulas stand, and the fonts that they are set in are held back."""
    with visiting(browser, viewport=viewport) as context:
        tab, waiting = context.new_page(), []
        tab.route("**/book.js*", lambda route: route.fulfill(body=script, content_type="text/javascript"))
        tab.route("**/mathjax/**/*.woff", lambda font: waiting.append(font))
        tab.route(served.url(PAGE), lambda route: route.fulfill(response=(there := route.fetch()), body=with_wide_formula(there.text())))  # fmt: skip
        tab.add_init_script(f"document.addEventListener('DOMContentLoaded', {STICK_OUT})")
        tab.goto(served.url(PAGE), wait_until="domcontentloaded")
        tab.evaluate("() => MathJax.startup.promise.then(() => new Promise(requestAnimationFrame))")
        tab.wait_for_function(MEASURED)
        assert waiting, "no formula needs a font"
        tab.evaluate("() => document.getElementById('stick-out').remove()")
        yield tab, waiting


@contextmanager
def first_visit(browser, served, viewport):
    """The same, after the fonts have come."""
    with waiting_for_fonts(browser, served, viewport) as (tab, waiting):
        tab.unroute("**/mathjax/**/*.woff")
        for font in waiting:
            font.continue_()
        tab.evaluate("() => document.fonts.ready.then(() => new Promise(requestAnimationFrame))")
        yield tab


@pytest.fixture(scope="module", params=[DESKTOP, PHONE], ids=["desktop", "phone"])
def tab(browser, served, request):
    with first_visit(browser, served, request.param) as tab:
        yield tab


def test_only_what_scrolls_is_a_stop_for_the_keyboard(tab):
    assert tab.evaluate(LOOK)["unreachable"] == []
    boxes = tab.locator("article :is(pre, .math, mjx-container)[tabindex='0']")
    assert boxes.evaluate_all("all => all.filter(box => box.scrollWidth <= box.clientWidth).length") == 0
    assert tab.locator("mjx-container[tabindex='0']").count() < 20


def test_a_formula_scrolls_only_where_it_is_clearly_wider_than_its_line_and_else_fits(tab):
    wide, snug = tab.locator("span.math.is-wide"), tab.locator("span.math:not(.is-wide)")
    assert wide.evaluate_all("all => all.filter(box => box.scrollWidth < 1.1 * box.clientWidth).length") == 0
    fits = (
        "box => box.firstElementChild.getBoundingClientRect().width <= box.getBoundingClientRect().width + 1"
    )
    assert snug.evaluate_all(f"all => all.filter(box => !({fits})(box)).length") == 0


def test_only_what_scrolls_fades_and_only_where_it_goes_on(tab):
    look = tab.evaluate(LOOK)
    assert (look["faded"], look["abrupt"], look["cut"]) == ([], [], [])
    tab.evaluate(READ_THROUGH)
    assert tab.evaluate(LOOK)["faded"] == []
    tab.evaluate("() => document.querySelectorAll('article *').forEach(box => { box.scrollLeft = 9999; })")
    tab.wait_for_function("() => !document.querySelector('article .goes-on')")


@pytest.mark.parametrize("as_once", [False, True])
def test_letters_that_no_longer_stick_out_leave_no_mask(browser, served, as_once):
    """Once letters of another font stuck out of boxes that cannot scroll, and when the right ones came their ends stayed masked."""
    after, only = 'document.fonts.addEventListener("loadingdone", measure);', "/auto|scroll/.test(getComputedStyle(box).overflowX) && "  # fmt: skip
    assert (SCRIPT.count(after), SCRIPT.count(only)) == (1, 1)
    script = SCRIPT.replace(after, "").replace(only, "") if as_once else SCRIPT
    with waiting_for_fonts(browser, served, DESKTOP, script) as (tab, _):
        tab.evaluate("() => document.fonts.dispatchEvent(new Event('loadingdone'))")
        assert bool(tab.evaluate(LOOK)["faded"]) is as_once


#: Pages whose longest printouts are a little, and a lot, wider than the column at their full size.
PRINTING = (
    "kernel_regime/linear_run",
    "kernel_regime/vacuous",
    "kernel_regime/linear_model",
    "experiments/breaks",
)
CUT = """() => [...document.querySelectorAll(".cell_output pre")]
  .filter(box => box.checkVisibility() && box.scrollWidth > box.clientWidth).map(box => box.textContent.slice(0, 80))"""
SIZES = """() => [...document.querySelectorAll("SELECTOR")].filter(box => box.checkVisibility() && box.clientWidth)
  .map(box => parseFloat(getComputedStyle(box).fontSize))"""


@pytest.mark.parametrize("page", PRINTING)
def test_printouts_fit_the_column_and_can_be_read(browser, served, page):
    with visiting(browser, formulas=False, viewport=DESKTOP) as context:
        tab = context.new_page()
        tab.goto(served.url(f"book/{page}"))
        tab.evaluate("() => document.fonts.ready.then(() => new Promise(requestAnimationFrame))")
        assert tab.evaluate(CUT) == []
        sizes = tab.evaluate(SIZES.replace("SELECTOR", ".cell_output pre"))
        assert min(sizes) >= 0.72 * max(sizes) - 0.01
        assert tab.evaluate("() => document.querySelector('.cell_input pre').style.fontSize") == ""


def test_displayed_formulas_keep_their_size_where_they_fit(tab):
    sizes = tab.evaluate(SIZES.replace("SELECTOR", "article mjx-container[display]"))
    inline = tab.evaluate(SIZES.replace("SELECTOR", "article p > .math:not(.is-snug) > mjx-container"))
    assert min(sizes) >= 0.75 * max(sizes) - 0.01
    assert sum(size == max(sizes) for size in sizes) > len(sizes) / 2
    assert max(sizes) >= 0.88 * max(inline)  # a phone sets them smaller

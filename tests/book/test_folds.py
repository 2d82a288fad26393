"""Folds of the built site in Chromium: one by one, all together, by a link into them, on paper, and without JavaScript."""

import pytest
from browsing import DESKTOP, arrive, visiting
from built import BOOK_PAGES, few_first

#: Clicks every fold, and every closed branch of the sidebar, from the outside in, then from the inside out; returns what did not open, show
#: itself, or close.
CLICK_ALL = """() => {
  const folds = [...document.querySelectorAll("details:not(nav details[open])")], stuck = [];
  const click = (fold, open) => {
    fold.querySelector(":scope > summary").click();
    if (fold.open !== open || open !== fold.lastElementChild.checkVisibility()) stuck.push(fold.outerHTML.slice(0, 120));
  };
  folds.forEach(fold => click(fold, true));
  folds.reverse().forEach(fold => click(fold, false));
  return stuck;
}"""
#: Of many folds at once whether they are open.
OPENED = "folds => folds.map(fold => fold.open)"
#: What a switch opens.
KINDS = {
    "proofs": "article details.sd-dropdown:not(.solution):has(.proof)",
    "checks": "article details.checks",
    "code": "article details.hide:not(.tag_solution *)",
}
#: What is open on paper, what stays closed there, and what is not on it.
OPEN = "article details:not(.hide, .checks, .checks *, .solution, .solution *, .tag_solution *)"
SOLUTIONS = "article details.solution, article .tag_solution details"
NOT_ON_PAPER = (".bd-sidebar-primary", ".bd-sidebar-secondary", ".bd-header-article", ".prev-next-area", ".copybtn", ".fold-switches")  # fmt: skip


@pytest.fixture(scope="module", params=few_first(BOOK_PAGES))
def tab(browser, served, request):
    """A page without its formulas, opened once for all tests; each leaves the folds closed."""
    with visiting(browser, formulas=False, viewport=DESKTOP) as context:
        tab = context.new_page()
        arrive(tab, served.url(request.param))
        yield tab


def is_open(fold) -> bool:
    return fold.get_attribute("open") is not None


def test_folds_open_and_close(tab):
    assert tab.evaluate(CLICK_ALL) == []
    one_of_each = ("details.checks", "details.hide", "details.sd-dropdown", "details.cite-page")
    for kind in one_of_each:  # by hand
        for fold in tab.locator(kind).all()[:1]:
            for toggle in (lambda s: s.click(), lambda s: s.press("Enter"), lambda s: s.press("Space")):
                for expected in (True, False):
                    toggle(fold.locator("> summary"))
                    assert is_open(fold) == expected


def test_switches_open_and_close_all_folds_of_a_kind_and_are_remembered(tab):
    for kind, folds in KINDS.items():
        found = tab.locator(folds)
        button = tab.locator(".fold-switches").get_by_role("button", name=kind)
        count = found.count()
        assert button.count() == bool(count)
        if not count:
            continue
        others = tab.locator(", ".join(other for other in KINDS.values() if other != folds))
        button.click()
        assert found.evaluate_all(OPENED) == [True] * count
        assert not any(others.evaluate_all(OPENED))
        tab.reload()
        assert found.evaluate_all(OPENED) == [True] * count
        button.click()
        assert not any(found.evaluate_all(OPENED))


def test_paper_shows_the_whole_text_and_nothing_but_it(tab):
    tab.emulate_media(media="print")
    tab.wait_for_function("selector => [...document.querySelectorAll(selector)].every(fold => fold.open)", arg=OPEN)  # fmt: skip
    assert (
        tab.locator(f":is({OPEN}) > :not(summary)").evaluate_all(
            "all => all.filter(e => !e.checkVisibility()).length"
        )
        == 0
    )
    for solution in tab.locator(SOLUTIONS).all():
        assert not is_open(solution)
        assert not solution.is_visible()
    for piece in NOT_ON_PAPER:
        assert not any(found.is_visible() for found in tab.locator(piece).all()), piece
    assert tab.locator("h1:visible").count() == 1
    tab.emulate_media(media="screen")
    tab.wait_for_function("() => ![...document.querySelectorAll('article details')].some(fold => fold.open)")


def test_paper_shows_the_solutions_that_a_reader_has_opened_and_no_other(tab):
    solutions = tab.locator("article details.solution").all()
    if len(solutions) < 2:
        return
    solutions[1].locator("> summary").click()
    tab.emulate_media(media="print")
    tab.wait_for_function("selector => [...document.querySelectorAll(selector)].every(fold => fold.open)", arg=OPEN)  # fmt: skip
    assert [solution.is_visible() for solution in solutions] == [k == 1 for k in range(len(solutions))]
    tab.emulate_media(media="screen")
    solutions[1].locator("> summary").click()
    tab.wait_for_function("() => ![...document.querySelectorAll('article details')].some(fold => fold.open)")


@pytest.mark.parametrize("page", few_first(BOOK_PAGES))
def test_folds_open_and_close_without_javascript(browser, served, page):
    with visiting(browser, viewport=DESKTOP, java_script_enabled=False) as context:
        tab = context.new_page()
        arrive(tab, served.url(page))
        assert tab.evaluate(CLICK_ALL) == []
        fold = tab.locator("details:not(nav details, .bd-sidebar-primary details)").first
        fold.locator("> summary").click()
        assert is_open(fold)

"""What a reader does with the built site in Chromium: unfold, follow, search, preview, print, come back, go without JavaScript."""

import gzip
import json
import re
from contextlib import ExitStack
from urllib.parse import urlencode

import pytest
from browsing import DESKTOP, PHONE, arrive, listen, visiting
from building import BOOK_PAGES

from bookext.chapters import LEDGER, ROOT, chapters, statements

LABELS = [entry["id"] for entry in json.loads(LEDGER.read_text(encoding="utf-8"))]
CHAPTER = statements()[LABELS[0]]["page"]
#: Pages of each kind, for what is the same on all of them; the others are ``thorough``.
FEW = ["book/index", "book/notation", "book/kernel_regime/gradients", "book/experiments/reproduction"]


def few_first(pages: list[str]) -> list:
    """The pages, those beyond the few marked."""
    return [pytest.param(page, marks=[pytest.mark.thorough] * (page not in FEW)) for page in pages]


CHAPTERS = [path.relative_to(ROOT).with_suffix("").as_posix() for path in chapters()]

#: What a first visit and the next page may weigh, compressed, and when something must show on the screen.
FIRST_VISIT, NEXT_PAGE = 1_500_000, 300_000


def reading_order() -> list[str]:
    """The copy's pages in the order of its table of contents: the chapter from the template comes after the gradients."""
    *pages, extra = BOOK_PAGES
    pages.insert(pages.index("book/kernel_regime/gradients") + 1, extra)
    return pages


def neighbour(page: str) -> str:
    """The page that a reader turns to next; from the last one, back."""
    pages = [*reading_order(), reading_order()[-2]]
    return pages[pages.index(page) + 1]


@pytest.fixture
def go(browser, served):
    """Open a page in a new tab, with an empty cache."""
    with ExitStack() as contexts:

        def open_page(page, **how):
            tab = contexts.enter_context(visiting(browser, **{"viewport": DESKTOP, **how})).new_page()
            arrive(tab, served.url(page))
            return tab

        yield open_page


#: Clicks every fold from the outside in, then from the inside out; returns what did not open, show itself, or close.
CLICK_ALL = """() => {
  const folds = [...document.querySelectorAll("details")], stuck = [];
  const click = (fold, open) => {
    fold.querySelector(":scope > summary").click();
    if (fold.open !== open || open !== fold.lastElementChild.checkVisibility()) stuck.push(fold.outerHTML.slice(0, 120));
  };
  folds.forEach(fold => click(fold, true));
  folds.reverse().forEach(fold => click(fold, false));
  return stuck;
}"""


def is_open(fold) -> bool:
    return fold.get_attribute("open") is not None


@pytest.mark.parametrize("page", few_first(BOOK_PAGES))
def test_folds_open_and_close(go, page):
    tab = go(page)
    assert tab.evaluate(CLICK_ALL) == []
    for kind in ("details.hide", "details.sd-dropdown", "details.cite-page"):  # one of each kind, by hand
        for fold in tab.locator(kind).all()[:1]:
            for toggle in (lambda s: s.click(), lambda s: s.press("Enter"), lambda s: s.press("Space")):
                for expected in (True, False):
                    toggle(fold.locator("> summary"))
                    assert is_open(fold) == expected


@pytest.mark.parametrize("page", few_first(BOOK_PAGES))
def test_folds_open_and_close_without_javascript(go, page):
    tab = go(page, java_script_enabled=False)
    assert tab.evaluate(CLICK_ALL) == []
    fold = tab.locator("details").first
    fold.locator("> summary").click()
    assert is_open(fold)


@pytest.mark.parametrize("page", few_first([page for page in CHAPTERS if page != "book/index"]))
def test_one_button_opens_all_folds_and_closes_them(go, page):
    tab = go(page)
    button = tab.get_by_role("button", name="Open all folds")
    button.click()
    assert all(is_open(fold) for fold in tab.locator("article details").all())
    tab.get_by_role("button", name="Close all folds").click()
    assert not any(is_open(fold) for fold in tab.locator("article details").all())


def test_a_verdict_leads_to_its_check(go):
    tab = go(CHAPTER)
    tab.locator(f"[id='{LABELS[0]}'] a.verdict-badge[href^='#check-']").click()
    assert tab.url.endswith(f"#check-{LABELS[0]}")
    tab.locator(f"#check-{LABELS[0]}").wait_for()
    tab.wait_for_function("id => { const box = document.getElementById(id).getBoundingClientRect();"
                          "return box.top >= 0 && box.bottom <= innerHeight; }", arg=f"check-{LABELS[0]}")  # fmt: skip


def words(label: str) -> str:
    """The words of a statement's title."""
    title = statements()[label]["title"].split("{cite")[0].replace("(this book)", "")
    return " ".join(re.findall(r"[A-Za-z][\w-]*", re.sub(r"\$[^$]*\$", "", title)))


def search(tab, served, query: str) -> list[str]:
    """The pages that the search page lists."""
    tab.goto(f"{served.url('search')}?{urlencode({'q': query})}")
    tab.locator("#search-results .search-summary", has_text="found").wait_for()
    return tab.locator("#search-results li > a").evaluate_all("links => links.map(link => link.pathname)")


def test_search_finds_statements_by_their_words(go, served):
    tab = go("search")
    listed = search(tab, served, words(LABELS[0]))
    # The others without loading the page again: what the search page itself calls.
    ask = "query => Search._performSearch(...Search._parseQuery(query)).map(result => `/${result[0]}.html`)"
    assert set(listed) == set(tab.evaluate(ask, words(LABELS[0])))
    lost = [
        label
        for label in LABELS
        if f"/{statements()[label]['page']}.html" not in tab.evaluate(ask, words(label))
    ]
    assert lost == []


def test_a_search_leads_to_the_statement(go):
    tab = go("search")
    tab.keyboard.type(words(LABELS[0]))
    tab.keyboard.press("Enter")
    tab.wait_for_url("**/search.html?q=*")
    tab.locator(f"#search-results a[href^='{CHAPTER}.html']").first.click()
    tab.locator(f"[id='{LABELS[0]}']").wait_for()


def test_search_is_a_key_away(go):
    tab = go(CHAPTER)
    tab.keyboard.press("Control+k")
    tab.locator(".search-button__wrapper.show input").wait_for()
    tab.keyboard.type("softmax")
    tab.keyboard.press("Enter")
    tab.wait_for_url("**/search.html?q=softmax")
    tab.locator("#search-results li > a").first.wait_for()


@pytest.mark.parametrize("how", ["pointed at", "reached with the keyboard"])
def test_a_link_shows_what_it_leads_to(go, how):
    tab = go("book/scoreboard")
    troubles = listen(tab, tab.url.partition("/book/")[0])
    link, preview = tab.locator(f"article a[href$='#{LABELS[0]}']").first, tab.locator("#link-preview")
    assert not preview.is_visible()
    if how == "pointed at":
        link.hover()
    else:
        link.focus()
        tab.keyboard.press("Shift+Tab")
        tab.keyboard.press("Tab")
    preview.wait_for()
    assert statements()[LABELS[0]]["title"].split("{")[0].split("(")[0].strip() in preview.text_content()
    assert preview.locator("mjx-container").count() > 0
    tab.keyboard.press("Escape")
    preview.wait_for(state="hidden")
    assert troubles == []


def test_light_and_dark_can_be_chosen_and_are_remembered(go):
    tab = go(CHAPTER, color_scheme="light")
    theme = lambda: tab.evaluate("document.documentElement.dataset.theme")
    assert theme() == "light"
    for _ in range(3):
        tab.locator("button.theme-switch-button").first.click()
        if theme() == "dark":
            break
    assert theme() == "dark"
    tab.reload()
    assert theme() == "dark"


def test_the_first_key_skips_to_the_text(go):
    tab = go(CHAPTER)
    tab.keyboard.press("Tab")
    skip = tab.locator("#pst-skip-link a")
    assert skip.evaluate("link => link === document.activeElement")
    assert skip.is_visible()
    tab.keyboard.press("Enter")
    assert tab.url.endswith("#main-content")


@pytest.mark.parametrize("viewport", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_formulas_are_no_stops_for_the_keyboard_unless_they_scroll(go, viewport):
    stops = go(CHAPTER, viewport=viewport).locator("mjx-container[tabindex='0']")
    needless = "formulas => formulas.filter(formula => formula.scrollWidth <= formula.clientWidth).length"
    assert stops.evaluate_all(needless) == 0
    assert stops.count() < 20


@pytest.mark.parametrize("viewport", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_a_formula_scrolls_only_where_it_is_wider_than_its_paragraph(go, viewport):
    wide = go(CHAPTER, viewport=viewport).locator("span.math.is-wide")
    assert wide.evaluate_all("all => all.filter(box => box.scrollWidth <= box.clientWidth + 1).length") == 0


@pytest.mark.parametrize("page", BOOK_PAGES)
def test_a_page_s_own_files_are_light(site, page):
    html = (site / f"{page}.html").read_text(encoding="utf-8")
    pictures = {
        (site / page).parent / name for name in re.findall(r'(?:src|data)="([^":]*_images/[^"]*)"', html)
    }
    assert bool(pictures) == ("<img" in html.partition("<article")[2].partition("</article>")[0])
    own = [html.encode(), *(picture.read_bytes() for picture in pictures)]
    assert sum(len(gzip.compress(data, 6)) for data in own) <= NEXT_PAGE


@pytest.mark.parametrize("page", few_first(BOOK_PAGES))
def test_pages_are_light(browser, served, page):
    served.asked.clear()
    with visiting(browser, viewport=DESKTOP) as context:
        tab = context.new_page()
        arrive(tab, served.url(page))
        tab.wait_for_load_state("networkidle")
        first = served.weight()
        served.asked.clear()
        arrive(tab, served.url(neighbour(page)))
        tab.wait_for_load_state("networkidle")
        following = served.weight()
    assert 0 < first <= FIRST_VISIT
    assert 0 < following <= NEXT_PAGE


@pytest.mark.parametrize("page", few_first(CHAPTERS))
def test_paper_shows_the_whole_text_and_nothing_but_it(go, page):
    tab = go(page)
    tab.emulate_media(media="print")
    tab.wait_for_function(
        "() => [...document.querySelectorAll('article details:not(.hide), .tag_solution details')].every(fold => fold.open)"
    )
    hidden = "() => [...document.querySelectorAll('article details:not(.hide) > :not(summary), .tag_solution details > :not(summary)')].filter(e => !e.checkVisibility()).length"  # fmt: skip
    assert tab.evaluate(hidden) == 0
    for furniture in (".bd-sidebar-primary", ".bd-sidebar-secondary", ".bd-header-article", ".prev-next-area", ".copybtn", ".open-all-folds"):  # fmt: skip
        assert not any(piece.is_visible() for piece in tab.locator(furniture).all()), furniture
    assert tab.locator("h1:visible").count() == 1
    tab.emulate_media(media="screen")
    tab.wait_for_function("() => ![...document.querySelectorAll('article details')].some(fold => fold.open)")


@pytest.mark.parametrize("page", ["book/index", CHAPTER, "book/scoreboard"])
def test_a_page_opened_from_disk_works(browser, site, page):
    with visiting(browser, viewport=DESKTOP) as context:
        tab = context.new_page()
        troubles = listen(tab, site.as_uri())
        arrive(tab, f"{(site / page).as_uri()}.html")
        assert tab.locator("span.math:not(:has(mjx-container))").count() == 0
        assert troubles == []


def test_search_works_from_disk(browser, site):
    with visiting(browser, viewport=DESKTOP) as context:
        tab = context.new_page()
        tab.goto(f"{site.as_uri()}/search.html?q=softmax")
        tab.locator("#search-results li > a", has_text="Softmax calculus").first.wait_for()


@pytest.mark.parametrize("page", ["book/index", CHAPTER, "book/scoreboard", "search"])
def test_a_page_can_be_read_without_javascript(go, page):
    tab = go(page, java_script_enabled=False)
    assert tab.locator("h1:visible").count() == 1
    assert tab.locator("nav a:visible").count() >= len(BOOK_PAGES) - 1
    if page == CHAPTER:
        assert tab.locator("a.verdict-badge:visible").count() > 0


def test_previous_and_next_lead_through_the_book(go):
    tab, read = go("book/index"), []
    while True:
        read.append(tab.url.partition("/book/")[2])
        following = tab.locator("a.right-next")
        if not following.count():
            break
        tab.goto(following.evaluate("link => link.href"), wait_until="domcontentloaded")
    assert [f"book/{page}" for page in read] == [f"{page}.html" for page in reading_order()]

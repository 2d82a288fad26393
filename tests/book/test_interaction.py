"""What moves in the built site: the scoreboard, the map of results, the figures with a slider."""

import pytest
from browsing import PHONE
from built import BOOK_PAGES, ENTRIES, file, text

from bookext.chapters import chapters, docname, statements

#: Pages with a figure that has a slider.
MOVING = [docname(path) for path in chapters() if "interactive.slider(" in path.read_text(encoding="utf-8")]


def column(tab, number: int) -> list[str]:
    return tab.locator(f"table.scoreboard tbody tr:visible td:nth-child({number})").all_inner_texts()


def test_the_scoreboard_sorts(go):
    tab = go("book/scoreboard")
    noticed, heading = column(tab, 6), tab.locator("table.scoreboard th", has_text="would notice")
    assert len(noticed) == len(ENTRIES)
    # Weakest first: a factor of many before rounding errors.
    assert heading.get_attribute("aria-sort") == "descending"
    assert "factor" in noticed[0]
    assert "10⁻" in noticed[-1]
    heading.get_by_role("button").click()
    book = column(tab, 1)
    heading = tab.locator("table.scoreboard th", has_text="kind")
    for state, expected in (("ascending", False), ("descending", True)):
        heading.get_by_role("button").click()
        assert heading.get_attribute("aria-sort") == state
        assert column(tab, 3) == sorted((entry["kind"] for entry in ENTRIES), reverse=expected)
    heading.get_by_role("button").press("Enter")
    assert column(tab, 1) == book


def test_the_scoreboard_filters(go):
    tab = go("book/scoreboard")
    tools, kind = tab.get_by_role("search", name="Filter the scoreboard"), ENTRIES[0]["kind"]
    by_kind = lambda: tools.get_by_label("kind").select_option(kind)
    by_words = lambda: tools.get_by_label("words").fill(kind)
    for choose in (by_kind, by_words):
        choose()
        kinds = column(tab, 3)
        assert kinds.count(kind) == sum(entry["kind"] == kind for entry in ENTRIES) < len(ENTRIES)
        assert choose is by_words or set(kinds) == {kind}
        assert f"{len(kinds)} of {len(ENTRIES)}" in tools.locator("output").inner_text()
        tools.get_by_role("button", name="Show all").click()
        tab.wait_for_function(f"document.querySelectorAll('table.scoreboard tbody tr:not([hidden])').length === {len(ENTRIES)}")  # fmt: skip


@pytest.mark.parametrize("how", ["click", "Enter"])
def test_a_statement_on_the_map_leads_to_its_place(go, how):
    tab, label = go("book/map"), ENTRIES[0]["id"]
    link = tab.locator(f".map-picture .node[data-statement='{label}'] a")
    if how == "click":
        link.click()
    else:
        link.press("Enter")
    tab.wait_for_url(f"**/{statements()[label]['page']}.html#{label}")


def test_the_map_zooms_and_lights_up_relations(go):
    tab = go("book/map")
    picture = tab.locator(".map-picture").first
    width = lambda: picture.bounding_box()["width"]
    before = width()
    tab.get_by_role("button", name="Zoom in").first.click()
    assert width() > before
    tab.locator(".map-view").first.press("-")
    assert width() == pytest.approx(before, abs=1)
    node = picture.locator(f".node[data-statement='{ENTRIES[0]['id']}'] a")
    node.focus()
    assert "has-focus" in picture.get_attribute("class")
    assert picture.locator(".node.is-lit").count() < picture.locator(".node").count()


@pytest.mark.parametrize("viewport", [{"width": 1400, "height": 1000}, PHONE])
def test_the_list_of_chapters_opens_at_the_current_one(go, viewport):
    tab = go("book/bibliography", viewport=viewport)
    link = tab.locator(".bd-sidebar-primary li.current.active > a").last
    if viewport == PHONE:
        tab.locator(".primary-toggle").click()
        tab.wait_for_function("link => document.activeElement === link", arg=link.element_handle())
    box = link.bounding_box()
    assert 0 <= box["y"] <= viewport["height"] - box["height"]


def test_these_are_the_pages_with_a_slider(site):
    assert {page for page in BOOK_PAGES if '<div class="interactive"' in text(file(page))} == set(MOVING)


@pytest.mark.parametrize("page", MOVING)
def test_sliders_move_their_figures_with_the_keyboard(go, page):
    figures = go(page).locator("article .interactive").all()
    assert figures
    for figure in figures:
        slider = figure.locator("input[type=range]")
        states = []
        for key in ("Home", "ArrowRight", "End"):
            slider.press(key)
            states.append((slider.get_attribute("aria-valuetext"), figure.locator("svg").first.inner_html()))
        assert len(set(states)) == 3


def test_a_slider_on_a_phone_stays_in_the_page(go):
    box = go(MOVING[0], viewport=PHONE).locator("article .interactive input[type=range]").first.bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= PHONE["width"]

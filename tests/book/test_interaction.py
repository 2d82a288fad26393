"""What moves in the built site: the scoreboard, the map of results, the figures with a slider."""

import json

import pytest
from browsing import DESKTOP, PHONE, arrive, listen, visiting

from bookext.chapters import LEDGER, statements

ENTRIES = json.loads(LEDGER.read_text(encoding="utf-8"))
PAGES = sorted({statement["page"] for statement in statements().values()})


@pytest.fixture
def go(browser, served):
    """Open a page in a new tab; nothing may go wrong on it."""
    with visiting(browser, viewport=DESKTOP) as context:

        def open_page(page):
            tab = context.new_page()
            troubles.append(listen(tab, served.address))
            arrive(tab, served.url(page))
            return tab

        troubles = []
        yield open_page
        assert [trouble for found in troubles for trouble in found] == []


def column(tab, number: int) -> list[str]:
    return tab.locator(f"table.scoreboard tbody tr:visible td:nth-child({number})").all_inner_texts()


def test_the_scoreboard_sorts(go):
    tab = go("book/scoreboard")
    book = column(tab, 1)
    assert len(book) == len(ENTRIES)
    heading = tab.locator("table.scoreboard th", has_text="kind")
    for state, expected in (("ascending", False), ("descending", True)):
        heading.get_by_role("button").click()
        assert heading.get_attribute("aria-sort") == state
        assert column(tab, 3) == sorted((entry["kind"] for entry in ENTRIES), reverse=expected)
    heading.get_by_role("button").press("Enter")
    assert column(tab, 1) == book


@pytest.mark.parametrize("what", ["kind", "words"])
def test_the_scoreboard_filters(go, what):
    tab = go("book/scoreboard")
    tools, kind = tab.get_by_role("search", name="Filter the scoreboard"), ENTRIES[0]["kind"]
    if what == "kind":
        tools.get_by_label("kind").select_option(kind)
    else:
        tools.get_by_label("words").fill(kind)
    assert column(tab, 3).count(kind) == sum(entry["kind"] == kind for entry in ENTRIES) < len(ENTRIES)
    assert f"{len(column(tab, 1))} of {len(ENTRIES)}" in tools.locator("output").inner_text()
    if what == "kind":
        assert set(column(tab, 3)) == {kind}
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


@pytest.mark.parametrize("page", PAGES)
def test_sliders_move_their_figures_with_the_keyboard(go, page):
    tab = go(page)
    for figure in tab.locator("article .interactive").all():
        slider = figure.locator("input[type=range]")
        states = []
        for key in ("Home", "ArrowRight", "End"):
            slider.press(key)
            states.append((slider.get_attribute("aria-valuetext"), figure.locator("svg").first.inner_html()))
        assert len(set(states)) == 3


def test_a_slider_on_a_phone_stays_in_the_page(browser, served):
    with visiting(browser, viewport=PHONE) as context:
        tab = context.new_page()
        arrive(tab, served.url("book/kernel_regime/softmax_calculus"))
        box = tab.locator("article .interactive input[type=range]").first.bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= PHONE["width"]

"""What moves in the built site: the scoreboard, the map of results, the figures with a slider."""

import functools
import itertools

import pytest
from browsing import PHONE
from built import BOOK_PAGES, ENTRIES, file, parsed, text

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


@pytest.fixture(scope="module")
def arrows(site):
    """Pairs of a statement and one that uses it, as the map's text has them."""
    rows = parsed(file("book/map")).select(".map-table tbody tr")
    used = {row["data-statement"]: row.find_all("td")[1].select("a") for row in rows}
    return frozenset(
        (link["href"].partition("#")[2], label) for label, links in used.items() for link in links
    )


def walked(arrows, start: str, steps: int) -> set[str]:
    """What is reached along arrows in at most so many steps."""
    reached = {start}
    for _ in range(steps):
        reached |= {to for of, to in arrows if of in reached}
    return reached


@functools.cache
def busiest(arrows) -> str:
    """A statement that rests on some, and on which others rest, that rest on others."""
    turned = {(to, of) for of, to in arrows}
    return max(statements(), key=lambda label: min(len(walked(way, label, 2)) - len(walked(way, label, 1)) for way in (arrows, turned)))  # fmt: skip


def shown(tab) -> dict[str, set[str]]:
    """The statements that are seen, in the picture and in the text, and whether the arrows seen are those between them."""
    return tab.evaluate("""() => {
      const seen = (selector) => [...document.querySelectorAll(selector)].filter((one) => one.getClientRects().length);
      document.querySelector(".map-text").open = true;
      const labels = (selector) => seen(selector).map((one) => one.dataset.statement).sort();
      return { picture: labels(".map-picture .node"), text: labels(".map-table tbody tr"),
               arrows: seen(".map-picture .edge:not(.variant) path").map(({ parentNode: { dataset: { from, to } } }) => `${from} ${to}`).sort() };
    }""")


#: Choose a statement by the address, and wait until the page, which hears of it first, has done what it does.
TO = """place => new Promise(done => {
  addEventListener("hashchange", () => requestAnimationFrame(done), { once: true });
  location.hash = place;
})"""


def test_the_address_of_the_map_chooses_a_statement_with_what_it_rests_on_or_what_rests_on_it(go, arrows):
    """In every direction and depth, from the whole map each time."""
    label, turned, tab = busiest(arrows), {(to, of) for of, to in arrows}, go("book/map")
    for direction, depth in itertools.product(("up", "down", "both"), ("1", "2", "all")):
        steps = 99 if depth == "all" else int(depth)
        up, down = walked(turned, label, steps), walked(arrows, label, steps)
        wanted = {"up": up, "down": down, "both": up | down}[direction]
        tab.evaluate(TO, f"focus={label}&direction={direction}&depth={depth}")
        tab.locator(f".node.is-chosen[data-statement='{label}']").wait_for()
        seen, told = shown(tab), tab.locator(".map-choice output").inner_text()
        assert seen["picture"] == seen["text"] == sorted(wanted), (direction, depth)
        assert len(seen["picture"]) > 1
        assert seen["arrows"] == sorted(f"{of} {to}" for of, to in arrows if {of, to} <= wanted)
        assert f"{len(wanted)} of {len(statements())} boxes" in told
        tab.evaluate(TO, "")
        assert tab.locator(".node.is-chosen").count() == 0
        assert len(shown(tab)["picture"]) == len(statements())


def test_the_map_keeps_its_form_where_statements_are_left_out(go, arrows):
    label = busiest(arrows)
    tab = go("book/map")
    whole = tab.locator(".map-picture").bounding_box()["height"]
    tab.evaluate("place => { location.hash = place; }", f"focus={label}&direction=both&depth=2")
    tab.locator(".node.is-chosen").wait_for()
    assert tab.locator(".map-picture").bounding_box()["height"] < whole / 2
    # Arrows end at boxes still, boxes do not lie on each other, and the chosen one is in sight.
    wrong = tab.evaluate("""() => {
      const seen = [...document.querySelectorAll(".map-picture .node, .map-picture .edge")].filter((one) => one.getClientRects().length);
      const boxes = new Map(seen.filter((one) => one.matches(".node")).map((one) => [one.dataset.statement, one.querySelector("rect").getBoundingClientRect()]));
      const wrong = [];
      for (const edge of seen.filter((one) => one.matches(".edge"))) {
        const path = edge.querySelector("path"), matrix = path.getScreenCTM();
        const at = (where) => path.getPointAtLength(where).matrixTransform(matrix);
        const first = at(0), last = at(path.getTotalLength()), from = boxes.get(edge.dataset.from), to = boxes.get(edge.dataset.to);
        const touches = (point, box, edge) => point.x >= box.left && point.x <= box.right && Math.abs(point.y - edge) < 8;
        if (!touches(first, from, from.bottom) || !touches(last, to, to.top)) wrong.push(`${edge.dataset.from} ${edge.dataset.to}`);
      }
      const all = [...boxes];
      for (const [one, a] of all) for (const [other, b] of all)
        if (one < other && a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom) wrong.push(`${one} on ${other}`);
      const view = document.querySelector(".map-view").getBoundingClientRect(), mine = document.querySelector(".is-chosen rect").getBoundingClientRect();
      if (mine.top < view.top || mine.bottom > view.bottom || mine.left < view.left || mine.right > view.right) wrong.push("out of sight");
      return wrong;
    }""")
    assert wrong == []


@pytest.mark.parametrize("how", ["click", "Enter"])
def test_a_box_of_the_map_is_chosen_and_the_chosen_one_leads_to_its_place(go, how):
    tab, label = go("book/map"), ENTRIES[0]["id"]
    link = tab.locator(f".map-picture .node[data-statement='{label}'] a")
    do = link.click if how == "click" else lambda: link.press("Enter")
    do()
    assert f"#focus={label}&" in tab.url
    assert link.get_attribute("aria-current") == "true"
    assert tab.locator(".map-there").get_attribute("href").endswith(f"#{label}")
    if how == "Enter":
        assert link.evaluate("link => link === document.activeElement")
    do()
    tab.wait_for_url(f"**/{statements()[label]['page']}.html#{label}")


def test_a_box_leads_to_its_place_without_javascript(go):
    tab, label = go("book/map", java_script_enabled=False), ENTRIES[0]["id"]
    assert not tab.locator(".map-choice").is_visible()
    tab.locator(f".map-picture .node[data-statement='{label}'] a").click()
    tab.wait_for_url(f"**/{statements()[label]['page']}.html#{label}")


def test_a_statement_is_chosen_with_the_keyboard_alone_and_the_way_back_is_open(go, arrows):
    tab, label = go("book/map"), busiest(arrows)
    search = tab.get_by_role("search", name="One statement on the map")
    words = search.get_by_label("one statement")
    words.focus()
    tab.keyboard.type(label)
    tab.keyboard.press("Enter")
    assert f"#focus={label}&direction=both&depth=1" in tab.url
    tab.keyboard.press("Tab")
    tab.keyboard.press("Home")
    assert "direction=up" in tab.url
    tab.keyboard.press("Tab")
    tab.keyboard.press("End")
    assert tab.url.endswith("direction=up&depth=all")
    assert shown(tab)["picture"] == sorted(walked({(to, of) for of, to in arrows}, label, 99))
    tab.keyboard.press("Tab")
    tab.keyboard.press("Enter")
    assert "#" not in tab.url
    assert len(shown(tab)["picture"]) == len(statements())
    tab.go_back()
    tab.locator(".node.is-chosen").wait_for()
    assert words.input_value().startswith(tab.locator(".node.is-chosen a").get_attribute("aria-label"))
    words.fill("no such words anywhere")
    words.press("Enter")
    assert "No statement" in search.locator("output").inner_text()


def test_an_unknown_statement_in_the_address_shows_all_and_says_so(go):
    tab = go("book/map")
    tab.evaluate("() => { location.hash = 'focus=nobody&direction=sideways&depth=9'; }")
    tab.wait_for_function("() => document.querySelector('.map-choice output').textContent.includes('nobody')")
    assert len(shown(tab)["picture"]) == len(statements())


def test_used_by_leads_to_those_on_the_map(go, arrows):
    label = max(statements(), key=lambda label: sum(of == label for of, _ in arrows))
    tab = go(statements()[label]["page"])
    link = tab.locator(f"[id='{label}'] a.used-by")
    users = {to for of, to in arrows if of == label}
    assert link.inner_text() == f"used by {len(users)}"
    link.click()
    tab.locator(f".node.is-chosen[data-statement='{label}']").wait_for()
    assert shown(tab)["picture"] == sorted({label, *users})
    assert 0 < tab.locator(".map-choice").bounding_box()["y"] < 300


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_chosen_statement_on_a_phone_stays_in_the_page(go, arrows, scheme):
    tab = go("book/map", viewport=PHONE, color_scheme=scheme)
    tab.evaluate("place => { location.hash = place; }", f"focus={busiest(arrows)}&direction=both&depth=all")
    tab.locator(".node.is-chosen").wait_for()
    assert tab.evaluate("() => document.documentElement.scrollWidth - innerWidth") <= 0


def test_a_box_shows_what_it_says_and_that_can_be_pinned(go):
    tab, label = go("book/map", formulas=True), ENTRIES[0]["id"]
    tab.locator(f".map-picture .node[data-statement='{label}'] a").hover()
    preview = tab.locator("#link-preview")
    preview.wait_for()
    assert preview.locator("mjx-container").count() > 0
    preview.click()
    tab.mouse.move(0, 0)
    tab.wait_for_timeout(500)
    assert tab.get_by_role("dialog").is_visible()


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

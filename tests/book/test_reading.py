"""Getting about in the built site in Chromium: links and what they show, themes, the keyboard, from disk, without JavaScript."""

import pytest
from browsing import DESKTOP, arrive, listen, visiting
from built import BOOK_PAGES, CHAPTER, LABELS, neighbours

from bookext.chapters import leaves, statements


def test_a_verdict_leads_to_its_check(go):
    tab = go(CHAPTER)
    tab.locator(f"[id='{LABELS[0]}'] a.verdict-badge[href^='#check-']").click()
    assert tab.url.endswith(f"#check-{LABELS[0]}")
    tab.locator(f"#check-{LABELS[0]}").wait_for()
    tab.wait_for_function("id => { const box = document.getElementById(id).getBoundingClientRect();"
                          "return box.top >= 0 && box.bottom <= innerHeight; }", arg=f"check-{LABELS[0]}")  # fmt: skip


def test_a_link_shows_what_it_leads_to(go):
    tab = go("book/scoreboard", formulas=True)
    link, preview = tab.locator(f"article a[href$='#{LABELS[0]}']").first, tab.locator("#link-preview")

    def reach_with_the_keyboard():
        link.focus()
        tab.keyboard.press("Shift+Tab")
        tab.keyboard.press("Tab")

    for point in (link.hover, reach_with_the_keyboard):
        assert not preview.is_visible()
        point()
        preview.wait_for()
        assert statements()[LABELS[0]]["title"].split("{")[0].split("(")[0].strip() in preview.text_content()
        assert preview.locator("mjx-container").count() > 0
        tab.keyboard.press("Escape")
        preview.wait_for(state="hidden")
        tab.mouse.move(0, 0)


@pytest.mark.parametrize("how", ["click", "key"])
def test_a_preview_can_be_pinned_beside_others_and_is_closed_by_escape(go, how):
    tab = go("book/scoreboard")
    links, preview, pinned = tab.locator(f"article a[href$='#{LABELS[0]}']"), tab.locator("#link-preview"), tab.locator(".link-preview.is-pinned")  # fmt: skip
    other = tab.locator(f"article a[href$='#{LABELS[1]}']").first
    link = links.first
    if how == "click":
        link.hover()
        preview.wait_for()
        preview.click()
        tab.mouse.move(0, 0)
    else:
        link.focus()
        tab.keyboard.press("Shift+Tab")
        tab.keyboard.press("Tab")
        preview.wait_for()
        tab.keyboard.press("p")
    pinned.wait_for()
    tab.wait_for_timeout(400)  # longer than a preview stays when it is left
    assert pinned.is_visible()
    assert pinned.evaluate("box => box === document.activeElement")
    assert pinned.get_by_role("link", name="Its place in the book").get_attribute("href") == link.get_attribute("href")  # fmt: skip
    other.focus()
    tab.keyboard.press("Shift+Tab")
    tab.keyboard.press("Tab")
    preview.wait_for()
    tab.keyboard.press("Escape")
    preview.wait_for(state="hidden")
    assert pinned.count() == 1
    pinned.focus()
    tab.keyboard.press("Escape")
    assert pinned.count() == 0
    assert link.evaluate("link => link === document.activeElement")


def test_a_letter_that_is_typed_pins_nothing(go):
    tab = go("book/scoreboard")
    tab.locator(f"article a[href$='#{LABELS[0]}']").first.hover()
    tab.locator("#link-preview").wait_for()
    tab.get_by_role("search", name="Filter the scoreboard").get_by_label("words").press("p")
    assert tab.locator(".is-pinned").count() == 0


def test_a_symbol_shows_what_it_means(go):
    tab = go(CHAPTER, formulas=True)
    preview = tab.locator("#link-preview")
    symbol = tab.locator("article section section p span.math[data-symbol]:visible").first
    place = symbol.get_attribute("data-symbol").split()[0]
    symbol.hover()
    preview.wait_for()
    assert tab.locator(f"#symbol-{place} td").last.text_content() in preview.text_content()
    assert preview.locator("mjx-container").count() > 0
    tab.keyboard.press("Escape")
    preview.wait_for(state="hidden")


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


def test_previous_and_next_lead_through_the_book(go):
    before, after = neighbours(CHAPTER)
    tab = go(CHAPTER)
    for link, page in (("a.right-next", after), ("a.left-prev", CHAPTER), ("a.left-prev", before)):
        tab.locator(link).click()
        tab.wait_for_url(f"**/{page}.html")


@pytest.mark.parametrize("page", ["book/index", CHAPTER, "book/scoreboard"])
def test_a_page_opened_from_disk_works(browser, site, page):
    with visiting(browser, viewport=DESKTOP) as context:
        tab = context.new_page()
        troubles = listen(tab, site.as_uri())
        arrive(tab, f"{(site / page).as_uri()}.html")
        assert tab.locator("span.math:not(:has(mjx-container))").count() == 0
        assert troubles == []


@pytest.mark.parametrize("page", ["book/index", CHAPTER, "book/scoreboard", "search"])
def test_a_page_can_be_read_without_javascript(go, page):
    tab = go(page, java_script_enabled=False)
    assert tab.locator("h1:visible").count() == 1
    chapters = [leaf.page for leaf in leaves() if not leaf.depth]  # pages below them are folded
    assert tab.locator("nav a:visible").count() >= len(chapters) - 1
    assert tab.locator("nav a").count() >= len(BOOK_PAGES) - 1
    if page == CHAPTER:
        assert tab.locator("a.verdict-badge:visible").count() > 0

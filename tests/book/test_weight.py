"""What the pages of the built site weigh, compressed as hosts send them: their own files, a first visit, the next page."""

import gzip

import pytest
from browsing import DESKTOP, arrive, visiting
from built import BOOK_PAGES, few_first, file, neighbours, parsed, text

#: Bytes of a first visit, and of the page after it.
FIRST_VISIT, NEXT_PAGE = 1_500_000, 300_000


@pytest.mark.parametrize("page", BOOK_PAGES)
def test_a_page_s_own_files_are_light(site, page):
    shown = [element.get("src") or element.get("data") or "" for element in parsed(file(page)).find_all(["img", "object", "source"])]  # fmt: skip
    pictures = {(site / page).parent / name for name in shown if "_images/" in name and ":" not in name}
    assert bool(pictures) == bool(parsed(file(page)).select("article img"))
    own = [text(file(page)).encode(), *(picture.read_bytes() for picture in pictures)]
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
        arrive(tab, served.url(next(filter(None, reversed(neighbours(page))))))
        tab.wait_for_load_state("networkidle")
        following = served.weight()
    assert 0 < first <= FIRST_VISIT
    assert 0 < following <= NEXT_PAGE

"""The built site, one for all the files and processes that look at it, and the browser that opens it."""

from contextlib import ExitStack
from pathlib import Path

import pytest
from built import SITE


@pytest.fixture(scope="session")
def site() -> Path:
    """The built site."""
    if not (SITE / "book/index.html").exists():
        pytest.fail(
            "There is no built site in _build/html: 'make book' builds it, and 'make test' does so first."
        )
    return SITE


@pytest.fixture(scope="module")
def browser():
    """Chromium; a file's own, as Playwright's event loop is in the way of the notebooks' tests."""
    from browsing import CHROMIUM, FLAGS
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def served(site):
    """The site, served from this machine."""
    from browsing import serving

    with serving(site) as server:
        yield server


@pytest.fixture
def go(browser, served):
    """Open a page in a new tab of a first visit, without its formulas unless they matter; nothing may go wrong on it."""
    from browsing import DESKTOP, arrive, listen, visiting

    with ExitStack() as contexts:
        troubles = []

        def open_page(page, **how):
            how = {"viewport": DESKTOP, "formulas": False, **how}
            tab = contexts.enter_context(visiting(browser, **how)).new_page()
            if how.get(
                "java_script_enabled", True
            ):  # else a browser gives up scripts that it has begun to load
                troubles.append(listen(tab, served.address))
            arrive(tab, served.url(page))
            return tab

        yield open_page
        assert [trouble for found in troubles for trouble in found] == []

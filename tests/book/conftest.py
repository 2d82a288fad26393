"""The built site, one for all the files and processes that look at it, and the browser that opens it."""

import json
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


@pytest.fixture(scope="module")
def tabs(browser):
    """One tab for each way to visit: to begin a context anew costs more than to load a page in it."""
    from browsing import visiting

    with ExitStack() as contexts:
        opened = {}

        def tab_for(how):
            key = json.dumps(how, sort_keys=True)
            if key not in opened:
                opened[key] = contexts.enter_context(visiting(browser, **how)).new_page()
            return opened[key]

        yield tab_for


@pytest.fixture
def go(browser, served, tabs):
    """Open a page, with a query if one is given, as on a first visit, without its formulas unless they matter; nothing may go wrong on it.

    Nothing is remembered from the test before but files; ``anew=True`` is for those to whom this, or the context, matters.
    """
    from browsing import DESKTOP, arrive, forget, listening, visiting

    with ExitStack() as contexts:
        troubles = []

        def open_page(page, query="", anew=False, **how):
            how = {"viewport": DESKTOP, "formulas": False, **how}
            if anew:
                tab = contexts.enter_context(visiting(browser, **how)).new_page()
            else:
                tab = tabs(how)
                contexts.callback(forget, tab, served)
            if how.get(
                "java_script_enabled", True
            ):  # else a browser gives up scripts that it has begun to load
                troubles.append(contexts.enter_context(listening(tab, served.address)))
            arrive(tab, served.url(page) + query)
            return tab

        yield open_page
        assert [trouble for found in troubles for trouble in found] == []

"""The built site, one for all the files and processes that look at it, and the browser that opens it."""

import os
import shutil
from pathlib import Path

import building
import pytest
from filelock import FileLock


@pytest.fixture(scope="session")
def copy(tmp_path_factory) -> Path:
    """A copy of the repository with one more chapter, executed and built by the first process that asks."""
    shared = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        shared = shared.parent
    root = shared / "book"
    with FileLock(shared / "book.lock"):
        if not (root / building.SITE / "index.html").exists():
            shutil.rmtree(root, ignore_errors=True)
            building.copy_and_build(root)
    return root


@pytest.fixture(scope="session")
def site(copy) -> Path:
    """The built site of the copy."""
    return copy / building.SITE


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

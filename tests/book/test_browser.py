"""Every page of the built site in Chromium: as it comes, in the dark and on a phone, with every fold open."""

import pytest
from building import ALL_PAGES

pytest.importorskip("playwright.sync_api", reason="needs Playwright: pip install -r requirements.txt")
from browsing import GUISES, visit


@pytest.fixture(
    scope="module",
    params=[f"{page}:{guise}" for page in ALL_PAGES for guise in GUISES],
    ids=lambda name: name,
)
def seen(browser, served, request):
    """A page in a guise, opened once for all tests."""
    return visit(browser, served, *request.param.split(":"))


def test_nothing_goes_wrong_and_no_other_host_is_asked(seen):
    assert seen.troubles == []


def test_every_formula_is_rendered_and_can_be_read_aloud(seen):
    assert seen.look["unrendered"] == []
    assert seen.look["wrong"] == []
    assert seen.look["silent"] == []
    assert seen.look["raw"] == []


def test_axe_finds_nothing(seen):
    assert seen.axe == []


def test_nothing_is_cut_off_and_what_scrolls_can_be_reached(seen):
    assert seen.look["cut"] == []
    assert seen.look["sideways"] <= 0
    assert seen.look["unreachable"] == []


def test_no_fold_needs_a_script_and_all_code_can_be_copied(seen):
    assert seen.look["scripted"] == []
    assert seen.look["uncopied"] == []

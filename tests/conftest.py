"""Settings that all tests share, signatures that are checked as they are called, and a browser."""

import os
import pkgutil
import shutil
from pathlib import Path

import pytest
from hypothesis import settings

import checks
import signatures

# Before anything imports the package: shapes and types of every call are compared with its signature. What numba compiles stays as it is.
PACKAGE = Path(__file__).parent.parent / "lib/shallowformer"
signatures.install(
    [f"shallowformer.{part.name}" for part in pkgutil.iter_modules([PACKAGE]) if part.name != "compiled"]
    + ["companion.exercises", "companion.experiments", "companion.theory"]
)

settings.register_profile("shallowformer", derandomize=True, deadline=None, max_examples=25, database=None)
settings.load_profile("shallowformer")


@pytest.fixture
def long():
    """Many steps: signatures, which shorter runs check, are left unchecked."""
    with checks.unchecked():
        yield


@pytest.fixture(scope="module")
def browser():
    """Chromium, for pages that stand by themselves."""
    playwright = pytest.importorskip("playwright.sync_api", reason="pip install playwright")
    names = ("chromium", "chromium-browser", "google-chrome")
    executable = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, names)), None)
    if executable is None:
        pytest.skip("no Chromium: apt-get install chromium, or name it in the environment variable CHROMIUM")
    with playwright.sync_playwright() as started:
        flags = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
        chromium = started.chromium.launch(executable_path=executable, args=flags)
        yield chromium
        chromium.close()


def _or_skipped():
    """What measured data are needed for is skipped where their package is not installed; ``Source.read`` says which, and how to get it."""
    try:
        return (yield)
    except ModuleNotFoundError as missing:
        checks.skip_without_data(missing)
        raise


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item):
    """Fixtures read data, too."""
    return (yield from _or_skipped())


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    """As above."""
    return (yield from _or_skipped())

"""The package says which version this is; whatever else says it agrees."""

import re
import tomllib
from types import SimpleNamespace

import yaml
from built import BOOK_PAGES, file, text

import shallowformer
from bookext import page_context, version
from bookext.chapters import ROOT

CITED = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))


def test_the_package_is_the_home_of_the_version():
    assert re.fullmatch(r"\d+\.\d+\.\d+", shallowformer.__version__)
    assert shallowformer.__version__ == version.VERSION
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert "version" not in project["project"]
    assert project["tool"]["setuptools"]["dynamic"]["version"] == {"attr": "shallowformer.__version__"}


def test_what_is_cited_is_this_version():
    assert CITED["version"] == version.VERSION
    assert f"version {version.VERSION}" in page_context.citation("T", "book/tour", None)["text"]


def test_the_changelog_begins_with_this_version_and_its_day_once_it_has_one():
    heading = re.search(r"^## (\S+), (.+)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)  # fmt: skip
    assert heading[1] == version.VERSION
    assert heading[2] in ("in the making", str(CITED["date-released"]))


def test_a_page_says_the_version_at_its_foot(monkeypatch):
    page_context.configure(None, config := SimpleNamespace(ogp_social_cards={}))
    assert config.version == config.release == version.VERSION
    assert "{{ release }}" in (ROOT / "book/_templates/page-foot.html").read_text(encoding="utf-8")


def test_the_time_of_what_is_made_is_the_commits_or_what_is_asked_for(monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")
    assert version.moment() == 86400
    assert version.day() == "1970-01-02"
    monkeypatch.delenv("SOURCE_DATE_EPOCH")
    assert version.day() >= "2026-01-01"


def test_every_page_of_the_site_says_the_version(site):
    for page in BOOK_PAGES:
        assert f"Version {version.VERSION} of the book." in text(file(page)), page

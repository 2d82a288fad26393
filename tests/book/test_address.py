"""Addresses come from one place, and a fork's lead to the fork."""

import re
import subprocess

import pytest
import yaml

from bookext import address
from bookext.chapters import ROOT


@pytest.fixture
def at_home(monkeypatch):
    for name in ("GITHUB_REPOSITORY", "GITHUB_SERVER_URL", "SHALLOWFORMER_SOURCE"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def in_a_fork(monkeypatch):
    monkeypatch.setenv("GITHUB_SERVER_URL", "https://github.com")
    monkeypatch.setenv("GITHUB_REPOSITORY", "Reader/my-fork")
    monkeypatch.delenv("SHALLOWFORMER_SOURCE", raising=False)


def test_the_repository_stands_in_the_settings(at_home):
    settings = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
    assert address.repository() == settings["repository"]["url"]
    owner, name = address.repository().split("/")[-2:]
    assert address.site() == f"https://{owner}.github.io/{name}/"


def test_a_fork_s_addresses_lead_to_the_fork(in_a_fork):
    assert address.repository() == "https://github.com/Reader/my-fork"
    assert address.site() == "https://reader.github.io/my-fork/"
    assert address.package() == "git+https://github.com/Reader/my-fork"
    assert address.source("book/index") == "https://github.com/Reader/my-fork/blob/main/book/index.md?plain=1"
    assert address.colab("book/kernel_regime/model") == (
        "https://colab.research.google.com/github/Reader/my-fork/blob/notebooks/kernel_regime/model.ipynb"
    )


def test_a_repository_named_like_the_host_has_its_site_at_the_root(monkeypatch):
    monkeypatch.setenv("GITHUB_REPOSITORY", "Reader/reader.github.io")
    assert address.site() == "https://reader.github.io/"


def test_the_source_of_the_package_can_be_set(monkeypatch):
    monkeypatch.setenv("SHALLOWFORMER_SOURCE", "./here")
    assert address.package() == "./here"


def test_no_other_file_names_the_repository(at_home):
    owner_and_name = "/".join(address.repository().split("/")[-2:])
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    found = [
        name
        for name in tracked.split()
        if name.endswith((".md", ".py", ".yml", ".toml", ".cff", ".html", ".js"))
        and re.search(rf"github\.(?:com|io)/{owner_and_name}", (ROOT / name).read_text(encoding="utf-8"))
    ]
    assert found == ["_config.yml"]

"""Addresses come from one place, and a fork's lead to the fork."""

import re
import subprocess

import pytest
import yaml

from bookext import address
from bookext.chapters import ROOT

VARIABLES = ("GITHUB_REPOSITORY", "GITHUB_SERVER_URL", "GITHUB_REF_TYPE", "GITHUB_REF_NAME", "GITHUB_SHA", "SHALLOWFORMER_SOURCE")  # fmt: skip


@pytest.fixture
def at_home(monkeypatch):
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def in_a_fork(at_home, monkeypatch):
    monkeypatch.setenv("GITHUB_SERVER_URL", "https://github.com")
    monkeypatch.setenv("GITHUB_REPOSITORY", "Reader/my-fork")
    monkeypatch.setenv("GITHUB_REF_TYPE", "branch")
    monkeypatch.setenv("GITHUB_REF_NAME", "main")
    monkeypatch.setenv("GITHUB_SHA", "0123abc")


def test_the_repository_stands_in_the_settings(at_home):
    settings = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
    assert address.repository() == settings["repository"]["url"]
    owner, name = address.repository().split("/")[-2:]
    assert address.site() == f"https://{owner}.github.io/{name}/"


def test_a_fork_s_addresses_lead_to_the_fork(in_a_fork):
    assert address.repository() == "https://github.com/Reader/my-fork"
    assert address.site() == "https://reader.github.io/my-fork/"
    assert address.package() == "git+https://github.com/Reader/my-fork@0123abc"
    assert address.source("book/index") == "https://github.com/Reader/my-fork/blob/main/book/index.md?plain=1"
    assert address.colab("book/kernel_regime/model") == (
        "https://colab.research.google.com/github/Reader/my-fork/blob/notebooks/kernel_regime/model.ipynb"
    )


def test_notebooks_with_solutions_stand_in_a_folder_of_their_own(in_a_fork):
    assert address.notebook("book/kernel_regime/model") == "kernel_regime/model.ipynb"
    assert address.notebook("book/kernel_regime/model", True) == "solutions/kernel_regime/model.ipynb"
    assert address.colab("book/kernel_regime/model", solutions=True) == (
        "https://colab.research.google.com/github/Reader/my-fork/blob/notebooks/solutions/kernel_regime/model.ipynb"
    )


def test_what_is_built_for_a_tag_leads_to_it_and_installs_it(in_a_fork, monkeypatch):
    monkeypatch.setenv("GITHUB_REF_TYPE", "tag")
    monkeypatch.setenv("GITHUB_REF_NAME", "v1.2.3")
    assert address.package() == "git+https://github.com/Reader/my-fork@v1.2.3"
    assert address.source("book/index") == "https://github.com/Reader/my-fork/blob/v1.2.3/book/index.md?plain=1"  # fmt: skip
    assert address.colab("book/index").endswith("/Reader/my-fork/blob/notebooks-v1.2.3/index.ipynb")


def test_outside_github_a_tag_at_this_commit_counts_and_else_the_branch(at_home, monkeypatch, tmp_path):
    git = lambda *command: subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b.c", *command], cwd=tmp_path, check=True)  # fmt: skip
    monkeypatch.setattr(address, "ROOT", tmp_path)
    assert address.revision() == address.branch()  # no repository
    git("init", "--quiet")
    git("commit", "--quiet", "--allow-empty", "--message", "First")
    assert address.package() == f"git+{address.repository()}@{address.branch()}"
    git("tag", "v0.1.0")
    assert address.package() == f"git+{address.repository()}@v0.1.0"
    git("commit", "--quiet", "--allow-empty", "--message", "Second")
    assert address.revision() == address.branch()
    monkeypatch.setenv("PATH", "")  # no git
    assert address.tag() == ""


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

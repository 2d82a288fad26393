"""The site is rebuilt as a whole unless only the text or the outputs of single pages have changed, or nothing has."""

import shutil
import subprocess
from types import SimpleNamespace

import pytest

from bookext import address, build

PAGE = (
    "# Title\n\nText.\n\n:::{prf:lemma} A lemma\n:label: kr-lemma-1\n\nIt holds.\n:::\n\n$$\nx\n$$ (eq-x)\n\n"
    ":::{prf:proof}\nBy {prf:ref}`Fact 1 <kr-fact-1>` and [that](#kr-fact-2).\n:::\n"
)
FILES = {
    "_config.yml": "title: A",
    "_toc.yml": "root: book/index",
    "book/index.md": PAGE,
    "book/_ext/bookext/one.py": "x = 1",
    "book/_static/book.css": "a {}",
    "results/ledger.json": "[]",
}


@pytest.fixture
def repository(tmp_path, monkeypatch):
    """A tiny repository that has been built, and the commands with which it was."""
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    for folder in ("_build/html", "_build/.doctrees/book"):
        (tmp_path / folder).mkdir(parents=True)
    monkeypatch.setattr(build, "ROOT", tmp_path)
    monkeypatch.setattr(build, "STAMP", tmp_path / "_build/.stamp")
    monkeypatch.setattr(build, "DONE", tmp_path / "_build/.done")
    monkeypatch.setattr(build, "BUILT", tmp_path / "_build")
    monkeypatch.setattr(build, "pages", lambda: [tmp_path / "book/index.md"])
    asked, status, git = [], [0], subprocess.run

    def run(command, cwd=None, **how):
        if command[0] == "git":
            return git(command, cwd=cwd, **how)
        asked.append("--all" in command)
        for name in ("_build/html/index.html", "_build/.doctrees/book/index.doctree"):
            (cwd / name).write_text("built")
        return SimpleNamespace(returncode=status[0])

    monkeypatch.setattr(build.subprocess, "run", run)
    assert build.main() == 0
    return SimpleNamespace(root=tmp_path, asked=asked, status=status)


@pytest.mark.parametrize(
    ("name", "old", "new", "whole"),
    [
        ("book/index.md", "Text.", "Other text.", False),
        ("book/index.md", "It holds.", "It does hold.", False),
        ("book/index.md", "# Title", "# Another title", True),
        ("book/index.md", "A lemma", "Another lemma", True),
        ("book/index.md", "kr-lemma-1", "kr-lemma-2", True),
        ("book/index.md", "(eq-x)", "(eq-y)", True),
        ("book/index.md", "kr-fact-1", "kr-fact-3", True),
        ("book/index.md", "kr-fact-2", "kr-fact-3", True),
        ("_config.yml", "A", "B", True),
        ("_toc.yml", "index", "other", True),
        ("book/_ext/bookext/one.py", "1", "2", True),
        ("book/_static/book.css", "a", "b", True),
        ("results/ledger.json", "[]", "[1]", True),
    ],
)
def test_a_change_that_other_pages_may_show_rebuilds_them_all(repository, name, old, new, whole):
    path = repository.root / name
    path.write_text(path.read_text().replace(old, new))
    build.main()
    assert repository.asked == [True, whole]


def test_where_nothing_has_changed_nothing_is_built(repository):
    build.main()
    assert repository.asked == [True]
    (repository.root / "_build/.doctrees/book/index.doctree").unlink()  # its outputs have
    build.main()
    assert repository.asked == [True, False]
    (repository.root / "_build/html/index.html").write_text("damaged")
    build.main()
    assert repository.asked == [True, False, False]


@pytest.mark.skipif(not shutil.which("git"), reason="needs git")
def test_a_commit_and_a_tag_are_changes(repository, monkeypatch):
    monkeypatch.setattr(address, "ROOT", repository.root)
    git = ("git", "-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false", "-C", repository.root)  # fmt: skip
    for command in "init -q", "add book", "commit -q -m Page":
        subprocess.run([*git, *command.split()], check=True)
    build.main()
    assert repository.asked == [True, False]
    subprocess.run([*git, "tag", "v9.9.9"], check=True)
    build.main()
    assert repository.asked == [True, False, False]


def test_after_a_failure_all_is_built_again(repository):
    page = repository.root / "book/index.md"
    page.write_text(page.read_text() + "More.")
    repository.status[0] = 1
    assert build.main() == 1
    repository.status[0] = 0
    assert build.main() == 0
    assert repository.asked == [True, False, True]


def test_a_site_that_is_gone_is_built_as_a_whole(repository):
    (repository.root / "_build/html/index.html").unlink()
    build.main()
    assert repository.asked == [True, True]


def test_nothing_is_left_of_an_old_site_but_pictures(repository):
    for name in ("_images/a.png", "book/old.html", "old.html"):
        (repository.root / "_build/html" / name).parent.mkdir(parents=True, exist_ok=True)
        (repository.root / "_build/html" / name).write_text("old")
    build.clear(repository.root / "_build/html")
    assert [path.name for path in (repository.root / "_build/html").rglob("*.*")] == ["a.png"]

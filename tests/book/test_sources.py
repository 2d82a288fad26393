"""The sources are clean, and the code of chapters fits a narrow column."""

import re
import subprocess
import sys

import pytest

from bookext.chapters import ROOT, chapters, code, docname

RUFF = [sys.executable, "-m", "ruff"]


@pytest.mark.parametrize("arguments", [["check"], ["format", "--check"]], ids=" ".join)
def test_the_sources_are_clean(arguments):
    run = subprocess.run([*RUFF, *arguments, "."], cwd=ROOT, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr


def test_rooms_import_what_their_contracts_allow():
    lint = [sys.executable, "-c", "import sys, importlinter.cli; sys.exit(importlinter.cli.lint_imports())"]
    run = subprocess.run(lint, cwd=ROOT, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr


@pytest.fixture(scope="module")
def formatted(tmp_path_factory):
    """The code of every chapter, formatted for a narrow column in one run."""
    folder = tmp_path_factory.mktemp("cells")
    for path in chapters():
        (folder / docname(path)).mkdir(parents=True)
        for number, source in enumerate(map(str.strip, code(path))):
            (folder / docname(path) / f"{number}.py").write_text(source + "\n", encoding="utf-8")
    command = [*RUFF, "format", "--quiet", "--isolated", "--line-length", "88", "--target-version", "py311", str(folder)]  # fmt: skip
    subprocess.run(command, check=True, capture_output=True, text=True)
    return folder


@pytest.mark.parametrize("path", chapters(), ids=docname)
def test_the_code_of_a_chapter_is_formatted_for_a_narrow_column(formatted, path):
    for number, source in enumerate(map(str.strip, code(path))):
        assert (formatted / docname(path) / f"{number}.py").read_text(encoding="utf-8").strip() == source


def test_nothing_is_said_of_how_the_book_was_made():
    words = re.compile(
        r"/(?:wo|ro)(?:rk|ot)/|" + "|".join(["pythonhosted", "lang" + "uage model", "A" + "I agent"])
    )
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True).stdout.split()
    found = [name for name in tracked if name.endswith((".md", ".py", ".yml", ".toml", ".txt", ".cff", ".json")) and words.search((ROOT / name).read_text(encoding="utf-8"))]  # fmt: skip
    assert [name for name in found if name != "tests/book/test_sources.py"] == []

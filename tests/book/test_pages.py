"""Pages, README and sources say what is true: identifiers exist, commands exist, code is formatted, figures speak."""

import functools
import importlib
import re
import subprocess
import sys

import pytest

from bookext.chapters import ROOT, chapters, pages, read_notebook, statements
from shallowformer.experiments import sweep

RUFF = [sys.executable, "-m", "ruff"]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def identifiers() -> list[str]:
    table = (ROOT / "book/notation.md").read_text(encoding="utf-8").split("## What the other papers")[0]
    cells = [line.split("|")[2] for line in table.splitlines() if line.startswith("| $")]
    return sorted({name for cell in cells for name in re.findall(r"`([^`]+)`", cell)})


def _module(name: str):
    try:
        return importlib.import_module(f"shallowformer.{name}")
    except ModuleNotFoundError:
        return importlib.import_module(f"shallowformer.kernel_regime.{name}")


def resolves(name: str) -> bool:
    parts = name.split(".")
    for cut in range(len(parts), 0, -1):
        try:
            found = _module(".".join(parts[:cut]))
        except ModuleNotFoundError:
            continue
        rest = parts[cut:]
        *owners, last = rest or [""]
        found = functools.reduce(getattr, owners, found)
        return not last or hasattr(found, last) or last in getattr(found, "__dataclass_fields__", {})
    return False


def test_the_notation_table_names_identifiers():
    assert len(identifiers()) > 20


@pytest.mark.parametrize("name", identifiers())
def test_an_identifier_of_the_notation_table_exists(name):
    assert resolves(name)


def test_a_wrong_identifier_would_be_noticed():
    assert not resolves("softmax.no_such_function")
    assert not resolves("parameters.Parameters.no_such_block")


def test_the_commands_of_the_readme_exist():
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    named = set(re.findall(r"\bmake ([a-z-]+)", README))
    assert {"book", "test"} <= named <= targets


def test_the_files_that_the_readme_names_exist():
    paths = re.findall(
        r"`((?:book|lib|tests|results|bench|_|requirements|pyproject|CITATION|LICENSE)[\w./-]*)`", README
    )
    missing = [
        path
        for path in paths
        if not (ROOT / path).exists() and "my_chapter" not in path and not path.startswith("_build")
    ]
    assert len(paths) > 10
    assert missing == []
    assert (ROOT / "book/_static/teaser.svg").exists()


def test_the_examples_of_the_readme_run(capsys, tmp_path):
    claim, own = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    exec(compile(claim, "README.md", "exec"), {})
    assert "✓ my-claim" in capsys.readouterr().out
    exec(compile(own, "README.md", "exec"), names := {})
    assert sweep.run(names["EXPERIMENT"], "smoke", tmp_path).computed == 3


@pytest.mark.parametrize("arguments", [["check"], ["format", "--check"]], ids=" ".join)
def test_the_sources_are_clean(arguments):
    run = subprocess.run([*RUFF, *arguments, "."], cwd=ROOT, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr


@pytest.mark.parametrize("path", chapters(), ids=lambda path: path.stem)
def test_the_code_of_a_chapter_is_formatted_for_a_narrow_column(path):
    for cell in read_notebook(path).cells:
        if cell.cell_type == "code":
            run = subprocess.run(
                [*RUFF, "format", "--line-length", "88", "--stdin-filename", "cell.py", "-"],
                input=cell.source + "\n", capture_output=True, text=True, check=True,
            )  # fmt: skip
            assert run.stdout.strip() == cell.source.strip()


@pytest.mark.parametrize("path", chapters(), ids=lambda path: path.stem)
def test_every_figure_has_a_caption_and_an_alternative_text(path):
    for cell in read_notebook(path).cells:
        if cell.cell_type == "code" and "plt.show()" in cell.source:
            settings = cell.metadata["mystnb"]
            assert len(settings["image"]["alt"]) > 40
            assert len(settings["figure"]["caption"]) > 40


def test_every_statement_is_titled_by_its_number():
    for label, statement in statements().items():
        assert re.match(
            r"(Fact|Lemma|Remarks?|Theorem|Proposition|Corollary|Definition|A finite) ", statement["title"]
        ), label


def test_nothing_is_said_of_how_the_book_was_made():
    words = re.compile(
        r"/(?:wo|ro)(?:rk|ot)/|" + "|".join(["pythonhosted", "lang" + "uage model", "A" + "I agent"])
    )
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True).stdout.split()
    found = [name for name in tracked if name.endswith((".md", ".py", ".yml", ".toml", ".txt", ".cff", ".json")) and words.search((ROOT / name).read_text(encoding="utf-8"))]  # fmt: skip
    assert [name for name in found if name != "tests/book/test_pages.py"] == []


def test_every_page_is_reached_from_the_table_of_contents():
    on_disk = {
        path
        for path in (ROOT / "book").rglob("*.md")
        if not any(part.startswith("_") for part in path.relative_to(ROOT).parts)
    }
    assert on_disk == set(pages())

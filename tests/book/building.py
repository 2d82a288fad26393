"""Build the site from a copy of the repository with one more chapter, made from the template."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from bookext.chapters import ROOT, pages

LEFT_OUT = shutil.ignore_patterns(
    ".git", ".venv", "html", "tests", "__pycache__", ".pytest_cache", ".ruff_cache", "*.egg-info"
)
CHAPTER = "book/kernel_regime/from_template"
SITE = "_build/html"

#: Every page of the built copy, without suffix.
BOOK_PAGES = [*(path.relative_to(ROOT).with_suffix("").as_posix() for path in pages()), CHAPTER]
ALL_PAGES = [*BOOK_PAGES, "index", "search", "404"]


def python(root: Path, *arguments: str) -> subprocess.CompletedProcess:
    environment = {**os.environ, "PYTHONPATH": str(root / "book/_ext")}
    return subprocess.run(
        [sys.executable, *arguments], cwd=root, env=environment, capture_output=True, text=True
    )


def add_chapter(root: Path, text: str) -> None:
    (root / f"{CHAPTER}.md").write_text(text, encoding="utf-8")
    toc = root / "_toc.yml"
    toc.write_text(toc.read_text().replace("      - file: book/kernel_regime/gradients\n",
                                           f"      - file: book/kernel_regime/gradients\n      - file: {CHAPTER}\n"))  # fmt: skip


def copy_and_build(root: Path) -> None:
    """Copy the repository with what has been executed so far, add the chapter, execute what is stale, build."""
    shutil.copytree(ROOT, root, ignore=LEFT_OUT)
    add_chapter(root, (ROOT / "book/_template.md").read_text(encoding="utf-8"))
    executed = python(root, "-m", "bookext.execute", "--jobs", "2")
    assert executed.returncode == 0, executed.stdout + executed.stderr
    built = subprocess.run([str(Path(sys.executable).with_name("jupyter-book")), "build", ".", "-n", "-W", "--keep-going"], cwd=root,
                           env={**os.environ, "PYTHONPATH": str(root / "book/_ext")}, capture_output=True, text=True)  # fmt: skip
    assert built.returncode == 0, built.stdout[-3000:] + built.stderr[-3000:]
    assert "Executing notebook" not in built.stdout + built.stderr, (
        "the builder does not find what has been executed"
    )

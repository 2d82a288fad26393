"""Run ``otter assign`` on a source, and lay out what students and what instructors get."""

import ast
import contextlib
import json
import shutil
import tempfile
import zipfile
from pathlib import Path

import nbformat

from bookext.chapters import ROOT
from bookext.course import master, questions
from bookext.markup import MarkupError
from bookext.notebooks import _name
from bookext.release import zipped

OUT = ROOT / "_build/course"

TESTS_CELL = """\
# @title Then this: it holds the tests that you can see
import pathlib

import otter

tests = pathlib.Path("tests-{name}")
tests.mkdir(exist_ok=True)
for question, source in {sources}.items():
    (tests / f"{{question}}.py").write_text(source, encoding="utf-8")
grader = otter.Notebook(tests_dir=str(tests))
del pathlib, tests, question, source"""


def make(path: Path, out: Path = OUT, label: str | None = None) -> Path:
    """Make one assignment below a folder, for a class (None: the source's). Returns: the instructor's folder of it."""
    name = path.stem
    notebook = master.read(path, label)
    marked = questions.take_apart(notebook, path)
    folder, student = out / "instructor" / name, out / "student"
    with tempfile.TemporaryDirectory() as scratch:
        made = _otter(notebook, name, Path(scratch))
        shutil.rmtree(folder, ignore_errors=True)  # not before: what is there stays if otter refuses
        folder.mkdir(parents=True)
        student.mkdir(parents=True, exist_ok=True)
        visible = {t.stem: t.read_text("utf-8") for t in sorted((made / "student/tests").glob("*.py"))}
        _write(made / f"student/{name}.ipynb", student / f"{name}.ipynb", name, visible)
        _write(made / f"autograder/{name}.ipynb", folder / f"{name}.ipynb", name, visible)
        (folder / "tests").mkdir()
        for test in sorted((made / "autograder/tests").glob("*.py")):
            (folder / "tests" / test.name).write_text(test.read_text("utf-8"), encoding="utf-8")
        (archive,) = (made / "autograder").glob("*.zip")
        with zipfile.ZipFile(archive) as old:  # written again without the days of its files
            files = {each: old.read(each) for each in sorted(old.namelist())}
        zipped(files, folder / f"{name}-autograder.zip")
    rows = [question.row for question in marked.questions]
    (folder / "questions.json").write_text(json.dumps(rows, indent=1, ensure_ascii=False) + "\n", "utf-8")
    (folder / "rubric.md").write_text(questions.rubrics(name, marked.questions), "utf-8")
    if found := leaks((student / f"{name}.ipynb"), marked.secrets):
        (student / f"{name}.ipynb").unlink()
        raise MarkupError(f"{path.name}: students would see {found[0]!r}")
    return folder


def points(folder: Path) -> float:
    """What an assignment is worth, by the instructor's folder of it: the points of all its questions."""
    return sum(each["points"] for each in json.loads((folder / "questions.json").read_text("utf-8")))


def _otter(notebook: nbformat.NotebookNode, name: str, scratch: Path) -> Path:
    """Run ``otter assign``; the folder it wrote."""
    from otter.assign import main as otter_assign  # it loads pandas: only when needed

    _name(notebook.cells)
    nbformat.write(notebook, scratch / f"{name}.ipynb")
    otter_assign(str(scratch / f"{name}.ipynb"), str(scratch / "made"), no_pdfs=True, no_run_tests=True)
    return scratch / "made"


def _write(source: Path, target: Path, name: str, tests: dict[str, str]) -> None:
    """Write a notebook with its visible tests inside, the same bytes on every run."""
    notebook = nbformat.read(source, as_version=4)
    (cell,) = (cell for cell in notebook.cells if cell.source == master.TESTS_HERE)
    if tests:
        listed = "".join(f"    {question!r}: {text!r},\n" for question, text in tests.items())
        cell.source = TESTS_CELL.format(name=name, sources="{\n" + listed + "}")
    else:
        notebook.cells.remove(cell)
    notebook.metadata.pop("otter", None)
    _name(notebook.cells)
    nbformat.write(notebook, target)


def leaks(notebook: Path, secrets: list[str]) -> list[str]:
    """What a student's notebook shows of what it must not show: pieces of solutions and of hidden tests, and marks of the source."""
    texts = []
    for cell in nbformat.read(notebook, as_version=4).cells:
        texts.append(cell.source)
        # A cell with magics is no Python; the tests stand in strings of one without.
        with contextlib.suppress(SyntaxError):
            nodes = ast.walk(ast.parse(cell.source)) if cell.cell_type == "code" else ()
            texts += [n.value for n in nodes if isinstance(n, ast.Constant) and isinstance(n.value, str)]
    text = "\n".join(texts)
    marks = ["# SOLUTION", "BEGIN SOLUTION", "# HIDDEN", "hidden=True", "**Rubric**", "BEGIN QUESTION\n"]
    return [secret for secret in [*marks, *secrets] if secret in text]


def pack_students(out: Path = OUT) -> Path:
    """Put the students' notebooks into one zip."""
    target = out / "student/assignments.zip"
    zipped({path.name: path.read_bytes() for path in sorted((out / "student").glob("*.ipynb"))}, target)
    return target

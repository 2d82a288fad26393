"""An assignment's marked source → the notebook that ``otter assign`` reads."""

import re
from pathlib import Path

import nbformat
import yaml
from nbformat.v4 import new_code_cell, new_markdown_cell, new_raw_cell

from bookext import address
from bookext.chapters import ROOT, read_notebook
from bookext.markup import MarkupError, settings
from bookext.notebooks import INSTALL, in_python
from bookext.notebooks.markdown import Flattener

SOURCES = ROOT / "book/course/assignments"
#: What stands in the cell of the tests until they are known.
TESTS_HERE = "# the visible tests"

INSTALL_OTTER = """
try:
    import otter
except ModuleNotFoundError:
    %pip install --quiet otter-grader
    import otter"""

HOW_TO = """\
*An assignment of the course to* [{title}]({site})*.* Class: {label}.

{checks} Text goes into the cells below a question; write formulas between dollar signs.

Hand in this notebook (`.ipynb`). It is run from top to bottom, each cell for at most a minute, without a network, without other files,
and without the checks of the book's exercises. Linear algebra, probability and PyTorch are taken for granted."""

CHECKS = """\
Run the two cells below first. `grader.check("{question}")` tries your answer to a question: it says what is wrong where it can, and it
does not say everything: further cases are tried when the notebook is graded. Keep the names that a question gives you."""

NO_CHECKS = "Run the cell below first. What you hand in is read and marked by hand."


def find(assignment: str) -> Path:
    """Where the source of an assignment is, by its name, for example ``ps1``, or by a path to a ``.md``."""
    path = Path(assignment) if assignment.endswith(".md") else SOURCES / f"{assignment}.md"
    if not path.exists():
        known = ", ".join(sorted(each.stem for each in SOURCES.glob("*.md"))) or "none"
        raise FileNotFoundError(f"there is no assignment {assignment} ({path}); known: {known}")
    return path.resolve()


def read(path: Path, label: str | None = None) -> nbformat.NotebookNode:
    """Read a source.

    Returns: the notebook for ``otter assign``: flat Markdown, our settings, cells that install and that will hold the tests.
    """
    # links are those of a source in its place, wherever this one lies
    place = path if path.is_relative_to(ROOT) else SOURCES / path.name
    flattener = Flattener(place)
    source = read_notebook(path)
    label = _set_class(source, path, label)
    cells = []
    for cell, line in zip(source.cells, source.metadata["source_map"], strict=True):
        if cell.cell_type == "markdown":
            cells.append(new_markdown_cell(flattener.text(cell.source, line)))
        elif cell.cell_type == "raw":
            cells.append(new_raw_cell(cell.source))
        else:
            cells.append(new_code_cell(_with_class(cell.source, label)))
    config = next((cell for cell in cells if _is_config(cell)), None)
    given = {}
    if config:
        cells.remove(config)
        given = yaml.safe_load(config.source) or {}
    how_to = HOW_TO.format(title=settings()["title"], site=address.site(), label=label, checks=_checks(cells))
    folded = {"cellView": "form", "jupyter": {"source_hidden": True}}
    cells = [
        new_raw_cell("# ASSIGNMENT CONFIG\n" + yaml.safe_dump(_config(given), sort_keys=True)),
        cells[0],
        new_markdown_cell(how_to),
        new_code_cell(INSTALL.format(source=address.package()) + INSTALL_OTTER, metadata=folded),
        new_code_cell(TESTS_HERE, metadata=dict(folded)),
        *cells[1:],
    ]
    return in_python(cells)


def _checks(cells: list[nbformat.NotebookNode]) -> str:
    """How answers are checked: with the name of the first question that has tests."""
    name = ""
    for cell in cells:
        if cell.cell_type == "raw" and (found := re.search(r"^name:\s*(\S+)", cell.source, re.MULTILINE)):
            name = found[1]
        elif cell.cell_type == "raw" and re.match(r"#\s*BEGIN TESTS", cell.source, re.IGNORECASE):
            return CHECKS.format(question=name)
    return NO_CHECKS


def _with_class(source: str, label: str) -> str:
    """A test that takes ``CLASS`` gets the class that the notebook was made for, whatever the student's notebook says."""

    def fix(match: re.Match) -> str:
        names = [name.strip() for name in match[2].split(",")]
        if "CLASS" not in names:
            return match[0]
        names.remove("CLASS")
        return f"def {match[1]}({', '.join(names)}):\n    CLASS = {_literal(label)}"

    return re.sub(r"^def (test\w*)\(([^()]*)\):", fix, source, flags=re.MULTILINE)


def _literal(label: str) -> str:
    return str(int(label)) if label.isdecimal() else repr(label)


def _is_config(cell: nbformat.NotebookNode) -> bool:
    return cell.cell_type == "raw" and bool(
        re.match(r"#\s*(ASSIGNMENT CONFIG|BEGIN ASSIGNMENT)", cell.source, re.IGNORECASE)
    )


def _config(given: dict) -> dict:
    """Otter's settings: the source's, and those that this tool relies on."""
    ours = {
        "init_cell": False,
        "export_cell": False,
        "check_all_cell": False,
        "solutions_pdf": False,
        "run_tests": False,  # on demand, on the finished notebook: `assign.check`
        "tests": {"files": True, "ok_format": False},
    }
    wanted = {"show_question_points": True, "requirements": [address.package()], "python_version": "3.12"}
    # otter would look for it in the metadata of submissions, which not every editor keeps
    given.pop("name", None)
    return {**wanted, "generate": {"show_hidden": False}, **given, **ours}


def _set_class(source: nbformat.NotebookNode, path: Path, label: str | None) -> str:
    """Put the class into the one line that names it, and return it."""
    if not source.cells or not source.cells[0].source.startswith("# "):
        raise MarkupError(f"{path.name}: the first cell is not a title")
    line = re.compile(r"^CLASS = (.+?)\s*$", re.MULTILINE)
    places = [cell for cell in source.cells if cell.cell_type == "code" for _ in line.finditer(cell.source)]
    if len(places) != 1:
        raise MarkupError(f"{path.name}: the line CLASS = … stands in it {len(places)} times, not once")
    (place,) = places
    if label is not None:
        value = f"CLASS = {_literal(label)}"
        place.source = line.sub(lambda _: value, place.source)
    return line.search(place.source)[1].strip("\"'")

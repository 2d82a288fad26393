"""Every assignment of the course: 100 points, solutions that score everything, wrong answers that lose exactly what they get wrong.

``wrong/ps1.py`` lists for each question the likeliest wrong answers, ``WRONG = {"q1": [("the sign is lost", 10, "def f(x): …")]}``:
what it is, the points it loses, the code in place of the solution. The first assignment is in the default run, all in ``test-all``.
"""

import importlib.util
import json
from pathlib import Path

import nbformat
import pytest

from bookext.course import assign, grading, master
from bookext.course.process import Limits, Nursery

NAMES = sorted(path.stem for path in master.SOURCES.glob("*.md"))
DEFAULT = ("ps1",)
LIMITS = Limits(cell=180, call=60, question=300, submission=900)  # of a busy machine

every_assignment = pytest.mark.parametrize(
    "name", [name if name in DEFAULT else pytest.param(name, marks=pytest.mark.thorough) for name in NAMES]
)


def wrong(name: str) -> dict:
    """The wrong answers of an assignment; none for one without tests."""
    path = Path(__file__).parent / "wrong" / f"{name}.py"
    if not path.exists():
        return {}
    spec = importlib.util.spec_from_file_location(f"wrong_{name}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.WRONG


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The instructor's folder of an assignment, made when it is asked for."""
    out, folders = tmp_path_factory.mktemp("assignments"), {}

    def make(name: str) -> Path:
        if name not in folders:
            folders[name] = assign.make(master.find(name), out)
        return folders[name]

    return make


@pytest.fixture(scope="module")
def processes():
    with Nursery() as started:
        yield started


def questions(folder: Path) -> list[dict]:
    return json.loads((folder / "questions.json").read_text("utf-8"))


def answer_cells(cells: list) -> dict[str, list]:
    """Question → the cells of its answer, those that carry otter's mark of a solution before its check; "" for those by hand."""
    found, waiting = {"": []}, []
    for cell in cells:
        if "otter_assign_solution_cell" in cell.metadata.get("tags", ()) and cell.cell_type == "code":
            waiting.append(cell)
        elif cell.source.startswith("grader.check("):
            found[cell.source.split('"')[1]], waiting = waiting, []
        elif "<!-- END QUESTION" in cell.source:
            found[""], waiting = found[""] + waiting, []
    return found


@every_assignment
def test_points_add_up_to_a_hundred_and_some_are_by_hand(name, made):
    rows = questions(made(name))
    assert sum(row["points"] for row in rows) == 100
    assert any(row["manual"] for row in rows)


@every_assignment
def test_the_solutions_score_everything_without_a_remark(name, made, processes):
    folder = made(name)
    marks = grading.grade(folder, folder / f"{name}.ipynb", processes, limits=LIMITS)
    wanted = {row["name"]: row["points"] for row in questions(folder) if not row["manual"]}
    assert marks.points == wanted, marks.feedback
    assert marks.remarks == []


@every_assignment
def test_an_untouched_notebook_scores_nothing(name, made, processes):
    folder = made(name)
    marks = grading.grade(folder, folder.parents[1] / f"student/{name}.ipynb", processes, limits=LIMITS)
    assert {question: points for question, points in marks.points.items() if points} == {}


@every_assignment
def test_every_question_that_tests_grade_has_two_wrong_answers(name, made):
    few = [row["name"] for row in questions(made(name)) if not row["manual"] and len(wrong(name).get(row["name"], ())) < 2]  # fmt: skip
    assert few == []


@pytest.mark.parametrize(
    ("name", "question", "number"),
    [
        pytest.param(name, question, number, id=f"{name}-{question}-{what}", marks=() if name in DEFAULT else pytest.mark.thorough)
        for name in NAMES
        for question, answers in wrong(name).items()
        for number, (what, _, _) in enumerate(answers)
    ],
)  # fmt: skip
def test_a_wrong_answer_loses_exactly_its_points(name, question, number, made, processes, tmp_path):
    folder = made(name)
    _, lost, code = wrong(name)[question][number]
    notebook = nbformat.read(folder / f"{name}.ipynb", as_version=4)
    cells = answer_cells(notebook.cells)
    first, *others = cells[question]
    first.source = code
    # experiments take their time, and no test sees them
    others += cells[""]
    notebook.cells = [cell for cell in notebook.cells if not any(cell is other for other in others)]
    nbformat.write(notebook, tmp_path / "wrong.ipynb")
    marks = grading.grade(folder, tmp_path / "wrong.ipynb", processes, limits=LIMITS)
    (row,) = (row for row in questions(folder) if row["name"] == question)
    assert row["points"] - marks.points[question] == pytest.approx(lost), marks.feedback

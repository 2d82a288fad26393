"""From a source to notebooks: what students get works alone and tells nothing; the same source gives the same bytes."""

import json
import runpy
import sys
import zipfile

import nbformat
import pytest
from nbclient import NotebookClient
from submissions import FIXTURE

from bookext.chapters import ROOT
from bookext.course import assign, check, master
from bookext.markup import MarkupError

#: Of the fixture: pieces of its solutions, its hidden tests and its rubric.
SECRETS = ("logits.max()", "number ** 2", "secretly", "case_that_nobody_knows", "Each weight is a positive number", "Rubric",
           "same denominator", "SOLUTION", "HIDDEN", "hidden=True")  # fmt: skip


def cells(path):
    return nbformat.read(path, as_version=4).cells


def test_students_get_no_solution_no_hidden_test_and_no_rubric(course):
    for path in (course / "student").rglob("*"):
        texts = zipfile.ZipFile(path).read("fixture.ipynb").decode() if path.suffix == ".zip" else path.read_text("utf-8")  # fmt: skip
        assert [secret for secret in SECRETS if secret in texts] == []


def test_the_secrets_are_in_the_source_and_with_the_instructor(course):
    texts = "".join(p.read_text("utf-8") for p in (course / "instructor").rglob("*") if p.suffix in (".py", ".ipynb", ".md"))  # fmt: skip
    assert [secret for secret in SECRETS[:7] if secret not in texts] == []


def test_there_is_what_an_instructor_needs(course):
    found = {path.relative_to(course).as_posix() for path in course.rglob("*") if path.is_file()}
    assert found == {
        "student/fixture.ipynb", "student/assignments.zip", "instructor/fixture/fixture.ipynb",
        "instructor/fixture/fixture-autograder.zip", "instructor/fixture/questions.json", "instructor/fixture/rubric.md",
        "instructor/fixture/tests/q1.py", "instructor/fixture/tests/q2.py",
    }  # fmt: skip
    archive = zipfile.ZipFile(course / "instructor/fixture/fixture-autograder.zip")
    assert {"run_autograder", "setup.sh", "tests/q1.py", "tests/q2.py"} <= set(archive.namelist())
    assert "secretly" in archive.read("tests/q1.py").decode()


def test_points_and_rubric(course):
    questions = json.loads((course / "instructor/fixture/questions.json").read_text("utf-8"))
    assert [(q["name"], q["points"], q["manual"]) for q in questions] == [("q1", 30, False), ("q2", 20, False), ("q3", 50, True)]  # fmt: skip
    rubric = (course / "instructor/fixture/rubric.md").read_text("utf-8")
    assert "| 20 | each weight is a quotient with the same denominator, which is not zero |" in rubric
    assert "| in all | 100 | 50 by hand |" in rubric


def contents(folder):
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_the_same_source_gives_the_same_bytes(course, tmp_path):
    assign.make(FIXTURE, tmp_path)
    assign.pack_students(tmp_path)
    assert contents(tmp_path) == contents(course)


def test_a_class_changes_the_parameters_and_the_tests(course, tmp_path):
    assign.make(FIXTURE, tmp_path, "autumn")
    assert "CLASS = 'autumn'" in "\n".join(cell.source for cell in cells(tmp_path / "student/fixture.ipynb"))
    assert "CLASS = 'autumn'" in (tmp_path / "instructor/fixture/tests/q2.py").read_text("utf-8")
    assert "CLASS = 2026" in (course / "instructor/fixture/tests/q2.py").read_text("utf-8")


def test_a_student_s_notebook_checks_answers_where_only_it_was_opened(course, tmp_path, monkeypatch):
    """In a folder of its own, and otter takes it for Colab: a stub, a wrong and a right answer."""
    monkeypatch.chdir(tmp_path)
    notebook = nbformat.read(course / "student/fixture.ipynb", as_version=4)
    (answer,) = (cell for cell in notebook.cells if cell.source.startswith("def weights"))
    place = notebook.cells.index(answer)
    again = []
    for body in ("logits.exp()", "torch.softmax(logits, -1)"):
        again += [
            nbformat.v4.new_code_cell(f"def weights(logits): return {body}"),
            nbformat.v4.new_code_cell('grader.check("q1")'),
        ]
    notebook.cells[place + 2 : place + 2] = again
    colab = (
        "from otter.check import utils\nutils.IPythonInterpreter.COLAB.value.check_strs.append('ipykernel')"
    )
    notebook.cells.insert(0, nbformat.v4.new_code_cell(colab))
    NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
    said = [str(c.outputs[0]["data"]["text/plain"]) for c in notebook.cells if c.cell_type == "code" and 'check("q1")' in c.source]  # fmt: skip
    assert "not yet" in said[0] or "returns nothing yet" in said[0]
    assert "you forgot to divide by the sum" in said[1]
    assert "All test cases passed" in said[2]


@pytest.mark.thorough
def test_otter_s_own_runner_gives_the_solutions_everything(course):
    assert check.by_otter(course / "instructor/fixture") == {"q1": 30, "q2": 20}


BROKEN = {
    "a solution outside": ("number = classes", "answer = 3 # SOLUTION\nnumber = classes", "outside of a solution block"),
    "two tests of one name": ("test_large_logits_secretly", "test_small", "two tests are named test_small"),
    "a rubric that does not add up": ("- 20 points: each", "- 25 points: each", "50 in all"),
    "tests that have more points": ("points: 10\n", "points: 31\n", "its tests have 31 in all"),
    "tests that have fewer points": ("# HIDDEN\ndef test_large", '""" # BEGIN TEST CONFIG\nhidden: true\npoints: 4\n""" # END TEST CONFIG\ndef test_large', "30 points, and its tests have 14 in all"),
    "no rubric": ("**Rubric**", "**Marks**", "Rubric"),
    "a question without points": ("points: 30", "value: 30", "it has no points"),
    "two questions of one name": ("name: q2", "name: q1", "a second question q1"),
    "no class": ("CLASS = 2026", "", "CLASS = … stands in it 0 times"),
    "a block without an end": ("# END QUESTION\n```\n\n```{raw-cell}\n# BEGIN QUESTION\nname: q2", "# BEGIN QUESTION\nname: q2", "begins inside the block QUESTION"),
    "a solution in a visible test": ("    import torch\n\n    from", "    import torch\n\n    shifted = logits - logits.max()\n    return shifted.exp() / shifted.exp().sum()\n    from", "students would see"),
    "a role that nobody knows": ("It goes with", "{nonsense}`x`", "nonsense"),
}  # fmt: skip


@pytest.mark.parametrize("what", BROKEN)
def test_a_source_is_refused_for(what, tmp_path):
    before, after, said = BROKEN[what]
    text = FIXTURE.read_text("utf-8")
    assert before in text
    broken = tmp_path / "broken.md"
    broken.write_text(text.replace(before, after, 1), "utf-8")
    with pytest.raises(MarkupError, match=said):
        assign.make(broken, tmp_path / "out")
    assert not list((tmp_path / "out").rglob("student/*.ipynb"))


def test_what_was_made_stays_where_otter_refuses_the_source(tmp_path, monkeypatch):
    def refuse(*arguments):
        raise ValueError

    assign.make(FIXTURE, tmp_path)
    monkeypatch.setattr(assign, "_otter", refuse)
    with pytest.raises(ValueError):
        assign.make(FIXTURE, tmp_path)
    assert (tmp_path / "instructor/fixture/questions.json").exists()


@pytest.fixture
def command(monkeypatch):
    """``python -m bookext.course`` with these words, in this process."""

    def run(*words):
        monkeypatch.setattr(sys, "argv", ["bookext.course", *map(str, words)])
        runpy.run_module("bookext.course", run_name="__main__")

    return run


def test_the_command_line_names_what_is_missing(command, tmp_path):
    with pytest.raises(SystemExit, match="there is no assignment nonsense"):
        command("make", "nonsense")
    with pytest.raises(SystemExit, match="'make course' makes it"):
        command("grade", "nonsense", tmp_path)


def test_a_set_need_not_have_a_hundred_points(command, tmp_path, capsys):
    """A question was dropped, as the guide says: the solutions are run all the same."""
    start, *questions = FIXTURE.read_text("utf-8").split("```{raw-cell}\n# BEGIN QUESTION\n")
    source = tmp_path / "shorter.md"
    source.write_text("```{raw-cell}\n# BEGIN QUESTION\n".join([start, questions[0], questions[2]]), "utf-8")
    command("make", source, "--out", tmp_path, "--check")
    said = capsys.readouterr().out
    assert "shorter: 80 points in all\n" in said
    assert "the solutions score everything" in said


def test_assignments_are_no_pages_and_the_site_has_none_of_them():
    from bookext.chapters import pages

    assert not [page for page in pages() if master.SOURCES in page.parents]
    site = ROOT / "_build/html"
    if site.exists():
        assert not list(site.rglob("*assignments*"))

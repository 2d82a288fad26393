"""Every chapter of every room has exercises with folded solutions, and a module of checks that it calls."""

import ast
import importlib
import itertools
import re
from pathlib import Path

import pytest
import torch

from bookext.chapters import chapters, docname, leaves, read_notebook
from bookext.markup import ROOT
from companion import exercises

#: Pages below a chapter whose name theirs begins with belong to it.
MAIN = {leaf.page for leaf in leaves() if not leaf.depth}
BELOW = {
    leaf.page for leaf in leaves() if leaf.depth and any(leaf.page.startswith(f"{main}_") for main in MAIN)
}

#: A room's chapters are notebooks in its folder, but for its tour; pages of ``book/`` itself are about the book as a whole.
CHAPTERS = [
    path
    for path in chapters()
    if path.parent != ROOT / "book" and path.stem != "tour" and docname(path) not in BELOW
]


def name(path) -> str:
    return path.relative_to(ROOT / "book").with_suffix("").as_posix().replace("/", ".")


every_chapter = pytest.mark.parametrize("path", CHAPTERS, ids=name)


@every_chapter
def test_a_chapter_has_three_exercises_with_folded_tagged_solutions(path):
    text = path.read_text(encoding="utf-8")
    labels = re.findall(r"^:::\{exercise\}.*\n:label: (\S+)", text, re.MULTILINE)
    assert len(labels) >= 3, (
        "a chapter has three exercises or more: one to derive, one to code, one to explore"
    )
    assert text.count("\n:class-container: solution\n") == len(labels)
    solutions = [cell for cell in read_notebook(path).cells if "solution" in cell.metadata.get("tags", ())]
    assert len(solutions) == len(labels)
    assert all(
        "hide-cell" in cell.metadata["tags"] and "assert feedback.passed" in cell.source for cell in solutions
    )


@every_chapter
def test_the_stubs_on_the_page_are_not_yet_judged(path):
    module = importlib.import_module(f"{exercises.__name__}.{name(path)}")
    stubs = [
        ast.parse(cell.source)
        for cell in read_notebook(path).cells
        if cell.cell_type == "code"
        and "exercises.check_" in cell.source
        and "solution" not in cell.metadata.get("tags", ())
    ]
    assert stubs
    for stub in stubs:
        names = {"exercises": module, "torch": torch}
        exec(compile(ast.Module(stub.body[:-1], []), path.name, "exec"), names)
        feedback = eval(compile(ast.Expression(stub.body[-1].value), path.name, "eval"), names)
        assert feedback.state == "not yet"


@every_chapter
def test_a_chapter_calls_every_check_of_its_module(path):
    module = importlib.import_module(f"{exercises.__name__}.{name(path)}")
    checks = {check for check in vars(module) if check.startswith("check_")}
    assert set(re.findall(r"\bexercises\.(check_\w+)\(", path.read_text(encoding="utf-8"))) == checks


def test_every_module_is_a_chapter_s():
    (folder,) = exercises.__path__
    found = {f"{file.parent.name}.{file.stem}" for file in Path(folder).glob("*/[!_]*.py")}
    assert found == {name(path) for path in CHAPTERS}


@every_chapter
def test_an_exercise_has_a_grade_and_from_two_stars_on_a_rubric_with_points(path):
    text = path.read_text(encoding="utf-8")
    starts = [match.start() for match in re.finditer(r"^:::\{exercise\}", text, re.MULTILINE)]
    for start, end in itertools.pairwise([*starts, len(text)]):
        grade = re.match(r".*\n:label: \S+\n\n(★{1,3}) \(\*to [^*]+, [^*]*(?:minutes|hour)\*\)", text[start:end])  # fmt: skip
        assert grade, text[start : start + 120]
        rubric = re.search(r"\*Rubric:\* (.+)", text[start:end])
        if len(grade[1]) > 1:
            points = re.findall(r"\((\d)(?: points?)?\)", rubric[1])
            assert len(points) >= 2
            assert 3 <= sum(map(int, points)) <= 8

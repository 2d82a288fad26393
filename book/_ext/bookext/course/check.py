"""Does an assignment keep its promises: do its solutions score everything, by otter's own runner and by the grader here?"""

import json
from pathlib import Path

from bookext.course import grading
from bookext.course.process import Nursery


def by_otter(folder: Path) -> dict[str, float]:
    """Grade the solved notebook as Gradescope does, without its container. Returns: question → points."""
    from otter.api import grade_submission  # it loads much: only when needed

    name = folder.name
    archive = str(folder / f"{name}-autograder.zip")
    results = grade_submission(str(folder / f"{name}.ipynb"), archive, quiet=True)
    return {question: float(result.score) for question, result in results.results.items()}


def troubles(folder: Path) -> list[str]:
    """What is wrong with an assignment. Returns: a line each."""
    questions = json.loads((folder / "questions.json").read_text("utf-8"))
    wanted = {each["name"]: float(each["points"]) for each in questions if not each["manual"]}
    found = []
    with Nursery((folder.parents[1],)) as nursery:
        marks = grading.grade(folder, folder / f"{folder.name}.ipynb", nursery)
    found += [f"{folder.name}: the solutions: {remark}" for remark in marks.remarks]
    graders = {"our grader": (marks.points, marks.feedback)}
    if wanted:
        graders["otter"] = (by_otter(folder), {})
    for grader, (points, said) in graders.items():
        found += [
            f"{folder.name}: {name}: {grader} gives {points.get(name, 0):g} points of {most:g}\n{said.get(name, '')}".rstrip()
            for name, most in wanted.items()
            if points.get(name) != most
        ]
    return found

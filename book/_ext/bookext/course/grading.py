"""Grade submitted notebooks without containers.

Every notebook runs in a process of its own (``student``), in an empty folder, with neither tests nor solutions near it. The tests,
visible and hidden, run here, in the grader's process; where they call a student's function, the arguments go over and the value
comes back, as data (``wire``).

**What this defends against.** A submission cannot change what judges it: whatever it does to otter, to ``shallowformer.exercises``
or to any other module, it does to its own process. A cell or a call that raises, loops, exits, crashes, or takes too much memory
costs its question, and the rest is graded: a cell is interrupted, and if it will not stop, the notebook is run again without it; a
call that takes too long is interrupted and costs its test; a question in which a call will not stop or ends the process scores 0. What is printed is thrown away. Values are data, of bounded
size; an object of the student's own class arrives as one that equals nothing. Reading the instructor's folders, the book's sources
and tests, importing what knows answers (``confine.REFUSED``), starting programs and using the network are refused: by Python's
audit hooks everywhere, and on Linux also by the kernel (Landlock), which native code cannot get around. A question whose answer
came from a cell, or a call, that tried to read or import such a thing scores 0, and the table says why.

**What it does not defend against.** It is no container. Where there is no Landlock, native code (``ctypes``) in a submission can do
whatever the grader's user may, so grade submissions of strangers as a user of their own, or in a virtual machine. On macOS memory is
not bounded. It runs on Linux and macOS, not on Windows. A submission sees the arguments that the tests hand over, also the hidden ones,
and may answer known ones from a table: give hidden tests many cases, or random ones. It cannot carry them out: nothing that it
prints or writes is kept, but the text of its own errors is, in the table and the feedback; whether a student may see the feedback is
the instructor's decision. Copied answers are not its business: parameters drawn per class are (``shallowformer.exercises.classes``).
"""

import contextlib
import itertools
import json
import re
import signal
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import nbformat

from bookext.course.process import Limits, Nursery
from bookext.course.runs import Answers, Run, short

LARGEST = 50 * 2**20  # bytes of a submission


@dataclass
class Marks:
    """What a submission earned."""

    submission: str  # name of the notebook, relative to the folder of all
    points: dict[str, float] = field(default_factory=dict)  # question → points, of those that tests grade
    remarks: list[str] = field(default_factory=list)  # what went wrong, one line each
    feedback: dict[str, str] = field(default_factory=dict)  # question → what its visible tests say


def grade(
    folder: Path, submission: Path, nursery: Nursery, name: str = "", limits: Limits | None = None
) -> Marks:
    """Grade one notebook, under a name of its own or the file's. Returns: points of the questions that tests grade, and remarks."""
    limits = limits or Limits()
    marks = Marks(name or submission.stem)
    questions = [
        each for each in json.loads((folder / "questions.json").read_text("utf-8")) if not each["manual"]
    ]
    try:
        cells = _code(submission)
    except Exception as error:
        marks.remarks.append(f"not a notebook that can be read ({type(error).__name__})")
        marks.points = dict.fromkeys((each["name"] for each in questions), 0.0)
        return marks
    remark = lambda text: marks.remarks.append(text) if text not in marks.remarks else None
    solved = folder / f"{folder.name}.ipynb"
    ours, theirs = _classes(_code(solved)) if solved.exists() else set(), _classes(cells)
    if ours and theirs - ours:
        remark(f"made for class {', '.join(sorted(theirs))}, the tests for {', '.join(sorted(ours))}")
    run = Run(nursery, cells, limits, remark)
    try:
        for question in questions:
            earned, said, failed, notes = _question(folder / "tests" / f"{question['name']}.py", run, limits)
            marks.points[question["name"]] = earned
            marks.feedback[question["name"]] = said
            if failed:
                remark(f"{question['name']}: 0, as {failed}")
            for note in () if failed else notes:
                remark(f"{question['name']}: {note}")
    finally:
        run.end()
    return marks


def _question(path: Path, run: Run, limits: Limits) -> tuple[float, str, str, list[str]]:
    """Points, what may be told, why it scores 0 if that is not for its tests, and what else is to be said."""
    from otter.test_files.exception_test import ExceptionTestFile  # it loads much: only when needed

    tests = ExceptionTestFile.from_file(str(path))
    answers = Answers(run)
    try:
        with _at_most(limits.question):
            tests.run(answers)
    except Exception as error:
        answers.failed = (
            answers.failed or f"its tests could not be run ({type(error).__name__}: {short(error)})"
        )
    told = list(answers.notes)
    for result in tests.test_case_results:
        kind = "hidden test" if result.test_case.hidden else "test"
        said = "" if result.passed or result.test_case.hidden else f": {short(_reason(result.message), 800)}"
        told.append(
            f"{kind} ({_points(result.test_case.points)}): {'passed' if result.passed else 'failed'}{said}"
        )
    if answers.failed:
        return 0.0, "\n".join([*told, f"no points: {answers.failed}"]), answers.failed, answers.notes
    return round(float(tests.score), 4), "\n".join(told), "", answers.notes


def _points(points: float) -> str:
    return f"{points:g} point{'' if points == 1 else 's'}"


def _reason(message: str) -> str:
    """What a failed test says, without the line of the test that says it."""
    return message.rpartition("AssertionError: ")[2] or message.splitlines()[-1]


@contextlib.contextmanager
def _at_most(seconds: float) -> Iterator[None]:
    """Raise a TimeoutError where that is possible: a test may wait for what a student's value never becomes."""
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "setitimer"):
        yield
        return

    def over(*_: object) -> None:
        raise TimeoutError(f"more than {seconds:g} s")

    before = signal.signal(signal.SIGALRM, over)
    signal.setitimer(signal.ITIMER_REAL, seconds, 1.0)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _classes(cells: list[str]) -> set[str]:
    """The classes that a notebook says it was made for: one, as a rule."""
    found = (re.findall(r"^CLASS = (.+?)\s*$", cell, re.MULTILINE) for cell in cells)
    return {short(each.strip("\"'"), 40) for each in itertools.chain(*found)}


def _code(path: Path) -> list[str]:
    """The code of a notebook's cells."""
    if path.stat().st_size > LARGEST:
        raise ValueError("too large")
    notebook = nbformat.reads(path.read_text("utf-8"), as_version=4)
    return ["".join(cell.source) for cell in notebook.cells if cell.cell_type == "code"]

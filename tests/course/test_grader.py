"""Submissions that crash, loop, spy, cheat and flood cost the question they answer, and nothing else."""

import os
import signal
import sys
from pathlib import Path

import pytest
import torch
from submissions import submission

from bookext.course import grading, wire
from bookext.course.process import Limits, Nursery

LIMITS = Limits(cell=3, call=1.5, grace=1, question=20, submission=90, memory=2**29)
FULL = {"q1": 30, "q2": 20}
RIGHT = "import torch\ndef weights(logits):\n    return torch.softmax(logits, -1)"


@pytest.fixture
def grade(course, nursery, tmp_path):
    def graded(limits=LIMITS, **answers):
        folder = course / "instructor/fixture"
        path = submission(folder / "fixture.ipynb", tmp_path / "someone.ipynb", **answers)
        return grading.grade(folder, path, nursery, limits=limits)

    return graded


def test_a_perfect_submission_scores_everything_that_tests_grade(grade):
    marks = grade()
    assert marks.points == FULL
    assert marks.remarks == []


def test_a_wrong_answer_loses_the_points_of_the_tests_that_it_fails_and_gets_the_hint(grade):
    marks = grade(weights="def weights(logits):\n    return logits.exp() / logits.exp().sum()")
    assert marks.points == {"q1": 10, "q2": 20}
    marks = grade(weights="def weights(logits):\n    return logits.exp()")
    assert marks.points == {"q1": 0, "q2": 20}
    assert "you forgot to divide by the sum" in marks.feedback["q1"]


def test_a_student_does_not_read_what_a_hidden_test_says(grade):
    marks = grade(square="square = 3")
    assert marks.points == {"q1": 30, "q2": 10}
    assert "that is not the square" not in "".join(marks.feedback.values())


def test_a_class_set_by_the_student_changes_nothing(grade):
    marks = grade(square="CLASS = 1\nsquare = classes.integer(CLASS, 'fixture-q2', 10, 99) ** 2")
    assert marks.points == {"q1": 30, "q2": 10}
    (remark,) = marks.remarks
    assert remark.startswith("made for class 1, ")


def test_a_name_that_is_not_defined_is_told_as_such(grade):
    marks = grade(weights="def weight(logits):\n    return logits")
    assert marks.points == {"q1": 0, "q2": 20}
    assert marks.remarks == ["q1: weights is not defined"]
    assert marks.feedback["q1"].startswith("weights is not defined")


NAUGHTY_CALLS = {
    "raises": ("raise KeyError('token')", "KeyError: 'token"),
    "loops": ("while True: pass", "more than 1.5 s"),
    "loops and will not stop": (
        "while True:\n        try:\n            while True: sum(range(99))\n        except BaseException: pass",
        "would not stop",
    ),
    "exits": ("import os; os._exit(0)", "ended its process"),
    "raises SystemExit": ("raise SystemExit", "SystemExit"),
    "crashes": ("import ctypes; ctypes.string_at(0)", "ended its process"),
    "takes memory": ("return torch.ones(10**9, dtype=torch.float64)", "emory"),
    "returns too much": ("return torch.ones(2 * 10**7, dtype=torch.float64)", "too large"),
    "floods": ("while True: print('x' * 10**6)", "more than 1.5 s"),
    "starts a program": ("import subprocess; subprocess.run(['true'])", "subprocess.Popen"),
    "kills the grader": ("import os; os.kill(os.getppid(), 9)", "os.kill"),
    "calls home": ("import socket; socket.create_connection(('127.0.0.1', 9))", "socket."),
    "reads the tests": ("return open(TESTS).read()", "reading"),
    "imports otter": ("import otter.test_files", "the import of otter.test_files"),
    "imports the tool": ("import bookext.course.assign", "the import of bookext"),
    "imports the book's checks": (
        "import importlib; importlib.import_module('companion.exercises.kernel_regime.gradients')",
        "the import of companion",  # its package
    ),
    "recurses": ("return weights(logits)", "ecursion"),
    "raises something of its own": ("class Odd(Exception):\n        __str__ = None\n    raise Odd", "Odd"),
}


@pytest.mark.parametrize("code", NAUGHTY_CALLS)
def test_a_function_that(code, grade, course):
    """What a function does when it is called costs its question; the cause is told."""
    body, said = NAUGHTY_CALLS[code]
    tests = course / "instructor/fixture/tests/q1.py"
    marks = grade(weights=f"import torch\nTESTS = {str(tests)!r}\ndef weights(logits):\n    {body}")
    assert marks.points == {"q1": 0, "q2": 20}
    assert said in marks.feedback["q1"] + " ".join(marks.remarks)


def test_a_call_that_takes_too_long_costs_its_test(grade):
    """Whether a slow answer is in time depends on the machine; what it passed does not."""
    slow = "import torch\ndef weights(logits):\n    while logits.numel() == 3: pass\n    return torch.softmax(logits, -1)"
    marks = grade(weights=slow)
    assert marks.points == {"q1": 10, "q2": 20}
    assert marks.remarks == ["q1: a call took more than 1.5 s"]


NAUGHTY_CELLS = {
    "raises": ("1 / 0", "ZeroDivisionError"),
    "is no Python": ("def (", "SyntaxError"),
    "loops": ("while True: pass", "stopped after 3 s"),
    "loops and will not stop": (
        "while True:\n    try:\n        while True: sum(range(99))\n    except BaseException: pass",
        "run again without it",
    ),
    "loops at import": (
        "open('looping.py', 'w').write('while True: pass')\nimport sys\nsys.path.insert(0, '')\nimport looping",
        "stopped after 3 s",
    ),
    "exits": ("import os\nos._exit(1)", "run again without it"),
    "asks": ("input('name?')", "EOFError"),
    "floods": ("while True: print('x' * 10**6)", "stopped after 3 s"),
    "takes memory": ("x = bytearray(10**10)", "MemoryError"),
    "sends nonsense": (
        "import os\nfor line in range(3, 50):\n    try:\n        os.write(line, b'\\xff' * 100)\n    except OSError: pass",
        "nonsense",
    ),
}


@pytest.mark.parametrize("code", NAUGHTY_CELLS)
def test_a_cell_that(code, grade):
    """What a cell does costs what it would have defined; the cells after it run."""
    body, said = NAUGHTY_CELLS[code]
    marks = grade(weights=body)
    assert marks.points == {"q1": 0, "q2": 20}
    assert said in " ".join(marks.remarks)


@pytest.mark.parametrize("spy", ["print(open(TESTS).read())", "import pathlib; pathlib.Path(TESTS).read_bytes()", "import os; os.listdir(os.path.dirname(TESTS))",
                                 "import otter.check.notebook", "from bookext.course import assign", "__import__('bookext')"])  # fmt: skip
def test_a_cell_that_tries_to_see_answers_earns_nothing_even_if_its_answer_is_right(spy, grade, course):
    tests = course / "instructor/fixture/tests/q1.py"
    code = f"TESTS = {str(tests)!r}\ntry:\n    {spy}\nexcept BaseException: pass\n{RIGHT}"
    marks = grade(weights=code)
    assert marks.points == {"q1": 0, "q2": 20}
    assert "was tried" in " ".join(marks.remarks)


def test_a_grader_in_the_background_stops_a_loop_too(course, tmp_path):
    """What a shell starts in the background ignores the signal that stops a cell, and so would what it starts in turn."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with Nursery((course,)) as nursery:
            folder = course / "instructor/fixture"
            path = submission(
                folder / "fixture.ipynb", tmp_path / "someone.ipynb", weights="while True: pass"
            )
            marks = grading.grade(folder, path, nursery, limits=LIMITS)
    finally:
        signal.signal(signal.SIGINT, before)
    assert "stopped after 3 s" in " ".join(marks.remarks)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="Landlock is Linux's")
def test_the_kernel_refuses_what_native_code_asks_for(course, nursery):
    """Opened by the C library, past every hook: what Python itself reads can be, tests and the grader's memory cannot."""
    tests = course / "instructor/fixture/tests/q1.py"
    student = nursery.start(LIMITS)
    try:
        if not student.locked:
            pytest.skip("this kernel has no Landlock")
        paths = [os.__file__, str(tests), __file__, f"/proc/{os.getpid()}/mem", "/etc"]
        source = (
            f"import ctypes\nopened = [ctypes.pythonapi.open(path.encode(), 0) >= 0 for path in {paths!r}]"
        )
        student.ask(5, do="cell", number=0, source=source)
        answer, _ = student.ask(5, do="look", name="opened")
        assert wire.unpack(answer["value"]) == [True, False, False, False, True]
    finally:
        student.end()


def test_what_a_call_does_is_seen_by_who_watches(course, nursery):
    """Automatic differentiation, solvers of eigenvalues, and the package's own functions, as the checks of exercises see them."""
    from shallowformer.exercises.borrowed import borrowed
    from shallowformer.exercises.feedback import Feedback
    from shallowformer.exercises.unaided import without_autograd, without_solver

    cells = [
        "import torch\nfrom shallowformer import softmax\njacobian = softmax.jacobian",
        "def plain(x):\n    return 2 * x",
        "def slope(x):\n    x = x.clone().requires_grad_()\n    return torch.autograd.grad((x**2).sum(), x)[0]",
        "def solver(x):\n    return torch.linalg.eigvalsh(torch.diag(x))",
    ]
    run = grading.Run(nursery, cells, LIMITS, lambda text: None)
    try:
        answers = grading.Answers(run)
        plain, slope, solver = map(answers.get, ("plain", "slope", "solver"))
        passed, x = Feedback("ex", "passed", ""), (torch.ones(3, dtype=torch.float64),)
        assert torch.equal(slope(*x), 2 * x[0])
        assert without_autograd(passed, plain, x).passed
        assert not without_autograd(passed, slope, x).passed
        assert without_solver(passed, plain, x).passed
        assert not without_solver(passed, solver, x).passed
        assert borrowed(answers.get("jacobian")) == "jacobian"
        assert borrowed(plain) == ""
    finally:
        run.end()


CHEATS = {
    "patches the feedback": "from shallowformer.exercises import feedback\nfeedback.judge = feedback.judge_number = lambda *a, **k: feedback.Feedback('q1', 'passed', '')\nfeedback.Feedback.passed = True",
    "patches torch": "import torch\ntorch.allclose = lambda *a, **k: True\ntorch.Tensor.__eq__ = lambda *a: True",
    "replaces the grader": "class grader:\n    check = staticmethod(lambda *a: 'passed')\nimport otter\notter.Notebook = grader",
    "replaces builtins": "import builtins\nbuiltins.isinstance = lambda *a: True",
}


@pytest.mark.parametrize("cheat", CHEATS)
def test_who_overwrites_the_grader_only_does_it_to_himself(cheat, grade):
    wrong = "def weights(logits):\n    return 'right, believe me'"
    marks = grade(first=CHEATS[cheat], weights=wrong)
    assert marks.points["q1"] == 0
    if cheat != "replaces builtins":
        assert marks.points["q2"] == 20


@pytest.mark.parametrize("value", ["type('Same', (), {'__eq__': lambda *a: True, '__float__': lambda s: 1.0})()", "type('Liar', (float,), {'__eq__': lambda *a: True})(3)",
                                   "object()", "[[]] * 3", "float('nan')", "lambda: square", "type"])  # fmt: skip
def test_an_odd_value_equals_nothing(value, grade):
    marks = grade(square=f"square = {value}")
    assert marks.points["q1"] == 30
    assert marks.points["q2"] in (0, 10)  # it may be a number


def test_a_value_that_is_itself_inside_ends(grade):
    assert grade(square="square = []\nsquare.append(square)").points == {"q1": 30, "q2": 0}


def test_installing_and_shell_lines_do_nothing(grade):
    marks = grade(weights=f"%pip install torch\n!pip install torch\n{RIGHT}")
    assert marks.points == FULL


def test_what_is_no_notebook_scores_nothing_and_says_so(course, nursery, tmp_path):
    path = tmp_path / "broken.ipynb"
    path.write_text("{")
    marks = grading.grade(course / "instructor/fixture", path, nursery)
    assert marks.points == {"q1": 0, "q2": 0}
    assert "not a notebook" in marks.remarks[0]


def test_a_submission_has_a_time_in_all(grade):
    limits = Limits(cell=2, call=1, grace=0.5, submission=4)
    marks = grade(
        limits,
        weights="while True:\n    try:\n        while True: sum(range(99))\n    except BaseException: pass",
    )
    assert sum(marks.points.values()) <= 20


def test_nothing_is_left_behind(grade, nursery):
    grade(weights="open('left.txt', 'w').write('x')")
    assert list(Path(nursery.home).glob("scratch-*")) == []

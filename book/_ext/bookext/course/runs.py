"""A student's notebook as the tests see it: run, run again where its process ends, and asked for names and calls."""

import time
from collections.abc import Callable

import torch
from torch.overrides import _get_current_function_mode_stack
from torch.utils._python_dispatch import _get_current_dispatch_mode

from bookext.course import wire
from bookext.course.process import ERRORS, Gone, Limits, Nursery, Student

#: How often a notebook is run again without a cell, or after a call, that ended its process.
RUNS = 12


class Run:
    """A notebook that has been run, and is run again when its process has ended."""

    def __init__(self, nursery: Nursery, cells: list[str], limits: Limits, remark: Callable[[str], None]):
        self.nursery, self.cells, self.limits, self.remark = nursery, cells, limits, remark
        self.student: Student | None = None
        self.left_out: set[int] = set()  # cells that ended their process
        self.suspect: dict[int, str] = {}  # cells that tried to see answers
        self.runs = 0
        self.until = time.monotonic() + limits.submission

    def ready(self) -> Student:
        """The process, with all cells run that could be."""
        while self.student is None or not self.student.alive:
            self.runs += 1
            if self.runs > RUNS or time.monotonic() > self.until:
                raise Gone("the submission has used up its time")
            self.student = self.nursery.start(self.limits)
            for number, source in enumerate(self.cells):
                if number not in self.left_out and not self._cell(number, source):
                    break
        return self.student

    def _cell(self, number: int, source: str) -> bool:
        """Run a cell; whether the process is still there."""
        seconds = max(0.1, min(self.limits.cell, self.until - time.monotonic()))
        try:
            answer, late = self.student.ask(seconds, do="cell", number=number, source=source)
        except Gone as error:
            self.left_out.add(number)
            self.remark(f"cell {number + 1}: {error}; run again without it")
            return False
        if late:
            self.remark(f"cell {number + 1}: stopped after {seconds:g} s")
        elif answer.get("error") and self.runs == 1:
            self.remark(f"cell {number + 1}: {short(answer['error'])}")
        if found := suspicion(answer):
            self.suspect[number] = found
        return True

    def end(self) -> None:
        """End the process."""
        if self.student:
            self.student.end()


class Answers:
    """What a question's tests see instead of the student's names."""

    def __init__(self, run: Run):
        self.run = run
        self.failed = ""  # why the question scores 0
        self.slow = ""  # why nothing more is called in this test
        self.notes: list[str] = []  # names that are not defined, and calls that took too long

    def get(self, name: str, default: object = None) -> object:
        """A name's value, a copy, or a function that calls the student's."""
        self.slow = ""  # a test begins
        answer = self._ask(self.run.limits.call, do="look", name=name)
        if answer.get("missing"):
            self._note(f"{name} is not defined")
            return default
        owner = answer.get("owner")
        if isinstance(owner, int) and owner in self.run.suspect and not self.failed:
            self.failed = f"{name} comes from a cell in which {self.run.suspect[owner]} was tried"
        return self._value(answer)

    def call(self, number: int, arguments: tuple, options: dict) -> object:
        """Call a student's function, by its number in its process. Returns: what came back, a copy."""
        order = {"arguments": wire.pack(arguments), "options": wire.pack(options)}
        modes = {
            "gradients": torch.is_grad_enabled(),
            "inference": torch.is_inference_mode_enabled(),
            "watch": bool(_get_current_function_mode_stack() or _get_current_dispatch_mode()),
        }
        answer = self._ask(self.run.limits.call, do="call", number=number, modes=modes, **order)
        if "error" in answer:
            kind, text = (*map(str, answer["error"]), "", "")[:2]
            if kind in ERRORS:
                said = text.removeprefix(f"{kind}: ")[:500]
                raise ERRORS[kind](said.strip("'") if kind == "KeyError" else said)
            raise RuntimeError(text[:500])
        # a mode that watches a call here sees what was done there
        used = answer.get("used")
        if isinstance(used, list) and used[:1] == [True]:
            torch.ones(1, requires_grad=True) * 1
        if isinstance(used, list) and used[1:2] == [True]:
            torch.linalg.eigvalsh(torch.eye(2))
        return self._value(answer)

    def _ask(self, seconds: float, **order: object) -> dict:
        if self.failed or self.slow:
            raise RuntimeError(self.failed or self.slow)
        try:
            student = self.run.ready()
            answer, late = student.ask(seconds, **order)
        except Gone as error:
            self.failed = str(error)
            raise RuntimeError(self.failed) from None
        if found := suspicion(answer):
            self.failed = f"{found} was tried in a call"
        elif late:
            self.slow = f"a call took more than {seconds:g} s"
            self._note(self.slow)
        if self.failed or self.slow:
            raise RuntimeError(self.failed or self.slow)
        return answer

    def _note(self, text: str) -> None:
        self.notes += [text] if text not in self.notes else []

    def _value(self, answer: dict) -> object:
        def proxy(number: int) -> Callable:
            def call(*arguments: object, **options: object) -> object:
                return self.call(number, arguments, options)

            # what `feedback.judge` goes by
            if isinstance(answer.get("borrowed"), str) and answer["borrowed"]:
                call.__module__, call.__name__ = "shallowformer", answer["borrowed"][:80]
            return call

        try:
            return wire.unpack(answer.get("value"), proxy)
        except wire.Malformed as error:
            self.failed = f"it sent nonsense ({error})"
            raise RuntimeError(self.failed) from None


def suspicion(answer: dict) -> str:
    """What a process was refused that has to do with answers. Returns: the first of it, or ""."""
    refused = answer.get("refused")
    for each in refused if isinstance(refused, list) else ():
        if isinstance(each, list) and len(each) == 2 and each[1] is True:
            return short(each[0])
    return ""


def short(text: object, length: int = 200) -> str:
    """A student's text in one line, of what can be printed."""
    line = " ".join("".join(c if c.isprintable() else " " for c in str(text)).split())
    return line if len(line) <= length else line[: length - 1] + "…"

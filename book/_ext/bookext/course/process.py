"""The grader's side of a student's process: start it, tell it what to do, end it in time."""

import os
import shutil
import socket
import subprocess
import sys
import sysconfig
import tempfile
from dataclasses import dataclass
from pathlib import Path

import companion
import shallowformer
from bookext.chapters import ROOT
from bookext.course import wire

#: What a process needs to read besides Python and its libraries.
SYSTEM = ("/usr", "/lib", "/lib64", "/bin", "/etc", "/opt", "/proc", "/sys", "/dev", "/nix", "/System", "/Library")  # fmt: skip
#: What is the instructor's in the repository.
PRIVATE = tuple(str(ROOT / folder) for folder in ("book", "tests", "_build", ".git"))


#: Modules of ``shallowformer.exercises`` that know no answers.
SHOWN = ("__init__", "classes", "feedback", "hints", "borrowed", "unaided")


@dataclass(frozen=True)
class Limits:
    """How long and how much."""

    cell: float = 60.0  # seconds a cell may take
    call: float = 10.0  # seconds a call of a student's function may take
    question: float = 120.0  # seconds all tests of a question may take
    submission: float = 600.0  # seconds a submission may take in all
    grace: float = 2.0  # seconds from the request to stop to the end of the process
    memory: int = 2**31  # bytes that a process may take beyond its libraries


class Gone(Exception):
    """A student's process is no more; the text says why."""


class Nursery:
    """Starts students' processes from one that has loaded the libraries; ``private`` are further folders that no student may read."""

    def __init__(self, private: tuple[Path, ...] = ()):
        checks = Path(shallowformer.__file__).parent / "exercises"
        answers = Path(companion.__file__).parent
        self.private = [*PRIVATE, str(checks), str(answers), *(str(path.resolve()) for path in private)]
        self.shown = [str(checks / f"{name}.py") for name in SHOWN]
        self.home = tempfile.mkdtemp(prefix="grading-")
        self.control, other = socket.socketpair()
        keep = {
            name: os.environ[name] for name in ("PATH", "LANG", "LC_ALL", "SYSTEMROOT") if name in os.environ
        }
        environment = keep | {
            "HOME": self.home, "MPLCONFIGDIR": f"{self.home}/fonts", "MPLBACKEND": "Agg", "OMP_NUM_THREADS": "1",
            "MKL_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1",
        }  # fmt: skip
        program = Path(__file__).with_name("student.py")
        self.process = subprocess.Popen(
            [sys.executable, "-I", "-B", str(program), str(other.fileno())],
            pass_fds=[other.fileno()], env=environment, cwd=self.home, start_new_session=True,
            stdin=subprocess.DEVNULL,
        )  # fmt: skip
        other.close()
        wire.receive(self.control, 120)

    def __enter__(self) -> "Nursery":
        return self

    def __exit__(self, *error: object) -> None:
        self.control.close()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.home, ignore_errors=True)

    def start(self, limits: Limits) -> "Student":
        """A new process, in a scratch folder of its own."""
        scratch = tempfile.mkdtemp(prefix="scratch-", dir=self.home)
        ours, theirs = socket.socketpair()
        order = {
            "do": "start",
            "scratch": scratch,
            "private": self.private,
            "shown": self.shown,
            "memory": limits.memory,
            "seconds": int(limits.submission) + 60,
            "readable": self._readable(),
        }
        wire.send(self.control, order)
        socket.send_fds(self.control, [b"."], [theirs.fileno()])
        theirs.close()
        pid = wire.receive(self.control, 30)["pid"]
        student = Student(self, pid, ours, Path(scratch), limits)
        try:
            student.locked = bool(wire.receive(ours, 30).get("locked"))
        except (OSError, wire.Malformed) as error:
            student.end()
            raise Gone(f"its process could not be started ({type(error).__name__})") from None
        return student

    def tell(self, what: str, pid: int) -> None:
        """Say ``interrupt`` or ``end`` to a process."""
        wire.send(self.control, {"do": what, "pid": pid})
        wire.receive(self.control, 30)

    def _readable(self) -> list[str]:
        package = Path(shallowformer.__file__).parent
        libraries = map(sysconfig.get_path, ("stdlib", "purelib", "platlib"))
        python = {sys.prefix, sys.base_prefix, sys.exec_prefix, *libraries}
        # the files that the process itself was started from: no answers in them
        here = Path(__file__).parent
        own = [str(here / f"{name}.py") for name in ("wire", "line", "confine", "student")]
        return sorted(
            {*SYSTEM, *python, str(package.parent), str(ROOT / "results"), f"{self.home}/fonts", *own}
        )


class Student:
    """A process in which a student's notebook runs."""

    def __init__(self, nursery: Nursery, pid: int, line: socket.socket, scratch: Path, limits: Limits):
        self.nursery, self.pid, self.line, self.scratch, self.limits = nursery, pid, line, scratch, limits
        self.locked = False
        self.alive = True

    def end(self) -> None:
        """End it, and remove its folder."""
        if self.alive:
            self.alive = False
            self.line.close()
            self.nursery.tell("end", self.pid)
            shutil.rmtree(self.scratch, ignore_errors=True)

    def ask(self, seconds: float, **order: object) -> tuple[dict, bool]:
        """Have it do something. Returns: the answer, and whether it had to be interrupted for it."""
        if not self.alive:
            raise Gone("its process had ended")
        late = False
        try:
            wire.send(self.line, order)
            try:
                return wire.receive(self.line, seconds), late
            except TimeoutError:
                late = True
                self.nursery.tell("interrupt", self.pid)
                return wire.receive(self.line, self.limits.grace), late
        except (OSError, wire.Malformed) as error:
            self.end()
            if late:
                raise Gone(f"it took more than {seconds:g} s and would not stop") from None
            if isinstance(error, wire.Malformed):
                raise Gone("it sent nonsense") from None
            raise Gone("it ended its process (a crash, an exit, or too much memory)") from None


#: What students' errors may be raised as again; any other is a RuntimeError that names it.
ERRORS = {
    kind.__name__: kind
    for kind in (ArithmeticError, AssertionError, AttributeError, FloatingPointError, ImportError, IndexError, KeyError,
                 LookupError, MemoryError, ModuleNotFoundError, NameError, NotImplementedError, OverflowError, PermissionError,
                 RecursionError, RuntimeError, StopIteration, TypeError, UnboundLocalError, ValueError, ZeroDivisionError)
}  # fmt: skip

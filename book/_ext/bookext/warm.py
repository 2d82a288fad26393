"""Kernels that start warm: a process imports once what nearly every chapter imports, and each kernel is a fork of it.

It imports nothing of this repository: which of its modules a chapter loads is for the watch to see. It runs no thread and opens no
kernel's socket, so that a fork of it is a whole process. Nothing else may differ from a kernel that starts by itself: not the shell,
which is made after the fork; not random numbers, which are seeded anew.
"""

import importlib
import os
import subprocess
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from threading import Lock

from jupyter_client.provisioning import LocalProvisioner
from traitlets import Instance

#: Imported before the fork. Not ``matplotlib_inline``, which looks for its shell when it is imported.
MODULES = (
    "ipykernel.kernelapp", "ipykernel.debugger", "numpy", "torch", "scipy.stats", "scipy.integrate", "scipy.interpolate", "matplotlib.pyplot",
    "matplotlib.backends.backend_agg", "matplotlib.backends.backend_svg", "seaborn", "jaxtyping", "tqdm", "filelock", "numba.extending",
)  # fmt: skip

#: Elsewhere there is no fork, or the system's own libraries do not survive one.
POSSIBLE = sys.platform == "linux"


class Parent:
    """The process that kernels are forked from, as others see it; threads may share it."""

    def __init__(self) -> None:
        self.connection, theirs = Pipe()
        self.one_at_a_time = Lock()
        with theirs:
            # A session of its own: an interrupt from the keyboard is for those who wait for kernels.
            self.process = subprocess.Popen(
                [sys.executable, "-P", __file__, str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                start_new_session=True,
            )

    def ask(self, *request: object) -> int | None:
        """Send a request and wait for the answer.

        Args:
            *request: ``"fork", arguments, folder, environment`` → the process id; ``"poll", process id`` → its exit status, or None.
        """
        with self.one_at_a_time:
            try:
                self.connection.send(request)
                return self.connection.recv()
            except (EOFError, OSError) as gone:
                raise ConnectionError("the process that kernels are forked from has died") from gone

    def close(self) -> None:
        """End it; kernels that still run end with it."""
        with self.one_at_a_time:
            self.connection.close()
        self.process.wait()


@contextmanager
def parent() -> Iterator[Parent | None]:
    """A parent of kernels as long as it is needed; None where none is possible."""
    one = Parent() if POSSIBLE else None
    try:
        yield one
    finally:
        if one:
            one.close()


class Fork:
    """A forked kernel, with what ``LocalProvisioner`` asks of a ``Popen``."""

    stdin = stdout = stderr = None

    def __init__(self, parent: Parent, command: list[str], folder: str, environment: dict[str, str]) -> None:
        self.parent, self.status = parent, None
        self.pid = parent.ask("fork", command[command.index("-m") + 1 :], folder, environment)

    def poll(self) -> int | None:
        """Its exit status; None while it runs."""
        if self.status is None:
            try:
                self.status = self.parent.ask("poll", self.pid)
            except ConnectionError:
                self.status = 1
        return self.status

    wait = poll  # is asked only when it has ended

    def send_signal(self, number: int) -> None:
        """Send a signal if it runs."""
        if self.poll() is None:
            os.kill(self.pid, number)


class Provisioner(LocalProvisioner):
    """Starts a kernel as a fork."""

    warm = Instance(Parent)

    async def launch_kernel(self, cmd: list[str], **kwargs) -> dict:
        """Fork, instead of starting the command."""
        self.process = Fork(self.warm, cmd, kwargs["cwd"], kwargs["env"])
        self.pid = self.pgid = self.process.pid
        return self.connection_info


def serve(connection: Connection) -> None:
    """Import, then fork and look after forks until no one is there to ask for it."""
    # What a kernel sets by itself before it imports anything; it ends when its parent does.
    os.environ["MPLBACKEND"] = "module://matplotlib_inline.backend_inline"
    os.environ["JPY_PARENT_PID"] = str(os.getpid())
    for module in MODULES:
        with suppress(ImportError):
            importlib.import_module(module)
    while True:
        try:
            what, *arguments = connection.recv()
        except EOFError:
            return
        if what == "fork":
            pid = os.fork()
            if pid == 0:
                connection.close()
                _become_kernel(*arguments)
            connection.send(pid)
        else:
            pid, status = os.waitpid(arguments[0], os.WNOHANG)
            connection.send(os.waitstatus_to_exitcode(status) if pid else None)


def _become_kernel(command: list[str], folder: str, environment: dict[str, str]) -> None:
    """What ``python -m`` would do with the command; never returns."""
    status = 1
    try:
        os.setsid()
        os.chdir(folder)
        os.environ.update(environment)
        importlib.invalidate_caches()
        sys.modules["numpy"].random.seed()
        sys.modules["torch"].seed()
        sys.argv[:] = command
        sys.modules["ipykernel.kernelapp"].launch_new_instance()
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(status)


if __name__ == "__main__":
    serve(Connection(int(sys.argv[1])))

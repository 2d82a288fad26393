"""The process in which students' notebooks run: it holds no test and no solution, and answers calls.

It is started by path (``process.Nursery``), loads the libraries once, and forks itself for every run of a notebook. A fork shuts
its doors (``confine``), then runs cells and calls functions as it is told, and says what came of it. Its output goes nowhere.
"""

import array
import contextlib
import importlib
import os
import signal
import socket
import sys
import types

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import confine
import wire

del sys.path[0]

LIBRARIES = ("numpy", "torch", "scipy.optimize", "scipy.special", "sympy", "matplotlib.pyplot", "IPython.core.interactiveshell",
             "shallowformer.softmax", "shallowformer.figures", "shallowformer.exercises.classes",
             "shallowformer.exercises.feedback", "shallowformer.exercises.unaided")  # fmt: skip


class Room:
    """A student's namespace, and what was done in it."""

    def __init__(self):
        from IPython.core.interactiveshell import InteractiveShell
        from traitlets.config import Config

        settings = Config()
        settings.HistoryManager.enabled = False
        settings.InteractiveShell.colors = "NoColor"
        settings.InteractiveShell.xmode = "Minimal"
        self.shell = InteractiveShell.instance(config=settings)
        self.shell.system = self.shell.getoutput = lambda *arguments, **options: None  # !pip install …
        self.shell._tee = lambda channel: contextlib.nullcontext()  # it keeps all that is printed
        for magic in ("pip", "conda", "mamba", "uv"):
            self.shell.register_magic_function(lambda line: None, magic_name=magic)
        self.functions: list[object] = []
        self.owner: dict[str, int] = {}
        sys.modules["otter"] = _otter()

    def cell(self, number: int, source: str) -> dict:
        """Run a cell, and note what it gave a name."""
        before = {name: id(value) for name, value in self.shell.user_ns.items()}
        result = None
        with contextlib.suppress(KeyboardInterrupt):
            result = _interruptible(lambda: self.shell.run_cell(source, store_history=False))
        for name, value in list(self.shell.user_ns.items()):
            if before.get(name) != id(value):
                self.owner[str(name)] = number
        error = None if result is None else result.error_before_exec or result.error_in_exec
        return {
            "error": "KeyboardInterrupt" if result is None else _said(error) if error is not None else None
        }

    def look(self, name: str) -> dict:
        """What a name stands for."""
        if name not in self.shell.user_ns:
            return {"missing": True}
        value = self.shell.user_ns[name]
        answer = {"value": wire.pack(value, self.keep), "owner": self.owner.get(name, -1)}
        if callable(value):
            from shallowformer.exercises.borrowed import borrowed

            answer["borrowed"] = borrowed(value)
        return answer

    def call(self, number: int, arguments: object, options: object, modes: dict) -> dict:
        """Call a function; ``watch`` says whether it differentiated or asked a solver of eigenvalues, as the grader's modes would."""
        import torch

        from shallowformer.exercises import unaided

        watches = [unaided._Derivatives(), unaided._Solvers()] if modes["watch"] else []

        def run() -> object:
            function = self.functions[number]
            with contextlib.ExitStack() as stack:
                stack.enter_context(torch.inference_mode(modes["inference"]))
                stack.enter_context(torch.set_grad_enabled(modes["gradients"]))
                given, named = wire.unpack(arguments), wire.unpack(options)
                for watch in watches:
                    stack.enter_context(watch)
                value = function(*given, **named)
            return wire.pack(value, self.keep)

        try:
            return {"value": _interruptible(run), "used": [watch.used for watch in watches]}
        except BaseException as error:
            return {"error": [type(error).__name__, _said(error)]}

    def keep(self, function: object) -> int:
        """Number a function."""
        self.functions.append(function)
        return len(self.functions) - 1


def _interruptible(run):
    """Let the grader end it: its signal counts here and nowhere else."""
    while signal.sigtimedwait([signal.SIGINT], 0) if hasattr(signal, "sigtimedwait") else None:
        pass
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])
    try:
        return run()
    finally:
        with contextlib.suppress(KeyboardInterrupt):
            signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])


def _said(error: BaseException) -> str:
    try:
        return f"{type(error).__name__}: {error}"[:500]
    except Exception:
        return type(error).__name__[:80]


def _otter() -> types.ModuleType:
    """What stands for otter: its checks do nothing here."""

    class Notebook:
        def __init__(self, *arguments, **options):
            pass

        def __getattr__(self, name):
            return lambda *arguments, **options: None

    module = types.ModuleType("otter")
    module.Notebook = Notebook
    return module


def serve(line: socket.socket, order: dict) -> None:
    """Be a student's process, until the line is cut."""
    os.setsid()
    os.chdir(order["scratch"])
    os.environ["HOME"] = os.environ["TMPDIR"] = os.environ["IPYTHONDIR"] = order["scratch"]
    silence = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(silence, stream)
    # A grader that was started in the background ignores this signal, and so would what it starts.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    confine.limits(order["memory"], order["seconds"])
    locked = confine.landlock(order["readable"], [order["scratch"], os.devnull])
    room = Room()
    confine.hook(order["private"], order["shown"])
    wire.send(line, {"ready": True, "locked": locked})
    while True:
        order = wire.receive(line)
        confine.refusals.clear()
        match order.pop("do"):
            case "cell":
                answer = room.cell(**order)
            case "look":
                answer = room.look(**order)
            case "call":
                answer = room.call(**order)
        answer["refused"] = [list(each) for each in confine.refusals[:20]]
        try:
            wire.send(line, answer)
        except wire.Malformed as error:
            wire.send(line, {"error": ["ValueError", f"the value is too large: {error}"]})


def warm_up() -> None:
    """Have loaded what is loaded late: a student's first call pays for no import. No thread may begin: forks would lack it."""
    import torch

    from shallowformer.exercises import unaided

    with unaided._Derivatives(), unaided._Solvers():
        torch.ones(2) * 2


def nurse(control: socket.socket) -> None:
    """Fork a process for every run, and end it when told."""
    for name in LIBRARIES:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    import torch

    torch.set_num_threads(1)
    warm_up()
    wire.send(control, {"ready": True})
    while True:
        try:
            order = wire.receive(control)
        except ConnectionError:
            return
        if order["do"] == "start":
            _, ancillary, _, _ = control.recvmsg(1, socket.CMSG_SPACE(4))
            (descriptor,) = array.array("i", ancillary[0][2])
            child = os.fork()
            if child == 0:
                control.close()
                try:
                    serve(socket.socket(fileno=descriptor), order)
                finally:
                    os._exit(0)
            os.close(descriptor)
            wire.send(control, {"pid": child})
        else:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(order["pid"], signal.SIGINT if order["do"] == "interrupt" else signal.SIGKILL)
            if order["do"] == "end":
                with contextlib.suppress(ProcessLookupError):
                    os.kill(order["pid"], signal.SIGKILL)
                os.waitpid(order["pid"], 0)
            wire.send(control, {"done": True})


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        nurse(socket.socket(fileno=int(sys.argv[1])))

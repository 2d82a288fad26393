"""What a student's process may not do: shut the doors behind it, once it has loaded its libraries.

Three layers, the first two of the operating system: limits of memory, files and core dumps; on Linux from 5.13 on, Landlock, which
lets the process read the libraries, write its scratch folder and open no connection, whatever it calls; and everywhere Python's
audit hooks, which also give reasons: reading what is the instructor's, starting programs, signals, connections, and imports of
what knows answers are refused with a ``PermissionError``.

This file is run by path and imports nothing of the package.
"""

import ctypes
import os
import resource
import struct
import sys
from pathlib import Path

#: Modules that know answers, or are the grader's; whatever stands below them too.
REFUSED = ("bookext", "otter", "companion", "shallowformer.exercises")
#: Of these, what a notebook of the course uses.
ALLOWED = ("shallowformer.exercises", "shallowformer.exercises.classes", "shallowformer.exercises.feedback")
PROCESSES = frozenset({"subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.fork", "os.forkpty",
                       "pty.spawn", "os.startfile", "os.kill", "os.killpg"})  # fmt: skip
NETWORK = frozenset(
    {"socket.connect", "socket.bind", "socket.getaddrinfo", "socket.sendto", "socket.gethostbyname"}
)
PATHS = frozenset({"open", "os.listdir", "os.scandir", "os.chdir", "os.rename", "os.remove", "os.link", "os.symlink",
                   "os.chmod", "os.mkdir", "os.rmdir", "shutil.copyfile", "shutil.copytree"})  # fmt: skip

#: What was refused since it was last asked for: what it was, and whether it was a try to see answers.
refusals: list[tuple[str, bool]] = []


def limits(memory: int, seconds: int) -> None:
    """Bound the process: bytes beyond what it holds already; processor time, by which it ends also if the grader has died."""
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (2**28, 2**28))
    status = Path("/proc/self/statm")
    if status.exists():
        held = int(status.read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (held + memory, held + memory))


def hook(private: list[str], shown: list[str]) -> None:
    """Refuse, from now on and for good, what the module's text lists; files that are ``shown`` in private folders hold no answers."""
    python = [os.path.realpath(folder) for folder in (sys.prefix, sys.base_prefix)]
    within = lambda path, folders: any(path == each or path.startswith(each + os.sep) for each in folders)
    roots = [os.path.realpath(folder) for folder in private]
    roots = [root for root in roots if not any(within(each, [root]) for each in python)]
    # what this process is made of, which error messages quote
    open_ = [os.path.realpath(os.path.dirname(__file__)), *map(os.path.realpath, shown)]
    real = lambda path: os.path.realpath(os.fsdecode(path))

    def refuse(what: str, answers: bool = False) -> None:
        refusals.append((what[:200], answers))
        raise PermissionError(f"{what[:200]} is not possible where notebooks are graded")

    def known(name: str) -> bool:
        return name not in ALLOWED and any(name == each or name.startswith(f"{each}.") for each in REFUSED)

    def watch(event: str, arguments: tuple) -> None:
        if event == "import" and known(str(arguments[0])):
            refuse(f"the import of {arguments[0]}", answers=True)
        elif event in PATHS:
            for path in arguments[:2]:
                if not isinstance(path, str | bytes | os.PathLike):
                    continue
                if within(real(path), roots) and not within(real(path), open_):
                    refuse(f"reading {os.fsdecode(path)}", answers=True)
        elif (
            event in PROCESSES
            or event in NETWORK
            or (event == "ctypes.dlopen" and not within(real(arguments[0] or ""), python))
        ):
            refuse(event)

    class Finder:
        """Python's own functions of ``importlib`` tell no hook what they import."""

        @staticmethod
        def find_spec(name: str, path: object = None, target: object = None) -> None:
            if known(name):
                refuse(f"the import of {name}", answers=True)

    # Python looks for every module in these, which is no student's try
    sys.path[:] = [path for path in sys.path if path and not within(real(path), roots)]
    sys.meta_path.insert(0, Finder)
    sys.addaudithook(watch)


def landlock(readable: list[str], writable: list[str]) -> bool:
    """Let Linux refuse all other files, and all TCP connections, to this process. Returns: whether the system could do it."""
    if not sys.platform.startswith("linux"):
        return False
    libc = ctypes.CDLL(None, use_errno=True)
    create, add, restrict = 444, 445, 446
    version = libc.syscall(create, None, ctypes.c_size_t(0), ctypes.c_uint32(1))
    if version < 1:
        return False
    # execute, write, read file, read dir, remove dir/file, make …: 13 rights; later versions know more
    rights = (1 << 13) - 1
    rights |= sum(1 << bit for bit, since in ((13, 2), (14, 3), (15, 5)) if version >= since)
    attributes = struct.pack("=QQQ", rights, 3 if version >= 4 else 0, 3 if version >= 6 else 0)
    size = 24 if version >= 6 else 16 if version >= 4 else 8
    rules = libc.syscall(create, ctypes.c_char_p(attributes), ctypes.c_size_t(size), ctypes.c_uint32(0))
    if rules < 0:
        return False
    read_file, read = 0b101, 0b1101  # run and read files; folders too
    write_file = 0b111 | (rights & (1 << 14))
    for path, wanted_folder, wanted_file in (
        *((path, read, read_file) for path in readable),
        *((path, rights, write_file) for path in writable),
    ):
        if not os.path.exists(path):
            continue
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
        rule = struct.pack("=Qi", wanted_folder if os.path.isdir(path) else wanted_file, place)
        libc.syscall(add, ctypes.c_int(rules), ctypes.c_int(1), ctypes.c_char_p(rule), ctypes.c_uint32(0))
        os.close(place)
    libc.prctl(38, ctypes.c_ulong(1), ctypes.c_ulong(0), ctypes.c_ulong(0), ctypes.c_ulong(0))
    done = libc.syscall(restrict, ctypes.c_int(rules), ctypes.c_uint32(0)) == 0
    os.close(rules)
    return done

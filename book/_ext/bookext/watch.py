"""What a running chapter opens: every file, folder and process, by Python's own audit events.

Runs in the chapter's kernel, before its first cell and after its last one. It imports nothing but the standard library.
"""

import json
import os
import resource
import sys
import time

#: Audit events that name a file or a folder, by what is done with it.
_READS = {"open": "file", "os.listdir": "folder", "os.scandir": "folder"}
_STARTS = {"subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.fork", "os.forkpty"}

_files: set[str] = set()
_folders: set[str] = set()
_written: set[str] = set()
_started: list[str] = []


def _note(event: str, arguments: tuple) -> None:
    """Remember an event; never raises."""
    try:
        if event in _READS:
            path = arguments[0]
            if isinstance(path, int) or path is None:
                return
            path = os.path.abspath(os.fsdecode(path))
            if event != "open":
                _folders.add(path)
            elif _writes(arguments[1], arguments[2]):
                _written.add(path)
            else:
                _files.add(path)
        elif event in _STARTS:
            _started.append(f"{event} {arguments[:2]!r}"[:200])
    except Exception:  # an audit hook that raises ends the kernel
        pass


def _writes(mode: str | None, flags: int | None) -> bool:
    if isinstance(mode, str):
        return any(letter in mode for letter in "wax+")
    return bool((flags or 0) & (os.O_WRONLY | os.O_RDWR))


def start() -> None:
    """Watch from now on. The working folder is no place to import from: what lies there is no part of the key."""
    sys.path[:] = [place for place in sys.path if place]
    sys.addaudithook(_note)


def report(path: str) -> None:
    """Write what was seen so far.

    Args:
        path: of the JSON file: files and folders read, files written, processes started; seconds of processor time, and
            gigabytes at the peak, of this process.
    """
    seen = {
        "files": sorted(_files),
        "folders": sorted(_folders),
        "written": sorted(_written),
        "started": list(_started),
        "seconds": time.process_time(),
        "gigabytes": _peak(),
    }
    with open(path, "w", encoding="utf-8") as file:
        json.dump(seen, file)


def _peak() -> float:
    """Gigabytes of memory at the peak; not by Linux's ``ru_maxrss``, which begins with that of the parent."""
    try:
        with open("/proc/self/status", encoding="utf-8") as status:
            return int(status.read().split("VmHWM:")[1].split()[0]) / 1e6
    except (OSError, IndexError):
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak / (1e9 if sys.platform == "darwin" else 1e6)

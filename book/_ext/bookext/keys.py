"""What an execution depends on: its key, and whether what it read is still the same.

The key holds what can be known by reading: the chapter's code and the mistakes that are planted in it, all that these can import, the
pinned environment, Python, and the kind of processor. The files that a chapter opens are known when it has run; they are recorded with it. Whatever it loads or opens
besides is an error (``unaccounted``).
"""

import functools
import platform
import sys
import tempfile
import time
from collections.abc import Iterable
from hashlib import sha256
from importlib import metadata
from pathlib import Path

from IPython.core.inputtransformer2 import TransformerManager

from bookext import closure, planted
from bookext.markup import ROOT

#: When this process began to read what keys are made of; fingerprints are remembered from then on.
STARTED = time.time()

#: What runs in the kernel around every chapter, and what decides whether it may count.
_HARNESS = tuple(
    Path(__file__).with_name(f"{name}.py")
    for name in ("watch", "planted", "kernel", "keys", "closure", "warm")
)

#: Folders below which anything may be read: Python and its packages, the system, scratch space.
_OPEN = tuple(
    Path(folder).resolve()
    for folder in {sys.prefix, sys.base_prefix, sys.exec_prefix, "/usr", "/lib", "/lib64", "/etc", "/proc", "/sys", "/dev", "/opt",
                   "/System", "/Library", tempfile.gettempdir()}
)  # fmt: skip
#: Where Python and its packages are.
_PYTHON = tuple(
    Path(folder).resolve()
    for folder in {sys.prefix, sys.base_prefix, sys.exec_prefix, "/usr", "/System", "/Library"}
)
#: Folders of a user's home that Jupyter, IPython and Matplotlib keep their own affairs in.
_TOOLS = (".ipython", ".jupyter", ".matplotlib", ".config/matplotlib", ".cache/matplotlib", ".local/share/jupyter",
          "Library/Jupyter", "Library/Fonts", ".fonts", ".local/share/fonts", ".cache/fontconfig")  # fmt: skip


@functools.cache
def processor() -> str:
    """The kind of processor: its architecture, and the widest vector unit, by which libraries choose their kernels."""
    try:
        flags = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        flags = platform.processor()
    widest = next((unit for unit in ("avx512f", "avx2", "sve", "asimd") if unit in flags), "")
    return f"{platform.machine()} {widest}".strip()


@functools.cache
def environment() -> str:
    """Hash of what all chapters share: the pins, what is installed, Python, the kind of processor, and what runs around them."""
    pins = (ROOT / "requirements.txt").read_text(encoding="utf-8")
    installed = sorted({f"{part.name}=={part.version}" for part in metadata.distributions()})
    return digest(pins, *installed, sys.version, processor(), *map(closure.fingerprint, _HARNESS))


def modules(cells: Iterable[str]) -> frozenset[Path]:
    """The files of this repository that the code of a chapter can import, the checks' own included. Returns: paths.

    Args:
        cells: code of the chapter.
    """
    return closure.closure({"shallowformer.verify"}.union(*map(_imported, cells)))


@functools.cache
def _imported(cell: str) -> frozenset[str]:
    return frozenset(closure.imported(TransformerManager().transform_cell(cell)))


def key(chapter: str, cells: Iterable[str], full: bool = False) -> str:
    """The key of a chapter's execution, its mistakes included. Returns: Hexadecimal digits.

    Args:
        chapter: for example ``book/kernel_regime/model``.
        cells: code of the chapter.
        full: whether its mistakes are planted without early exits.
    """
    cells = list(cells)
    files = sorted(modules(cells) | mistakes_modules(chapter))
    named = (f"{file.relative_to(ROOT).as_posix()}\0{closure.fingerprint(file)}" for file in files)
    return digest(environment(), str(full), *cells, *named)


def mistakes_modules(chapter: str) -> frozenset[Path]:
    """The files that a chapter's mistakes are made of.

    Args:
        chapter: for example ``book/kernel_regime/model``.
    """
    return closure.closure([planted.module(chapter), "shallowformer.verify.planting"])


def digest(*texts: str) -> str:
    """A hash of texts, in their order. Returns: Hexadecimal digits."""
    return sha256("\0".join(texts).encode()).hexdigest()


def state(path: str) -> str:
    """Hash of what a file holds, or of the names in a folder; "" if there is nothing. Returns: Hexadecimal digits, or "".

    Args:
        path: relative to the repository; a folder ends with a slash.
    """
    place = ROOT / path
    if path.endswith("/"):
        if not place.is_dir():
            return ""
        return digest(*sorted(entry.name for entry in place.iterdir() if not entry.name.startswith(".")))
    return sha256(place.read_bytes()).hexdigest() if place.is_file() else ""


def unaccounted(seen: dict, allowed: frozenset[Path]) -> tuple[list[str], list[str]]:
    """What an execution read of this repository, and what it did that no key can know.

    Returns: paths relative to the repository, of folders with a slash, to be recorded; and complaints, empty if all is well.

    Args:
        seen: from ``watch.report``.
        allowed: files that the key knows, from ``modules``.
    """
    read, complaints = [], [f"starts a process ({what})" for what in seen["started"]]
    for text in seen["files"]:
        path = _source(Path(text).resolve())
        if path in allowed:
            continue
        if _elsewhere(path):
            if (
                path.suffix in (".py", ".pyc")
                and not path.is_relative_to(ROOT)
                and not any(path.is_relative_to(home) for home in _PYTHON)
            ):
                complaints.append(f"loads {path}, which belongs neither to Python nor to this repository")
            continue
        if not path.is_relative_to(ROOT):
            complaints.append(f"opens {path}, outside of the repository")
        elif path.suffix == ".py":
            complaints.append(f"loads {path.relative_to(ROOT)}, which its imports do not show")
        else:
            read.append(path.relative_to(ROOT).as_posix())
    for text in seen["folders"]:
        path = Path(text).resolve()
        # Python lists the folders of packages when it looks for modules.
        if path.is_relative_to(ROOT) and not _elsewhere(path) and not _holds_modules(path, allowed):
            read.append(f"{path.relative_to(ROOT).as_posix()}/")
    for text in seen["written"]:
        path = Path(text).resolve()
        if not _elsewhere(path) and "__pycache__" not in (path.name, path.parent.name):
            complaints.append(f"writes {path}")
    return sorted(set(read)), sorted(set(complaints))


def _source(path: Path) -> Path:
    """The source of what Python or numba compiled and kept."""
    if path.parent.name == "__pycache__" and path.suffix in (".pyc", ".nbi", ".nbc"):
        return path.parent.parent / f"{path.name.partition('.')[0]}.py"
    return path


def _elsewhere(path: Path) -> bool:
    """Whether a path belongs to Python, the system or the tools; the repository does not, wherever it lies."""
    inside = path.is_relative_to(ROOT)
    if inside and not path.is_relative_to(Path(sys.prefix).resolve()):
        return False
    return path.is_relative_to(Path(sys.prefix).resolve()) or any(
        path.is_relative_to(folder) for folder in (*_OPEN, *(Path.home() / tool for tool in _TOOLS))
    )


def _holds_modules(folder: Path, allowed: frozenset[Path]) -> bool:
    roots = {root.resolve() for root in closure.PACKAGES.values()}
    return folder in roots or any(file.parent == folder for file in allowed)


def changed_since(start: float, files: Iterable[Path]) -> str:
    """A file that was written, or put in its place, after a moment: what was read of it may be its old or its new content.

    Returns: its path relative to the repository, or "".

    Args:
        start: seconds since the epoch.
        files: to look at.
    """
    late = (
        file for file in files if file.is_file() and max(file.stat().st_mtime, file.stat().st_ctime) > start
    )
    return next((file.relative_to(ROOT).as_posix() for file in late), "")

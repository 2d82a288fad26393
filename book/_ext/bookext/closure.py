"""What code can import: the modules that a source names, those that these name, and so on; by reading, without running."""

import ast
import functools
from collections.abc import Iterable, Mapping
from hashlib import sha256
from pathlib import Path

from bookext.markup import ROOT

#: Packages whose modules are followed, and the folders that hold them.
PACKAGES: Mapping[str, Path] = {
    "shallowformer": ROOT / "lib",
    "companion": ROOT / "book",
}


def imported(source: str, module: str = "", is_package: bool = False) -> set[str]:
    """Every dotted name that a source may import, wherever the statement stands.

    Returns: names of modules and of what is taken from them, which may be modules too.

    Args:
        module: the source's own name, for relative imports.
        is_package: whether it is an ``__init__``.
    """
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            up = module.split(".")
            base = up[: len(up) - node.level + is_package] if node.level else []
            parent = ".".join([*base, *filter(None, [node.module])])
            found |= {parent} | {f"{parent}.{alias.name}" for alias in node.names}
    return found


def module_file(name: str) -> Path | None:
    """The file of a module of ``PACKAGES``; None for any other name. Returns: the path, or None."""
    folder = PACKAGES.get(name.partition(".")[0])
    if folder is None:
        return None
    place = folder.joinpath(*name.split("."))
    return next((file for file in (place / "__init__.py", place.with_suffix(".py")) if file.is_file()), None)


def closure(names: Iterable[str]) -> frozenset[Path]:
    """The files of the named modules, of the packages around them, and of all that these can import. Returns: paths.

    Args:
        names: dotted; what is no module of ``PACKAGES`` is left out.
    """
    found: set[Path] = set()
    waiting = set(names)
    while waiting:
        name = waiting.pop()
        while name:
            file = module_file(name)
            if file and file not in found:
                found.add(file)
                waiting |= _imported_by(file, name)
            name = name.rpartition(".")[0]
    return frozenset(found)


@functools.cache
def _imported_by(file: Path, name: str) -> set[str]:
    return imported(file.read_text(encoding="utf-8"), name, file.name == "__init__.py")


@functools.cache
def fingerprint(file: Path) -> str:
    """A hash of what a module does: comments, docstrings and layout do not count. Returns: Hexadecimal digits.

    Args:
        file: of the module.
    """
    tree = ast.parse(file.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        documented = isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        if documented and ast.get_docstring(node, clean=False) is not None:
            node.body = node.body[1:] or [ast.Pass()]
    return sha256(ast.dump(tree).encode()).hexdigest()

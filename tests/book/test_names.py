"""Names in the notation table and in the text of pages are names of the package, in whatever room."""

import ast
import functools
import importlib
import pkgutil
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

import companion
import shallowformer
from bookext.chapters import ROOT, chapter_of, chapters, code, docname, pages
from bookext.markup import walk

#: Modules of the package by the last part of their name.
MODULES: dict[str, list[str]] = {}
for package in (shallowformer, companion):
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        MODULES.setdefault(module.name.rpartition(".")[2], []).append(module.name)


def modules(parts: list[str]) -> Iterator[ModuleType]:
    """The package's modules that a dotted name may mean; the rooms around them need not be named."""
    for name in MODULES.get(parts[-1], ()):
        around = iter(name.split("."))
        if all(part in around for part in parts):
            yield importlib.import_module(name)


def resolves(name: str) -> bool:
    """Whether a dotted name is one of the package's: a module, or something in one."""
    parts = name.split(".")
    return any(
        has(module, parts[cut:]) for cut in range(len(parts), 0, -1) for module in modules(parts[:cut])
    )


def has(owner: object, names: list[str]) -> bool:
    if not names:
        return True
    field = names[0] in getattr(owner, "__dataclass_fields__", {}) and len(names) == 1
    return field or (hasattr(owner, names[0]) and has(getattr(owner, names[0]), names[1:]))


def identifiers() -> list[str]:
    table = (ROOT / "book/notation.md").read_text(encoding="utf-8").split("## What the other papers")[0]
    cells = [line.split("|")[2] for line in table.splitlines() if line.startswith("| $")]
    return sorted({name for cell in cells for name in re.findall(r"`([^`]+)`", cell)})


def test_the_notation_table_names_identifiers():
    assert len(identifiers()) > 20


def test_an_identifier_of_the_notation_table_exists():
    assert [name for name in identifiers() if not resolves(name)] == []


def own_names(path: Path) -> set[str]:
    """What the code of a chapter and its supplement gives a name."""
    trees = [ast.parse(source) for source in code(path)]
    nodes = [node for tree in trees for node in ast.walk(tree)]
    names = {alias.asname for node in nodes if isinstance(node, ast.Import | ast.ImportFrom) for alias in node.names}  # fmt: skip
    return names | {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}  # fmt: skip


@functools.cache
def named_in_prose(path: Path) -> set[str]:
    """Dotted names in the text of a page that begin with one of the package's modules."""
    code = [part.content for token in walk(path.read_text(encoding="utf-8")) for part in token.children or [] if part.type == "code_inline"]  # fmt: skip
    dotted = [match[1] for text in code if (match := re.match(r"((?:[A-Za-z_]\w*\.)+[A-Za-z_]\w*)(?:\(.*)?$", text))]  # fmt: skip
    return {name for name in dotted if name.partition(".")[0] in MODULES.keys() | {"shallowformer"}}


def exists(name: str, own: set[str]) -> bool:
    """Whether there is what a text names, a chapter's own or the package's; ``verdict.witness`` is one of a ``verdict.Verdict``."""
    first, _, rest = name.partition(".")
    return first in own or resolves(name) or resolves(f"{first}.{first.title()}.{rest}")


@pytest.mark.parametrize("path", pages(), ids=docname)
def test_a_name_in_the_text_of_a_page_exists(path):
    chapter = ROOT / f"{chapter_of(docname(path))}.md"
    own = own_names(chapter) if chapter in chapters() else set()
    assert [name for name in sorted(named_in_prose(path)) if not exists(name, own)] == []


def test_names_are_found_in_the_texts():
    assert sum(len(named_in_prose(path)) for path in pages()) > 50


@pytest.mark.parametrize("name", ["softmax.no_such_function", "parameters.Parameters.no_such_block", "probability.softmax.mean", "no_such_module.mean"])  # fmt: skip
def test_a_wrong_identifier_would_be_noticed(name):
    assert not resolves(name)
    assert not exists(name, set())

"""The site's TeX macros, written out: a notebook knows none of them."""

import re

from bookext.markup import settings


def of_the_site() -> dict[str, str | list]:
    """MathJax's table: name → text, or [text with ``#1`` …, number of arguments]."""
    return settings()["sphinx"]["config"]["mathjax3_config"]["tex"]["macros"]


def expand(tex: str, macros: dict[str, str | list]) -> str:
    r"""A formula with its macros (of such a table) written out, for example ``\mathbb{R}^d`` for ``\R^d``."""
    for _ in range(1000):
        found = next((m for m in re.finditer(r"\\(?:([A-Za-z]+)|.)", tex, re.DOTALL) if m[1] in macros), None)
        if not found:
            return tex
        text, count, *optional = (
            macros[found[1]] if isinstance(macros[found[1]], list) else (macros[found[1]], 0)
        )
        if optional:
            raise ValueError(f"the macro \\{found[1]} has an optional argument, which notebooks cannot have")
        arguments, end = _arguments(tex, found.end(), count, found[1])
        text = re.sub(r"#(\d)", lambda m, a=arguments: a[int(m[1]) - 1], text)
        tex = tex[: found.start()] + text + tex[end:]
    raise ValueError(f"the macro \\{found[1]} contains itself")


def _arguments(tex: str, at: int, count: int, name: str) -> tuple[list[str], int]:
    """Read the arguments of a macro, each a group in braces or one symbol."""
    arguments = []
    for _ in range(count):
        found = re.compile(r"\s*(\\[A-Za-z]+|\\.|[^\s{}])").match(tex, at)
        if found:
            arguments.append(found[1])
            at = found.end()
            continue
        opening = re.compile(r"\s*\{").match(tex, at)
        depth, end = 1, opening.end() if opening else len(tex)
        while depth and (brace := re.compile(r"(?:\\.|[^{}\\])*([{}])", re.DOTALL).match(tex, end)):
            depth += 1 if brace[1] == "{" else -1
            end = brace.end()
        if depth:
            raise ValueError(f"the macro \\{name} lacks an argument in {tex!r}")
        arguments.append(tex[opening.end() : end - 1])
        at = end
    return arguments, at

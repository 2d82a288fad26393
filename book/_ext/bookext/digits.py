"""Numbers that someone typed: decimals, percentages and powers of ten in prose, captions, alternative texts and findings.

    python -m bookext.digits [book/residual/climate.md ...]     list them; exit status 1 if there are any

A number of the run is said by a cell (``said``). Statements that are not measured, proofs and solutions derive theirs. What stands as a literal in the chapter's
code, or in the definition of an experiment that it imports, is a setting. Others are named with their reason, in a comment of the page:

    % typed 0.5, 12 %: Table 2 of the paper
"""

import ast
import functools
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from bookext.chapters import ROOT, chapter_of, chapters, docname, pages, parts, read_notebook
from bookext.markup import directive, parse

NUMBER = re.compile(
    r"(?<![\w.\\^/])\d+\.\d+(?:\s?\\?,?\\?%)?(?!\.\d)|\d+\s?(?:\\,)?\\?%|10\^\{?-?\d+\}?|\d(?:\.\d+)?e-?\d+|10[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+"
)

#: Numbers of papers, of statements, of the book's own pages; and what a cell says.
_NAMES = re.compile(
    r"\{[\w:]+\}`[^`]*`|\{\{ .*? \}\}|\]\([^)]*\)|https?://\S+|arXiv[: ]\d+\.\d+"
    r"|(?:Theorem|Lemma|Section|Equation|Figure|Table|Corollary|Proposition|Assumption|Remark|Appendix|Eq\.|version|Python)s? \(?[A-Z]?\.?\d+(?:\.\d+)*"
)
_LOWERED = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")


def typed(page: Path) -> list[tuple[str, str]]:
    """Numbers that are typed on a page without a reason. Returns: pairs of number and the words around it."""
    known = _settings(chapter_of(docname(page))) | _reasoned(page)
    return [
        (number[0], text[max(0, number.start() - 60) : number.end() + 40].replace("\n", " "))
        for text in map(_unnamed, _prose(page))
        for number in NUMBER.finditer(text)
        if not any(abs(_value(number[0]) - other) <= 1e-12 * max(1.0, other) for other in known)
    ]


_notebook = functools.cache(read_notebook)


def _prose(page: Path) -> Iterator[str]:
    """What a page tells: its paragraphs, captions, alternative texts and findings."""
    source = re.sub(r"\A---\n.*?\n---\n", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    yield from _paragraphs(source)
    if ROOT / f"{chapter_of(docname(page))}.md" not in chapters():
        return
    for cell in _notebook(page).cells:
        if cell.cell_type == "code":
            settings = cell.metadata.get("mystnb", {})
            yield settings.get("figure", {}).get("caption", "")
            yield settings.get("image", {}).get("alt", "")
            yield from _findings(cell.source)


def _paragraphs(source: str) -> Iterator[str]:
    for token in parse(source):
        inner = directive(token)
        if inner is None:
            if token.type == "inline":
                yield token.content
        elif not (
            inner.name.startswith(("code", "math", "raw", "solution"))
            or (inner.name.startswith("prf:") and "measured" not in inner.title)
            or (inner.name == "dropdown" and re.search("Proof|Derivation|Solution", inner.title))
        ):
            yield from _paragraphs(inner.body)


def _findings(source: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(_python(source))):
        if isinstance(node, ast.keyword) and node.arg == "finding":
            yield " ".join(part.value for part in ast.walk(node.value) if isinstance(part, ast.Constant) and isinstance(part.value, str))  # fmt: skip


def _python(source: str) -> str:
    """A cell without its magics."""
    return re.sub(r"(?m)^(\s*)[%!].*$", r"\1pass", source)


def _unnamed(text: str) -> str:
    return re.sub(r"\\[A-Za-z]+", " ", _NAMES.sub(" ", text))


@functools.cache
def _settings(name: str) -> set[float]:
    """The literals of a chapter's code, and of the experiments that it imports."""
    chapter = ROOT / f"{name}.md"
    if chapter not in chapters():
        return set()
    cells = (cell for part in parts(chapter) for cell in _notebook(part).cells if cell.cell_type == "code")
    sources = [_python(cell.source) for cell in cells]
    for package, names in re.findall(
        r"from (companion\.experiments[\w.]*) import (\([^)]*\)|.+)", "\n".join(sources)
    ):
        modules = (name.split()[0] for name in names.strip("()").split(",") if name.strip())
        files = (ROOT / "book" / package.replace(".", "/") / f"{module}.py" for module in modules)
        sources += [file.read_text(encoding="utf-8") for file in files if file.exists()]
    nodes = (node for source in sources for node in ast.walk(ast.parse(source)))
    literals = (node.value for node in nodes if isinstance(node, ast.Constant))
    return {float(value) for value in literals if type(value) in (int, float)}


def _reasoned(page: Path) -> set[float]:
    comments = re.findall(r"(?m)^% typed ([^:]+): .+$", page.read_text(encoding="utf-8"))
    return {_value(number[0]) for comment in comments for number in NUMBER.finditer(comment)}


def _value(number: str) -> float:
    """What a number is: "12 %" is 0.12, "10⁻⁷" and "10^{-7}" are 1e-7."""
    plain = re.sub(r"[\s\\,{}]", "", number.translate(_LOWERED))
    if plain.endswith("%"):
        return float(plain[:-1]) / 100
    if re.fullmatch(r"10\^?-?\d+", plain) and plain != "10":
        return 10.0 ** int(plain[2:].lstrip("^"))
    return float(plain)


def main() -> int:
    """Command line. Returns: exit status: 0 if no number is typed without a reason."""
    asked = [Path(name).resolve() for name in sys.argv[1:]] or pages()
    found = [f"{docname(page)}: {number}: …{around}…" for page in asked for number, around in typed(page)]
    print(*found, f"{len(found)} typed numbers without a reason", sep="\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

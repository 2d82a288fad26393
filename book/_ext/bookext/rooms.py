"""The rooms of the package: a picture of them, as the import contracts say, and what arguments mean throughout each."""

import ast
import re
import tomllib

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from bookext.markup import ROOT

PROJECT, PACKAGE, THEORY = ROOT / "pyproject.toml", ROOT / "lib/shallowformer", ROOT / "book/companion/theory"


def layers() -> list[list[str]]:
    """Rows of rooms, the uppermost first; those of a row do not import one another."""
    contracts = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["tool"]["importlinter"]["contracts"]
    (rows,) = (each["layers"] for each in contracts if each["id"] == "rooms")
    return [[room.strip(" ()") for room in row.split("|")] for row in rows]


class Rooms(SphinxDirective):
    """Puts the picture in its place."""

    def run(self) -> list[nodes.Node]:
        """A list of rows, which the style sheet draws as boxes."""
        self.env.note_dependency(str(PROJECT))
        rows = nodes.bullet_list(classes=["rooms"])
        for row in layers():
            line = nodes.paragraph()
            for room in row:
                line += [nodes.literal(text=room), nodes.Text(" ")]
            rows += nodes.list_item("", line)
        return [rows]


def arguments(room: str) -> dict[str, str]:
    """What the head of a room says of its arguments: names, separated by commas → meaning."""
    head = ast.get_docstring(ast.parse((PACKAGE / room / "__init__.py").read_text(encoding="utf-8"))) or ""
    return dict(re.findall(r"^    (\w[\w, ]*): (.+)$", head.partition("Throughout")[2], re.MULTILINE))


class Arguments(SphinxDirective):
    """Lists what arguments mean, room by room."""

    def run(self) -> list[nodes.Node]:
        """A list a room."""
        written = []
        for room in (
            room for row in layers() for room in row if (PACKAGE / room).is_dir() and arguments(room)
        ):
            self.env.note_dependency(str(PACKAGE / room / "__init__.py"))
            meanings = nodes.bullet_list()
            for names, meaning in arguments(room).items():
                line = nodes.paragraph("", "", nodes.literal(text=names), nodes.Text(": "))
                # Every other piece stood between double backticks.
                for place, piece in enumerate(meaning.split("``")):
                    line += nodes.literal(text=piece) if place % 2 else nodes.Text(piece)
                meanings += nodes.list_item("", line)
            written += [nodes.rubric(text=room), meanings]
        return written

"""The book's Markdown as the site's own parser sees it: tokens, and directives with their parts."""

import functools
import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import yaml
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from myst_parser.config.main import MdParserConfig
from myst_parser.parsers.mdit import create_md_parser

ROOT = Path(__file__).parents[3]

#: Directives whose body is not Markdown.
VERBATIM = frozenset({"math", "code", "code-block", "code-cell", "raw"})

_OPTION = re.compile(r":([\w-]+):\s*(.*?)\s*$")


class MarkupError(ValueError):
    """Markup that cannot be shown in a notebook; the message names file and line."""


@dataclass(frozen=True)
class Directive:
    """A directive."""

    name: str  # for example ``prf:lemma``
    title: str  # what follows the name on its line
    body: str  # what follows the options
    offset: int  # lines from the directive's first line to the body's first
    options: dict[str, str] = field(default_factory=dict)  # its ``:key: value`` lines


@functools.cache
def settings(root: Path = ROOT) -> dict:
    """What ``_config.yml`` says; read once."""
    return yaml.safe_load((root / "_config.yml").read_text(encoding="utf-8"))


@functools.cache
def syntax(root: Path = ROOT) -> MdParserConfig:
    """The parser's configuration: the Markdown extensions that the site is built with."""
    return MdParserConfig(enable_extensions=set(settings(root)["parse"]["myst_enable_extensions"]))


@functools.cache
def _parser(inline: bool):
    parser = create_md_parser(syntax(), RendererHTML)
    return parser if inline else parser.disable("inline")


def parse(text: str, inline: bool = True) -> list[Token]:
    """Markdown → tokens. Returns: the parser's tokens; ``map`` holds first line and line after the last.

    Args:
        inline: whether what stands within lines is parsed, too, which takes most of the time.
    """
    return _parser(inline).parse(text, {})


def directive(token: Token) -> Directive | None:
    """Take a directive apart; None if the token of ``parse`` is none."""
    head = re.match(r"\{([^}\s]+)\}\s*(.*)", token.info)
    if token.type not in ("fence", "colon_fence") or not head:
        return None
    lines = token.content.splitlines()
    options = [
        option.groups() for option in itertools.takewhile(bool, (_OPTION.match(line) for line in lines))
    ]
    body = "\n".join(lines[len(options) :])
    return Directive(head[1], head[2].strip(), body, len(options) + 1, dict(options))


def walk(text: str, inline: bool = True) -> Iterator[Token]:
    """Every token of a text, also those inside directives, in reading order."""
    for token in parse(text, inline):
        yield token
        inner = directive(token)
        if inner and inner.name not in VERBATIM:
            yield from walk(inner.body, inline)


def directives(text: str) -> Iterator[Directive]:
    """Every directive of a text, also those inside others, in reading order."""
    return filter(None, map(directive, walk(text, inline=False)))

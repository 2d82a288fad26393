"""The book's Markdown → Markdown that plain Jupyter and Colab render.

The site's parser says where directives, roles, formulas and labels stand. Only these are rewritten; all else, code above
all, stays as it was written. What has no rewriting here is an error that names file and line.
"""

import base64
import html
import itertools
import mimetypes
import re
from collections import defaultdict
from dataclasses import dataclass, field, replace
from pathlib import Path

from markdown_it.token import Token

from bookext import address, hypotheses
from bookext.chapters import ROOT, docname
from bookext.markup import Directive, MarkupError, directive, parse
from bookext.notebooks import macros
from bookext.notebooks.references import Paper, Target, papers, targets

#: Directives that are set apart by a bar, with their kind as title; their first line is text.
ADMONITIONS = {kind: kind.capitalize() for kind in ("attention", "caution", "danger", "error", "hint", "important",
                                                    "note", "tip", "warning")}  # fmt: skip
ADMONITIONS |= {"seealso": "See also", "margin": "Aside"}
#: Directives whose title stands in bold above their text.
TITLED = frozenset({"tab-item", "card", "grid-item-card", "table"})
#: Directives that only group others.
GROUPS = frozenset({"tab-set", "grid", "grid-item", "div"})
#: Directives that only the site can show.
ON_THE_SITE = frozenset({"scoreboard", "errata", "bibliography", "map-of-results", "live-panel"})

#: What can stand in a line of text. Nothing inside code or a formula is touched, because these match as a whole.
_INLINE = re.compile(
    r"""
      (?P<escaped> \\[!-/:-@\[-`{-~] )
    | \{(?P<role>[\w:+.-]+)\} (?P<fence>`+) (?P<content>.+?) (?<!`)(?P=fence)(?!`)
    | (?P<ticks>`+) .+? (?<!`)(?P=ticks)(?!`)
    | (?P<dollar>\${1,2}) (?P<tex>(?:\\.|[^$\\])+) (?P=dollar)
    | !\[(?P<alt>[^\]]*)\]\((?P<image>[^()\s]+)\)
    | \[(?P<span>[^\[\]]+)\]\{[.\#][^}]*\}
    | \]\((?P<url>[^()\s]+)
    | <a[ ]href="(?P<setting>\?[^"]*)">(?P<chosen>[^<]*)</a>
    | \[\^(?P<note>[\w-]+)\]:?
    | (?P<attributes> (?<=[\])`]) \{[^}]*\} )
    """,
    re.DOTALL | re.VERBOSE,
)


@dataclass(frozen=True)
class Flattener:
    """Flattens one page."""

    path: Path  # of the page
    targets: dict[str, Target] = field(default_factory=targets)  # label → what it stands for
    papers: dict[str, Paper] = field(default_factory=papers)  # BibTeX key → paper
    macros: dict[str, str | list] = field(default_factory=macros.of_the_site)
    student: bool = False  # leave solutions out
    folded: bool = False  # the text stands in a fold, whose title says what it is

    def text(self, source: str, line: int = 0) -> str:
        """Flatten a piece of the page that begins on a line of it, counted from 0. Returns: Markdown that needs no extension, possibly empty."""
        lines = source.splitlines()
        edits: dict[int, tuple[int, str]] = {}  # first line → line after the last, new text
        inline: dict[tuple[int, int], list[Token]] = defaultdict(list)  # a table's row holds several
        for token in parse(source):
            if token.map is None:
                continue
            first, end = token.map
            if {"class", "id"} & set(token.attrs) and not token.type.startswith("myst"):
                raise self._error("attributes of a block", line + first)
            if found := directive(token):
                if token.level:
                    raise self._error("a directive inside a list or a quotation", line + first)
                edits[first] = end, self._directive(found, line + first)
            elif token.type in ("math_block", "math_block_label"):
                edits[first] = end, self._formula("\n".join(lines[first:end]), token.info, line + first)
            elif token.type in ("myst_target", "myst_line_comment"):
                edits[first] = end, ""
            elif token.type in ("amsmath", "substitution_block"):
                raise self._error(f"{token.type}; a formula stands between $$ and $$", line + first)
            elif token.type == "dl_open":
                lines[first:end] = _definitions(lines[first:end])
            elif token.type == "inline":
                inline[first, max(end, first + 1)] += token.children or []
        for (first, end), children in inline.items():
            edits[first] = end, self._inline("\n".join(lines[first:end]), children, line + first)
        for first, (end, text) in sorted(edits.items(), reverse=True):
            lines[first:end] = [text]
        return "\n".join(lines).strip("\n")

    def line(self, source: str, line: int = 0) -> str:
        """Flatten a title or a caption."""
        return self._inline(source, [c for token in parse(source) for c in token.children or []], line)

    def is_solution(self, found: Directive) -> bool:
        """Whether a directive holds the solution of an exercise."""
        return found.name == "solution" or "solution" in found.options.get("class-container", "").split()

    def _error(self, what: str, line: int) -> MarkupError:
        where = f"{self.path.relative_to(ROOT)}:{line + 1}"
        return MarkupError(
            f"{where}: notebooks cannot show {what}; change it, or teach bookext/notebooks/markdown.py"
        )

    def _target(self, label: str, line: int) -> Target:
        if label not in self.targets:
            raise self._error(f"a reference to the unknown label {label!r}", line)
        return self.targets[label]

    def _directive(self, found: Directive, line: int) -> str:
        if self.student and self.is_solution(found):
            return ""
        title = self.line(found.title, line)
        body = lambda flattener=self: flattener.text(found.body, line + found.offset)
        label = found.options.get("label") or found.options.get("name", "")
        if found.name == "prf:proof":
            return body() if self.folded else f"*Proof.*\n\n{body()}"
        if found.name.startswith("prf:") or found.name in ("admonition", "sidebar"):
            return _barred(title, body())
        if found.name in ADMONITIONS:
            return _barred(ADMONITIONS[found.name], f"{title}\n{body()}".strip())
        if found.name in ("dropdown", "toggle", "solution"):
            summary = found.title if found.name == "dropdown" else found.name.capitalize()
            return fold(summary, body(replace(self, folded=True)))
        if found.name == "exercise":
            return f"**{self._target(label, line).text}. {title}**\n\n{body()}"
        if found.name in TITLED:
            return f"**{title}**\n\n{body()}"
        if found.name in GROUPS:
            return body()
        if found.name == "figure":
            image = self._image(found.options.get("alt", ""), found.title, line)
            return f"{image}\n\n**{self._target(label, line).text}.** {body()}"
        if found.name == "math":
            closing = f"$$ ({label})" if label else "$$"
            return self._formula(f"$$\n{found.body.strip()}\n{closing}", label, line)
        if found.name in ("code", "code-block"):
            fence = "```" if "```" not in found.body else "`````"
            return f"{fence}{found.title}\n{found.body}\n{fence}"
        if found.name == "hypotheses":
            return self.text("\n".join(hypotheses.written(*found.title.split(), linked=False)), line)
        if found.name in ON_THE_SITE:
            return f"[The {found.name.replace('-', ' ')} on the site]({address.page(self._page)})"
        raise self._error(f"the directive {{{found.name}}}", line)

    @property
    def _page(self) -> str:
        return docname(self.path)

    def _formula(self, text: str, label: str, line: int) -> str:
        """A display formula with its dollars; its label, if any, becomes the number that it has on the site."""
        if re.search(r"\n\s*\n", text) or (text.lstrip().startswith(">") and "\n" in text):
            raise self._error("a formula with blank lines, or of several lines in a quotation", line)
        if label:
            number = self._target(label, line).text.strip("()")
            text = re.sub(r"\$\$\s*\([^()]*\)\s*$", lambda _: f"\\tag{{{number}}} $$", text)
        return self._tex(text, line)

    def _tex(self, tex: str, line: int) -> str:
        try:
            return macros.expand(tex, self.macros)
        except ValueError as error:
            raise self._error(f"this formula: {error}", line) from None

    def _inline(self, source: str, children: list[Token], line: int) -> str:
        """Rewrite what stands in lines of text, and make sure that the parser saw the same there."""
        seen: list[str] = []

        def rewrite(match: re.Match) -> str:
            where = line + source.count("\n", 0, match.start())
            if match["role"]:
                seen.append(match["role"])
                return self._role(match["role"], " ".join(match["content"].split()), where)
            if match["tex"]:
                seen.append("$")
                return f"{match['dollar']}{self._tex(match['tex'], where)}{match['dollar']}"
            if match["image"]:
                return self._image(match["alt"], match["image"], where)
            if match["setting"]:  # of a panel, which is on the site alone
                return f"[{match['chosen']}]({address.page(self._page)}{html.unescape(match['setting'])})"
            if match["url"]:
                return f"]({self._url(match['url'], where)}"
            if match["span"]:
                return match["span"]
            if match["note"]:
                return f"<sup>{match['note']}</sup>"
            return "" if match["attributes"] else match[0]

        result = _INLINE.sub(rewrite, source)
        parsed = [_kind(child) for child in children]
        if seen != [kind for kind in parsed if kind]:
            raise self._error("this text, whose roles or formulas are not clear", line)
        return result

    def _role(self, name: str, content: str, line: int) -> str:
        if name in ("cite:p", "cite:t"):
            keys = [key.strip() for key in content.split(",")]
            if unknown := [key for key in keys if key not in self.papers]:
                raise self._error(f"a citation of the unknown {unknown}", line)
            cited = "; ".join(self.papers[key].cite(name == "cite:t") for key in keys)
            return cited if name == "cite:t" else f"({cited})"
        if name == "math":
            return f"${self._tex(content, line)}$"
        if name in ("sub", "sup"):
            return f"<{name}>{html.escape(content)}</{name}>"
        if name in ("eq", "ref", "numref", "prf:ref"):
            words, label = re.fullmatch(r"(?:(.+?)\s*<)?([^<>]+)>?", content).groups()
            target = self._target(label, line)
            text = re.sub(r"%s|\{number\}", target.text.split()[-1], words) if words else target.text
            return text if target.page == self._page else f"[{text}]({target.url})"
        raise self._error(f"the role {{{name}}}", line)

    def _url(self, url: str, line: int) -> str:
        if re.match(r"[a-z]+:", url):
            return url
        path, _, anchor = url.partition("#")
        page = (self.path.parent / path).resolve() if path else self.path
        if page.suffix != ".md" or not page.exists():
            raise self._error(f"a link to {url}", line)
        return address.page(docname(page)) + (f"#{anchor}" if anchor else "")

    def _image(self, alt: str, name: str, line: int) -> str:
        """An image with its bytes, so that the notebook needs no other file."""
        path = ROOT / name.removeprefix("/") if name.startswith("/") else self.path.parent / name
        if not path.exists():
            raise self._error(f"the image {name}", line)
        data = base64.b64encode(path.read_bytes()).decode()
        return f"![{alt}](data:{mimetypes.guess_type(name)[0]};base64,{data})"


def _kind(token: Token) -> str:
    """What ``_INLINE`` calls the same thing, or "" for what is not rewritten by meaning."""
    if token.type == "myst_role":
        return token.meta["name"]
    return "$" if token.type.startswith("math_inline") else ""


def _definitions(lines: list[str]) -> list[str]:
    """A list of definitions as a list with bold terms; as many lines as before."""
    definition = re.compile(r"^:\s+")
    return [
        definition.sub("  ", line)
        if definition.match(line)
        else f"- **{line.strip()}**:"
        if definition.match(below)
        else line
        for line, below in itertools.zip_longest(lines, lines[1:], fillvalue="")
    ]


def _barred(title: str, body: str) -> str:
    """A titled text with a bar at its side."""
    return f"<blockquote>\n\n**{title}**\n\n{body}\n\n</blockquote>"


def fold(title: str, body: str) -> str:
    """A text that opens under its title. Blank lines make the text between the tags Markdown again. Returns: Markdown."""
    return f"<details><summary><b>{html.escape(title)}</b></summary>\n\n{body}\n\n</details>"

"""The map of results: a page of its own, and at the end of each chapter the part that concerns it."""

from pathlib import Path

from docutils import nodes
from jinja2 import Environment, StrictUndefined
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.docutils import SphinxDirective

from bookext.chapters import LEDGER
from bookext.drawing import Graph, draw
from bookext.results import of_the_book, plain
from bookext.uses import book_uses

#: The page with the whole map, and the map's name.
PAGE, WHOLE = "book/map", "Map of results"


class MapOfResults(SphinxDirective):
    """Puts the whole map in its place."""

    def run(self) -> list[nodes.Node]:
        """Hold the place; the map is drawn when all pages have been read. Returns: a node to be filled by ``DrawMaps``."""
        self.env.note_dependency(str(LEDGER))
        return [map_node()]


class map_node(nodes.General, nodes.Element):
    """A map, as HTML in ``html``; without text, so that the site's search does not find its words everywhere."""


def visit_map(translator, node: map_node) -> None:
    """Write a map."""
    translator.body.append(node["html"])
    raise nodes.SkipNode


class DrawMaps(SphinxPostTransform):
    """Draws the maps of a page: where the directive asks for one, and at the end of a page that makes statements."""

    default_priority = 900
    builders = ("html", "dirhtml")

    def run(self, **options: object) -> None:
        """Draw."""
        page, whole = self.env.docname, book_graph(self.env)
        for node in self.document.findall(map_node):
            node["html"] = self.html(whole, WHOLE)
        near = whole.around(page)
        if near.results:
            home = self.app.builder.get_relative_uri(page, PAGE)
            html = self.html(near, "This chapter in the map of results")
            self.document[-1].append(
                map_node(
                    html='<details class="map-neighbourhood"><summary>This chapter in the map of results</summary>'
                    f"<p>Its statements, and those of other chapters that they use or that use them. "
                    f'<a class="reference internal" href="{home}">The whole map, and how to read it</a></p>{html}</details>'
                )
            )

    def html(self, graph: Graph, name: str) -> str:
        """Draw one map for this page. Returns: HTML."""
        results, address = graph.results.values(), self.app.builder.get_relative_uri
        chapters = {result.chapter: self.env.titles[result.chapter].astext() for result in results}
        addresses = {r.label: f"{address(self.env.docname, r.page)}#{r.label}" for r in results}
        says = f"{name}: arrows lead to statements that use the one they start from"
        return _TEMPLATE.render(
            name=name,
            whole=name == WHOLE,
            picture=draw(graph, chapters, addresses, says),
            results=results,
            names={label: plain(result.name) for label, result in graph.results.items()},
            addresses=addresses,
            uses=graph.uses,
            used_by=graph.used_by,
        )


def users(env) -> dict[str, int]:
    """By how many statements each is used, if there is a map to show them on. Returns: label → number, where there are any."""
    if PAGE not in env.found_docs:
        return {}
    return {label: len(those) for label, those in book_graph(env).used_by.items() if those}


def focused(label: str) -> str:
    """The place on the map's page that shows a statement with those that use it; ``map.js`` reads and writes such."""
    return f"focus={label}&direction=down&depth=1"


_ENVIRONMENT = Environment(autoescape=True, trim_blocks=True, undefined=StrictUndefined)
_ENVIRONMENT.filters["plain"] = plain
_TEMPLATE = _ENVIRONMENT.from_string(Path(__file__).with_name("map.jinja").read_text(encoding="utf-8"))


def book_graph(env) -> Graph:
    """The graph of the whole book. Returns: every statement with what it uses."""
    found = of_the_book()
    return Graph(found, book_uses(env, found))


def load_scripts(
    app: Sphinx, pagename: str, templatename: str, context: dict, doctree: nodes.document | None
) -> None:
    """Handle Sphinx's ``html-page-context``: only pages with a map or a scoreboard load the script for it."""
    if doctree is None:
        return
    if any(True for _ in doctree.findall(map_node)):
        app.add_js_file("map.js", loading_method="defer")
    if any("scoreboard" in table["classes"] for table in doctree.findall(nodes.table)):
        app.add_js_file("scoreboard.js", loading_method="defer")

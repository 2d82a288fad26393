"""The map of results: a page of its own, and at the end of each chapter the part that concerns it."""

from pathlib import Path

from docutils import nodes
from jinja2 import Environment, StrictUndefined
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.docutils import SphinxDirective

from bookext import beside
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
        asked = _asked(self.app, self.env.docname, graph, name)
        begun = getattr(self.app, "whole_map", None) if (self.env.docname, name) == (PAGE, WHOLE) else None
        return _TEMPLATE.render(
            name=name,
            picture=begun.result() if begun else draw(*asked),
            results=graph.results.values(),
            names={label: plain(result.name) for label, result in graph.results.items()},
            addresses=asked[2],
            uses=graph.uses,
            used_by=graph.used_by,
        )


def _asked(app: Sphinx, page: str, graph: Graph, name: str) -> tuple[Graph, dict, dict, str]:
    """What ``draw`` wants to know for a map on a page."""
    results = graph.results.values()
    return (
        graph,
        {result.chapter: app.env.titles[result.chapter].astext() for result in results},
        {
            result.label: f"{app.builder.get_relative_uri(page, result.page)}#{result.label}"
            for result in results
        },
        f"{name}: arrows lead to statements that use the one they start from",
    )


def begin_whole_map(app: Sphinx, env: BuildEnvironment) -> None:
    """Handle Sphinx's ``env-check-consistency``: where all pages will be written, the picture that takes longest is begun now."""
    if app.fresh_env_used and app.builder.format == "html" and PAGE in env.found_docs:
        app.whole_map = beside.begin(draw, *_asked(app, PAGE, book_graph(env), WHOLE))


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

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

#: The page with the whole map.
PAGE = "book/map"


class MapOfResults(SphinxDirective):
    """Puts the whole map in its place."""

    has_content = False

    def run(self) -> list[nodes.Node]:
        """Hold the place; the map is drawn when all pages have been read. Returns: a node to be filled by ``DrawMaps``."""
        self.env.note_dependency(str(LEDGER))
        return [map_node()]


class map_node(nodes.General, nodes.Element):
    """A map, as HTML in ``html``; without text, so that the site's search does not find its words everywhere."""


def visit_map(translator, node: map_node) -> None:
    """Write a map.

    Args:
        translator: of the page.
        node: of the map.
    """
    translator.body.append(node["html"])
    raise nodes.SkipNode


class DrawMaps(SphinxPostTransform):
    """Draws the maps of a page: where the directive asks for one, and at the end of a page that makes statements."""

    default_priority = 900
    builders = ("html", "dirhtml")

    def run(self, **options: object) -> None:
        """Draw.

        Args:
            **options: not used.
        """
        page, whole = self.env.docname, book_graph(self.env)
        for node in self.document.findall(map_node):
            node["html"] = self.html(whole, "Map of results")
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
        """Draw one map for this page. Returns: HTML.

        Args:
            graph: what to draw.
            name: of the map, for screen readers.
        """
        addresses = {
            label: f"{self.app.builder.get_relative_uri(self.env.docname, result.page)}#{label}"
            for label, result in graph.results.items()
        }
        titles = self.env.titles
        chapters = {result.chapter: titles[result.chapter].astext() for result in graph.results.values()}
        return _TEMPLATE.render(
            name=name,
            picture=draw(
                graph,
                chapters,
                addresses,
                f"{name}: arrows lead to statements that use the one they start from",
            ),
            results=graph.results.values(),
            names={label: plain(result.name) for label, result in graph.results.items()},
            addresses=addresses,
            uses=graph.uses,
            used_by=graph.used_by,
        )


def _template():
    environment = Environment(autoescape=True, trim_blocks=True, undefined=StrictUndefined)
    environment.filters["plain"] = plain
    return environment.from_string(Path(__file__).with_name("map.jinja").read_text(encoding="utf-8"))


_TEMPLATE = _template()


def book_graph(env) -> Graph:
    """The graph of the whole book. Returns: every statement with what it uses.

    Args:
        env: Sphinx's environment, after all pages have been read.
    """
    found = of_the_book()
    return Graph(found, book_uses(env, found))


def load_scripts(
    app: Sphinx, pagename: str, templatename: str, context: dict, doctree: nodes.document | None
) -> None:
    """Handle Sphinx's ``html-page-context``: only pages with a map or a scoreboard load the script for it.

    Args:
        app: the application.
        pagename: of the page.
        templatename: of the template.
        context: what the template will see.
        doctree: of the page, or None.
    """
    if doctree is None:
        return
    if any(True for _ in doctree.findall(map_node)):
        app.add_js_file("map.js", loading_method="defer")
    if any("scoreboard" in table["classes"] for table in doctree.findall(nodes.table)):
        app.add_js_file("scoreboard.js", loading_method="defer")

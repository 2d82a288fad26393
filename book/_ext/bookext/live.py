"""Panels in which a run grows step by step: where one stands on a page, and the scripts and style that only such pages load.

The panel is made by ``book/_static/live.js``; without scripts the stored figure beside it is all there is.
"""

from typing import ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

#: What makes panels, in the order in which it is read, and what only the smaller panels need.
MORE = "live_more.js"
SCRIPTS = ("live_worker.js", "live.js", MORE)


#: The page with the whole panels.
PAGE = "book/live"


class live_node(nodes.General, nodes.Element):
    """Where a panel stands: ``panel``, which one, ``still``, the label of the stored figure, and whether it is ``brief``."""


class LivePanel(SphinxDirective):
    """``{live-panel} run`` with ``:still:``, the label of the figure that stands there without scripts; ``:brief:`` on other pages."""

    required_arguments = 1
    option_spec: ClassVar = {"still": directives.unchanged_required, "brief": directives.flag}

    def run(self) -> list[nodes.Node]:
        """Leave a place. Returns: the node."""
        still, brief = self.options.get("still", ""), "brief" in self.options
        if not (still or brief):
            raise self.error("a panel needs :still:, the label of a stored figure, unless it is :brief:")
        return [live_node(panel=self.arguments[0], still=still, brief=brief)]


def visit(translator, node: live_node) -> None:
    """Write the place, empty and hidden until the script fills it."""
    panel = node["panel"]
    still = f' data-still="{nodes.make_id(node["still"])}"' if node["still"] else ""
    here = translator.builder.current_docname
    whole = f' data-whole="{translator.builder.get_relative_uri(here, PAGE)}"' if node["brief"] else ""
    translator.body.append(
        f'<div class="live" id="live-{panel}" data-live="{panel}"{still}{whole} hidden=""></div>\n'
    )
    raise nodes.SkipNode


def load_scripts(
    app: Sphinx, pagename: str, templatename: str, context: dict, doctree: nodes.document | None
) -> None:
    """Handle Sphinx's ``html-page-context``: only pages with a panel load what makes it."""
    panels = {} if doctree is None else {node["panel"] for node in doctree.findall(live_node)}
    if panels:
        app.add_css_file("live.css")
    for script in SCRIPTS if panels else ():
        if script != MORE or panels - {"run"}:
            app.add_js_file(script, loading_method="defer")

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


class live_node(nodes.General, nodes.Element):
    """Where a panel stands: ``panel``, which one, and ``still``, the label of the stored figure."""


class LivePanel(SphinxDirective):
    """``{live-panel} run`` with ``:still:``, the label of the figure that stands there without scripts."""

    required_arguments = 1
    option_spec: ClassVar = {"still": directives.unchanged_required}

    def run(self) -> list[nodes.Node]:
        """Leave a place. Returns: the node."""
        return [live_node(panel=self.arguments[0], still=self.options["still"])]


def visit(translator, node: live_node) -> None:
    """Write the place, empty and hidden until the script fills it."""
    panel, still = node["panel"], node["still"]
    translator.body.append(
        f'<div class="live" id="live-{panel}" data-live="{panel}" data-still="{nodes.make_id(still)}" hidden=""></div>\n'
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

"""The site's own Sphinx extension: pages generated from the ledger, and mends to the pages that others' extensions make."""

from sphinx.application import Sphinx

from bookext.finish import finish_site
from bookext.furniture import add_furniture, configure
from bookext.ledger_pages import Errata, Scoreboard
from bookext.map_of_results import DrawMaps, MapOfResults, load_scripts, map_node, visit_map
from bookext.mends import inline_imported_style, mend_page
from bookext.notebooks import write_beside_the_pages
from bookext.previews import remember_previews
from bookext.uses import PassageCollector


def setup(app: Sphinx) -> dict:
    """Register with Sphinx.

    Args:
        app: the application.

    Returns:
        What Sphinx wants to know of an extension.
    """
    app.add_directive("scoreboard", Scoreboard)
    app.add_directive("errata", Errata)
    app.connect("config-inited", configure)
    app.connect("html-page-context", add_furniture, priority=900)
    app.add_directive("map-of-results", MapOfResults)
    app.add_node(map_node, html=(visit_map, None))
    app.add_env_collector(PassageCollector)
    app.add_post_transform(DrawMaps)
    app.add_css_file("results.css")
    app.connect("html-page-context", load_scripts)
    app.connect("html-page-context", mend_page, priority=900)
    app.connect("html-page-context", remember_previews, priority=910)
    app.connect("build-finished", inline_imported_style)
    app.connect("build-finished", write_beside_the_pages)
    app.connect("build-finished", finish_site, priority=900)
    return {"version": "1", "env_version": 1, "parallel_read_safe": True, "parallel_write_safe": True}

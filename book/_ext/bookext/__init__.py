"""The site's own Sphinx extension: pages made from the ledger, and the last hand at what other extensions write.

Importing it loads nothing else: chapters' kernels take single modules of it.
"""

import os
import sys

if hasattr(sys.stdout, "reconfigure"):  # no command dies of a letter that the terminal does not have
    sys.stdout.reconfigure(errors="backslashreplace")


def write_side_by_side(app, env) -> None:
    """Handle Sphinx's ``env-updated``: pages are written by one process a core, though not every extension can read so."""
    app.parallel = 1 + (os.cpu_count() or 1)  # the first prepares pages for the others


def setup(app) -> dict:
    """Register with Sphinx. Returns: what Sphinx wants to know of an extension."""
    from bookext import bibliography, said, symbols
    from bookext.days import Days, list_every_page
    from bookext.finish import finish_site
    from bookext.ledger_pages import Errata, Scoreboard
    from bookext.map_of_results import (
        DrawMaps,
        MapOfResults,
        begin_whole_map,
        load_scripts,
        map_node,
        visit_map,
    )
    from bookext.notebooks import BesideThePages
    from bookext.page_context import add_context, configure, number_supplement
    from bookext.page_html import finish_page
    from bookext.rooms import Arguments, Rooms
    from bookext.search import index_statements
    from bookext.uses import PassageCollector, compare_statements

    bibliography.register()
    app.connect("config-inited", configure)
    app.connect("source-read", said.fill)
    app.connect("source-read", number_supplement)
    app.connect("source-read", symbols.name_chapters)
    app.add_directive("scoreboard", Scoreboard)
    app.add_directive("errata", Errata)
    app.add_directive("map-of-results", MapOfResults)
    app.add_directive("rooms", Rooms)
    app.add_directive("arguments", Arguments)
    app.add_node(map_node, html=(visit_map, None))
    app.add_env_collector(PassageCollector)
    app.connect("env-check-consistency", compare_statements)
    app.connect("env-check-consistency", begin_whole_map)
    app.add_post_transform(DrawMaps)
    app.connect("html-collect-pages", index_statements)
    app.connect("env-updated", write_side_by_side)
    days = Days()
    app.connect("env-updated", days.forget, priority=400)
    app.connect("env-updated", days.changed, priority=900)
    app.add_css_file("results.css")
    app.connect("html-page-context", load_scripts)
    app.connect("html-page-context", add_context, priority=900)
    app.connect("html-page-context", finish_page, priority=900)
    app.connect("build-finished", list_every_page, priority=400)
    notebooks = BesideThePages()
    app.connect("builder-inited", notebooks.begin)
    app.connect("build-finished", notebooks.end)
    app.connect("build-finished", finish_site, priority=900)
    return {"version": "1", "env_version": 1, "parallel_read_safe": True, "parallel_write_safe": True}

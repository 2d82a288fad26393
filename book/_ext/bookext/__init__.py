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
    from bookext import (
        bibliography,
        days,
        hypotheses,
        ledger_pages,
        page_context,
        rooms,
        said,
        sheets,
        symbols,
        uses,
    )
    from bookext import live as panels
    from bookext import map_of_results as maps
    from bookext.finish import finish_site
    from bookext.notebooks import BesideThePages
    from bookext.page_html import finish_page
    from bookext.proofs.pages import MachineChecked
    from bookext.provenance import PaperVersions
    from bookext.public import publish
    from bookext.search import index_statements

    bibliography.register()
    app.connect("config-inited", page_context.configure)
    for change in (said.fill, page_context.number_supplement, symbols.name_chapters):
        app.connect("source-read", change)
    app.add_directive("scoreboard", ledger_pages.Scoreboard)
    app.add_directive("errata", ledger_pages.Errata)
    app.add_directive("paper-versions", PaperVersions)
    app.add_directive("hypotheses", hypotheses.Hypotheses)
    app.add_directive("map-of-results", maps.MapOfResults)
    app.add_directive("machine-checked", MachineChecked)
    app.add_directive("rooms", rooms.Rooms)
    app.add_directive("statement-sheet", sheets.StatementSheet)
    app.add_directive("arguments", rooms.Arguments)
    app.add_directive("live-panel", panels.LivePanel)
    app.add_node(maps.map_node, html=(maps.visit_map, None))
    app.add_node(panels.live_node, html=(panels.visit, None))
    app.connect("doctree-read", uses.collect)
    app.connect("env-check-consistency", uses.compare_statements)
    app.add_post_transform(maps.DrawMaps)
    app.connect("html-collect-pages", index_statements)
    app.connect("env-updated", write_side_by_side)
    known = days.Days()
    app.connect("env-updated", known.forget, priority=400)
    app.connect("env-updated", known.changed, priority=900)
    app.add_css_file("results.css")
    app.connect("html-page-context", maps.load_scripts)
    app.connect("html-page-context", panels.load_scripts)
    app.connect("html-page-context", page_context.add_context, priority=900)
    app.connect("html-page-context", finish_page, priority=900)
    app.connect("build-finished", days.list_every_page, priority=400)
    notebooks = BesideThePages()
    app.connect("builder-inited", notebooks.begin)
    app.connect("build-finished", notebooks.end)
    app.connect("build-finished", sheets.fill, priority=800)
    app.connect("build-finished", finish_site, priority=900)
    app.connect("build-finished", publish, priority=950)
    return {"version": "1", "env_version": 1, "parallel_read_safe": True, "parallel_write_safe": True}

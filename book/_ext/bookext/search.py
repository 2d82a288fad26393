"""What the search knows statements by, beside the words on their pages: their names, which lead to their boxes."""

from docutils.nodes import document
from sphinx.addnodes import index
from sphinx.application import Sphinx

from bookext.chapters import statements
from bookext.results import name, plain


def index_statements(app: Sphinx, doctree: document, page: str) -> None:
    """Handle Sphinx's ``doctree-resolved``: an entry of the search's index for each statement of a page, such as "Theorem A+".

    A title counts for the search only where the query is at least half as long, and single letters and signs are no words to it.

    Args:
        app: the application.
        doctree: of the page; changed in place.
        page: its docname.
    """
    mine = {label: found["title"] for label, found in statements().items() if found["page"] == page}
    entries = [
        ("single", plain(name(label, title)).replace(";", ","), label, "main", None)
        for label, title in mine.items()
    ]
    if entries:
        doctree.insert(0, index(entries=entries))

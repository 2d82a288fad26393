"""What the search knows statements by, beside the words on their pages: their names, which lead to their boxes."""

from sphinx.application import Sphinx

from bookext.chapters import statements
from bookext.results import name, plain


def index_statements(app: Sphinx) -> tuple:
    """Handle Sphinx's ``html-collect-pages``: an entry of the search's index for each statement of the book, such as "Theorem A+".

    A title counts for the search only where the query is at least half as long, and single letters and signs are no words to it.
    Sphinx keeps no entries of pages that it does not write again, but words that no page has any more. Returns: no further pages.
    """
    index = app.builder.indexer
    index._index_entries = {page: [] for page in sorted(app.env.found_docs)}
    for label, found in sorted(statements().items()):
        index._index_entries[found["page"]].append((plain(name(label, found["title"])), label, "main"))
    for words in (index._mapping, index._title_mapping):
        for word in [word for word, pages in words.items() if not pages]:
            del words[word]
    return ()

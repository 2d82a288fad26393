"""The notebooks that the built site serves: valid, their links lead somewhere, their numbers are the site's."""

import functools
import re

import nbformat
import pytest
from built import CHAPTERS, SITE, file, ids, parsed

from bookext import address
from bookext.chapters import ROOT, docname, parts

pytestmark = pytest.mark.usefixtures("site")
every_chapter = pytest.mark.parametrize("page", CHAPTERS)


@functools.cache
def markdown(page: str, solutions: bool = True) -> str:
    """The Markdown of a chapter's notebook."""
    notebook = nbformat.read(SITE / "notebooks" / address.notebook(page, solutions), as_version=4)
    return "\n\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")


@every_chapter
@pytest.mark.parametrize("solutions", [False, True], ids=["student", "solutions"])
def test_every_link_of_a_notebook_leads_to_something_on_the_site(page, solutions):
    links = re.findall(re.escape(address.site()) + r"([^)#]*)#?([^)]*)\)", markdown(page, solutions))
    assert len(links) > 1
    for there, anchor in links:
        known = ids(
            SITE / (there.partition("?")[0] or "index.html")
        )  # also where there is no anchor: the page must be there
        assert not anchor or anchor in known, f"{there}#{anchor}"


@every_chapter
def test_a_notebook_numbers_equations_figures_and_exercises_as_the_site_does(page):
    articles = [parsed(file(docname(part))).article for part in parts(ROOT / f"{page}.md")]
    every = lambda name: [found for article in articles for found in article.find_all(class_=name)]
    equations = [number.get_text().strip("()\N{PILCROW SIGN}# ") for number in every("eqno")]
    assert re.findall(r"\\tag\{([\d.]+)\}", markdown(page)) == equations
    captions = [span.get_text().strip() for span in every("caption-number")]
    for kind in ("Fig.", "Exercise"):
        numbered = [caption for caption in captions if caption.startswith(kind)]
        assert re.findall(rf"^\*\*({kind} [\d.]*\d)\.", markdown(page), re.MULTILINE) == numbered


def test_the_notebooks_have_numbers_of_each_kind():
    for kind in (r"\\tag\{\d", r"^\*\*Fig\. \d", r"^\*\*Exercise \d"):
        assert sum(len(re.findall(kind, markdown(page), re.MULTILINE)) for page in CHAPTERS) > 5

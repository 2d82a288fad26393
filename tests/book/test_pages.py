"""Every page is in the table of contents, every figure speaks, every statement says whose it is."""

import re

import pytest

from bookext.chapters import ROOT, SUPPLEMENT, cells, chapter_of, chapters, docname, pages, statements
from bookext.results import whose
from shallowformer.verify.claims import parse


def test_every_page_is_reached_from_the_table_of_contents():
    on_disk = {
        path
        for path in (ROOT / "book").rglob("*.md")
        if not any(part.startswith("_") for part in path.relative_to(ROOT).parts)
        and path.parent != ROOT / "book/course/assignments"  # sources of notebooks, with solutions
    }
    assert on_disk == set(pages())


def test_a_supplement_stands_below_its_chapter_and_the_chapter_leads_to_it():
    order = [docname(path) for path in pages()]
    supplements = [page for page in order if page.endswith(SUPPLEMENT)]
    assert len(supplements) > 20
    for page in supplements:
        chapter = chapter_of(page)
        assert order[order.index(page) - 1] == chapter
        text, more = ((ROOT / f"{each}.md").read_text(encoding="utf-8") for each in (chapter, page))
        lines = "\n".join(re.findall(r"^\*In the supplement.*$", text, re.MULTILINE))
        sections = re.findall(r"^\((\S+)\)=\n## ", more, re.MULTILINE)
        assert len(sections) == more.count("\n## ")
        for label in sections:
            assert f"<{label}>`" in lines, label
        assert "## Supplement" not in text


@pytest.mark.parametrize("path", chapters(), ids=docname)
def test_every_figure_has_a_caption_and_an_alternative_text(path):
    for cell in cells(path):
        if cell.cell_type == "code" and "plt.show()" in cell.source:
            settings = cell.metadata["mystnb"]
            assert len(settings["image"]["alt"]) > 40
            assert len(settings["figure"]["caption"]) > 40


def test_a_figure_keeps_its_colours_on_dark_pages_if_and_only_if_it_has_a_colour_bar():
    """There colours stand for numbers; the style sheet turns light and dark round in all others."""
    cells = [
        cell
        for path in pages()
        for cell in re.findall(r"^```\{code-cell\}.*?^```$", path.read_text(encoding="utf-8"), re.M | re.S)
    ]
    with_bar = [cell for cell in cells if ".colorbar(" in cell]
    assert len(with_bar) > 2
    assert with_bar == [cell for cell in cells if "\n    classes: shaded\n" in cell]


def test_the_papers_statements_are_titled_by_their_numbers_and_ours_say_whose_they_are():
    for label, statement in statements().items():
        claim, title = parse(label), statement["title"]
        if claim.own:
            continue
        if claim.origin == "paper":
            assert title.endswith(f"{{cite:p}}`{claim.paper}`"), label
            assert claim.variant or title.startswith(f"{claim.number}:"), label
        else:
            assert not re.match(r"(Fact|Lemma|Remark|Theorem|Proposition|Corollary|Definition) \d", title), (
                label
            )
            assert "known" in whose(title) or "textbook" in whose(title) or "this book" in whose(title), label


def test_a_reference_to_a_statement_has_words_of_its_own():
    """Statements have no numbers here: without words a reference would read "Theorem"."""
    bare = [
        f"{docname(path)}: {found}"
        for path in pages()
        for found in re.findall(r"\{prf:ref\}`[^`<]+`", path.read_text(encoding="utf-8"))
    ]
    assert not bare


@pytest.mark.parametrize("path", pages(), ids=docname)
def test_no_page_calls_another_the_next_or_the_last(path):
    """Who reads a list of a page's links, or comes from the search, does not know which that is; and an order can change."""
    text = re.sub(r"\s+", " ", path.read_text(encoding="utf-8"))
    named = r"\[[^]]*\b(?:next|previous|last) (?:chapter|page)[^]]*\]\(|\b(?:the|of) (?:next|previous) chapters?\b"
    around = [
        text[found.start() - 40 : found.end() + 20] for found in re.finditer(named, text, re.IGNORECASE)
    ]
    assert [words for words in around if "→ goes to" not in words] == []  # a key of the slides

"""The book as a PDF: a few pages of the built site, printed and joined; what its parts do without a browser."""

from io import BytesIO
from unicodedata import normalize
from urllib.parse import urlsplit

import pytest
from built import SITE, file, parsed

pytest.importorskip("playwright.sync_api", reason="needs Playwright: pip install -r requirements.txt")
from pypdf import PdfReader, PdfWriter

from bookext import address, version
from bookext.chapters import Leaf, docname, leaves, pages, statements
from bookext.pdf import __main__ as command
from bookext.pdf import joining, links, printing

needs_chromium = pytest.mark.skipif(
    not printing.chromium(), reason="needs Chromium: apt-get install chromium, or name it in CHROMIUM"
)
#: Two short pages in reading order: one with statements, exercises and a figure that moves, and one that refers to a statement of it.
PRINTED = ["book/kernel_regime/softmax_calculus", "book/your_own_claim"]
CITED = "kr-fact-1-sharp"


@pytest.fixture(scope="module")
def pdf(site, tmp_path_factory):
    """The pages as a document, and what went wrong."""
    target = tmp_path_factory.mktemp("pdf") / "pages.pdf"
    troubles = command.make(target, site, PRINTED)
    return PdfReader(target), troubles


def jumps(reader):
    """Links: number of the page they stand on, number and height of where they lead, or None, and their address."""
    numbers = {page.indirect_reference.idnum: k for k, page in enumerate(reader.pages)}
    for k, page in enumerate(reader.pages):
        for link in (annotation.get_object() for annotation in page.get("/Annots", ())):
            if "/Dest" in link:
                yield k, (numbers[link["/Dest"][0].idnum], float(link["/Dest"][3])), None
            else:
                yield k, None, link["/A"]["/URI"]


def start(reader, page):
    """Number of a chapter's first sheet, by the bookmarks."""
    title = parsed(file(page)).select_one("article h1").get_text().removesuffix("#")
    (found,) = [mark for mark in _marks(reader.outline) if mark.title == title]
    return reader.get_destination_page_number(found)


def _marks(outline):
    for mark in outline:
        yield from _marks(mark) if isinstance(mark, list) else [mark]


@needs_chromium
def test_nothing_goes_wrong_and_everything_fits_the_paper(pdf):
    reader, troubles = pdf
    assert troubles == []
    assert {tuple(round(float(side)) for side in page.mediabox[2:]) for page in reader.pages} == {(595, 842)}


@needs_chromium
def test_links_between_printed_pages_are_jumps_and_the_others_lead_to_the_web(pdf):
    reader, _ = pdf
    found = list(jumps(reader))
    inner = [(k, to) for k, to, _ in found if to]
    second = start(reader, PRINTED[1])
    assert any(2 <= k < second and 2 <= to < second for k, (to, _) in inner)
    assert any(k < 2 and to == second for k, (to, _) in inner)  # from the contents
    assert all(0 <= height <= 842 for _, (_, height) in inner)
    away = {uri for _, _, uri in found if uri}
    assert {urlsplit(uri).scheme for uri in away} <= {"https", "http", "mailto"}
    assert not any("127.0.0.1" in uri or "localhost" in uri for uri in away)
    printed = {address.page(page) for page in PRINTED}
    assert not printed & {uri.partition("#")[0] for uri in away}
    assert any(uri.startswith(address.site()) for uri in away)  # to chapters that are not printed here


@needs_chromium
def test_a_jump_to_a_statement_arrives_at_it(pdf):
    reader, _ = pdf
    assert statements()[CITED]["page"] == PRINTED[0]
    assert parsed(file(PRINTED[1])).select(f"article a[href$='#{CITED}']")
    second = start(reader, PRINTED[1])
    ((to, height),) = {to for k, to, _ in jumps(reader) if to and k >= second > to[0]}
    words, lines = statements()[CITED]["title"].split(":")[0], []
    height_of = lambda place, text: place[1] * text[4] + place[3] * text[5] + place[5]
    reader.pages[to].extract_text(
        visitor_text=lambda text, place, at, *_: lines.append((height_of(place, at), text))
    )
    (line,) = [y for y, text in lines if text.strip().startswith(words)]
    assert 0 < height - line < 30  # in points: the statement begins just below


@needs_chromium
def test_bookmarks_page_labels_and_metadata(pdf):
    reader, _ = pdf
    one, below, other, _ = reader.outline
    assert [one.title, other.title] == ["The kernel regime", "Your turn"]
    chapter, sections = below
    assert chapter.title == "2. Softmax calculus"
    assert [mark.title for mark in sections][-2:] == ["Exercises", "Where next"]
    labels = reader.page_labels
    assert labels[:3] == ["i", "ii", "1"]
    assert labels[-1] == str(len(reader.pages) - 2)
    assert labels[-1] in reader.pages[-1].extract_text().split()
    assert version.VERSION in reader.pages[0].extract_text()
    assert version.VERSION in reader.metadata.subject
    assert reader.metadata.title.startswith("Gradient Descent on Shallow Transformers")


@needs_chromium
def test_proofs_and_exercises_are_printed_and_solutions_and_folded_code_are_not(pdf):
    reader, _ = pdf
    text = normalize("NFKC", " ".join(" ".join(page.extract_text().split()) for page in reader.pages))
    assert parsed(file(PRINTED[0])).select("details.solution")
    for gone in ("Show the code", "Show the solution", "Solution ", "Open in Colab", "Cite this page"):
        assert gone not in text
    proof = parsed(file(PRINTED[0])).select_one(
        "details.sd-dropdown:not(.solution) .proof p:not(.admonition-title)"
    )
    words = proof.get_text().split("\\(")[0].split()[:4]
    assert " ".join(words) in text
    assert "Exercise" in text
    assert "a slider moves this figure" in text


@needs_chromium
def test_what_is_wider_than_the_paper_missing_or_foreign_is_noticed(tmp_path):
    page = (
        '<!DOCTYPE html><html lang="en"><head><title>T</title><link rel="icon" href="data:,"></head><body>'
        '<article><h1>T</h1><p style="white-space: nowrap">{}</p><img src="http://localhost:9/a.png"></article>'
    )
    (tmp_path / "page.html").write_text(page.format("wide " * 300))
    leaf = Leaf("page", None)
    with printing.serving(tmp_path) as home, printing.pressing(printing.chromium()) as context:
        printed = printing.print_leaf(context, home, leaf, ["nowhere"], 1)
    for what in ("wider than the paper", "no such place: #nowhere", "foreign: http://localhost:9/"):
        assert any(what in trouble for trouble in printed.troubles)


@needs_chromium
@pytest.mark.thorough
def test_the_whole_book_is_printed_and_nothing_goes_wrong(site, tmp_path):
    assert command.make(tmp_path / "book.pdf", site) == []
    assert len(PdfReader(tmp_path / "book.pdf").pages) > 5 * len(pages())


def test_the_document_has_every_page_in_reading_order():
    every = leaves()
    assert [leaf.page for leaf in every] == [docname(path) for path in pages()]
    assert every[0].part is None
    assert [leaf.page for leaf in command.chosen([every[3].page, every[1].page])] == [
        every[1].page,
        every[3].page,
    ]
    with pytest.raises(ValueError, match="book/nowhere"):
        command.chosen(["book/nowhere"])


def test_places_are_found_from_every_page(tmp_path):
    (tmp_path / "book").mkdir()
    (tmp_path / "book/a.html").write_text(
        '<a href="b.html#x">.</a> <a href="#y">.</a> <a href="https://c.d/b.html#z">.</a>'
    )
    (tmp_path / "book/b.html").write_text(
        '<a href="../book/a.html#u%20v">.</a> <a href="../c.html#w">.</a>'
        '<a href="a.html#focus=v&amp;direction=down&amp;depth=1">.</a>'  # paper makes no choice on the map
    )
    assert links.places(tmp_path, ["book/a", "book/b"]) == {"book/a": ["u v", "y"], "book/b": ["x"]}


def test_addresses_are_of_the_site_or_not():
    home = "http://127.0.0.1:5/"
    assert links.target(f"{home}book/a.html#x%20y", home) == ("book/a", "x y")
    assert links.target(f"{home}_images/a.svg", home) is None
    assert links.target("https://b.c/a.html", home) is None
    assert links.published(f"{home}book/a.html#x", home, "https://b.c/d/") == "https://b.c/d/book/a.html#x"
    assert links.published("https://e.f/g", home, "https://b.c/d/") == "https://e.f/g"


def test_a_link_to_a_place_that_is_not_on_paper_is_noticed():
    from pypdf.annotations import Link
    from pypdf.generic import Fit, NameObject

    sheet = PdfWriter()
    sheet.add_blank_page(100, 100)
    sheet.add_annotation(0, Link(rect=(0, 0, 9, 9), target_page_index=0, fit=Fit.fit()))
    sheet.pages[0]["/Annots"][0].get_object()[NameObject("/Dest")] = NameObject("/nowhere")
    blank = PdfWriter()
    blank.add_blank_page(100, 100)
    made = []
    for writer in (sheet, blank):
        writer.write(out := BytesIO())
        made.append(out.getvalue())
    printed = printing.Printed(Leaf("book/a", None), made[0], "A", [], [])
    joined = joining.join(made[1], [printed], "http://127.0.0.1:5/", "https://b.c/")
    assert joined.troubles == ["book/a: no such place on paper: book/a#nowhere"]


def test_without_chromium_or_a_site_the_command_says_so(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(command, "chromium", lambda: None)
    assert command.main([str(tmp_path / "a.pdf")]) == 0
    assert "needs Chromium" in capsys.readouterr().out
    monkeypatch.setattr(command, "chromium", lambda: "chromium")
    assert command.main([str(tmp_path / "a.pdf"), "--site", str(tmp_path)]) == 1
    assert "make book" in capsys.readouterr().err
    if (SITE / "book/index.html").exists():
        assert command.main([str(tmp_path / "a.pdf"), "--pages", "book/nowhere"]) == 1
        assert "book/nowhere" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []

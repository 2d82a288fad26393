"""Join printed pages to one document: links between them become jumps inside it, headings its bookmarks."""

from dataclasses import dataclass, field
from io import BytesIO

from pypdf import PdfReader, PdfWriter
from pypdf.generic import ArrayObject, Fit, FloatObject, NameObject, NullObject, TextStringObject

from bookext.pdf import links
from bookext.pdf.printing import ABOVE, Printed

#: What a jump leaves free above the place that it leads to, in points.
AIR = 4


@dataclass
class Joined:
    """The document while it grows."""

    writer: PdfWriter  # of the document
    #: docname and id → index of the page, and how far above its lower edge, in points
    places: dict[tuple[str, str], tuple[int, float]] = field(default_factory=dict)
    troubles: list[str] = field(default_factory=list)  # links that lead nowhere


def length(pdf: bytes) -> int:
    """How many pages a document has."""
    return len(PdfReader(BytesIO(pdf)).pages)


def join(front: bytes, printed: list[Printed], home: str, site: str) -> Joined:
    """Join the pages, with links and bookmarks; links that cannot stay in the document lead to the published site."""
    joined = Joined(PdfWriter())
    spans = [(None, _add(joined, None, front))]
    spans += [(each.leaf.page, _add(joined, each.leaf.page, each.pdf)) for each in printed]
    for page, span in spans:
        for number in span:
            _relink(joined, page, number, home, site)
    _bookmarks(joined, printed)
    before = len(spans[0][1])
    joined.writer.set_page_label(0, before - 1, style="/r")
    if len(joined.writer.pages) > before:
        joined.writer.set_page_label(before, len(joined.writer.pages) - 1, style="/D", start=1)
    return joined


def describe(writer: PdfWriter, title: str, author: str, subject: str, date: str) -> None:
    """Say in the document what it is, and when, as PDF writes it: ``D:20261120000000Z``."""
    writer.metadata = None
    writer.add_metadata({"/Title": title, "/Author": author, "/Subject": subject, "/CreationDate": date, "/ModDate": date})  # fmt: skip
    writer.root_object[NameObject("/Lang")] = TextStringObject("en")
    writer.page_mode = "/UseOutlines"
    writer.create_viewer_preferences().display_doctitle = True


def _add(joined: Joined, page: str | None, pdf: bytes) -> range:
    """Append a document; remember its places."""
    reader, start = PdfReader(BytesIO(pdf)), len(joined.writer.pages)
    numbers = {each.indirect_reference.idnum: start + k for k, each in enumerate(reader.pages)}
    for each in reader.pages:
        joined.writer.add_page(each)
    if page:
        edge, marks = float(reader.pages[0].mediabox.top), reader.named_destinations
        joined.places[page, ""] = (start, edge)
        off = float(marks["/corner-of-paper"].top) - (edge - ABOVE) if "/corner-of-paper" in marks else 0
        for name, place in marks.items():
            height = min(float(place.top or 0) - off + AIR, edge)
            joined.places.setdefault((page, name.removeprefix("/")), (numbers[place.page.idnum], height))
    return range(start, len(joined.writer.pages))


def _relink(joined: Joined, page: str | None, number: int, home: str, site: str) -> None:
    """Let the links of a page lead into the document where they can."""
    kept = ArrayObject()
    for annotation in joined.writer.pages[number].get("/Annots", ()):
        link = annotation.get_object()
        if link.get("/Subtype") != "/Link":
            kept.append(annotation)
            continue
        leads, uri = None, None
        if "/Dest" in link:
            leads = (page, str(link["/Dest"]).removeprefix("/"))
        elif "/A" in link:
            uri = str(link["/A"].get("/URI", ""))
            leads = links.target(uri, home)
        if leads in joined.places:
            link.pop("/A", None)
            link[NameObject("/Dest")] = _destination(joined, joined.places[leads])
        elif leads and (leads[0], "") in joined.places:
            joined.troubles.append(f"{page}: no such place on paper: {leads[0]}#{leads[1]}")
            continue
        elif uri:
            link["/A"][NameObject("/URI")] = TextStringObject(links.published(uri, home, site))
        kept.append(annotation)
    if "/Annots" in joined.writer.pages[number]:
        joined.writer.pages[number][NameObject("/Annots")] = kept


def _destination(joined: Joined, place: tuple[int, float]) -> ArrayObject:
    number, height = place
    page = joined.writer.pages[number].indirect_reference
    return ArrayObject([page, NameObject("/XYZ"), FloatObject(0), FloatObject(height), NullObject()])


def _bookmarks(joined: Joined, printed: list[Printed]) -> None:
    """Parts, chapters and sections."""
    part_name, part_mark, chapter = None, None, None
    for each in printed:
        first, top = joined.places[each.leaf.page, ""]
        add = lambda text, number, height, above: joined.writer.add_outline_item(
            title=text, page_number=number, parent=above, fit=Fit.xyz(0, height), is_open=False
        )
        if each.leaf.part != part_name:
            part_name = each.leaf.part
            part_mark = add(part_name, first, top, None) if part_name else None
        above = chapter if each.leaf.depth and chapter is not None else part_mark
        mark = add(each.title, first, top, above)
        if not each.leaf.depth:
            chapter = mark
        for heading in each.headings:
            if heading["level"] == 2 and (each.leaf.page, heading["place"]) in joined.places:
                number, height = joined.places[each.leaf.page, heading["place"]]
                add(heading["text"], number, height, mark)

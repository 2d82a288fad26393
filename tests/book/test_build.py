"""The build, end to end, on a copy of the book with one more chapter made from the template."""

import functools
import json
import re
from pathlib import Path

import nbformat
from bs4 import BeautifulSoup
from building import CHAPTER, python

from bookext import address
from bookext.chapters import ROOT, chapters, statements


def html_pages(site: Path) -> list[Path]:
    """The book's pages; the search page is the theme's alone."""
    return [
        page for page in site.rglob("*.html") if "_static" not in page.parts and page.name != "search.html"
    ]


def test_the_chapter_from_the_template_is_a_page(site):
    page = BeautifulSoup((site / f"{CHAPTER}.html").read_text(encoding="utf-8"), "html.parser")
    assert page.select_one(".verdict-passed code").get_text() == "my-first-statement"
    assert page.find("details", class_="sd-dropdown")


def test_no_page_asks_another_host_for_anything(site):
    for page in html_pages(site):
        soup = BeautifulSoup(page.read_text(encoding="utf-8"), "html.parser")
        loaded = [tag.get("src") or tag.get("href") for tag in soup.find_all(["script", "img", "iframe", "link", "source"])
                  if tag.name != "link" or tag.get("rel") != ["canonical"]]  # fmt: skip
        assert [url for url in loaded if url and re.match(r"(https?:)?//", url)] == [], page.name
        assert "unpkg" not in str(soup), page.name
        assert "cdn" not in " ".join(script.get_text() for script in soup.find_all("script")).lower(), (
            page.name
        )


@functools.cache
def read(page: Path) -> BeautifulSoup:
    return BeautifulSoup(page.read_text(encoding="utf-8"), "html.parser")


def dead_links(page: Path, links: list[str]) -> list[str]:
    """Links of a page that lead to no element."""
    targets = [(link, *link.partition("#")[::2]) for link in links]
    return [
        link
        for link, file, anchor in targets
        if not read(page.parent / file if file else page).find(id=anchor)
    ]


def test_the_scoreboard_lists_every_statement_and_its_links_lead_to_statements(site):
    page = site / "book/scoreboard.html"
    links = [a["href"] for a in read(page).select("table.scoreboard td:first-child a.reference.internal")]
    assert len(links) == (ROOT / "results/ledger.json").read_text(encoding="utf-8").count('\n  "id"')
    assert dead_links(page, links) == []


def test_the_map_shows_every_statement_and_its_links_lead_to_statements(copy, site):
    page = site / "book/map.html"
    soup = read(page)
    stated = list(statements(copy))
    assert "my-first-statement" in stated
    assert sorted(box["data-statement"] for box in soup.select(".map-picture .node")) == sorted(stated)
    assert [row["data-statement"] for row in soup.select(".map-table tbody tr")] == stated
    links = [a["href"] for a in soup.select(".map a")]
    assert {link.partition("#")[2] for link in links} == set(stated)
    assert dead_links(page, sorted(set(links))) == []


def test_a_chapter_ends_with_its_part_of_the_map(copy, site):
    for chapter in {statement["page"] for statement in statements(copy).values()}:
        page = site / f"{chapter}.html"
        (fold,) = read(page).select("details.map-neighbourhood")
        shown = {box["data-statement"] for box in fold.select(".map-picture .node")}
        assert {label for label, s in statements(copy).items() if s["page"] == chapter} <= shown
        links = {a["href"] for a in fold.select(".map a")}
        assert dead_links(page, sorted(links)) == []


def test_every_checked_statement_has_a_badge_that_leads_to_its_check(copy, site):
    for entry in json.loads((copy / "results/ledger.json").read_text(encoding="utf-8")):
        page = site / f"{entry['chapter']}.html"
        badge = read(page).select_one(f"#{entry['id']} a.verdict-badge")
        assert badge.get_text() == entry["headline"]
        assert badge["href"] == f"#check-{entry['id']}"
        assert read(page).find(id=badge["href"][1:])["class"] == ["verdict", "verdict-passed"]


def test_no_markup_is_left_in_the_text(site):
    for page in html_pages(site):
        soup = BeautifulSoup(page.read_text(encoding="utf-8"), "html.parser")
        for tag in soup.find_all(["pre", "code", "script", "style"]):
            tag.decompose()
        for math in soup.find_all(class_="math"):
            math.decompose()
        assert (
            re.findall(r"\{(?:prf|cite|eq|ref)[^}]*\}|^:::|\$\\|\\begin\{", soup.get_text(), re.MULTILINE)
            == []
        ), page.name


def test_a_false_claim_fails_the_build_and_is_named(copy, site):
    """Runs last: it breaks the copy."""
    chapter = copy / f"{CHAPTER}.md"
    text = chapter.read_text(encoding="utf-8")
    chapter.write_text(text.replace("return 2 * (1", "return 1.9 * (1"), encoding="utf-8")
    run = python(copy, "-m", "bookext.execute", "--jobs", "1")
    assert run.returncode == 1
    assert "claim my-first-statement expects 'tight' but its check says 'violated'" in run.stderr
    chapter.write_text(text, encoding="utf-8")


def test_a_ledger_that_says_something_else_fails_the_build_and_is_named(copy, site):
    ledger = copy / "results/ledger.json"
    text = ledger.read_text(encoding="utf-8")
    ledger.write_text(text.replace('"expectation": "loose"', '"expectation": "tight"', 1), encoding="utf-8")
    run = python(copy, "-m", "bookext.execute", "--jobs", "1")
    ledger.write_text(text, encoding="utf-8")
    assert run.returncode == 1
    assert "expectation is 'loose', the ledger says 'tight'" in run.stderr
    assert "make ledger" in run.stderr


def test_a_change_in_the_package_makes_every_chapter_stale(copy, site):
    before = python(
        copy, "-c", "from bookext.execute import environment_key; print(environment_key())"
    ).stdout
    (copy / "lib/shallowformer/softmax.py").write_text("# changed", encoding="utf-8")
    after = python(copy, "-c", "from bookext.execute import environment_key; print(environment_key())").stdout
    assert before
    assert before != after


def site_notebooks(site: Path) -> dict[str, str]:
    """Docname → Markdown of the notebook that the site serves."""
    read = lambda docname: nbformat.read(site / "notebooks" / address.notebook(docname), as_version=4)
    docnames = [path.relative_to(ROOT).with_suffix("").as_posix() for path in chapters()] + [CHAPTER]
    return {docname: "\n\n".join(cell.source for cell in read(docname).cells if cell.cell_type == "markdown") for docname in docnames}  # fmt: skip


def test_every_link_of_a_notebook_leads_to_something_on_the_site(site):
    @functools.cache
    def anchors(page):
        text = (site / (page or "index.html")).read_text(encoding="utf-8")
        return {element["id"] for element in BeautifulSoup(text, "html.parser").find_all(id=True)}

    for docname, text in site_notebooks(site).items():
        links = re.findall(re.escape(address.site()) + r"([^)#]*)#?([^)]*)\)", text)
        assert len(links) > 1
        for page, anchor in links:
            ids = anchors(page)  # also where there is no anchor: the page must be there
            assert not anchor or anchor in ids, f"{docname}: {page}#{anchor}"


def test_a_notebook_numbers_equations_figures_and_exercises_as_the_site_does(site):
    found = 0
    for docname, text in site_notebooks(site).items():
        page = BeautifulSoup((site / f"{docname}.html").read_text(encoding="utf-8"), "html.parser")
        on_the_page = [
            number.get_text().strip("()\N{PILCROW SIGN}# ") for number in page.select("article .eqno")
        ]
        assert re.findall(r"\\tag\{(\d+)\}", text) == on_the_page, docname
        captions = [span.get_text().strip() for span in page.select("article .caption-number")]
        for kind in ("Fig.", "Exercise"):
            numbered = [caption for caption in captions if caption.startswith(kind)]
            assert re.findall(rf"^\*\*({kind} \d+)\.", text, re.MULTILINE) == numbered, docname
            found += len(numbered)
        found += len(on_the_page)
    assert found > 15

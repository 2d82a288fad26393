"""What the pages of the built site say and lead to: statements, verdicts, maps, badges; nothing foreign and no markup."""

import re

import pytest
from built import ALL_PAGES, BOOK_PAGES, CHAPTERS, ENTRIES, LABELS, file, ids, neighbours, parsed, text

from bookext import address
from bookext.chapters import chapter_of, statements

pytestmark = pytest.mark.usefixtures("site")


def test_these_are_all_pages(site):
    found = {page.relative_to(site).with_suffix("").as_posix() for page in site.rglob("*.html")}
    assert {page for page in found if not page.startswith(("_static", "_sources", "s/"))} == set(ALL_PAGES)


@pytest.mark.parametrize(
    "page", [page for page in ALL_PAGES if page != "search"]
)  # which is the theme's alone
def test_no_page_asks_another_host_for_anything(page):
    soup = parsed(file(page))
    loaded = [tag.get("src") or tag.get("href") for tag in soup.find_all(["script", "img", "iframe", "link", "source"])
              if tag.name != "link" or tag.get("rel") != ["canonical"]]  # fmt: skip
    assert [url for url in loaded if url and re.match(r"(https?:)?//", url)] == []
    assert "unpkg" not in text(file(page))
    assert "cdn" not in " ".join(script.get_text() for script in soup.find_all("script")).lower()


@pytest.mark.parametrize("page", [page for page in ALL_PAGES if page != "search"])
def test_no_markup_is_left_in_the_text(page):
    left_out = {"pre", "code", "script", "style"}
    shown = [
        text
        for text in parsed(file(page)).find_all(string=True)
        if not any(around.name in left_out or "math" in around.get("class", ()) for around in text.parents)
    ]
    assert re.findall(r"\{(?:prf|cite|eq|ref)[^}]*\}|^:::|\$\\|\\begin\{", "".join(shown), re.MULTILINE) == []


def dead_links(page: str, links: list[str]) -> list[str]:
    """Links of a page, relative to it, that lead to no element."""
    targets = [(link, *link.partition("#")[::2]) for link in links]
    here = file(page)
    return [
        link
        for link, there, name in targets
        if name not in ids((here.parent / there).resolve() if there else here)
    ]


def test_the_scoreboard_lists_every_statement_and_its_links_lead_to_statements():
    page = "book/scoreboard"
    links = [
        a["href"] for a in parsed(file(page)).select("table.scoreboard td:first-child a.reference.internal")
    ]
    assert len(links) == len(LABELS)
    assert dead_links(page, links) == []


def test_the_map_shows_every_statement_and_its_links_lead_to_statements():
    page, stated = "book/map", list(statements())
    soup = parsed(file(page))
    assert sorted(box["data-statement"] for box in soup.select(".map-picture .node")) == sorted(stated)
    assert [row["data-statement"] for row in soup.select(".map-table tbody tr")] == stated
    links = [a["href"] for a in soup.select(".map a[href]")]
    assert {link.partition("#")[2] for link in links} == set(stated)
    assert dead_links(page, sorted(set(links))) == []


@pytest.mark.parametrize(
    "page", sorted({chapter_of(statement["page"]) for statement in statements().values()})
)
def test_a_chapter_ends_with_its_part_of_the_map(page):
    (fold,) = parsed(file(page)).find_all("details", class_="map-neighbourhood")
    shown = {box["data-statement"] for box in fold.select(".map-picture .node")}
    assert {label for label, s in statements().items() if chapter_of(s["page"]) == page} <= shown
    assert dead_links(page, sorted({a["href"] for a in fold.select(".map a")})) == []


@pytest.mark.parametrize("page", sorted({statement["page"] for statement in statements().values()}))
def test_a_statement_says_by_how_many_it_is_used_if_by_any(page):
    rows = {row["data-statement"]: row for row in parsed(file("book/map")).select(".map-table tbody tr")}
    users = {label: len(row.find_all("td")[-1].find_all("a")) for label, row in rows.items()}
    mine = [label for label, s in statements().items() if s["page"] == page]
    soup = parsed(file(page))
    said = {label: soup.find(id=label).select("a.used-by") for label in mine}
    assert {label: [link.get_text() for link in links] for label, links in said.items()} == {
        label: [f"used by {users[label]}"] * bool(users[label]) for label in mine
    }
    for label, links in said.items():
        assert all(link["href"].endswith(f"/map.html#focus={label}&direction=down&depth=1") for link in links)


def test_every_checked_statement_has_a_page():
    assert {statements()[label]["page"] for label in LABELS} <= set(ALL_PAGES)


@pytest.mark.parametrize("page", ALL_PAGES)
def test_every_checked_statement_has_a_badge_that_leads_to_its_check_and_no_other_statement_has_one(page):
    soup = parsed(file(page))
    checked = {entry["id"]: entry for entry in ENTRIES if statements()[entry["id"]]["page"] == page}
    badges = soup.find_all("a", class_="verdict-badge", href=re.compile("^#check-"))
    assert {badge.find_parent(class_="proof")["id"] for badge in badges} == set(checked)
    for label, entry in checked.items():
        badge = soup.find(id=label).find("a", class_="verdict-badge")
        assert badge.get_text() == entry["headline"]
        assert badge["href"] == f"#check-{label}"
        assert soup.find(id=badge["href"][1:])["class"] == ["verdict", "verdict-passed"]


@pytest.mark.parametrize("page", BOOK_PAGES)
def test_previous_and_next_lead_through_the_book(page):
    leads = [parsed(file(page)).find("a", class_=name) for name in ("left-prev", "right-next")]
    found = [(file(page).parent / lead["href"]).resolve() if lead else None for lead in leads]
    assert found == [file(each).resolve() if each else None for each in neighbours(page)]


@pytest.mark.parametrize("page", CHAPTERS)
def test_a_chapter_leads_to_its_notebook(site, page):
    soup = parsed(file(page))
    for kind, solutions in (("notebook", False), ("solutions", True)):
        colab = soup.select_one("a.btn-colab-solutions" if solutions else "a.btn-colab")
        assert colab["href"] == address.colab(page, solutions)
        download = (site / page).parent.joinpath(soup.select_one(f"a.btn-download-{kind}")["href"]).resolve()
        assert download == site.resolve() / "notebooks" / address.notebook(page, solutions)
        assert ("assert feedback.passed" in download.read_text(encoding="utf-8")) <= solutions


@pytest.mark.parametrize("page", BOOK_PAGES)
def test_a_page_says_how_to_cite_it(page):
    assert f"url = {{{address.page(page)}}}" in parsed(file(page)).select_one(".cite-page pre").get_text()

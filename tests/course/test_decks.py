"""Decks and figures: a deck says what the chapter says, shows its figures, fits, and loads nothing from elsewhere."""

import os
import re
import shutil

import pytest
from bs4 import BeautifulSoup

from bookext.chapters import ROOT
from bookext.course import decks, pictures
from bookext.markup import MarkupError

CHAPTER = ROOT / "book/kernel_regime/gradients.md"
PAGE = """<figure id="fig-one"><a class="picture" href="../../_images/a.svg"><img alt="A line: it rises." src="../../_images/a.svg"></a>
<figcaption><p><span class="caption-number">Fig. 3.1 </span><span class="caption-text">It rises by 5 * 2_m $, not <span class="math notranslate nohighlight">\\(W_{mm}\\)</span>.</span></p></figcaption></figure>
<figure id="fig-two"><div class="interactive"></div><figcaption><p><span class="caption-text">It moves.</span></p></figcaption></figure>"""
SVG = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 100 50"><path d="M0 50L100 0" stroke="black"/></svg>'


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A site of one page with two figures, one of which moves."""
    folder = tmp_path_factory.mktemp("site")
    for name, text in (("book/kernel_regime/gradients.html", PAGE), ("_images/a.svg", SVG)):
        (folder / name).parent.mkdir(parents=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def deck(site, tmp_path_factory):
    """A deck of one chapter."""
    week = decks.Week(1, "Heads", "say $T$.", (decks.Reading(CHAPTER, "Lemma 1, for every $T$"),))
    (path,) = decks.build(tmp_path_factory.mktemp("decks") / "out", [week], site)
    return path


def test_a_deck_has_the_core_statements_and_the_figures(deck):
    soup = BeautifulSoup(deck.read_text(encoding="utf-8"), "html.parser")
    headings = [heading.get_text() for heading in soup.select(".slides h1, .slides h2, .slides h3")]
    assert len(decks.core(CHAPTER)) == 2
    assert headings[:3] == ["Week 1: Heads", "The gradients", "Lemma 1: gradients in closed form"]
    assert headings[3].startswith("Remark 4")
    assert headings[4:] == ["Fig. 3.1"]
    assert r"\nabla_{W_i}f&=\frac" in soup.get_text()
    assert "{prf:ref}" not in soup.get_text()
    assert "Each token pulls the head towards itself" in soup.select_one("blockquote").get_text()
    assert [image["alt"] for image in soup.select("img")] == ["A line: it rises."]
    assert (deck.parent / soup.img["src"]).read_text(encoding="utf-8") == SVG
    assert soup.figcaption.get_text().strip() == r"It rises by 5 * 2_m $, not \(W_{mm}\)."
    assert soup.select_one("figcaption span.math").get_text() == r"\(W_{mm}\)"


def test_of_a_chapter_whose_opening_is_read_only_that_is_shown():
    slides = decks.chapter(decks.Reading(CHAPTER, "the idea", opening=True), [])
    assert "## The gradients" in slides
    assert "###" not in slides


def test_a_deck_names_no_other_host(deck):
    for page in deck.parent.glob("*.html"):
        soup = BeautifulSoup(page.read_text(encoding="utf-8"), "html.parser")
        loaded = [
            tag.get("src") or tag.get("href") for tag in soup.select("script[src], link[href], img[src]")
        ]
        assert [address for address in loaded if re.match(r"(https?:)?//", address)] == []
        assert [address for address in loaded if not (deck.parent / address.split("?")[0]).exists()] == []


def test_a_deck_works_in_a_browser_without_a_network(deck):
    playwright = pytest.importorskip("playwright.sync_api")
    names = ("chromium", "chromium-browser", "google-chrome")
    chromium = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, names)), None)
    if not chromium:
        pytest.skip("needs Chromium")
    with playwright.sync_playwright() as play:
        browser = play.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        tab = browser.new_page(viewport={"width": 1280, "height": 760})
        asked, said = [], []
        tab.on("request", lambda request: asked.append(request.url))
        tab.on("pageerror", lambda error: said.append(str(error)))
        tab.goto(deck.as_uri())
        formulas = 0
        for _ in range(tab.evaluate("Reveal.getTotalSlides()")):
            tab.wait_for_function("['done', 'too large'].includes(Reveal.getCurrentSlide().dataset.set)")
            assert tab.evaluate("Reveal.getCurrentSlide().dataset.set") == "done"
            assert tab.locator("mjx-merror").count() == 0
            formulas = tab.locator("mjx-container").count()
            tab.evaluate("Reveal.next()")
        browser.close()
    assert formulas > 10
    assert said == []
    assert [address for address in asked if not address.startswith(("file:", "data:"))] == []


def test_the_pack_has_the_figures_and_their_captions(site, tmp_path):
    pictures.pack(tmp_path / "figures", site, ["book/kernel_regime/gradients"])
    assert {path.name for path in (tmp_path / "figures").iterdir()} == {"fig-one.svg", "captions.md"}
    text = (tmp_path / "figures/captions.md").read_text(encoding="utf-8")
    assert "Fig. 3.1: fig-one" in text
    assert "It rises by 5 * 2_m $, not $W_{mm}$." in text
    assert "*In words:* A line: it rises." in text
    assert "moves, and stands on the site only" in text
    assert pictures.pack(tmp_path / "none", tmp_path) == []
    assert not (tmp_path / "none").exists()


def test_the_syllabus_has_six_weeks_whose_minutes_add_up():
    text = decks.SYLLABUS.read_text(encoding="utf-8")
    told = {int(week): int(minutes) for week, minutes in re.findall(r"^\| (\d) \| .* \| (\d+) \| \d \|$", text, re.MULTILINE)}  # fmt: skip
    sections = re.split(r"^## ", text, flags=re.MULTILINE)
    added = {int(s[5]): sum(map(int, re.findall(r"^\| \[.*?\| (\d+) \|", s, re.MULTILINE))) for s in sections if re.match(r"Week \d:", s)}  # fmt: skip
    assert [week.number for week in decks.weeks()] == [1, 2, 3, 4, 5, 6]
    assert all(week.aims and len(week.readings) >= 3 for week in decks.weeks())
    assert told == added


def test_a_syllabus_with_a_chapter_that_is_not_there_is_refused(tmp_path):
    page = tmp_path / "index.md"
    page.write_text(
        "## Week 1: A\n\n| read | minutes | for |\n|---|---|---|\n| [B](b.md) | 5 | c |\n", encoding="utf-8"
    )
    with pytest.raises(MarkupError, match="not there"):
        decks.weeks(page)


def test_a_formula_with_a_number_is_left_to_mathjax():
    kept = "$$\na\n\\tag{1} $$\n\n$$\n\\begin{aligned}a\\\\b\\end{aligned}\n$$"
    assert decks.unsplit(kept) == kept
    assert ":nowrap:" in decks.unsplit("  $$\n  a\\\\b\n  \\tag{1} $$")

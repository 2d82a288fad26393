"""The style sheet and the script, on a page of their own: pictures, cards and long identifiers on a phone, heat maps in the dark."""

import pytest
from browsing import DESKTOP, PHONE, visiting

from bookext.chapters import ROOT

STYLE, SCRIPT = ((ROOT / f"book/_static/book.{kind}").read_text(encoding="utf-8") for kind in ("css", "js"))
IDENTIFIER = "shallowformer.<wbr>kernel_<wbr>regime.<wbr>model.<wbr>gradients"
PAGE = f"""<!doctype html><html lang="en" data-content_root="./" data-theme="dark"><meta charset="utf-8"><title>T</title>
<style>* {{ box-sizing: border-box }} body {{ margin: 16px; font: 16px sans-serif }} figure {{ margin: 0; padding: 8px }}</style><style>{STYLE}</style>
<div class="bd-content"><article class="bd-article"><h1>T</h1>
<figure><a class="picture" href="#"><img id="narrow" src="400.svg" alt="A"></a></figure>
<figure><a class="picture" href="#"><img id="wide" src="500.svg" alt="A" class="shaded"></a></figure>
<figure><a class="picture" href="#"><img id="full" src="1200.svg" alt="A"></a></figure>
<table class="as-cards"><thead><tr><th>a<th>b<th>x</tr></thead>
<tbody><tr><td>1<td data-name="b:">2<td><span class="column-name">x</span>3</tbody></table>
<p>An identifier is too long for what is left of its line: <code id="code"><span class="pre">{IDENTIFIER}</span></code>.</p>
</article></div><script>{SCRIPT}</script></html>"""


@pytest.fixture
def shown(browser, tmp_path):
    """The page in a window of some size, once the script has measured it."""
    (tmp_path / "page.html").write_text(PAGE, encoding="utf-8")
    for width in (400, 500, 1200):
        picture = f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="50"/>'
        (tmp_path / f"{width}.svg").write_text(picture, encoding="utf-8")

    def show(viewport, ask, until="a.picture.is-snug"):
        with visiting(browser, viewport=viewport) as context:
            tab = context.new_page()
            tab.goto((tmp_path / "page.html").as_uri())
            tab.wait_for_selector(until, state="attached")
            return tab.evaluate(ask)

    return show


WIDTHS = "() => [...document.images].map(image => Math.round(image.clientWidth - 2 * parseFloat(getComputedStyle(image).paddingLeft)))"


def test_on_a_phone_a_picture_keeps_its_size_unless_it_is_little_wider_than_the_column(shown):
    # Before a picture is there it fits.
    narrow, wide, full = shown(PHONE, WIDTHS, until="a.picture:not(.is-snug) #full")
    assert 320 < narrow < 358
    assert (wide, full) == (500, 1200)


def test_on_a_large_window_only_what_is_wider_than_the_column_is_made_smaller(shown):
    narrow, wide, full = shown({**DESKTOP, "width": 1000}, WIDTHS)
    assert (narrow, wide) == (400, 500)
    assert full < 968


def test_dark_pages_invert_pictures_but_no_heat_map(shown):
    filters = shown(DESKTOP, "() => [...document.images].map(image => getComputedStyle(image).filter)")
    assert ["invert" in filter for filter in filters] == [True, False, True]


@pytest.mark.parametrize(("viewport", "seen"), [(PHONE, True), (DESKTOP, False)], ids=["phone", "desktop"])
def test_a_column_s_name_with_a_formula_is_seen_on_cards_only(shown, viewport, seen):
    assert shown(viewport, "() => document.querySelector('.column-name').checkVisibility()") == seen


def test_a_long_identifier_stays_in_its_column(shown):
    inside = """() => {
      const column = document.querySelector("article").getBoundingClientRect();
      return [...document.getElementById("code").getClientRects()].map(box => [box.left >= column.left, box.right <= column.right]);
    }"""
    lines = shown(PHONE, inside)
    assert len(lines) > 1
    assert all(left and right for left, right in lines)

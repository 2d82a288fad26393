import json
import re

import pytest
from bs4 import BeautifulSoup

from shallowformer import interactive, svg


def draw(k):
    panel = svg.Panel("A dot that moves", x=(0, 4), y=(0, 1))
    panel.dot(k, 0.5, 5, "truth")
    panel.dot(0, 0, 3, "quiet")
    panel.text(2, 0.9, f"k < {k}")
    return [panel]


def figure(**changes):
    arguments = {"draw": draw, "over": [0, 1, 2, 3, 4], "start": 2, "label": "k's value", "say": lambda k: f"k is <{k}> & it's fine"}  # fmt: skip
    return interactive.slider(**(arguments | changes))


def soup(found):
    return BeautifulSoup(found.html, "html.parser")


def test_the_same_figure_has_the_same_bytes():
    assert figure().html == figure().html
    assert figure()._repr_html_() == figure().html


def test_the_start_position_is_drawn_without_the_script():
    page = soup(figure())
    moving, still = page.select("circle")
    assert float(moving["cx"]) == pytest.approx(draw(2)[0].px(2), abs=0.05)
    assert page.select_one("text").get_text() == "k < 2"
    assert page.select_one("p").get_text() == "k is <2> & it's fine"
    assert page.select_one("label").has_attr("hidden"), "a slider that does nothing is not shown"
    assert "data-moves" in moving.attrs
    assert "data-moves" not in still.attrs


def test_frames_hold_what_differs_and_nothing_else():
    frames = json.loads(soup(figure()).select_one(".interactive")["data-frames"])
    places = [svg.number(draw(k)[0].px(k)) for k in range(5)]
    assert frames == {
        "says": [f"k is <{k}> & it's fine" for k in range(5)],
        "parts": [{"cx": places}, {"": [f"k < {k}" for k in range(5)]}],
    }


def test_words_are_escaped():
    html = figure(label="a \"<b>\" & 'c'").html
    assert "<b>" not in html
    assert soup(figure(label='a "<b>"')).select_one("label").get_text().startswith('a "<b>"')
    breaking = figure(say=lambda k: f"</script><script>alert({k})</script>' onclick='x")
    assert [len(soup(breaking).select(name)) for name in ("script", "[onclick]")] == [1, 0]


def test_the_slider_is_labelled_and_says_what_the_figure_says():
    control = soup(figure()).select_one("label input[type=range]")
    assert (control["min"], control["max"], control["value"]) == ("0", "4", "2")
    assert control["aria-valuetext"] == "k is <2> & it's fine"
    assert [end.get_text() for end in soup(figure(over=[-2, 2])).select("label i")] == ["−2", "2"]
    assert [end.get_text() for end in soup(figure(ends=("few", "many"))).select("label i")] == ["few", "many"]


def test_nothing_clashes_and_nothing_is_asked_of_a_host():
    html = figure().html
    assert not re.search(r"\sid=|https?:|url\(|@import|src=", html)
    assert all(image["role"] == "img" and image["aria-label"] for image in soup(figure()).select("svg"))


def test_a_figure_is_named_where_there_is_no_html():
    assert repr(figure()) == "Interactive figure: k's value. k is <2> & it's fine"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"over": [1]}, r"over must hold at least two positions, got \[1\]"),
        ({"start": 1.5}, r"start must be one of the positions \[0, 1, 2, 3, 4\], got 1.5"),
        ({"label": " "}, "label must say what the slider moves, got ' '"),
        ({"say": lambda k: "" if k == 3 else "fine"}, "say must return a sentence at every position, got nothing at 3"),
        ({"draw": lambda k: draw(k) * (k + 1)}, "same elements at every position; those at 1 differ from those at 0"),
        ({"draw": lambda k: []}, "draw must return at least one panel, got none"),
    ],
)  # fmt: skip
def test_bad_arguments_are_refused_by_name(changes, message):
    with pytest.raises(ValueError, match=message):
        figure(**changes)


def luminance(colour):
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return sum(w * c for w, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


@pytest.mark.parametrize("palette", [interactive.LIGHT, interactive.DARK], ids=["light", "dark"])
def test_colours_stand_out_from_their_paper(palette):
    hexadecimal = {name: re.search("#[0-9a-f]{6}", colour)[0] for name, colour in palette.items()}
    assert {*svg.PALETTE, "paper"} == {*hexadecimal, "none"}
    paper = luminance(hexadecimal.pop("paper"))
    for name, colour in hexadecimal.items():
        dark, light = sorted((luminance(colour), paper))
        assert (light + 0.05) / (dark + 0.05) > (7 if name == "ink" else 2), name


# In a browser


def bare(*figures):
    body = "<hr>".join(found.html for found in figures)
    return f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Bare</title></head><body><main><h1>Bare</h1>{body}</main></body></html>'


#: What JupyterLab and Colab do with an output: insert it as text, then replace each script by a copy that runs.
INSERT = """html => {
  document.body.innerHTML = html;
  for (const old of document.querySelectorAll("script")) {
    const copy = document.createElement("script");
    copy.textContent = old.textContent;
    old.replaceWith(copy);
  }
}"""


@pytest.fixture(params=["in the page", "inserted"])
def page(request, browser):
    opened = browser.new_page()
    problems = []
    opened.on("pageerror", lambda error: problems.append(error.message))
    opened.on("request", lambda asked: problems.append(asked.url))
    if request.param == "in the page":
        opened.set_content(bare(figure(), figure(label="other")))
    else:
        opened.set_content("<title>Notebook</title>")
        opened.evaluate(INSERT, figure().html + figure(label="other").html)
    yield opened
    opened.close()
    assert problems == []


def state(page, number):
    return page.evaluate(
        """n => {
          const root = document.querySelectorAll(".interactive")[n], input = root.querySelector("input");
          return [+input.value, root.querySelector("circle").getAttribute("cx"), root.querySelector("text").textContent,
                  root.querySelector("p").textContent, input.getAttribute("aria-valuetext")];
        }""",
        number,
    )


def expected(k):
    says = f"k is <{k}> & it's fine"
    return [k, svg.number(draw(k)[0].px(k)), f"k < {k}", says, says]


def test_the_keyboard_moves_the_figure_and_no_other(page):
    page.get_by_label("k's value").focus()
    for key, position in (("ArrowRight", 3), ("End", 4), ("Home", 0), ("ArrowUp", 1)):
        page.keyboard.press(key)
        assert state(page, 0) == expected(position)
    assert state(page, 1) == expected(2)


def test_without_javascript_the_still_picture_stands_alone(browser):
    context = browser.new_context(java_script_enabled=False)
    opened = context.new_page()
    opened.set_content(bare(figure()))
    assert opened.locator("svg").is_visible()
    assert not opened.locator("input").is_visible()
    context.close()


def test_paper_carries_no_slider(browser):
    opened = browser.new_page()
    opened.set_content(bare(figure()))
    assert opened.locator("input").is_visible()
    opened.emulate_media(media="print")
    assert not opened.locator("input").is_visible()
    opened.close()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_phone_shows_it_all_and_axe_finds_nothing(browser, theme):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    opened = browser.new_page(viewport={"width": 390, "height": 800})
    opened.set_content(bare(figure()).replace("<html", f'<html data-theme="{theme}"'))
    assert opened.evaluate("document.documentElement.scrollWidth") <= 390
    assert axe.Axe().run(opened).response["violations"] == []
    opened.close()

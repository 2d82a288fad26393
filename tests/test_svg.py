from xml.etree import ElementTree

import pytest

from checks import unchecked
from shallowformer import svg


def panel(**changes):
    return svg.Panel(**{"alt": "A line", "x": (0, 1), "y": (0, 2), "size": (100, 80), "margin": (10, 20, 5, 15), **changes})  # fmt: skip


def test_the_scales_end_at_the_margins():
    drawing = panel()
    assert (drawing.px(0), drawing.px(1)) == (10, 80)
    assert (drawing.py(0), drawing.py(2)) == (65, 5)


def test_a_falling_scale_is_allowed_and_an_empty_one_refused():
    assert panel(x=(1, 0)).px(1) == 10
    with pytest.raises(ValueError, match=r"y must have two different ends, got \(2, 2\)"):
        panel(y=(2, 2))


@pytest.mark.parametrize("alt", ["", "  ", None])
def test_a_drawing_without_an_alternative_text_is_refused(alt):
    with pytest.raises(ValueError, match="alt must say what the drawing shows"), unchecked():
        panel(alt=alt)


def test_a_colour_outside_the_palette_is_refused():
    with pytest.raises(ValueError, match=r"a colour must be one of truth, claim.*got 'red'"):
        panel().line([(0, 0), (1, 1)], "red")


@pytest.mark.parametrize(
    ("value", "words"), [(12.549, "12.5"), (3, "3"), (-0.01, "0"), (1234.5678, "1234.6")]
)
def test_coordinates_are_rounded_to_a_tenth_of_a_pixel(value, words):
    assert svg.number(value) == words


def test_every_shape_is_drawn_where_its_data_say():
    drawing = panel(x=(0, 1), y=(0, 1), size=(120, 120), margin=(10, 10, 10, 10))
    drawing.line([(0, 0), (1, 1)], "truth", dash="4 3")
    drawing.area([(0, 0), (1, 0), (1, 1)], "claim", opacity=0.5)
    drawing.dot(0.5, 0.5, 7, "accent", outline="ink")
    drawing.ellipse((0.5, 0), (0.2, 0.1), 30, "other")
    line, area, dot, ellipse = drawing.root
    assert line.get("points") == "10,110 110,10"
    assert line.get("stroke") == "var(--truth)"
    assert line.get("fill") == "none"
    assert line.get("stroke-dasharray") == "4 3"
    assert (area.get("points"), area.get("fill-opacity")) == ("10,110 110,110 110,10", "0.5")
    assert (dot.get("cx"), dot.get("cy"), dot.get("r")) == ("60", "60", "7")
    assert (ellipse.get("rx"), ellipse.get("ry")) == ("20", "10")
    assert ellipse.get("transform") == "rotate(-30 60 110)"


def test_axes_and_key_carry_their_words():
    drawing = panel()
    drawing.axes("m", "error", {0: "zero"}, {1: "one"})
    drawing.key(0, 2, {"what is proved": "truth"})
    words = [element.text for element in drawing.root.iter("text")]
    assert words == ["zero", "one", "m", "error", "what is proved"]


@pytest.mark.parametrize(
    ("python", "print_"),
    [("-1", "−1"), ("0.5", "0.5"), ("-0.25", "−0.25"), ("1e-05", "10⁻⁵"), ("1e+06", "10⁶"), ("-2.5e-12", "−2.5·10⁻¹²"), ("m - 1", "m - 1"), ("1−2", "1−2"), ("", "")],
)  # fmt: skip
def test_numbers_are_set_as_in_print(python, print_):
    assert svg.numeral(python) == print_


@pytest.mark.parametrize(("exponent", "words"), [(-5, "10⁻⁵"), (0, "1"), (1, "10"), (12, "10¹²")])
def test_powers_of_ten_label_log_scales(exponent, words):
    assert svg.power(exponent) == words


def test_ticks_have_no_hyphens_and_no_exponents():
    drawing = panel(x=(-1, 1), y=(-5, 5))
    drawing.axes("m", "error", {-1: "-1"}, {-5: f"{1e-5:g}"})
    words = [element.text for element in drawing.root.iter("text")]
    assert words == ["−1", "10⁻⁵", "m", "error"]


def ends(drawing, ylabel, tick, at):
    """Right edge of a vertical axis's name, left edge of a tick's label, and of the drawing, were letters as wide as on any machine."""
    drawing.axes("x", ylabel, {}, {at: tick})
    texts = {element.text: element for element in drawing.root.iter("text")}
    name = float(texts[ylabel].get("x")) + 4 if ylabel else None
    start = float(texts[tick].get("x")) - 7.4 * len(tick)
    return name, start, float(drawing.root.get("viewBox").split()[0])


@pytest.mark.parametrize("tick", ["1", "0.001", "0.00001", "123 456 789"])
def test_the_name_of_an_axis_stands_on_no_tick(tick):
    name, start, left = ends(panel(size=(340, 300), margin=(56, 12, 12, 40)), "size", tick, 1)
    assert name <= start + 0.5
    assert name - 4 - 12 >= left  # and is not cut off
    assert (left < 0) == (tick != "1")


def test_a_name_that_is_beside_no_tick_stays_where_it_was():
    drawing = panel(size=(340, 300), margin=(56, 12, 12, 40))
    assert ends(drawing, "size", "0.00001", 2)[2] == 0
    assert drawing.root.get("viewBox") == "0 0 340 300"


def test_words_are_escaped():
    drawing = panel(alt='a < b & "c"')
    drawing.text(0, 0, "x < y & z")
    markup = ElementTree.tostring(drawing.root, encoding="unicode")
    assert "x &lt; y &amp; z" in markup
    assert 'aria-label="a &lt; b &amp; &quot;c&quot;"' in markup
    assert "<script" not in markup

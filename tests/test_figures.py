import io
import itertools

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import pytest

from shallowformer import figures


def svg() -> bytes:
    figures.use_house_style()
    fig, axis = plt.subplots()
    axis.plot([0, 1], [0, 1], color=figures.COLOURS["truth"])
    out = io.BytesIO()
    fig.savefig(out, format="svg", metadata={"Date": None})
    plt.close(fig)
    return out.getvalue()


def test_a_figure_is_the_same_bytes_on_every_run():
    assert svg() == svg()


def test_colours_differ_in_lightness():
    luminance = sorted(
        sum(w * c for w, c in zip((0.2126, 0.7152, 0.0722), mpl.colors.to_rgb(colour), strict=True))
        for colour in figures.COLOURS.values()
    )
    assert all(b - a > 0.02 for a, b in itertools.pairwise(luminance))


def test_every_colour_stands_out_on_white():
    linear = lambda c: c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4
    for colour in figures.COLOURS.values():
        luminance = sum(w * linear(c) for w, c in zip((0.2126, 0.7152, 0.0722), mpl.colors.to_rgb(colour), strict=True))  # fmt: skip
        assert 1.05 / (luminance + 0.05) >= 3


def test_flow_draws_each_box_and_arrow():
    fig, axis = plt.subplots()
    boxes = {"a": (0.1, 0.5, "truth"), "b": (0.9, 0.5, "claim")}
    figures.flow(axis, boxes, [("a", "b", 0)])
    words = [text.get_text() for text in axis.texts]
    assert sorted(words) == ["", "a", "b"]
    plt.close(fig)


@pytest.mark.parametrize(
    ("colour", "end", "message"),
    [("red", "a", "colour of box 'a'"), ("truth", "z", "got an end 'z'")],
)
def test_flow_names_what_does_not_exist(colour, end, message):
    fig, axis = plt.subplots()
    with pytest.raises(ValueError, match=message):
        figures.flow(axis, {"a": (0.5, 0.5, colour)}, [("a", end, 0)])
    assert not axis.texts
    plt.close(fig)

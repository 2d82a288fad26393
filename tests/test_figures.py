import io
import itertools

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt

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

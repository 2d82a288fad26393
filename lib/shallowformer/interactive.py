"""Figures with a slider: every position is drawn beforehand, in Python, by the package's own functions.

The output is one piece of HTML without any outside help: inline SVG, a native range input, and a script of a few lines
that knows nothing of mathematics. It writes into the elements of the drawing the attributes that differ from position to
position. Without JavaScript the start position stands as a still picture. The same piece works on the site, in
JupyterLab and in Colab, and several of them on one page do not meet: no element has an id.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from xml.etree import ElementTree

from shallowformer.figures import COLOURS
from shallowformer.svg import Panel

#: Colours on a light card, and on a dark page: there the same hues, lighter, on the page's own background.
LIGHT = {**COLOURS, "ink": "#1f2328", "paper": "#ffffff"}
DARK = {
    "truth": "#6cb0ee",
    "claim": "#f08a73",
    "other": "#9ccaa2",
    "accent": "#f0bd5c",
    "quiet": "#99a0aa",
    "ink": "#e6e8eb",
    "paper": "var(--pst-color-background,#14181e)",
}

#: How dark pages call themselves: this book's site, Colab, JupyterLab, VS Code. Elsewhere the figure is a light card.
_DARK_PAGES = (
    'html[data-theme="dark"]',
    'html[theme="dark"]',
    'body[data-jp-theme-light="false"]',
    "body.vscode-dark",
)


def theme(selector: str) -> str:
    """Colours for an element, light and dark, as CSS variables, the names of ``LIGHT``: CSS for its selector."""
    variables = lambda colours: ";".join(f"--{name}:{colour}" for name, colour in colours.items())
    dark = ",".join(f"{page} {selector}" for page in _DARK_PAGES)
    return (
        f"{selector}{{{variables(LIGHT)};color:var(--ink);background:var(--paper);font-size:.9rem;padding:.25rem}}\n"
        f"@media screen{{{dark}{{{variables(DARK)}}}}}\n"
    )


STYLE = f"""
{theme(".interactive")}
.interactive-panels{{display:flex;flex-wrap:wrap;gap:.5rem 1rem;justify-content:center}}
.interactive svg{{flex:1 1 290px;min-width:0;max-width:440px;height:auto;font:13px system-ui,sans-serif}}
.interactive label{{display:flex;flex-wrap:wrap;gap:0 1rem;align-items:center;margin:.4rem .5rem 0}}
.interactive label[hidden]{{display:none}}
.interactive label>span{{flex:1 1 17rem;display:flex;gap:.6rem;align-items:center}}
.interactive i{{font-style:normal}}
.interactive input{{flex:1;min-width:0;height:2rem;margin:0;accent-color:var(--truth);cursor:pointer}}
.interactive p{{margin:.2rem .5rem;min-height:2.9em;line-height:1.45;text-align:left;font-variant-numeric:tabular-nums}}
@media print{{.interactive label{{display:none}}}}
"""

SCRIPT = """
for (const root of document.querySelectorAll(".interactive")) {
  const {says, parts} = JSON.parse(root.dataset.frames);
  const input = root.querySelector("input"), moving = root.querySelectorAll("[data-moves]");
  const show = () => {
    const k = +input.value;
    parts.forEach((part, i) => Object.entries(part).forEach(([name, values]) =>
      name ? moving[i].setAttribute(name, values[k]) : moving[i].textContent = values[k]));
    root.querySelector("p").textContent = says[k];
    input.setAttribute("aria-valuetext", says[k]);
  };
  input.addEventListener("input", show);
  root.querySelector("label").hidden = false;
  show();
}
"""


@dataclass(frozen=True)
class Interactive:
    """A figure with a slider; a notebook shows it."""

    html: str  # of the whole figure
    description: str  # what stands for it where there is no HTML

    def _repr_html_(self) -> str:
        return self.html

    def __repr__(self) -> str:
        return f"Interactive figure: {self.description}"


def slider(
    draw: Callable[[float], Sequence[Panel]],
    over: Sequence[float],
    start: float,
    label: str,
    say: Callable[[float], str],
    ends: tuple[str, str] | None = None,
) -> Interactive:
    """A figure that one slider moves.

    Args:
        draw: position → panels. At every position it draws the same elements in the same order; their attributes and
            words may differ.
        over: at least two positions, from the slider's left to its right.
        start: the position of the still picture, one of ``over``.
        label: of the slider: what it moves.
        say: position → one or two sentences with the numbers at this position, shown below and read to those who do not see.
        ends: words at the two ends of the slider; by default the first and the last position.
    """
    over = list(over)
    if len(over) < 2:
        raise ValueError(f"over must hold at least two positions, got {over}")
    if start not in over:
        raise ValueError(f"start must be one of the positions {over}, got {start!r}")
    if not isinstance(label, str) or not label.strip():
        raise ValueError(f"label must say what the slider moves, got {label!r}")
    says = [say(position) for position in over]
    if silent := [
        position for position, words in zip(over, says, strict=True) if not str(words or "").strip()
    ]:
        raise ValueError(f"say must return a sentence at every position, got nothing at {silent[0]!r}")
    frames = [[panel.root for panel in draw(position)] for position in over]
    if not frames[0]:
        raise ValueError("draw must return at least one panel, got none")
    first = over.index(start)
    parts = _moving_parts(frames, first, over)
    still = frames[first]
    ElementTree.SubElement(still[0], "style").text = STYLE
    data = json.dumps({"says": says, "parts": parts}, ensure_ascii=False, separators=(",", ":"))
    left, right = ends or (f"{over[0]:g}".replace("-", "−"), f"{over[-1]:g}".replace("-", "−"))
    panels = "".join(ElementTree.tostring(root, encoding="unicode") for root in still)
    now = escape(says[first])
    html = (
        f"<div class=\"interactive\" data-frames='{_attribute(data)}'>"
        f'<div class="interactive-panels">{panels}</div>'
        f'<label hidden="">{escape(label)} <span><i aria-hidden="true">{escape(left)}</i>'
        f'<input type="range" min="0" max="{len(over) - 1}" step="1" value="{first}" autocomplete="off" aria-valuetext="{now}">'
        f'<i aria-hidden="true">{escape(right)}</i></span></label>'
        f"<p>{now}</p><script>{SCRIPT}</script></div>"
    )
    return Interactive(html, f"{label}. {says[first]}")


def _attribute(data: str) -> str:
    """JSON as the value of an HTML attribute in single quotes."""
    return escape(data, quote=False).replace("'", "&#39;")


def _moving_parts(
    frames: list[list[ElementTree.Element]], first: int, over: Sequence[float]
) -> list[dict[str, list[str]]]:
    """Mark with ``data-moves`` the elements that differ from frame to frame: for each, attribute → its values; "" stands for the words."""
    elements = [[element for root in panels for element in root.iter()] for panels in frames]
    shapes = [[(element.tag, tuple(element.attrib)) for element in frame] for frame in elements]
    for position, shape in zip(over, shapes, strict=True):
        if shape != shapes[0]:
            raise ValueError(
                f"draw must draw the same elements at every position; those at {position!r} differ from those at {over[0]!r}"
            )
    parts = []
    for versions in zip(*elements, strict=True):
        changes = {name: [version.get(name) for version in versions] for name in versions[0].attrib}
        changes[""] = [version.text for version in versions]
        changes = {name: values for name, values in changes.items() if len(set(values)) > 1}
        if changes:
            versions[first].set("data-moves", "")
            parts.append(changes)
    return parts

"""Figures with a slider in the chapters: they speak, and what they show is what the package computes."""

import ast
import json
import math
import re

import pytest
import torch
from bs4 import BeautifulSoup

from bookext.chapters import cells, chapters, docname, parts
from bookext.notebooks import convert
from bookext.said import filled
from shallowformer import softmax

CELLS = {
    cell.metadata["mystnb"]["figure"]["name"]: (path, cell)
    for path in chapters()
    if any("interactive.slider(" in page.read_text(encoding="utf-8") for page in parts(path))
    for cell in cells(path)
    if cell.cell_type == "code" and "interactive.slider(" in cell.source
}


def test_the_chapters_have_moving_figures():
    named = {
        "fig-softmax-moving-budget",
        "fig-gradient-alignment",
        "fig-theorem-plane",
        "fig-descent-multipliers",
    }
    assert named <= set(CELLS)


@pytest.mark.parametrize("name", CELLS)
def test_a_moving_figure_has_a_caption_on_the_site_and_in_the_notebook(name):
    path, cell = CELLS[name]
    caption = filled(cell.metadata["mystnb"]["figure"]["caption"], docname(path))
    assert len(caption) > 40
    assert any(caption in cell.source for cell in convert(path).cells if cell.cell_type == "markdown")


@pytest.mark.parametrize("name", CELLS)
def test_every_panel_is_described(name):
    calls = [node for node in ast.walk(ast.parse(CELLS[name][1].source)) if isinstance(node, ast.Call)]
    panels = [call for call in calls if ast.unparse(call.func) == "svg.Panel"]
    assert panels
    assert all(len(ast.unparse(panel.args[0])) > 40 for panel in panels)


@pytest.fixture(scope="module")
def budget():
    """The first figure, its frames and its moving elements."""
    path, cell = CELLS["fig-softmax-moving-budget"]
    first = next(cell.source for cell in cells(path) if cell.cell_type == "code")
    code = ast.parse(cell.source)
    namespace: dict = {}
    exec(first, namespace)
    exec(compile(ast.Module(code.body[:-1], []), "cell", "exec"), namespace)
    html = eval(compile(ast.Expression(code.body[-1].value), "cell", "eval"), namespace).html
    assert len(html.encode()) < 50_000
    root = BeautifulSoup(html, "html.parser").select_one(".interactive")
    return namespace["five"], json.loads(root["data-frames"]), root.select("[data-moves]")


def test_the_budget_that_is_shown_is_the_package_s(budget):
    X, frames, _ = budget
    assert len(frames["says"]) == 49
    for k, sentence in enumerate(frames["says"]):
        z = torch.tensor([0.0] * 4 + [-6 + k / 4], dtype=torch.float64)
        alpha = torch.softmax(z, 0)
        trace = softmax.covariance(X, alpha).trace()
        length = softmax.mean(X, alpha).norm() ** 2
        shown = [float(number.replace("−", "-")) for number in re.findall(r"−?\d+\.\d+", sentence)]
        assert float(trace + length) == pytest.approx(float(alpha @ (X * X).sum(1)), abs=1e-12)
        exact = [z[4], alpha[4], trace, length, trace + length]
        assert shown == pytest.approx([float(value) for value in exact], abs=0.0051)
        assert shown[-1] <= 1


def test_the_ellipse_is_the_covariance_s(budget):
    """A Aᵀ of the drawn ellipse, in units of the tokens, is M, and its centre is a."""
    X, frames, moving = budget
    (ellipse,) = [part for part, element in zip(frames["parts"], moving, strict=True) if element.name == "ellipse"]  # fmt: skip
    unit = 140  # pixels
    for k in range(49):
        alpha = torch.softmax(torch.tensor([0.0] * 4 + [-6 + k / 4], dtype=torch.float64), 0)
        a, M = softmax.mean(X, alpha), softmax.covariance(X, alpha)
        rx, ry = float(ellipse["rx"][k]) / unit, float(ellipse["ry"][k]) / unit
        turn = -math.radians(float(re.match(r"rotate\((\S+)", ellipse["transform"][k])[1]))
        axes = torch.tensor([[math.cos(turn), -math.sin(turn)], [math.sin(turn), math.cos(turn)]], dtype=torch.float64) * torch.tensor([rx, ry])  # fmt: skip
        assert torch.allclose(axes @ axes.T, M, atol=0.003)
        assert float(ellipse["cx"][k]) == pytest.approx(168 + unit * float(a[0]), abs=0.06)
        assert float(ellipse["cy"][k]) == pytest.approx(154 - unit * float(a[1]), abs=0.06)

"""The calculator computes what the package computes, in the page, without asking anyone."""

import math
import random

import pytest
import sympy

from companion.theory.kernel_regime import calculator
from shallowformer.kernel_regime.bounds import blocks, smoothness
from shallowformer.probability import gaussian_norms
from shallowformer.training import self_bounding

#: An inserted script must run once only, and two calculators on a page must not meet.
PAGE = (
    '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>c</title></head><body>{}</body></html>'
)


@pytest.fixture
def page(browser):
    opened, problems = browser.new_page(), []
    opened.on("pageerror", lambda error: problems.append(error.message))
    opened.on("request", lambda asked: problems.append(asked.url))
    html = calculator.widget(2e-3).html
    opened.set_content(PAGE.format(html + calculator.widget(1e-3, {"m": 2**20}).html))
    yield opened
    opened.close()
    assert problems == []


def everywhere():
    """Corners of the sliders, and places between."""
    ends = {name: (values[0], values[-1]) for name, values in calculator.POSITIONS.items()}
    for k in range(2):
        yield {name: pair[k] for name, pair in ends.items()}
    draw = random.Random(0)
    for _ in range(400):
        yield {name: draw.choice(values) for name, values in calculator.POSITIONS.items()}


def test_the_page_agrees_with_the_package_to_rounding(page):
    cases = [case for case in everywhere() if case["nu"] <= case["rho"]]
    assert len(cases) > 150
    found = page.evaluate(
        """cases => { const root = document.querySelector(".calculator");
        return cases.map(at => Object.entries(root.bounds(at)).map(([k, v]) => [k, v === Infinity ? "inf" : v])); }""",
        cases,
    )
    for case, pairs in zip(cases, found, strict=True):
        expected = calculator.bounds(**case)
        assert [name for name, _ in pairs] == list(calculator.ROWS)
        for name, value in pairs:
            assert float(value) == pytest.approx(expected[name], rel=1e-12), (name, case)
    assert any(math.isinf(calculator.bounds(**case)["paper_step"]) for case in cases)


def test_the_formulas_agree_with_the_package_where_no_browser_is():
    names = list(calculator.POSITIONS)
    by_formula = {
        row: sympy.lambdify([*calculator.symbols().values()], formula, "math")
        for row, formula in calculator.bounds(**calculator.symbols()).items()
    }
    for case in [case for case in everywhere() if case["nu"] <= case["rho"]][:60]:
        expected = calculator.bounds(**case)
        for row, value in by_formula.items():
            assert value(*(case[name] for name in names)) == pytest.approx(expected[row], rel=1e-12), (
                row,
                case,
            )


def test_the_script_has_no_formulas_of_its_own(monkeypatch):
    script = calculator.javascript.__wrapped__
    before = script()
    for module, name, wrong in (
        (blocks, "KAPPA", 0.5),
        (gaussian_norms, "laurent_massart", lambda d, x: d + x),
        (smoothness, "L2_paper", smoothness.L1_paper),
        (self_bounding, "bound", lambda epsilon, *rest: epsilon),
    ):
        with monkeypatch.context() as patched:
            patched.setattr(module, name, wrong)
            assert script() != before, name
    assert script() == before


def test_a_slider_moves_its_own_calculator(page):
    both = page.locator(".calculator")
    assert both.nth(0).locator("output[name=m]").inner_text() == "256"
    other = both.nth(1).inner_text()
    slider = both.nth(0).locator("input[name=m]")
    before = both.nth(0).locator("tr[data-bound=paper] td").first.inner_text()
    slider.focus()
    page.keyboard.press("ArrowRight")
    assert both.nth(0).locator("output[name=m]").inner_text() == "512"
    assert slider.get_attribute("aria-valuetext") == "512"
    assert both.nth(0).locator("tr[data-bound=paper] td").first.inner_text() != before
    assert both.nth(1).inner_text() == other


def test_a_target_outside_the_neighbourhood_has_no_bounds(page):
    root = page.locator(".calculator").nth(0)
    root.locator("input[name=nu]").focus()
    page.keyboard.press("End")
    assert root.locator("tbody td").all_inner_texts() == ["needs ρ ≥ ν̄", "–"] * 4


def test_bounds_below_the_trivial_level_stand_out(page):
    root = page.locator(".calculator").nth(0)
    for name, key in (("m", "End"), ("tau", "End"), ("n", "Home")):
        root.locator(f"input[name={name}]").focus()
        page.keyboard.press(key)
    told = root.locator("tr.means-something").evaluate_all("rows => rows.map(row => row.dataset.bound)")
    at = {"d": 8, "m": 2**64, "n": 1, "tau": 10**20, "delta": 0.05, "rho": 3.0, "nu": 3.0}
    assert told == [name for name, value in calculator.bounds(**at).items() if value < 2e-3]
    assert told


def test_without_a_script_the_start_is_a_table():
    html = calculator.widget(2e-3).html
    for value in calculator.bounds(8, 256, 5000, 4000, 0.05, 3.0, 3.0).values():
        assert f"<td>{value:.2g}</td><td>{value / 2e-3:.2g}</td>" in html
    assert "http" not in html


def test_it_refuses_what_it_cannot_show():
    with pytest.raises(ValueError, match="trivial must be above 0, got 0"):
        calculator.widget(0)
    with pytest.raises(ValueError, match=r"start must hold positions of the sliders .*, got m = 7"):
        calculator.widget(1.0, {"m": 7})

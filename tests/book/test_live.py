"""The panel in which a run grows beside its certificate: its numbers are the package's, and it serves a reader who clicks, types or listens."""

import gzip
import json
import math
import re

import numpy as np
import pytest
import torch
from browsing import PHONE, listen
from built import SITE

from bookext.chapters import ROOT, code
from bookext.finish import slim
from companion.theory.kernel_regime import live
from companion.theory.token_selection import live as sequences
from shallowformer.kernel_regime.convergence import closed_forms
from shallowformer.kernel_regime.linear_run import known, theorem_f
from shallowformer.kernel_regime.model import gradients
from shallowformer.preconditioned import factorisation
from shallowformer.token_selection import descent, gaps, rules, svm

STATIC = ROOT / "book/_static"
PAGE = "book/live"
SCRIPTS = ("live_worker.js", "live.js", "live_more.js")

#: m, n, T, η, label size, seed, steps: the page's first; a band that explodes; steps near the longest; more tokens than inputs; large labels.
RUNS = [
    (8, 60, 16, 0.5, 0.05, 1, 100),
    (2, 20, 2, 0.5, 0.05, 3, 70),
    (16, 40, 5, 6.0, 0.05, 2, 30),
    (4, 6, 33, 1.0, 0.01, 9999, 40),
    (32, 90, 8, 0.1, 1.0, 0, 25),
]
SUPERSCRIPTS = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
NAMES = ("m", "n", "T", "eta", "size", "seed", "steps")


@pytest.fixture(scope="module")
def mathematics(browser):
    """Evaluate an expression in the scripts' names, L what ``live_worker.js`` offers; numbers come back to the last digit, as text if not finite."""
    tab = browser.new_page()
    for script in SCRIPTS:
        tab.add_script_tag(path=STATIC / script)
    plain = "(key, x) => ArrayBuffer.isView(x) ? [...x] : typeof x === 'number' && !Number.isFinite(x) ? String(x) : x"

    def evaluate(expression: str, **given):
        text = tab.evaluate(
            f"(given) => {{ const L = liveMathematics(), {{{', '.join(given)}}} = given; return JSON.stringify({expression}, {plain}); }}",
            given,
        )
        return json.loads(text)

    yield evaluate
    tab.close()


def settings(run: tuple) -> dict:
    return dict(zip(NAMES, run, strict=True))


def rows(mathematics, asked: dict) -> dict[str, torch.Tensor]:
    """What the page finds before every step and after the last: name → values."""
    found = mathematics(
        "(() => { const run = new L.Run(asked); return Array.from({length: asked.steps + 1}, () => run.step()); })()",
        asked=asked,
    )
    return {
        name: torch.tensor([float(row.get(name, "nan")) for row in found], dtype=torch.float64)
        for name in ("loss", "mu", "E", "path", "step", "trivial")
    }


def start(asked: dict):
    return live.start(*(asked[name] for name in ("m", "n", "T", "size", "seed")))


def trained(asked: dict) -> torch.Tensor:
    """The losses of the package's run."""
    X, y, phi = start(asked)
    found = []
    for _ in range(asked["steps"] + 1):
        loss, slope = gradients.loss_and_gradient(X, y, phi)
        found.append(loss)
        phi = phi.map(lambda block, move: block - asked["eta"] * move, slope)
    return torch.stack(found)


def assert_close(found: torch.Tensor, expected: torch.Tensor) -> None:
    assert torch.equal(found.isfinite(), expected.isfinite())
    finite = expected.isfinite()
    torch.testing.assert_close(found[finite], expected[finite], rtol=1e-9, atol=0)


@pytest.mark.parametrize("run", RUNS, ids=str)
def test_the_page_and_the_package_agree_at_every_step(mathematics, run):
    asked = settings(run)
    found, X_y_phi = rows(mathematics, asked), start(asked)
    sure = theorem_f.certify(*X_y_phi, asked["eta"], asked["steps"])
    assert_close(found["loss"], trained(asked))
    assert_close(found["mu"], sure.mu)
    assert_close(found["E"], sure.E)
    limit = known.largest_step(X_y_phi[0], X_y_phi[2])
    assert asked["eta"] / float(found["step"][0]) == pytest.approx(limit, rel=2e-5)


def test_some_of_these_bands_explode_and_some_do_not(mathematics):
    ends = [bool(rows(mathematics, settings(run))["E"][-1].isfinite()) for run in RUNS]
    assert set(ends) == {True, False}


def test_steps_beyond_the_limit_follow_the_theorem_too(mathematics, monkeypatch):
    """The package refuses them, as the linear run grows; the recursion itself is as true."""

    def grows(G, y, eta, steps):
        values, vectors = torch.linalg.eigh(G)
        j = torch.arange(steps + 1, dtype=G.dtype)[:, None]
        powers = (1 - 2 * eta * values) ** j
        u = -(powers * (vectors.mT @ y)) @ vectors.mT
        smooth, rough = 2 * eta * values * powers.abs(), values.clamp(min=0).sqrt() * powers.abs()
        return known.LinearRun(u, u.square().mean(1).sqrt(), smooth.amax(1), rough.amax(1))

    asked = settings((8, 60, 16, 14.0, 0.05, 1, 8))
    with pytest.raises(ValueError, match="eta must be at most"):
        theorem_f.certify(*start(asked), asked["eta"], asked["steps"])
    monkeypatch.setattr(known, "linear_run", grows)
    sure, found = theorem_f.certify(*start(asked), asked["eta"], asked["steps"]), rows(mathematics, asked)
    assert found["step"][0] > 1
    assert found["mu"][-1] > found["mu"][-2] > found["mu"][-3]
    assert_close(found["mu"], sure.mu)
    assert_close(found["E"], sure.E)
    assert_close(found["loss"], trained(asked))


def test_without_feedback_an_error_makes_no_other(mathematics):
    """What E would be: all of it for small labels, a small part where the band explodes, never more."""
    small = rows(mathematics, settings((8, 30, 4, 0.5, 1e-5, 1, 20)))
    torch.testing.assert_close(small["path"], small["E"], rtol=1e-2, atol=0)
    large = rows(mathematics, settings((8, 30, 4, 0.5, 0.5, 1, 20)))
    told = large["E"].isfinite()
    assert (large["path"][told] <= large["E"][told]).all()
    assert (large["E"] / large["path"])[told][1:].max() > 5


@pytest.mark.parametrize("run", RUNS, ids=str)
def test_both_draw_the_same_start(mathematics, run):
    asked = settings(run)
    X, y, phi0 = start(asked)
    found = mathematics("L.drawn(asked)", asked=asked)
    N = asked["m"] // 2
    theta = torch.cat([phi0.U, phi0.W.flatten(1)], 1)[:N]
    for name, expected in (("X", X), ("y", y / asked["size"]), ("c", phi0.c[:N]), ("theta", theta)):
        scale = asked["size"] if name == "y" else 1
        values = torch.tensor(found[name], dtype=torch.float64) / scale
        torch.testing.assert_close(values, expected.flatten(), rtol=0, atol=1e-13)


def test_more_heads_and_inputs_keep_those_that_are_there():
    few, many = live.start(4, 10, 3, 1.0, 5), live.start(8, 20, 3, 1.0, 5)
    assert torch.equal(few[0], many[0][:10])
    assert torch.equal(few[2].W[:2], many[2].W[:2])
    assert not torch.equal(few[0], live.start(4, 10, 3, 1.0, 6)[0])


def test_the_draws_are_gaussian():
    drawn = torch.cat([live.gaussians(seed, 0, 20_000) for seed in range(5)])
    assert float(drawn.mean()) == pytest.approx(0, abs=0.02)
    assert float(drawn.std()) == pytest.approx(1, abs=0.02)
    assert float((drawn.abs() > 2).double().mean()) == pytest.approx(0.0455, abs=0.004)


@pytest.mark.parametrize("asked", [(2, 20, 0.5, 60), (8, 60, 0.5, 120), (64, 100, 14.0, 1)], ids=str)
def test_the_printed_theorem_is_the_package_s(mathematics, asked):
    m, n, eta, steps = asked
    found = mathematics("L.printed(asked)", asked={"m": m, "n": n, "eta": eta, "steps": steps})
    expected = closed_forms.paper(8, m, n, 0.05, (3.0,) * 3, (3.0,) * 3).best(eta, steps)
    assert found == pytest.approx(expected, rel=1e-12)


def matrices() -> dict[str, np.ndarray]:
    source = np.random.default_rng(0)
    low = source.standard_normal((12, 3))
    return {
        "general": (lambda A: A + A.T)(source.standard_normal((9, 9))),
        "of low rank": low @ low.T,
        "diagonal": np.diag([3.0, 1.0, 1.0, -2.0]),
        "zero": np.zeros((5, 5)),
        "ones": np.ones((6, 6)),
        "single": np.array([[4.0]]),
        "in blocks": np.kron(np.eye(3), np.array([[2.0, 1.0], [1.0, 2.0]])),
    }


@pytest.mark.parametrize("name", matrices())
def test_eigenvalues(mathematics, name):
    A = matrices()[name]
    found = mathematics("L.eigenvalues(Float64Array.from(A), n)", A=A.flatten().tolist(), n=len(A))
    np.testing.assert_allclose(sorted(found), np.linalg.eigvalsh(A), atol=1e-13 * max(1, np.abs(A).sum()))


@pytest.mark.parametrize("asked", [(4, 4, 0.3, 1.0, 1), (1, 2, 1.0, 0.0, 2), (8, 6, 0.1, 3.0, 5), (3, 3, 3.0, 30.0, 7)], ids=str)  # fmt: skip
def test_selection_is_the_package_s(mathematics, asked):
    """Both rules at every instant: angle, length and weight off the optimal tokens, where normalised gradients are e⁻³⁰⁰; and W_mm."""
    n, T, eta, size, seed = asked
    at = sequences.instants(30)
    found = mathematics(
        "(() => { const run = new Selection(asked); return {rows: times.map(() => run.step()), svm: run.svm}; })()",
        asked={"n": n, "T": T, "eta": eta, "start": size, "seed": seed},
        times=at,
    )
    instance, W0 = sequences.start(n, T, size, seed)
    best = svm.w_svm(instance).W
    torch.testing.assert_close(
        torch.tensor(found["svm"], dtype=torch.float64), best.flatten(), rtol=0, atol=1e-9
    )
    assert [row[0]["t"] for row in found["rows"]] == at
    for k, rule in enumerate((rules.NGD(eta), rules.GD(eta))):
        seen = descent.run(gaps.problem(instance, W0), rule, at[-1], at)
        take = lambda name, k=k: torch.tensor(
            [float(row[k][name]) for row in found["rows"]], dtype=torch.float64
        )
        torch.testing.assert_close(take("apart"), seen.one_minus_corr, rtol=1e-6, atol=1e-12)
        torch.testing.assert_close(take("size"), seen.norm, rtol=1e-9, atol=1e-12)
        torch.testing.assert_close(take("logOff"), seen.log_off.amax(1), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("asked", [(134, 1.0, 0.1, 0.5), (0, 2.0, 0.3, 0.0), (-60, 0.5, 0.05, 2.0)], ids=str)
def test_the_saddle_is_the_package_s(mathematics, asked):
    angle, length, eta, lam = asked
    found = mathematics(
        "(() => { const run = new Saddle(asked); return Array.from({length: 60}, () => run.step()[0]); })()",
        asked={"angle": angle, "length": length, "eta": eta, "lambda": lam},
    )
    turn, one = math.radians(angle), torch.ones(1, 1, dtype=torch.float64)
    u, v = length * math.cos(turn) * one, length * math.sin(turn) * one
    for row in found:
        expected = [float(u), float(v), float(factorisation.value(u, v, one, lam))]
        assert [row["u"], row["v"], row["value"]] == pytest.approx(expected, rel=1e-9, abs=1e-12)
        of_u, of_v = factorisation.gradient(u, v, one, lam)
        u, v = u - eta * of_u, v - eta * of_v


def test_on_its_incoming_line_descent_ends_at_the_saddle(mathematics):
    end = lambda angle: mathematics(
        "(() => { const run = new Saddle(asked); for (let s = 0; s < 400; s++) run.step(); return run.step()[0]; })()",
        asked={"angle": angle, "length": 1.0, "eta": 0.1, "lambda": 0.5},
    )
    for angle in (135, -45):
        assert end(angle)["value"] == pytest.approx(0.5)
    assert end(135.01)["value"] < 1e-9


# The panels on the built page.


def told(tab, words: str, panel: str = "run") -> str:
    """Wait until a panel says something. Returns: all that it says."""
    says = f"#live-{panel} .live-says"
    tab.wait_for_function(
        "([says, words]) => document.querySelector(says).textContent.includes(words)", arg=[says, words]
    )
    return tab.locator(says).inner_text()


def button(tab, name: str, panel: str = "run"):
    return tab.locator(f"#live-{panel}").get_by_role("button", name=name, exact=True)


def visit(go, query: str = "", **how):
    """The page with settings in its address."""
    tab = go(PAGE, query, **how)
    button(tab, "Reset").wait_for()
    tab.wait_for_selector("#live-run svg")
    return tab


def step(tab) -> int:
    return int(re.search(r"Step (\d+)", tab.locator("#live-run .live-facts caption").inner_text())[1])


def test_the_address_names_a_phenomenon(go):
    tab = visit(go, "?size=0.2&at=30#live-run")
    assert "nothing better than output 0 is certain" in told(tab, "Step 30.")
    assert "The band explodes at step" in tab.locator(".gave-way").inner_text()
    assert tab.get_by_label("label size").input_value() == "0.2"
    tab.get_by_label("heads m").select_option("64")
    tab.wait_for_function("() => location.search === '?size=0.2&m=64'")
    tab.locator("#live-run .live-facts caption", has_text="Step 0,").wait_for()


def test_what_the_page_shows_is_what_the_package_finds(go):
    tab = visit(go, "?m=16&n=40&T=4&seed=7&at=20")
    said = told(tab, "Step 20.")
    sure = theorem_f.certify(*live.start(16, 40, 4, 0.05, 7), 0.5, 20)
    numbers = [float(number.rstrip(".")) for number in re.findall(r"0\.\d+", said)]
    expected = [
        trained(settings((16, 40, 4, 0.5, 0.05, 7, 20)))[20],
        sure.lower[20],
        sure.upper[20],
    ]
    assert numbers == pytest.approx([float(value) / 0.05**2 for value in expected], rel=5e-3)


@pytest.mark.parametrize(
    "query", ["?m=7&n=x&T=0&eta=-1&size=&steps=1e9&seed=0.5&with=-3", "?m=<b>&at=NaN", "?at=-5"]
)
def test_settings_that_cannot_be_are_not_taken(go, query):
    tab = visit(go, query)
    chosen = [
        tab.locator("#live-run").get_by_label(label).input_value()
        for label in ("heads m", "inputs n", "tokens T")
    ]
    assert chosen == ["8", "60", "16"]
    assert tab.get_by_label("second seed").input_value() == ""
    assert step(tab) == 0


def test_run_pause_step_and_reset_by_keyboard(go):
    tab = visit(go, "?n=20&T=4")
    button(tab, "Run").press("Enter")
    tab.wait_for_function(
        "() => !document.querySelector('#live-run caption').textContent.startsWith('Step 0,')"
    )
    button(tab, "Pause").press("Space")
    told(tab, "Step")
    here = step(tab)
    assert 0 < here < 120
    tab.wait_for_timeout(200)
    here = step(tab)
    button(tab, "Step").press("Enter")
    told(tab, f"Step {here + 1}.")
    assert f"at={here + 1}" in tab.url
    button(tab, "Reset").press("Enter")
    tab.wait_for_function("() => !location.search.includes('at=')")
    button(tab, "Run").wait_for()


def test_five_enters_make_five_steps(go):
    """The focus stays on the button, which does nothing at the last step or while a run goes."""
    tab = visit(go, "?n=20&T=4&steps=6")
    button(tab, "Step").focus()
    for k in range(1, 6):
        tab.keyboard.press("Enter")
        told(tab, f"Step {k}.")
    assert step(tab) == 5
    assert tab.evaluate("() => document.activeElement.textContent") == "Step"
    tab.keyboard.press("Enter")
    told(tab, "Step 6.")
    assert button(tab, "Step").get_attribute("aria-disabled") == "true"
    tab.keyboard.press("Enter")
    tab.wait_for_timeout(200)
    assert step(tab) == 6
    assert tab.evaluate("() => document.activeElement.textContent") == "Step"


def test_while_a_run_goes_a_click_on_step_does_nothing(go):
    tab = visit(go, "?n=20&T=4&steps=30")
    button(tab, "Run").click()
    button(tab, "Step").dispatch_event("click")
    assert button(tab, "Pause").count() == 1
    told(tab, "Step 30.")


def test_at_first_the_page_says_what_to_press(go):
    tab = visit(go, "?n=20&T=4")
    assert told(tab, "Step 0.").startswith("Press Run. Step 0. The loss is 1 times that of output 0")
    button(tab, "Step").click()
    assert "Press" not in told(tab, "Step 1.")


def test_the_table_tells_e(go):
    """So that what the page claims of more heads can be checked."""
    row = "E over the root of the loss of output 0"
    tab = visit(go, "?n=20&T=4&m=16&at=10")
    told(tab, "Step 10.")
    cell = tab.locator("#live-run tr", has=tab.get_by_role("rowheader", name=row)).locator("td").inner_text()
    sure = theorem_f.certify(*live.start(16, 20, 4, 0.05, 1), 0.5, 10)
    mantissa, _, exponent = cell.partition("·10")
    value = float(mantissa) * 10.0 ** int(exponent.translate(SUPERSCRIPTS) or 0)
    assert value == pytest.approx(float(sure.E[10]) / 0.05, rel=6e-3)


def test_decades_are_counted_from_output_0(go):
    tab = visit(go)
    printed = closed_forms.paper(8, 8, 60, 0.05, (3.0,) * 3, (3.0,) * 3).best(0.5, 120) / 0.05**2
    words = " ".join(tab.locator("#live-run .printed").all_text_contents())
    assert f"{math.log10(printed):.0f} decades above output 0" in words


def test_a_choice_is_shown_as_it_is(go):
    tab = visit(go)
    shown = tab.evaluate(
        "() => [...document.querySelectorAll('.live option')].filter(e => e.value !== e.textContent).map(e => e.value)"
    )
    assert shown == []


def test_weights_too_small_for_a_number_are_powers_of_ten(mathematics):
    cell = mathematics(
        "PANELS.select.facts([[row, row]])", row={"t": 1, "apart": 0.1, "size": 1.0, "logOff": -11100.0}
    )
    assert "<td>10⁻⁴⁸²¹</td>" in cell


def test_a_descent_that_runs_off_says_so_and_leaves_no_dot(go):
    tab = visit(go, "?saddle-eta=1.5&saddle-length=2&saddle-angle=90&saddle-at=60")
    told(tab, "ran off at step", "saddle")
    assert tab.locator("#live-saddle circle.here").count() == 0
    tab = visit(go, "?saddle-at=60")
    told(tab, "Step 60:", "saddle")
    assert tab.locator("#live-saddle circle.here").count() == 1


def test_a_run_is_told_now_and_then(go):
    tab = visit(go, "?n=20&T=4&steps=60")
    assert tab.locator("#live-run .live-says").get_attribute("role") == "status"
    tab.evaluate("""() => {
      window.heard = [];
      new MutationObserver(() => heard.push(document.querySelector('#live-run .live-says').textContent))
        .observe(document.querySelector('#live-run .live-says'), {childList: true, characterData: true, subtree: true});
    }""")
    button(tab, "Run").click()
    told(tab, "Step 60.")
    heard = [words for words in tab.evaluate("() => heard") if words]
    assert 3 <= len(heard) <= 8


def test_two_seeds_side_by_side(go):
    tab = visit(go, "?n=20&T=4&with=2&at=10")
    said = told(tab, "Step 10.")
    assert "Seed 1: the loss" in said
    assert "Seed 2: the loss" in said
    assert tab.locator("#live-run .live-chart .real").count() == 2
    columns = tab.locator("#live-run .live-facts thead th").all_inner_texts()
    assert columns == ["seed 1", "seed 2"]


@pytest.mark.parametrize(
    ("query", "why", "never"),
    [
        ("?m=2&at=80", "errors made more error", "longer than"),
        ("?size=0.2&at=40", "errors made more error", "longer than"),
        ("?eta=4&at=40", "errors made more error", "longer than"),
        ("?eta=14&at=20", "the step is longer than 1/λmax(G₀)", "no"),
    ],
)
def test_where_the_band_explodes_the_page_says_what_gave_way(go, query, why, never):
    tab = visit(go, query)
    tab.wait_for_selector(".gave-way")
    words = tab.locator(".gave-way").inner_text()
    assert why in words
    assert never == "no" or never not in words


def test_a_link_of_the_page_sets_the_panel_without_loading_again(go):
    tab = visit(go)
    tab.evaluate("() => { window.stays = true; }")
    tab.locator("article a[href*='m=32']").first.click()
    tab.wait_for_function("() => document.querySelector('[name=run-m]').value === '32'")
    assert tab.evaluate("() => window.stays")
    assert tab.evaluate("() => document.activeElement.closest('.live') !== null")
    button(tab, "Pause").click()
    assert "m=32" in tab.url


def test_who_wants_less_motion_steps_on_demand(go):
    tab = visit(go, "?n=20&T=4", reduced_motion="reduce")
    assert button(tab, "Run").count() == 0
    button(tab, "10 steps").click()
    told(tab, "Step 10.")
    assert step(tab) == 10
    tab.locator("article a[href*='size=0.5']").click()
    told(tab, "Step 120.")


def test_where_a_worker_is_refused_the_page_computes_itself(go):
    refuse = "window.Worker = class { constructor() { throw new DOMException('no', 'SecurityError'); } }"
    tab = visit(go, "?n=20&T=4&at=12", anew=True)
    with_worker = told(tab, "Step 12.")
    tab.context.add_init_script(refuse)
    tab.reload()
    assert told(tab, "Step 12.") == with_worker


def test_it_works_from_disk(browser, site):
    tab = browser.new_page()
    troubles = listen(tab, "file://")
    tab.goto(f"{(site / PAGE).with_suffix('.html').as_uri()}?n=20&T=4&at=12#live-run")
    assert "certain between" in told(tab, "Step 12.")
    assert troubles == []
    tab.close()


@pytest.mark.parametrize("viewport", [{"width": 1400, "height": 1000}, PHONE], ids=["desktop", "phone"])
def test_charts_fit_and_every_control_is_large_enough(go, viewport):
    tab = visit(go, "?m=2&with=2&at=70", viewport=viewport)
    told(tab, "Step 70.")
    assert tab.evaluate("() => document.documentElement.scrollWidth - innerWidth") <= 0
    sizes = tab.evaluate(
        "() => [...document.querySelectorAll('.live :is(select, input, button)')].map(e => e.getBoundingClientRect().height)"
    )
    assert min(sizes) >= 24
    unnamed = tab.evaluate(
        "() => [...document.querySelectorAll('.live svg')].filter(e => !e.getAttribute('aria-label')).length"
    )
    assert unnamed == 0


def test_without_scripts_the_stored_picture_stands_there(go):
    tab = go(PAGE, java_script_enabled=False)
    assert not tab.locator("#live-run").is_visible()
    assert tab.locator("#fig-live-run img, figure:has(#fig-live-run) img, [id=fig-live-run] object").first.is_visible()  # fmt: skip


def test_with_scripts_the_stored_picture_is_one_click_away(go):
    tab = visit(go)
    fold = tab.locator(".live-still").first
    assert not fold.locator("img, object").first.is_visible()
    fold.locator("summary").click()
    assert fold.locator("img, object").first.is_visible()


def test_other_pages_load_no_byte_of_it(go, served):
    files = {*SCRIPTS, "live.css"}
    loaded = lambda: {path.name for path in served.sent()} & files
    for page, expected in (("book/tour", set()), ("book/index", files - {SCRIPTS[2]}), (PAGE, files)):
        served.asked.clear()
        go(page, anew=True)
        assert loaded() == expected


def test_the_stored_picture_has_the_panel_s_first_settings(go):
    chosen = visit(go).evaluate(
        "() => Object.fromEntries(Object.entries(PANELS.run.settings).map(([name, {value}]) => [name, value]))"
    )
    source = "\n".join(code(ROOT / f"{PAGE}.md"))
    first = dict(re.findall(r'"(\w+)": ([\d.]+)', re.search(r"FIRST = (\{.*\})", source)[1]))
    eta, steps = re.search(r"ETA, STEPS = ([\d.]+), (\d+)", source).groups()
    stored = {name: float(value) for name, value in (first | {"eta": eta, "steps": steps}).items()}
    assert stored == {name: value for name, value in chosen.items() if name != "with"}


def test_it_is_small():
    sent = [slim((STATIC / name).read_text(encoding="utf-8")).encode() for name in SCRIPTS]
    assert sum(map(len, sent[:2])) <= 40_000
    assert len(gzip.compress(b"".join(sent[:2]))) <= 15_000
    assert len(sent[2]) <= 12_000


def test_what_is_sent_is_the_script_without_comments():
    assert slim("/* a\n   b */\n  const x = 1; // why\n  // what\n\n  y(`${x} // z`);\n") == "const x = 1; // why\ny(`${x} // z`);\n"  # fmt: skip
    for name in SCRIPTS:  # no text goes over a line, where its indentation would be lost
        lines = (STATIC / name).read_text(encoding="utf-8").splitlines()
        assert [line for line in lines if line.count("`") % 2] == []


def test_what_a_site_sends_is_slim(site):
    for name in SCRIPTS:
        assert (SITE / "_static" / name).read_text(encoding="utf-8") == slim(
            (STATIC / name).read_text(encoding="utf-8")
        )


@pytest.mark.parametrize("page", ["book/index", "book/kernel_regime/linear_run"])
def test_a_brief_panel_runs_and_leads_to_the_whole_one(go, page):
    tab = go(page)
    button(tab, "Run").click()
    tab.get_by_label("heads m").select_option("16")
    assert tab.locator("#live-run .live-chart").count() == 1
    assert tab.locator("#live-run label:visible").count() == 4
    assert "?" not in tab.url
    tab.locator("#live-run .live-facts a").click()
    tab.wait_for_selector("#live-run .live-facts caption")
    assert tab.url.endswith("live.html?m=16#live-run")
    assert tab.get_by_label("heads m").input_value() == "16"


def test_the_way_back_leads_to_the_settings_before(go):
    tab = visit(go, "?m=4")
    tab.locator("article a[href*='m=32']").first.click()
    tab.wait_for_function("() => document.querySelector('[name=run-m]').value === '32'")
    tab.go_back()
    tab.wait_for_function("() => document.querySelector('[name=run-m]').value === '4'")
    assert "live.html?m=4" in tab.url

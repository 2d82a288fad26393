"""A verdict as a line, a card, an entry of the ledger, and the output of a notebook cell. Mathematics in plain words is raised and lowered there."""

import json
import re
import sys
from types import ModuleType, SimpleNamespace

import pytest
import torch

from shallowformer.verify import Verdict
from shallowformer.verify.power import Power
from shallowformer.verify.typeset import as_html
from shallowformer.verify.verdict import MIME, SUPPORT, ClaimFailed


def verdict(**changes) -> Verdict:
    fields = {
        "claim": "kr-fact-1/formula",
        "kind": "inequality",
        "expectation": "tight",
        "verdict": "tight",
        "summary": "largest ratio 1.000000",
        "measured": {"ratio": 1.0},
        "budget": {"restarts": 32, "seed": 0},
        "notices": Power("constant", 0.01),
        "because": "rounding",
    }
    return Verdict(**(fields | changes))


def test_passed_says_whether_the_expectation_is_met():
    assert verdict().passed
    assert not verdict(verdict="loose").passed
    assert verdict(expectation="violated", verdict="violated").passed


def test_the_id_is_parsed():
    assert verdict().id.label == "kr-fact-1"
    assert verdict().id.number == "Fact 1"


def test_a_loose_bound_carries_its_slack():
    assert verdict(verdict="loose", measured={"ratio": 0.25}).headline == "loose ×4"
    assert verdict(verdict="loose", measured={"ratio": 0.3}).headline == "loose ×3.33"
    assert verdict(verdict="loose", measured={"ratio": 0.000592}).headline == "loose ×1,690"
    assert verdict(verdict="loose", measured={"ratio": 1 / 1.010276}).headline == "loose ×1.01"
    assert verdict(verdict="loose", measured={"ratio": 1 / 1.000234}).headline == "loose ×1.00023"
    assert verdict(verdict="loose", measured={"ratio": 0.0}).headline == "loose"
    assert verdict(verdict="loose", measured={}).headline == "loose"
    assert verdict(verdict="violated", measured={"ratio": 2.0}).headline == "violated"


def test_a_passed_line():
    line = verdict().line()
    assert line.startswith("✓ kr-fact-1/formula ")
    assert line.endswith(" tight: largest ratio 1.000000; would notice a constant off by 1 %")
    assert "expected" not in line


def test_a_failed_line_says_what_was_expected():
    line = verdict(verdict="violated").line()
    assert line.startswith("✗ kr-fact-1/formula ")
    assert "violated (expected tight): largest ratio" in line


def test_the_entry_is_json_and_keeps_what_was_found():
    entry = verdict(measured={"ratio": 0.5, "interval": [0.1, 0.2]}, finding="a sentence").entry()
    assert json.loads(json.dumps(entry)) == entry
    assert entry["claim"] == "kr-fact-1/formula"
    assert entry["measured"] == {"ratio": 0.5, "interval": [0.1, 0.2]}
    assert entry["budget"] == {"restarts": 32, "seed": 0}
    assert entry["notices"] == {"what": "constant", "change": 0.01}
    assert (entry["support"], entry["finding"], entry["because"]) == ("proved", "a sentence", "rounding")
    assert (entry["expectation"], entry["verdict"], entry["headline"], entry["kind"]) == ("tight",) * 3 + (
        "inequality",
    )


def test_the_witness_stays_out_of_the_entry():
    assert "witness" not in verdict(witness={"x": torch.ones(2)}).entry()


def test_the_card_shows_state_and_budget():
    card = verdict().card()
    for text in (
        "verdict-passed",
        "✓",
        "kr-fact-1/formula",
        "tight",
        "largest ratio 1.000000",
        "restarts 32, seed 0",
        "would notice a constant off by 1 %",
        "rounding",
    ):
        assert text in card
    assert "never exceeded" in card
    assert "a sentence" in verdict(finding="a sentence").card()
    refuted = verdict(expectation="violated", verdict="violated").card()
    assert "verdict-passed" in refuted
    assert "✗" in refuted
    failed = verdict(verdict="loose", measured={"ratio": 0.5}).card()
    for text in ("verdict-failed", "✗", "loose ×2", "expected tight"):
        assert text in failed


@pytest.mark.parametrize("field", ["summary", "because", "kind", "expectation"])
def test_the_card_escapes_markup(field):
    card = verdict(**{field: "<b>&"}).card()
    assert "<b>" not in card
    assert "&lt;b&gt;&amp;" in card


def test_the_card_raises_exponents_and_lowers_indices_and_keeps_names_of_code():
    one = verdict(
        finding="like m^(−1/2) or n/λ_max",
        summary="slope -0.5 against worst_ratio and K_m",
        because="e^{2 s_d t} ≤ 40",
    )
    card = one.card()
    for text in (
        '"verdict-says">like m<sup>−1/2</sup> or n/λ<sub>max</sub><',
        "slope −0.5 against worst_ratio and K<sub>m</sub><",
        "e<sup>2 s<sub>d</sub> t</sup> ≤ 40",
    ):
        assert text in card
    assert one.entry()["finding"] == "like m^(−1/2) or n/λ_max"
    assert "K_m" in one.line()


def test_an_unknown_verdict_is_refused():
    with pytest.raises(ValueError, match=r"verdict must be one of holds, certified, tight.*got 'fine'"):
        verdict(verdict="fine")


def test_outside_a_notebook_the_line_is_printed(capsys, monkeypatch):
    monkeypatch.delitem(sys.modules, "IPython", raising=False)
    verdict().show()
    assert capsys.readouterr().out == verdict().line() + "\n"


def fake_ipython(monkeypatch, shell) -> list:
    """Put a stand-in for IPython in place; what is published ends in the list."""
    published = []
    ipython, display = ModuleType("IPython"), ModuleType("IPython.display")
    ipython.get_ipython = lambda: shell
    ipython.display = display
    display.publish_display_data = lambda data, metadata: published.append((data, metadata))
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    return published


@pytest.mark.parametrize("shell", [None, SimpleNamespace(kernel=None), SimpleNamespace()])
def test_ipython_without_a_kernel_is_no_notebook(capsys, monkeypatch, shell):
    published = fake_ipython(monkeypatch, shell)
    verdict().show()
    assert published == []
    assert capsys.readouterr().out == verdict().line() + "\n"


def test_in_a_notebook_line_and_card_are_published_and_the_entry_travels_along(capsys, monkeypatch):
    published = fake_ipython(monkeypatch, SimpleNamespace(kernel=object(), execution_count=3))
    verdict().show()
    one = verdict()
    assert published == [({"text/plain": one.line(), "text/html": one.card()}, {MIME: one.entry()})]
    assert capsys.readouterr().out == ""


def test_a_verdict_is_shown_once_in_its_own_cell_and_again_in_another(monkeypatch):
    shell = SimpleNamespace(kernel=object(), execution_count=3)
    published = fake_ipython(monkeypatch, shell)
    one = verdict()
    one.show()
    one._ipython_display_()
    assert len(published) == 1
    shell.execution_count = 4
    one._ipython_display_()
    assert len(published) == 2


def test_a_failed_claim_is_an_assertion_error():
    assert issubclass(ClaimFailed, AssertionError)


def test_kinds_of_support():
    assert SUPPORT == ("proved", "numerical", "open")


@pytest.mark.parametrize(
    ("plain", "html"),
    [
        ("like m^(−1/2)", "like m<sup>−1/2</sup>"),
        ("O(n^{-1/2}), (λ/R)^{1/2} times", "O(n<sup>−1/2</sup>), (λ/R)<sup>1/2</sup> times"),
        ("n/λ_max of K_m", "n/λ<sub>max</sub> of K<sub>m</sub>"),
        ("f^max + y^max", "f<sup>max</sup> + y<sup>max</sup>"),
        ("ν̄_w, B_lin², ‖U_i‖", "ν̄<sub>w</sub>, B<sub>lin</sub>², ‖U<sub>i</sub>‖"),
        ("2K_w, 4s_d, δσ_min(A)", "2K<sub>w</sub>, 4s<sub>d</sub>, δσ<sub>min</sub>(A)"),
        ("2σ²_min(W_U), ‖U‖_F²", "2σ²<sub>min</sub>(W<sub>U</sub>), ‖U‖<sub>F</sub>²"),
        ("|w|^T, 2^12, x^-1", "|w|<sup>T</sup>, 2<sup>12</sup>, x<sup>−1</sup>"),
        ("e^{2 s_d t}, n^{-1/(1+b²)}", "e<sup>2 s<sub>d</sub> t</sup>, n<sup>−1/(1+b²)</sup>"),
        ("e^⟨q, Wq⟩/T, (1e-10)^⅓", "e<sup>⟨q, Wq⟩</sup>/T, (1e-10)<sup>⅓</sup>"),
        ("φ_τ, Ω_ρ, ρ_*, ∇_u ℒ", "φ<sub>τ</sub>, Ω<sub>ρ</sub>, ρ<sub>*</sub>, ∇<sub>u</sub> ℒ"),
        ("slope -0.53 in [-0.6, -.5]", "slope −0.53 in [−0.6, −.5]"),
    ],
)
def test_exponents_are_raised_and_indices_lowered(plain, html):
    assert as_html(plain) == html


@pytest.mark.parametrize(
    "text",
    [
        "worst_ratio",
        "against scaled_dot_product_attention (tolerance 1e-10)",
        "conv2d_x, n_max_len, attn.c_proj, __init__, _private, `W_V^(-1/2)`",
        "head-aligned, 1e-3, kr-fact-1, 10-20",
        "1 − ‖a‖² at T = 1, t⁻², λₘₐₓ, a _ b, a ^ b",
    ],
)
def test_names_of_code_and_plain_words_stay(text):
    assert as_html(text) == text


def test_what_is_set_is_escaped():
    assert as_html('<b>_1 & "x"^(<i>)') == "&lt;b&gt;<sub>1</sub> &amp; &quot;x&quot;<sup>&lt;i&gt;</sup>"
    assert re.findall("<[^>]*>", as_html("|w| < s_d > 0")) == ["<sub>", "</sub>"]

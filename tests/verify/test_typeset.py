"""Mathematics in plain words is raised and lowered; names of code stay what they are."""

import re

import pytest

from shallowformer.verify.typeset import as_html


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

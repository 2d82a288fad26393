"""All closed-form bounds at once, for tanh: as a function, and as a calculator that a page carries out by itself.

The page's script is printed from that function (``javascript``); a test holds the numbers of one against those of the other.
"""

import functools
import json
import math
from html import escape

import sympy

from shallowformer.interactive import Interactive, theme
from shallowformer.kernel_regime.convergence import closed_forms

#: What the rows are called, by the names of ``bounds``.
ROWS = {
    "paper": "Theorem 1, as printed",
    "sharp": "Theorem 1, sharper constants",
    "paper_step": "Theorems A and B, the paper's step η = 1/√τ",
    "own_step": "Theorems A and B, η = 1/(2Ā²)",
}
_TENS = lambda digits, most: [
    digit * 10**k for k in range(most + 1) for digit in digits if digit * 10**k <= 10**most
]
#: Positions of the sliders.
POSITIONS = {
    "d": [2**k for k in range(11)],
    "m": [2**k for k in range(2, 65)],
    "n": _TENS((1, 2, 5), 9),
    "tau": _TENS((1, 2, 4), 20),
    "delta": [10.0**-k for k in (12, 9, 6, 4, 3, 2)] + [0.05, 0.1, 0.5],
    "rho": [k / 10 for k in range(1, 51)],
    "nu": [k / 10 for k in range(1, 51)],
}
#: What the sliders are called.
LABELS = {
    "d": "dimension d",
    "m": "heads m",
    "n": "samples n",
    "tau": "steps τ",
    "delta": "probability of failure δ",
    "rho": "radii ρ of Ω",
    "nu": "sup norms ν̄ of the target",
}


def bounds(d: int, m: int, n: int, tau: int, delta: float, rho: float, nu: float) -> dict[str, float]:
    """Every bound of this part on the mean loss of projected gradient descent that needs no initialisation, for tanh.

    Returns: the bounds; infinite where a step size is too large for Theorem A.

    Args:
        rho: radius of Ω_ρ, the same in all blocks, above 0.
        nu: sup norm ν̄ of the mapping, the same in all blocks, at most ``rho``.
    """
    eta, around, far = tau**-0.5, (rho,) * 3, (nu,) * 3
    ours = closed_forms.self_bounding(d, m, delta, around, far)
    return {
        "paper": closed_forms.paper(d, m, n, delta, around, far).best(eta, tau),
        "sharp": closed_forms.sharp(d, m, delta, around, far).best(eta, tau),
        "paper_step": ours.at(eta, tau),
        "own_step": ours.halfway(tau),
    }


def symbols() -> dict[str, sympy.Symbol]:
    """A symbol for every slider, all above 0; m is even. Returns: name → symbol."""
    whole = {"d": {"integer": True}, "m": {"even": True}, "n": {"integer": True}, "tau": {"integer": True}}
    return {name: sympy.Symbol(name, positive=True, **whole.get(name, {})) for name in POSITIONS}


def _with_fractions(formula: sympy.Expr) -> sympy.Expr:
    """0.5 and 2.0 as ½ and 2, so that powers with such exponents simplify."""
    whole = (number for number in formula.atoms(sympy.Float) if (4 * number) % 1 == 0)
    return formula.xreplace({number: sympy.Rational(float(number)) for number in whole})


@functools.cache
def javascript() -> str:
    """``bounds``, evaluated at symbols and printed, as a function of JavaScript: from positions of all sliders to values of all rows."""
    formulas = {name: _with_fractions(formula) for name, formula in bounds(**symbols()).items()}
    steps, values = sympy.cse(formulas.values())
    lines = [f"const {name} = {sympy.jscode(step)};" for name, step in steps]
    rows = [f"{name}: {sympy.jscode(value)}" for name, value in zip(formulas, values, strict=True)]
    return f"({{{', '.join(POSITIONS)}}}) => {{{' '.join(lines)} return {{{', '.join(rows)}}}; }}"


_SCRIPT = """
for (const root of document.querySelectorAll(".calculator:not([data-alive])")) {
  root.dataset.alive = "";
  const {positions, trivial, floor, ceiling} = JSON.parse(root.dataset.calculator);
  root.bounds = BOUNDS;
  const exponent = (x) => x.toExponential(1).replace("e+", "e").replace(/e(.*)/, (_, k) => k === "0" ? "" : "·10" + k.replace("-", "⁻").replace(/\\d/g, (c) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[c]));
  const plain = (x) => x >= 1e5 || x < 0.01 ? exponent(x) : String(+x.toPrecision(4));
  const inputs = [...root.querySelectorAll("input")];
  const show = () => {
    const at = Object.fromEntries(inputs.map((input) => [input.name, positions[input.name][+input.value]]));
    const possible = at.nu <= at.rho, found = possible ? root.bounds(at) : {};
    inputs.forEach((input) => {
      input.setAttribute("aria-valuetext", plain(at[input.name]));
      root.querySelector(`output[name=${input.name}]`).textContent = plain(at[input.name]);
    });
    root.querySelectorAll("tr[data-bound]").forEach((row) => {
      const value = found[row.dataset.bound], [, number, times] = row.cells;
      const share = (Math.log(value / floor) / Math.log(ceiling / floor)) * 100;
      number.textContent = !possible ? "needs ρ ≥ ν̄" : value === Infinity ? "step too long" : plain(value);
      times.textContent = Number.isFinite(value) ? plain(value / trivial) : "–";
      row.querySelector("b").style.width = `${Number.isFinite(value) ? Math.min(100, Math.max(0.5, share)) : 0}%`;
      row.classList.toggle("means-something", value < trivial);
    });
  };
  inputs.forEach((input) => input.addEventListener("input", show));
  root.querySelector("fieldset").hidden = false;
  show();
}
"""

_STYLE = (
    theme(".calculator")
    + """
.calculator fieldset{border:0;margin:0 0 .6rem;padding:0;display:grid;grid-template-columns:repeat(auto-fit,minmax(230px,1fr));gap:.1rem 1.2rem}
.calculator fieldset[hidden]{display:none}
.calculator label{text-align:left;display:grid;grid-template-columns:1fr auto;align-items:center}
.calculator input{grid-column:1/3;width:100%;height:1.7rem;margin:0;accent-color:var(--truth);cursor:pointer}
.calculator table{width:100%;border-collapse:collapse;font-variant-numeric:tabular-nums}
.calculator th,.calculator td{padding:.25rem .4rem;border:0;background:none;color:inherit;text-align:right;vertical-align:bottom}
.calculator th:first-child{text-align:left;font-weight:normal}
.calculator thead th{font-weight:normal}
.calculator span{display:block;height:.45rem;margin-top:.15rem;position:relative}
.calculator b{display:block;height:100%;background:var(--claim)}
.calculator .means-something b{background:var(--other)}
.calculator i{position:absolute;top:-.15rem;bottom:-.15rem;width:2px;background:var(--ink)}
"""
)


def widget(trivial: float, start: dict[str, float] | None = None) -> Interactive:
    """The calculator: seven sliders, four bounds, and how far each is above the trivial level, the loss of the model that outputs 0.

    It needs no outside help; without JavaScript the values at the start stand as a table.

    Args:
        start: positions of the sliders at first, each among ``POSITIONS``; by default the paper's setting with 256 heads.
    """
    if not trivial > 0:
        raise ValueError(f"trivial must be above 0, got {trivial!r}")
    at = {"d": 8, "m": 256, "n": 5000, "tau": 4000, "delta": 0.05, "rho": 3.0, "nu": 3.0} | (start or {})
    for name, value in at.items():
        if name not in POSITIONS or value not in POSITIONS[name]:
            raise ValueError(
                f"start must hold positions of the sliders {', '.join(POSITIONS)}, got {name} = {value!r}"
            )
    floor, ceiling = 1e-6, 1e8
    held = {"positions": POSITIONS, "trivial": trivial, "floor": floor, "ceiling": ceiling}
    sliders = "".join(
        f'<label>{escape(LABELS[name])} <output name="{name}">{at[name]:g}</output>'
        f'<input type="range" name="{name}" min="0" max="{len(values) - 1}" step="1" value="{values.index(at[name])}" autocomplete="off"></label>'
        for name, values in POSITIONS.items()
    )
    share = lambda value: min(100, 100 * math.log(value / floor) / math.log(ceiling / floor))
    rows = "".join(
        f'<tr data-bound="{name}"><th scope="row">{escape(ROWS[name])}'
        f'<span aria-hidden="true"><b style="width:{share(value):.1f}%"></b><i style="left:{share(trivial):.1f}%"></i></span></th>'
        f"<td>{value:.2g}</td><td>{value / trivial:.2g}</td></tr>"
        for name, value in bounds(**at).items()
    )
    data = escape(json.dumps(held, separators=(",", ":")), quote=False).replace("'", "&#39;")
    return Interactive(
        f"<div class=\"calculator\" data-calculator='{data}'><style>{_STYLE}</style><fieldset hidden>{sliders}</fieldset>"
        f'<table aria-live="polite"><thead><tr><th scope="col">bound on the mean loss (tick: trivial level)</th>'
        f'<th scope="col">value</th><th scope="col">over trivial</th></tr></thead><tbody>{rows}</tbody></table>'
        f"<script>{_SCRIPT.replace('BOUNDS', javascript())}</script></div>",
        "bounds on the mean loss: " + ", ".join(f"{ROWS[k]}: {v:.3g}" for k, v in bounds(**at).items()),
    )

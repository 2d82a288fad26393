"""All closed-form bounds at once, for tanh: as a function, and as a calculator that a page carries out by itself.

The script on the page repeats the formulas of ``closed_forms``; a test holds one against the other, digit by digit.
"""

import json
import math
from html import escape

from shallowformer.interactive import Interactive, theme
from shallowformer.kernel_regime import closed_forms, cumulants
from shallowformer.kernel_regime.activations import TANH

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

    Args:
        d: dimension of a token, at least 1.
        m: number of heads, even.
        n: number of samples, at least 1.
        tau: number of steps τ, at least 1.
        delta: probability of failure, in (0, 1).
        rho: radius of Ω_ρ, the same in all blocks, above 0.
        nu: sup norm ν̄ of the mapping, the same in all blocks, at most ``rho``.

    Returns:
        The bounds; infinite where a step size is too large for Theorem A.

    Raises:
        ValueError: an argument out of range.
    """
    eta, around, far = tau**-0.5, (rho,) * 3, (nu,) * 3
    ours = closed_forms.self_bounding(d, m, delta, around, far)
    return {
        "paper": closed_forms.paper(d, m, n, delta, around, far).best(eta, tau),
        "sharp": closed_forms.sharp(d, m, delta, around, far).best(eta, tau),
        "paper_step": ours.at(eta, tau),
        "own_step": ours.halfway(tau),
    }


_SCRIPT = """
for (const root of document.querySelectorAll(".calculator:not([data-alive])")) {
  root.dataset.alive = "";
  const {positions, constants, trivial, floor, ceiling} = JSON.parse(root.dataset.calculator);
  const {s0, s1, s2, kappa, meanAbs} = constants, {sqrt, log, hypot} = Math;
  const largest = (R, u, w) => u < 2 * w * R ? w * R + u * u / (4 * w * R) : u;
  const paper = (d, m, n, delta, rho, nu) => {
    const B = sqrt(d) + sqrt(2 * log(m / delta)) + rho / sqrt(m), r = hypot(rho, rho);
    const L1 = s1 * sqrt(1 + B * B), L2 = s2 * (1 + B * B) + 8 * s1 * sqrt(1 + B * B);
    return {
      F: L1 * r + s0 * rho + s0 * nu + s1 * (nu + sqrt(d) * nu),
      A: s0 + (1 + rho / sqrt(m)) * L1,
      errors: (2 * (s0 + 2 * s1) * nu * sqrt(2 * log(4 * n / delta)) + L1 * rho * r + L2 * r * r
        + (L2 * r + L1 * rho + L1 * r) * sqrt(3) * (rho + nu)) / sqrt(m),
    };
  };
  const common = (d, m, delta, rho, nu) => {
    const x = -log(delta), level = log(4 / delta) / m, S = (s0 + 2 * s1) * nu;
    const R = sqrt(d + 2 * sqrt(2 * d * x / m) + 4 * x / m) + rho / sqrt(m);
    return {
      R,
      square: ((1 + rho / sqrt(m)) * s1) ** 2 * (1 + R * R),
      app: S * (2 * sqrt(level) + 3 * level),
      first: (r) => hypot(r, r * R),
      second: (r, o) => s2 * r * o * (1 + R * R) + s1 * (2 * r * o + kappa * r * o * R),
    };
  };
  const sharp = (d, m, delta, rho, nu) => {
    const {R, square, app, first, second} = common(d, m, delta, rho, nu);
    const narrow = common(d, m, delta, nu, nu);  // lengths within reach of the comparator
    const lin = s1 * nu * narrow.first(nu) + narrow.second(nu, nu) / 2;
    const rem = s1 * (rho + nu) * first(rho + nu) + (1 + rho / sqrt(m)) * second(rho + nu, rho + nu) / 2;
    return {
      F: s0 * rho + s1 * first(rho) + s0 * nu + s1 * largest(meanAbs, nu, nu),
      A: sqrt(square),
      errors: app + (lin + rem) / sqrt(m),
    };
  };
  const skeleton = ({F, A, errors}, tau, nu) =>
    3 * nu * nu / (4 * sqrt(tau)) + (F * A) ** 2 / sqrt(tau) + F * errors;
  const theoremA = (epsilon, V0, horizon, theta) => theta < 1
    ? ((epsilon + sqrt(epsilon ** 2 + (1 - theta) * V0 / horizon)) / (2 * (1 - theta))) ** 2 : Infinity;
  root.bounds = ({d, m, n, tau, delta, rho, nu}) => {
    const {square, app, first, second} = common(d, m, delta, rho, nu), V0 = 3 * nu * nu;
    const turn = (s1 * (rho * first(nu) + (nu + rho) * first(rho))
      + (1 + rho / sqrt(m)) * (second(rho, nu) + second(rho, rho) / 2)) / sqrt(m);
    return {
      paper: skeleton(paper(d, m, n, delta, rho, nu), tau, nu),
      sharp: skeleton(sharp(d, m, delta, rho, nu), tau, nu),
      paper_step: theoremA(app + turn, V0, sqrt(tau), square / sqrt(tau)),
      own_step: theoremA(app + turn, V0, tau / (2 * square), 0.5),
    };
  };
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
      const share = (log(value / floor) / log(ceiling / floor)) * 100;
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
    """The calculator: seven sliders, four bounds, and how far each is above the trivial level.

    Args:
        trivial: loss of the model that outputs 0, above 0.
        start: positions of the sliders at first, each among ``POSITIONS``; by default the paper's setting with 256 heads.

    Returns:
        A figure without any outside help; without JavaScript the values at the start stand as a table.

    Raises:
        ValueError: ``trivial`` not above 0, or a start that no slider has.
    """
    if not trivial > 0:
        raise ValueError(f"trivial must be above 0, got {trivial!r}")
    at = {"d": 8, "m": 256, "n": 5000, "tau": 4000, "delta": 0.05, "rho": 3.0, "nu": 3.0} | (start or {})
    for name, value in at.items():
        if name not in POSITIONS or value not in POSITIONS[name]:
            raise ValueError(
                f"start must hold positions of the sliders {', '.join(POSITIONS)}, got {name} = {value!r}"
            )
    _, s1, s2, _ = TANH.bounds
    floor, ceiling = 1e-6, 1e8
    held = {
        "positions": POSITIONS,
        "constants": {"s0": TANH.bounds[0], "s1": s1, "s2": s2, "kappa": cumulants.KAPPA, "meanAbs": math.sqrt(2 / math.pi)},
        "trivial": trivial,
        "floor": floor,
        "ceiling": ceiling,
    }  # fmt: skip
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
        f"<script>{_SCRIPT}</script></div>",
        "bounds on the mean loss: " + ", ".join(f"{ROWS[k]}: {v:.3g}" for k, v in bounds(**at).items()),
    )

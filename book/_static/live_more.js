/* Two more panels in the frame of live.js: a head that selects its token, and the saddle of a factorisation in two dimensions. */
"use strict";

/** Rows of a run that is quick enough for the page itself. */
const onThePage = (run) => ({
  steps: (count, then) => setTimeout(() => then(Array.from({ length: count }, () => run.step()))),
  stop() {},
});

/* ---- A head that selects its token (token_selection) ---- */

const WIDE = 8;

/** Normalised and plain descent on W from the same start; optimal tokens score 1, all others 0, the first token asks. */
class Selection {
  constructor({ n, T, eta, start, seed }) {
    const { gaussians } = liveMathematics, d = WIDE, drawn = gaussians(seed, 10, n * (T * d + 2));
    Object.assign(this, { n, T, eta, t: 0 });
    this.X = []; this.y = []; this.best = [];
    for (let i = 0; i < n; i++) {
      const at = i * (T * d + 2), best = Math.min(T - 1, Math.floor(T * (0.5 + Math.atan(drawn[at]) / Math.PI))), y = drawn[at + 1] < 0 ? -1 : 1;
      this.best.push(best);
      this.y.push(y);
      this.X.push(Array.from({ length: T }, (_, t) => Array.from({ length: d }, (_, a) => a ? drawn[at + 2 + t * d + a] / Math.sqrt(d) : t === best ? y : 0)));
    }
    /* E_k = (x_opt − x_t) x_1ᵀ, and the shortest W with ⟨E_k, W⟩ ≥ 1: coordinate ascent on its dual. */
    this.pairs = this.X.flatMap((X, i) => X.flatMap((x, t) => t === this.best[i] ? [] : [{ i, E: Float64Array.from({ length: d * d }, (_, k) => (X[this.best[i]][k / d | 0] - x[k / d | 0]) * X[0][k % d]) }]));
    this.svm = new Float64Array(d * d);
    const share = this.pairs.map(() => 0);
    for (let sweep = 0, moved = 1; sweep < 20000 && moved > 1e-15; sweep++) {
      moved = 0;
      this.pairs.forEach(({ E }, k) => {
        const step = Math.max(-share[k], (1 - inner(E, this.svm)) / inner(E, E));
        share[k] += step;
        moved = Math.max(moved, Math.abs(step) / (1 + share[k]));
        E.forEach((value, a) => { this.svm[a] += step * value; });
      });
    }
    const W0 = gaussians(seed, 11, d * d).map((value) => start * value / d);
    this.W = [W0, W0.slice()];
  }

  /** Gaps, and the direction and the size (as a logarithm) of −∇ℒ. */
  pull(W) {
    const gaps = this.pairs.map(({ E }) => inner(E, W)), behind = Array(this.n).fill(-Infinity), logs = [];
    this.pairs.forEach(({ i }, k) => { behind[i] = logAdd(behind[i], -gaps[k]); });
    const size = behind.map((b) => logAdd(0, b));
    this.pairs.forEach(({ i }, k) => {  // (1/n) e^{−f} φ_t φ_opt, with f = φ_opt
      const best = Math.exp(-size[i]);
      logs.push(-gaps[k] - 2 * size[i] - best - Math.log(this.n));
    });
    const top = Math.max(...logs), G = new Float64Array(W.length);
    this.pairs.forEach(({ E }, k) => { const weight = Math.exp(logs[k] - top); E.forEach((value, a) => { G[a] += weight * value; }); });
    const length = Math.sqrt(inner(G, G));
    return { direction: G.map((value) => value / length), log: top + Math.log(length), off: Math.max(...behind.map((b, i) => b - size[i])) };
  }

  step() {
    const norm = Math.sqrt(inner(this.svm, this.svm)), best = this.svm.map((value) => value / norm);
    const row = this.W.map((W) => {
      const along = inner(W, best), off = W.map((value, a) => value - along * best[a]), residual = Math.sqrt(inner(off, off)), size = Math.hypot(along, residual);
      const apart = size === 0 ? 1 : along > 0 ? residual * (residual / size) / (size + along) : 1 - along / size;
      return { t: this.t, apart, size, logOff: this.pull(W).off, W: W.map((value) => value / (size || 1)), best };
    });
    const until = Math.max(this.t + 1, Math.ceil(1.15 * this.t));
    for (; this.t < until; this.t++) {
      this.W.forEach((W, k) => {
        const { direction, log } = this.pull(W), length = this.eta * (k ? Math.exp(log) : 1);
        direction.forEach((value, a) => { W[a] += length * value; });
      });
    }
    return row;
  }
}

const inner = (a, b) => { let sum = 0; for (let k = 0; k < a.length; k++) sum += a[k] * b[k]; return sum; };
const logAdd = (a, b) => { const top = Math.max(a, b); return top === -Infinity ? top : top + Math.log(Math.exp(a - top) + Math.exp(b - top)); };

/** Matrices of the same size as tiles, blue above 0 and orange below; each is [name, entries]. */
function tiles(place, matrices) {
  const width = Math.max(240, place.clientWidth), gap = 14, side = Math.min(160, (width - 2 * gap) / 3), cell = side / WIDE;
  const most = Math.max(...matrices.flatMap(([, W]) => [...W].map(Math.abs)));
  const drawn = matrices.map(([name, W], k) => {
    const left = k * (side + gap);
    const squares = [...W].map((value, a) => `<rect class="${value < 0 ? "below" : "above"}" x="${(left + (a % WIDE) * cell).toFixed(1)}" y="${(18 + (a / WIDE | 0) * cell).toFixed(1)}" width="${cell.toFixed(1)}" height="${cell.toFixed(1)}" opacity="${(Math.abs(value) / most).toFixed(2)}"/>`);
    return `<text x="${left}" y="12">${name}</text>${squares.join("")}<rect class="frame" x="${left}" y="18" width="${side.toFixed(1)}" height="${side.toFixed(1)}"/>`;
  });
  place.innerHTML = `<svg role="img" width="${width}" height="${side + 24}" viewBox="0 0 ${width} ${side + 24}">${drawn.join("")}</svg>`;
  place.firstChild.setAttribute("aria-label", `Three matrices of ${WIDE} rows, each of length 1: ${matrices.map(([name]) => name).join(", ")}.`);
}

PANELS.select = {
  legend: "A head that selects",
  prefix: "select-",
  charts: ["apart", "off", "matrices"],
  key: [["real is-first", "normalised steps"], ["real is-second", "plain descent"]],
  settings: {
    n: { label: "sequences n", values: [1, 2, 4, 8], value: 4, least: 1, most: 8, whole: true },
    T: { label: "tokens T", values: [2, 4, 6], value: 4, least: 2, most: 8, whole: true },
    eta: { label: "step η", values: [0.1, 0.3, 1, 3], value: 0.3, least: 1e-3, most: 10 },
    start: { label: "size of the start", values: [0, 0.1, 1, 3, 30], value: 1, least: 0, most: 30 },
    steps: { label: "instants, each 15 % later", values: [40, 60, 70], value: 40, least: 5, most: 75, whole: true },
    seed: { label: "seed", value: 1, least: 0, most: 9999, whole: true },
  },
  engine: (settings) => onThePage(new Selection(settings)),
  draw(charts, rows) {
    const x = { from: 1, to: 10 ** Math.max(2, Math.ceil(Math.log10(rows[rows.length - 1][0].t + 1))), log: true, name: "step t" }, later = rows.slice(1);
    const apart = new Chart(charts.apart, 260, x, { from: 1e-8, to: 2, log: true, name: "1 − cosine of the angle to the SVM direction" });
    const off = new Chart(charts.off, 180, x, { from: 1e-12, to: 1, log: true, name: "largest weight off an optimal token" });
    ["is-first", "is-second"].forEach((name, k) => {
      apart.line(later.map((row) => [row[k].t, row[k].apart]), `real ${name}`);
      off.line(later.map((row) => [row[k].t, Math.exp(row[k].logOff)]), `real ${name}`);
    });
    apart.show(`How far the direction is from the SVM’s. ${this.says(rows)}`);
    off.show("The largest weight that a head leaves on tokens that are not optimal.");
    const [first, second] = rows[rows.length - 1];
    tiles(charts.matrices, [["normalised W/‖W‖", first.W], ["plain W/‖W‖", second.W], ["SVM direction", first.best]]);
  },
  facts(rows) {
    const [first, second] = rows[rows.length - 1], line = (name, of) => `<tr><th scope="row">${name}</th><td>${of(first)}</td><td>${of(second)}</td></tr>`;
    return `<table><caption>Step ${first.t}</caption><thead><tr><td></td><th scope="col">normalised</th><th scope="col">plain</th></tr></thead><tbody>`
      + line("angle to the SVM direction", (row) => `${figure(degrees(row.apart))}°`) + line("length ‖W‖", (row) => figure(row.size))
      + line("largest weight off an optimal token", (row) => row.logOff < -600 ? `e${figure(row.logOff)}` : figure(Math.exp(row.logOff))) + "</tbody></table>";
  },
  says(rows) {
    const [first, second] = rows[rows.length - 1];
    return `Step ${first.t}: normalised steps are ${figure(degrees(first.apart))} degrees from the SVM direction, plain descent ${figure(degrees(second.apart))}.`;
  },
};

/** The angle whose cosine is 1 − apart, also where that is nearly 1. */
const degrees = (apart) => 360 / Math.PI * Math.asin(Math.sqrt(Math.min(1, Math.max(0, apart / 2))));

/* ---- The saddle of a factorisation (preconditioned) ---- */

/** Descent on ½(uv − 1)² + (λ/4)(u² − v²)². */
class Saddle {
  constructor({ angle, length, eta, lambda }) {
    const turn = angle * Math.PI / 180;
    this.u = length * Math.cos(turn);
    this.v = (angle % 180 + 180) % 180 === 135 ? -this.u : length * Math.sin(turn);
    Object.assign(this, { eta, lambda });
  }

  step() {
    const { u, v, eta, lambda } = this, D = u * v - 1, C = u * u - v * v, row = [{ u, v, value: D * D / 2 + lambda / 4 * C * C }];
    this.u = u - eta * (D * v + lambda * u * C);
    this.v = v - eta * (D * u - lambda * v * C);
    return row;
  }
}

PANELS.saddle = {
  legend: "Two numbers whose product should be 1",
  prefix: "saddle-",
  charts: ["plane", "value"],
  key: [["real is-first", "descent"], ["linear", "u = v, and uv = 1"], ["one", "u = −v: the way into the saddle"]],
  settings: {
    angle: { label: "start: angle in degrees", values: [135, 134.9, 134, 120, 90, 0, -60], value: 134, least: -360, most: 360 },
    length: { label: "start: length", values: [0.1, 0.5, 1, 2], value: 1, least: 0, most: 3 },
    eta: { label: "step η", values: [0.05, 0.1, 0.3, 0.9, 1.1, 1.5], value: 0.1, least: 1e-3, most: 5 },
    lambda: { label: "weight λ", values: [0, 0.1, 0.5, 2], value: 0.5, least: 0, most: 10 },
    steps: { label: "steps", values: [60, 120, 240], value: 120, least: 5, most: 1000, whole: true },
  },
  engine: (settings) => onThePage(new Saddle(settings)),
  draw(charts, rows, settings) {
    const path = rows.map(([{ u, v }]) => [u, v]).filter(([u, v]) => Math.abs(u) < 9 && Math.abs(v) < 9), high = 2.1;
    const wide = high * (Math.max(240, charts.plane.clientWidth) - 62) / (320 - 58);
    const plane = new Chart(charts.plane, 320, { from: -wide, to: wide, name: "u" }, { from: -high, to: high, name: "v" });
    const curve = (f, from, to) => Array.from({ length: 81 }, (_, k) => from + (to - from) * k / 80).map((u) => [u, f(u)]);
    plane.line(curve((u) => 1 / u, 1 / high, Math.min(wide, 4)), "linear").line(curve((u) => 1 / u, -1 / high, -Math.min(wide, 4)), "linear");
    plane.line([[-high, -high], [high, high]].map(([u, v]) => [Math.max(-wide, Math.min(wide, u)), Math.max(-wide, Math.min(wide, v))]), "linear");
    const reach = Math.min(wide, high);
    plane.line([[-reach, reach], [reach, -reach]], "one").line(path, "real is-first");
    plane.dots([[1, 1], [-1, -1]], "optimum").dots([[0, 0]], "stuck").dots(path.slice(-1), "here");
    const value = new Chart(charts.value, 170, { from: 0, to: settings.steps, name: "step" }, { from: 1e-12, to: 10, log: true, name: "value" });
    value.line(rows.map(([row], s) => [s, row.value]), "real is-first");
    plane.show(`The plane of u and v with the path of descent. ${this.says(rows)}`);
    value.show(`The value against the step; now ${figure(rows[rows.length - 1][0].value)}.`);
  },
  facts(rows, { eta, lambda }) {
    const limit = 2 / Math.max(2, 4 * lambda);
    return `<table><caption>Step ${rows.length - 1}</caption><tbody><tr><th scope="row">uv</th><td>${figure(rows[rows.length - 1][0].u * rows[rows.length - 1][0].v)}</td></tr>`
      + `<tr><th scope="row">value</th><td>${figure(rows[rows.length - 1][0].value)}</td></tr><tr><th scope="row"><b>short steps</b>: η over 2/max(2, 4λ), below 1: else the optimum itself repels</th>`
      + `<td>${figure(eta / limit, 2)} ${eta < limit ? '<span class="kept">✓ holds</span>' : '<span class="gone">✗ too long</span>'}</td></tr></tbody></table>`;
  },
  says(rows) {
    const [{ u, v, value }] = rows[rows.length - 1], near = !Number.isFinite(value) || value > 1e6 ? " It ran away." : Math.hypot(u, v) < 0.05 ? " At the saddle." : Math.abs(u * v - 1) < 1e-3 && value < 1e-5 ? " At an optimum." : "";
    return `Step ${rows.length - 1}: u = ${figure(u)}, v = ${figure(v)}, value ${figure(value)}.${near}`;
  },
};

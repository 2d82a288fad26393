/* Panels in which a run grows step by step: their frame (settings, buttons, address, charts, what is told), and the panel of Theorem F.

   A panel is a <div data-live="name">; PANELS says what each is. The settings stand in the address, so a link can name a phenomenon. */
"use strict";

/** The least time that a step of a running panel is seen, in milliseconds. */
const PACE = 45;
const still = matchMedia("(prefers-reduced-motion: reduce)");

/** Make an element. */
function make(name, properties = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) key in made ? made[key] = value : made.setAttribute(key, value);
  made.append(...children);
  return made;
}

/** Ten to a power, in words. */
const power = (exponent) => `10${[...String(exponent)].map((c) => c === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[c]).join("")}`;

/** A number in words: three digits, what is very small or large with a power of ten. */
function figure(value, digits = 3) {
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "–";
  if (value === 0 || (Math.abs(value) >= 1e-3 && Math.abs(value) < 1e5)) return String(+value.toPrecision(digits)).replace("-", "−");
  const [mantissa, exponent] = value.toExponential(digits - 1).split("e");
  return `${mantissa.replace("-", "−")}·${power(+exponent)}`;
}

/* ---- A chart ---- */

/** A chart in units of its data, as text of an SVG that is as wide as its place; axes are {from, to, name, log}. */
class Chart {
  constructor(place, height, x, y) {
    Object.assign(this, { place, height, x, y, width: Math.max(240, place.clientWidth), parts: [] });
    this.inside = { left: 52, right: this.width - 14, top: 22, bottom: height - 36 };
    this.axes();
  }

  share({ from, to, log }, value) {
    const at = log ? Math.log(Math.max(value, 1e-300) / from) / Math.log(to / from) : (value - from) / (to - from);
    return Math.min(1.02, Math.max(-0.02, at));
  }

  px(value) { return (this.inside.left + (this.inside.right - this.inside.left) * this.share(this.x, value)).toFixed(1); }
  py(value) { return (this.inside.bottom - (this.inside.bottom - this.inside.top) * Math.min(1, Math.max(0, this.share(this.y, value)))).toFixed(1); }

  tick({ log }, value) { return log && (value < 0.01 || value >= 1e4) ? power(Math.round(Math.log10(value))) : figure(value); }

  ticks({ from, to, log }, most) {
    if (log) {
      const low = Math.ceil(Math.log10(from) - 1e-9), high = Math.floor(Math.log10(to) + 1e-9), by = Math.ceil((high - low + 1) / most);
      return Array.from({ length: Math.floor((high - low) / by) + 1 }, (_, k) => 10 ** (low + k * by));
    }
    const rough = (to - from) / most, power = 10 ** Math.floor(Math.log10(rough));
    const by = [1, 2, 5, 10].map((k) => k * power).find((step) => step >= rough * 0.999), first = Math.ceil(from / by - 1e-9);
    return Array.from({ length: Math.floor(to / by + 1e-9) - first + 1 }, (_, k) => +((first + k) * by).toPrecision(6));
  }

  axes() {
    const { left, right, top, bottom } = this.inside;
    for (const value of this.ticks(this.x, Math.max(3, this.width / 90))) {
      this.parts.push(`<path class="grid" d="M${this.px(value)} ${bottom}V${top}"/><text x="${this.px(value)}" y="${bottom + 16}" text-anchor="middle">${this.tick(this.x, value)}</text>`);
    }
    for (const value of this.ticks(this.y, 7)) {
      this.parts.push(`<path class="grid" d="M${left} ${this.py(value)}H${right}"/><text x="${left - 6}" y="${+this.py(value) + 4}" text-anchor="end">${this.tick(this.y, value)}</text>`);
    }
    this.parts.push(`<text x="${right}" y="${this.height - 4}" text-anchor="end">${this.x.name}</text><text x="2" y="13">${this.y.name}</text>`);
  }

  words(text, x, y, how = "") { this.parts.push(`<text x="${x}" y="${y}" ${how}>${text}</text>`); }

  line(points, name) {
    const path = points.filter(([, y]) => Number.isFinite(y) && !(this.y.log && y < this.y.from)).map(([x, y], k) => `${k ? "L" : "M"}${this.px(x)} ${this.py(y)}`);
    if (path.length) this.parts.push(`<path class="line ${name}" d="${path.join("")}"/>`);
    return this;
  }

  dots(points, name) {
    for (const [x, y] of points) this.parts.push(`<circle class="${name}" cx="${this.px(x)}" cy="${this.py(y)}" r="4"/>`);
    return this;
  }

  /** Between two curves: points are [x, low, high]; what is infinite reaches to the edge. */
  band(points, name) {
    if (points.length < 2) return this;
    const up = points.map(([x, , high]) => `${this.px(x)} ${this.py(high === Infinity ? this.y.to : high)}`);
    const down = points.map(([x, low]) => `${this.px(x)} ${this.py(low)}`).reverse();
    this.parts.push(`<path class="band ${name}" d="M${[...up, ...down].join("L")}Z"/>`);
    return this;
  }

  show(description) {
    this.place.innerHTML = `<svg role="img" width="${this.width}" height="${this.height}" viewBox="0 0 ${this.width} ${this.height}">${this.parts.join("")}</svg>`;
    this.place.firstChild.setAttribute("aria-label", description);
  }
}

/* ---- The frame ---- */

/** Give a panel its settings, its buttons and its charts. */
function enliven(root, panel) {
  const id = root.dataset.live, names = Object.keys(panel.settings), prefix = panel.prefix ?? "", at = `${prefix}at`;
  /* A brief panel stands on another page: few settings, one chart, and the way to the whole panel; the address is the page's. */
  const whole = root.dataset.whole, shown = whole ? panel.charts.slice(0, 1) : panel.charts;
  const more = make("a", { className: "reference internal" });
  const settings = {}, inputs = {}, charts = {};
  let rows = [], engine = null, goal = 0, running = false, waiting = false, hasty = false, told = -1, run = 0;

  /** Whether steps are being made; the state before the first one comes by itself. */
  const busy = () => running && goal > 0;

  /** A setting as it may be: a number within its limits, or what it is by default. */
  const allowed = (name, text) => {
    const { least, most, even, whole, value, empty } = panel.settings[name], number = Number(text);
    if (text === "" || text === null || text === undefined) return empty ? "" : value;
    const fits = Number.isFinite(number) && number >= least && number <= most && (!whole || Number.isInteger(number)) && (!even || number % 2 === 0);
    return fits ? number : value;
  };

  const address = () => {
    const query = new URLSearchParams(whole ? "" : location.search);
    for (const name of names) {
      if (settings[name] === panel.settings[name].value) query.delete(prefix + name);
      else query.set(prefix + name, settings[name]);
    }
    if (rows.length > 1) query.set(at, rows.length - 1);
    else query.delete(at);
    const text = query.toString();
    if (whole) { more.href = `${whole}${text ? `?${text}` : ""}#live-${id}`; return; }
    try { history.replaceState(null, "", `${location.pathname}${text ? `?${text}` : ""}${location.hash}`); } catch { /* from disk some browsers refuse */ }
  };

  const fill = () => {
    for (const name of names) {
      const input = inputs[name], value = String(settings[name]);
      if (input.tagName === "SELECT" && ![...input.options].some((option) => option.value === value)) input.add(make("option", { value, textContent: value }));
      input.value = value;
    }
  };

  const take = (query) => {
    for (const name of names) settings[name] = allowed(name, query.get(prefix + name));
    fill();
  };

  const fields = make("fieldset", {}, make("legend", { textContent: panel.legend }));
  for (const [name, { label, values, least, most }] of Object.entries(panel.settings)) {
    const input = values
      ? make("select", {}, ...values.map((value) => make("option", { value, textContent: String(value) })))
      : make("input", { type: "number", min: least, max: most, step: 1, inputMode: "numeric" });
    input.name = `${id}-${name}`;
    input.autocomplete = "off";
    input.addEventListener("change", () => {
      settings[name] = allowed(name, input.value);
      fill();
      reset();
    });
    inputs[name] = input;
    if (!whole || panel.brief.includes(name)) fields.append(make("label", {}, make("span", { textContent: label }), input));
  }

  const button = (text, act) => {
    const made = make("button", { type: "button", textContent: text });
    made.addEventListener("click", act);
    return made;
  };
  const play = button("", () => {
    if (busy()) return pause();
    if (rows.length > settings.steps) reset();
    return go(still.matches ? Math.min(settings.steps, Math.max(0, rows.length - 1) + 10) : settings.steps);
  });
  /* It says that it does nothing, but stays able to have the focus: a disabled button would drop it at every step. */
  const once = button("Step", () => { if (once.getAttribute("aria-disabled") !== "true") go(Math.min(settings.steps, Math.max(1, rows.length))); });
  const again = button("Reset", () => reset());
  const says = make("p", { className: "live-says", role: "status" });
  const drawn = make("div", { className: "live-charts" }), facts = make("div", { className: "live-facts" });
  for (const name of shown) drawn.append(charts[name] = make("div", { className: "live-chart" }));
  charts[shown[0]].after(make("p", { className: "live-key", innerHTML: panel.key.map(([kind, words]) => `<span><i class="${kind}"></i> ${words}</span>`).join("") }));

  const label = () => {
    const ended = rows.length > settings.steps;
    play.textContent = busy() ? "Pause" : still.matches ? "10 steps" : rows.length > 1 && !ended ? "Go on" : "Run";
    once.setAttribute("aria-disabled", busy() || ended);
  };
  const draw = () => {
    panel.draw(charts, rows, settings);
    if (!whole) facts.innerHTML = panel.facts(rows, settings);
    label();
  };
  /** Tell what is seen: not at every step, as a listener must be able to follow. */
  const tell = (always) => {
    if (!rows.length) return;
    const quarter = Math.floor(4 * (rows.length - 1) / settings.steps), event = panel.event?.(rows, settings);
    if (!always && !event && quarter === told) return;
    told = quarter;
    says.textContent = [rows.length === 1 && !busy() && `Press ${play.textContent}.`, event, panel.says(rows, settings)].filter(Boolean).join(" ");
  };

  const pause = () => {
    running = false;
    address();
    tell(true);
    label();
  };
  const got = (found) => {
    const first = !rows.length;
    waiting = false;
    rows.push(...found);
    const arrived = rows.length > goal;
    running &&= !arrived;
    draw();
    if (arrived && !(first && goal === 0)) { address(); tell(true); } else tell(false);
    if (running) ask();
  };
  const ask = () => {
    if (waiting) return;
    waiting = true;
    const mine = run, asked = performance.now(), hurry = hasty || still.matches || !rows.length;
    engine.steps(hurry ? Math.min(10, goal + 1 - rows.length) : 1, (found) => {
      setTimeout(() => { if (mine === run) got(found); }, hurry ? 0 : PACE - (performance.now() - asked));
    });
  };
  /** Go on to a step. */
  const go = (to, soon = false) => {
    goal = to;
    hasty = soon;
    running = true;
    label();
    ask();
  };
  const reset = (to = 0, soon = false) => {
    run++;
    engine?.stop();
    engine = panel.engine(settings);
    rows = []; waiting = false; told = -1;
    says.textContent = "";
    if (to === 0) address();
    go(Math.min(to, settings.steps), soon);
  };

  root.append(fields, make("div", { className: "live-buttons", role: "group", "aria-label": panel.legend }, play, once, again), says, drawn, facts);
  if (whole) {
    more.textContent = "The same run with all settings, and what its band hangs on";
    facts.append(more);
  }
  root.hidden = false;
  if (root.dataset.still) keepStill(root);
  /** Begin with the settings, and at the step, of an address. */
  const begin = (query, soon) => {
    take(query);
    reset(allowedStep(query.get(at), settings.steps), soon);
  };
  begin(new URLSearchParams(whole ? "" : location.search), true);
  still.addEventListener("change", label);
  if (window.ResizeObserver) new ResizeObserver(() => { if (rows.length) panel.draw(charts, rows, settings); }).observe(drawn);

  if (whole) return;
  /* Links of the page that set the settings need not load it again, and the way back leads back. */
  document.addEventListener("click", (event) => {
    const link = event.target.closest?.(`a[href*="?"][href$="#${root.id}"]`);
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey || link.pathname !== location.pathname) return;
    event.preventDefault();
    try { history.pushState(null, "", link.href); } catch { /* from disk some browsers refuse */ }
    root.scrollIntoView({ behavior: still.matches ? "auto" : "smooth" });
    play.focus({ preventScroll: true });
    begin(new URLSearchParams(link.search), still.matches);
  });
  addEventListener("popstate", () => begin(new URLSearchParams(location.search), true));
}

const allowedStep = (text, most) => Math.min(most, Math.max(0, Math.floor(Number(text)) || 0));

/** The stored picture goes into a fold below the panel that draws it anew. */
function keepStill(root) {
  const picture = document.getElementById(root.dataset.still)?.closest("figure") ?? document.getElementById(root.dataset.still);
  if (!picture) return;
  const fold = make("details", { className: "live-still" }, make("summary", { textContent: "The stored picture, drawn by the package" }));
  picture.before(fold);
  fold.append(picture);
}

/* ---- The panel of Theorem F ---- */

/** Makes steps in a worker, or where none may be made (a page from disk) here, one at a time, so that the page stays quick. */
function mathematics(settingsOfRuns) {
  const code = `"use strict";const {Run}=(${liveMathematics})();let runs;onmessage=({data})=>{if(data.runs)runs=data.runs.map((each)=>new Run(each));`
    + "else postMessage(Array.from({length:data.steps},()=>runs.map((run)=>run.step())))}";
  let worker = null, stopped = false, here = null, asked = null;
  const local = () => {
    here ??= settingsOfRuns.map((each) => new liveMathematics.Run(each));
    return here.map((run) => run.step());
  };
  const slices = (count, then, found = []) => setTimeout(() => {
    if (stopped) return;
    found.push(local());
    if (found.length < count) slices(count, then, found);
    else then(found);
  });
  try {
    const url = URL.createObjectURL(new Blob([code], { type: "text/javascript" }));
    worker = new Worker(url);
    worker.addEventListener("message", () => URL.revokeObjectURL(url), { once: true });
    worker.postMessage({ runs: settingsOfRuns });
    worker.onmessage = ({ data }) => { const { then } = asked; asked = null; then(data); };
    worker.onerror = (event) => {
      event.preventDefault();
      worker = null;
      if (asked) slices(asked.count, asked.then);
    };
  } catch { worker = null; }
  return {
    inWorker: () => worker !== null,
    steps(count, then) {
      if (!worker) return slices(count, then);
      asked = { count, then };
      return worker.postMessage({ steps: count });
    },
    stop() { stopped = true; worker?.terminate(); },
  };
}

/** What the worth of the band hangs on: [name, what is compared, value, limit]. */
const NEEDS = [
  ["short steps", "η λ<sub>max</sub>(G₀), at most 1", (row) => row.step, 1],
  ["errors that fade", "E over E without feedback, at most 2", (row) => row.E === Infinity ? undefined : row.path > 0 ? row.E / row.path : 1, 2],
  ["a band that says something", "E/μ, at most 1", (row) => row.E / row.mu, 1],
  ["moves within the table", "farthest move that the bound allows a pair, over the last radius, at most 1", (row) => row.table, 1],
  ["an idle projection", "farthest move that the bound allows, over 3/√m, at most 1", (row) => row.reach, 1],
];
const broken = (row, [, , value, limit]) => !(value(row) <= limit);
const explodes = (rows, k) => rows.findIndex((row) => !(row[k].E <= Math.sqrt(row[k].trivial)));
/** The first step at which a need was not met, or −1. */
const since = (rows, k, need) => rows.findIndex((row) => row[k].E === Infinity && need[2](row[k]) === undefined ? false : broken(row[k], need));

/** What gave way before the band of a run exploded, in words. */
function gaveWay(rows, k) {
  const end = explodes(rows, k), failed = NEEDS.slice(0, 2).map((need) => [need[0], since(rows, k, need)]).filter(([, step]) => step >= 0 && step <= end);
  failed.sort((a, b) => a[1] - b[1]);
  const why = {
    "short steps": "the step is longer than 1/λmax(G₀), so the linear run itself grows",
    "errors that fade": "errors made more error than the known path does: pairs that errors have moved have other slopes, and other slopes are an error",
  };
  return failed.map(([name, step]) => `From step ${step}: ${why[name]}.`).join(" ");
}

const PANELS = {};

PANELS.run = {
  legend: "The run",
  charts: ["loss", "error"],
  brief: ["m", "eta", "size", "seed"],
  key: [["real is-first", "measured"], ["linear", "linear run"], ["band", "certain before the first step"], ["void", "nothing better than output 0 is certain"]],
  settings: {
    m: { label: "heads m", values: [2, 4, 8, 16, 32, 64], value: 8, least: 2, most: 128, whole: true, even: true },
    n: { label: "inputs n", values: [20, 40, 60, 100], value: 60, least: 2, most: 200, whole: true },
    T: { label: "tokens T", values: [2, 4, 8, 16, 32], value: 16, least: 2, most: 64, whole: true },
    eta: { label: "step size η", values: [0.1, 0.2, 0.5, 1, 2, 4, 8, 14], value: 0.5, least: 1e-3, most: 40 },
    size: { label: "label size", values: [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1], value: 0.05, least: 1e-4, most: 10 },
    steps: { label: "steps τ", values: [30, 60, 120, 240], value: 120, least: 5, most: 1000, whole: true },
    seed: { label: "seed", value: 1, least: 0, most: 9999, whole: true },
    with: { label: "second seed", value: "", least: 0, most: 9999, whole: true, empty: true },
  },

  engine: ({ seed, with: second, ...rest }) => mathematics([seed, second].filter((each) => each !== "").map((each) => ({ ...rest, seed: each }))),

  draw(charts, rows, settings) {
    const x = { from: 0, to: settings.steps, name: "step" }, runs = rows[0].map((_, k) => rows.map((row) => row[k]));
    const lowest = Math.min(...runs.flat().map((row) => Math.min(row.loss, row.mu ** 2) / row.trivial));
    const highest = Math.min(1e6, Math.max(...runs.flat().map((row) => row.loss / row.trivial)));
    const from = 10 ** Math.max(-8, Math.min(-2, Math.floor(Math.log10(lowest)))), to = Math.max(4, 2 * highest);
    const inside = (value) => value <= to ? value : NaN;
    const loss = new Chart(charts.loss, 300, x, { from, to, log: true, name: "loss over the loss of output 0" });
    const error = charts.error && new Chart(charts.error, 190, x, { from: 1e-6, to: 10, log: true, name: "E over the root of that loss" });
    runs.forEach((run, k) => {
      const mine = k ? "is-second" : "is-first";
      const end = explodes(rows, k), edges = run.map(({ s, mu, E, trivial }) => [s, E >= mu ? 0 : (mu - E) ** 2 / trivial, (mu + E) ** 2 / trivial]);
      loss.band(end < 0 ? edges : edges.slice(0, end + 1), mine);
      if (end >= 0) loss.band([[end, 0, Infinity], [rows.length - 1, 0, Infinity]], `void ${mine}`);
      loss.line(run.map(({ s, mu, trivial }) => [s, inside(mu ** 2 / trivial)]), `linear ${mine}`);
      loss.line(run.map(({ s, loss: value, trivial }) => [s, value / trivial]), `real ${mine}`);
      error?.line(run.slice(1).map(({ s, path, trivial }) => [s, (path ?? NaN) / Math.sqrt(trivial)]), `known ${mine}`);
      error?.line(run.slice(1).map(({ s, E, trivial }) => [s, E / Math.sqrt(trivial)]), `bound ${mine}`);
      if (end >= 0) loss.words(`band explodes${runs.length > 1 ? ` (seed ${k ? settings.with : settings.seed})` : ""}`, loss.px(end), loss.inside.top + 42 + 14 * k, `text-anchor="${end > 0.6 * settings.steps ? "end" : "start"}"`);
    });
    error?.line([[0, 1], [settings.steps, 1]], "one");
    const printed = liveMathematics.printed(settings) / runs[0][0].trivial;
    const above = [`↑ Theorem 1 as printed: ${figure(printed, 1)},`, `${Math.round(Math.log10(printed))} decades above output 0`];
    (loss.width < 480 ? above : [above.join(" ")]).forEach((text, k) => loss.words(text, loss.inside.right, loss.inside.top + 11 + 14 * k, 'text-anchor="end" class="printed"'));
    loss.show(`Loss against the step. ${this.says(rows, settings)}`);
    error?.show(`The band’s half-width E in the root of the loss, and what it is without feedback, dashed, at step ${rows.length - 1}.`);
  },

  facts(rows, settings) {
    const now = rows[rows.length - 1], seeds = [settings.seed, settings.with];
    const over = (value, row) => figure(value / row.trivial);
    const heads = now.map((_, k) => `<th scope="col">${now.length > 1 ? `seed ${seeds[k]}` : "now"}</th>`).join("");
    const line = (name, cell) => `<tr><th scope="row">${name}</th>${now.map((row, k) => `<td>${cell(row, k)}</td>`).join("")}</tr>`;
    const need = (each) => line(`<b>${each[0]}</b>: ${each[1]}`, (row, k) => {
      const from = since(rows, k, each), value = each[2](row);
      return `${value === undefined ? "" : figure(value, 2)} ${from < 0 ? '<span class="kept">✓ holds</span>' : `<span class="gone">✗ since step ${from}</span>`}`;
    });
    return `<table><caption>Step ${rows.length - 1}, time ηs = ${figure(settings.eta * (rows.length - 1))}; losses over the loss of the model that outputs 0</caption>`
      + `<thead><tr><td></td>${heads}</tr></thead><tbody>`
      + line("measured", (row) => over(row.loss, row)) + line("linear run", (row) => over(row.mu ** 2, row))
      + line("certain", (row) => row.E === Infinity ? "nothing" : `${over(Math.max(0, row.mu - row.E) ** 2, row)} to ${over((row.mu + row.E) ** 2, row)}`)
      + line("E over the root of the loss of output 0", (row) => figure(row.E / Math.sqrt(row.trivial)))
      + `</tbody><tbody>${NEEDS.map(need).join("")}</tbody></table>${now.map((_, k) => explodes(rows, k) < 0 ? "" : `<p class="gave-way">${now.length > 1 ? `Seed ${seeds[k]}: the` : "The"} band explodes at step ${explodes(rows, k)}. ${gaveWay(rows, k)}</p>`).join("")}`;
  },

  says(rows, settings) {
    const now = rows[rows.length - 1], seeds = [settings.seed, settings.with];
    return `Step ${rows.length - 1}. ` + now.map((row, k) => {
      const end = explodes(rows, k), band = end >= 0 ? `nothing better than output 0 is certain since step ${end}, where the band exploded` : `certain between ${figure(Math.max(0, row.mu - row.E) ** 2 / row.trivial)} and ${figure((row.mu + row.E) ** 2 / row.trivial)}`;
      return `${now.length > 1 ? `Seed ${seeds[k]}: the` : "The"} loss is ${figure(row.loss / row.trivial)} times that of output 0, ${band}.`;
    }).join(" ");
  },

  /** Something to tell at once: a band that explodes at this step. */
  event: (rows) => rows[rows.length - 1].map((_, k) => explodes(rows, k) === rows.length - 1 ? `The band explodes. ${gaveWay(rows, k)}` : "").join(" ").trim(),
};
Object.assign(liveMathematics, liveMathematics());

/* When all scripts have said which panels there are. */
document.addEventListener("DOMContentLoaded", () => {
  for (const root of document.querySelectorAll("[data-live]")) enliven(root, PANELS[root.dataset.live]);
});

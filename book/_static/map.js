/* The map of results: zoom, drag, light up what a statement uses and what uses it, and show one statement with what it rests on, what
   rests on it, or both, and no other. Without it the map scrolls. */
"use strict";

/** How far one step of zoom goes, and the limits of the scale. */
const STEP = 1.25, LEAST = 0.3, MOST = 3;
/** The smallest scale at which names are read without effort: the map does not open smaller than this. */
const READABLE = 0.75;

/** Give a map its zoom and its highlights, and the map of the whole book its choice. */
function enliven(map) {
  const view = map.querySelector(".map-view");
  const picture = map.querySelector(".map-picture");
  const level = map.querySelector(".map-tools output");
  const width = Number(picture.getAttribute("width"));
  let height = Number(picture.getAttribute("height"));
  let scale = 1;

  /** Draw at another scale, so that the point (x, y) of the box stays where it is. */
  const zoom = (wanted, x = view.clientWidth / 2, y = view.clientHeight / 2) => {
    const before = scale;
    scale = Math.min(MOST, Math.max(LEAST, wanted));
    const left = (view.scrollLeft + x) * scale / before - x;
    const top = (view.scrollTop + y) * scale / before - y;
    picture.style.width = `${width * scale}px`;
    picture.style.height = `${height * scale}px`;
    view.scrollTo(left, top);
    level.textContent = `${Math.round(100 * scale)} %`;
    view.classList.toggle("can-drag", view.scrollWidth > view.clientWidth || view.scrollHeight > view.clientHeight);
  };
  const fitting = () => Math.min(1, (view.clientWidth - 2) / width);
  const steps = { in: () => zoom(scale * STEP), out: () => zoom(scale / STEP), fit: () => zoom(fitting()) };

  map.querySelector(".map-tools").hidden = false;
  map.querySelectorAll("[data-zoom]").forEach((button) => button.addEventListener("click", steps[button.dataset.zoom]));
  view.addEventListener("keydown", (event) => {
    const step = { "+": "in", "=": "in", "-": "out", "−": "out", "0": "fit" }[event.key];
    if (!step || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    steps[step]();
  });
  view.addEventListener("wheel", (event) => {
    if (!event.ctrlKey) return;
    event.preventDefault();
    const box = view.getBoundingClientRect();
    zoom(scale * (event.deltaY < 0 ? STEP : 1 / STEP), event.clientX - box.left, event.clientY - box.top);
  }, { passive: false });
  drag(view);
  light(picture);
  picture.querySelectorAll(".node > title").forEach((title) => title.remove()); // a preview says more

  /** After another choice the picture has another height; the box is brought into view. */
  const show = (tall, box) => {
    height = tall;
    zoom(scale);
    if (!box) return;
    const at = box.querySelector("rect"), [x, y, wide] = ["x", "y", "width"].map((name) => Number(at.getAttribute(name)));
    const down = Number(box.dataset.moved ?? 0);
    view.scrollTo((x + wide / 2) * scale - view.clientWidth / 2, (y + down) * scale - view.clientHeight / 3);
  };
  const form = map.querySelector(".map-choice");
  if (form) choose(map, form, picture, show);

  /* A map in a closed fold has no width yet: it is first fitted when the fold opens. */
  const open = () => { zoom(Math.max(READABLE, fitting())); map.dispatchEvent(new Event("fitted")); };
  const fold = map.closest("details");
  if (!fold || fold.open) open();
  else fold.addEventListener("toggle", open, { once: true });
}

/** Let a mouse drag the content of a box; fingers scroll it by themselves. A drag is not a click on a link. */
function drag(view) {
  let start = null, moved = false;
  view.addEventListener("pointerdown", (event) => {
    if (event.pointerType !== "mouse" || event.button !== 0) return;
    start = { x: event.clientX + view.scrollLeft, y: event.clientY + view.scrollTop };
    moved = false;
  });
  window.addEventListener("pointermove", (event) => {
    if (!start) return;
    const x = start.x - event.clientX, y = start.y - event.clientY;
    if (!moved && Math.hypot(x - view.scrollLeft, y - view.scrollTop) < 5) return;
    moved = true;
    view.classList.add("is-dragged");
    view.scrollTo(x, y);
  });
  window.addEventListener("pointerup", () => {
    start = null;
    view.classList.remove("is-dragged");
  });
  view.addEventListener("click", (event) => {
    if (moved) event.preventDefault();
    moved = false;
  }, true);
  view.addEventListener("dragstart", (event) => event.preventDefault());
}

/** Light up the statement under the pointer or with the focus, its relations, and what they lead to. */
function light(picture) {
  const edges = [...picture.querySelectorAll(".edge")];
  const nodes = [...picture.querySelectorAll(".node")];
  const show = (label) => {
    const mine = edges.filter((edge) => edge.dataset.from === label || edge.dataset.to === label);
    const near = new Set([label, ...mine.flatMap((edge) => [edge.dataset.from, edge.dataset.to])]);
    picture.classList.toggle("has-focus", Boolean(label));
    edges.forEach((edge) => edge.classList.toggle("is-lit", mine.includes(edge)));
    nodes.forEach((node) => node.classList.toggle("is-lit", near.has(node.dataset.statement)));
  };
  for (const [event, on] of [["pointerover", true], ["focusin", true], ["pointerout", false], ["focusout", false]]) {
    picture.addEventListener(event, ({ target }) => {
      const node = target.closest(".node");
      if (node) show(on ? node.dataset.statement : undefined);
    });
  }
}

/** How the reader's choice is put in the address, and in words. */
const DIRECTIONS = ["up", "down", "both"], DEPTHS = ["1", "2", "3", "all"];
const some = (number, one, many) => `${number} ${number === 1 ? one : many}`;

/** Let the reader choose a statement: by words, by a click on its box, or by the address, which keeps the choice. */
function choose(map, form, picture, show) {
  const { statement, direction, depth } = form.elements;
  const said = form.querySelector("output"), there = form.querySelector(".map-there");
  const boxes = new Map([...picture.querySelectorAll(".node")].map((box) => [box.dataset.statement, box]));
  const rows = [...map.querySelectorAll(".map-table tbody tr")];
  const name = (label) => boxes.get(label).querySelector("a").getAttribute("aria-label");
  const words = new Map([...boxes.keys()].map((label) => [`${name(label)} · ${label}`, label]));
  const leave = leavingOut(picture);
  const steps = walking(picture);
  let chosen = "";

  form.querySelector("datalist").append(...[...words.keys()].map((text) => Object.assign(document.createElement("option"), { value: text })));
  form.hidden = false;

  /** Show a choice, and say what is seen. */
  const draw = () => {
    const far = depth.value === "all" ? Infinity : Number(depth.value);
    const up = chosen && direction.value !== "down" ? steps.up(chosen, far) : new Map();
    const down = chosen && direction.value !== "up" ? steps.down(chosen, far) : new Map();
    const seen = chosen ? new Set([chosen, ...up.keys(), ...down.keys()]) : new Set(boxes.keys());
    boxes.forEach((box, label) => {
      box.classList.toggle("is-chosen", label === chosen);
      const link = box.querySelector("a");
      if (label === chosen) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    });
    picture.classList.toggle("is-part", Boolean(chosen));
    const tall = leave(seen, Boolean(chosen));
    rows.forEach((row) => {
      const label = row.dataset.statement;
      row.hidden = !seen.has(label);
      row.querySelector(".map-steps")?.remove();
      if (!chosen || row.hidden) return;
      const away = [[up, "the chosen one rests on it"], [down, "it rests on the chosen one"]].filter(([way]) => way.has(label))
        .map(([way, how]) => `${how}, ${some(way.get(label), "step", "steps")} away`);
      const note = Object.assign(document.createElement("span"), { className: "map-steps", textContent: ` (${label === chosen ? "chosen" : away.join("; ")})` });
      row.cells[0].append(note);
    });
    there.hidden = !chosen;
    if (chosen) {
      there.href = boxes.get(chosen).querySelector("a").getAttribute("href");
      const reach = far === Infinity ? "" : ` within ${some(far, "step", "steps")}`;
      const rests = `rests on ${some(up.size, "statement", "statements")}`, on = `${some(down.size, "statement rests", "statements rest")} on it`;
      const both = { up: `it ${rests}`, down: on, both: `it ${rests}, and ${on}` }[direction.value];
      said.textContent = `${name(chosen)}: ${both}${reach}. ${seen.size} of ${boxes.size} boxes shown, in the picture and in the text below it.`;
    } else said.textContent = `All ${boxes.size} statements.`;
    show(tall, boxes.get(chosen));
  };

  /** Take what the address says. */
  const read = () => {
    const asked = new URLSearchParams(location.hash.slice(1)), label = asked.get("focus") ?? "";
    chosen = boxes.has(label) ? label : "";
    direction.value = DIRECTIONS.includes(asked.get("direction")) ? asked.get("direction") : "both";
    depth.value = DEPTHS.includes(asked.get("depth")) ? asked.get("depth") : "1";
    statement.value = chosen && name(chosen);
    draw();
    if (label && !chosen) said.textContent = `There is no statement ${label}. ${said.textContent}`;
  };
  /** Put a choice in the address; another statement is a step that the reader can take back. */
  const write = (label) => {
    const to = label ? `#focus=${encodeURIComponent(label)}&direction=${direction.value}&depth=${depth.value}` : location.pathname + location.search;
    history[label === chosen ? "replaceState" : "pushState"](null, "", to);
    chosen = label;
    statement.value = label && name(label);
    draw();
  };

  form.addEventListener("change", ({ target }) => {
    if (target !== statement && chosen) write(chosen);
  });
  statement.addEventListener("input", () => {
    const label = words.get(statement.value);
    if (label) write(label);
    else if (!statement.value && chosen) write("");
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (chosen && statement.value === name(chosen)) return;
    const typed = statement.value.trim().toLowerCase(), wanted = typed.split(/\s+/);
    if (!typed) return write("");
    // One whose name begins so, else one that has these words, else one that has words with these parts.
    const fits = [(text) => text.endsWith(` · ${typed}`) || text.split(/[:(]/)[0].trim() === typed, (text) => text.startsWith(typed),
      (text) => wanted.every((word) => text.split(/[^\p{L}\p{N}]+/u).includes(word)), (text) => wanted.every((word) => text.includes(word))];
    const found = fits.map((fit) => [...words].find(([text]) => fit(text.toLowerCase()))).find(Boolean);
    if (found) write(found[1]);
    else said.textContent = `No statement has the words “${statement.value}”.`;
  });
  form.addEventListener("reset", (event) => {
    event.preventDefault();
    write("");
  });
  // A box that is not the chosen one is chosen by a click; the chosen one leads to its place, as all do without this script.
  picture.addEventListener("click", (event) => {
    const label = event.target.closest(".node")?.dataset.statement;
    if (!label || label === chosen || event.defaultPrevented || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    write(label);
    boxes.get(label).querySelector("a").focus({ preventScroll: true });
  });
  addEventListener("popstate", read);
  map.addEventListener("fitted", () => {
    read();
    if (chosen) form.scrollIntoView({ behavior: "instant" }); // who comes for a statement comes to it, not to how the map is read
  }, { once: true });
}

/** Walk along arrows. Returns: for each direction what is reached from a statement, and in how many steps at least. */
function walking(picture) {
  const next = { up: new Map(), down: new Map() };
  const join = (way, from, to) => way.set(from, [...(way.get(from) ?? []), to]);
  picture.querySelectorAll(".edge:not(.variant)").forEach(({ dataset: { from, to } }) => {
    join(next.up, to, from);
    join(next.down, from, to);
  });
  const walk = (way) => (start, far) => {
    const found = new Map();
    let last = [start];
    for (let step = 1; step <= far && last.length; step += 1) {
      last = [...new Set(last.flatMap((label) => way.get(label) ?? []))].filter((label) => label !== start && !found.has(label));
      last.forEach((label) => found.set(label, step));
    }
    return found;
  };
  return { up: walk(next.up), down: walk(next.down) };
}

/** Leave boxes out of a picture, with their arrows and the rows and frames that become empty: what stays moves up, and nothing else
    changes, as arrows turn only next to the boxes at their ends. Returns: what does so, and says how high the picture is then. */
function leavingOut(picture) {
  const number = (element, name) => Number(element.getAttribute(name));
  const [, , width, height] = picture.getAttribute("viewBox").split(" ").map(Number);
  const nodes = [...picture.querySelectorAll(".node")].map((element) => ({ element, top: number(element.querySelector("rect"), "y") }));
  const tall = number(picture.querySelector(".node rect"), "height");
  const tops = [...new Set(nodes.map(({ top }) => top))].sort((a, b) => a - b);
  const frames = [...picture.querySelectorAll(".cluster")].map((element) => {
    const rect = element.firstElementChild, mark = element.dataset.frame;
    const title = picture.querySelector(`.frame-title[data-frame="${mark}"]`);
    return { mark, rect, title, elements: [element, title], top: number(rect, "y"), height: number(rect, "height"), from: number(title, "y") };
  });
  const edges = [...picture.querySelectorAll(".edge")].map((element) => {
    const line = element.querySelector("path"), head = element.querySelector("polygon");
    return { element, line, head, course: line.getAttribute("d"), tip: Number(head?.getAttribute("points").split(/[ ,]/)[1]) };
  });
  const out = (element, is) => element.classList.toggle("is-left-out", is);

  return (seen, part) => {
    const inFrames = new Set(nodes.filter(({ element }) => seen.has(element.dataset.statement)).map(({ element }) => element.dataset.frame));
    // What must stay, from top to bottom: boxes with the gaps above and below them, where their arrows turn; titles of frames.
    const kept = part ? [] : [[0, height]];
    if (part) {
      for (const { element, top } of nodes.filter(({ element }) => seen.has(element.dataset.statement))) {
        const row = tops.indexOf(top);
        kept.push([row ? tops[row - 1] + tall : 0, row + 1 < tops.length ? tops[row + 1] : height]);
      }
      for (const frame of frames.filter(({ mark }) => inFrames.has(mark)))
        kept.push([frame.top - 10, tops.find((top) => top > frame.top)]);
      kept.sort(([a], [b]) => a - b);
    }
    const spans = [];
    for (const [from, to] of kept) {
      const last = spans.at(-1);
      if (last && from <= last[1]) last[1] = Math.max(last[1], to);
      else spans.push([from, to]);
    }
    const at = (y) => Math.round(10 * spans.reduce((sum, [from, to]) => sum + Math.max(0, Math.min(y, to) - from), 0)) / 10;
    const move = (element, y) => {
      element.dataset.moved = at(y) - y;
      element.setAttribute("transform", `translate(0 ${at(y) - y})`);
    };

    for (const { element, top } of nodes) {
      out(element, !seen.has(element.dataset.statement));
      move(element, top);
    }
    for (const { mark, rect, title, elements, top, height: own, from } of frames) {
      elements.forEach((element) => out(element, !inFrames.has(mark)));
      rect.setAttribute("y", at(top));
      rect.setAttribute("height", at(top + own) - at(top));
      move(title, from);
    }
    for (const { element, line, head, course, tip } of edges) {
      out(element, !(seen.has(element.dataset.from) && seen.has(element.dataset.to)));
      line.setAttribute("d", course.replace(/([\d.]+),([\d.]+)/g, (_, x, y) => `${x},${at(Number(y))}`));
      if (head) move(head, tip);
    }
    picture.setAttribute("viewBox", `0 0 ${width} ${at(height)}`);
    return at(height);
  };
}

document.querySelectorAll(".map").forEach(enliven);

/* The map of results: zoom, drag, and light up what a statement uses and what uses it. Without it the map scrolls. */
"use strict";

/** How far one step of zoom goes, and the limits of the scale. */
const STEP = 1.25, LEAST = 0.3, MOST = 3;
/** The smallest scale at which names are read without effort: the map does not open smaller than this. */
const READABLE = 0.75;

/** Give a map its zoom and its highlights. */
function enliven(map) {
  const view = map.querySelector(".map-view");
  const picture = map.querySelector(".map-picture");
  const level = map.querySelector("output");
  const width = Number(picture.getAttribute("width"));
  const height = Number(picture.getAttribute("height"));
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

  /* A map in a closed fold has no width yet: it is first fitted when the fold opens. */
  const open = () => zoom(Math.max(READABLE, fitting()));
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

document.querySelectorAll(".map").forEach(enliven);

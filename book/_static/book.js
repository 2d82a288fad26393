// What the pages do beyond showing themselves: folds open together and for print, links show what they lead to.
"use strict";

// ---- Folds -------------------------------------------------------------------------------------------------------

const folds = () => [...document.querySelectorAll("article details")];

// What a page folds, by kind; the choice which kinds are open is remembered from page to page.
const KINDS = {
  proofs: fold => fold.matches(".sd-dropdown") && !fold.matches(".solution") && fold.querySelector(".proof"),
  checks: fold => fold.matches(".checks"),
  code: fold => fold.matches(".hide") && !fold.closest(".tag_solution"),
};
const remembered = {
  read() { try { return JSON.parse(localStorage.getItem("open-folds")) ?? []; } catch { return []; } },
  write(kinds) { try { localStorage.setItem("open-folds", JSON.stringify(kinds)); } catch { /* private mode */ } },
};

function offerSwitches() {
  const title = document.querySelector("article h1");
  const found = Object.entries(KINDS).map(([kind, is]) => [kind, folds().filter(is)]).filter(([, all]) => all.length);
  if (!title || !found.length) return;
  const bar = document.createElement("div");
  bar.className = "fold-switches";
  bar.setAttribute("role", "group");
  bar.setAttribute("aria-label", "Open or close all");
  found.forEach(([kind, all]) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = kind;
    const set = open => {
      button.setAttribute("aria-pressed", open);
      button.title = `${open ? "Close" : "Open"} all ${kind} on this page`;
      all.forEach(fold => { fold.open = open; });
    };
    button.addEventListener("click", () => {
      const open = button.getAttribute("aria-pressed") !== "true";
      set(open);
      remembered.write([...remembered.read().filter(other => other !== kind), ...(open ? [kind] : [])]);
    });
    set(remembered.read().includes(kind));
    bar.append(button);
  });
  title.insertAdjacentElement("afterend", bar);
}

// A link into a fold opens it.
function openTarget() {
  if (location.hash.length < 2) return;
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  const closed = [];
  for (let fold = target?.closest("details:not([open])"); fold; fold = fold.parentElement.closest("details:not([open])"))
    closed.push(fold);
  closed.forEach(fold => { fold.open = true; });
  if (closed.length) target.scrollIntoView();
}

// Paper is light and cannot be unfolded: proofs are open while printing. Code, checks and solutions stay as the reader left them,
// and the style sheet leaves out what is closed.
function openForPrint() {
  const root = document.documentElement;
  let closed = [], theme;
  const before = () => {
    theme = root.dataset.theme;
    root.dataset.theme = "light";
    closed = folds().filter(fold => !fold.open && !fold.matches(".hide, .checks, .checks *, .solution, .solution *, .tag_solution *"));
    closed.forEach(fold => { fold.open = true; });
  };
  const after = () => {
    root.dataset.theme = theme;
    closed.forEach(fold => { fold.open = false; });
    closed = [];
  };
  matchMedia("print").addEventListener("change", event => event.matches ? before() : after());
}

// ---- Previews ----------------------------------------------------------------------------------------------------

const ROOT = new URL(document.documentElement.dataset.content_root, location.href).href;
const previews = new Map(); // page → promise of its previews
const waiting = new Map(); // page → resolve, called by the page's script

// Called by _static/previews/<page>.js
window.receivePreviews = (page, found) => waiting.get(page)?.(found);

function previewsOf(page) {
  if (!previews.has(page)) previews.set(page, new Promise(resolve => {
    waiting.set(page, resolve);
    const script = document.createElement("script");
    script.src = `${ROOT}_static/previews/${page}.js`;
    script.addEventListener("error", () => resolve({}));
    document.head.append(script);
  }));
  return previews.get(page);
}

// A preview goes when the pointer leaves it. A click on it, or the key P, pins it: then it stays, beside others, until it is closed.
function offerPreviews() {
  const make = () => {
    const made = document.createElement("div");
    made.id = "link-preview";
    made.className = "link-preview";
    made.setAttribute("role", "tooltip");
    made.hidden = true;
    document.body.append(made);
    return made;
  };
  const pinned = []; // from the first to the last
  let box = make(), link = null, timer = 0;

  const hide = () => {
    clearTimeout(timer);
    link?.removeAttribute("aria-describedby");
    link = null;
    box.hidden = true;
  };

  const isLinked = next => next.localName === "a";
  const ofLink = async next => {
    const url = new URL(next.getAttribute("href"), location.href); // the boxes of a map have no other way to say it
    if (!url.href.startsWith(ROOT) || !url.hash) return "";
    const page = url.href.slice(ROOT.length).split(/[?#]/)[0].replace(/\.html$/, "");
    return (await previewsOf(page))[decodeURIComponent(url.hash.slice(1))];
  };
  // The rows of the chapter's fold of symbols; their formulas are set already.
  const ofSymbol = next => next.dataset.symbol.split(" ")
    .map(place => document.getElementById(`symbol-${place}`))
    .map(row => `<p>${row.cells[0].innerHTML}: ${row.cells[1].innerHTML}</p>`).join("");

  const show = async next => {
    const isLink = isLinked(next), html = isLink ? await ofLink(next) : ofSymbol(next);
    if (!html || link !== next) return;
    window.MathJax?.typesetClear?.([box]);
    box.innerHTML = html;
    box.classList.toggle("is-symbol", !isLink);
    if (isLink) {
      const hint = document.createElement("p");
      hint.className = "link-preview-hint";
      hint.textContent = "A click here, or the key P, pins it.";
      box.append(hint);
      await window.MathJax?.typesetPromise?.([box]);
    }
    if (link !== next) return;
    next.removeAttribute("title");
    next.setAttribute("aria-describedby", box.id);
    box.hidden = false;
    const spot = next.getBoundingClientRect(), width = document.documentElement.clientWidth;
    box.style.left = `${Math.max(8, Math.min(spot.left, width - box.offsetWidth - 8)) + scrollX}px`;
    const below = spot.bottom + box.offsetHeight + 12 < innerHeight || spot.top < box.offsetHeight + 12;
    box.style.top = `${(below ? spot.bottom + 6 : spot.top - box.offsetHeight - 6) + scrollY}px`;
  };

  const unpin = one => {
    pinned.splice(pinned.indexOf(one), 1);
    const inside = one.box.contains(document.activeElement);
    window.MathJax?.typesetClear?.([one.box]);
    one.box.remove();
    if (inside) one.link.focus({ preventScroll: true });
  };
  const pin = () => {
    const one = { box, link };
    hide();
    pinned.push(one);
    const bar = document.createElement("p"), there = document.createElement("a"), close = document.createElement("button");
    bar.className = "link-preview-bar";
    there.href = one.link.getAttribute("href");
    there.textContent = "Its place in the book";
    close.type = "button";
    close.textContent = "Close";
    close.title = "Close (key Escape)";
    close.addEventListener("click", () => unpin(one));
    bar.append(there, close);
    one.box.querySelector(".link-preview-hint").replaceWith(bar);
    one.box.removeAttribute("id");
    one.box.setAttribute("role", "dialog");
    one.box.setAttribute("aria-label", `Pinned: ${(one.link.getAttribute("aria-label") || one.link.textContent).trim().replace(/\s+/g, " ")}`);
    one.box.classList.add("is-pinned");
    one.box.hidden = false;
    one.box.tabIndex = -1;
    box = make(); // before the focus leaves the link, which hides the one that is not pinned
    one.box.focus({ preventScroll: true });
  };
  const canPin = () => link && !box.hidden && isLinked(link);
  const isTyping = target => target.matches?.("input, textarea, select, [contenteditable]");

  const start = (next, delay) => {
    if (next === link) { clearTimeout(timer); timer = 0; if (!box.hidden) return; }
    else hide();
    link = next;
    timer = setTimeout(show, delay, next);
  };
  const linkOf = event => event.target.closest?.("article a.reference.internal[href*='#'], article .map-picture .node a, article span.math[data-symbol]");
  const leave = () => { clearTimeout(timer); timer = setTimeout(hide, 250); };

  document.addEventListener("mouseover", event => {
    const next = linkOf(event);
    if (next) start(next, next.closest(".map-picture") ? 600 : 250); // boxes lie side by side: who only passes is shown none
    else if (box.contains(event.target)) clearTimeout(timer);
    else if (link && document.activeElement !== link) leave();
  });
  document.addEventListener("focusin", event => { const next = linkOf(event); if (next?.matches(":focus-visible")) start(next, 100); else hide(); });
  document.addEventListener("focusout", () => { if (!box.matches(":hover")) hide(); }); // who presses it does not lose it
  document.addEventListener("keydown", event => {
    if (event.key === "Escape") {
      if (!box.hidden || !pinned.length) hide();
      else unpin(pinned.find(one => one.box.contains(document.activeElement)) ?? pinned.at(-1));
    } else if (event.key.toLowerCase() === "p" && canPin() && !event.ctrlKey && !event.metaKey && !event.altKey && !isTyping(event.target)) {
      event.preventDefault();
      pin();
    }
  });
  document.addEventListener("click", event => { if (box.contains(event.target) && canPin()) pin(); else hide(); });
}

// ---- Boxes that scroll sideways ----------------------------------------------------------------------------------

// A formula, a printout or a picture that is too wide is set smaller, by as much as it needs; where this would not be enough it scrolls.
// (Formulas are a fifth larger than the text around them.)
const SMALLEST = { "span": 0.75, "pre": 0.72, "mjx-container": 0.75, "a": 0.78 };

// Boxes that scroll are stops for the tabulator key, and fade at the edge behind which there is more; no other box is or does.
async function reachWideBoxes() {
  const article = document.querySelector("article");
  if (!article) return;
  const boxes = [], own = new Map(), seen = new Map(); // box → the size of letters in its own style; its extent when last looked at
  const extent = box => `${box.clientWidth} of ${box.scrollWidth}`;
  const width = element => element?.getBoundingClientRect().width ?? 0;
  const shrinks = box => box.matches(".cell_output pre, mjx-container[display]");
  const restore = box => {
    box.classList.remove("is-snug", "is-wide");
    if (!shrinks(box)) return;
    if (!own.has(box)) own.set(box, box.style.fontSize);
    box.style.fontSize = own.get(box);
  };
  // What makes a box fit, if it has to be made to.
  const fitting = box => {
    if (box.matches("a.picture")) return box.clientWidth >= SMALLEST.a * box.scrollWidth && (() => box.classList.add("is-snug"));
    if (box.matches("span.math")) {
      const line = width(box), natural = width(box.firstElementChild), share = Math.floor(100 * (line - 1) / natural) / 100;
      return natural > line + 1 && (() => {
        box.style.setProperty("--share", share);
        box.classList.add(share >= SMALLEST.span ? "is-snug" : "is-wide");
      });
    }
    if (!shrinks(box) || !box.clientWidth || box.scrollWidth <= box.clientWidth) return false;
    const style = getComputedStyle(box), rim = parseFloat(style.paddingLeft) + parseFloat(style.paddingRight), size = parseFloat(style.fontSize);
    const share = (box.clientWidth - rim - 1) / (box.scrollWidth - rim);
    return share >= SMALLEST[box.localName] && (() => { box.style.fontSize = `${Math.floor(100 * size * share) / 100}px`; });
  };
  const fade = some => some
    .map(box => [box, box.tabIndex < 0 ? 0 : box.scrollWidth - box.clientWidth - box.scrollLeft])
    .forEach(([box, more]) => { if (box.classList.toggle("goes-on", more > 2)) box.style.setProperty("--more", `${more}px`); });
  // All boxes at once, each time first looking and then writing: a long page takes a second to be laid out again.
  const measure = () => {
    boxes.forEach(restore);
    boxes.map(fitting).forEach(fit => fit && fit());
    [article, ...boxes].forEach(box => seen.set(box, extent(box)));
    boxes.map(box => [box, /auto|scroll/.test(getComputedStyle(box).overflowX) && box.scrollWidth > box.clientWidth])
      .forEach(([box, scrolls]) => scrolls ? box.tabIndex = 0 : box.removeAttribute("tabindex"));
    fade(boxes);
  };
  const watch = new ResizeObserver(changes => { if (changes.some(({ target }) => extent(target) !== seen.get(target))) measure(); });
  // A letter whose font has not come yet can be wider than its place in a formula: what overflows then changes, and no box does.
  document.fonts.addEventListener("loadingdone", measure);
  const observe = selector => article.querySelectorAll(selector).forEach(box => {
    boxes.push(box);
    box.addEventListener("scroll", () => fade([box]), { passive: true });
    watch.observe(box);
  });
  watch.observe(article); // a formula that was set smaller does not notice by itself that its line is longer again
  observe("pre, .picture, .pst-scrollable-table-container");
  await window.MathJax?.startup?.promise;
  observe(".math, mjx-container[display]");
}

// ---- Search ------------------------------------------------------------------------------------------------------

// Sphinx drops a page that has some of a query's words of one or two letters and not all ("one" and "its" become such
// words). They decide nothing: without them "Proposition B: one potential" is found.
//
// What is shown of a page that was found is its text, not buttons, contents and symbols.
function improveSearch() {
  if (typeof Search === "undefined") return;
  const textOf = Search.htmlToText;
  Search.htmlToText = (html, anchor) => {
    const page = new DOMParser().parseFromString(html, "text/html");
    const article = page.querySelector("article");
    for (const part of article?.querySelectorAll(".symbols") ?? []) part.remove();
    if (article) page.querySelector("[role=main]").replaceChildren(article);
    return textOf(page.documentElement.outerHTML, anchor);
  };
  const parse = Search._parseQuery;
  Search._parseQuery = query => {
    const [text, words, ...rest] = parse(query), long = [...words].filter(word => word.length > 2);
    return [text, long.length ? new Set(long) : words, ...rest];
  };
}

// ---- Sidebar -----------------------------------------------------------------------------------------------------

// The list of chapters is longer than a screen. The theme opens it where it was left, and on a phone goes to its first link.
function openSidebarAtCurrentChapter() {
  const sidebar = document.querySelector(".bd-sidebar-primary"), current = [...sidebar?.querySelectorAll("li.current.active > a") ?? []].at(-1);
  if (!current) return;
  const show = () => {
    const { top, bottom } = current.getBoundingClientRect(), seen = sidebar.getBoundingClientRect();
    if (top < seen.top || bottom > seen.bottom) sidebar.scrollTop += top - seen.top - sidebar.clientHeight / 3;
  };
  show();
  // When the theme has gone to the first link, which it can only if the list is to be seen by then; and when the list has come.
  const arrive = () => { current.focus({ preventScroll: true }); show(); };
  document.querySelector(".primary-toggle")?.addEventListener("click", () => {
    for (const event of ["focusin", "transitionend"]) sidebar.addEventListener(event, arrive, { once: true });
  });
}

document.addEventListener("DOMContentLoaded", () => {
  improveSearch();
  reachWideBoxes();
  offerSwitches();
  openTarget();
  addEventListener("hashchange", openTarget);
  openForPrint();
  if (matchMedia("(hover: hover)").matches) offerPreviews();
});

// After the theme, which puts the sidebar back to where it was on the page before.
addEventListener("load", openSidebarAtCurrentChapter);

// What a reader would stumble over on the page as it stands. Run by browsing.py.
() => {
  const all = selector => [...document.querySelectorAll(selector)];
  const seen = element => element.checkVisibility({ visibilityProperty: true });
  const name = element => `<${element.localName} class="${element.getAttribute("class") ?? ""}"> ${element.textContent.trim().slice(0, 40)}`;
  const style = getComputedStyle;

  // Everything that shows: runs of text, formulas, pictures; each with its box.
  function* shown() {
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const range = document.createRange(); // one: the browser keeps every range up to date when the page changes
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const parent = node.parentElement;
      if (!node.data.trim() || !seen(parent) || parent.closest("script, style, noscript, select, svg, mjx-container")) continue;
      range.selectNodeContents(node);
      yield [parent, range.getBoundingClientRect()];
    }
    for (const element of all("mjx-math, img, svg"))
      if (seen(element)) yield [element, element.getBoundingClientRect()];
  }

  // Of an ancestor what decides whether it cuts off: looked up once, as thousands of elements share theirs.
  const frames = new Map();
  function frameOf(element) {
    if (!frames.has(element)) {
      const { width, height, left, right } = element.getBoundingClientRect(), { overflowX, clipPath, position } = style(element);
      frames.set(element, { left, right, hides: /hidden|clip/.test(overflowX), scrolls: /auto|scroll/.test(overflowX) || position === "fixed",
        unseen: width <= 2 || height <= 2 || clipPath !== "none" }); // for screen readers only
    }
    return frames.get(element);
  }

  // The ancestor that cuts an element off where no scrolling helps, if there is one.
  function cutBy(element, box) {
    for (let around = element; around && around !== document.body; around = around.parentElement) {
      const frame = frameOf(around);
      if (frame.unseen) return null;
      if (around === element && element.matches("img, svg")) continue;
      if (frame.scrolls) return null;
      if (frame.hides && (box.right > frame.right + 2 || box.left < frame.left - 2)) return around;
    }
    return box.right > innerWidth + 1 ? document.body : null;
  }

  const cut = [];
  for (const [element, box] of shown()) {
    const by = box.width > 0 && cutBy(element, box);
    if (by) cut.push(`${name(element)} by ${by.localName}.${by.className}`);
  }

  const boxes = all("body *").filter(seen);
  const scrolls = element => /auto|scroll/.test(style(element).overflowX) && element.scrollWidth > element.clientWidth;
  const fades = element => style(element).maskImage !== "none";
  const beyond = element => scrolls(element) ? element.scrollWidth - element.clientWidth - element.scrollLeft : 0;
  const text = (document.querySelector("article") ?? document.body).cloneNode(true);
  text.querySelectorAll("pre, code, script, style, mjx-container, svg").forEach(element => element.remove());

  return {
    formulas: all(".math").length,
    unrendered: all("span.math, div.math").filter(element => !element.querySelector("mjx-container")).map(name),
    wrong: all("mjx-merror, [data-mjx-error], mjx-assistive-mml [mathcolor=red]").map(name),
    silent: all("mjx-container").filter(element => !element.querySelector("mjx-assistive-mml math")).map(name),
    raw: text.textContent.match(/\\[a-zA-Z]{2,}|\\[()[\]]|\$\$|\{(?:prf|ref|eq|numref|cite)[^}]*\}`|^:::|```\{/gm) ?? [],
    cut: cut.slice(0, 8),
    sideways: document.documentElement.scrollWidth - innerWidth,
    unreachable: boxes.filter(element => scrolls(element) && element.tabIndex < 0).map(name),
    faded: boxes.filter(element => fades(element) && beyond(element) <= 2).map(name),
    abrupt: all("article :is(pre, .picture, .math, mjx-container)").filter(element => seen(element) && beyond(element) > 3 && !fades(element)).map(name),
    uncopied: all("div.cell_input").filter(cell => !cell.querySelector("button.copybtn")).map(name),
    scripted: all(".toggle, .admonition.dropdown").map(name),
  };
}

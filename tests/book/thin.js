// Leave axe less to look at, and the same to find: formulas show glyphs without text (their MathML is tested by itself),
// of table rows and parts of pictures that are built alike one stands for all, and so does in code one token of each kind
// and surroundings (axe says nothing of single letters).
() => {
  const look = of => `${of.localName} ${of.className.baseVal ?? of.className} ${of.getAttribute("style")}`.replace(/\d+/g, "");
  const build = of => `${look(of)}(${[...of.children].map(build)})`;
  const met = new Set();
  document.querySelectorAll("tbody tr, svg g g").forEach(part => {
    if (met.has(build(part))) part.remove();
    else met.add(build(part));
  });
  document.querySelectorAll("mjx-container").forEach(formula => formula.remove());
  const kept = new Set();
  document.querySelectorAll("pre span[class]").forEach(token => {
    const kind = `${token.className} in ${token.closest("pre").parentElement.parentElement.parentElement.className}`;
    if (kept.has(kind) || token.textContent.trim().length < 2) token.replaceWith(...token.childNodes);
    else kept.add(kind);
  });
}

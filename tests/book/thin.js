// Leave axe less to look at, and the same to find: formulas show glyphs without text (their MathML is tested by itself),
// a table's row, an entry of the sidebar or a part of a picture goes if others stand for every element in it, alike in
// surroundings that are alike, and so does in code one token of each kind and surroundings (axe says nothing of single letters).
() => {
  const looks = of => `${of.localName} ${of.className.baseVal ?? of.className} ${of.getAttribute("style")}`.replace(/\d+/g, "");
  const around = of => of ? `${around(of.parentElement)} > ${looks(of)}` : "";
  const about = of => `${[...of.attributes].map(attribute => attribute.name)} ${of.getAttribute("role")} ${!of.textContent.trim()}`;
  const build = (of, way) => [`${way} ${about(of)}`, ...[...of.children].flatMap(child => build(child, `${way} > ${looks(child)}`))];
  const met = new Set();
  document.querySelectorAll("tbody tr, svg g g, .bd-sidebar-primary li").forEach(part => {
    const ways = build(part, around(part));
    if (ways.every(way => met.has(way))) part.remove();
    else ways.forEach(way => met.add(way));
  });
  document.querySelectorAll("mjx-container").forEach(formula => formula.remove());
  const kept = new Set();
  document.querySelectorAll("pre span[class]").forEach(token => {
    const kind = `${token.className} in ${token.closest("pre").parentElement.parentElement.parentElement.className}`;
    if (kept.has(kind) || token.textContent.trim().length < 2) token.replaceWith(...token.childNodes);
    else kept.add(kind);
  });
}

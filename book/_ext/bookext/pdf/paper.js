// Run in a page of the site before it is printed. Gets {places, part}; returns its title, its headings and what does not fit.
async ({ places, part }) => {
  const article = document.querySelector("article");
  document.documentElement.dataset.theme = "light";
  document.documentElement.dataset.mode = "light";

  // Folds: open, except code, checks and solutions, which are not printed (checks: but for their line).
  const stays = ".hide, .checks, .checks *, .solution, .solution *, .tag_solution *";
  article.querySelectorAll("details").forEach(fold => { fold.open = !fold.matches(stays); });
  article.querySelectorAll("a.picture, a.used-by").forEach(link => link.removeAttribute("href")); // paper makes no choice on the map
  // A table's head is repeated on every sheet, and buttons in it would not be.
  article.querySelectorAll("thead button").forEach(button => button.replaceWith(...button.childNodes));
  const settle = () => document.fonts.ready.then(() => new Promise(done => requestAnimationFrame(() => setTimeout(done, 60))));
  await settle();

  // What a page shows of itself as text: formulas in words of Unicode, no link sign.
  const plain = element => {
    const copy = element.cloneNode(true);
    copy.querySelectorAll(".headerlink, .verdict-badge").forEach(piece => piece.remove());
    copy.querySelectorAll("mjx-container").forEach(formula => formula.replaceWith(formula.querySelector("mjx-assistive-mml")?.textContent ?? ""));
    return copy.textContent.replace(/\s+/g, " ").trim();
  };

  // Places that links lead to. One that is not printed is where what hides it stands.
  const box = document.createElement("nav");
  box.style.display = "none";
  const shown = element => element.checkVisibility() && element.getClientRects().length > 0;
  const lead = (id, element) => {
    let seen = element;
    while (seen !== article && !shown(seen)) seen = seen.parentElement;
    if (seen !== element) {
      element.removeAttribute("id");
      const mark = document.createElement("span");
      mark.id = id;
      seen.before(mark);
    }
    const link = document.createElement("a");
    link.href = `#${id}`;
    box.append(link);
  };
  const headings = [...article.querySelectorAll("h1, h2")].filter(shown).map((heading, k) => {
    if (!heading.id) heading.id = `heading-on-paper-${k}`;
    lead(heading.id, heading);
    return { level: Number(heading.localName[1]), text: plain(heading), place: heading.id };
  });
  const title = article.querySelector("h1");
  if (part) title.dataset.part = part;
  const missing = [];
  for (const id of places) {
    const element = document.getElementById(id);
    if (element && article.contains(element)) lead(id, element);
    else if (element) lead(id, title);
    else missing.push(id);
  }
  // Chromium says places without the margins: this one, whose height on paper is known, tells how far they are off.
  const corner = document.createElement("span");
  corner.id = "corner-of-paper";
  corner.style.cssText = "position: absolute; top: 0; left: 0;";
  document.body.prepend(corner);
  lead(corner.id, corner);
  article.append(box);

  // What is wider than the paper is set smaller; a printout keeps its lines.
  const room = element => {
    let around = element.parentElement;
    while (getComputedStyle(around).display.startsWith("inline")) around = around.parentElement;
    const style = getComputedStyle(around);
    return around.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
  };
  const shrink = (element, natural, has) => {
    if (natural > 1.001 * has) element.style.zoom = Math.max(0.4, Math.floor(1000 * has / natural) / 1000 - 0.004);
  };
  for (const printout of article.querySelectorAll(".cell_output pre")) printout.style.setProperty("white-space", "pre", "important");
  await settle();
  for (const printout of article.querySelectorAll(".cell_output pre")) {
    if (!shown(printout)) continue;
    const share = printout.clientWidth / printout.scrollWidth;
    if (share < 0.7) printout.style.removeProperty("white-space"); // too small to read: its lines are broken after all
    else shrink(printout, 1, share);
  }
  for (const table of article.querySelectorAll("table"))
    if (shown(table) && !table.parentElement.closest("table")) shrink(table, table.getBoundingClientRect().width, room(table));
  for (const formula of article.querySelectorAll("mjx-container")) {
    const inside = formula.querySelector("mjx-math"), line = formula.parentElement;
    if (!shown(formula) || !inside) continue;
    const number = line.querySelector(":scope > .eqno");
    shrink(formula, inside.getBoundingClientRect().width, room(formula) - (number?.getBoundingClientRect().width ?? 0));
  }
  await settle();
  const edge = article.getBoundingClientRect().right + 1.5;
  const beyond = piece => {
    const box = piece.getBoundingClientRect();
    return Math.round(Math.max(box.right, piece.closest("mjx-container") ? 0 : box.left + piece.scrollWidth * (piece.currentCSSZoom ?? 1)) - edge);
  };
  const wide = [...article.querySelectorAll("*")]
    .filter(piece => !piece.closest("mjx-assistive-mml, svg *") && shown(piece) && beyond(piece) > 0)
    .map(piece => `${piece.localName}.${piece.className}: ${piece.textContent.trim().slice(0, 60)} (by ${beyond(piece)})`);
  return { title: plain(title), headings, missing, wide };
}

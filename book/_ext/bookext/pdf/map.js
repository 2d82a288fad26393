// Run in the page of the map before it is printed. The picture is as long as fifteen sheets: it is cut between the frames of chapters.
// Gets the height of a sheet as a share of its width; an arrow that goes on leaves one piece and enters another at the same place.
sheet => {
  const picture = document.querySelector("article > section .map-view > svg.map-picture");
  if (!picture) return;
  const [left, top, width, height] = picture.getAttribute("viewBox").split(" ").map(Number);
  const scale = picture.getBoundingClientRect().width / width, above = picture.getBoundingClientRect().top;
  const range = element => {
    const box = element.getBoundingClientRect();
    return [(box.top - above) / scale + top, (box.bottom - above) / scale + top];
  };
  const frames = [...picture.querySelectorAll(".cluster")].map(range).sort((a, b) => a[0] - b[0]);
  const cuts = [top];
  frames.forEach(([, end], k) => {
    const next = frames[k + 1];
    if (next && next[1] - cuts.at(-1) > sheet * width) cuts.push((end + next[0]) / 2);
  });
  cuts.push(top + height);
  const marks = [...picture.querySelectorAll(".cluster, .frame-title, .node, .edge")].map(range);
  cuts.slice(1).forEach((end, k) => {
    const piece = picture.cloneNode(true);
    [...piece.querySelectorAll(".cluster, .frame-title, .node, .edge")].forEach((mark, i) => {
      if (marks[i][1] < cuts[k] || marks[i][0] > end) mark.remove();
    });
    piece.setAttribute("viewBox", `${left} ${cuts[k]} ${width} ${end - cuts[k]}`);
    piece.setAttribute("width", width);
    piece.setAttribute("height", end - cuts[k]);
    piece.style.cssText = "display: block; break-inside: avoid; overflow: hidden;";
    if (k) piece.querySelectorAll("[id]").forEach(each => each.removeAttribute("id"));
    picture.before(piece);
  });
  picture.remove();
}

// Formulas of a slide are set when it is shown; a slide that is too large is set smaller.
document.addEventListener("DOMContentLoaded", () => {
  // What is there for screen readers only, beside a formula, lies outside and does not count.
  const tooLarge = (slide) => {
    const edge = slide.getBoundingClientRect().right + 1;
    const wide = (part) => part.getBoundingClientRect().right > edge;
    return slide.offsetHeight > Reveal.getConfig().height || [...slide.querySelectorAll("mjx-math, mjx-mtable, table")].some(wide);
  };
  const set = async (slide) => {
    if (!slide || slide.dataset.set) return;
    slide.dataset.set = "begun";
    await MathJax.startup.promise;
    await MathJax.typesetPromise([slide]);
    for (let size = 95; size >= 45 && tooLarge(slide); size -= 5) slide.style.fontSize = `${size}%`;
    Reveal.layout();
    slide.dataset.set = tooLarge(slide) ? "too large" : "done";
  };
  Reveal.on("slidechanged", (event) => set(event.currentSlide));
  if (Reveal.isReady()) set(Reveal.getCurrentSlide());
  else Reveal.on("ready", (event) => set(event.currentSlide));
});

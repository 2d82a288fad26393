// Leave the browser less to lay out, and a page that is as wide as before: a quarter of its elements are the colours of code, and the
// style of each is looked up whenever the window changes. What is more than a colour stays.
() => document.querySelectorAll("article .highlight pre").forEach(code => {
  if (!code.querySelector(":not(span)")) code.replaceChildren(code.textContent);
})

"""Print single pages of the built site with Chromium, from a server on this machine."""

import functools
import json
import os
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from playwright.sync_api import BrowserContext, Page, sync_playwright

from bookext.chapters import Leaf

HERE = Path(__file__).parent
NAMES = ("chromium", "chromium-browser", "google-chrome")
FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-component-update",
         "--disable-sync", "--font-render-hinting=none"]  # fmt: skip

#: What lies between the margins of ``paper.css``, in CSS pixels: 210 mm less twice 16.
WIDTH = 672
#: Between the upper edge of the paper and what lies between the margins, in points.
ABOVE = 19 / 25.4 * 72
#: How much higher than wide what lies between the margins is.
SHEET = (297 - 19 - 18) / (210 - 2 * 16)
#: A page is laid out once, before it is printed: what watches its boxes on a screen would only undo what is done for paper.
STILL = """
window.ResizeObserver = class { observe() {} unobserve() {} disconnect() {} };
FontFaceSet.prototype.addEventListener = () => {};
"""


@dataclass(frozen=True)
class Printed:
    """A page on paper."""

    leaf: Leaf  # the page
    pdf: bytes  # the document
    title: str  # its title, as text
    headings: list[dict]  # its title and its sections: dictionaries with ``level``, ``text`` and ``place``
    #: what went wrong: what was not found, does not fit the paper, or was asked of another host
    troubles: list[str]


def chromium() -> str | None:
    """Where Chromium is: what the environment variable ``CHROMIUM`` says, or what the system has; None without one."""
    return os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)


@contextmanager
def serving(folder: Path) -> Iterator[str]:
    """Serve a folder on this machine. Yields: the address, with a closing slash."""

    class Handler(SimpleHTTPRequestHandler):
        def log_message(self, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=str(folder)))
    server.handle_error = lambda *args: None
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    server.server_close()


@contextmanager
def pressing(executable: str) -> Iterator[BrowserContext]:
    """A browser that shows pages as paper shows them."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=FLAGS)
        context = browser.new_context(viewport={"width": WIDTH, "height": 980}, color_scheme="light")
        context.set_default_timeout(120_000)
        context.add_init_script(STILL)
        yield context
        browser.close()


def print_leaf(context: BrowserContext, home: str, leaf: Leaf, places: list[str], first: int) -> Printed:
    """Print a page of the site, on which ``places`` must be found on paper."""
    tab, troubles = context.new_page(), []
    tab.on("pageerror", lambda error: troubles.append(f"script: {error}"))
    tab.on("request", lambda request: request.url.startswith((home, "data:", "blob:")) or troubles.append(f"foreign: {request.url}"))  # fmt: skip
    tab.emulate_media(media="print", color_scheme="light")
    tab.goto(f"{home}{leaf.page}.html")
    tab.evaluate("() => window.MathJax?.startup?.promise")
    tab.add_style_tag(content=(HERE / "paper.css").read_text(encoding="utf-8"))
    tab.evaluate((HERE / "map.js").read_text(encoding="utf-8"), SHEET)
    facts = tab.evaluate(
        (HERE / "paper.js").read_text(encoding="utf-8"), {"places": places, "part": leaf.part}
    )
    tab.add_style_tag(content=_edges(leaf.part or "", facts["title"], first))
    pdf = _print(tab)
    troubles += [f"no such place: #{place}" for place in facts["missing"]]
    troubles += [f"wider than the paper: {piece}" for piece in facts["wide"]]
    return Printed(leaf, pdf, facts["title"], facts["headings"], [f"{leaf.page}: {t}" for t in troubles])


def print_html(context: BrowserContext, html: str) -> bytes:
    """Print a page that is no page of the site."""
    tab = context.new_page()
    tab.set_content(html)
    return _print(tab)


def _print(tab: Page) -> bytes:
    pdf = tab.pdf(prefer_css_page_size=True, print_background=True)
    tab.close()
    return pdf


def _edges(left: str, right: str, first: int) -> str:
    """What stands at the edges of a page: part and chapter above, except on the first page, and the page's number below."""
    line = "font: 8.5pt sans-serif; color: #48566b;"
    say = lambda text: json.dumps(text, ensure_ascii=False)
    return (
        f"html {{ counter-reset: page {first - 1}; }}\n"
        f"@page {{ @top-left {{ content: {say(left)}; {line} }} @top-right {{ content: {say(right)}; {line} }} "
        f"@bottom-center {{ content: counter(page); {line} }} }}\n"
        '@page :first { @top-left { content: ""; } @top-right { content: ""; } }'
    )

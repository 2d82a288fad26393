"""Open the built site as a reader does: in Chromium, from a server on this machine.

Where Playwright or Chromium is missing, the files that import this one are skipped.
"""

import functools
import os
import shutil
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

pytest.importorskip("playwright.sync_api", reason="needs Playwright: pip install -r requirements.txt")
from playwright.sync_api import Browser, BrowserContext, Page
from playwright.sync_api import TimeoutError as PlaywrightTimeout

FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync"]  # fmt: skip
NAMES = ("chromium", "chromium-browser", "google-chrome")
CHROMIUM = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
if not CHROMIUM:
    pytest.skip(
        "needs Chromium: apt-get install chromium, or say where it is in the environment variable CHROMIUM",
        allow_module_level=True,
    )

DESKTOP, PHONE = {"width": 1400, "height": 1000}, {"width": 390, "height": 844}
GUISES = {"light": (DESKTOP, "light"), "dark": (DESKTOP, "dark"), "phone": (PHONE, "dark")}
LOOK, BARE, THIN = (
    Path(__file__).with_name(name).read_text(encoding="utf-8") for name in ("look.js", "bare.js", "thin.js")
)

#: Every browser has a font for each of these; a page is set in the narrowest and the widest of them.
FAMILIES = ("serif", "sans-serif", "monospace")
WIDTHS = """families => families.map(family => {
  const pen = document.createElement("canvas").getContext("2d");
  pen.font = `100px ${family}`;
  return pen.measureText("A quick brown fox jumps over 13 dogs").width;
})"""
SET = """family => ["base", "heading"].forEach(of => family ? document.documentElement.style.setProperty(`--pst-font-family-${of}`, family)
  : document.documentElement.style.removeProperty(`--pst-font-family-${of}`))"""

#: Boxes that scroll sideways are stops for the tabulator key, once the page's script has seen their new size.
REACHABLE = "() => [...document.querySelectorAll('article pre')].every(box => box.scrollWidth <= box.clientWidth || box.tabIndex >= 0)"


@dataclass
class Served:
    """A folder on this machine's network, and the paths that were asked for, in order."""

    folder: Path
    address: str
    asked: list[str] = field(default_factory=list)

    def url(self, page: str) -> str:
        return f"{self.address}{page}.html"

    def sent(self) -> set[Path]:
        """The files that were sent since ``asked`` was last cleared."""
        return {self.folder / unquote(path).lstrip("/") for path in self.asked}


@contextmanager
def serving(folder: Path) -> Iterator[Served]:
    """Serve a folder as a static host does: what was sent may be kept for a while."""
    asked: list[str] = []

    class Handler(SimpleHTTPRequestHandler):
        def log_request(self, code="-", size="-"):
            if int(code) == 200:
                asked.append(urlsplit(self.path).path)

        def log_message(self, *args):
            pass

        def end_headers(self):
            self.send_header("Cache-Control", "max-age=600")
            super().end_headers()

    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=str(folder)))
    server.handle_error = lambda *args: None  # a page that is left while it loads is no news
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield Served(folder, f"http://127.0.0.1:{server.server_port}/", asked)
    server.shutdown()
    server.server_close()


def listen(page: Page, home: str) -> list[str]:
    """Everything that goes wrong on a page from now on: a list that grows."""
    troubles: list[str] = []
    for event, hear in _ears(home, troubles).items():
        page.on(event, hear)
    return troubles


@contextmanager
def listening(page: Page, home: str) -> Iterator[list[str]]:
    """The same for a while, as the tab shows other pages later."""
    troubles: list[str] = []
    ears = _ears(home, troubles)
    for event, hear in ears.items():
        page.on(event, hear)
    yield troubles
    for event, hear in ears.items():
        page.remove_listener(event, hear)


def _ears(home: str, troubles: list[str]) -> dict[str, Callable]:
    """By event of a page what writes down whether it is a trouble."""
    return {
        "console": lambda m: m.type in ("error", "warning") and troubles.append(f"{m.type}: {m.text}"),
        "pageerror": lambda error: troubles.append(f"script: {error}"),
        "request": lambda r: r.url.startswith((home, "data:", "blob:")) or troubles.append(f"foreign: {r.url}"),
        # What was still on its way when the page was left is no news.
        "requestfailed": lambda r: r.failure == "net::ERR_ABORTED" or troubles.append(f"failed: {r.url}"),
        "response": lambda r: r.status >= 400 and troubles.append(f"{r.status}: {r.url}"),
    }  # fmt: skip


def arrive(page: Page, url: str) -> None:
    """Go to a page and wait until its formulas stand."""
    page.goto(url)
    if url.endswith("/index.html") and "/book/" not in url:
        page.wait_for_url("**/book/index.html")
    page.evaluate("() => window.MathJax?.startup?.promise")


@contextmanager
def visiting(
    browser: Browser, formulas: bool = True, colours: bool = True, **how
) -> Iterator[BrowserContext]:
    """A first visit: nothing is remembered from before. Without formulas, or colours of code, pages are there sooner."""
    context = browser.new_context(**how)
    if not colours:
        context.add_init_script(f"document.addEventListener('DOMContentLoaded', {BARE})")
    context.set_default_timeout(30_000)
    if not formulas:
        context.route(
            "**/mathjax/*.js*", lambda route: route.fulfill(body="", content_type="text/javascript")
        )
    yield context
    context.close()


def forget(page: Page, served: Served) -> None:
    """Leave a page so that the next one in this tab is a first visit: nothing is stored, and the mouse is out of the way.

    What a page writes when it is left is stored by then; a picture has no script that could.
    """
    page.mouse.move(0, 0)
    page.goto(f"{served.address}_static/favicon.svg")
    page.evaluate("() => { localStorage.clear(); sessionStorage.clear(); }")
    page.context.clear_cookies()


@dataclass(frozen=True)
class Visit:
    """What was seen on a page with every fold open: what went wrong, by guise how it looks and what axe says, and by font how much too wide it is on a phone."""

    troubles: list[str]
    looks: dict[str, dict]
    axe: dict[str, list[str]]
    sideways: dict[str, int]

    def found(self, *fields: str) -> dict[str, list]:
        """What is not empty of these fields of the looks."""
        named = {f"{field} ({guise})": look[field] for guise, look in self.looks.items() for field in fields}
        return {name: value for name, value in named.items() if value}


def visit(
    context: BrowserContext, served: Served, page: str, guises: Sequence[str], axe: bool = True
) -> Visit:
    """Open a page once, unfold everything, look around in every guise: the window changes its size, the reader light and dark.

    The context's only tab goes from page to page, as a reader's does: a new one is a new process.
    """
    tab = context.pages[0] if context.pages else context.new_page()
    looks, blamed, sideways = {}, {}, {}
    with listening(tab, served.address) as troubles:
        if not _wears(tab, guises[0]):
            tab.goto("about:blank")  # else the page before is laid out once more, in the new guise
            _dress(tab, guises[0])
        arrive(tab, served.url(page))
        tab.evaluate("() => document.querySelectorAll('details').forEach(fold => { fold.open = true; })")
        for guise in guises:
            if guise == guises[0]:
                _settle(tab)  # to dress as one is makes every style be looked up again
            else:
                _dress(tab, guise)
            looks[guise] = tab.evaluate(LOOK)
            if guise == "phone":
                sideways = _sideways(tab, again=axe)
        if axe:
            tab.evaluate(THIN)  # nothing looks as it did after this
            for guise in reversed(guises):
                if guise != guises[-1]:
                    _dress(tab, guise)
                blamed[guise] = _axe(tab)
    return Visit(troubles, looks, blamed, sideways)


def _sideways(tab: Page, again: bool) -> dict[str, int]:
    """How much wider than the screen a page is, in the narrowest and in the widest font; in the end again in its own, if that matters."""
    found, widths = {}, dict(zip(tab.evaluate(WIDTHS, FAMILIES), FAMILIES, strict=True))
    for family in (widths[min(widths)], widths[max(widths)]):
        tab.evaluate(SET, family)
        _settle(tab)
        found[family] = tab.evaluate("() => document.documentElement.scrollWidth - innerWidth")
    if again:
        tab.evaluate(SET, "")
    return found


def _wears(tab: Page, guise: str) -> bool:
    """Whether a tab, whatever it shows, is in a guise."""
    viewport, scheme = GUISES[guise]
    return tab.viewport_size == viewport and tab.evaluate(
        "scheme => matchMedia(`(prefers-color-scheme: ${scheme})`).matches", scheme
    )


def _dress(tab: Page, guise: str) -> None:
    """Put a page into a guise, and wait until its theme has noticed."""
    viewport, scheme = GUISES[guise]
    tab.emulate_media(color_scheme=scheme)
    tab.set_viewport_size(viewport)
    if tab.locator("html[data-theme]").count():
        tab.locator(f"html[data-theme={scheme}]").wait_for(state="attached")
    _settle(tab)


def _settle(tab: Page) -> None:
    """Wait until the fonts have come and the page's script has measured its boxes: on a busy machine that can be late."""
    tab.evaluate("() => document.fonts.ready.then(() => new Promise(done => requestAnimationFrame(() => setTimeout(done, 100))))")  # fmt: skip
    with suppress(PlaywrightTimeout):  # what does not come in time is for the tests to find
        tab.wait_for_function(REACHABLE, timeout=5000)


def _axe(tab: Page) -> list[str]:
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(tab, options={"resultTypes": ["violations"]}).response["violations"]
    return [
        f"{each['id']} ({each['impact']}): {node['html'][:150]}" for each in found for node in each["nodes"]
    ]

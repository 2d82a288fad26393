"""How soon a reader sees something: first contentful paint of every page, against an empty page in the same run.

Needs the built site (`make book`), Playwright, and Chromium (Debian's, or the one that CHROMIUM names).
"""

import functools
import os
import shutil
import statistics
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

SITE = Path(__file__).parents[1] / "_build/html"
REPEATS = 5


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *arguments):
        pass

    def do_GET(self):
        if self.path != "/empty":
            return super().do_GET()
        body = b"<!DOCTYPE html><html lang=en><title>Empty</title><p>Nothing."
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        return self.wfile.write(body)


def first_paint(browser: Browser, address: str) -> float:
    """Median over visits with an empty cache, in milliseconds."""
    times = []
    for _ in range(REPEATS):
        context = browser.new_context(viewport={"width": 1400, "height": 1000})
        tab = context.new_page()
        tab.goto(address, wait_until="load")
        tab.wait_for_function("() => performance.getEntriesByName('first-contentful-paint').length")
        times.append(tab.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime"))
        context.close()
    return statistics.median(times)


def main() -> None:
    chromium = os.environ.get("CHROMIUM") or next(
        filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
    )
    if not chromium or not (SITE / "book/index.html").exists():
        print("first paint: needs Chromium and the built site (make book)")
        return
    pages = sorted(path.relative_to(SITE).as_posix() for path in (SITE / "book").rglob("*.html"))
    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(SITE)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    base = f"http://127.0.0.1:{server.server_port}/"
    with sync_playwright() as running:
        browser = running.chromium.launch(
            executable_path=chromium,
            args=["--no-sandbox", "--disable-gpu", "--disable-background-networking"],
        )
        empty = first_paint(browser, f"{base}empty")
        print(f"first contentful paint, median of {REPEATS} first visits; an empty page: {empty:.0f} ms")
        for page in pages:
            time = first_paint(browser, base + page)
            print(f"  {page:<48} {time:5.0f} ms   {time / empty:4.1f}×")
        browser.close()
    server.shutdown()


if __name__ == "__main__":
    main()

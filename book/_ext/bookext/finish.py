"""Last steps on the written site: nothing in it that no page uses, a page at its root, and one for wrong addresses."""

import re
import shutil
import zlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from string import Template
from urllib.parse import unquote

from sphinx.application import Sphinx

from bookext import address, live
from bookext.chapters import ROOT

#: Files of the theme that no page loads: maps and licences are for debuggers, the .ttf twins for browsers of 2012.
UNUSED = (
    "_static/**/*.map",
    "_static/**/*.ttf",
    "_static/vendor/fontawesome/*/js",
    "_static/locales",
    "_static/*webpack-macros.html",
    "_static/*thebe*",
)

#: What of MathJax stays: the build that the pages load, its fonts, TeX extensions, and the screen reader's explorer.
MATHJAX = ("tex-chtml.js", "output/chtml/fonts/woff-v2", "input/tex/extensions", "a11y", "sre/mathmaps/base.json",
           "sre/mathmaps/en.json", "ui")  # fmt: skip

#: Icons come from a font; the theme also loads them all as a script of 1.5 MB, and three fonts
#: ahead of need, in a way that a page opened from disk may not.
_HEAVY = re.compile(
    r'\s*<script src="[^"]*/fontawesome/[^"]*"></script>|\s*<link rel="preload"[^>]*/fa-[^>]*>'
)
#: Where a page loads a style or a script, with the checksum that Sphinx gives it if it lies there already.
_LOADED = re.compile(r'(?P<to>(?:href|src)="[^"?]*?(?P<file>_static/[^"?]+\.(?:css|js)))(?:\?v=[0-9a-f]+)?"')
#: Where it shows a picture, or names one for who links to it.
_PICTURE = re.compile(r"_images/([^\"'\s<>?#&]+)")


def finish_site(app: Sphinx, exception: Exception | None) -> None:
    """Handle Sphinx's ``build-finished``."""
    site = Path(app.outdir)
    if exception or app.builder.format != "html":
        return
    prune(site)
    inline_imported_style(site)
    for script in live.SCRIPTS:
        path = site / "_static" / script
        path.write_text(slim(path.read_text(encoding="utf-8")), encoding="utf-8")
    checksums, pictures = cache(lambda file: checksum(site / file)), set()
    for page in site.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        finished = name_versions(name_toggles(lighten(text)), checksums)
        pictures.update(map(unquote, _PICTURE.findall(finished)))
        if finished != text:
            page.write_text(finished, encoding="utf-8")
    for picture in (site / "_images").rglob("*.*"):
        if picture.relative_to(site / "_images").as_posix() not in pictures:
            picture.unlink()
    first = f"{app.config.root_doc}.html"
    for name, template in (("404.html", "404.html"), ("index.html", "redirect.html")):
        page = Template((ROOT / "book/_templates" / template).read_text(encoding="utf-8"))
        (site / name).write_text(page.substitute(site=address.site(), first=first), encoding="utf-8")


def lighten(html: str) -> str:
    """A page without what it loads and does not need: the icons' script and the fonts that are loaded ahead of need."""
    return _HEAVY.sub("", html)


def name_toggles(html: str) -> str:
    """A page whose sidebar's arrows say what they unfold, which the theme leaves without a word for who listens to a page."""
    return html.replace(
        '<summary><span class="toctree-toggle"',
        '<summary aria-label="Pages below"><span class="toctree-toggle"',
    )


def checksum(file: Path) -> str:
    """What a browser tells a new file by from an old one of that name; "" if there is none."""
    return f"?v={zlib.crc32(file.read_bytes()):08x}" if file.is_file() else ""


def name_versions(html: str, checksums: Callable[[str], str]) -> str:
    """A page that loads styles and scripts as they are now: some lie there only after the first page was written."""
    return _LOADED.sub(lambda match: f'{match["to"]}{checksums(match["file"])}"', html)


def prune(site: Path) -> None:
    """Delete what no page of a built site loads."""
    for pattern in UNUSED:
        for path in site.glob(pattern):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    mathjax = site / "_static/mathjax"
    for path in [path for path in mathjax.rglob("*") if path.is_file()]:
        if not path.relative_to(mathjax).as_posix().startswith(MATHJAX):
            path.unlink()
    for folder in sorted((path for path in mathjax.rglob("*") if path.is_dir()), reverse=True):
        if not any(folder.iterdir()):
            folder.rmdir()


def slim(script: str) -> str:
    """A script of ours without its indentation and the comments that have lines of their own; none of its texts goes over a line."""
    bare = re.sub(r"^[^\S\n]*(?://[^\n]*|/\*.*?\*/[^\S\n]*)$", "", script, flags=re.MULTILINE | re.DOTALL)
    return re.sub(r"^\s+", "", bare, flags=re.MULTILINE)


def inline_imported_style(site: Path) -> None:
    """Write Sphinx's basic style into the theme's, which imports it.

    One request fewer, and tools that re-read style sheets out of place do not ask for a file that is not there.
    """
    theme = site / "_static" / "styles" / "theme.css"
    basic = (site / "_static" / "basic.css").read_text(encoding="utf-8")
    text = theme.read_text(encoding="utf-8")
    theme.write_text(
        re.sub(r"@import\s+(url\()?[\"']?\.\./basic\.css[\"']?\)?;?", lambda _: basic, text), encoding="utf-8"
    )

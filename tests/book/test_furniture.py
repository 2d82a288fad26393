"""What stands around a page's text, and what is left out of the site."""

import json
import re

import yaml

from bookext import address, finish, furniture, previews
from bookext.chapters import ROOT


def test_a_page_is_cited_with_its_address_and_day():
    found = furniture.citation("The gradients", "book/kernel_regime/gradients", "20 November 2026")
    version = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))["version"]
    url = f"{address.site()}book/kernel_regime/gradients.html"
    for text in found.values():
        assert "The gradients" in text
        assert url in text
        assert f"version {version}, 20 November 2026" in text
    assert found["bibtex"].count("{") == found["bibtex"].count("}")
    assert found["bibtex"].startswith("@incollection{shallowformer-gradients,\n")


def test_a_page_without_a_history_is_cited_without_a_day():
    assert "None" not in furniture.citation("A", "book/a", None)["text"]


def test_what_can_be_previewed_is_collected_without_what_only_its_page_can_use():
    html = """
      <div class="proof lemma admonition" id="kr-lemma-1"><p class="admonition-title">Lemma 1
        <a class="verdict-badge" href="#check-kr-lemma-1">holds</a></p>
        <p id="inner">By <a href="model.html#x">(2)</a>, <span class="math">\\(x&lt;1\\)</span>.</p><img src="a.png"></div>
      <div class="math" id="equation-a"><span class="eqno">(1)<a class="headerlink" href="#equation-a">#</a></span>\\[y\\]</div>
      <div class="proof">no id</div><p id="p">not a target</p>"""
    found = previews.collect(html)
    assert set(found) == {"kr-lemma-1", "equation-a"}
    assert r"By (2), <span" in found["kr-lemma-1"]
    assert r"\(x&lt;1\)" in found["kr-lemma-1"]
    assert not re.search(r"id=|<a|<img|holds", found["kr-lemma-1"])
    assert "(1)" in found["equation-a"]
    assert "#" not in found["equation-a"]


def test_a_preview_s_script_says_its_page(tmp_path):
    class App:
        outdir = tmp_path

    body = {"body": '<div class="math" id="equation-a">\\[y\\]</div>'}
    previews.remember_previews(App, "book/one", "page.html", body, object())
    script = (tmp_path / "_static/previews/book/one.js").read_text(encoding="utf-8")
    page, found = json.loads(f"[{script.removeprefix('receivePreviews(').strip().removesuffix(');')}]")
    assert page == "book/one"
    assert list(found) == ["equation-a"]
    previews.remember_previews(App, "book/one", "page.html", {"body": "<p>nothing now</p>"}, object())
    assert not (tmp_path / "_static/previews/book/one.js").exists()


def test_pruning_keeps_what_pages_load_and_nothing_else(tmp_path):
    kept = [
        "_static/mathjax/tex-chtml.js",
        "_static/mathjax/output/chtml/fonts/woff-v2/a.woff",
        "_static/mathjax/sre/mathmaps/en.json",
        "_static/vendor/fontawesome/6/css/all.min.css",
        "_static/book.css",
    ]
    gone = [
        "_static/mathjax/tex-svg.js",
        "_static/mathjax/output/svg/fonts/tex.js",
        "_static/mathjax/sre/mathmaps/de.json",
        "_static/vendor/fontawesome/6/js/all.min.js",
        "_static/vendor/fontawesome/6/webfonts/a.ttf",
        "_static/styles/a.css.map",
        "_static/locales/de/a.po",
    ]
    for name in kept + gone:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    finish.prune(tmp_path)
    assert {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file()} == set(
        kept
    )
    assert not (tmp_path / "_static/mathjax/output/svg").exists()


def test_a_page_loads_icons_once():
    kept = '<link href="../_static/vendor/fontawesome/6/css/all.min.css" rel="stylesheet" />'
    solid = (
        '<link rel="preload" as="font" href="../_static/vendor/fontawesome/6/webfonts/fa-solid-900.woff2" />'
    )
    html = f"""{kept}
      {solid}
      <link rel="preload" as="font" href="../_static/vendor/fontawesome/6/webfonts/fa-brands-400.woff2" />
      <script src="../_static/vendor/fontawesome/6/js/all.min.js?digest=1"></script><script src="book.js"></script>"""
    assert finish.lighten(html) == f'{kept}<script src="book.js"></script>'

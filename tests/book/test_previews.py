"""What a link leads to, as it is shown beside the link."""

import json
import re

from bs4 import BeautifulSoup

from bookext import previews


def test_what_can_be_previewed_is_collected_without_what_only_its_page_can_use():
    html = """
      <div class="proof lemma admonition" id="kr-lemma-1"><p class="admonition-title">Lemma 1
        <a class="verdict-badge" href="#check-kr-lemma-1">holds</a><a class="used-by" href="map.html#x">used by 3</a></p>
        <p id="inner">By <a href="model.html#x">(2)</a>, <span class="math">\\(x&lt;1\\)</span>.</p><img src="a.png"></div>
      <div class="math" id="equation-a"><span class="eqno">(1)<a class="headerlink" href="#equation-a">#</a></span>\\[y\\]</div>
      <div class="proof">no id</div><p id="p">not a target</p>"""
    found = previews.collect(BeautifulSoup(html, "html.parser"))
    assert set(found) == {"kr-lemma-1", "equation-a"}
    assert r"By (2), <span" in found["kr-lemma-1"]
    assert r"\(x&lt;1\)" in found["kr-lemma-1"]
    assert not re.search(r"id=|<a|<img|holds|used by", found["kr-lemma-1"])
    assert "(1)" in found["equation-a"]
    assert "#" not in found["equation-a"]


def test_a_preview_s_script_says_its_page_and_goes_when_there_is_nothing_to_preview(tmp_path):
    script = tmp_path / "_static/previews/book/one.js"
    previews.write(tmp_path, "book/one", {"equation-a": "<div>[y]</div>"})
    arguments = script.read_text(encoding="utf-8").removeprefix("receivePreviews(").strip().removesuffix(");")
    assert json.loads(f"[{arguments}]") == ["book/one", {"equation-a": "<div>[y]</div>"}]
    previews.write(tmp_path, "book/one", {})
    assert not script.exists()

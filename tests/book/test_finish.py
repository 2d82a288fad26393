"""What is left out of the written site."""

from bookext import finish


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


def test_an_arrow_of_the_sidebar_has_a_name():
    arrow = (
        '<summary><span class="toctree-toggle" role="presentation"><i class="fa-solid"></i></span></summary>'
    )
    named = finish.name_toggles(f"<details>{arrow}</details><details><summary>Proof</summary></details>")
    assert named.count('<summary aria-label="Pages below">') == 1
    assert "<summary>Proof" in named


def test_a_page_loads_what_it_loads_as_it_is_now(tmp_path):
    (tmp_path / "_static").mkdir()
    (tmp_path / "_static/a.css").write_text("a")
    known = lambda file: finish.checksum(tmp_path / file)
    new, old = ('<link href="../_static/a.css"/>', '<link href="../_static/a.css?v=0123abcd"/>')
    assert (
        finish.name_versions(new, known)
        == finish.name_versions(old, known)
        == '<link href="../_static/a.css?v=e8b7be43"/>'
    )
    gone = '<script src="_static/b.js"></script><script src="_static/c.js?digest=1"></script><a href="a.css"></a>'
    assert finish.name_versions(gone, known) == gone

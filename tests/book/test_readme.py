"""What the README and the page for contributors say is true: their commands and files exist, their examples run."""

import re

from bookext.chapters import ROOT
from shallowformer.experiments import sweep

README, HOUSE = ((ROOT / name).read_text(encoding="utf-8") for name in ("README.md", "book/house.md"))


def test_a_newcomer_reads_it_in_two_minutes():
    assert len(README.split()) <= 700


def test_the_commands_of_the_readme_exist_and_the_page_names_them_all():
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    named = set(re.findall(r"\bmake ([a-z-]+)", README))
    assert {"book", "test"} <= named <= targets == set(re.findall(r"\bmake ([a-z-]+)", HOUSE))


def test_continuous_integration_runs_the_two_commands_as_they_stand():
    commands = re.findall(
        r"^[^#\n]*\bmake\b.*$", (ROOT / ".ci/run").read_text(encoding="utf-8"), re.MULTILINE
    )
    named = re.findall(r"^(make [a-z]+) +#", README, re.MULTILINE)
    assert commands == [named[0], f'{named[1]} 2>&1 | tee "$log"']


def test_the_files_that_the_readme_names_exist():
    paths = re.findall(
        r"`((?:book|lib|tests|results|bench|_|requirements|pyproject|CITATION|LICENSE)[\w./-]*)`",
        README + HOUSE,
    )
    missing = [
        path
        for path in paths
        if not (ROOT / path).exists() and "my_chapter" not in path and not path.startswith("_build")
    ]
    assert len(paths) > 10
    assert missing == []
    assert (ROOT / "book/_static/teaser.svg").exists()


def test_the_examples_of_the_readme_run(capsys, tmp_path):
    claim, own = re.findall(r"```python\n(.*?)```", README + HOUSE, re.DOTALL)
    exec(compile(claim, "README.md", "exec"), {})
    assert "✓ my-claim" in capsys.readouterr().out
    exec(compile(own, "README.md", "exec"), names := {})
    assert sweep.run(names["EXPERIMENT"], "smoke", tmp_path).computed == 3

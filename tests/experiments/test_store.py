"""A store that loses nothing."""

import errno
import json
import subprocess
import sys
from pathlib import Path

import filelock
import pytest

from shallowformer.experiments import keys, store


def a_row(number, name="toy"):
    config = {"number": number}
    return {"key": keys.key(name, config), "config": config, "result": {"x": 1}, "provenance": {}}


def test_rows_are_added_once_and_in_order(tmp_path):
    folder = tmp_path / "made" / "when needed"
    assert store.load("toy", folder) == []
    store.add("toy", [a_row(2)], folder)
    store.add("toy", [a_row(1), {**a_row(2), "result": {"x": 2}}], folder)
    assert store.load("toy", folder) == [a_row(2), a_row(1)]
    assert store.path("toy", folder).read_text().count("\n") == 4  # head, a line a row, tail


def test_what_json_cannot_hold_changes_nothing(tmp_path):
    store.add("toy", [a_row(1)], tmp_path)
    for bad, error in ((object(), TypeError), (float("nan"), ValueError)):
        with pytest.raises(error):
            store.add("toy", [{**a_row(2), "result": {"x": bad}}], tmp_path)
    assert store.load("toy", tmp_path) == [a_row(1)]


WRITER = """
import sys
from test_store import a_row
from shallowformer.experiments import store
for number in range(int(sys.argv[1]), 60, 2):
    store.add("toy", [a_row(number)], sys.argv[2])
"""


def test_two_writers_lose_none_of_each_other_s_rows(tmp_path, traces):
    writers = [subprocess.Popen([sys.executable, "-c", WRITER, str(k), str(tmp_path)]) for k in range(2)]
    assert [writer.wait() for writer in writers] == [0, 0]
    assert sorted(row["config"]["number"] for row in store.load("toy", tmp_path)) == list(range(60))


def test_a_writer_that_never_lets_go_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(store, "PATIENCE", 0.05)
    with (
        filelock.FileLock(tmp_path / ".toy.lock"),
        pytest.raises(store.StoreError, match="locked by another process"),
    ):
        store.add("toy", [a_row(1)], tmp_path)


def spoilt(rows, **changes):
    return json.dumps({"experiment": "toy", "rows": rows} | changes)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (spoilt([a_row(1), a_row(2)])[:-40], r"is not JSON .*cut off"),
        (b"\xff\xfe", "is not JSON"),
        (spoilt([a_row(1)], rms=None).replace("null", "NaN"), "NaN is no number"),
        ("[]", "has no list of rows"),
        (spoilt([a_row(1)], experiment="other"), "belongs to experiment 'other'"),
        (spoilt([a_row(1), a_row(1)]), "twice; row 2 is the second"),
        (spoilt([a_row(1), {**a_row(2), "config": {"number": 3}}]), "row 2, but the key of number = 3 is"),
        (spoilt([a_row(1), 7]), "row 2 that is not a mapping"),
        *(
            (spoilt([a_row(1), {k: v for k, v in a_row(2).items() if k != part}]), f"lacks '{part}' in row 2")
            for part in ("key", "config", "result", "provenance")
        ),
        (spoilt([{**a_row(1), "result": 5}]), "has a wrong 'result' in row 1"),
    ],
)
def test_a_corrupted_store_is_named_and_never_overwritten(tmp_path, text, message):
    file = store.path("toy", tmp_path)
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    before = file.read_bytes()
    for attempt in (lambda: store.load("toy", tmp_path), lambda: store.add("toy", [a_row(5)], tmp_path)):
        with pytest.raises(store.StoreError, match=message) as caught:
            attempt()
        assert str(file) in str(caught.value)
        assert "Nothing was overwritten. Mend or delete that row" in str(caught.value)
    assert file.read_bytes() == before


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_a_full_disk_leaves_the_old_store(tmp_path):
    store.add("toy", [a_row(1)], tmp_path)
    part = tmp_path / ".toy.part"
    part.symlink_to("/dev/full")
    with pytest.raises(OSError, match="No space left") as caught:
        store.add("toy", [a_row(2)], tmp_path)
    assert caught.value.errno == errno.ENOSPC
    assert store.load("toy", tmp_path) == [a_row(1)]
    assert not part.is_symlink()
    store.add("toy", [a_row(2)], tmp_path)
    assert store.load("toy", tmp_path) == [a_row(1), a_row(2)]


def test_what_a_kill_left_behind_is_in_nobody_s_way(tmp_path):
    (tmp_path / ".toy.part").write_text("half of a fi")
    (tmp_path / ".toy.lock").touch()
    store.add("toy", [a_row(1)], tmp_path)
    assert store.load("toy", tmp_path) == [a_row(1)]
    assert not (tmp_path / ".toy.part").exists()

"""The stored certificates: whole, consistent, and as good as the page says."""

import json
import math

import pytest

from shallowformer.experiments import certificates, store

ROWS = store.load(certificates.NAME)
PAPER = [row for row in ROWS if row["steps"] == certificates.PAPER[1]]


def test_the_store_holds_planned_rows_once():
    keys = [certificates.key(row) for row in ROWS]
    assert len(set(keys)) == len(keys) > 0
    assert set(keys) <= set(certificates.PLAN)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: "-".join(map(str, certificates.key(row))))
def test_a_row_is_consistent(row):
    assert row["min"] == row["mins"][-1] <= row["mean"] == row["means"][-1]
    assert row["horizons"][-1] == row["steps"]
    assert row["means"][0] == row["mins"][0] == pytest.approx(row["trivial"], rel=1e-5)
    assert all(a >= b for a, b in zip(row["mins"], row["mins"][1:], strict=False))
    for comparator in ("ridge", "transported"):
        seen = row[comparator]
        assert seen["epsilon"] >= seen["epsilon_start"]
        assert max(seen["displacement"]) <= 3.0
        root, horizon, rest = seen["epsilon"], row["eta"] * row["steps"], 1 - row["theta"]
        bound = (root + math.sqrt(root**2 + rest * seen["V0"] / horizon)) / (2 * rest)
        assert seen["certificate"] == pytest.approx(bound**2)
        assert row["mean"] <= seen["certificate"]
    ridge = row["ridge"]
    ell = (ridge["epsilon_start"] + math.sqrt(ridge["epsilon_start"] ** 2 + ridge["V0"] / horizon)) / 2
    # Six rounds of the iteration; at its end the bound is flat in λ.
    assert row["lambda"] == pytest.approx(ridge["epsilon_start"] / (2 * ell * horizon), rel=0.1)
    assert row["provenance"]["problem"]["n"] == certificates.N


def test_at_the_paper_s_step_certificates_are_within_a_fifth():
    assert max(row["ridge"]["certificate"] / row["mean"] for row in PAPER) < 1.2
    assert all(row["ridge"]["certificate"] < row["trivial"] for row in PAPER)


def test_a_store_is_replaced_as_a_whole(tmp_path, monkeypatch):
    monkeypatch.setattr(store, "_PLACES", (tmp_path, tmp_path))
    assert store.load("some") == []
    store.save("some", [{"a": 1}])
    with pytest.raises(TypeError):
        store.save("some", [{"a": object()}])
    assert store.load("some") == [{"a": 1}]
    assert json.loads((tmp_path / "some.json").read_text()) == {"rows": [{"a": 1}]}


def test_the_runner_computes_what_is_missing_only(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(store, "_PLACES", (tmp_path, tmp_path))
    monkeypatch.setattr(certificates, "N", 12)
    monkeypatch.setattr(certificates, "TEACHER", 64)
    monkeypatch.setattr(certificates, "PLAN", [(4, 0, 0.1, 20), (4, 1, 0.1, 20)])
    certificates.fill()
    rows = store.load(certificates.NAME)
    assert [certificates.key(row) for row in rows] == certificates.PLAN
    capsys.readouterr()
    certificates.fill()
    assert capsys.readouterr().out == ""
    certificates.verify(2)
    assert capsys.readouterr().out.count("confirmed") == 2
    store.save(certificates.NAME, [{**row, "mean": 1.01 * row["mean"]} for row in rows])
    with pytest.raises(SystemExit, match="mean is"):
        certificates.verify(1)

"""Runs larger than memory: the same numbers from disk, and run folders in Parquet."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import wholetext as wt
from wholetext.errors import MissingExtra, RunError
from wholetext.files import large_arrays
from wholetext.flags import sampled
from wholetext.io import Loaded, stored
from wholetext.scoring import results
from wholetext.scoring.comparison import compare_run
from wholetext.scoring.run import make_run
from wholetext.scoring.stores import columnar

pytest.importorskip("pyarrow")
METRICS = ["chrf", "bleu", "slide(size=2,step=1,partial=weighted):chrf", "whole:rouge"]


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    path = tmp_path / "corpus.jsonl"
    words = ["the", "river", "a", "street", "of", "night", "music", "", "letter"]
    rng = np.random.default_rng(3)
    with path.open("w", encoding="utf-8") as out:
        for i in range(60):
            sides = [[" ".join(rng.choice(words, 6)) for _ in range(i % 4 + 1)] for _ in range(4)]
            out.write(json.dumps({"doc": f"d{i}", "src": sides[0], "refs": {"r": sides[1]},
                                  "outputs": {"a": sides[2], "b": sides[3]}, "meta": {"domain": f"m{i % 2}"}}) + "\n")
    return path


def run(path: Path, out: Path, store: results.Store = "auto") -> wt.Results:
    return make_run(wt.read(path, langs="de-en"), METRICS, wt.Options(cache=False), out=out, store=store)


def on_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored, "LARGE", 1)
    monkeypatch.setattr(large_arrays, "SPILL", 300)
    monkeypatch.setattr(large_arrays, "BLOCK", 16)


def test_runs_from_disk_have_the_same_bytes(corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run(corpus, tmp_path / "small")
    on_disk(monkeypatch)
    run(corpus, tmp_path / "large")
    for name in ("results.jsonl", "texts.jsonl"):
        assert (tmp_path / "small" / name).read_bytes() == (tmp_path / "large" / name).read_bytes(), name
    small, large = (json.loads((tmp_path / name / "run.json").read_text()) for name in ("small", "large"))
    assert small["comparison"] == large["comparison"] and small["flags"] == large["flags"]
    assert [note for note in large["warnings"] if "read from disk" not in note] == small["warnings"]


def test_parquet_holds_the_same_run(corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = run(corpus, tmp_path / "lines")
    monkeypatch.setattr(columnar, "DOCUMENTS", 7)
    on_disk(monkeypatch)
    wt.write_run(made, tmp_path / "columns", store="parquet")
    lines, columns = wt.open_run(tmp_path / "lines"), wt.open_run(tmp_path / "columns")
    assert tuple(columns.corpus.docs) == lines.corpus.docs
    assert [dict(one.docs) for one in columns.outputs] == [dict(one.docs) for one in lines.outputs]
    for spec, by_system in lines.scores.items():
        for system, scores in by_system.items():
            other = columns[spec][system]
            assert np.array_equal(scores.stats, other.stats) and np.array_equal(scores.lost, other.lost)
            for level in ("row", "segment", "doc", "corpus"):
                assert np.array_equal(scores.table(level), other.table(level), equal_nan=True)
            assert scores.signature == other.signature and scores.notes == other.notes
    assert columns.notes == lines.notes and compare_run(columns)[0] == compare_run(lines)[0]
    assert not (tmp_path / "columns" / "results.jsonl").exists()


def test_results_can_be_read_by_others(corpus: Path, tmp_path: Path) -> None:
    import pyarrow.parquet as parquet

    made = run(corpus, tmp_path / "lines")
    wt.write_run(made, tmp_path / "columns", store="parquet")
    rows = parquet.read_table(tmp_path / "columns" / "results.parquet").to_pylist()
    wanted = [json.loads(line) for line in (tmp_path / "lines" / "results.jsonl").read_text("utf-8").splitlines()]
    assert len(rows) == len(wanted)
    for row, line in zip(rows, wanted):
        assert {key.removeprefix("output:"): value for key, value in row.items() if value is not None} == {
            key: value for key, value in line.items() if value is not None}


def test_many_rows_choose_parquet_and_say_so(corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(results, "ROWS", 100)
    made = run(corpus, tmp_path / "run")
    assert "run folder is in Parquet" in made.warnings[-1] and (tmp_path / "run" / "texts.parquet").exists()
    assert wt.open_run(tmp_path / "run").warnings == made.warnings
    run(corpus, tmp_path / "other", "jsonl")
    assert (tmp_path / "other" / "texts.jsonl").exists()
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert "pip install 'wholetext[parquet]'" in run(corpus, tmp_path / "third").warnings[-1]
    with pytest.raises(MissingExtra, match="parquet"):
        run(corpus, tmp_path / "fourth", "parquet")
    with pytest.raises(RunError, match="no form 'csv'"):
        run(corpus, tmp_path / "fourth", "csv")  # type: ignore[arg-type]


def test_a_run_changes_its_form_all_at_once(corpus: Path, tmp_path: Path) -> None:
    made = run(corpus, tmp_path / "run")
    (tmp_path / "run" / "notes.txt").write_text("mine")
    wt.write_run(made, tmp_path / "run", store="parquet")
    assert sorted(path.name for path in (tmp_path / "run").iterdir()) == [
        "notes.txt", "results.parquet", "run.json", *(f"stats{i}.parquet" for i in range(4)), "texts.parquet"]


@pytest.mark.parametrize("name", ["texts.parquet", "stats0.parquet", "results.parquet"])
def test_damage_is_found_on_opening(corpus: Path, tmp_path: Path, name: str) -> None:
    run(corpus, tmp_path / "run", "parquet")
    path = tmp_path / "run" / name
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 255
    path.write_bytes(bytes(data))
    with pytest.raises(RunError, match="SHA-256"):
        wt.open_run(tmp_path / "run")
    path.unlink()
    with pytest.raises(RunError, match="missing"):
        wt.open_run(tmp_path / "run")


def sealed(folder: Path, name: str, table: object) -> None:
    """Another table in the place of a file, with its checksum in run.json."""
    import pyarrow.parquet as parquet

    from wholetext.files.storage import sha256
    from wholetext.scoring.run_schema import seal

    if isinstance(table, bytes):
        (folder / name).write_bytes(table)
    else:
        parquet.write_table(table, folder / name)
    head = json.loads((folder / "run.json").read_text())
    head.pop("sha256")
    head["files"][name] = sha256(folder / name)
    (folder / "run.json").write_text(seal(head), "utf-8")


def test_columns_are_checked_on_opening(corpus: Path, tmp_path: Path) -> None:
    import pyarrow as arrow
    import pyarrow.parquet as parquet

    folder = tmp_path / "run"
    run(corpus, folder, "parquet")
    texts, stats = (parquet.read_table(folder / name) for name in ("texts.parquet", "stats0.parquet"))
    whole = {name: (folder / name).read_bytes() for name in ("texts.parquet", "stats0.parquet")}
    cases = [
        ("texts.parquet", texts.drop_columns(["hyp:a"]), "outputs of the run's systems"),
        ("texts.parquet", texts.append_column("x", arrow.array([1] * len(texts))), "not those of texts"),
        ("texts.parquet", texts.slice(1), "59 documents instead of 60"),
        ("texts.parquet", arrow.concat_tables([texts.slice(0, 59), texts.slice(0, 1)]), "twice"),
        ("texts.parquet", b"no Parquet", "cannot be read as Parquet"),
        ("stats0.parquet", stats.drop_columns(["weight"]), "not those of statistics"),
        ("stats0.parquet", arrow.concat_tables([stats] * 200), "more rows"),
        ("stats0.parquet", stats, "one system"),  # one row group of both
        ("stats0.parquet", stats.slice(0, 100), "no rows"),
        ("stats0.parquet", whole["stats0.parquet"][:500], "cannot be read as Parquet"),
    ]
    for name, table, error in cases:
        sealed(folder, name, table)
        with pytest.raises(RunError, match=error):
            wt.open_run(folder)
        sealed(folder, name, whole[name])
    wt.open_run(folder)


def test_the_command_line_writes_and_reads_parquet(corpus: Path, tmp_path: Path) -> None:
    from wholetext.cli.main import build

    app, folder = build(), str(tmp_path / "run")
    found = CliRunner().invoke(app, ["score", str(corpus), "-m", "chrf", "-l", "de-en", "--out", folder,
                                     "--store", "parquet", "--no-cache", "-f", "tsv"])
    again = CliRunner().invoke(app, ["compare", folder, "-f", "tsv"])
    assert found.exit_code == again.exit_code == 0 and found.stdout == again.stdout
    assert (tmp_path / "run" / "stats0.parquet").exists()
    shown = CliRunner().invoke(app, ["report", folder])
    assert shown.exit_code == 0 and (tmp_path / "run" / "report.html").exists()


def test_a_sample_is_noted(corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    on_disk(monkeypatch)
    monkeypatch.setattr(sampled, "SEGMENTS", 20)
    monkeypatch.setattr(sampled, "STRETCHES", 4)
    loaded = wt.read(corpus, langs="de-en")
    assert isinstance(loaded, Loaded)
    found = wt.evaluate(loaded.corpus, loaded.outputs, "chrf", wt.Options(cache=False))
    assert any("a sample of 8 of 60 documents" in note for note in found.warnings), found.warnings
    without = wt.evaluate(loaded.corpus, loaded.outputs, "chrf", replace(wt.Options(cache=False), flags=False))
    assert not any("sample" in note for note in without.warnings)

"""Weights & Biases in offline mode; its files are read back."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import wholetext as wt
from tests.integrations.cases import by_command, rows

wandb = pytest.importorskip("wandb", minversion="0.19", reason="wandb is not installed: make test-integration")


@pytest.fixture(autouse=True)
def offline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("WANDB_PROJECT", "WANDB_API_KEY", "WANDB_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("WANDB_MODE", "offline")
    monkeypatch.chdir(tmp_path)


def records(path: Path) -> Iterator[Any]:
    """The records of a run: parts with checksum, length and type, in blocks of 32 KiB (the log format of LevelDB)."""
    from wandb.proto.wandb_internal_pb2 import Record

    data, at, gathered = path.read_bytes(), 7, b""
    assert data.startswith(b":W&B")
    while at + 7 <= len(data):
        room = 32768 - at % 32768
        if room < 7:
            at += room
            continue
        _, length, kind = struct.unpack_from("<IHB", data, at)
        gathered += data[at + 7 : at + 7 + length]
        at += 7 + length
        if kind in (1, 4):  # full, last
            record = Record()
            record.ParseFromString(gathered)
            gathered = b""
            yield record


def run_of(folder: Path) -> tuple[str, str, dict[str, Any], dict[str, Any]]:
    """Name, project, configuration and summary of an offline run."""
    name, project, config, summary = "", "", {}, {}
    for record in records(next(folder.glob("*.wandb"))):
        if record.HasField("run"):
            name, project = record.run.display_name, record.run.project
            config |= {item.key: json.loads(item.value_json) for item in record.run.config.update}
        summary |= {(item.key or "/".join(item.nested_key)): json.loads(item.value_json)
                    for item in record.summary.update}  # fmt: skip
    return name, project, config, summary


def test_a_run_is_logged_offline_and_read_back(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    segments = rows()
    systems = {name: [row["hyp"] for row in rows(system=i)] for i, name in enumerate(("first", "second"))}
    refs, docs = [row["ref"] for row in segments], [row["doc"] for row in segments]
    results = wt.score(systems, ["chrf", "slide(size=3,step=3):bleu"], refs=refs, docs=docs,
                       significance=wt.Significance(draws=100), out=tmp_path / "run")  # fmt: skip
    said = wt.integrations.log_run(results, "wandb", tmp_path / "run")
    assert said.startswith("wandb: 2 runs in the project ") and said.endswith(", offline: `wandb sync` sends them")
    folders = sorted((tmp_path / "wandb").glob("offline-run-*"))
    runs = {name: (config, summary, folder) for folder in folders for name, _, config, summary in [run_of(folder)]}
    assert set(runs) == set(systems)
    for i, (system, (config, summary, folder)) in enumerate((name, runs[name]) for name in systems):
        expected = by_command(capsys, tmp_path, rows(system=i), "chrf", "slide(size=3,step=3):bleu")
        logged = [summary["chrf"], summary["slide_size_3_step_3_.bleu"]]
        assert logged == pytest.approx(expected, abs=1e-6)
        assert summary["chrf/low"] == pytest.approx(results.comparisons["chrf"][system].interval.low)
        assert config["system"] == system and config["documents"] == 4
        assert config["signatures"]["chrf"] == str(results["chrf"][system].signature)
        (table,) = (folder / "files" / "media" / "table").glob("documents*.json")
        rows_of_table = json.loads(table.read_text("utf-8"))["data"]
        assert [row[1] for row in rows_of_table] == pytest.approx(results["chrf"][system].at("doc").tolist())
        assert (folder / "files" / "run.json").exists()


def test_a_tracker_that_refuses_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    results = wt.score(["a b"], "chrf", refs=["a c"])
    monkeypatch.setenv("WANDB_PROJECT", "a/b:c")  # names of projects are checked by the package
    with pytest.raises(wt.errors.WriteError, match="Weights & Biases cannot log the run") as caught:
        wt.integrations.log_run(results, "wandb")
    assert "WANDB_MODE=offline" in caught.value.next

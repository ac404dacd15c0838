"""Run folders that are damaged, of others, or old: an error that names the place, or the numbers of that time."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

import wholetext as wt
from tests.in_process import Capture, call
from wholetext.scoring.run_files import read_head, seal

OLD = Path(__file__).parents[1] / "oracle" / "run-0.1.0"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of two metrics, with its comparison."""
    run = tmp_path_factory.mktemp("made") / "run"
    wt.score(wt.read(Path(wt.__file__).parent / "demo" / "de-en.jsonl"), ["bleu", "chrf"], out=run,
             options=wt.Options(cache=False, flags=False), significance=wt.Significance(draws=20))  # fmt: skip
    return run


@pytest.fixture
def run(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "run"))


@pytest.mark.parametrize("name", ["stats0.npz", "texts.jsonl", "run.json"])
@pytest.mark.parametrize("damage", ["cut", "empty", "zeros"])
def test_a_damaged_file_is_an_error_of_every_verb(run: Path, name: str, damage: str, capsys: Capture) -> None:
    whole = (run / name).read_bytes()
    (run / name).write_bytes({"cut": whole[: len(whole) // 2], "empty": b"", "zeros": b"\0" * 50}[damage])
    for words in ("compare RUN", "rank RUN", "report RUN", "gate RUN --baseline literal", "annotate sample RUN -n 1"):
        code, _, err = call(capsys, *(run if word == "RUN" else word for word in words.split()))
        assert code == 2 and name in err and "→" in err and "unexpectedly" not in err, err


def drop_systems(comparison: dict[str, Any]) -> dict[str, Any]:
    """Outcomes of one system, where the run has four."""
    outcomes = [{**one, "standings": one["standings"][:1], "p": [[0]], "deltas": [0, 0]}
                for one in comparison["outcomes"]]  # fmt: skip
    return {**comparison, "outcomes": outcomes}


@pytest.mark.parametrize("damage", [
    lambda comparison: {"settings": {}}, lambda comparison: {"settings": {"test": 1, "x": 2}, "outcomes": []},
    lambda comparison: {**comparison, "outcomes": [{"metric": "bleu"}]}, drop_systems,
])  # fmt: skip
def test_a_damaged_comparison_is_told(run: Path, damage: Any, capsys: Capture) -> None:
    head = {key: value for key, value in read_head(run).items() if key != "sha256"}
    (run / "run.json").write_text(seal({**head, "comparison": damage(head["comparison"])}), "utf-8")
    code, _, err = call(capsys, "compare", run)
    assert code == 2 and "stored comparison is damaged" in err and "score again" in err


def test_a_file_in_place_of_a_run_folder_is_told(run: Path, capsys: Capture) -> None:
    code, _, err = call(capsys, "compare", run / "texts.jsonl")
    assert code == 2 and "this is a file, not a run folder" in err and "wholetext score --out" in err


def test_runs_of_the_first_version_name_the_precision_of_their_time(tmp_path: Path, capsys: Capture) -> None:
    """0.1.0 could score in int8, and named it in signatures; its numbers are frozen by the referee."""
    folder = shutil.copytree(OLD, tmp_path / "run")
    head = json.loads((folder / "run.json").read_text("utf-8"))
    for metric in head["metrics"]:
        metric["signatures"] = [{**signature, "dtype": "int8"} for signature in metric["signatures"]]
    (folder / "run.json").write_text(json.dumps(head), "utf-8")
    assert {scores.signature["dtype"] for scores in wt.open_run(folder)["chrf"].values()} == {"int8"}
    code, out, _ = call(capsys, "compare", folder, "--signatures")
    assert code == 0 and "dtype:int8" in out
    assert "text that fills no window is not scored; partial=include scores it (3 of 19" in " ".join(out.split())

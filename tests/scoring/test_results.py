"""Run folders: foreign files survive every writing, damaged files are named, folders of 0.1 and 0.2 are answered."""

from __future__ import annotations

import json
import multiprocessing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import wholetext as wt
from wholetext.errors import RunError
from wholetext.files.output_folder import check_folder
from wholetext.scoring.results import RUN
from wholetext.scoring.run_files import seal

DOCS = (wt.Document("a", ("eins", "zwei"), {"ref": ("one", "two")}), wt.Document("b", ("drei",), {"ref": ("three",)}))
CORPUS = wt.Corpus("c", ("de", "en"), DOCS)
OUTPUT = wt.Output("s", {"a": ("one", "too"), "b": ("tree",)})


@pytest.fixture(scope="module")
def made() -> dict[str, wt.Results]:
    specs = {"one": ["chrf"], "two": ["bleu", "chrf"]}
    return {
        name: wt.score(wt.Loaded(CORPUS, [OUTPUT]), some, options=wt.Options(cache=False))
        for name, some in specs.items()
    }


@pytest.fixture
def run(tmp_path: Path, made: dict[str, wt.Results]) -> Path:
    wt.scoring.write_run(made["two"], tmp_path / "run")
    return tmp_path / "run"


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def tree(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


# ---------------------------------------------------------------- what is not ours


@pytest.mark.parametrize("head", ["{}", "my notes", "[]", '{"format": 1}', '{"format": 1, "name": "a game"}', ""])
def test_a_run_json_of_others_protects_its_folder(tmp_path: Path, made: dict[str, wt.Results], head: str) -> None:
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "thesis.tex").write_text("years of work")
    (tmp_path / "run.json").write_text(head)
    before = tree(tmp_path)
    with pytest.raises(RunError, match="not a run folder"):
        check_folder(tmp_path, RUN)
    with pytest.raises(RunError, match="not a run folder"):
        wt.scoring.write_run(made["one"], tmp_path)
    assert tree(tmp_path) == before


def test_files_of_others_in_a_run_folder_stay(run: Path, made: dict[str, wt.Results]) -> None:
    (run / "report.html").write_text("report")
    (run / "notes").mkdir()
    (run / "notes" / "stats0.npz").write_text("mine")
    (run / ".git").mkdir()
    wt.scoring.write_run(made["one"], run)
    assert list(wt.open_run(run).scores) == ["chrf"]
    assert names(run) == [
        ".git", "notes", "report.html", "results.jsonl", "run.json", "stats0.npz", "texts.jsonl"]
    assert (run / "notes" / "stats0.npz").read_text() == "mine"


def test_a_run_of_0_1_0_is_read_and_not_replaced(run: Path, made: dict[str, wt.Results]) -> None:
    without_hashes(run)
    assert list(wt.open_run(run).scores) == ["bleu", "chrf"]
    with pytest.raises(RunError, match="would replace this"):  # it has no list of its files
        wt.scoring.write_run(made["one"], run)


# ---------------------------------------------------------------- interrupted and concurrent writings


def test_a_folder_that_was_left_aside_is_put_back_when_it_is_opened(run: Path) -> None:
    run.rename(run.parent / ".run.wholetext-old")
    assert list(wt.open_run(run).scores) == ["bleu", "chrf"] and names(run.parent) == ["run"]
    run.rename(run.parent / ".run.wholetext-old")
    with pytest.raises(RunError, match="there is a run here already"):
        check_folder(run, RUN, overwrite=False)
    assert wt.open_run(run)


def _write_often(folder: str) -> None:
    results = wt.score(wt.Loaded(CORPUS, [OUTPUT]), ["ter"], options=wt.Options(cache=False))
    for _ in range(40):
        wt.scoring.write_run(results, folder)


def test_readers_see_a_whole_run_while_it_is_replaced(run: Path) -> None:
    writer = multiprocessing.get_context("spawn").Process(target=_write_often, args=(str(run),))
    writer.start()
    while writer.is_alive():
        assert list(wt.open_run(run)) in (["bleu", "chrf"], ["ter"])
    writer.join()
    assert writer.exitcode == 0 and list(wt.open_run(run)) == ["ter"] and names(run.parent) == ["run"]


# ---------------------------------------------------------------- damage


def test_every_changed_byte_is_noticed(run: Path) -> None:
    rng = np.random.default_rng(1)
    for path in sorted(run.iterdir()):
        if path.name == "results.jsonl":  # an export, which is not read
            continue
        whole = path.read_bytes()
        for at in rng.choice(len(whole), 12, replace=False):
            bad = bytearray(whole)
            bad[at] ^= 1 << int(rng.integers(8))
            path.write_bytes(bytes(bad))
            try:
                found = wt.open_run(run)
            except wt.WholetextError as fault:
                assert fault.where and path.name in fault.where
            else:  # a blank between values of run.json means nothing
                assert path.name == "run.json" and json.loads(bad) == json.loads(whole) and found
        path.write_bytes(whole)
    assert wt.open_run(run)


def test_a_parquet_run_folder_names_the_version_that_reads_it(run: Path) -> None:
    head = json.loads((run / "run.json").read_text())
    del head["sha256"]
    head["files"] = {"texts.parquet": "0", "results.parquet": "0", "stats0.parquet": "0", "stats1.parquet": "0"}
    (run / "run.json").write_text(seal(head))
    with pytest.raises(RunError, match=r"Parquet, which wholetext 0\.2 wrote") as caught:
        wt.open_run(run)
    assert "wholetext 0.2" in caught.value.next


@pytest.mark.parametrize("fault", [
    {"systems": 1}, {"systems": ["s", "t"]}, {"langs": None}, {"documents": 3}, {"documents": None}, {"metrics": [1]},
    {"warnings": None}, {"format": 2}, {"format": None}, {"files": 5}, {"metrics": [{"spec": "chrf"}]},
])  # fmt: skip
def test_a_head_that_does_not_fit_the_files_is_an_error(run: Path, fault: dict[str, Any]) -> None:
    head = json.loads((run / "run.json").read_text())
    (run / "run.json").write_text(seal({**head, **fault}))
    with pytest.raises(RunError) as caught:
        wt.open_run(run)
    assert caught.value.where and caught.value.next


LINES: list[Any] = [
    1, {}, {"doc": "b", "src": "x"}, {"src": [1]}, {"refs": {"ref": "x"}}, {"outputs": {}},
    {"outputs": {"s": "tree"}}, {"doc": "a"},
]  # fmt: skip
ARRAYS: dict[str, list[Any]] = {
    "0.stats": [np.zeros(3), np.zeros((2, 4)), np.full((3, 18), np.nan), np.zeros((3, 1)), np.array(["x"] * 3)],
    "0.doc": [np.array([0, 1, 0]), np.array([0, 0, 2]), np.zeros(3), np.zeros((3, 1), int)],
    "0.weight": [np.array([1, np.inf, 1]), -np.ones(3)], "0.lost": [np.zeros((3, 3), int), np.zeros(3, int)],
    "0.stop": [np.array([9, 9, 9])],
}  # fmt: skip


def without_hashes(run: Path) -> None:
    head = json.loads((run / "run.json").read_text())
    del head["files"], head["sha256"]
    (run / "run.json").write_text(json.dumps(head))


def test_texts_and_statistics_are_checked(run: Path) -> None:
    without_hashes(run)
    *before, last = (run / "texts.jsonl").read_text().splitlines()
    for change in LINES:
        line = {**json.loads(last), **change} if change and isinstance(change, dict) else change
        (run / "texts.jsonl").write_text("\n".join([*before, json.dumps(line)]) + "\n")
        with pytest.raises(wt.WholetextError):
            wt.open_run(run)
    (run / "texts.jsonl").write_text("\n".join([*before, last]) + "\n")
    with np.load(run / "stats0.npz") as found:
        whole = dict(found)
    for name, values in ARRAYS.items():
        for value in values:
            np.savez_compressed(run / "stats0.npz", **{**whole, name: value})
            with pytest.raises(RunError, match="damaged"):
                wt.open_run(run)
    np.savez_compressed(run / "stats0.npz", **whole)
    assert wt.open_run(run)


# ---------------------------------------------------------------- from notebooks


def test_results_are_saved_and_loaded(made: dict[str, wt.Results], tmp_path: Path) -> None:
    folder = tmp_path / "kept"
    made["two"].save(folder)
    again = wt.Results.load(folder)
    assert list(again) == ["bleu", "chrf"] and again.corpus == CORPUS and again.notes == made["two"].notes
    assert repr(again) == repr(made["two"])
    with pytest.raises(RunError, match="there is a run here already\n  → choose another folder"):
        made["one"].save(folder)
    made["one"].save(folder, overwrite=True)
    assert list(wt.Results.load(folder)) == ["chrf"]

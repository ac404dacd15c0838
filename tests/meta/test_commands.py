"""`wholetext meta agreement` and `wholetext meta paragraphs` as a user runs them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.in_process import call
from tests.meta import evalset_folder


@pytest.fixture
def folder(tmp_path: Path) -> str:
    return str(evalset_folder.make(tmp_path))


def test_table_of_all_levels(folder: str, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    code, out, _ = call(capsys, "meta", folder, "-l", "de-en", "-m", "chrf", "--stored", "--level", "sys", "--level",
                       "doc", "--level", "seg", "--draws", "50", "--interval", "documents", "--between", "--k", "1..2",
                       "--out", str(tmp_path / "out"))
    assert code == 0
    for text in ("chrf", "good", "poor", "sys:spa", "seg:acc_eq", "chance", "pairs", "reference refA", "refB: human",
                 "between metrics", "sys accuracy", "picture: ", "next: wholetext report "):
        assert text in out
    files = ("picture: ", "next: ")  # names of files are not wrapped
    assert max(len(line) for line in out.splitlines() if not line.startswith(files)) <= 80
    assert (tmp_path / "out" / "meta.svg").read_text("utf-8").startswith("<svg")
    assert json.loads((tmp_path / "out" / "meta.json").read_text())["kind"] == "meta"


@pytest.mark.parametrize(("argv", "text"), [
    (["-l", "fr-de"], "no language pair fr-de"), (["--task", "seg:nothing"], "no statistic"),
    (["--k", "x"], "invalid paragraph lengths"), (["-m", "nothing"], "no metric 'nothing'"),
    (["--k", "2"], "computed here"), (["--tasks", "wmt19"], "no task list"), (["--gold", "esa"], "no human scores")])
def test_errors_are_messages(folder: str, capsys: pytest.CaptureFixture[str], argv: list[str], text: str) -> None:
    code, _, err = call(capsys, "meta", folder, "--draws", "0", *argv)
    assert code == 2
    assert err.startswith("error: ")
    assert text in err
    assert "Traceback" not in err


def test_paragraphs(folder: str, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    code, out, _ = call(capsys, "meta", "paragraphs", folder, "--k", "1,2", "--out", str(tmp_path / "p"))
    assert code == 0
    assert out.splitlines()[3].split("\t") == ["1", "39", "8", "0"]
    assert out.splitlines()[0].endswith("39 paragraphs of 1 segment, 14 of 2 segments.")
    made = tmp_path / "p" / "wmt22.small.k2"
    code, out, _ = call(capsys, "meta", str(made), "-m", "chrf", "--level", "seg", "--draws", "10")
    assert code == 0
    assert "4 × 3" in out


def test_a_sample_restricts_paragraphs_too(folder: str, capsys: pytest.CaptureFixture[str]) -> None:
    argv = ("meta", folder, "-m", "chrf", "--task", "seg:pearson", "--k", "1", "--draws", "0", "--json")
    code, whole, _ = call(capsys, *argv)
    assert code == 0
    for choice in (("--sample", "1"), ("--domain", "news"), ("--system", "alpha", "beta", "delta")):
        code, out, _ = call(capsys, *argv, *choice)
        assert code == 0
        (point, _), (everything, _) = json.loads(out)["curves"], json.loads(whole)["curves"]
        assert point["paragraphs"] < everything["paragraphs"]
        assert point["pearson"] == pytest.approx(json.loads(out)["tasks"][0]["metrics"][0]["value"])


@pytest.fixture
def aspects(folder: str) -> str:
    """The same with human scores of two aspects, of which the second is the first turned round."""
    gold = {system: row for system, row in evalset_folder.gold().items() if system != "refB"}
    for name, sign in (("coherence", 1), ("fluency", -1)):
        rows = {system: [None if value is None else 50 + sign * value for value in row] for system, row in gold.items()}
        (Path(folder) / "human-scores" / f"de-en.{name}.seg.score").write_text(evalset_folder.score_lines(rows))
    return folder


def test_every_gold_is_used(aspects: str, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    argv = ("meta", aspects, "-m", "chrf", "--gold", "coherence", "--gold", "fluency", "--task", "seg:pearson", "--k",
            "1,2", "--draws", "0")
    code, out, _ = call(capsys, *argv, "--json", "--out", str(tmp_path / "out"))
    assert code == 0
    tasks, points = json.loads(out)["tasks"], json.loads(out)["curves"]
    assert [task["gold"] for task in tasks] == ["coherence", "fluency"]
    assert tasks[0]["metrics"][0]["value"] == pytest.approx(-tasks[1]["metrics"][0]["value"])
    assert [(p["gold"], p["k"], p["mode"]) for p in points] == [
        (gold, k, mode) for gold in ("coherence", "fluency") for k in (1, 2) for mode in ("direct", "average")]
    code, out, _ = call(capsys, *argv)
    assert "seg:pearson coherence" in out and "seg:pearson fluency" in out
    assert out.count("by paragraph length, wmt22.small de-en, gold ") == 2


def test_paragraphs_of_every_gold(aspects: str, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    code, out, _ = call(capsys, "meta", "paragraphs", aspects, "--k", "2", "--gold", "coherence", "fluency", "--out",
                        str(tmp_path / "p"))
    assert code == 0 and out.count("k\tparagraphs") == 2
    for name in ("coherence", "fluency"):
        assert f"{name} ratings of" in out
        assert (tmp_path / "p" / name / "wmt22.small.k2" / "human-scores" / f"de-en.{name}.seg.score").is_file()
    code, _, _ = call(capsys, "meta", "paragraphs", aspects, "--k", "2", "--gold", "fluency", "--joiner", "none", "-o",
                      str(tmp_path / "q"))
    first = (tmp_path / "q" / "wmt22.small.k2" / "references" / "de-en.refA.txt").read_text().splitlines()[0]
    assert code == 0 and first == "".join(evalset_folder.REF[:2])


@pytest.mark.data
def test_paragraphs_of_the_raw_table(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = data / "evalsets" / "wmt21.tedtalks"
    code, out, _ = call(capsys, "meta", "paragraphs", str(folder), "-l", "zh-en", "--k", "3,10", "--mqm-tsv",
                       str(folder / "human-scores" / "raw" / "mqm_ted_zhen.tsv"))
    assert code == 0
    assert [line.split("\t")[:2] for line in out.splitlines()[3:]] == [["3", "2499"], ["10", "590"]]

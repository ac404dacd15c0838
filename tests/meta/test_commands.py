"""`wholetext meta agreement` and `wholetext meta paragraphs` as a user runs them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.in_process import call
from tests.meta import evalset_folder

Capture = pytest.CaptureFixture[str]


def test_table_of_all_levels(folder: Path, capsys: Capture, tmp_path: Path) -> None:
    levels = ("--level", "sys", "--level", "doc", "--level", "seg")
    code, out, _ = call(capsys, "meta", folder, "-l", "de-en", "-m", "chrf", "--stored", *levels, "--draws", "50",
                        "--interval", "documents", "--between", "--k", "1..2", "--out", tmp_path / "out")
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
    (["--k", "2"], "computed here"), (["--tasks", "wmt19"], "no task list"), (["--gold", "esa"], "no human scores"),
    (["--level", "word"], "no level 'word'"), (["-m", "chrf", "--k", "9"], "no paragraph of 9 segments")])
def test_errors_are_messages(folder: Path, capsys: Capture, argv: list[str], text: str) -> None:
    code, _, err = call(capsys, "meta", folder, "--draws", "0", *argv)
    assert code == 2 and err.startswith("error: ") and text in err and "Traceback" not in err


def test_every_gold_is_used(folder: Path, capsys: Capture, tmp_path: Path) -> None:
    """Human scores of two aspects, of which the second is the first turned round."""
    gold = {system: row for system, row in evalset_folder.gold().items() if system != "refB"}
    for name, sign in (("coherence", 1), ("fluency", -1)):
        rows = {system: [None if value is None else 50 + sign * value for value in row] for system, row in gold.items()}
        (folder / "human-scores" / f"de-en.{name}.seg.score").write_text(evalset_folder.score_lines(rows))
    golds = ("--gold", "coherence", "--gold", "fluency")
    _, out, _ = call(capsys, "meta", folder, "-m", "chrf", *golds, "--task", "seg:pearson", "--k", "1,2", "--draws", 0)
    assert "seg:pearson coherence" in out and "seg:pearson fluency" in out
    assert out.count("by paragraph length, wmt22.small de-en, gold ") == 2
    code, out, _ = call(capsys, "meta", "paragraphs", folder, "--k", "2", *golds, "--out", tmp_path / "p")
    assert code == 0 and out.count("k\tparagraphs") == 2
    for name in ("coherence", "fluency"):
        made = tmp_path / "p" / name / "wmt22.small.k2"
        assert f"{name} ratings of" in out and (made / "human-scores" / f"de-en.{name}.seg.score").is_file()
    assert "4 × 3" in call(capsys, "meta", made, "-m", "chrf", "--level", "seg", "--draws", "10")[1]

"""`wholetext meta` and `wholetext paragraphs` as a user runs them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.in_process import call
from tests.meta import evalset_folder


@pytest.fixture
def folder(tmp_path: Path) -> str:
    return str(evalset_folder.make(tmp_path))


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


@pytest.mark.data
def test_paragraphs_of_the_raw_table(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = data / "evalsets" / "wmt21.tedtalks"
    code, out, _ = call(capsys, "paragraphs", str(folder), "-l", "zh-en", "--k", "3,10", "--mqm-tsv",
                       str(folder / "human-scores" / "raw" / "mqm_ted_zhen.tsv"))
    assert code == 0
    assert [line.split("\t")[:2] for line in out.splitlines()[2:]] == [["3", "2499"], ["10", "590"]]

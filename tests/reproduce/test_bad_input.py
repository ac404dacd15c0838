"""Wrong folders, files and names at the command line: what, where, next, and exit code 2."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.in_process import call


@pytest.fixture
def wrong(tmp_path: Path) -> Path:
    """Write folders that have the right names and the wrong contents."""
    for folder in ("evalsets/wmt21.tedtalks", "evalsets/wmt21.news.mqm", "summarization", "BWB/test/Book1",
                   "empty/BWB/x"):  # fmt: skip
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "BWB" / "test" / "Book1" / "1.chs_re.txt").write_text("x\n")
    (tmp_path / "summarization" / "summeval.summaries.jsonl").write_text('{"id": 1}\n')
    return tmp_path


@pytest.mark.parametrize(("words", "what", "where", "next_step"), [
    ("reproduce V table1 --data {}", "this is not an EvalSet folder", "wmt21.tedtalks", "should have some of sources"),
    ("reproduce D table1 --data {}", "there is no text here", "summeval.summaries.jsonl", "a file of rated summaries"),
    ("reproduce B table2 --data {}", "a chapter has no reference", "1.ref_re.txt", "test/BookN"),
    ("reproduce B table2 --data {}/empty", "there are no chapters of BWB here", "empty/BWB", "test/BookN"),
    ("reproduce X table1", "there is no paper 'X'", "", "choose one of V, S, D, P, B"),
    ("reproduce V tabel1", "there is no entry 'tabel1'", "", "did you mean table1"),
    ("annotate read {}", "there are no chapters of BWB here", "", "test/BookN"),
    ("meta {}/nowhere -m chrf", "there is no such folder", "nowhere", "check the path"),
    ("meta {}/summarization/summeval.summaries.jsonl -m chrf", "there is no text here", "summeval", "rated summaries"),
])
def test_answers(words: str, what: str, where: str, next_step: str, wrong: Path,
                 capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = call(capsys, *words.format(wrong).split())
    said = " ".join(err.split())
    assert code == 2 and what in said and where in said and next_step in said

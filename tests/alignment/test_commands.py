"""`wholetext align`: outputs lined up, written as JSONL, and scored."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.in_process import call
from wholetext.io import read

CORPUS = {
    "doc": "d",
    "src": ["Er kam um 7.", "Sie ging nach Berlin."],
    "refs": {"A": ["He came at 7.", "She went to Berlin."]},
    "outputs": {"joined": ["He came at 7. She went to Berlin."], "short": ["He came at 7."]},
}


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    (tmp_path / "corpus.jsonl").write_text(json.dumps(CORPUS))
    return tmp_path / "corpus.jsonl"


def test_lined_up_and_scored(corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "aligned.jsonl"
    code, _, err = call(capsys, "score", corpus, "-l", "de-en", "-m", "chrf")
    assert code == 2 and "score --align" in err
    code, table, _ = call(capsys, "align", corpus, "-l", "de-en", "--out", out)
    assert code == 0 and "joined" in table and "omitted" in table
    loaded = read(out)
    assert loaded.outputs[0].docs["d"] == ("He came at 7.", "She went to Berlin.")
    assert loaded.outputs[1].docs["d"] == ("He came at 7.", "")
    assert call(capsys, "score", out, "-m", "chrf", "-f", "json")[0] == 0
    code, text, _ = call(capsys, "align", corpus, "--out", out, "--overwrite", "--align-to", "source", "-f", "json")
    printed = json.loads(text)
    assert code == 0
    assert [row["system"] for row in printed["systems"]] == ["joined", "short"]
    assert printed["systems"][1]["1–0"] == 1 and 0.5 < printed["systems"][1]["omitted"] < 0.8


def test_a_file_is_replaced_only_on_request_and_an_input_never(
    corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    thesis, before = tmp_path / "thesis.tex", corpus.read_text("utf-8")
    thesis.write_text("my thesis")
    for out, extra in ((thesis, []), (corpus, []), (corpus, ["--overwrite"])):
        assert "choose another --out" in call(capsys, "align", corpus, "-l", "de-en", "-o", out, *extra)[2]
    assert thesis.read_text("utf-8") == "my thesis" and corpus.read_text("utf-8") == before
    assert call(capsys, "align", corpus, "-l", "de-en", "-o", thesis, "--overwrite")[0] == 0
    assert '"corpus"' in thesis.read_text("utf-8")


def test_scoring_in_one_step(corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first = ["score", str(corpus), "-l", "de-en", "-m", "sentence:rouge", "-f", "json", "--signatures"]
    code, text, _ = call(capsys, *first, "--align", "--nulls", "worst")
    assert code == 0
    assert "to=A,split=rules,similarity=" in text and "nulls=worst omitted=1 added=0" in text
    assert "1 segment left out, 0 sentences added: each scores the metric's worst and stays in the mean" in text
    code, out, _ = call(capsys, *first, "--align-to", "source", "--nulls", "drop")
    assert code == 0 and "to=source,split=rules" in out
    code, _, err = call(capsys, *first, "--nulls", "drop")
    assert code == 2 and "add --align" in err


def test_what_was_found_is_kept_and_may_be_treated_otherwise(
    corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "aligned.jsonl"
    options = ("--nulls", "worst", "--similarity", "words")
    code, _, err = call(capsys, "align", corpus, "-l", "de-en", "--out", out, *options)
    assert code == 0 and "aligned by shared words and length (as requested)" in err
    assert read(out).outputs[1].nulls["d"].omitted == (1,)
    for extra, how in (([], "nulls=worst"), (["--nulls", "drop"], "nulls=drop")):
        code, text, _ = call(capsys, "score", out, "-m", "chrf", "-f", "json", *extra)
        assert code == 0 and how in text

"""`wholetext align`: outputs lined up, written as JSONL, and scored."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from wholetext.cli.main import main
from wholetext.io import read

CORPUS = {
    "doc": "d",
    "src": ["Er kam um 7.", "Sie ging nach Berlin."],
    "refs": {"A": ["He came at 7.", "She went to Berlin."]},
    "outputs": {"joined": ["He came at 7. She went to Berlin."], "short": ["He came at 7."]},
}


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    path = tmp_path / "corpus.jsonl"
    path.write_text(json.dumps(CORPUS))
    return path


def run(*words: str) -> int:
    try:
        main(list(words))
    except SystemExit as end:
        return int(end.code or 0)
    return 0


def test_lined_up_and_scored(corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "aligned.jsonl"
    assert run("score", str(corpus), "-l", "de-en", "-m", "chrf") == 2
    assert "score --align" in capsys.readouterr().err
    assert run("align", str(corpus), "-l", "de-en", "--out", str(out)) == 0
    table = capsys.readouterr().out
    assert "joined" in table and "omitted" in table
    loaded = read(out)
    assert loaded.outputs[0].docs["d"] == ("He came at 7.", "She went to Berlin.")
    assert loaded.outputs[1].docs["d"] == ("He came at 7.", "")
    assert run("score", str(out), "-m", "chrf", "-f", "json") == 0
    assert run("align", str(corpus), "--out", str(out), "--overwrite", "--align-to", "source", "-f", "json") == 0
    printed = json.loads(capsys.readouterr().out.split("\n{", 1)[-1].join(["{", ""]))
    assert [row["system"] for row in printed["systems"]] == ["joined", "short"]
    assert printed["systems"][1]["1–0"] == 1 and 0.5 < printed["systems"][1]["omitted"] < 0.8


def test_a_file_is_replaced_only_on_request_and_an_input_never(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    corpus, thesis = tmp_path / "corpus.jsonl", tmp_path / "thesis.tex"
    corpus.write_text('{"doc": "d", "src": ["Ein Satz.", "Noch einer."], "outputs": {"s": ["A sentence. Another."]}}\n')
    before = corpus.read_text("utf-8")
    thesis.write_text("my thesis")
    for out, extra in ((thesis, []), (corpus, []), (corpus, ["--overwrite"])):
        with pytest.raises(SystemExit):
            main(["align", str(corpus), "-l", "de-en", "-o", str(out), *extra])
        assert "choose another --out" in capsys.readouterr().err
    assert thesis.read_text("utf-8") == "my thesis" and corpus.read_text("utf-8") == before
    with pytest.raises(SystemExit) as done:
        main(["align", str(corpus), "-l", "de-en", "-o", str(thesis), "--overwrite"])
    assert not done.value.code and '"corpus"' in thesis.read_text("utf-8")


def test_scoring_in_one_step(corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first = ["score", str(corpus), "-l", "de-en", "-m", "sentence:rouge", "-f", "json", "--signatures"]
    assert run(*first, "--align", "--nulls", "worst") == 0
    worst = json.loads(capsys.readouterr().out)
    text = json.dumps(worst, ensure_ascii=False)
    assert "to=A,split=rules,similarity=" in text and "nulls=worst omitted=1 added=0" in text
    assert "1 segment left out, 0 sentences added: each scores the metric's worst and stays in the mean" in text
    assert run(*first, "--align-to", "source", "--nulls", "drop") == 0
    assert "to=source,split=rules" in capsys.readouterr().out
    assert run(*first, "--nulls", "drop") == 2
    assert "add --align" in capsys.readouterr().err


def test_what_was_found_is_kept_and_may_be_treated_otherwise(
    corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "aligned.jsonl"
    assert run("align", str(corpus), "-l", "de-en", "--out", str(out), "--nulls", "worst", "--similarity", "words") == 0
    assert "aligned by shared words and length (as requested)" in capsys.readouterr().err
    assert read(out).outputs[1].nulls["d"].omitted == (1,)
    for extra, how in (([], "nulls=worst"), (["--nulls", "drop"], "nulls=drop")):
        assert run("score", str(out), "-m", "chrf", "-f", "json", *extra) == 0
        assert how in capsys.readouterr().out

"""Names and texts with escape sequences, line breaks and direction marks: shown, never sent to the terminal."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from wholetext.cli.main import main
from wholetext.cli.terminal import console, printable, tsv_row

EVIL = "\x1b[2J\x9b31m\u202eevil\r\x07\nforged\t1"
RAW = ("\x1b", "\x9b", "\u202e", "\r", "\x07", "\u2066")


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """Two documents and two systems, one of a name that no terminal should see."""
    docs = [{"doc": f"d{i}{EVIL}", "src": ["Ein Satz."], "refs": {f"r{EVIL}": [f"One sentence {i}."]},
             "outputs": {EVIL: [f"A sentence {i} {EVIL}."], "=cmd|'/c calc'!A0": [f"One sentence {i}."]}}
            for i in range(2)]
    path = tmp_path / "corpus.jsonl"
    path.write_text("".join(json.dumps(doc) + "\n" for doc in docs))
    return path


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[str, str]:
    with pytest.raises(SystemExit) as left:
        main([*words])
    said = capsys.readouterr()
    assert left.value.code in (0, 2, None), said.err
    for sign in RAW:
        assert sign not in said.out and sign not in said.err, (words, sign)
    return said.out, said.err


def test_printable() -> None:
    assert printable("plain ±猫 \u200f") == "plain ±猫 \u200f"
    assert printable("\x1b[1m\n\u202e\x9b\x7f") == "\\x1b[1m\\n\\u202e\\u009b\\u007f"
    assert printable("a\nb\tc", keep="\n") == "a\nb\\tc"
    assert json.loads(printable(json.dumps(["\x1b\x9b\u202e\u2028"], ensure_ascii=False))) == ["\x1b\x9b\u202e\u2028"]


def test_rows_of_a_table() -> None:
    assert tsv_row(["=1+1", "+x", "@y", "-z", "-1.5", "+2", "-", "a\nb", 3.0]) == (
        "'=1+1\t'+x\t'@y\t'-z\t-1.5\t+2\t-\ta\\nb\t3.0")


def test_a_console_keeps_its_own_colours() -> None:
    from rich.text import Text

    out = io.StringIO()
    console(file=out, force_terminal=True, color_system="standard").print(Text("\x1b[2Jname", style="bold"))
    assert "\x1b[1m\\x1b[2Jname\x1b[0m" in out.getvalue()


@pytest.mark.parametrize("format", ["table", "tsv", "latex", "json"])
def test_score_and_compare(corpus: Path, format: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, _ = run(capsys, "score", str(corpus), "-l", "de-en", "-m", "chrf", "--draws", "20", "-f", format, "--out",
                 str(tmp_path / "run"), "--no-cache")
    again, _ = run(capsys, "compare", str(tmp_path / "run"), "-f", format)
    for text in (out, again):
        if format == "json":
            assert EVIL in {one["system"] for one in json.loads(text)["metrics"][0]["systems"]}
        elif format == "tsv":
            rows = [line.split("\t") for line in text.splitlines()]
            assert {len(row) for row in rows} == {len(rows[0])} and len(rows) == 3
            assert {row[1] for row in rows[1:]} == {printable(EVIL), "'=cmd|'/c calc'!A0"}
        else:
            assert "evil" in text and "\nforged" not in text


@pytest.mark.parametrize("words", [
    ["plan", "CORPUS", "-m", "whole:chrf", "--show", "2"], ["align", "CORPUS", "--out", "OUT"],
    ["features", "CORPUS", "-l", "de-en", "-m", "rc(tagger=plain)"],
    ["features", "CORPUS", "-l", "de-en", "-m", "rc(tagger=plain)", "-f", "tsv"],
    ["sweep", "CORPUS", "-m", "slide:chrf", "--size", "1,2", "--draws", "20"],
    ["sweep", "CORPUS", "-m", "slide:chrf", "--size", "1,2", "--draws", "20", "-f", "tsv"],
    ["score", "CORPUS", "-m", "chrf\x1b[2J"], ["score", "no\x1b[2J\u202efile.txt", "-m", "chrf"],
    ["show", "ch\x1b[2Jrf"], ["models", "show", "no\x1b[2Jmodel"],
    pytest.param(["explain", "CORPUS", "-l", "de-en", "--system", EVIL], marks=pytest.mark.slow),
    ["score", "-t", "CORPUS", f"{EVIL}=CORPUS", "-m", "chrf"], ["report", "no\x1b[2Jrun"], ["\x1b[2Jverb"],
])
def test_every_verb(words: list[str], corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    places = {"CORPUS": str(corpus), "OUT": str(tmp_path / "aligned.jsonl")}
    out, err = run(capsys, *(word.replace("CORPUS", places["CORPUS"]).replace("OUT", places["OUT"]) for word in words))
    assert out or err
    assert not any(line.startswith("forged") for line in (out + err).splitlines())

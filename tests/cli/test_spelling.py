"""Command lines as users of sacrebleu and COMET type them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.in_process import call
from wholetext.cli.spelling import OTHERS, split_metrics, spread, with_model
from wholetext.errors import InputError, SpecError


@pytest.fixture
def texts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, last in (("ref", "this is number four"), ("a", "this is number four"), ("b", "this is number five")):
        (tmp_path / f"{name}.txt").write_text(f"there were one or two\n{last}\n", "utf-8")
    return tmp_path


def test_several_metrics_follow_one_option() -> None:
    assert spread(["score", "-m", "chrf", "bleu", "-t", "a", "b"]) == ["score", "-m", "chrf", "-m", "bleu", "-t", "a",
                                                                       "-t", "b"]
    with pytest.raises(InputError, match="-m is given without a metric"):
        spread(["score", "-m", "-q"])


@pytest.mark.parametrize("word", ["corpus.jsonl", "missing.tsv", "../x", "here"])
def test_a_file_after_a_metric_is_the_input(word: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "here").mkdir()
    (tmp_path / "bleu").mkdir()
    assert spread(["score", "-m", "chrf", "bleu", word]) == ["score", "-m", "chrf", "-m", "bleu", word]


@pytest.mark.parametrize("word", ["belu", "whole:chrf(char_order=4)", "comet@a/b", "slide(size=6,step=6):comet@x/y.z"])
def test_what_looks_like_a_metric_is_one(word: str) -> None:
    assert spread(["score", "-m", "chrf", word]) == ["score", "-m", "chrf", "-m", word]


def test_a_test_set_of_sacrebleu_is_no_output(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=r"wmt21 is a test set.*\n.*--test-set wmt21"):
        spread(["score", "-t", "wmt21", "-l", "de-en"])
    (tmp_path / "wmt21").touch()
    assert spread(["score", "-t", "wmt21"]) == ["score", "-t", "wmt21"]


def test_verbs_with_one_metric_take_one() -> None:
    assert spread(["explain", "-m", "blonde", "run"]) == ["explain", "-m", "blonde", "run"]


@pytest.mark.parametrize(("typed", "metrics"), [
    ("chrf,bleu", ["chrf", "bleu"]), ("chrf, bleu", ["chrf", "bleu"]),
    ("slide(size=6,step=6):chrf,bleu", ["slide(size=6,step=6):chrf", "bleu"]),
    ('blonde(weights="a=1,b=2",table=en),ter', ['blonde(weights="a=1,b=2",table=en)', "ter"]),
    ("bleu(tokenize=13a", ["bleu(tokenize=13a"]),
])
def test_commas_part_metrics_but_not_their_arguments(typed: str, metrics: list[str]) -> None:
    assert split_metrics([typed]) == metrics


def test_commas_of_a_folder_stay(tmp_path: Path) -> None:
    (tmp_path / "a,b").mkdir()
    assert split_metrics([f"comet@{tmp_path}/a,b"]) == [f"comet@{tmp_path}/a,b"]
    assert split_metrics(None) is None


@pytest.mark.parametrize("typed", ["chrf,", ",chrf", "chrf,,bleu"])
def test_a_missing_metric_is_an_error(typed: str) -> None:
    with pytest.raises(SpecError, match="a metric is missing beside a comma"):
        split_metrics([typed])


def test_comets_model_is_that_of_metrics_which_name_none() -> None:
    assert with_model(None, "a/b") == ["comet@a/b"]
    assert with_model(["chrf", "bertscore", "comet@x/y"], "a/b") == ["chrf", "bertscore@a/b", "comet@x/y"]
    with pytest.raises(SpecError, match="none of chrf, comet@x/y takes a model"):
        with_model(["chrf", "comet@x/y"], "a/b")


def test_every_way_to_name_metrics_gives_the_same(texts: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = ("-t", "a.txt", "b.txt", "-r", "ref.txt", "-f", "tsv", "-q")
    ways = [("-m", "chrf", "bleu"), ("-m", "chrf,bleu"), ("-m", "chrf", "-m", "bleu"), ("--metrics=chrf,bleu",)]
    found = [call(capsys, "score", *way, *files) for way in ways]
    assert all(one[:2] == found[0][:2] for one in found) and "bleu\tb" in found[0][1]


def test_scores_only_with_decimals_as_sacrebleu_prints_them(texts: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = ("-t", "b.txt", "a.txt", "-r", "ref.txt", "-m", "chrf", "bleu")
    code, out, err = call(capsys, "score", *files, "-b", "-w", "1")
    lines = [line.split("\t") for line in out.splitlines()]
    assert code == 0 and lines[1] == ["100.0", "100.0"] and len(lines[0]) == 2  # in the order given: b, then a
    assert "next:" not in err and "warning:" in err  # nothing is silent
    assert "±" in (table := call(capsys, "score", *files, "-w", "4")[1]) and "100.0000 ±" in table
    assert json.loads(call(capsys, "score", *files, "-w", "4", "--json")[1])["metrics"][0]["decimals"] == 4


def test_comets_options_are_understood(texts: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A model that is not there is asked for, after the options have been read."""
    code, _, err = call(capsys, "score", "-s", "ref.txt", "-t", "a.txt", "-r", "ref.txt", "--batch_size", "8",
                        "--gpus", "0", "--model", "./missing model")
    assert code == 2 and "no such model folder" in err


def test_comets_batch_size_is_a_number_of_tokens() -> None:
    from wholetext.cli.options import Execution

    assert Execution(batch_size=16).options().batch_tokens == Execution().options().batch_tokens
    assert Execution(batch_size=4).options().batch_tokens == 256
    assert Execution(gpus=0).options().device == "cpu"  # as comet-score --gpus 0


@pytest.mark.parametrize(("words", "answer"), [
    (["-i", "a.txt"], "-t FILE"), (["-m", "bleu", "-tok", "zh"], "bleu(tokenize=zh)"), (["--only_system"], "-b"),
    (["--paired-bs"], "--test bootstrap"), (["--to_json", "x"], "-f json"), (["--seed_everything", "1"], "--seed")])
def test_options_of_other_tools_are_answered_with_ours(
    words: list[str], answer: str, texts: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, _, err = call(capsys, "score", "-t", "a.txt", "-r", "ref.txt", *words)
    assert code == 2 and f"{next(word for word in words if word in OTHERS)} is an option of another tool" in err
    assert answer in err


def test_options_of_other_tools_are_none_of_ours(capsys: pytest.CaptureFixture[str]) -> None:
    words = {word.rstrip(",") for word in call(capsys, "score", "--help")[1].split()}
    assert "--batch_size" in words and not words & {*OTHERS}


def test_options_that_take_files_take_several() -> None:
    spelled = spread(["score", "-t", "a", "b", "-m", "x", "-r", "c"])
    assert spelled == ["score", "-t", "a", "-t", "b", "-m", "x", "-r", "c"]
    assert spread(["score", "-t", "-", "-q"]) == ["score", "-t", "-", "-q"]

"""What commands print beside the numbers: notes of readers, spellings of options, files, pictures of studies."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from tests.in_process import Capture, call
from wholetext.cli.studies import finish


@pytest.mark.parametrize("words", [
    "score -m chrf -t a.txt b.txt -r ref.txt", "score --plan -m chrf -t a.txt -r ref.txt",
    "score -m chrf --sweep window=2 -t a.txt -r ref.txt",
    "explain -m blonde(tagger=plain) -t a.txt -r ref.txt -l de-en",
    "list", "models list", "cache info",
])  # fmt: skip
def test_json_has_two_spellings_and_the_cache_changes_nothing(words: str, texts: Path, capsys: Capture) -> None:
    call(capsys, *words.split(), "--json")  # fills the cache, whose counts are printed
    first, second = (call(capsys, *words.split(), *more) for more in (["--json"], ["-f", "json"]))
    assert first[0] == 0 and json.loads(first[1]) == json.loads(second[1])
    if words.startswith("score -m chrf -t"):
        uncached = call(capsys, *words.split(), "--json", "--no-cache")[1]
        assert json.loads(uncached)["metrics"] == json.loads(first[1])["metrics"]


def test_every_way_to_name_metrics_gives_the_same(texts: Path, capsys: Capture) -> None:
    files = ("-t", "a.txt", "b.txt", "-r", "ref.txt", "-f", "tsv", "-q")
    ways = [("-m", "chrf", "bleu"), ("-m", "chrf,bleu"), ("-m", "chrf", "-m", "bleu"), ("--metrics=chrf,bleu",)]
    answers = [call(capsys, "score", *way, *files)[:2] for way in ways]
    assert answers == answers[:1] * 4 and "bleu\tb" in answers[0][1]


def test_what_a_reader_noticed_is_printed_also_with_an_error(texts: Path, capsys: Capture) -> None:
    (texts / "c.jsonl").write_text('{"doc": "d", "refs": {"A": ["one"]}, "hyps": {"s": ["one"]}}\n')
    code, _, err = call(capsys, "score", "c.jsonl", "-m", "chrf")
    assert code == 2 and "hyps" in err and "no output to score" in err
    code, _, err = call(capsys, "score", "--plan", "-t", "a.txt", "-r", "ref.txt", "-m", "chrf")
    assert code == 0 and "taken as one document" in err


def test_scores_by_domain_without_domains_are_explained(texts: Path, capsys: Capture) -> None:
    _, out, _ = call(capsys, "score", "-t", "a.txt", "-r", "ref.txt", "-m", "chrf", "--by-domain")
    assert "no document has a domain" in out and "By domain" not in out


def test_a_metric_that_needs_a_reference_says_how_to_give_one(texts: Path, capsys: Capture) -> None:
    code, _, err = call(capsys, "score", "-s", "ref.txt", "-t", "a.txt", "-m", "bleu")
    assert code == 2 and "bleu needs a reference" in err and "-r" in err


def test_a_file_name_that_is_not_utf8_still_names_a_system(texts: Path, capsys: Capture) -> None:
    path = os.fsdecode(os.fsencode(texts) + b"/sy\xff.txt")
    try:
        Path(path).write_text("there were one or two\nthis is number four\n")
    except OSError:
        pytest.skip("this file system takes no such name")
    code, out, err = call(capsys, "score", "-t", path, "-r", "ref.txt", "-m", "chrf", "--out", "run")
    assert code == 0 and "sy\ufffd" in out, err


# ---------------------------------------------------------------- the end of studies


SWEEP = {
    "metric": "chrf", "corpus": "c", "langs": ["de", "en"], "systems": ["s"], "axes": ["size", "step"],
    "higher_is_better": True,
    "cells": [{"size": 1, "step": 1, "scores": {"s": 3.0}}, {"size": 2, "step": 1, "scores": {"s": 4.0}}],
}


@pytest.fixture
def study(tmp_path: Path) -> Path:
    (tmp_path / "grid.json").write_text(json.dumps(SWEEP), "utf-8")
    return tmp_path


def test_the_picture_is_drawn_and_named(study: Path, capsys: Capture) -> None:
    pytest.importorskip("altair")
    finish(study, "grid.json")
    out = capsys.readouterr().out
    assert f"picture: {study / 'grid.svg'}" in out and f"wholetext report {study}" in out
    picture = (study / "grid.svg").read_text("utf-8")
    assert picture.startswith("<svg") and "chrf by window and stride" in picture
    finish(study, "grid.json", "json")  # again, over its own file, and silent beside JSON
    assert capsys.readouterr().out == ""


def test_a_picture_of_somebody_else_is_not_replaced(study: Path) -> None:
    pytest.importorskip("altair")
    (study / "grid.svg").write_text("mine", "utf-8")
    with pytest.raises(Exception, match="did not write it"):
        finish(study, "grid.json")
    assert (study / "grid.svg").read_text("utf-8") == "mine"


def test_without_altair_the_terminal_says_so(study: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "wholetext.reporting.figures", raising=False)
    monkeypatch.setitem(sys.modules, "altair", None)
    finish(study, "grid.json")
    assert "no picture: it needs the extra `report`" in capsys.readouterr().out
    assert not (study / "grid.svg").exists()


def test_without_a_folder_the_next_step_is_named(capsys: Capture) -> None:
    finish(None, "meta.json")
    assert "--out FOLDER for a picture" in capsys.readouterr().out

"""What commands print beside the numbers: notes of readers, other spellings of options, names of files."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.in_process import Capture, call


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

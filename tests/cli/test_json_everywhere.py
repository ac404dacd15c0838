"""Every verb that prints takes ``-f json`` and ``--json``, and both print the same."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from wholetext.cli.main import main

TEXTS = {"src": "Er kam .\nEs ging .\n", "ref": "He came .\nIt went .\n", "sys": "He came .\nIt ran .\n"}


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    folder = tmp_path_factory.mktemp("json")
    for name, text in TEXTS.items():
        (folder / f"{name}.txt").write_text(text, "utf-8")
    return ["-s", str(folder / "src.txt"), "-t", str(folder / "sys.txt"), "-r", str(folder / "ref.txt"), "-l", "de-en"]


def printed(capsys: pytest.CaptureFixture[str], argv: list[str]) -> str:
    try:
        main(argv)
    except SystemExit as done:
        assert not done.code, capsys.readouterr().err
    return capsys.readouterr().out


@pytest.mark.parametrize(
    "verb",
    ["score -m chrf", "plan -m chrf", "sweep -m chrf --window 2", "align --all", "explain -m blonde(tagger=plain)"],
)
def test_verbs_that_read_texts(
    verb: str, files: list[str], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    out = ["--out", str(tmp_path / "out.jsonl"), "--overwrite"] if verb.startswith("align") else []
    argv = [*verb.split(), *files, *out]
    printed(capsys, [*argv, "--json"])  # once for the counts of the cache, which tell fresh rows from kept ones
    found = [json.loads(printed(capsys, [*argv, *more])) for more in (["--json"], ["-f", "json"])]
    assert found[0] == found[1]


@pytest.mark.parametrize("verb", ["list", "models list", "models show minilm", "cache info"])
def test_verbs_that_list(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    printed(capsys, verb.split())  # an empty cache grows when it is first looked at
    found = [json.loads(printed(capsys, [*verb.split(), *more])) for more in (["--json"], ["-f", "json"])]
    assert found[0] == found[1]


def test_compare(files: list[str], capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    second = ["-t", f"b={files[5]}"]
    printed(capsys, ["score", "-m", "chrf", *files, *second, "--out", str(tmp_path / "run")])
    argv = ["compare", str(tmp_path / "run"), "--draws", "10"]
    assert json.loads(printed(capsys, [*argv, "--json"])) == json.loads(printed(capsys, [*argv, "-f", "json"]))


def test_spans(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    for name, end in (("gold", 2), ("a", 3)):
        line = {"system": "A", "doc": "d", "segment": 0, "spans": [{"start": 0, "end": end, "severity": "minor"}]}
        (tmp_path / f"{name}.jsonl").write_text(json.dumps(line), "utf-8")
    argv = ["spans", str(tmp_path / "gold.jsonl"), f"me={tmp_path / 'a.jsonl'}", "--draws", "10"]
    found = [json.loads(printed(capsys, [*argv, *more])) for more in (["--json"], ["-f", "json"])]
    assert found[0] == found[1] and found[0]["measures"][0]["metrics"][0]["value"] == pytest.approx(0.8)
    assert "me" in printed(capsys, argv) and "0.800" in printed(capsys, argv)
    assert printed(capsys, [*argv, "-f", "tsv"]).startswith("measure\tmetric\tvalue\t")

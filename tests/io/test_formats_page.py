"""docs/formats.md: every example file in it is read as the page says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from wholetext.io import LineFiles, Loaded, read
from wholetext.io.formats import BUILTIN

PAGE = Path(__file__).resolve().parents[2] / "docs" / "formats.md"


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("page")
    text = PAGE.read_text(encoding="utf-8")
    for name, body in re.findall(r"^```\w+ (\w+\.\w+)\n(.*?)^```$", text, flags=re.M | re.S):
        (folder / name).write_text(body, encoding="utf-8")
    rows = re.findall(r"^\| `([^`]*)` \| `([^`]*)` \| `([^`]*)` \|$", text, flags=re.M)
    for name, column in zip(("src.txt", "sysA.txt", "ids.txt"), zip(*rows)):
        (folder / name).write_text("".join(cell + "\n" for cell in column), encoding="utf-8")
    return folder


def shape(loaded: Loaded) -> tuple[dict[str, int], list[str]]:
    return {doc.id: len(doc) for doc in loaded.corpus.docs}, [output.system for output in loaded.outputs]


def test_every_example(files: Path) -> None:
    assert shape(read(files / "corpus.tsv")) == ({"news.1": 1, "talk.7": 1}, ["sysA", "sysB"])
    corpus = read(files / "corpus.jsonl")
    assert shape(corpus) == ({"news.1": 2, "talk.7": 1}, ["sysA"])
    assert corpus.corpus.id == "demo" and corpus.corpus.langs == ("de", "en")
    assert corpus.outputs[0].docs["news.1"] == ("He came late.", "She was there.")
    assert shape(read(files / "segments.jsonl")) == ({"news.1": 2, "talk.7": 1}, ["sysA", "sysB"])
    wmt = read([files / "wmt25.jsonl", files / "sysA.jsonl"], langs="en-de")
    assert shape(wmt) == ({"en-de_#_news_#_1": 2}, ["sysA"]) and wmt.corpus.langs == ("en", "de_DE")
    assert shape(read(files / "newstest.xml")) == ({"news.1": 1}, ["sysA"])
    lines = read(LineFiles(src=files / "src.txt", hyps=[files / "sysA.txt"], docs=files / "ids.txt"))
    assert shape(lines) == ({"news.1": 2, "talk.7": 1}, ["sysA"])


def test_every_format_has_its_row(files: Path) -> None:
    assert set(re.findall(r"^\| \[(\w+)\]", PAGE.read_text(encoding="utf-8"), flags=re.M)) == set(BUILTIN)

"""The list of formats: one module each, with examples in docs/formats.md; other packages add theirs by entry point."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from wholetext.errors import InputError, PluginError
from wholetext.io import LineFiles, Loaded, formats, read
from wholetext.io.formats import BUILTIN

PAGE = Path(__file__).resolve().parents[2] / "docs" / "formats.md"
MODULE = '''
from wholetext.io.assembly import assemble
from wholetext.types import Corpus, Document, Output

interface = 3

def recognise(file):
    return file.head().startswith("%arrows")

def read(file, langs=None):
    rows = [line.split(" -> ") for line in list(file.lines())[1:]]
    corpus = Corpus("arrows", langs or ("", ""), (Document("d", [src for src, _ in rows]),))
    return assemble(corpus, [Output("s", {"d": [hyp for _, hyp in rows]})], (), file.name)
'''


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], Path]]:
    """A function that installs a package with a format ``arrows`` and gives the folder it is in."""
    folder = tmp_path / "site"
    info = folder / "far_away-2.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: far-away\nVersion: 2.0\n")
    (info / "entry_points.txt").write_text("[wholetext.formats]\narrows = far_away_arrows\n")

    def made(module: str) -> Path:
        (folder / "far_away_arrows.py").write_text(module)
        monkeypatch.syspath_prepend(str(folder))
        return folder

    yield made
    sys.modules.pop("far_away_arrows", None)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "corpus.dat"
    path.write_text("%arrows\neins -> one\nzwei -> two\n")
    return path


def test_a_format_of_another_package_is_recognised_forced_and_listed(
    install: Callable[[str], Path], file: Path
) -> None:
    with pytest.raises(InputError, match="plain lines"):
        read(file)
    install(MODULE)
    assert formats.names() == ["arrows", *BUILTIN]
    for loaded in (read(file), read(file, format="arrows")):
        assert loaded.corpus.docs[0].src == ("eins", "zwei") and loaded.outputs[0].docs["d"] == ("one", "two")
    (file.parent / "more.dat").write_text("%arrows\neins -> 1\nzwei -> 2\n")
    with pytest.raises(InputError, match="the system name 's' is used twice"):
        read([file, file.parent / "more.dat"])


@pytest.mark.parametrize(("change", "said"), [
    (("def recognise", "def recognize"), "'arrows' of far-away 2.0 failed: recognise raises AttributeError"),
    (("[1:]]", "[1:]][9]"), "'arrows' of far-away 2.0 failed: read raises IndexError"),
    (("return assemble", "return None and assemble"), "failed: read gives NoneType, not Loaded"),
    (('"%arrows"', "7"), "failed: recognise raises TypeError"),
    (("from wholetext.types", "from nowhere"), "of far-away 2.0 cannot be loaded"),
])  # fmt: skip
def test_a_broken_format_is_named_with_its_package(
    install: Callable[[str], Path], file: Path, change: tuple[str, str], said: str
) -> None:
    install(MODULE.replace(*change))
    with pytest.raises(PluginError, match=said):
        read(file)
    file.write_text('{"src": ["a"], "outputs": {"s": ["b"]}}')
    assert read(file, format="jsonl").outputs[0].system == "s"  # no plug-in is asked


# ---------------------------------------------------------------- docs/formats.md


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

"""The list of formats: each is one module; other packages add theirs by entry point, and their faults are named."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from wholetext.errors import InputError, PluginError
from wholetext.io import formats, read
from wholetext.io.formats import BUILTIN

ROOT = Path(__file__).resolve().parents[2]
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

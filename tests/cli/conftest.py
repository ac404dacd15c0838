"""Texts for the command line: two lines each, or the demo corpus as parallel files."""

from __future__ import annotations

from pathlib import Path

import pytest

from wholetext.demo import load


@pytest.fixture
def texts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A reference and two outputs in the current folder, of which ``a`` is the reference."""
    monkeypatch.chdir(tmp_path)
    for name, last in (
        ("ref", "this is number four"),
        ("a", "this is number four"),
        ("b", "this is number five"),
    ):
        (tmp_path / f"{name}.txt").write_text(f"there were one or two\n{last}\n", "utf-8")
    return tmp_path


@pytest.fixture(scope="session")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo corpus as parallel files of lines."""
    folder = tmp_path_factory.mktemp("lines")
    corpus, outputs = load("de-en")
    columns = {
        "docs": [doc.id for doc in corpus.docs for _ in range(len(doc))],
        "src": [segment for doc in corpus.docs for segment in doc.src or ()],
        "ref": [segment for doc in corpus.docs for segment in doc.refs["human"]],
        **{
            output.system: [text for doc in corpus.docs for text in output.docs[doc.id]]
            for output in outputs
        },
    }
    for name, lines in columns.items():
        (folder / f"{name}.txt").write_text("".join(f"{line}\n" for line in lines), "utf-8")
    return folder


def demo_files(folder: Path, *systems: str) -> list[str]:
    """Options of sources, outputs (of all systems unless some are named), references, ids and languages."""

    def path(name: str) -> str:
        return str(folder / f"{name}.txt")

    outputs = map(path, systems or ("coherent", "patchwork", "literal", "loopy"))
    return ["-s", path("src"), "-t", *outputs, "-r", path("ref"), "-d", path("docs"), "-l", "de-en"]

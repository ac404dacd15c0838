"""Test sets by name: a set of our own in sacrebleu's registry, fetched from a file:// address, and what goes wrong."""

from __future__ import annotations

import tarfile
from pathlib import Path

import pytest
from sacrebleu.dataset import DATASETS, WMTXMLDataset

from tests.io.test_wmt_xml import GOOD
from wholetext.errors import InputError
from wholetext.io import read


@pytest.fixture
def tiny(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A WMT XML test set called tiny, that sacrebleu must fetch and unpack."""
    text = GOOD.replace("&lt;two&gt;", "two").replace('<src lang="en">', '<src lang="uk">')
    for output in ('language="en"><p><seg id="1">1.</seg>', 'lang="en"><p><seg id="1"/>'):
        text = text.replace(f'<hyp system="T" {output}</p></hyp>', "")
    (tmp_path / "tiny.xml").write_text(text)
    with tarfile.open(tmp_path / "tiny.tgz", "w:gz") as tar:
        tar.add(tmp_path / "tiny.xml", "tiny.xml")
    dataset = WMTXMLDataset(
        "tiny", data=[(tmp_path / "tiny.tgz").as_uri()], langpairs={"uk-en": ["tiny.xml"]}, refs=["A"]
    )
    dataset._outdir, dataset._rawdir = str(tmp_path / "home"), str(tmp_path / "home/raw")
    monkeypatch.setitem(DATASETS, "tiny", dataset)
    return "sacrebleu:tiny"


def test_a_set_by_name_with_outputs(tiny: str, tmp_path: Path) -> None:
    output = tmp_path / "mine.txt"
    output.write_text("one\ntwo\nthree\n")
    loaded = read([tiny, output], langs="uk-en")
    assert loaded.corpus.id == "tiny" and loaded.corpus.references == ("refA",)
    assert [(doc.id, doc.src) for doc in loaded.corpus.docs] == [("one", ("Раз & два.", "Три.")), ("two", ("Ще.",))]
    assert loaded.outputs[0].system == "mine" and loaded.outputs[0].docs["two"] == ("three",)
    output.write_text("one\n")
    with pytest.raises(InputError, match="found 1 line, but the corpus has 3"):
        read([tiny, output], langs="uk-en")


def test_what_does_not_exist(tiny: str) -> None:
    with pytest.raises(InputError, match="no test set 'wmt2222'") as caught:
        read("sacrebleu:wmt2222", langs="en-de")
    assert "wmt22" in caught.value.next
    with pytest.raises(InputError, match=r"several language pairs here: .*en-de"):
        read("wmt22", format="sacrebleu")
    with pytest.raises(InputError, match="no language pair uk-fr"):
        read(tiny, langs="uk-fr")


@pytest.mark.parametrize(
    "fault", [OSError("Network is unreachable"), SystemExit(1), AssertionError("odd"), KeyError("x")]
)
def test_no_network_is_a_clear_error(tiny: str, fault: BaseException, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise fault

    monkeypatch.setattr(DATASETS["tiny"], "maybe_download", fail)
    with pytest.raises(InputError, match="could not fetch test set tiny uk-en") as caught:
        read(tiny, langs="uk-en")
    assert "sacrebleu -t tiny" in caught.value.next

"""WMT XML: what WMT files look like, what can be wrong with them, and that nothing in them is ever expanded."""

from __future__ import annotations

from pathlib import Path

import pytest

from wholetext.errors import AlignmentError, InputError
from wholetext.io import Loaded, read
from wholetext.types import Document, Output

GOOD = """<?xml version='1.0' encoding='utf-8'?>
<dataset id="wmttest2022">
  <collection id="general">
    <doc origlang="uk" id="one" domain="news">
      <src lang="uk"><p><seg id="1">Раз &amp; два.</seg></p><p><seg id="2">Три.</seg></p></src>
      <ref lang="en" translator="A"><p><seg id="1">One &lt;two&gt;.</seg><seg id="2">
         Three,
         four. </seg></p></ref>
      <hyp system="S" lang="en"><p><seg id="2">3.</seg><seg id="1">1 &#x26; 2.</seg></p></hyp>
      <hyp system="T" language="en"><p><seg id="1">1.</seg></p></hyp>
    </doc>
  </collection>
  <doc origlang="en" id="suite" testsuite="x"><src lang="en"><p><seg id="1">left out</seg></p></src></doc>
  <doc origlang="uk" id="two">
    <src lang="uk"><p><seg id="1">Ще.</seg></p></src>
    <ref lang="en" translator="A"><p><seg id="1">More.</seg></p></ref>
    <hyp system="S" lang="en"><p><seg id="1">Mo</seg></p></hyp>
    <hyp system="T" lang="en"><p><seg id="1"/></p></hyp>
  </doc>
</dataset>
"""


def read_xml(folder: Path, text: str | bytes, langs: str | None = None) -> Loaded:
    path = folder / "set.xml"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return read(path, langs=langs, format="xml")


def test_a_wmt_file(tmp_path: Path) -> None:
    loaded = read_xml(tmp_path, GOOD)
    assert loaded.corpus.id == "wmttest2022" and loaded.corpus.langs == ("uk", "en")
    assert loaded.corpus.docs == (Document("one", ("Раз & два.", "Три."), {"refA": ("One <two>.", "Three, four.")},
                                           {"domain": "news", "origlang": "uk"}),
                                           Document("two", ("Ще.",), {"refA": ("More.",)}, {"origlang": "uk"}))
    assert loaded.outputs == (Output("S", {"one": ("1 & 2.", "3."), "two": ("Mo",)}),
                              Output("T", {"one": ("1.", ""), "two": ("",)}))
    lacks, suites = loaded.warnings
    assert lacks == "the output of 'T' lacks 1 segment, taken as empty text (first: document 'one', segment 2)"
    assert "1 test-suite" in suites
    assert read_xml(tmp_path, GOOD, "uk-en") == loaded


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "iso-8859-5"])
def test_other_encodings_that_xml_declares(encoding: str, tmp_path: Path) -> None:
    declared = GOOD.replace("encoding='utf-8'", f"encoding='{encoding.removesuffix('-sig')}'")
    assert read_xml(tmp_path, declared.encode(encoding)).corpus == read_xml(tmp_path, GOOD).corpus


def test_sets_are_recognised_and_outputs_attached(tmp_path: Path) -> None:
    corpus, output = tmp_path / "corpus.any", tmp_path / "output.any"
    corpus.write_text(GOOD.replace('<hyp system="T"', '<hyp system="U"'))
    output.write_text(GOOD.replace('<hyp system="S"', '<hyp system="V"'))
    assert [out.system for out in read([corpus, output]).outputs] == ["S", "U", "V", "T"]


@pytest.mark.parametrize(
    "bomb",
    [
        '<!DOCTYPE d [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>'
        + GOOD.split("?>")[1].replace("Три.", "&b;"),
        '<!DOCTYPE d [<!ENTITY x SYSTEM "file:///etc/passwd">]>' + GOOD.split("?>")[1].replace("Три.", "&x;"),
        '<!DOCTYPE d [<!ENTITY % p SYSTEM "http://localhost/x.dtd"> %p;]>' + GOOD.split("?>")[1],
        '<!DOCTYPE d SYSTEM "other.dtd">' + GOOD.split("?>")[1].replace("Три.", "&undeclared;"),
    ],
)
def test_entities_are_refused(bomb: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"document type|well-formed|ntity") as caught:
        read_xml(tmp_path, bomb)
    assert caught.value.where.startswith(str(tmp_path / "set.xml:"))


def doc(inside: str) -> str:
    return f'<dataset><doc id="d"><src lang="de"><p><seg id="1">x</seg></p></src>{inside}</doc></dataset>'


@pytest.mark.parametrize(("text", "says", "line"), [
    ("<dataset>", "well-formed", ":1"), ("<dataset>\n<doc id='a'>\n</dataset>", "well-formed", ":3"),
    ("plain text", "well-formed", ":1"), ("", "well-formed", ":1"), ("<html/>", "no <dataset>", ":1"),
    ("<?xml version='1.0' encoding='klingon'?><dataset/>", "cannot be read|well-formed", None),
    ("<dataset/>", "no text here", ""), ("<dataset><doc/></dataset>", "no id", ":1"),
    ('<dataset><doc id="d"></doc></dataset>', "no text", ":1"),
    ('<dataset><doc id="d"><src lang="de"/></doc></dataset>', "'d' has no segments", ""),
    (doc("").replace("</dataset>", "") + doc("").removeprefix("<dataset>"), "'d' is used twice", ""),
    (doc("<hyp><seg/></hyp>"), "does not name its system", ":1"),
    (doc('<ref translator="A"/><ref translator="A"/>'), "two texts of one name", ":1"),
    (doc('<hyp system="s"><seg id="1">a</seg><seg id="1">b</seg></hyp>'), "segment id '1' is used twice", ":1"),
    (doc('<ref translator="A"><seg id="1">a</seg><seg id="2">b</seg></ref>'), "'2' that the source", ":1"),
    (doc('<hyp system="s"><seg id="1">a</seg><seg id="3">b</seg></hyp>'), "'3' that the source", ":1"),
    (doc('<ref lang="en" translator="A"/><ref lang="fr" translator="B"/>'), "in en and fr", ""),
])  # fmt: skip
def test_faults(text: str, says: str, line: str | None, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=says) as caught:
        read_xml(tmp_path, text)
    if line is not None:
        assert caught.value.where == f"{tmp_path / 'set.xml'}{line}"


def test_wrong_language_and_missing_document(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="in uk, not in cs"):
        read_xml(tmp_path, GOOD, "cs-en")
    with pytest.raises(AlignmentError, match="the output of 'S' lacks document 'two'"):
        read_xml(tmp_path, GOOD.replace('<hyp system="S" lang="en"><p><seg id="1">Mo</seg></p></hyp>', ""))


def test_elements_inside_a_segment_lose_their_tags(tmp_path: Path) -> None:
    marked = read_xml(tmp_path, doc("").replace("x</seg>", "a <b>bold <i>x</i></b> c</seg>"))
    assert marked.corpus.docs[0].src == ("a bold x c",)


def test_outputs_with_gaps_are_not_shifted(tmp_path: Path) -> None:
    def segments(*ids: str) -> str:
        return "".join(f'<p><seg id="{one}">text {one}</seg></p>' for one in ids)

    for ids in (("1", "3", "4"), ("2", "3", "4"), ("0", "1", "2")):
        sides = f'<src lang="de">{segments("1", "2", "3")}</src><hyp system="s" lang="en">{segments(*ids)}</hyp>'
        with pytest.raises(AlignmentError, match="that the source does not have"):
            read_xml(tmp_path, f'<dataset><doc id="d">{sides}</doc></dataset>')

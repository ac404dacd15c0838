"""WMT25/26: test sets and system files, their segments, what is kept of them, and markup that systems broke."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

import wholetext as wt
from wholetext.errors import InputError, WholetextError
from wholetext.io import LineFiles, Loaded, read
from wholetext.io.assembly import BARE
from wholetext.io.formats import wmt
from wholetext.io.markup import MarkupParts, division, split

PAGE = Path(__file__).resolve().parents[2] / "docs" / "formats.md"
SYSTEMS = ("AMI", "Apertium-sme-eng", "CUNI-AR", "Grammatist", "Krosny", "TartuNLP")
DOMAINS = {"news": "<p>One &amp; two.</p>\n<p>Three.</p>", "speech": "Hello.\nYes.",
           "software": '```json\n{"a.b": "Open {{x}}", "c": "Close"}\n```'}


def doc_id(domain: str, target: str = "isl_Latn") -> str:
    return f"WMT26_###_{domain}_###_eng_Latn_###_{target}_###_x.1"


def write_jsonl(path: Path, *records: dict[str, object]) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(json.dumps(record) + "\n" for record in records), "utf-8")
    return path


@pytest.fixture
def test_set(tmp_path: Path) -> Path:
    return write_jsonl(tmp_path / "wmt26.jsonl", *(
        {"doc_id": doc_id(domain, target), "src_lang": "eng_Latn", "tgt_lang": target, "domain": domain,
         "src_text": text, "refs": {"refA": text, "refB": {"ref": text, "by": 7}}, "video": None,
         "prompt_instruction": "Keep tags.", "screenshot": ["a.png"]}
        for target in ("isl_Latn", "arz_Arab") for domain, text in DOMAINS.items()))


def write_systems(folder: Path, **texts: dict[str, str]) -> Path:
    for system, by_domain in texts.items():
        write_jsonl(folder / f"{system}.jsonl", *(
            {"doc_id": doc_id(domain), "hypothesis": text, "metadata": {"seed": 3} if domain == "news" else {}}
            for domain, text in by_domain.items()))
    return folder


# ---------------------------------------------------------------- test sets and systems


def test_segments_and_metadata_of_a_test_set(test_set: Path) -> None:
    loaded = read(test_set, langs="en-is")
    news, speech, software = loaded.corpus.docs
    assert (news.src, speech.src) == (("One & two.", "Three."), ("Hello.", "Yes."))
    assert software.src == software.refs["refB"] == ("Open {{x}}", "Close")
    assert news.meta["domain"] == "news" and news.meta["prompt_instruction"] == "Keep tags."
    assert news.meta["wmt:value:screenshot"] == '["a.png"]' and "video" not in news.meta
    assert loaded.warnings == ()


def test_folders_are_written_as_they_were_read(test_set: Path, tmp_path: Path) -> None:
    changed = {**DOMAINS, "software": '{"c": "Zu", "a.b": "Auf", "new": "Neu"}'}
    out = write_systems(tmp_path / "out", A=DOMAINS, B=changed)
    test_set.rename(out / "wmt26.jsonl")
    loaded = read(out, langs="en-is")
    wmt.write(tmp_path / "again", loaded)
    again = read(tmp_path / "again", langs="en-is")
    assert (again.corpus, again.outputs) == (loaded.corpus, loaded.outputs)
    assert '\\"new\\": \\"Neu\\"' in (tmp_path / "again" / "B.jsonl").read_text("utf-8")
    first = json.loads((tmp_path / "again" / "wmt26.jsonl").read_text("utf-8").splitlines()[0])
    assert first["refs"]["refB"] == {"ref": DOMAINS["news"], "by": 7} and first["screenshot"] == ["a.png"]
    assert first["prompt_instruction"] == "Keep tags."
    system = json.loads((tmp_path / "again" / "A.jsonl").read_text("utf-8").splitlines()[0])
    assert system == {"doc_id": doc_id("news"), "hypothesis": DOMAINS["news"], "metadata": {"seed": 3}}


def test_segments_that_would_be_read_back_as_others_are_not_written(tmp_path: Path) -> None:
    corpus = wt.Corpus("c", ("en", "is"), (wt.Document("d", ("a\n\nb",), {}),))
    with pytest.raises(InputError, match=r"segment 1 of the source: .* would be read back as"):
        wmt.write(tmp_path, Loaded(corpus, ()))


@pytest.mark.parametrize("langs", ["en-is", "eng_Latn-isl_Latn", "en-is_IS"])
def test_every_style_of_codes_selects_the_same_documents(test_set: Path, langs: str, tmp_path: Path) -> None:
    assert [doc.id for doc in read(test_set, langs=langs).corpus.docs] == list(map(doc_id, DOMAINS))
    systems = write_systems(tmp_path / "out", A=DOMAINS)
    assert [doc.id for doc in read(systems / "A.jsonl", langs=langs).corpus.docs] == list(map(doc_id, DOMAINS))
    with pytest.raises(InputError, match="no en-de here"):
        read(systems / "A.jsonl", langs="en-de")


def test_members_of_a_macrolanguage_are_told_apart(test_set: Path) -> None:
    assert len(read(test_set, langs="en-ar").corpus.docs) == len(read(test_set, langs="en-arz").corpus.docs) == 3
    with pytest.raises(InputError, match="no en-ary here"):
        read(test_set, langs="en-ary")


def test_every_way_to_give_the_files(test_set: Path, tmp_path: Path) -> None:
    out = write_systems(tmp_path / "out", A=DOMAINS, B=DOMAINS)
    other = write_jsonl(out / "C.jsonl", {"doc_id": doc_id("news", "deu_Latn"), "hypothesis": "<p>x</p>"})
    files = [out / "A.jsonl", out / "B.jsonl"]
    apart = read([test_set, *files], langs="en-is")
    assert [output.system for output in apart.outputs] == ["A", "B"] and apart.warnings == ()
    folder = read(LineFiles(corpus=test_set, hyps=[out]), langs="en-is")
    assert (folder.corpus, folder.outputs) == (apart.corpus, apart.outputs)
    assert folder.warnings[0].endswith("without this language pair: C.jsonl")
    alone = read(LineFiles(hyps=[("mine", files[0]), files[1]]), langs="en-is")
    assert [output.system for output in alone.outputs] == ["mine", "B"]
    assert alone.corpus.langs == ("eng_Latn", "isl_Latn")
    assert [doc.meta["domain"] for doc in alone.corpus.docs] == list(DOMAINS)
    other.unlink()
    assert read(out).outputs == read(LineFiles(hyps=files)).outputs == apart.outputs
    test_set.rename(out / test_set.name)
    (out / "README.md").write_text("read me")
    together = read(out, langs="en-is")
    assert (together.corpus, together.outputs) == (apart.corpus, apart.outputs)
    assert "README.md" in together.warnings[0]
    with pytest.raises(InputError, match="a test set in this folder"):
        read(LineFiles(hyps=[out]), langs="en-is")


def test_a_system_that_is_not_asked_for_cannot_spoil_the_others(test_set: Path, tmp_path: Path) -> None:
    out = write_systems(tmp_path / "out", A=DOMAINS, B={"news": DOMAINS["news"]}, C=DOMAINS)
    (out / "D.jsonl").write_text('{"doc_id": "WMT26_###_news_###_eng_Latn_###_isl_Latn_###_x.1", "hypothesis": 5}\n')
    files = LineFiles(corpus=test_set, hyps=[out])
    with pytest.raises(InputError, match=r"lacks document .*\n.*--system"):
        read(files, langs="en-is")
    assert [output.system for output in read(files, langs="en-is", systems=["C", "A"]).outputs] == ["C", "A"]
    for name in ("B", "D"):
        (out / f"{name}.jsonl").unlink()
    with pytest.raises(InputError, match="no system 'E'"):
        read(files, langs="en-is", systems=["C", "E"])


def test_json_strings_are_put_in_the_order_of_the_source(test_set: Path, tmp_path: Path) -> None:
    changed = {**DOMAINS, "software": '{"c": "Zu", "a.b": "Auf", "new": "Neu"}', "speech": "Hallo.\n"}
    out = write_systems(tmp_path / "out", B=changed)
    loaded = read(LineFiles(corpus=test_set, hyps=[out]), langs="en-is")
    assert loaded.outputs[0].docs[doc_id("software")] == ("Auf", "Zu", "Neu")


def test_segments_can_be_said(test_set: Path) -> None:
    sizes = {way: [len(doc) for doc in read(test_set, langs="en-is", segments=way).corpus.docs]
             for way in ("auto", "p", "lines", "json", "none")}
    assert sizes["auto"] == [2, 2, 2] and sizes["none"] == [1, 1, 1] and sizes["lines"] == [2, 2, 1]
    with pytest.raises(InputError, match="no way 'pp'"):
        read(test_set, langs="en-is", segments="pp")
    with pytest.raises(InputError, match="this is read as jsonl"):
        read(test_set, langs="en-is", segments="p", format="jsonl")


def test_a_guess_at_the_division_is_noted(tmp_path: Path) -> None:
    """Only WMT26's domains say how a document without <p> is divided: of another one, lines are a guess."""
    document = {"doc_id": doc_id("literary"), "src_text": "One.\nTwo.", "refs": {"A": "One.\nTwo."}}
    path = write_jsonl(tmp_path / "set.jsonl", {**document, "src_lang": "eng_Latn", "tgt_lang": "isl_Latn"})
    (note,) = (note for note in read(path).warnings if "divided by line" in note)
    assert note.startswith("source, document 'WMT26_###_literary") and "unknown domain" in note
    assert read(path).corpus.docs[0].src == ("One.", "Two.")
    assert not [note for note in read(path, segments="lines").warnings if "divided by line" in note]
    output = write_jsonl(tmp_path / "A.jsonl", {"doc_id": doc_id("literary"), "hypothesis": "Ein.\nZwei."})
    assert len([note for note in read(output).warnings if "unknown domain" in note]) == 1
    assert len([note for note in read([path, output]).warnings if "unknown domain" in note]) == 1


# ---------------------------------------------------------------- markup


@pytest.mark.parametrize(("text", "segments", "says"), [
    ("<p>A</p>\n<p>B</p>", ("A", "B"), ""), ("<p>A\n<p>B</p>", ("A", "B"), "do not match"),
    ("<p>A</p>\n<p>B", ("A", "B"), "do not match"), ("<p>A</p></p>\n<p>B</p>", ("A", "B"), "do not match"),
    ("<p>A</p> a</p>\n<p>B</p>", ("A a", "B"), "do not match"), ("<P>A</P>\n< p >B</p >", ("A", "B"), ""),
    ("Here it is:\n<p>A</p>\nB\n", ("Here it is:", "A", "B"), "do not match"), ("", ("",), ""),
    ("<p>A &amp; a<br>&lt;b> &lt; 3</p>\n<p></p>", ("A & a<br>&lt;b> < 3", ""), ""),
    ("```html\n<p>A</p>\n<p>B</p>\n```", ("A", "B"), "``` around the text removed"), ("A\nB", ("A", "B"), "no <p>"),
])  # fmt: skip
def test_paragraphs(text: str, segments: tuple[str, ...], says: str) -> None:
    parts = split(text, "p")
    assert parts.segments == segments
    assert says in "; ".join(parts.repairs) and bool(says) == bool(parts.repairs)


@pytest.mark.parametrize(("text", "segments", "says"), [
    ('{"a": "A", "b": "B"}', ("A", "B"), ""), ('```json\n{"b": "B", "a": "A"}\n```', ("A", "B"), ""),
    ('Here:\n```json\n{"a": "A", "b": "B"}\n```', ("A", "B"), "around the JSON block: “Here:”"),
    ('{"a": "A", "b": "B",}', ("A", "B"), ""), ('{\n”a”: ”A”,\n”b”: ”B”\n}', ("A", "B"), "line by line"),
    ('{\n"a": "A "x" y",\n"b": "B"\n}', ('A "x" y', "B"), "line by line"),
    ('{"a": "A"}', ("A", ""), "keys changed"), ('{"x": "A", "y": "B"}', ("A", "B"), "keys changed"),
    ("A\nB", ("A", "B"), "line by line"),
])  # fmt: skip
def test_json(text: str, segments: tuple[str, ...], says: str) -> None:
    parts = split(text, "json", MarkupParts(("1", "2"), "json", ("/a", "/b")))
    # a text that is not JSON has other keys, too
    assert parts.segments == segments and says in "; ".join(parts.repairs) and bool(says) == bool(parts.repairs)


def test_blank_lines_are_segments_where_the_source_has_as_many() -> None:
    assert split("A\n\nB", "lines", MarkupParts(("1", "2", "3"), "lines")).segments == ("A", "", "B")
    assert split("A\n\nB", "lines").segments == ("A", "B") and split("A\n\nB", "lines").repairs


TEXT = st.text(st.sampled_from("ab <>&;/p\n\"'{}[]:,ampltg"), max_size=40)


@given(TEXT, st.sampled_from(["p", "lines", "json"]))
@settings(max_examples=100, deadline=None)
def test_any_text_is_divided(text: str, by: str) -> None:
    parts = split(text, by)
    assert parts.segments and division(text) in ("p", "json", "blank")
    if by != "json":  # no text is lost
        assert "".join(parts.segments).count("b") == text.count("b")


# ---------------------------------------------------------------- the six files of WMT26


def sizes(loaded: Loaded) -> dict[str, int]:
    found: Counter[str] = Counter()
    for doc in loaded.corpus.docs:
        found[doc.meta["domain"]] += len(loaded.outputs[0].docs[doc.id])
    return dict(found)


SEGMENTS = [  # system, languages, segments of news, social, software and speech, notes of the reader
    ("AMI", "en-is", 129, 178, 173, 1418, 19), ("Apertium-sme-eng", "en-sme", 192, 186, 173, 1420, 7),
    ("CUNI-AR", "en-arz", 192, 186, 173, 1420, 0), ("Grammatist", "en-lij", 192, 186, 173, 1420, 13),
    ("Grammatist", "en-lld", 192, 186, 173, 1420, 7), ("Krosny", "en-be", 192, 186, 173, 1420, 18),
    ("TartuNLP", "en-et", 192, 186, 173, 133, 0), ("TartuNLP", "en-sme", 192, 186, 173, 134, 0),
]  # fmt: skip


@pytest.mark.data
def test_files_of_wmt26_are_read_and_written_back(data: Path, tmp_path: Path) -> None:
    assert {name for name, *_ in SEGMENTS} == set(SYSTEMS)
    for name, langs, news, social, software, speech, repaired in SEGMENTS:
        loaded = read(data / "wmt26.outputs" / f"{name}.jsonl", langs=langs)
        assert len(loaded.corpus.docs) == 198
        assert sizes(loaded) == {"news": news, "social": social, "software": software, "speech": speech}
        assert len([note for note in loaded.warnings if note != BARE]) == repaired
        wmt.write(tmp_path / langs, loaded)
        again = read(tmp_path / langs / f"{name}.jsonl", langs=langs)
        assert [output.docs for output in again.outputs] == [output.docs for output in loaded.outputs]


@pytest.mark.data
@pytest.mark.parametrize("damage", [
    lambda raw: raw[: len(raw) * 2 // 3], lambda raw: raw + raw.splitlines(keepends=True)[5],
    lambda raw: raw.replace(b"\n", b"\n\n", 1), lambda raw: raw.replace(b"doc_id", b"id", 1),
    lambda raw: re.sub(rb'"hypothesis": "(?:[^"\\]|\\.)*"', b'"hypothesis": 5', raw, count=1),
    lambda raw: raw[:500] + b"\xff" + raw[500:], lambda raw: raw.replace(b"</p>", b"\\u0000</p>", 1),
], ids=["cut", "line twice", "blank line", "no id", "number", "not UTF-8", "NUL"])  # fmt: skip
def test_a_damaged_file_is_refused(data: Path, tmp_path: Path, damage: Callable[[bytes], bytes]) -> None:
    (tmp_path / "AMI.jsonl").write_bytes(damage((data / "wmt26.outputs" / "AMI.jsonl").read_bytes()))
    with pytest.raises(WholetextError) as caught:
        read(tmp_path / "AMI.jsonl", langs="en-is")
    assert "AMI.jsonl:" in caught.value.where

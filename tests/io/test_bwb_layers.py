"""The layers of BWB (Jiang et al. 2023): marks, slips, what outputs keep, BlonDe+ from them alone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

import wholetext as wt
from tests.in_process import Capture, call
from tests.io.test_bwb import book, write
from wholetext.annotation.bwb_layers import layer_statistics
from wholetext.errors import AlignmentError, InputError
from wholetext.io.formats.bwb import SOURCE, read_layers
from wholetext.io.formats.bwb_layers import Mention, ellipsis_line, names_line, parse

CHAPTER = ["<PER, T, 1>{Qiao} looked at <O, 1>{her} <FAC, N, 3>{cup}.",
           "<P, 1>{She} had a bat in <O,1>{her} hand, and <PER, T, 1>{Qiao} called."]
SOURCE_LAYERS = ["<PER, T, 1>{乔}看着杯子。", "<P, 1>{她}手里有一根球棒。"]


def layered(root: Path, outputs: dict[str, list[str]], layers: list[str] = CHAPTER) -> Path:
    texts = [parse(line).text for line in layers]
    place = "test/Book0/0"
    write(root, {f"{place}.chs_re.txt": ["乔看着杯子。", "她手里有一根球棒。"], f"{place}.ref_re.txt": texts,
                 "BWB_annotation/Book0/0.ref_re.an.txt": layers, "BWB_annotation/Book0/0.chs_re.an.txt": SOURCE_LAYERS,
                 **{f"{place}.{name}_re.txt": lines for name, lines in outputs.items()}})
    return root


def test_marks_are_read() -> None:
    line = r"<Q, 2> [<PER, T, 1>{Qiao}: see <ORG, N, 4>{the <PER, T, 2>{Shen} group}!] <\Q>"
    layers = parse(line)
    assert layers.text.strip() == "[Qiao: see the Shen group!]"
    assert layers.quotations == ((2, "[Qiao: see the Shen group!]"),) and not layers.slips
    assert [(m.type, m.entity, m.text, m.term) for m in layers.mentions] == [
        ("PER", 1, "Qiao", True), ("PER", 2, "Shen", True), ("ORG", 4, "the Shen group", False)]
    assert all(layers.text[m.start:m.end] == m.text for m in layers.mentions)


@pytest.mark.parametrize(("line", "texts", "slip"), [
    ("<PER, 5>{Chuan Forever} sang", ["Chuan Forever"], "neither T nor N in <PER, 5>"),
    ("<PER, P, 5>{Chuan} sang", ["Chuan"], "neither T nor N in <PER, P, 5>"),
    ("<P, 1>her} lips", ["her"], "no brace after <P, 1>"),
    ("<P,1>{her lips", [], "<P,1> is not closed"),
    ("her} lips", [], "} closes nothing"),
    ("<Q, 1> who?", [], "the quotation of 1 is not closed"),
    (r"who? <\Q>", [], r"<\Q> closes nothing")])
def test_slips_are_named(line: str, texts: list[str], slip: str) -> None:
    layers = parse(line, "0.ref_re.an.txt:7")
    assert [m.text for m in layers.mentions] == texts and layers.slips == (f"0.ref_re.an.txt:7: {slip}",)


@given(st.lists(st.one_of(st.text("abc <>{},.", max_size=8), st.tuples(st.sampled_from(["PER", "P", "O"]),
                                                                     st.integers(0, 99), st.text("xyz ", min_size=1)))))
def test_every_mark_that_is_written_is_read(parts: list[str | tuple[str, int, str]]) -> None:
    plain = "".join(part if isinstance(part, str) else part[2] for part in parts)
    marked = "".join(part if isinstance(part, str) else "<{}, {}{}>{{{}}}".format(
        part[0], "T, " if part[0] == "PER" else "", part[1], part[2]) for part in parts)
    layers = parse(marked)  # reading never fails
    if not any(isinstance(part, str) and set(part) & set("<>{}") for part in parts):
        assert layers.text == plain and not layers.slips
        assert [(m.type, m.entity, m.text) for m in layers.mentions] == [p for p in parts if not isinstance(p, str)]


def test_layers_of_both_sides(tmp_path: Path) -> None:
    layered(tmp_path, {"mt": ["a", "b"]})
    assert read_layers(tmp_path)["Book0/0"][0].mentions[1] == Mention("O", 1, "her", None, 15, 18)
    assert read_layers(tmp_path, SOURCE)["Book0/0"][0].text == "乔看着杯子。"
    assert read_layers(tmp_path / "test")  # the folder of books itself


def test_what_outputs_keep(tmp_path: Path, capsys: Capture) -> None:
    """Two of three pronouns are kept by ``mt``; Qiao is Joe in the first sentence, so the entity is not named alike."""
    layered(tmp_path, {"mt": ["Joe looked at her cup.", "She had a bat in hand, and Qiao called."],
                       "sent": ["Qiao looked at his cup.", "He had a bat in his hand, and Qiao called."]})
    found = layer_statistics(tmp_path)
    assert found.counts == {"PER": 2, "FAC": 1, "GPE": 0, "LOC": 0, "VEH": 0, "ORG": 0, "terms": 2, "pronouns": 3,
                            "omitted in the source": 2, "quotations": 0}
    assert set(found.kept["reference"].values()) - {1.0} != {0.0} and found.kept["reference"]["feminine"] == 1
    ms, sent = found.kept["ms"], found.kept["sent"]
    assert (ms["names"], ms["entities"], ms["feminine"], ms["omitted"]) == (0.5, 0.0, pytest.approx(2 / 3), 0.5)
    assert (sent["names"], sent["entities"], sent["feminine"], sent["omitted"]) == (1.0, 1.0, 0.0, 0.0)
    code, out, _ = call(capsys, "annotate", "read", tmp_path)
    assert not code and "omitted in the source" in out and "0.667" in out and "error type" not in out
    code, out, _ = call(capsys, "annotate", "read", tmp_path, "-f", "json")
    assert not code and json.loads(out)["layers"]["sentences"] == 2


def test_blonde_plus_reads_ellipsis_from_the_layers(tmp_path: Path) -> None:
    """Pronouns that the source omits are its checkpoints; ambiguity does not occur."""
    layered(tmp_path, {"mt": ["Joe looked at her cup.", "She had a bat in hand, and Qiao called."]})
    loaded = wt.read(tmp_path)
    assert any("ellipsis from the layers of 2023" in note for note in loaded.warnings)
    scores = wt.score(loaded, "blonde-plus(tagger=plain)", options=wt.Options(cache=False))
    (by_system,) = scores.scores.values()
    values = dict(zip(by_system["ms"].outputs, by_system["ms"].table("corpus").ravel().tolist()))
    assert values["ellipsis.recall"] == 0.5 and values["ambiguity"] != values["ambiguity"]
    line = read_layers(tmp_path)["Book0/0"][1]
    assert ellipsis_line(line).split("\t")[1:] == ["3,her, <>"]
    assert names_line(line) == "PERSON: (Qiao: 1; )\tNONPERSON: ()"


def test_marked_errors_come_before_layers(tmp_path: Path, capsys: Capture) -> None:
    book(tmp_path, "Book0", (0,))
    layers = ["<PER, T, 1>{Qiao} looked at the cup.", "<P, 1>{She} had a bat in <P, 1>{her} hand."]
    write(tmp_path, {"BWB_annotation/Book0/0.ref_re.an.txt": layers})
    assert not any("layers of 2023" in note for note in wt.read(tmp_path).warnings)
    code, out, _ = call(capsys, "annotate", "read", tmp_path)
    assert not code and "named entity" in out and "kept by" in out


def test_layers_that_do_not_fit(tmp_path: Path) -> None:
    layered(tmp_path, {"mt": ["a", "b"]})
    write(tmp_path, {"BWB_annotation/Book0/0.ref_re.an.txt": ["one line"]})
    with pytest.raises(AlignmentError, match="1 line of annotation for 2 sentences"):
        read_layers(tmp_path)
    (tmp_path / "BWB_annotation/Book0/0.ref_re.an.txt").unlink()
    with pytest.raises(InputError, match="chapter Book0/0 has no layers"):
        read_layers(tmp_path)

"""Sample logs of lm-evaluation-harness; tests/integrations/test_lm_eval.py reads those that it writes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import wholetext as wt

ROW = {"doc_id": 0, "doc": {"document_id": "d", "source": "Ja."}, "target": "Yes.", "filtered_resps": ["Yes!"],
       "filter": "none", "chrf": float("nan")}


def log(folder: Path, *samples: dict[str, Any], name: str = "my-model/samples_mt_2026-11-18T14-41-17.8.jsonl") -> Path:
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(json.dumps({**ROW, **sample}) + "\n" for sample in samples), "utf-8")
    return path


def test_a_log_is_a_corpus_and_a_system(tmp_path: Path) -> None:
    no = {"doc_id": 1, "doc": {"document_id": "d", "source": "Nein."}, "target": "No.", "filtered_resps": [["No!"]]}
    corpus, outputs, warnings = wt.read(log(tmp_path, no, {}), langs="de-en")  # two processes: out of order
    assert corpus.id == "mt" and [output.system for output in outputs] == ["my-model"] and not warnings
    assert corpus.docs == (wt.Document("d", ("Ja.", "Nein."), {"ref": ("Yes.", "No.")}),)
    assert outputs[0].docs["d"] == ("Yes!", "No!")
    assert wt.read(log(tmp_path, {}, name="renamed.jsonl")).outputs[0].system == "renamed"


def test_several_references_filters_and_responses(tmp_path: Path) -> None:
    many = {"target": str(["Yes.", "It's so."]), "filtered_resps": [["Yes!", "Yep."]]}
    corpus, outputs, warnings = wt.read(log(tmp_path, many, {**many, "filter": "strip", "filtered_resps": ["Y"]}))
    assert corpus.docs[0].refs == {"ref0": ("Yes.",), "ref1": ("It's so.",)}
    assert {output.system: output.docs["d"] for output in outputs} == {
        "my-model-none": ("Yes!",), "my-model-strip": ("Y",)}  # fmt: skip
    assert warnings == ("only the first of several responses is read in 1 sample",)


def test_what_a_log_lacks_is_said(tmp_path: Path) -> None:
    row = {"doc": {"question": "Ja."}, "target": "['a', 'b"}
    corpus, _, warnings = wt.read(log(tmp_path, row, {**row, "doc_id": 1}))
    assert corpus.ids == ("0", "1") and not corpus.has_source and corpus.docs[0].refs == {"ref": ("['a', 'b",)}
    assert "no document id: a sample is taken as a document in 2 samples" in warnings
    assert "no source is called src or source in 2 samples" in warnings
    wmt = {"doc": {"translation": {"de": "Ja.", "en": "Yes."}}}
    assert wt.read(log(tmp_path, wmt)).corpus.docs[0].src == ("Ja.",)
    corpus, *_ = wt.read(log(tmp_path, {"target": ""}))
    assert corpus.references == ()


@pytest.mark.parametrize("responses", [[["-1.5", "False"], ["-2.5", "False"]], [], None, "text", [None]])
def test_a_log_without_generated_text_is_refused(tmp_path: Path, responses: object) -> None:
    with pytest.raises(wt.errors.InputError, match=r"samples_mt.*:2: this sample has no generated text") as caught:
        wt.read(log(tmp_path, {}, {"doc_id": 1, "filtered_resps": responses}))
    assert "generate_until" in caught.value.next
    with pytest.raises(wt.errors.InputError, match=":1: there is no target in this sample"):
        wt.read(log(tmp_path, {"target": None}))

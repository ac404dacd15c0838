"""Pearmut: campaigns from runs, annotations back as judgments; its positions, resets and repeats; broken files."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import wholetext as wt
from tests.in_process import call
from wholetext.annotation.annotations import read_pearmut, write_judgments
from wholetext.annotation.campaign import characters, make_campaign, units
from wholetext.errors import AlignmentError, InputError, RunError
from wholetext.io.formats.evalset import EvalSet
from wholetext.meta.judgments import find_ratings

SRC = {"one": ("Ein Haus.", "Es regnet."), "two": ("Der Hund 🐶 bellt.",)}
HYP = {"a": {"one": ("A house.", "It rains."), "two": ("The 🐶 dog barks loud.",)},
       "b": {"one": ("One house.", "It is rain."), "two": ("Dog barks.",)}}


@pytest.fixture
def run() -> wt.Results:
    """Two systems; chrF pretends to have marked error spans in the second document."""
    docs = tuple(wt.Document(doc, text, {"ref": HYP["a"][doc]}) for doc, text in SRC.items())
    outputs = [wt.Output(system, texts) for system, texts in HYP.items()]
    made = wt.score(
        wt.Loaded(wt.Corpus("made", ("de", "en"), docs), outputs),
        ["chrf"],
        options=wt.Options(cache=False, flags=False),
    )
    spans = [{"start": 4, "end": 5, "severity": "critical"}, {"start": 6, "end": 16, "severity": "minor"},
             {"start": 11, "end": 18, "severity": "major"}]
    scores = dict(made.scores["chrf"])
    scores["a"] = replace(scores["a"], details=(None, None, {"spans": spans}))
    return replace(made, scores={"chrf": scores})


def js_units(text: str) -> list[str]:
    """What JavaScript's split("") gives, without line breaks: what Pearmut numbers."""
    raw = text.replace("\n", "").encode("utf-16-le")
    return [raw[i : i + 2].decode("utf-16-le", "surrogatepass") for i in range(0, len(raw), 2)]


def test_positions_are_those_of_javascript_without_line_breaks() -> None:
    rng = np.random.default_rng(0)
    for _ in range(500):
        text = "".join(rng.choice(list("ab\n é漢🐶𝒳"), int(rng.integers(1, 15))))
        places, shown = units(text), js_units(text)
        assert places[-1] == len(shown)
        start, end = sorted(rng.integers(0, len(text) + 1, 2).tolist())
        marked = text[start:end].replace("\n", "")
        first, last = places[start], places[end] - 1
        assert "".join(shown[first : last + 1]) == "".join(js_units(marked))
        if marked:
            back = characters(places, first, last)
            assert back is not None and text[slice(*back)].strip("\n") == text[start:end].strip("\n")
        assert characters(places, places[-1], places[-1]) is None


def test_esa_has_one_system_per_document_and_filled_in_spans(run: wt.Results) -> None:
    made = make_campaign(run, users=3)
    assert made.content["info"] == {"assignment": "single-stream", "protocol": "ESA", "users": 3}
    assert made.content["campaign_id"] == "made-de-en-ESA"
    data = made.content["data"]
    assert [(doc[0]["doc"], list(doc[0]["tgt"])) for doc in data] == [
        ("one", ["a"]), ("one", ["b"]), ("two", ["a"]), ("two", ["b"])]
    assert [item["src"] for item in data[0]] == list(SRC["one"]) and data[0][1]["item_id"] == "one#1"
    assert "instructions" in data[0][0] and "instructions" not in data[0][1]
    # the dog is two units; overlapping spans are one, with the higher severity
    assert data[2][0]["error_spans"] == {"a": [
        {"start_i": 4, "end_i": 5, "severity": "major", "category": None},
        {"start_i": 7, "end_i": 18, "severity": "major", "category": None}]}
    assert data[3][0]["error_spans"] == {"b": []}
    assert "1 critical error" in " ".join(made.notes) and "1 span joined" in " ".join(made.notes)


def test_cesa_has_all_systems_side_by_side(run: wt.Results) -> None:
    data = make_campaign(run, {"two": 2.5}, protocol="cESA", spans=None).content["data"]
    assert [[list(item["tgt"]) for item in doc] for doc in data] == [[["a", "b"]]]
    assert data[0][0]["weight"] == 2.5 and "error_spans" not in data[0][0]


def test_campaigns_that_cannot_work(run: wt.Results) -> None:
    wrong: list[dict[str, Any]] = [{"documents": ["three"]}, {"protocol": "SQM"}, {"users": 0}]
    for settings in wrong:
        with pytest.raises(InputError, match="no campaign by the protocol"):
            make_campaign(run, **settings)
    with pytest.raises(RunError, match="ter"):
        make_campaign(run, spans="ter")
    longer = replace(run.outputs[0], docs={**HYP["a"], "two": ("The dog", "barks.")})
    with pytest.raises(AlignmentError, match="segmented differently from document 'two'"):
        make_campaign(replace(run, outputs=(longer, run.outputs[1])), spans=None)


def entry(items: list[dict[str, Any]], scores: dict[str, float | None], user: str = "u", item_i: Any = 0,
          spans: list[dict[str, Any]] | None = None) -> dict[str, Any]:
    """A submitted document, as Pearmut logs it."""
    said = {system: {"score": score, "error_spans": spans or [], "textfield": None} for system, score in scores.items()}
    return {"annotation": [said for _ in items], "item": items, "actions": [], "user_id": user, "item_i": item_i}


def log(tmp_path: Path, entries: list[Any]) -> Path:
    path = tmp_path / "log.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in entries), "utf-8")
    return path


def test_annotations_come_back_as_judgments(run: wt.Results, tmp_path: Path) -> None:
    data = make_campaign(run, {"one": 1.0, "two": 3.0}).content["data"]
    marks = [*data[2][0]["error_spans"]["a"], {"start_i": 22, "end_i": 22, "severity": "minor", "category": None}]
    entries = [entry(data[0], {"a": 90}), entry(data[1], {"b": 40}, item_i=1),
               entry(data[2], {"a": 10}, item_i=2, spans=marks), entry(data[2], {"a": 30}, "v", 2)]
    found = read_pearmut(log(tmp_path, entries))
    assert found.system_scores() == {"a": pytest.approx((90 + 90 + 3 * 20) / 5), "b": pytest.approx(40)}
    third = next(one for one in found.given if one.rater == "u" and one.segment == ("two", 0))
    text = HYP["a"]["two"][0]
    assert [None if mark.start is None else text[mark.start : mark.end] for mark in third.marks] == [
        "🐶", "dog barks lo", None]
    assert found.notes == ("1 error span of missing content: no place in the output",)
    write_judgments(tmp_path / "set", found, wt.Loaded(run.corpus, run.outputs))
    gold = EvalSet.open(tmp_path / "set", "de-en").human("esa", "seg")
    assert gold.systems == ("a", "b")
    assert np.array_equal(gold.values, [[90, 90, 20], [40, 40, np.nan]], equal_nan=True)
    ratings = find_ratings(EvalSet.open(tmp_path / "set", "de-en"), "esa").ratings
    assert set(ratings.raters) == {"u", "v"} and len(ratings) == 6
    spans = [json.loads(line) for line in
             (tmp_path / "set/human-scores/de-en.esa.spans.jsonl").read_text("utf-8").splitlines()]
    assert [one["start"] for one in spans[4]["spans"]] == [4, 6, "missing"] and spans[4]["score"] == 10
    assert (tmp_path / "set/references/de-en.ref.txt").exists()


def test_the_file_of_the_dashboard(run: wt.Results, tmp_path: Path) -> None:
    data = make_campaign(run, ["one"]).content["data"]
    path = tmp_path / "annotations.json"
    path.write_text(json.dumps({"made": [entry(data[0], {"a": 70})], "other": []}), "utf-8")
    assert read_pearmut(path).judgments().values.tolist() == [[70.0, 70.0]]


def test_resets_repeats_and_controls(tmp_path: Path) -> None:
    item = [{"src": "x", "tgt": {"a": "text"}, "item_id": "i0"}]
    entries = [entry(item, {"a": 10}), entry(item, {"a": 20}),  # replaced
               entry(item, {"a": 99}, item_i="welcome_0"), entry(item, {"a": 1}, item_i="random_3"),
               entry(item, {"a": 50}, "v"), {"annotation": "__RESET__", "user_id": "v", "item_i": 0},  # withdrawn
               entry(item, {"a": None}, "w"), {**entry(item, {"a": 60}, "z"), "validations": [True, False]},
               {"annotation": ["de"], "item": [{"text": "Your language?", "form": "string"}], "user_id": "z",
                "item_i": 9}]
    found = read_pearmut(log(tmp_path, entries))
    assert [(one.rater, one.score) for one in found.given] == [("u", 20.0), ("w", None), ("z", 60.0)]
    assert found.given[0].segment == ("i0", 0)
    assert set(found.notes) == {
        "2 documents of tutorials and attention checks not used", "1 form not used",
        "1 submission withdrawn by a reset", "1 submission replaced by a later one of the same annotator",
        "1 annotation without a score: not judged", "1 attention check failed"}


def test_a_reset_withdraws_all_that_an_annotator_did_before(tmp_path: Path) -> None:
    """Pearmut 1.1 writes one marker for an annotator, without an item."""
    item = [{"src": "x", "tgt": {"a": "text"}, "item_id": "i0"}]
    entries = [entry(item, {"a": 10}), entry(item, {"a": 20}, item_i=1), entry(item, {"a": 30}, "v"),
               {"annotation": "__RESET__", "user_id": "u"}, entry(item, {"a": 40}, item_i=1)]
    found = read_pearmut(log(tmp_path, entries))
    assert [(one.rater, one.score) for one in found.given] == [("v", 30.0), ("u", 40.0)]
    assert "2 submissions withdrawn by a reset" in found.notes


def test_another_text_than_the_annotated_one_is_an_error(run: wt.Results, tmp_path: Path) -> None:
    item = [{"src": "x", "tgt": {"a": "Something else."}, "doc": "one", "seg": 0}]
    found = read_pearmut(log(tmp_path, [entry(item, {"a": 5})]))
    with pytest.raises(AlignmentError, match="segment 1 of document 'one'"):
        write_judgments(tmp_path / "set", found, wt.Loaded(run.corpus, run.outputs))
    assert not (tmp_path / "set").exists()


ITEM = {"tgt": {"a": "text"}, "item_id": "i"}
BROKEN: list[Any] = [
    [], "", "{", "[1]", {"c": 1}, {"c": [1]}, [{"annotation": 1}], [{"annotation": [], "item": [1]}],
    [entry([ITEM], {"a": 101})], [entry([ITEM], {"b": 1})], [entry([ITEM], {"a": True})],
    [entry([ITEM], {"a": 1}, spans=[{"start_i": 3, "end_i": 1}])], [entry([ITEM], {"a": 1}, spans=[{"start_i": None}])],
    [entry([ITEM], {"a": 1}, spans=["x"])],  # type: ignore[list-item]
    [entry([{**ITEM, "weight": 0}], {"a": 1})],
    [{**entry([ITEM], {"a": 1}), "annotation": [5]}],
]  # fmt: skip


@pytest.mark.parametrize("content", BROKEN)
def test_broken_files_are_answered(content: Any, tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    lines = content if isinstance(content, str) else json.dumps(content)
    if isinstance(content, list):
        lines = "\n".join(map(json.dumps, content))
    path.write_text(lines, "utf-8")
    with pytest.raises(InputError) as fault:
        read_pearmut(path)
    assert "log.jsonl" in str(fault.value)


def test_from_run_to_campaign_to_judgments(
    run: wt.Results, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wt.scoring.write_run(run, tmp_path / "run")
    code, out, _ = call(capsys, "annotate", "sample", tmp_path / "run", "-n", 1)
    assert code == 0 and out.strip() in SRC
    code, out, _ = call(capsys, "annotate", "sample", tmp_path / "run", "--share", "1", "--json")
    assert json.loads(out)["documents"][0] == {
        "doc": "one", "segments": 2, "priority": 2**0.5, "probability": 1.0, "weight": 1.0}
    campaign = tmp_path / "campaign.json"
    code, out, err = call(capsys, "annotate", "sample", tmp_path / "run", "--share", 1, "-f", "pearmut", "-o", campaign)
    assert code == 0 and "2 of 2 documents, 3 of 3 segments" in out and "1 critical error" in err
    code, _, err = call(capsys, "annotate", "sample", tmp_path / "run", "--share", 1, "--out", campaign)
    assert code == 2 and "exists already" in err
    data = json.loads(campaign.read_text("utf-8"))["data"]
    systems = [next(iter(doc[0]["tgt"])) for doc in data]
    said = [entry(doc, {system: 50 + i}, item_i=i) for i, (doc, system) in enumerate(zip(data, systems))]
    path = log(tmp_path, said)
    code, out, err = call(capsys, "annotate", "read", path, "--run", tmp_path / "run", "--out", tmp_path / "set")
    assert code == 0, err
    assert "50.67" in out and "51.67" in out
    code, out, err = call(capsys, "meta", tmp_path / "set", "--gold", "esa", "-m", "chrf", "--task", "sys:accuracy")
    assert code == 0, err
    assert "chrf" in out
    code, _, err = call(capsys, "annotate", "read", path, "--run", tmp_path / "run", "--out", tmp_path / "set")
    assert code == 2 and "not empty" in err
    code, _, err = call(capsys, "annotate", "read", path, "--out", tmp_path / "other")
    assert code == 2 and "add --run" in err


def test_an_evalset_is_written_whole_beside_files_of_others(run: wt.Results, tmp_path: Path,
                                                            capsys: pytest.CaptureFixture[str]) -> None:
    items = make_campaign(run, spans=None).content["data"][0]
    good, out = log(tmp_path, [entry(items, {"a": 70})]), tmp_path / "set"
    (out / "sources").mkdir(parents=True)
    (out / "sources" / "de-en.txt").write_text("mine")
    wt.scoring.write_run(run, tmp_path / "run")
    words = ["annotate", "read", good, "--run", tmp_path / "run", "--out", out, "--overwrite"]
    code, _, err = call(capsys, *words)
    assert code == 2 and "did not write it" in err
    assert [path.name for path in out.rglob("*") if path.is_file()] == ["de-en.txt"]
    assert (out / "sources" / "de-en.txt").read_text() == "mine"
    (out / "sources" / "de-en.txt").rename(out / "thesis.tex")
    for _ in range(2):  # its own files are replaced
        assert call(capsys, *words)[0] == 0
    assert (out / "thesis.tex").read_text() == "mine"


def test_annotators_read_what_the_systems_were_told_as_text() -> None:
    meta = {"prompt_instruction": "Keep <b> & names.", "evaluation_instruction": "Mind the register."}
    corpus = wt.Corpus("c", ("de", "en"), (wt.Document("d", ("Ja.",), {"ref": ("Yes.",)}, meta),))
    results = wt.score(wt.Loaded(corpus, [wt.Output("a", {"d": ("Yes.",)})]), "chrf", options=wt.Options(cache=False))
    assert make_campaign(results).content["data"][0][0]["instructions"] == (
        "Evaluate the translation from de to en.<br>Mind the register.<br>"
        "The systems were told: Keep &lt;b&gt; &amp; names.")


def test_what_pearmut_would_not_show_as_text_is_noted(run: wt.Results) -> None:
    outputs = (replace(run.outputs[0], docs={**HYP["a"], "one": ('<img src="x">', "It <b>rains</b>.")}), run.outputs[1])
    notes = " ".join(map(str, make_campaign(replace(run, outputs=outputs), spans=None).notes))
    assert "2 texts with HTML tags" in notes and "check these texts" in notes

"""The folder of a stress test: a run, the figures, and a set that `contrast` reads."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import wholetext as wt
from wholetext.demo import load
from wholetext.scoring.evaluate import Options
from wholetext.stress.evaluate import stress
from wholetext.stress.perturbation import StressOptions, perturb
from wholetext.stress.store import contrastive, write_stress


def test_a_folder_is_read_by_every_verb(tmp_path: Path) -> None:
    corpus, outputs = load("de-en")
    settings = StressOptions(("swap", "drop", "number"), ("1", "all"), draws=10)
    found = stress(corpus, outputs, "chrf", settings, Options(cache=False))
    write_stress(found, tmp_path / "run")
    assert wt.open_run(tmp_path / "run").systems == found.results.systems
    figures = json.loads((tmp_path / "run/stress.json").read_text("utf-8"))
    assert figures["kind"] == "stress" and len(figures["figures"]) == len(found.cells)
    items = wt.meta.read_contrast_set(tmp_path / "run/stress.jsonl")
    assert items.langs == ("de", "en") and {one.type for one in items.items} == {"swap", "drop", "number"}
    said = [note for note in figures["notes"] if note.startswith("stress.jsonl: ")]
    left = len(found.perturbed.items) - len(items)
    assert left <= 2 and bool(left) == bool(said)
    for line, item in zip((tmp_path / "run/stress.jsonl").read_text("utf-8").splitlines(), items.items):
        right, wrong = item.candidates
        assert (right.text, right.context) != (wrong.text, wrong.context) and wrong.text
        assert json.loads(line)["loss"].keys() == {"chrf"}
    write_stress(found, tmp_path / "run")  # replaced as a whole
    assert wt.open_run(tmp_path / "run").systems == found.results.systems


def test_every_change_is_in_the_item_or_its_context() -> None:
    corpus, outputs = load("zh-en")
    made = perturb(corpus, outputs[0], StressOptions(("drop", "double", "swap"), ("all",)), Options(cache=False))
    items, left = contrastive(made, corpus)
    assert len(items) + left == len(made.items)
    by_id = {one["id"]: one for one in items}
    for one in made.items:
        item = by_id.get(f"{one.doc}/{one.change}/all")
        if item is not None:
            changed = (*item["contrastive_ref_context"][0], *item["contrastive"])
            assert changed == one.segments[: len(changed)]
            later = [edit for edit in one.edits if edit.segment >= len(changed)]
            assert all(not one.segments[edit.segment] for edit in later)  # nothing is left of them
            assert len(item["src_context"]) == len(item["ref_context"]) == len(changed) - 1


def test_an_item_that_ends_with_nothing_is_left_out_and_counted() -> None:
    corpus = wt.Corpus("c", ("de", "en"), (wt.Document("a", ("x", "y"), {}),))
    text = wt.Output("s", {"a": ("The first sentence is here.", "The last sentence is here.")})
    for seed in range(30):
        made = perturb(corpus, text, StressOptions(("drop",), ("all",), seed), Options(cache=False))
        if made.items[0].segments[1] == "":
            assert contrastive(made, corpus) == ([], 1)
            return
    pytest.fail("no seed drops the last sentence")

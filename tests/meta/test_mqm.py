"""MQM: weights, spans as JSON; the released TED averages and the reference converter's output, exactly."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from wholetext.errors import AlignmentError, InputError
from wholetext.io.formats.evalset import EvalSet
from wholetext.meta.judgments import (
    STANDARD,
    WMT22,
    MqmError,
    mean_table,
    mqm_ratings,
    penalty,
    read_mqm,
    read_span_ratings,
)

SEGMENTS = [("d", 0), ("d", 1)]
HEAD = "system\tdoc\tdoc_id\tseg_id\trater\tsource\ttarget\tcategory\tseverity\n"
RAW = {"en-de": "mqm_ted_ende.tsv", "zh-en": "mqm_ted_zhen.tsv"}
RELEASED = {"Nemo": "NVIDIA-NeMo", "ref": "refA"}  # names in the raw table → names in the EvalSet


def error(severity: str, category: str, place: int = 0, rater: str = "r1", system: str = "A") -> MqmError:
    return MqmError(system, ("d", place), "1", rater, category, severity)


@pytest.mark.parametrize(("severity", "category", "weight"), [
    ("Major", "Accuracy/Mistranslation", 5.0), ("minor", "Fluency/Grammar", 1.0), ("Minor", "Fluency/Punctuation", 0.1),
    ("Major", "Fluency/Punctuation", 5.0), ("Major", "Non-translation!", 25.0), ("Neutral", "Style/Awkward", 0.0),
    ("No-error", "No-error", 0.0), ("odd", "", 0.0), ("MAJOR", "Source error", 5.0)])
def test_weights(severity: str, category: str, weight: float) -> None:
    assert penalty(severity, category) == weight


def test_other_weights() -> None:
    assert penalty("Major", "Non-translation!", WMT22) == 5.0
    assert penalty("minor", "x", {"major": 3.0}) == 0.0


def test_scores_are_averaged_over_raters() -> None:
    errors = [error("Major", "A"), error("Minor", "A"), error("No-error", "No-error", rater="r2"),
              error("No-error", "No-error", place=1)]
    ratings = mqm_ratings(errors)
    assert sorted(ratings.score.tolist()) == [-6.0, 0.0, 0.0]
    assert ratings.judgments().values.tolist() == [[-3.0, 0.0]]


def test_rows_of_errors(tmp_path: Path) -> None:
    path = tmp_path / "m.tsv"
    path.write_text(HEAD + 'A\td\t1\t7\tr1\tsrc "q\tab<v>cd</v>e\tStyle\tMinor\n\nA\td\t2\t8\tr1\ts\tt\tX\tMajor\n')
    assert read_mqm(path) == [MqmError("A", ("d", 0), "7", "r1", "Style", "Minor", "ab<v>cd</v>e"),
                              MqmError("A", ("d", 1), "8", "r1", "X", "Major", "t")]


@pytest.mark.parametrize(("text", "match"), [
    ("system\tdoc\n", "no column 'doc_id'"), (HEAD + "A\td\n", "2 columns"),
    (HEAD + "A\td\t0\t1\tr\ts\tt\tc\tMinor\n", "doc_id")])
def test_faults_are_named(tmp_path: Path, text: str, match: str) -> None:
    path = tmp_path / "m.tsv"
    path.write_text(text)
    with pytest.raises(InputError, match=match):
        read_mqm(path)


def spans_file(path: Path, *lines: str) -> Path:
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


def test_span_ratings(tmp_path: Path) -> None:
    one = json.dumps({"errors": [{"start": 0, "end": 3, "severity": "major", "category": "accuracy"},
                                 {"start": 4, "end": 6, "severity": "minor", "category": "fluency/punctuation",
                                  "is_source_error": True}], "score": 71})
    two = json.dumps({"errors": [{"start": 0, "end": 1, "severity": "minor", "score": -2.5}], "score": 88.5})
    path = spans_file(tmp_path / "x.seg.rating", f"A\t{one}\tr1", "A\tNone", f"B\t{two}", f"B\t{two}")
    found = read_span_ratings(path, SEGMENTS)
    assert [(r.system, r.segment, r.rater) for r in found] == [
        ("A", ("d", 0), "r1"), ("B", ("d", 0), "unknown"), ("B", ("d", 1), "unknown")]
    assert [one.penalty for one in found] == pytest.approx([5.1, 2.5, 2.5])
    assert [one.overall for one in found] == [71.0, 88.5, 88.5]


@pytest.mark.parametrize(("lines", "kind", "match"), [
    (["A\t{}", "A\tNone"], InputError, "cannot be read"), (["A\t[1", "A\tNone"], InputError, "cannot be read|not JSON"),
    (["A"], InputError, "1 column"), (["A\tNone"], AlignmentError, "1 rating, expected 2"),
    (["A\tNone"] * 3, AlignmentError, "3 ratings, expected 2"),
    (['A\t{"errors": [{"severity": "x", "score": "nan"}]}', "A\tNone"], InputError, "not a number")])
def test_faulty_span_ratings(tmp_path: Path, lines: list[str], kind: type[Exception], match: str) -> None:
    with pytest.raises(kind, match=match):
        read_span_ratings(spans_file(tmp_path / "x", *lines), SEGMENTS)


@pytest.mark.data
@pytest.mark.parametrize(("lp", "shared"), [("en-de", 7406), ("zh-en", 7935)])
def test_raw_ted_annotations_give_the_released_averages(lp: str, shared: int, data: Path) -> None:
    folder = data / "evalsets" / "wmt21.tedtalks"
    errors = read_mqm(folder / "human-scores" / "raw" / RAW[lp])
    ratings = mqm_ratings(errors)
    ids = (folder / "human-scores" / f"{lp}.orig_seg_ids.txt").read_text().split()
    line = {int(text): i for i, text in enumerate(ids)}
    number = {error.segment: int(error.seg_id) for error in errors}
    columns = [line[number[segment]] for segment in ratings.segments]
    released = EvalSet.open(folder, lp).human("mqm", "seg")
    checked = 0
    for system, mine in zip(ratings.systems, ratings.judgments().values):
        theirs = released.values[released.systems.index(RELEASED.get(system, system)), columns]
        np.testing.assert_array_equal(np.isnan(mine), np.isnan(theirs))
        np.testing.assert_allclose(mine, theirs, atol=1e-9)
        checked += int((~np.isnan(mine)).sum())
    assert checked == shared


@pytest.mark.data
def test_the_reference_converter(data: Path, golden: Path) -> None:
    errors = read_mqm(data / "evalsets" / "wmt21.tedtalks" / "human-scores" / "raw" / RAW["en-de"])
    expected = json.loads((golden / "mqm" / "mqm_ted_ende.json").read_text())
    ratings = mqm_ratings(errors)
    place = {segment: i for i, segment in enumerate(ratings.segments)}
    values = ratings.judgments().values
    shape = len(ratings.raters), len(ratings.systems), len(ratings.segments)
    table = mean_table(ratings.score, (ratings.rater, ratings.system, ratings.item), shape)
    with (golden / "mqm" / "mqm_ted_ende.scored.tsv").open() as lines:
        for system, doc, doc_id, score, *raters in csv.reader(lines, delimiter="\t", quoting=csv.QUOTE_NONE):
            row, column = ratings.systems.index(system), place[doc, int(doc_id) - 1]
            assert values[row, column] == pytest.approx(float(score), abs=1e-9)
            for one in raters:
                rater, _, penalty = one.partition("=")
                assert table[ratings.raters.index(rater), row, column] == pytest.approx(-float(penalty), abs=1e-9)
    for key, weights in (("system_means", STANDARD), ("system_means_wmt22_weights", WMT22)):
        found = mqm_ratings(errors, weights)
        means = np.nanmean(found.judgments().values, axis=1)
        for system, mean in expected[key].items():
            assert means[found.systems.index(system)] == pytest.approx(mean, abs=1e-9)

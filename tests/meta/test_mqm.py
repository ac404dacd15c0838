"""MQM: weights, spans, breakdowns; the released TED averages and the reference converter's output, exactly."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from wholetext.errors import InputError
from wholetext.io.formats.scores import human_scores
from wholetext.meta.judgments.mqm import WMT22, MqmError, SeverityWeights, breakdown, gaps, mqm_ratings, read_mqm, spans

HEAD = "system\tdoc\tdoc_id\tseg_id\trater\tsource\ttarget\tcategory\tseverity\n"
RAW = {"en-de": "mqm_ted_ende.tsv", "zh-en": "mqm_ted_zhen.tsv"}
RELEASED = {"Nemo": "NVIDIA-NeMo", "ref": "refA"}  # names in the raw table → names in the EvalSet


def error(severity: str, category: str, place: int = 0, rater: str = "r1", system: str = "A") -> MqmError:
    return MqmError(system, "d", place, "1", rater, category, severity)


@pytest.mark.parametrize(("severity", "category", "weight"), [
    ("Major", "Accuracy/Mistranslation", 5.0), ("minor", "Fluency/Grammar", 1.0), ("Minor", "Fluency/Punctuation", 0.1),
    ("Major", "Fluency/Punctuation", 5.0), ("Major", "Non-translation!", 25.0), ("Neutral", "Style/Awkward", 0.0),
    ("No-error", "No-error", 0.0), ("odd", "", 0.0), ("MAJOR", "Source error", 5.0)])
def test_weights(severity: str, category: str, weight: float) -> None:
    assert SeverityWeights().of(severity, category) == weight


def test_other_weights() -> None:
    assert SeverityWeights(WMT22).of("Major", "Non-translation!") == 5.0
    assert SeverityWeights({"major": 3.0}).of("minor", "x") == 0.0


def test_scores_are_averaged_over_raters() -> None:
    errors = [error("Major", "A"), error("Minor", "A"), error("No-error", "No-error", rater="r2"),
              error("No-error", "No-error", place=1)]
    ratings = mqm_ratings(errors)
    assert sorted(ratings.score.tolist()) == [-6.0, 0.0, 0.0]
    assert ratings.judgments().values.tolist() == [[-3.0, 0.0]]


def test_breakdown_and_gaps() -> None:
    errors = [error("Major", "Accuracy/Omission"), error("Minor", "Accuracy/Addition"), error("Minor", "Style", 2),
              error("No-error", "No-error", system="B")]
    assert breakdown(errors, "top") == {"A": {"Accuracy": (2, 6.0), "Style": (1, 1.0)}, "B": {}}
    assert breakdown(errors, "severity")["A"] == {"Major": (1, 5.0), "Minor": (2, 2.0)}
    assert gaps(errors) == ["d"]
    assert gaps(errors[:2]) == []


def test_spans_are_of_the_unmarked_text(tmp_path: Path) -> None:
    path = tmp_path / "m.tsv"
    path.write_text(HEAD + 'A\td\t1\t7\tr1\tsrc "q\tab<v>cd</v>e\tStyle\tMinor\n'
                    "A\td\t1\t7\tr1\ts<v>r</v>c\tabcde\tSource error\tMajor\nA\td\t2\t8\tr1\tsrc\tab<v>c\tX\tMinor\n\n")
    errors = read_mqm(path)
    assert [(e.side, e.start, e.end) for e in errors] == [("target", 2, 4), ("source", 1, 2), ("target", 2, 3)]
    assert spans(errors)["A", ("d", 0)] == [(2, 4, "Minor", "Style")]
    assert spans(errors, "source")["A", ("d", 0)] == [(1, 2, "Major", "Source error")]


@pytest.mark.parametrize(("text", "match"), [
    ("system\tdoc\n", "no column 'doc_id'"), (HEAD + "A\td\n", "2 columns"),
    (HEAD + "A\td\t0\t1\tr\ts\tt\tc\tMinor\n", "doc_id")])
def test_faults_are_named(tmp_path: Path, text: str, match: str) -> None:
    path = tmp_path / "m.tsv"
    path.write_text(text)
    with pytest.raises(InputError, match=match):
        read_mqm(path)


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
    released = human_scores(folder, lp, "mqm", "seg")
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
    values, table = ratings.judgments().values, ratings.by_rater()
    with (golden / "mqm" / "mqm_ted_ende.scored.tsv").open() as lines:
        for system, doc, doc_id, score, *raters in csv.reader(lines, delimiter="\t", quoting=csv.QUOTE_NONE):
            row, column = ratings.systems.index(system), place[doc, int(doc_id) - 1]
            assert values[row, column] == pytest.approx(float(score), abs=1e-9)
            for one in raters:
                rater, _, penalty = one.partition("=")
                assert table[ratings.raters.index(rater), row, column] == pytest.approx(-float(penalty), abs=1e-9)
    for key, weights in (("system_means", SeverityWeights()), ("system_means_wmt22_weights", SeverityWeights(WMT22))):
        found = mqm_ratings(errors, weights)
        means = np.nanmean(found.judgments().values, axis=1)
        for system, mean in expected[key].items():
            assert means[found.systems.index(system)] == pytest.approx(mean, abs=1e-9)

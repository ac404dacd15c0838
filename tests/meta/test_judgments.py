"""Human judgments: MQM weights and files, ratings by rater, released averages and z-scores, exactly."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from tests.meta import evalset_folder
from wholetext.errors import AlignmentError, InputError
from wholetext.io.formats.evalset import EvalSet
from wholetext.meta.judgments import (
    STANDARD,
    WMT22,
    MqmError,
    find_ratings,
    gather,
    mean_table,
    mqm_ratings,
    penalty,
    read_mqm,
    read_span_ratings,
    read_weights,
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
    result = read_span_ratings(path, SEGMENTS)
    assert [rated[:3] for rated, _ in result] == [
        ("A", ("d", 0), "r1"), ("B", ("d", 0), "unknown"), ("B", ("d", 1), "unknown")]
    assert [rated[3] for rated, _ in result] == pytest.approx([-5.1, -2.5, -2.5])
    assert [overall for _, overall in result] == [71.0, 88.5, 88.5]


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
    for system, computed in zip(ratings.systems, ratings.judgments().values):
        theirs = released.values[released.systems.index(RELEASED.get(system, system)), columns]
        np.testing.assert_array_equal(np.isnan(computed), np.isnan(theirs))
        np.testing.assert_allclose(computed, theirs, atol=1e-9)
        checked += int((~np.isnan(computed)).sum())
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
            for cell in raters:
                rater, _, penalty = cell.partition("=")
                assert table[ratings.raters.index(rater), row, column] == pytest.approx(-float(penalty), abs=1e-9)
    for key, weights in (("system_means", STANDARD), ("system_means_wmt22_weights", WMT22)):
        result = mqm_ratings(errors, weights)
        means = np.nanmean(result.judgments().values, axis=1)
        for system, mean in expected[key].items():
            assert means[result.systems.index(system)] == pytest.approx(mean, abs=1e-9)


ROWS = [("A", ("d", 0), "r1", 1.0), ("A", ("d", 0), "r2", 3.0), ("B", ("d", 1), "r1", 5.0), ("A", ("e", 0), "r1", 3.0)]


def test_means_over_raters_and_scores_standardised_by_rater() -> None:
    ratings = gather("da", ROWS)
    assert ratings.segments == (("d", 0), ("d", 1), ("e", 0))
    np.testing.assert_array_equal(ratings.judgments().values, [[2.0, np.nan, 3.0], [np.nan, 5.0, np.nan]])
    z = gather("da", ROWS).standardised()
    computed = z.score[z.rater == 0]
    assert computed.mean() == pytest.approx(0.0)
    assert computed.std(ddof=1) == pytest.approx(1.0)
    assert z.score[z.rater == 1].tolist() == [0.0]  # one rating has no spread
    population = gather("da", ROWS).standardised(ddof=0)
    assert population.score[population.rater == 0].std() == pytest.approx(1.0)


@pytest.mark.data
@pytest.mark.parametrize(("name", "lp"), [("wmt22.da", "cs-en"), ("wmt22.da", "zh-en"), ("wmt21.news", "cs-en")])
def test_released_da_scores(name: str, lp: str, data: Path) -> None:
    """Raw means exactly; z-scores to the six decimals of the file, from the raw scores alone."""
    opened = EvalSet.open(data / "evalsets" / name, lp)
    for gold, tolerance in (("wmt-raw", 1e-9), ("wmt-z", 5e-5)):
        computed, released = find_ratings(opened, gold).ratings.judgments(), opened.human(gold, "seg")
        shared = [system for system in computed.systems if system in released.systems]
        assert len(shared) >= 9
        one = computed.values[[computed.systems.index(s) for s in shared]]
        two = released.values[[released.systems.index(s) for s in shared]]
        np.testing.assert_array_equal(np.isnan(one), np.isnan(two))
        np.testing.assert_allclose(one, two, atol=tolerance)


@pytest.mark.data
def test_where_ratings_are_found(data: Path) -> None:
    sets = data / "evalsets"
    assert find_ratings(EvalSet.open(sets / "wmt21.tedtalks", "en-de"), "mqm").path.endswith("en-de.mqm.raters.tsv")
    news = find_ratings(EvalSet.open(sets / "wmt21.news.mqm", "en-de"), "mqm")
    released = EvalSet.open(sets / "wmt21.news.mqm", "en-de").human("mqm", "seg")
    computed = news.ratings.judgments()
    order = [computed.systems.index(system) for system in released.systems]
    known = ~np.isnan(computed.values[order]) & ~np.isnan(released.values)
    assert known.sum() > 8900
    np.testing.assert_allclose(computed.values[order][known], released.values[known])
    da = find_ratings(EvalSet.open(sets / "wmt22.da", "cs-en"), "wmt-z")
    assert (da.total, da.ratings.scheme) == ("mean", "da-z")
    zh = find_ratings(EvalSet.open(sets / "wmt21.news", "zh-en"), "wmt-raw")
    assert zh.note.startswith("the file has no rater ids")
    with pytest.raises(InputError, match="no ratings of segments"):
        find_ratings(EvalSet.open(sets / "wmt21.tedtalks", "en-de"), "nothing")


LP = "de-en"
TABLE = "system\tseg\tdoc\trater\t"


@pytest.fixture
def evalset(tmp_path: Path) -> Path:
    root = evalset_folder.make(tmp_path)
    (root / "human-scores" / f"{LP}.mqm.raters.tsv").unlink()
    return root


def table(evalset: Path, name: str, columns: str, value: str, ending: str = "ratings.tsv", head: str = TABLE) -> None:
    """A table in which rater ann rated everything; ``value`` may use i (segment) and k (system)."""
    lines = [head + columns]
    for k, system in enumerate(evalset_folder.SYSTEMS):
        lines += [f"{system}\t{i}\tdoc{i // 5}\tann\t" + value.format(i=i, k=k, d=-i - k) for i in range(8)]
    evalset_folder.write(evalset / "human-scores" / f"{LP}.{name}.{ending}", lines)


@pytest.mark.parametrize("ending", ["ratings.tsv", "raters.tsv"])
@pytest.mark.parametrize(("columns", "value"), [("score", "{d}"), ("sev_score\tspans", "{d}\t[]"),
                                                ("score\tsev_score", "{d}\t-99"), ("sev_score\tscore", "-99\t{d}"),
                                                ("mqm", "{d}.0"), ("spans\tscore", "[[0, 1, \"minor\"]]\t{d}")])
def test_mqm_tables(evalset: Path, columns: str, value: str, ending: str) -> None:
    (evalset / "human-scores" / f"{LP}.mqm.seg.score").unlink()  # or it stands in for rebuilt scores
    table(evalset, "mqm", columns, value, ending)
    result = find_ratings(EvalSet.open(evalset, LP), "mqm")
    assert (result.total, len(result.ratings), result.ratings.raters) == ("sum", 32, ("ann",))
    assert result.ratings.judgments().values[2, 3] == -5.0


def test_a_score_that_is_missing_is_rebuilt_or_left_out_with_a_note(evalset: Path) -> None:
    (evalset / "human-scores" / f"{LP}.mqm.seg.score").unlink()
    table(evalset, "bio", "score\tsev_score", "{d}\t{d}")
    path = evalset / "human-scores" / f"{LP}.bio.ratings.tsv"
    lines = path.read_text().splitlines()
    lines[1], lines[2] = lines[1].replace("\t0\t0", "\tNone\t-7"), lines[2].replace("\t-1\t-1", "\t\t")
    evalset_folder.write(path, lines)
    result = find_ratings(EvalSet.open(evalset, LP), "bio")
    assert len(result.ratings) == 31 and result.ratings.judgments().values[0, 0] == -7.0
    assert result.note == "1 line has no score"


def test_released_scores_stand_in_for_rebuilt_ones(evalset: Path) -> None:
    table(evalset, "mqm", "sev_score\tspans", "-99\t[]")
    result = find_ratings(EvalSet.open(evalset, LP), "mqm")
    gold = evalset_folder.gold()
    assert result.ratings.judgments().values[0].tolist() == gold["alpha"]
    assert result.note == "1 rating has only a score computed from severities"  # beta's, which was not released


def test_esa_is_averaged(evalset: Path) -> None:
    table(evalset, "esa", "score\tspans", "8{i}\t[]")
    result = find_ratings(EvalSet.open(evalset, LP), "esa")
    assert (result.total, result.ratings.judgments().values[0, 4]) == ("mean", 84.0)


@pytest.mark.parametrize("overall", [True, False])
def test_esa_as_json(evalset: Path, overall: bool) -> None:
    """With an overall score beside the errors, or, as mt-metrics-eval writes it, with the errors only."""
    lines, scores = [], {}
    for system in evalset_folder.SYSTEMS:
        for i in range(8):
            rating = {"errors": [{"start": 0, "end": 1, "severity": None, "category": None, "score": None}]}
            lines.append(f"{system}\t{json.dumps({**rating, **({'score': 70 + i} if overall else {})})}\tann")
        scores[system] = [70.0 + i for i in range(8)]
    evalset_folder.write(evalset / "human-scores" / f"{LP}.esa.seg.rating", lines)
    (evalset / "human-scores" / f"{LP}.esa.seg.score").write_text(evalset_folder.score_lines(scores))
    result = find_ratings(EvalSet.open(evalset, LP), "esa")
    assert (result.total, result.ratings.raters) == ("mean", ("ann",))
    assert result.ratings.judgments().values[3].tolist() == scores["gamma"]
    assert ("is used instead" in result.note) is not overall


def test_direct_assessments_and_other_names(evalset: Path) -> None:
    table(evalset, "wmt", "type\traw", "SYSTEM\t7{i}")
    assert find_ratings(EvalSet.open(evalset, LP), "wmt-raw").ratings.judgments().values[0, 3] == 73.0
    assert abs(find_ratings(EvalSet.open(evalset, LP), "wmt-z").ratings.score.mean()) < 1e-12
    table(evalset, "mqm", "score", "{d}")
    assert "are those of de-en.mqm.ratings.tsv" in find_ratings(EvalSet.open(evalset, LP), "mqm-merged").note


@pytest.mark.parametrize(("head", "columns", "value", "text"), [
    (TABLE, "colour", "red", "no column 'score'"), ("system\tline\tdoc\trater\t", "score", "1", "no column 'seg'"),
    (TABLE, "score", "many", "ratings.tsv:2"), (TABLE, "score", "1\t2", "ratings.tsv:2"),
    ("name\tseg\tdoc\trater\t", "score", "1", "no column 'system'"),
    (TABLE, "score", "None", "no ratings in this table"), (TABLE, "score", "inf", "not a score")])
def test_faulty_tables_name_the_place(evalset: Path, head: str, columns: str, value: str, text: str) -> None:
    table(evalset, "mqm", columns, value, head=head)
    with pytest.raises(InputError) as fault:
        find_ratings(EvalSet.open(evalset, LP), "mqm")
    assert text in str(fault.value)


def test_mqm_weights() -> None:
    assert penalty("Major", "Non-translation!", read_weights("standard")) == 25.0
    assert penalty("Major", "Non-translation!", read_weights("wmt22")) == 5.0
    own = read_weights("major=10, minor=1,minor/Fluency/Punctuation=0.2")
    assert [penalty(*error, own) for error in (("major", "x"), ("Minor", "Fluency/Punctuation"), ("neutral", ""))] == [
        10.0, 0.2, 0.0]
    for text in ("major", "major=x", "=3", "major=-1"):
        with pytest.raises(InputError):
            read_weights(text)

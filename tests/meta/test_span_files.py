"""Files of error spans: MQM tables, JSONL, EvalSets; faults are named; files that do not belong together."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import wholetext as wt
from wholetext.errors import AlignmentError, InputError
from wholetext.meta.spans.marks import Annotations, ErrorSpan

MQM = ("system\tdoc\tdoc_id\tseg_id\trater\tsource\ttarget\tcategory\tseverity\n"
       "A\td\t1\t1\tr1\tx\tab <v>cd</v> e\tStyle\tMinor\n"
       "A\td\t1\t1\tr1\tx <v>y</v>\tab cd e\tAccuracy/Omission\tMajor\n"
       "A\td\t2\t2\tr1\tx\tfine\tNo-error\tNo-error\n"
       "A\td\t3\t3\tr1\tx\tno <v>end\tStyle\tCritical\n")


def write(path: Path, text: str) -> Path:
    path.write_text(text, "utf-8")
    return path


def test_mqm_table(tmp_path: Path) -> None:
    result, = wt.meta.read_spans(write(tmp_path / "m.tsv", MQM))
    assert [(mark.segment, mark.text, mark.spans, mark.unplaced) for mark in result.marks] == [
        (0, "ab cd e", (ErrorSpan(3, 5, "minor"),), 1), (1, "fine", (), 0),
        (2, "no end", (ErrorSpan(3, 6, "major"),), 0)]
    assert [mark.error_free(85) for mark in result.marks] == [False, True, False]
    assert len(result.notes) == 2 and "1 error has no place" in result.notes[0] and "not closed" in result.notes[1]


def test_jsonl(tmp_path: Path) -> None:
    rows = [{"system": "A", "doc": "d", "segment": 0, "text": "ab cd", "score": 50,
             "spans": [{"start": 0, "end": 9, "severity": "major"}, {"start": "missing", "end": None,
                       "severity": "major"}, {"start": 0, "end": 1, "severity": "undecided"}]},
            {"system": "A", "doc": "d", "segment": 1, "text": "fine", "score": 90, "spans": []}]
    read, = wt.meta.read_spans(write(tmp_path / "s.jsonl", "\n".join(map(json.dumps, rows))))
    assert [(mark.place, mark.unplaced, mark.error_free(85)) for mark in read.marks] == [
        (("A", "d", 0), 1, False), (("A", "d", 1), 0, True)]
    assert read.marks[0].spans == (ErrorSpan(0, 5, "major"),)
    assert all(any(word in note for note in read.notes) for word in ("after the text", "undecided"))


def test_ratings_of_an_evalset(tmp_path: Path) -> None:
    for part, name, text in (("sources", "en-de.txt", "a\nb\n"), ("documents", "en-de.docs", "news\td\nnews\td\n"),
                             ("system-outputs/en-de", "A.txt", "wrong\nright\n"),
                             ("references", "en-de.refA.txt", "a\nb\n")):
        (tmp_path / part).mkdir(parents=True)
        write(tmp_path / part / name, text)
    (tmp_path / "human-scores").mkdir()
    rating = json.dumps({"errors": [{"start": 0, "end": 5, "severity": "major"},
                                    {"start": 0, "end": 1, "severity": "minor", "is_source_error": True}], "score": 90})
    path = write(tmp_path / "human-scores" / "en-de.esa.seg.rating", f"A\t{rating}\tr1\nA\tNone\n")
    mark, = wt.meta.read_spans(path)[0].marks
    assert (mark.place, mark.rater, mark.spans, mark.unplaced, mark.score, mark.text) == (
        ("A", "d", 0), "r1", (ErrorSpan(0, 5, "major"),), 1, 90.0, "wrong")


HEAD = '{"system": "A", "doc": "d", "segment": 0, "spans": '


@pytest.mark.parametrize(("line", "match"), [
    ('{"system": "A", "doc": "d", "spans": []}', "no system, doc or segment"),
    (HEAD + '[{"start": 4, "end": 2, "severity": "minor"}]}', "begins at 4"),
    (HEAD + '[{"start": -3, "end": 2, "severity": "minor"}]}', "place"),
    (HEAD + '[{"start": 0, "end": 2, "severity": "bad"}]}', "no severity 'bad'"),
    (HEAD + "3}", "cannot be read"), (HEAD + '[], "score": "x"}', "not a number"),
    ("[]", "no error spans"), ('{"a": [}', "not JSON")])
def test_faults_are_named(tmp_path: Path, line: str, match: str) -> None:
    with pytest.raises(InputError, match=match):
        wt.meta.read_spans(write(tmp_path / "s.jsonl", line + "\n"))


def test_a_segment_may_not_be_there_twice(tmp_path: Path) -> None:
    with pytest.raises(AlignmentError, match="there twice"):
        wt.meta.read_spans(write(tmp_path / "s.jsonl", 2 * (HEAD + "[]}\n")))


def test_files_that_do_not_belong_together(tmp_path: Path) -> None:
    gold, = wt.meta.read_spans(write(tmp_path / "m.tsv", MQM))

    def computed(**changes: object) -> Annotations:
        line = {"system": "A", "doc": "d", "segment": 1, "text": "fine", "spans": []} | changes
        return wt.meta.read_spans(write(tmp_path / "s.jsonl", json.dumps(line)))[0]

    assert any("2 of 3 segments" in note for note in wt.meta.evaluate_spans(gold, [computed()]).notes)
    with pytest.raises(AlignmentError, match="another output"):
        wt.meta.evaluate_spans(gold, [computed(text="another")])
    with pytest.raises(AlignmentError, match="no segment is in all files"):
        wt.meta.evaluate_spans(gold, [computed(system="B")])
    scores_only = wt.meta.evaluate_spans(gold, [computed(spans=None, score=0.5)])
    assert np.isnan(scores_only["characters"].values[0]) and scores_only["characters"].ranks == (None,)

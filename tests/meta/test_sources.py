"""Rater files of every kind: `paragraphs` and `meta --k` read them all, and say which scores they took."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.meta import evalset_folder
from wholetext.cli.main import main
from wholetext.errors import InputError
from wholetext.io.formats.evalset import EvalSet
from wholetext.meta.judgments import find_ratings, penalty, read_weights

LP = "de-en"
HEAD = "system\tseg\tdoc\trater\t"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = evalset_folder.make(tmp_path)
    (root / "human-scores" / f"{LP}.mqm.raters.tsv").unlink()
    return root


def table(folder: Path, name: str, columns: str, value: str, ending: str = "ratings.tsv", head: str = HEAD) -> None:
    """A table in which rater ann rated everything; ``value`` may use i (segment) and k (system)."""
    lines = [head + columns]
    for k, system in enumerate(evalset_folder.SYSTEMS):
        lines += [f"{system}\t{i}\tdoc{i // 5}\tann\t" + value.format(i=i, k=k, d=-i - k) for i in range(8)]
    evalset_folder.write(folder / "human-scores" / f"{LP}.{name}.{ending}", lines)


@pytest.mark.parametrize("ending", ["ratings.tsv", "raters.tsv"])
@pytest.mark.parametrize(("columns", "value"), [("score", "{d}"), ("sev_score\tspans", "{d}\t[]"),
                                                ("score\tsev_score", "{d}\t-99"), ("sev_score\tscore", "-99\t{d}"),
                                                ("mqm", "{d}.0"), ("spans\tscore", "[[0, 1, \"minor\"]]\t{d}")])
def test_mqm_tables(folder: Path, columns: str, value: str, ending: str) -> None:
    (folder / "human-scores" / f"{LP}.mqm.seg.score").unlink()  # or it stands in for rebuilt scores
    table(folder, "mqm", columns, value, ending)
    found = find_ratings(EvalSet.open(folder, LP), "mqm")
    assert (found.total, len(found.ratings), found.ratings.raters) == ("sum", 32, ("ann",))
    assert found.ratings.judgments().values[2, 3] == -5.0


def test_a_score_that_is_missing_is_rebuilt_or_left_out_with_a_note(folder: Path) -> None:
    (folder / "human-scores" / f"{LP}.mqm.seg.score").unlink()
    table(folder, "bio", "score\tsev_score", "{d}\t{d}")
    path = folder / "human-scores" / f"{LP}.bio.ratings.tsv"
    lines = path.read_text().splitlines()
    lines[1], lines[2] = lines[1].replace("\t0\t0", "\tNone\t-7"), lines[2].replace("\t-1\t-1", "\t\t")
    evalset_folder.write(path, lines)
    found = find_ratings(EvalSet.open(folder, LP), "bio")
    assert len(found.ratings) == 31 and found.ratings.judgments().values[0, 0] == -7.0
    assert found.note == "1 line has no score"


def test_released_scores_stand_in_for_rebuilt_ones(folder: Path) -> None:
    table(folder, "mqm", "sev_score\tspans", "-99\t[]")
    found = find_ratings(EvalSet.open(folder, LP), "mqm")
    gold = evalset_folder.gold()
    assert found.ratings.judgments().values[0].tolist() == gold["alpha"]
    assert found.note == "1 rating has only a score computed from severities"  # beta's, which was not released


def test_esa_is_averaged(folder: Path) -> None:
    table(folder, "esa", "score\tspans", "8{i}\t[]")
    found = find_ratings(EvalSet.open(folder, LP), "esa")
    assert (found.total, found.ratings.judgments().values[0, 4]) == ("mean", 84.0)


@pytest.mark.parametrize("overall", [True, False])
def test_esa_as_json(folder: Path, overall: bool) -> None:
    """With an overall score beside the errors, or, as mt-metrics-eval writes it, with the errors only."""
    lines, scores = [], {}
    for system in evalset_folder.SYSTEMS:
        for i in range(8):
            rating = {"errors": [{"start": 0, "end": 1, "severity": None, "category": None, "score": None}]}
            lines.append(f"{system}\t{json.dumps({**rating, **({'score': 70 + i} if overall else {})})}\tann")
        scores[system] = [70.0 + i for i in range(8)]
    evalset_folder.write(folder / "human-scores" / f"{LP}.esa.seg.rating", lines)
    (folder / "human-scores" / f"{LP}.esa.seg.score").write_text(evalset_folder.score_lines(scores))
    found = find_ratings(EvalSet.open(folder, LP), "esa")
    assert (found.total, found.ratings.raters) == ("mean", ("ann",))
    assert found.ratings.judgments().values[3].tolist() == scores["gamma"]
    assert ("is used instead" in found.note) is not overall


def test_direct_assessments_and_other_names(folder: Path) -> None:
    table(folder, "wmt", "type\traw", "SYSTEM\t7{i}")
    assert find_ratings(EvalSet.open(folder, LP), "wmt-raw").ratings.judgments().values[0, 3] == 73.0
    assert abs(find_ratings(EvalSet.open(folder, LP), "wmt-z").ratings.score.mean()) < 1e-12
    table(folder, "mqm", "score", "{d}")
    assert "are those of de-en.mqm.ratings.tsv" in find_ratings(EvalSet.open(folder, LP), "mqm-merged").note


def test_commands(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """0.1.0 read ``score`` from .raters.tsv and ``sev_score`` from .ratings.tsv only."""
    table(folder, "mqm", "score", "{d}")
    with pytest.raises(SystemExit):
        main(["paragraphs", str(folder), "--k", "2"])
    out = capsys.readouterr().out
    assert "32 by 1 rater," in out and "2\t12\t3\t0" in out
    with pytest.raises(SystemExit) as end:
        main(["meta", str(folder), "-m", "chrf", "--k", "2", "--draws", "0"])
    assert not end.value.code and "direct" in capsys.readouterr().out


@pytest.mark.parametrize(("head", "columns", "value", "text"), [
    (HEAD, "colour", "red", "no column 'score'"), ("system\tline\tdoc\trater\t", "score", "1", "no column 'seg'"),
    (HEAD, "score", "many", "ratings.tsv:2"), (HEAD, "score", "1\t2", "ratings.tsv:2"),
    ("name\tseg\tdoc\trater\t", "score", "1", "no column 'system'"),
    (HEAD, "score", "None", "no ratings in this table")])
def test_faulty_tables_name_the_place(folder: Path, head: str, columns: str, value: str, text: str) -> None:
    table(folder, "mqm", columns, value, head=head)
    with pytest.raises(InputError) as fault:
        find_ratings(EvalSet.open(folder, LP), "mqm")
    assert text in str(fault.value)


def test_a_segment_beyond_the_corpus(folder: Path) -> None:
    evalset_folder.write(folder / "human-scores" / f"{LP}.mqm.ratings.tsv", [f"{HEAD}score", "alpha\t8\tdoc1\tann\t-1"])
    with pytest.raises(InputError, match=r"ratings\.tsv:2"):
        find_ratings(EvalSet.open(folder, LP), "mqm")


def test_mqm_weights() -> None:
    assert penalty("Major", "Non-translation!", read_weights("standard")) == 25.0
    assert penalty("Major", "Non-translation!", read_weights("wmt22")) == 5.0
    own = read_weights("major=10, minor=1,minor/Fluency/Punctuation=0.2")
    assert [penalty(*error, own) for error in (("major", "x"), ("Minor", "Fluency/Punctuation"), ("neutral", ""))] == [
        10.0, 0.2, 0.0]
    for text in ("major", "major=x", "=3", "major=-1"):
        with pytest.raises(InputError):
            read_weights(text)

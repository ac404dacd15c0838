"""Ratings by rater as WMT published them: direct assessments of WMT19-22, exports of Appraise, MQM of WMT22."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.in_process import call
from tests.meta import evalset_folder
from wholetext.errors import InputError
from wholetext.io.formats.evalset import EvalSet
from wholetext.meta.direct_assessments import published_files, read_assessments
from wholetext.meta.judgments import find_ratings, published_ratings, raw_mqm, table_rows
from wholetext.meta.paragraphs import Windows, paragraphs

HEADER = "HITId WorkerId Input.src Input.trg Input.item hit sys_id rid type sid score time"


def hit(system: str, sid: int | str, score: float, rater: str = "M1", kind: str = "SYSTEM", pair: str = "de en") -> str:
    source, target = pair.split()
    return "\t".join(["3IKD", rater, source, target, "ad", "4", system, "1000039", kind, str(sid), str(score), "931.0"])


def appraise(system: str, segment: int, score: float, doc: str = "doc0", kind: str = "TGT", whole: bool = False) -> str:
    return f"deueng0d03,{system},{segment},{kind},deu,eng,{score:g},{doc},{whole},1665744151.351,1665744158.765"


@pytest.fixture
def evalset(tmp_path: Path) -> EvalSet:
    return EvalSet.open(evalset_folder.make(tmp_path))


def written(path: Path, lines: list[str]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return path


def test_ratings_are_those_of_systems_by_line_of_the_source(evalset: EvalSet, tmp_path: Path) -> None:
    """The header has blanks, lines have tabs; names have the number of the submission; REF and BAD_REF are controls."""
    lines = [HEADER, hit("alpha.7", 1, 0.5), hit("alpha.7", 2, -0.25), hit("beta", 6, 1.0, "M2", "REPEAT"),
             hit("beta", 6, 9.0, "M2", "BAD_REF"), hit("gamma.1+delta.0", 8, 0.125), hit("x", 1, 7.0, pair="cs en")]
    source = published_ratings(written(tmp_path / "ad-deen-good-stnd.csv", lines), evalset)
    ratings = source.ratings
    assert [(ratings.systems[s], ratings.segments[i], ratings.raters[r], value) for s, i, r, value in zip(
        ratings.system, ratings.item, ratings.rater, ratings.score)] == [
            ("alpha", ("doc0", 0), "M1", 0.5), ("alpha", ("doc0", 1), "M1", -0.25), ("beta", ("doc1", 0), "M2", 1.0),
            ("gamma", ("doc1", 2), "M1", 0.125), ("delta", ("doc1", 2), "M1", 0.125)]
    assert (ratings.scheme, source.total, source.note) == ("wmt-z", "mean", "1 quality controls left out")


def test_segments_of_wmt20_are_positions_in_documents(evalset: EvalSet, tmp_path: Path) -> None:
    path = written(tmp_path / "ad-deen-good-stnd-redup.csv", [hit("alpha", f"doc0_{i}", 0.0) for i in range(3)])
    source = published_ratings(path, evalset)
    assert [source.ratings.segments[i] for i in source.ratings.item] == [("doc0", 0), ("doc0", 1), ("doc0", 2)]


def test_raw_scores_are_standardised_by_rater(evalset: EvalSet, tmp_path: Path) -> None:
    path = written(tmp_path / "ad-good-raw.csv", [hit("alpha", i, score) for i, score in enumerate((10, 20, 60), 1)])
    z = published_ratings(path, evalset).ratings.score
    assert z == pytest.approx((np.array([10, 20, 60]) - 30) / np.std([10, 20, 60], ddof=1))
    assert published_ratings(path, evalset, "wmt-raw").ratings.score.tolist() == [10, 20, 60]
    standard = written(tmp_path / "ad-deen-good-stnd.csv", [hit("alpha", 1, 0.5)])
    with pytest.raises(InputError, match="these are standard scores"):
        published_ratings(standard, evalset, "wmt-raw")


@pytest.mark.parametrize(("first", "doc"), [(0, "doc0"), (1, "doc0"), (0, "doc0#1-5")])
def test_exports_of_appraise(first: int, doc: str, evalset: EvalSet, tmp_path: Path) -> None:
    """Positions begin at 0 (WMT21) or 1 (WMT22); DOC#A-B are segments A to B; scores of documents are left out."""
    system = "newstest2021.de-en.hyp.alpha"
    lines = [appraise(system, first + i, 10 * i, doc) for i in range(4)]
    lines += [appraise(system, first, 3, doc, "BAD"), appraise(system, first + 4, 80, doc, whole=True)]
    source = published_ratings(written(tmp_path / "WMT22.Appraise.DocLvl.csv", lines), evalset, "wmt-raw")
    ratings = source.ratings
    assert ratings.systems == ("alpha",) and ratings.raters == ("deueng0d03",)
    assert [ratings.segments[i] for i in ratings.item] == [("doc0", i) for i in range(4)]
    assert source.note == "1 quality controls left out; 1 scores of whole documents left out"
    assert [len(paragraphs(ratings, Windows(k))) for k in (1, 2, 3, 4)] == [4, 2, 1, 1]


def test_exports_without_documents_number_lines(evalset: EvalSet, tmp_path: Path) -> None:
    lines = [f"engliv0d03,generaltest2022.de-en.hyp.beta.liv.txt,{i},TGT,deu,eng,33,1665744151.3,1665744158.7"
             for i in (1, 8)]
    ratings = published_ratings(written(tmp_path / "WMT22.Appraise.SegLvl.csv", lines), evalset, "wmt-raw").ratings
    assert ratings.systems == ("beta",) and [ratings.segments[i] for i in ratings.item] == [("doc0", 0), ("doc1", 2)]


def test_files_of_a_pair_are_found_in_an_archive(tmp_path: Path) -> None:
    """WMT19 rated zh-en twice, by sentence and by document; each folder has one file of each kind."""
    snt, doc = (tmp_path / f"mturk-{kind}-humaneval-newstest2019" / "analysis" for kind in ("sntlevel", "doclevel"))
    for path in (snt / "ad-zhen-good-stnd.csv", snt / "ad-zhen-good-stnd-redup.csv", doc / "ad-zhen-good-stnd.csv",
                 doc / "ad-deen-good-stnd.csv", doc / "ad-good-raw.csv"):
        written(path, [HEADER])
    assert published_files(tmp_path, "zh-en") == [snt / "ad-zhen-good-stnd-redup.csv", doc / "ad-zhen-good-stnd.csv"]
    assert published_files(tmp_path, "zh-en", raw=True) == [doc / "ad-good-raw.csv"]
    assert published_files(tmp_path, "kk-en") == [doc / "ad-good-raw.csv"]


def test_a_published_file_in_an_evalset_is_its_ratings(evalset: EvalSet, tmp_path: Path,
                                                       capsys: pytest.CaptureFixture[str]) -> None:
    lines = [hit(system, i, 0.1 * i) for system in ("alpha", "beta") for i in range(1, 9)]
    written(evalset.root / "human-scores" / "newstest2019-humaneval" / "ad-deen-good-stnd.csv", lines)
    source = find_ratings(evalset, "wmt-z")
    assert len(source.ratings) == 16
    code, out, _ = call(capsys, "meta", "paragraphs", evalset.root, "--gold", "wmt-z", "--k", "1,2,4")
    assert not code and [line.split("\t")[1] for line in out.splitlines()[3:]] == ["16", "6", "2"]
    code, out, _ = call(capsys, "meta", "paragraphs", evalset.root, "--k", "2", "--out", tmp_path / "out", "--ratings",
                        evalset.root / "human-scores" / "newstest2019-humaneval")
    assert not code and "wmt-z ratings of" in out and "2\t6\t3\t0" in out
    assert (tmp_path / "out" / "wmt22.small.k2" / "human-scores" / "de-en.wmt-z.seg.score").is_file()


@pytest.mark.parametrize(("name", "lines", "words"), [
    ("ad-deen-good-stnd.csv", [hit("alpha", 9, 0.5)], "segment 9 is rated, the corpus has 8"),
    ("ad-deen-good-stnd.csv", [hit("alpha", "other_0", 0.5)], "document 'other' is rated, and is not in the corpus"),
    ("ad-deen-good-stnd.csv", [hit("alpha", 1, 0.5, pair="cs en")], "there are no direct assessments of de-en here"),
    ("ad-deen-good-stnd.csv", ["one two three"], "this line is no direct assessment"),
    ("ad-deen-good-stnd.csv", [hit("alpha", 1, 0.5).replace("0.5", "high")], "'high' is not a score")])
def test_what_does_not_fit_is_named(name: str, lines: list[str], words: str, evalset: EvalSet, tmp_path: Path) -> None:
    path = written(tmp_path / name, [HEADER, *lines])
    with pytest.raises(InputError, match=words):
        published_ratings(path, evalset)
    with pytest.raises(InputError, match="there are no direct assessments of de-en in this folder"):
        published_ratings(evalset.root / "sources", evalset)


MQM_2022 = "system\tdoc\tdoc_id\tseg_id\trater\tsource\ttarget\tcategory\tseverity"
MQM_LATER = "system\tdoc\tdocSegId\tglobalSegId\trater\tsource\ttarget\tcategory\tseverity\tmetadata"
MQM_THREE = "document_id\tdoc_segment_id\tsystem_id\trater_id\tsource\tcandidate\tcategory\tseverity"


@pytest.mark.parametrize("header", [MQM_2022, MQM_LATER, MQM_THREE])
def test_mqm_of_the_general_task(header: str, tmp_path: Path) -> None:
    """Headers of mqm_generalMT2022_ende.tsv, of later years, and of its three ratings per segment."""
    values = {"system": "refA", "system_id": "refA", "doc": "news.1", "document_id": "news.1", "doc_id": "1",
              "docSegId": "1", "doc_segment_id": "1", "rater": "rater3", "rater_id": "rater3", "category":
              "Fluency/Punctuation", "severity": "minor"}
    checks = {"category": "x", "severity": "HOTW-test"}
    rows = [["".join({**values, **more}.get(name, "") for name in [column]) for column in header.split("\t")]
            for more in ({}, {"severity": "major"}, checks)]
    source = raw_mqm(written(tmp_path / "mqm.tsv", [header, *("\t".join(row) for row in rows)]))
    assert source.ratings.score.tolist() == [-5.1] and source.note == "1 check of raters' attention left out"


def test_mixed_scales_are_refused(tmp_path: Path) -> None:
    paths = [written(tmp_path / name, [hit("a", 1, 0.5)]) for name in ("ad-deen-good-stnd.csv", "ad-good-raw.csv")]
    with pytest.raises(InputError, match="some of these files have standard scores, some raw ones"):
        read_assessments(paths, "de-en", [("d", 0)])


@pytest.mark.data
@pytest.mark.parametrize("folder", ["wmt22.da", "wmt21.news"])
def test_the_published_file_has_the_ratings_of_the_evalset(folder: str, data: Path, tmp_path: Path) -> None:
    """cs-en written as newstest2022-toen/ad-csen-good-stnd.csv has it: the same paragraphs, with the same scores."""
    evalset = EvalSet.open(data / "evalsets" / folder, "cs-en")
    table = evalset.human_files["wmt.ratings.tsv"]
    lines = [hit(f"{row['system']}.3", int(row["seg"]) + 1, float(row["z"]), row["rater"], row["type"], "cs en")
             for _, row in table_rows(table, ("system",))]
    source = published_ratings(written(tmp_path / "ad-csen-good-stnd.csv", [HEADER, *lines]), evalset)
    kept = find_ratings(evalset, "wmt-z").ratings
    assert len(source.ratings) == len(kept) > 1000
    for k in (1, 3, 10):
        ours, theirs = ({(p.system, p.doc, p.start, p.rater): p.score for p in paragraphs(r, Windows(k))}
                        for r in (source.ratings, kept))
        assert ours.keys() == theirs.keys()
        assert max(abs(ours[key] - theirs[key]) for key in ours) < 1e-2  # z is printed with other raters' controls

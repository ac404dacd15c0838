"""Score files of EvalSets: human and metric scores in, the three levels out."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.io.test_evalset import SMALL
from wholetext.errors import AlignmentError, InputError
from wholetext.io.formats import evalset
from wholetext.io.formats.evalset import EvalSet
from wholetext.io.formats.scores import (
    read_scores,
    split_label,
    write_scores,
    write_table,
)
from wholetext.types import Rows, Scores, Signature


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    evalset.write(tmp_path / "small", SMALL)
    human, metric = tmp_path / "small/human-scores", tmp_path / "small/metric-scores/de-en"
    human.mkdir()
    metric.mkdir(parents=True)
    (human / "de-en.mqm.seg.score").write_text("sys.1\t-1\nsys.1\tNone\nsys.1\t-2.5\nrefA\t0\nrefA\t0\nrefA\tNone\n")
    (human / "de-en.mqm.doc.score").write_text("refA 0\nrefA None\nsys.1 -1\nsys.1 -2.5\n")
    (human / "de-en.mqm.domain.score").write_text("web\tsys.1\t-2.5\nnews\tsys.1\t-1\nnews\trefA\t0\nweb\trefA\tNone\n")
    (human / "de-en.mqm.sys.score").write_text("sys.1\t-1.75\nrefA\t0.0\n\n")
    (human / "de-en.mqm.ratings.tsv").write_text("not a score file\n")
    (metric / "chrF-refA.seg.score").write_text("sys.1\t1\nsys.1\t2\nsys.1\t3\n")
    (metric / "QE-1-src.sys.score").write_text("sys.1\t1\nrefA\t2\n")
    return tmp_path / "small"


def test_human_scores_at_every_level(folder: Path) -> None:
    assert EvalSet.open(folder).human_names == (("mqm", "doc"), ("mqm", "domain"), ("mqm", "seg"), ("mqm", "sys"))
    seg = EvalSet.open(folder, "de-en").human("mqm", "seg")
    assert (seg.scheme, seg.level, seg.systems, seg.items) == ("mqm", "seg", ("sys.1", "refA"), ())
    np.testing.assert_array_equal(seg.values, [[-1, np.nan, -2.5], [0, 0, np.nan]])
    doc = EvalSet.open(folder).human("mqm", "doc")
    assert doc.items == ("x", "y") and doc.systems == ("refA", "sys.1")
    domain = EvalSet.open(folder).human("mqm", "domain")
    assert domain.items == ("news", "web")
    np.testing.assert_array_equal(domain.values, [[-1, -2.5], [0, np.nan]])
    np.testing.assert_array_equal(EvalSet.open(folder).human("mqm", "sys").values, [[-1.75], [0]])


def test_metric_scores(folder: Path) -> None:
    assert EvalSet.open(folder).metric_names == (("QE-1-src", "sys"), ("chrF-refA", "seg"))
    # a reference need not be scored
    assert EvalSet.open(folder).metric_scores("chrF-refA", "seg").systems == ("sys.1",)
    scores = EvalSet.open(folder).metric_scores("QE-1-src", "sys", ["refA", "sys.1"])
    assert scores.systems == ("refA", "sys.1")
    np.testing.assert_array_equal(scores.values, [[2], [1]])
    with pytest.raises(AlignmentError, match="no scores of 'refA'"):
        EvalSet.open(folder).metric_scores("chrF-refA", "seg", ["sys.1", "refA"])


def test_labels() -> None:
    assert split_label("chrF-refA") == ("chrF", ("refA",))
    assert split_label("COMET-22-refA.refB") == ("COMET-22", ("refA", "refB"))
    assert split_label("QE-1-src") == ("QE-1", ())
    assert split_label("plain") == ("plain", ())


@pytest.mark.parametrize(("text", "says", "line"), [
    ("sys.1\t1\nsys.1\t2\n", "'sys.1' has 2 scores, expected 3", None),
    ("sys.1\t1\nsys.1\t2\nsys.1\t3\nsys.1\t4\n", "has 4 scores, expected 3", None),
    ("sys.1\t1\nsys.1\tNone\nsys.1\t3\n", "'None' is not a score", 2), ("sys.1\tnan\n", "'nan' is not a score", 1),
    ("sys.1\tinf\n", "'inf' is not a score", 1), ("sys.1\tx\n", "'x' is not a score", 1),
    ("sys.1\t1_0\n", "'1_0' is not a score", 1), ("sys.1\n", "has 1 column, expected 2", 1),
    ("a b c\n", "has 3 columns", 1), ("", "no scores in this file", None),
    ("sys.2\t1\nsys.2\t2\nsys.2\t3\n", "scores of 'sys.2', which has no output", None),
    ("refA\t1\nrefA\t2\nrefA\t3\n", "no scores of 'sys.1'", None),
])  # fmt: skip
def test_metric_scores_are_strict(text: str, says: str, line: int | None, folder: Path) -> None:
    path = folder / "metric-scores/de-en/chrF-refA.seg.score"
    path.write_text(text)
    with pytest.raises(InputError, match=says) as caught:
        EvalSet.open(folder, "de-en").metric_scores("chrF-refA", "seg")
    assert caught.value.where == str(path) + (f":{line}" if line else "")


def test_faults_of_names_and_domains(folder: Path) -> None:
    with pytest.raises(InputError, match=r"no scores 'mqn.seg'") as caught:
        EvalSet.open(folder).human("mqn", "seg")
    assert "mqm.seg" in caught.value.next
    (folder / "human-scores/de-en.mqm.domain.score").write_text("news\tsys.1\t1\n")
    with pytest.raises(AlignmentError, match="has scores for the domains news, expected one each for news, web"):
        EvalSet.open(folder).human("mqm", "domain")


def scores(system: str, values: list[float], higher: bool = True) -> Scores:
    rows = Rows(("x", "y"), np.array([2, 1]), np.array([0, 0, 1]), np.array([0, 1, 0]), np.array([1, 2, 1]), np.ones(3))
    stats = np.array([[value, 1.0] for value in values])

    def mean(totals: np.ndarray) -> np.ndarray:
        return totals[..., :1] / totals[..., 1:]

    return Scores("m", system, rows, stats, mean, mean, ("m",), higher, (0, 1), Signature({}))


def test_written_scores_read_back_exactly(folder: Path) -> None:
    target = folder / "metric-scores/de-en"
    made = write_scores(target, "mine-refA", [scores("sys.1", [0.1, 1 / 3, 2e-17]), scores("refA", [1, 2, 3])])
    assert [path.name for path in made] == ["mine-refA.seg.score", "mine-refA.doc.score", "mine-refA.sys.score"]
    seg = EvalSet.open(folder).metric_scores("mine-refA", "seg")
    assert seg.systems == ("sys.1", "refA")
    np.testing.assert_array_equal(seg.values, [[0.1, 1 / 3, 2e-17], [1, 2, 3]])
    np.testing.assert_array_equal(EvalSet.open(folder).metric_scores("mine-refA", "doc").values[1], [1.5, 3])
    np.testing.assert_array_equal(EvalSet.open(folder).metric_scores("mine-refA", "sys").values[1], [2])


def test_lower_is_better_is_written_negated_and_gaps_only_on_request(tmp_path: Path) -> None:
    write_scores(tmp_path, "TER-refA", [scores("s", [1, 2, 3], higher=False)])
    np.testing.assert_array_equal(read_scores(tmp_path / "TER-refA.seg.score", "TER", "seg").values, [[-1, -2, -3]])
    with pytest.raises(InputError, match="score 2 of system 's' is not a number"):
        write_table(tmp_path / "gap.seg.score", ["s"], [np.array([1, np.nan])])
    write_table(tmp_path / "gap.seg.score", ["s"], [np.array([1, np.nan])], gaps=True)
    assert (tmp_path / "gap.seg.score").read_text() == "s\t1.0\ns\tNone\n"
    assert np.isnan(read_scores(tmp_path / "gap.seg.score", "gap", "seg").values[0, 1])


@pytest.mark.data
@pytest.mark.slow
def test_all_real_texts_and_score_files(data: Path) -> None:
    files = 0
    for folder in sorted((data / "evalsets").iterdir()):
        for pair in evalset.language_pairs(folder):
            opened = EvalSet.open(folder, pair)
            if folder.name == "wmt20.scores":
                with pytest.raises(InputError, match="has no texts"):
                    opened.load()
            else:
                assert opened.load().outputs
            for name, level in opened.human_names:
                judged = opened.human(name, level)
                assert judged.values.shape[0] == len(judged.systems) and not np.isinf(judged.values).any()
                files += 1
            for label, level in opened.metric_names:
                assert np.isfinite(opened.metric_scores(label, level).values).all()
                files += 1
    assert files == len(list((data / "evalsets").rglob("*.score")))


def test_golden_metric_files(golden: Path) -> None:
    folder = golden / "meta/mtme_layout/wmt21.tedtalks"
    assert EvalSet.open(folder, "zh-en").metric_names == (("BLEU-refB", "seg"), ("BLEU-refB", "sys"),
                                                          ("noise2-src", "seg"), ("noise2-src", "sys"))
    arrays = np.load(golden / "meta/wmt21.tedtalks.zh-en.metric_scores.npz", allow_pickle=False)
    for label, name in (("BLEU-refB", "BLEU"), ("noise2-src", "noise2")):
        found = EvalSet.open(folder).metric_scores(label, "seg")
        assert found.systems == tuple(arrays["systems"])
        np.testing.assert_array_equal(found.values, arrays[name])  # (13 systems, 529 segments)

"""Participants of a meta-evaluation: which systems take part, their human scores, and conventions of WMT."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.meta import evalset_folder
from tests.meta.evalset_folder import LP, participants, score_lines
from wholetext.errors import InputError
from wholetext.io.formats.evalset import EvalSet
from wholetext.meta import conventions
from wholetext.meta.metric_scores import gather
from wholetext.meta.participants import Selection, read_participants
from wholetext.meta.tasks import MetricTests, read_task, run_task


def test_who_takes_part(folder: Path) -> None:
    field = read_participants(EvalSet.open(folder), Selection())
    assert field.systems == evalset_folder.SYSTEMS
    assert field.left_out == {"refB": "human"}
    assert (field.gold_name, field.refs) == ("mqm", ("refA",))
    with_human = participants(folder, human=True)
    assert "refB" in with_human.systems
    close = participants(folder, human=True, close_refs=("refB",))
    assert close.left_out == {"refB": "close to the metrics' reference"}
    own = participants(folder, human=True, refs=("refB",))
    assert own.left_out == {"refB": "the metrics' reference"}
    few = participants(folder, systems=("alpha", "beta"))
    assert few.systems == ("alpha", "beta")


@pytest.mark.parametrize(("choice", "match"), [
    ({"gold": "wmt"}, "no human scores 'wmt'"), ({"refs": ("refZ",)}, "no reference 'refZ'"),
    ({"domains": ("sport",)}, "no domain 'sport'"), ({"systems": ("omega",)}, "no judged system 'omega'"),
    ({"systems": ("alpha",)}, "1 system is left"), ({"test_set": "wmt_23"}, "did you mean wmt23")])
def test_faulty_choices(folder: Path, choice: dict[str, Any], match: str) -> None:
    with pytest.raises(InputError, match=match):
        participants(folder, **choice)


def test_levels_are_means_of_judged_segments(folder: Path) -> None:
    field = participants(folder)
    seg = field.gold("seg")
    assert np.isnan(seg[1, 3])
    np.testing.assert_allclose(field.gold("doc")[:, 0], np.nanmean(seg[:, :5], axis=1))
    np.testing.assert_allclose(field.gold("sys")[:, 0], np.nanmean(seg, axis=1))
    np.testing.assert_allclose(field.gold("domain"), field.gold("doc"))
    talks = participants(folder, domains=("talks",))
    np.testing.assert_allclose(talks.gold("sys")[:, 0], np.nanmean(seg[:, 5:], axis=1))
    assert talks.judged.tolist() == [False] * 5 + [True] * 3


def test_a_sample_of_documents(folder: Path) -> None:
    field = participants(folder, sample=1)
    doc = field.runs[0] if field.judged[0] else field.runs[1]
    assert field.judged.sum() == doc.stop - doc.start
    assert any("a sample of 1 of 2 judged documents (seed 12345)" in note for note in field.notes)
    good = gather(field, ["good"]).metrics[0]
    of_systems = good.at("sys", field)
    assert of_systems is not None and field.seg is not None
    own = np.where(np.isnan(field.seg[0]), np.nan, good.levels["seg"][0])
    np.testing.assert_allclose(of_systems[0, 0], np.nanmean(own))  # stored ones are of the whole set
    assert participants(folder, sample=5).judged.sum() == 8
    assert len({participants(folder, sample=1, seed=seed).judged[0] for seed in range(9)}) == 2


def test_conventions() -> None:
    assert conventions.standard_references("wmt21.news", "en-de", ["refA", "refC"]) == ("refC",)
    assert conventions.standard_references("wmt21.tedtalks", "en-ru", ["refA"]) == ("refA",)
    assert conventions.conventions("wmt20.scores").outliers["pl-en"] == "zlabs-nlp.1162"
    assert conventions.conventions("wmt21.news").outliers == {}
    assert conventions.standard_gold(["wmt-z", "mqm"]) == "mqm"


def test_standardised_gold_of_systems(folder: Path) -> None:
    """WMT19-21 take z-scores for systems, raw ones for segments; WMT22 and later do not."""
    human, none = folder / "human-scores", MetricTests(draws=0)
    (human / f"{LP}.mqm.seg.score").rename(human / f"{LP}.wmt-raw.seg.score")
    turned = {s: [None if v is None else -v / 10 for v in row] for s, row in evalset_folder.gold().items()}
    (human / f"{LP}.wmt-z.seg.score").write_text(score_lines(turned))
    for name, mean in (("wmt-raw", 3.0), ("wmt-z", 7.0)):
        (human / f"{LP}.{name}.sys.score").write_text(score_lines({s: [mean] for s in turned}))
    for test_set, name, mean in (("wmt20", "wmt-z", 7.0), ("wmt21.news", "wmt-z", 7.0), ("wmt22", "wmt-raw", 3.0)):
        field = participants(folder, test_set=test_set)
        assert (field.gold_name, field.gold_at("sys"), field.gold_at("seg")) == ("wmt-raw", name, "wmt-raw")
        assert field.gold("sys").tolist() == [[mean]] * 4
    part = participants(folder, test_set="wmt20", domains=("talks",))  # means of standardised scores of segments
    assert part.gold_at("sys") == "wmt-z"
    np.testing.assert_allclose(part.gold("sys")[:, 0], -np.nanmean(part.gold("seg"), axis=1) / 10)
    both = participants(folder, test_set="wmt20"), participants(folder, test_set="wmt20", gold="wmt-raw")
    soft, raw = (run_task(gather(field, ["good"]), read_task("sys:spa"), none) for field in both)
    assert (soft.gold, raw.gold) == ("wmt-z", "wmt-raw")  # soft pairwise accuracy is of systems
    assert soft.value("good") < 0.5 < raw.value("good")  # here the one is the other turned round


def test_outliers_are_left_out_as_wmt_does(folder: Path) -> None:
    renamed = folder.parent / "wmt22"
    folder.rename(renamed)
    for path in (*renamed.rglob("*de-en*"), *renamed.rglob("de-en")):
        if path.exists() and "de-en" in path.name:
            path.rename(path.with_name(path.name.replace("de-en", "en-de")))
    for path in (*renamed.rglob("*.score"), *renamed.rglob("*.tsv")):
        path.write_text(path.read_text().replace("gamma", "M2M100_1.2B-B4"))
    field = read_participants(EvalSet.open(renamed, "en-de"), Selection())
    assert field.left_out["M2M100_1.2B-B4"] == "outlier"
    assert "M2M100_1.2B-B4" in read_participants(EvalSet.open(renamed, "en-de"), Selection(outliers=True)).systems

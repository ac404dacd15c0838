"""Published scores of WMT25 (GEMBA-ESA among them) as metrics of a meta-evaluation."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tests.meta import evalset_folder
from wholetext.cli.main import main
from wholetext.errors import WholetextError
from wholetext.io.formats.evalset import EvalSet
from wholetext.meta.metric_scores import MetricSelection, gather
from wholetext.meta.participants import Participants, Selection, read_participants

SIZES = {"doc0": 5, "doc1": 3}
Change = Callable[[dict[str, object]], None]


def publish(folder: Path, scores: dict[str, np.ndarray], change: Change | None = None) -> Path:
    """System → eight scores of the judge, written document by document, in another order than the EvalSet's."""
    folder.mkdir()
    for system, row in scores.items():
        lines = []
        for doc, part in (("doc1", row[5:]), ("doc0", row[:5])):
            domain = "news" if doc == "doc0" else "talks"
            line: dict[str, object] = {"language_pair": "deu_Latn-en_GB", "domain": domain, "document_id": doc,
                                       "metric_scores": {"GEMBA-ESA": part.tolist(), "chrF++": (-part).tolist()}}
            if change and system == "beta":
                change(line)
            lines.append(json.dumps(line) + "\n")
        (folder / f"{system}.jsonl").write_text("".join(lines))
    return folder


def take_part(folder: Path) -> Participants:
    return read_participants(EvalSet.open(folder, "de-en"), Selection())


@pytest.fixture
def scores() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(7)
    return {system: 60 + 20 * rng.random(8) - 5 * k for k, system in enumerate(evalset_folder.SYSTEMS)}


def test_scores_find_their_segments(tmp_path: Path, scores: dict[str, np.ndarray]) -> None:
    where = take_part(evalset_folder.make(tmp_path))
    found = gather(where, MetricSelection(files=(publish(tmp_path / "auto", scores),)))
    assert [metric.name for metric in found.metrics] == ["GEMBA-ESA", "chrF++"]
    expected = np.stack([scores[system] for system in where.systems])
    assert np.array_equal(found.metrics[0].levels["seg"], expected)
    one = gather(where, MetricSelection(names=("chrF++",), files=(tmp_path / "auto",)))
    assert [metric.name for metric in one.metrics] == ["chrF++"]


def test_the_table_is_that_of_score_files(
    tmp_path: Path, scores: dict[str, np.ndarray], capsys: pytest.CaptureFixture[str]
) -> None:
    folder, rows = evalset_folder.make(tmp_path), {name: list(row) for name, row in scores.items()}
    (tmp_path / "GEMBA-ESA-src.seg.score").write_text(evalset_folder.score_lines(rows))
    publish(tmp_path / "auto", scores)
    tables = []
    for source in ("auto", "GEMBA-ESA-src.seg.score"):
        with pytest.raises(SystemExit, match="0"):
            main(["meta", str(folder), "-l", "de-en", "-m", "GEMBA-ESA", "--scores", str(tmp_path / source),
                  "--level", "sys", "--level", "seg", "--draws", "50", "--json"])
        tables.append(json.loads(capsys.readouterr().out)["tasks"])
    assert tables[0] == tables[1] and tables[0][0]["metrics"][0]["name"] == "GEMBA-ESA"


def drop_last(line: dict[str, object]) -> None:
    line["metric_scores"]["GEMBA-ESA"].pop()  # type: ignore[index]


def empty_first(line: dict[str, object]) -> None:
    line["metric_scores"]["GEMBA-ESA"][0] = None  # type: ignore[index]


def rename(line: dict[str, object]) -> None:
    line["document_id"] = "other"


@pytest.mark.parametrize(("change", "says"), [
    (drop_last, "4 scores of document 'doc0', which has 5 segments"),
    (empty_first, "2 gaps in what people judged .first: system beta, item 1"),
    (rename, "7 gaps in what people judged"),
])
def test_what_does_not_fit_is_an_error(
    tmp_path: Path, scores: dict[str, np.ndarray], change: Change, says: str
) -> None:
    where = take_part(evalset_folder.make(tmp_path))
    files = (publish(tmp_path / "auto", scores, change),)
    with pytest.raises(WholetextError, match=says):
        gather(where, MetricSelection(files=files))
    if change is empty_first:
        assert len(gather(where, MetricSelection(files=files, missing="drop")).metrics) == 2


def test_ids_of_wmt25_and_foreign_documents(tmp_path: Path, scores: dict[str, np.ndarray]) -> None:
    folder = evalset_folder.make(tmp_path)
    page = folder / "documents" / "de-en.docs"
    original = page.read_text()
    page.write_text(original.replace("doc0", "de-en_GB_#_news_#_doc0").replace("doc1", "de-en_GB_#_talks_#_doc1"))
    files = (publish(tmp_path / "auto", scores),)
    found = gather(take_part(folder), MetricSelection(files=files))
    assert not np.isnan(found.metrics[0].levels["seg"]).any()
    page.write_text(original.replace("doc", "page"))
    with pytest.raises(WholetextError, match="none of the 2 published documents is in the EvalSet"):
        gather(take_part(folder), MetricSelection(files=files))

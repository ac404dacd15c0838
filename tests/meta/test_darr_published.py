"""The document-level DArr Kendall that WMT20 published, reproduced to its printed digits from the released scores."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from wholetext.io.formats.evalset import EvalSet
from wholetext.meta.agreement.measures import Measure, estimate

pytestmark = pytest.mark.data


def document_gold(folder: Path, lp: str) -> tuple[list[str], np.ndarray]:
    """Document scores as means of the judged segments: the released document files are rounded."""
    judged = EvalSet.open(folder, lp).human("wmt-raw", "seg")
    means = [[np.nanmean(row[run.start : run.stop]) if (~np.isnan(row[run.start : run.stop])).any() else np.nan
              for run in EvalSet.open(folder, lp).documents] for row in judged.values]
    return list(judged.systems), np.array(means)


@pytest.mark.parametrize("lp", ["cs-en", "en-de", "en-ja", "en-ta", "pl-en", "ru-en", "zh-en"])
def test_published_document_level_darr(lp: str, data: Path, golden: Path) -> None:
    folder = data / "evalsets" / "wmt20.scores"
    with (folder / "published" / "doclevel_DArr_kendall.tsv").open() as lines:
        table = {row["metric"]: row for row in csv.DictReader(lines, delimiter="\t") if row["lp"] == lp}
    systems, gold = document_gold(folder, lp)
    kept = [i for i, name in enumerate(systems) if not name.startswith(("Human-A", "Human-B"))]
    labels = [label for label, level in EvalSet.open(folder, lp).metric_names if level == "doc"]
    full = json.loads((golden / "meta" / "wmt20_doc_darr.json").read_text())["lps"].get(lp, {}).get("expected", {})
    assert len(labels) >= 11
    for label in labels:
        names = [systems[i] for i in kept]
        metric = EvalSet.open(folder, lp).metric_scores(label, "doc", systems=names).values
        result = estimate(gold[kept], metric, Measure("darr", "item", gap=25.0))
        row = table[label.removesuffix("-ref")]
        assert result.pairs == int(row["n_pairs"]), label
        printed = row["kendall_like_tau"]
        assert result.value == pytest.approx(float(printed), abs=0.51 * 10 ** -len(printed.partition(".")[2])), label
        if label in full:
            assert result.value == pytest.approx(full[label]["from_mean_of_seg_scores"]["kendall_like"], abs=1e-9)

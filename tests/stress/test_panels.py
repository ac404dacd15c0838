"""stress.json as panels: heat-maps, doses, examples with what differs marked."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import wholetext as wt
from wholetext.demo import load
from wholetext.reporting import read_study
from wholetext.reporting.panels import Examples, Grid, Table
from wholetext.scoring.evaluate import Options


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    corpus, outputs = load("de-en")
    settings = wt.stress.StressOptions(("swap", "drop", "number", "resegment", "connective"), ("1", "all"), draws=20)
    found = wt.stress.stress(corpus, outputs, ["chrf", "whole:chrf"], settings, Options(cache=False))
    path = tmp_path_factory.mktemp("stress") / "run"
    wt.stress.write_stress(found, path)
    return path


@pytest.fixture(scope="module")
def figures(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "stress.json").read_text("utf-8"))
    return found


def test_heat_maps_of_errors_and_of_harmless_changes(folder: Path, figures: dict[str, Any]) -> None:
    study = read_study(folder / "stress.json")
    preferred, alarms, loss = [panel for panel in study.panels if isinstance(panel, Grid)]
    assert preferred.rows == ("swap", "drop", "number") and alarms.rows == ("resegment",)
    assert loss.rows == ("swap", "drop", "number", "resegment") and loss.centred
    assert (loss.ends, preferred.ends, alarms.ends) == (None, (0.0, 100.0), (0.0, 100.0))
    assert all(panel.columns == ("chrf", "whole:chrf") for panel in (preferred, alarms, loss))
    cells = {(one["change"], one["metric"]): one for one in figures["figures"] if one["dose"] == "all"}
    assert preferred.values[0] == tuple(100 * cells["swap", name]["preferred"] for name in preferred.columns)
    assert loss.values[1][0] == cells["drop", "chrf"]["effect"]
    assert alarms.values[0][1] == 0 and "11 documents, 11 ties" in alarms.extra[0][1]
    (table,) = [panel for panel in study.panels if isinstance(panel, Table) and panel.columns[0].startswith("dose")]
    losses = [one["effect"] for one in figures["figures"] if (one["change"], one["metric"]) == ("drop", "chrf")]
    assert table.columns == ("dose 1", "dose all") and dict(table.rows)["drop · chrf"] == tuple(losses)
    assert wt.open_run(folder).systems == tuple(figures["systems"])
    assert study.warnings == tuple(figures["notes"]) and "connective: made in no document" in " ".join(study.warnings)


def test_examples_mark_what_differs(folder: Path, figures: dict[str, Any]) -> None:
    (examples,) = [panel for panel in read_study(folder / "stress.json").panels if isinstance(panel, Examples)]
    assert {row[0] for row in examples.rows} == {"swap", "drop", "number", "resegment"} and examples.lang == "en"
    texts = {(one["change"], one["doc"], part["segment"]): part
             for one in figures["examples"] for part in one["segments"]}
    for change, place, before, after in examples.rows:
        doc, _, segment = place.rpartition(", ")
        part = texts[change, doc, int(segment) - 1]
        assert "".join(words for words, _ in before) == part["original"]
        assert "".join(words for words, _ in after) == part["changed"]
        assert any(marked for _, marked in before) and any(marked for _, marked in after)
        if change == "number":
            assert [words for words, marked in before if not marked] == [words for words, marked in after if not marked]

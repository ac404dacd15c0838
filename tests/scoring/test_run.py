"""A run from Python: scored, compared, written and refused as on the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

import wholetext as wt
from wholetext.demo import load

LOADED = wt.Loaded(*load("de-en"), ("read with care",))
HOW = wt.Significance(draws=50, baseline="literal")


def test_a_run_is_scored_compared_and_written(tmp_path: Path) -> None:
    results = wt.make_run(LOADED, ["chrf"], significance=HOW, out=tmp_path / "run")
    assert results.warnings[0] == "read with care"
    how, found = wt.compare_run(results)
    assert how == HOW and found["chrf"].baseline == "literal" and len(found["chrf"].standings) == 4
    kept, stored = wt.compare_run(wt.open_run(tmp_path / "run"))
    assert kept == HOW and str(stored["chrf"].standings) == str(found["chrf"].standings)
    other = wt.compare_run(results, wt.Significance(draws=50))[1]["chrf"]
    assert other.baseline == other.standings[0].system != "literal"  # the best one


def test_what_cannot_work_is_refused_before_anything_is_scored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wt.make_run(LOADED, "chrf", significance=HOW, out=tmp_path / "run")
    monkeypatch.setattr("wholetext.scoring.run.evaluate", None)
    with pytest.raises(wt.InputError, match="there is no system 'litral'") as caught:
        wt.make_run(LOADED, "chrf", significance=wt.Significance(baseline="litral"))
    assert "literal" in caught.value.next
    with pytest.raises(wt.InputError, match="alpha is 5"):
        wt.make_run(LOADED, "chrf", significance=wt.Significance(alpha=5))
    with pytest.raises(wt.RunError, match="there is a run here already"):
        wt.make_run(LOADED, "chrf", out=tmp_path / "run")


def test_progress_counts_rows_and_names_what_follows() -> None:
    told: list[tuple[str, int, int]] = []
    wt.make_run(LOADED, ["chrf", "whole:bleu"], wt.Options(cache=False, progress=lambda *step: told.append(step)), HOW)
    systems, documents, segments = 4, 12, 112
    assert told[0] == ("chrf", 0, systems * segments)
    assert ("chrf", systems * segments, systems * segments) in told
    assert ("whole:bleu", systems * documents, systems * documents) in told
    stages = [name for name, _, _ in told]
    assert stages.index("whole:bleu") < stages.index("checking outputs") < stages.index("significance tests")
    assert ("significance tests", 1, 2) in told and told[-1] == ("significance tests", 2, 2)


def test_progress_moves_within_a_block() -> None:
    """A block is a thousand requests: with a large model on a small machine that is minutes."""
    pytest.importorskip("transformers")
    told: list[tuple[str, int, int]] = []
    tiny = Path(__file__).parents[1] / "oracle" / "neural" / "models" / "tiny-bert"
    options = wt.Options(cache=False, flags=False, batch_tokens=256, progress=lambda *step: told.append(step))
    wt.evaluate(LOADED.corpus, LOADED.outputs, [f"bertscore@{tiny}"], options)
    done = [now for _, now, _ in told]
    assert done == sorted(set(done)) and len(done) > 10 and told[-1][1] == told[-1][2] == 4 * 112

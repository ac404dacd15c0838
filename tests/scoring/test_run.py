"""A run from Python: scored, compared, written and refused as on the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

import wholetext as wt
from wholetext.demo import load

LOADED = wt.Loaded(*load("de-en"), ("read with care",))
HOW = wt.Significance(draws=50, baseline="literal")


def test_a_run_is_scored_compared_and_written(tmp_path: Path) -> None:
    results = wt.score(LOADED, ["chrf"], significance=HOW, out=tmp_path / "run")
    assert results.warnings[0] == "read with care"
    how, found = results.significance, wt.compare(results)
    assert how == HOW and found["chrf"].baseline == "literal" and len(found["chrf"].standings) == 4
    again = wt.open_run(tmp_path / "run")
    kept, stored = again.significance, wt.compare(again)
    assert kept == HOW and str(stored["chrf"].standings) == str(found["chrf"].standings)
    other = wt.compare(results, wt.Significance(draws=50))["chrf"]
    assert other.baseline == other.standings[0].system != "literal"  # the best one


def test_what_cannot_work_is_refused_before_anything_is_scored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wt.score(LOADED, "chrf", significance=HOW, out=tmp_path / "run")
    monkeypatch.setattr("wholetext.scoring.evaluate._evaluate", None)
    with pytest.raises(wt.errors.InputError, match="there is no system 'litral'") as caught:
        wt.score(LOADED, "chrf", significance=wt.Significance(baseline="litral"))
    assert "literal" in caught.value.next
    with pytest.raises(wt.errors.InputError, match="alpha is 5"):
        wt.score(LOADED, "chrf", significance=wt.Significance(alpha=5))
    with pytest.raises(wt.errors.RunError, match="there is a run here already"):
        wt.score(LOADED, "chrf", out=tmp_path / "run", significance=wt.Significance())


def test_progress_counts_segments_and_names_what_follows() -> None:
    told: list[tuple[str, int, int]] = []
    wt.score(
        LOADED,
        ["chrf", "whole:bleu"],
        options=wt.Options(cache=False, progress=lambda *step: told.append(step)),
        significance=HOW,
    )
    systems, segments = 4, 112
    assert told[0] == ("chrf", 0, systems * segments)
    assert ("chrf", systems * segments, systems * segments) in told
    assert ("whole:bleu", systems * segments, systems * segments) in told
    stages = [name for name, _, _ in told]
    assert stages.index("whole:bleu") < stages.index("checking outputs") < stages.index("significance tests")
    assert ("significance tests", 1, 2) in told and told[-1] == ("significance tests", 2, 2)


def test_progress_moves_within_a_block() -> None:
    """A block is a thousand requests: with a large model on a small machine that is minutes."""
    pytest.importorskip("transformers")
    told: list[tuple[str, int, int]] = []
    tiny = Path(__file__).parents[1] / "oracle" / "neural" / "models" / "tiny-bert"
    options = wt.Options(cache=False, flags=False, batch_tokens=256, progress=lambda *step: told.append(step))
    wt.score(LOADED, [f"bertscore@{tiny}"], options=options)
    done = [now for _, now, _ in told]
    assert done == sorted(set(done)) and len(done) > 10 and told[-1][1] == told[-1][2] == 4 * 112

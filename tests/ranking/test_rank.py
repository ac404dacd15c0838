"""`wt.rank`: published tables, run folders, intervals and clusters."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import wholetext as wt
from wholetext.errors import InputError, RunError, WholetextError
from wholetext.ranking.rank import rank

DATA = Path(__file__).resolve().parents[3] / "shared" / "data" / "wmt25.autorank"
PAGE = Path(__file__).resolve().parents[2] / "docs" / "ranking.md"


def published(folder: Path, scores: dict[str, dict[str, list[list[float | None]]]], pair: str = "en-is_IS") -> Path:
    """Score files: system → metric → documents → paragraphs."""
    folder.mkdir(exist_ok=True)
    for system, by_metric in scores.items():
        count = len(next(iter(by_metric.values())))
        lines = [{"language_pair": pair, "domain": "news" if d % 2 else "speech", "document_id": f"d{d}",
                  "metric_scores": {name: documents[d] for name, documents in by_metric.items()}} for d in range(count)]
        with (folder / f"{system}.jsonl").open("a") as file:
            file.writelines(json.dumps(line) + "\n" for line in lines)
    return folder


def spread(mean: float, documents: int = 30, seed: int = 0) -> list[list[float | None]]:
    draw = np.random.default_rng(seed)
    return [[float(mean + x) for x in draw.normal(size=2)] for _ in range(documents)]


def commands() -> list[list[str]]:
    """The commands of docs/ranking.md that print the published tables."""
    found = re.findall(r"^wholetext rank wmt25/automatic_scores (.+)$", PAGE.read_text("utf-8"), re.M)
    return [line.split() for line in found]


@pytest.mark.data
@pytest.mark.slow
@pytest.mark.skipif(not DATA.is_dir(), reason="the scores of WMT25 are not beside the project")
def test_documented_commands_print_the_published_tables(capsys: pytest.CaptureFixture[str]) -> None:
    from wholetext.cli.main import main

    printed = json.loads((DATA / "printed.json").read_text("utf-8"))
    assert len(commands()) == len(printed) == 13
    for options in commands():
        with pytest.raises(SystemExit, match="0"):
            main(["rank", str(DATA / "automatic_scores"), *options, "--draws", "0", "--json"])
        found = json.loads(capsys.readouterr().out)
        table = printed[options[options.index("-l") + 1]]
        ours = [f"{one['value']:.1f}" for one in found["systems"]]
        assert ours == sorted((row["AutoRank"] for _, row in table), key=float)
        for metric in found["metrics"]:  # names of systems differ, so scores are matched in their order
            means = sorted(one["scores"][metric] for one in found["systems"])
            assert means == pytest.approx(sorted(float(row[metric]) for _, row in table),
                                          abs=0.051 if abs(means[-1]) > 1 else 0.00051)


def test_systems_are_ranked_by_all_metrics_with_intervals_and_clusters(tmp_path: Path) -> None:
    means = {"good": 80.0, "also": 80.01, "middle": 70.0, "bad": 40.0}
    scores = {name: {"A": spread(mean, seed=i), "B": spread(mean / 10, seed=i + 9)}
              for i, (name, mean) in enumerate(means.items())}
    found = rank(published(tmp_path / "s", scores))
    assert [one.system for one in found.systems[2:]] == ["middle", "bad"]
    assert [one.cluster for one in found.systems] == [1, 1, 2, 3]
    assert found.systems[-1].value == 4 and found.systems[-1].places == (4, 4)
    assert {one.places for one in found.systems[:2]} <= {(1, 2), (1, 1), (2, 2)}
    middle = found.systems[2]
    assert middle.interval.low <= middle.value <= middle.interval.high
    assert set(middle.domains) == {"news", "speech"} and set(middle.scores) == {"A", "B"}
    assert rank(tmp_path / "s", draws=0).systems[0].cluster is None
    assert rank(tmp_path / "s") == found  # by seed


def test_lower_is_better_turns_a_metric_round(tmp_path: Path) -> None:
    scores = {"a": {"err": spread(1, seed=1)}, "b": {"err": spread(9, seed=2)}}
    folder = published(tmp_path / "s", scores)
    assert rank(folder, draws=0).systems[0].system == "b"
    assert rank(folder, draws=0, lower_is_better=["err"]).systems[0].system == "a"


def test_missing_scores_are_left_out_and_said(tmp_path: Path) -> None:
    scores: dict[str, Any] = {"a": {"A": [[1.0, None], [3.0, float("nan")]]}, "b": {"A": [[1.0, 1.0], [1.0, 1.0]]}}
    found = rank(published(tmp_path / "s", scores), draws=0)
    assert found.systems[0].scores["A"] == 2.0
    assert any("A: scores of 4 paragraphs, but of a 2" in note for note in found.notes)


def test_language_pairs_are_found_however_their_codes_are_written(tmp_path: Path) -> None:
    one = {"a": {"A": spread(1)}, "b": {"A": spread(2)}}
    folder = published(tmp_path / "s", one, "en-is_IS")
    published(folder, one, "en-sr_Latn_RS")
    published(folder, one, "en-sr_Cyrl_RS")
    for wanted in ("en-is", "eng_Latn-isl_Latn", "en-is_IS"):
        assert rank(folder, langs=wanted, draws=0).langs == "en-is_IS"
    assert rank(folder, langs="en-sr_Cyrl", draws=0).langs == "en-sr_Cyrl_RS"
    for wanted in ("en-sr", "en-fr", "", "foo", "en-"):
        with pytest.raises(InputError, match="language pair"):  # several, none, or not a pair at all
            rank(folder, langs=wanted)


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("[]", "needs the text fields"),
        ('{"language_pair": "en-de", "domain": 1, "document_id": "d", "metric_scores": {}}', "needs the text fields"),
        ('{"language_pair": "en-de", "domain": "n", "document_id": "d", "metric_scores": []}', "must be an object"),
        ('{"language_pair": "en-de", "domain": "n", "document_id": "d", "metric_scores": {"A": 1}}', "list of numbers"),
        ('{"language_pair": "en-de", "domain": "n", "document_id": "d", "metric_scores": {"A": [1e999]}}', "large|of"),
        ("{", "not JSON"),
    ],
)
def test_damaged_score_files_are_named(tmp_path: Path, line: str, says: str) -> None:
    (tmp_path / "a.jsonl").write_text(line + "\n")
    with pytest.raises(WholetextError, match=says) as fault:
        rank(tmp_path)
    assert "a.jsonl:1" in str(fault.value)


def test_json_has_no_numbers_that_json_does_not_know(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from wholetext.cli.main import main

    folder = published(tmp_path / "s", {"a": {"A": spread(1)}, "b": {"A": spread(2)}})
    with pytest.raises(SystemExit, match="0"):
        main(["rank", str(folder), "--draws", "0", "--json"])
    out = capsys.readouterr().out
    assert "NaN" not in out and json.loads(out)["systems"][0]["interval"]["low"] is None


def test_a_document_that_is_there_twice_is_an_error(tmp_path: Path) -> None:
    folder = published(tmp_path / "s", {"a": {"A": spread(1)}})
    published(folder, {"a": {"A": spread(2)}})
    with pytest.raises(InputError, match="'d0' of en-is_IS is there twice"):
        rank(folder)


def test_a_metric_without_any_score_is_left_out_and_said(tmp_path: Path) -> None:
    none: list[list[float | None]] = [[None, None]] * 30
    scores = {name: {"A": spread(i, seed=i), "B": none} for i, name in enumerate("ab")}
    found = rank(published(tmp_path / "s", scores))
    assert found.metrics == ("A",) and "left out, as there is no score at all: B" in found.notes
    with pytest.raises(RunError, match="no score of B"):
        rank(tmp_path / "s", ["B"])


def test_two_documents_separate_nothing(tmp_path: Path) -> None:
    scores = {name: {"A": spread(9 * i, documents=2, seed=i)} for i, name in enumerate("abc")}
    found = rank(published(tmp_path / "s", scores))
    assert [one.cluster for one in found.systems] == [1, 1, 1]
    assert any("no difference can be significant" in note for note in found.notes)


@pytest.mark.parametrize("wrong", [{"method": "autorang"}, {"metrics": ["chrF"]}, {"alpha": 2.0},
                                   {"without": ["A"]}, {"lower_is_better": ["B"]}])
def test_wrong_parameters_are_errors(tmp_path: Path, wrong: dict[str, Any]) -> None:
    folder = published(tmp_path / "s", {"a": {"A": spread(1)}, "b": {"A": spread(2)}})
    with pytest.raises(RunError):
        rank(folder, **wrong)


def test_a_run_is_ranked_by_its_corpus_scores(tmp_path: Path) -> None:
    docs = tuple(wt.Document(f"d{i}", (f"eins {i}",), {"ref": (f"one and {i} more words",)}, {"domain": "ab"[i % 2]})
                 for i in range(24))
    corpus = wt.Corpus("c", ("de", "en"), docs)
    outputs = [wt.Output("good", {doc.id: doc.refs["ref"] for doc in docs}),
               wt.Output("bad", {doc.id: (doc.refs["ref"][0][4:],) for doc in docs}),
               wt.Output("worse", {doc.id: ("else",) for doc in docs})]
    results = wt.evaluate(corpus, outputs, ["bleu", "chrf", "ter"], wt.Options(cache=False))
    wt.write_run(results, tmp_path / "run")
    found = rank(tmp_path / "run", method="mean-rank")
    assert [(one.system, one.value, one.cluster) for one in found.systems] == [
        ("good", 1.0, 1), ("bad", 2.0, 2), ("worse", 3.0, 3)]
    assert found.systems[0].scores["chrf"] == pytest.approx(100.0)
    assert rank(results, method="mean-rank").systems == found.systems
    assert set(found.systems[1].domains) == {"a", "b"}

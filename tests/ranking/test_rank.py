"""`wt.ranking.rank`: published tables, run folders, intervals and clusters."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import wholetext as wt
from tests.in_process import call
from tests.ranking.test_aggregate import autorank_by_loops
from wholetext.errors import InputError, RunError, WholetextError
from wholetext.ranking.procedure import rank

DATA = Path(__file__).resolve().parents[3] / "shared" / "data" / "wmt25.autorank"
PAGE = Path(__file__).resolve().parents[2] / "docs" / "ranking.md"
COMMANDS = Path(__file__).with_name("wmt25_commands.txt")


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
    """The options that print the published tables; those of docs/ranking.md are among them."""
    pattern = re.compile(r"^wholetext rank (?:wmt25/)?automatic_scores (.+)$", re.M)
    every, shown = (pattern.findall(path.read_text("utf-8")) for path in (COMMANDS, PAGE))
    assert shown and {*shown} <= {*every}
    return [line.split() for line in every]


@pytest.mark.data
@pytest.mark.slow
@pytest.mark.skipif(not DATA.is_dir(), reason="the scores of WMT25 are not beside the project")
def test_documented_commands_print_the_published_tables(capsys: pytest.CaptureFixture[str]) -> None:

    printed = json.loads((DATA / "printed.json").read_text("utf-8"))
    compared = [options for options in commands() if options[1] in printed]
    assert len(compared) == len(printed) == 13
    for options in compared:
        found = json.loads(call(capsys, "rank", DATA / "automatic_scores", *options, "--draws", 0, "--json")[1])
        rows = [row for _, row in printed[options[1]]]
        unit = {name: 0.1 ** max(len(row[name].partition(".")[2]) for row in rows)  # tables leave out final zeros
                for name in ("AutoRank", *found["metrics"])}
        for standing in found["systems"]:  # names of systems differ, so rows are found by what they print
            values = {"AutoRank": standing["value"], **standing["scores"]}
            same = [row for row in rows if all(abs(float(row[name]) - value) <= unit[name] / 2 + 1e-9
                                               for name, value in values.items())]
            assert same, (options, standing["system"], values)
            rows.remove(same[0])
        assert not rows


def test_a_pair_with_gaps_ties_and_a_metric_too_many(tmp_path: Path) -> None:
    """Another pair, with all that published files may bring, beside the formula of the shared task in loops."""
    draw = np.random.default_rng(3)
    scores: dict[str, dict[str, list[list[float | None]]]] = {}
    for name in ("NLLB", "A b", "c[M]", "d.e", "F", "g"):
        scores[name] = {metric: [[float(x) for x in draw.normal(size=draw.integers(1, 4))] for _ in range(9)]
                        for metric in ("CometKiwi-XL", "GEMBA", "MetricX")}
        scores[name]["GEMBA"][4][0] = None  # no answer of the judge
    scores["g"] = scores["F"]  # a tie
    folder = published(tmp_path / "s", scores, "ja-zh_CN")
    published(folder, {"NLLB": {"chrF++": spread(1)}}, "en-mas_KE")
    found = rank(folder, without=["CometKiwi-XL"], langs="jpn_Jpan-zho_Hans", draws=0)

    def mean(documents: list[list[float | None]]) -> float:
        known = [x for document in documents for x in document if x is not None]
        return sum(known) / len(known)

    means = np.array([[mean(by_metric[name]) for by_metric in scores.values()] for name in ("GEMBA", "MetricX")])
    wanted = dict(zip(scores, autorank_by_loops(means)))
    assert {standing.system: standing.value for standing in found.systems} == pytest.approx(wanted)
    assert found.langs == "ja-zh_CN" and found.metrics == ("GEMBA", "MetricX")


def test_systems_are_ranked_by_all_metrics_with_intervals_and_clusters(tmp_path: Path) -> None:
    means = {"good": 80.0, "also": 80.01, "middle": 70.0, "bad": 40.0}
    scores = {name: {"A": spread(mean, seed=i), "B": spread(mean / 10, seed=i + 9)}
              for i, (name, mean) in enumerate(means.items())}
    found = rank(published(tmp_path / "s", scores))
    assert [standing.system for standing in found.systems[2:]] == ["middle", "bad"]
    assert [standing.cluster for standing in found.systems] == [1, 1, 2, 3]
    assert found.systems[-1].value == 4 and found.systems[-1].places == (4, 4)
    assert {standing.places for standing in found.systems[:2]} <= {(1, 2), (1, 1), (2, 2)}
    assert rank(tmp_path / "s", draws=0, lower_is_better=["A", "B"]).systems[0].system == "bad"
    middle = found.systems[2]
    assert middle.interval.low <= middle.value <= middle.interval.high
    assert set(middle.domains) == {"news", "speech"} and set(middle.scores) == {"A", "B"}
    undrawn = rank(tmp_path / "s", draws=0)
    assert undrawn.systems[0].cluster is None and undrawn.as_json()["systems"][0]["interval"]["low"] is None
    assert rank(tmp_path / "s") == found  # by seed


def test_metrics_are_given_as_the_header_of_a_table_and_those_used_are_said(tmp_path: Path) -> None:
    """Which metrics entered a published table follows from no rule: its own list can be given, arrows and all."""
    scores: dict[str, Any] = {name: {"CometKiwi-XL": [[mean, None]], "MetricX": [[mean]], "chrF++": [[mean]]}
                              for name, mean in (("a", 1.0), ("b", 2.0))}
    scores["a"]["CometKiwi-XL"] = [[None, None]]  # a gap of a metric that is not ranked goes without saying
    folder = published(tmp_path / "s", scores)
    ranking = rank(folder, ["metricx ↑", "ChrF++ ↑"], draws=0)
    assert ranking.metrics == ("MetricX", "chrF++")
    assert ranking.notes == ("ranked by MetricX, chrF++; not used: CometKiwi-XL",)
    assert rank(folder, without=["cometkiwi-xl"], draws=0) == ranking
    assert any(note.startswith("CometKiwi-XL: scores of") for note in rank(folder, draws=0).notes)


def test_language_pairs_are_found_however_their_codes_are_written(tmp_path: Path) -> None:
    scores = {"a": {"A": spread(1)}, "b": {"A": spread(2)}}
    folder = published(tmp_path / "s", scores, "en-is_IS")
    published(folder, scores, "en-sr_Latn_RS")
    published(folder, scores, "en-sr_Cyrl_RS")
    for wanted in ("en-is", "eng_Latn-isl_Latn", "en-is_IS"):
        assert rank(folder, langs=wanted, draws=0).langs == "en-is_IS"
    assert rank(folder, langs="en-sr_Cyrl", draws=0).langs == "en-sr_Cyrl_RS"
    for wanted in ("en-sr", "en-fr", "", "foo", "en-"):
        with pytest.raises(InputError, match="language pair"):  # several, none, or not a pair at all
            rank(folder, langs=wanted)


@pytest.mark.parametrize(("line", "says"), [
    ("[]", "not a JSON object"), ("{", "not JSON"),
    ('{"language_pair": "en-de", "domain": "n", "document_id": "d", "metric_scores": {"A": 1}}', "lists of"),
])  # fmt: skip
def test_damaged_score_files_are_named(tmp_path: Path, line: str, says: str) -> None:
    (tmp_path / "a.jsonl").write_text(line + "\n")
    with pytest.raises(WholetextError, match=says) as fault:
        rank(tmp_path)
    assert "a.jsonl:1" in str(fault.value)


def test_files_may_be_compressed_and_no_document_is_there_twice(tmp_path: Path) -> None:
    folder = published(tmp_path / "s", {"a": {"A": spread(1, seed=1)}, "GPT-4.1": {"A": spread(9, seed=2)}})
    plain = rank(folder, draws=0)
    (folder / "GPT-4.1.jsonl.gz").write_bytes(gzip.compress((folder / "GPT-4.1.jsonl").read_bytes()))
    (folder / "GPT-4.1.jsonl").unlink()
    assert rank(folder, draws=0) == plain and plain.systems[0].system == "GPT-4.1"
    with pytest.raises(InputError, match="'d0' of en-is_IS is there twice"):
        rank(published(folder, {"a": {"A": spread(2)}}))


def test_systems_that_differ_by_one_paragraph_are_not_told_apart(tmp_path: Path) -> None:
    """Of two systems ranks are 1 and 2 in every resample with that paragraph, and equal in the others."""
    same = spread(1)
    other = [[None, same[0][1]], *same[1:]]
    found = rank(published(tmp_path / "s", {"a": {"A": same}, "b": {"A": other}}))
    assert [standing.cluster for standing in found.systems] == [1, 1]
    clear = rank(published(tmp_path / "t", {"a": {"A": spread(1)}, "b": {"A": spread(9)}}))
    assert [standing.cluster for standing in clear.systems] == [1, 2]


def test_two_documents_separate_nothing(tmp_path: Path) -> None:
    scores = {name: {"A": spread(9 * i, documents=2, seed=i)} for i, name in enumerate("abc")}
    found = rank(published(tmp_path / "s", scores))
    assert [standing.cluster for standing in found.systems] == [1, 1, 1]
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
    results = wt.score(wt.Loaded(corpus, outputs), ["bleu", "chrf", "ter"], options=wt.Options(cache=False))
    wt.scoring.write_run(results, tmp_path / "run")
    found = rank(tmp_path / "run", method="mean-rank")
    assert [(standing.system, standing.value, standing.cluster) for standing in found.systems] == [
        ("good", 1.0, 1), ("bad", 2.0, 2), ("worse", 3.0, 3)]
    assert found.systems[0].scores["chrf"] == pytest.approx(100.0)
    assert rank(results, method="mean-rank").systems == found.systems
    assert set(found.systems[1].domains) == {"a", "b"}


def test_a_system_that_a_metric_never_scored_is_ranked_by_the_others_and_said(tmp_path: Path) -> None:
    """As of a judge that refuses every text of one system."""
    scores: dict[str, Any] = {name: {"A": spread(mean), "B": spread(mean)} for name, mean in (("a", 1.0), ("b", 2.0))}
    scores["c"] = {"A": [[None] * len(document) for document in scores["a"]["A"]], "B": spread(3.0)}
    found = rank(published(tmp_path / "s", scores), draws=0)
    assert any(note.startswith("A: scores of 60 paragraphs, but of c 0") for note in found.notes)
    assert any(note.endswith("fewer than the 2 metrics, since others gave no score: c 1") for note in found.notes)

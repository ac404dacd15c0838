"""Error spans: measures against their definitions written out in loops, metrics of a run, TED raters, files."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import wholetext as wt
from tests.in_process import call
from tests.judges.scripted import ScriptedServer
from wholetext import registry
from wholetext.errors import AlignmentError, InputError
from wholetext.judges.parsers import ASPECTS
from wholetext.meta.spans import evaluate as measures
from wholetext.meta.spans.marks import Annotations, ErrorSpan, Marked
from wholetext.types import FloatArray, Metric, Request, Runtime, mean_stats

Spans = list[tuple[int, int, str]]


# ---------------------------------------------------------------- definitions, character by character, pair by pair


def by_character(gold: Spans, predicted: Spans, credit: float) -> tuple[float, int, int]:
    """WMT25: at each character, marks of the same severity, then ``credit`` for those left on both sides."""
    hit, totals = 0.0, [0, 0]
    for place in range(max((end for _, end, _ in (*gold, *predicted)), default=0)):
        on = [{severity: sum(a <= place < b and s == severity for a, b, s in side) for severity in ("minor", "major")}
              for side in (gold, predicted)]
        left = [0, 0]
        for severity in ("minor", "major"):
            g, p = on[0][severity], on[1][severity]
            hit += min(g, p)
            left[0] += max(0, g - p)
            left[1] += max(0, p - g)
            totals[0] += g
            totals[1] += p
        hit += credit * min(left)
    return hit, totals[0], totals[1]


def by_pairs(gold: Spans, predicted: Spans, credit: float) -> tuple[float, float]:
    """Every one-to-one matching; the best by F1, then by what it covers of both, then of the metric's spans."""
    small, large = sorted((gold, predicted), key=len)
    best = (0.0, 0.0, 0.0)
    for chosen in permutations(range(len(large)), len(small)):
        f1 = of_pred = of_gold = 0.0
        for i, j in enumerate(chosen):
            g, p = (small[i], large[j]) if small is gold else (large[j], small[i])
            common = len(set(range(g[0], g[1])) & set(range(p[0], p[1]))) * (1.0 if g[2] == p[2] else credit)
            f1 += 2 * common / (g[1] - g[0] + p[1] - p[0])
            of_pred += common / (p[1] - p[0])
            of_gold += common / (g[1] - g[0])
        best = max(best, (round(f1, 7), round(of_pred + of_gold, 7), round(of_pred, 7)))
    return best[2], best[1] - best[2]


def loop_f1(hit_p: float, hit_r: float, pred: float, gold: float) -> float:
    p, r = (hit_p / pred if pred else 1.0), (hit_r / gold if gold else 1.0)
    return 2 * p * r / (p + r) if p + r else 0.0


def random_spans(rng: np.random.Generator) -> Spans:
    starts = rng.integers(0, 30, rng.choice([0, 1, 2, 3, 4]))
    return [(int(a), int(a + rng.integers(1, 12)), str(rng.choice(["minor", "major"]))) for a in starts]


def spans(result: Spans) -> tuple[ErrorSpan, ...]:
    return tuple(ErrorSpan(a, b, severity) for a, b, severity in result)  # type: ignore[arg-type]


many = pytest.mark.parametrize("cases", [50, pytest.param(1000, marks=pytest.mark.slow)])


@many
def test_span_statistics_are_those_of_the_definitions(cases: int) -> None:
    rng = np.random.default_rng(7)
    for case in range(cases):
        gold, predicted = random_spans(rng), random_spans(rng)
        credit = float(rng.choice([0.0, 0.5, 1.0]))
        result = measures.span_statistics(spans(gold), spans(predicted), credit)
        hit, in_gold, in_predicted = by_character(gold, predicted, credit)
        of_predicted, of_gold = by_pairs(gold, predicted, credit)
        expected = [hit, in_predicted, hit, in_gold, of_predicted, len(predicted), of_gold, len(gold)]
        assert result == pytest.approx(expected, abs=1e-6), (case, gold, predicted, credit)


def corpus(rng: np.random.Generator, metrics: int) -> tuple[Annotations, list[Annotations]]:
    """Random segments with spans and scores, many of them equal."""
    places = [(f"s{s}", f"d{d}", i) for s in range(2) for d in range(rng.integers(1, 4)) for i in range(2)]

    def annotations(name: str) -> Annotations:
        marks = [Marked(*place, name, spans(random_spans(rng) if rng.random() < 0.6 else []),
                        float(rng.integers(78, 92)), unplaced=int(rng.random() < 0.1)) for place in places]
        return Annotations(name, tuple(marks))

    return annotations("gold"), [annotations(f"m{i}") for i in range(metrics)]


@many
def test_error_free_and_micro_averages_are_those_of_loops(cases: int) -> None:
    rng = np.random.default_rng(8)
    for _ in range(cases // 5):  # five metrics each
        gold, metrics = corpus(rng, 5)
        options = wt.meta.SpanOptions(draws=0, free_at=float(rng.choice([80, 85, 90])))
        result = _quick(gold, metrics, options)
        for metric in metrics:
            expected = loops(gold, metric, options)
            values = {name: result[name].value(metric.name) for name in expected}
            assert values == pytest.approx(expected, abs=1e-6, nan_ok=True)


def _quick(gold: Annotations, metrics: list[Annotations], options: wt.meta.SpanOptions) -> wt.meta.SpanResults:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("wholetext.meta.spans.evaluate.RESAMPLES", 2)
        return wt.meta.evaluate_spans(gold, metrics, options)


def loops(gold: Annotations, metric: Annotations, how: wt.meta.SpanOptions) -> dict[str, float]:
    chars, pairs = [0.0, 0, 0], [0.0, 0.0, 0, 0]
    verdicts, scores = [], []
    for g, m in zip(gold.marks, metric.marks):
        sides: list[Spans] = [[(s.start, s.end, s.severity) for s in mark.spans or ()] for mark in (g, m)]
        chars = [a + b for a, b in zip(chars, by_character(*sides, how.credit))]
        pairs = [a + b for a, b in zip(pairs, (*by_pairs(*sides, how.credit), len(sides[1]), len(sides[0])))]
        assert how.free_at is not None
        verdicts.append((not g.spans and g.unplaced == 0 and g.score >= 85,
                         not m.spans and m.unplaced == 0 and m.score >= how.free_at))
        scores.append(m.score)
    count = {kind: verdicts.count(kind) for kind in ((True, True), (True, False), (False, True), (False, False))}
    wins = [(x > y) + (x == y) / 2 for x, (a, _) in zip(scores, verdicts) if a
            for y, (b, _) in zip(scores, verdicts) if not b]
    hit = count[True, True]
    return {"characters": loop_f1(chars[0], chars[0], chars[2], chars[1]), "matching": loop_f1(*pairs),
            "accuracy": (hit + count[False, False]) / len(verdicts),
            "error-free": loop_f1(hit, hit, hit + count[False, True], hit + count[True, False]),
            "auc": float(np.mean(wins)) if wins else float("nan")}


def test_the_published_case() -> None:
    """A wrong severity earns half, an overlap its characters: 2 of 4 at full credit, 3 at half."""
    gold, predicted = [(0, 4, "major"), (10, 13, "minor")], [(2, 6, "major"), (10, 13, "major")]
    result = measures.span_statistics(spans(gold), spans(predicted))
    assert result.tolist() == [2 + 1.5, 7, 2 + 1.5, 7, 0.5 + 0.5, 2, 0.5 + 0.5, 2]
    assert measures.f1(result, "characters") == pytest.approx(0.5)
    nothing = measures.span_statistics((), ())
    assert measures.f1(nothing, "characters") == 1.0  # as the official script has it


# ---------------------------------------------------------------- significance


def test_a_metric_that_is_right_beats_one_that_is_not() -> None:
    rng = np.random.default_rng(1)
    places = [("s", f"d{d}", i) for d in range(20) for i in range(4)]
    marks = {place: random_spans(rng) for place in places}
    noise = {place: random_spans(rng) for place in places}

    def marked(name: str, source: dict[tuple[str, str, int], Spans]) -> Annotations:
        return Annotations(name, tuple(Marked(*place, name, spans(source[place])) for place in places))

    result = wt.meta.evaluate_spans(marked("gold", marks), [marked("noise", noise), marked("right", marks)])
    for name in ("characters", "matching", "error-free", "accuracy", "auc"):
        table = result[name]
        assert table.metrics == ("right", "noise") and table.ranks == (1, 2), name
        assert table.values[0] == 1.0 and table.p[0, 1] <= 0.01
        assert table.intervals[1].low < table.values[1] < table.intervals[1].high
    same = wt.meta.evaluate_spans(marked("gold", marks), [marked("a", noise), marked("b", noise)])
    assert all(table.ranks == (1, 1) for table in same.measures)
    assert result.documents == 20 and result.segments == 80


# ---------------------------------------------------------------- a metric of a run


@dataclass(frozen=True)
class Marker(Metric):
    """Marks every "bad" in the joined segments of a row, as xCOMET marks spans."""

    name = "marker"
    summary = "marks what is bad"
    needs = frozenset({"hyp"})

    def measure(self, requests: Sequence[Request], run: Runtime) -> FloatArray:
        result = []
        for i, request in enumerate(requests):
            text = request.hyp[0].text
            places = [at for at in range(len(text)) if text.startswith("bad", at)]
            run.detail(i, spans=[{"start": at, "end": at + 3, "severity": "critical"} for at in places])
            result.append(-float(len(places)))
        return mean_stats(result)


@pytest.mark.parametrize("view", ["", "paragraph(size=2):", "slide(size=2,step=1):", "whole:"])
def test_spans_of_a_run_folder(view: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "BUILTIN", {**registry.BUILTIN, "marker": f"{__name__}:Marker"})
    texts = ("a bad one", "fine", "bad bad")
    corpus = wt.Corpus("c", ("de", "en"), (wt.Document("d", texts, {}),))
    wt.score(wt.Loaded(corpus, (wt.Output("A", {"d": texts}),), ()), [f"{view}marker"], out=tmp_path / "run")
    actual, = wt.meta.read_spans(tmp_path / "run")
    assert [mark.spans for mark in actual.marks] == [
        (ErrorSpan(2, 5, "major"),), (), (ErrorSpan(0, 3, "major"), ErrorSpan(4, 7, "major"))]
    gold = Annotations("gold", tuple(Marked("A", "d", i, "r", mark.spans) for i, mark in enumerate(actual.marks)))
    result = wt.meta.evaluate_spans(gold, [actual])
    assert [result[name].values[0] for name in ("characters", "matching", "accuracy")] == [1.0, 1.0, 1.0]


JUDGED = {"a bad one": [("bad", "major")], "fine": [], "not there": [("elsewhere", "minor")], "refused": None,
          "bad bad": [("bad bad", "critical")]}  # text → quotes with severities


def judged(body: Mapping[str, Any], number: int) -> str:
    """The answer of a judge that knows ``JUDGED``; no answer at all to one text."""
    said = body["messages"][-1]["content"]
    shown = said.rpartition("<translation")[2].partition(">")[2].partition("</translation")[0].strip()
    text = next(known for known in JUDGED if known in shown)
    if JUDGED[text] is None:
        return "I cannot help with that."
    if "connectives" in said:
        rubric = {"score": 50, "evidence": [{"quote": text, "reason": "why"}]}
        return json.dumps(dict.fromkeys(ASPECTS, rubric))
    if '"errors": [' in said:
        return json.dumps({"errors": [{"severity": severity, "category": "accuracy", "span": quote, "context": quote,
                                       "reason": "why"} for quote, severity in JUDGED[text] or ()]})
    return json.dumps({"score": 90 - 30 * len(JUDGED[text] or ())})


@pytest.mark.parametrize("metric", ["judge-mqm", "judge-esa", "judge-coherence"])
def test_spans_of_a_judge(metric: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Quotes are spans, an error without a place is an error, a refusal is no statement, evidence is no error."""
    pytest.importorskip("httpx")
    corpus = wt.Corpus("c", ("de", "en"), (wt.Document("d", tuple(JUDGED), {}),))
    outputs = (wt.Output("A", {"d": tuple(JUDGED)}), wt.Output("fine", {"d": ("fine",) * 5}))
    with ScriptedServer(judged) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setattr("wholetext.judges.chat._FIRST_WAIT", 0.01)
        wt.score(wt.Loaded(corpus, outputs, ()), [f"sentence:{metric}@m"], options=wt.Options(cache=False),
                 out=tmp_path / "run")
    actual, = wt.meta.read_spans(tmp_path / "run")
    spans = {(mark.system, mark.segment): mark.spans for mark in actual.marks}
    if metric == "judge-coherence":
        assert set(spans.values()) == {None}
        return
    assert spans == {("A", 0): (ErrorSpan(2, 5, "major"),), ("A", 1): (), ("A", 2): (), ("A", 4): (
        ErrorSpan(0, 7, "major"),), **{("fine", i): () for i in range(5)}}  # nothing of the refused segment
    assert any("1 error has no place" in note for note in actual.notes)
    gold = Annotations("gold", tuple(Marked(mark.system, "d", mark.segment, "r", mark.spans, text=mark.text)
                                     for mark in actual.marks))
    result = wt.meta.evaluate_spans(gold, [actual])
    assert result["characters"].values[0] == 1.0
    assert result["accuracy"].values[0] == pytest.approx(8 / 9)  # the error without a place


# ---------------------------------------------------------------- real raters


@pytest.mark.data
@pytest.mark.slow
def test_ted_raters_against_each_other(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = data / "evalsets" / "wmt21.tedtalks" / "human-scores" / "raw" / "mqm_ted_ende.tsv"
    result, = wt.meta.read_spans(path)
    rows, notes = wt.meta.rater_spans(result)
    assert len(rows) == 7 and rows[-1].segments == 1919 == sum(row.segments for row in rows[:-1])
    marks = {rater: {(m.doc, m.segment, m.text): m for m in reversed(result.marks) if m.rater == rater}
             for rater in ("rater3", "rater4")}
    common = [(one, marks["rater4"][key]) for key, one in marks["rater3"].items() if key in marks["rater4"]]
    alike = [bool(one.spans or one.unplaced) == bool(two.spans or two.unplaced) for one, two in common]
    row = next(row for row in rows if (row.first, row.second) == ("rater3", "rater4"))
    assert row.segments == len(alike) and row.scores["accuracy"] == pytest.approx(np.mean(alike))
    printed = json.loads(call(capsys, "meta", "spans", path, "--compare-raters", "--json")[1])
    assert printed["raters"][-1]["characters"] == pytest.approx(rows[-1].scores["characters"])
    assert any("had marked before" in note for note in notes)

# ---------------------------------------------------------------- files

MQM = ("system\tdoc\tdoc_id\tseg_id\trater\tsource\ttarget\tcategory\tseverity\n"
       "A\td\t1\t1\tr1\tx\tab <v>cd</v> e\tStyle\tMinor\n"
       "A\td\t1\t1\tr1\tx <v>y</v>\tab cd e\tAccuracy/Omission\tMajor\n"
       "A\td\t2\t2\tr1\tx\tfine\tNo-error\tNo-error\n"
       "A\td\t3\t3\tr1\tx\tno <v>end\tStyle\tCritical\n")


def write(path: Path, text: str) -> Path:
    path.write_text(text, "utf-8")
    return path


def test_mqm_table(tmp_path: Path) -> None:
    result, = wt.meta.read_spans(write(tmp_path / "m.tsv", MQM))
    assert [(mark.segment, mark.text, mark.spans, mark.unplaced) for mark in result.marks] == [
        (0, "ab cd e", (ErrorSpan(3, 5, "minor"),), 1), (1, "fine", (), 0),
        (2, "no end", (ErrorSpan(3, 6, "major"),), 0)]
    assert [mark.error_free(85) for mark in result.marks] == [False, True, False]
    assert len(result.notes) == 2 and "1 error has no place" in result.notes[0] and "not closed" in result.notes[1]


def test_jsonl(tmp_path: Path) -> None:
    rows = [{"system": "A", "doc": "d", "segment": 0, "text": "ab cd", "score": 50,
             "spans": [{"start": 0, "end": 9, "severity": "major"}, {"start": "missing", "end": None,
                       "severity": "major"}, {"start": 0, "end": 1, "severity": "undecided"}]},
            {"system": "A", "doc": "d", "segment": 1, "text": "fine", "score": 90, "spans": []}]
    read, = wt.meta.read_spans(write(tmp_path / "s.jsonl", "\n".join(map(json.dumps, rows))))
    assert [(mark.place, mark.unplaced, mark.error_free(85)) for mark in read.marks] == [
        (("A", "d", 0), 1, False), (("A", "d", 1), 0, True)]
    assert read.marks[0].spans == (ErrorSpan(0, 5, "major"),)
    assert all(any(word in note for note in read.notes) for word in ("after the text", "undecided"))


def test_ratings_of_an_evalset(tmp_path: Path) -> None:
    for part, name, text in (("sources", "en-de.txt", "a\nb\n"), ("documents", "en-de.docs", "news\td\nnews\td\n"),
                             ("system-outputs/en-de", "A.txt", "wrong\nright\n"),
                             ("references", "en-de.refA.txt", "a\nb\n")):
        (tmp_path / part).mkdir(parents=True)
        write(tmp_path / part / name, text)
    (tmp_path / "human-scores").mkdir()
    rating = json.dumps({"errors": [{"start": 0, "end": 5, "severity": "major"},
                                    {"start": 0, "end": 1, "severity": "minor", "is_source_error": True}], "score": 90})
    path = write(tmp_path / "human-scores" / "en-de.esa.seg.rating", f"A\t{rating}\tr1\nA\tNone\n")
    mark, = wt.meta.read_spans(path)[0].marks
    assert (mark.place, mark.rater, mark.spans, mark.unplaced, mark.score, mark.text) == (
        ("A", "d", 0), "r1", (ErrorSpan(0, 5, "major"),), 1, 90.0, "wrong")


HEAD = '{"system": "A", "doc": "d", "segment": 0, "spans": '


@pytest.mark.parametrize(("line", "match"), [
    ('{"system": "A", "doc": "d", "spans": []}', "no system, doc or segment"),
    (HEAD + '[{"start": 4, "end": 2, "severity": "minor"}]}', "begins at 4"),
    (HEAD + '[{"start": -3, "end": 2, "severity": "minor"}]}', "place"),
    (HEAD + '[{"start": 0, "end": 2, "severity": "bad"}]}', "no severity 'bad'"),
    (HEAD + "3}", "cannot be read"), (HEAD + '[], "score": "x"}', "not a number"),
    ("[]", "no error spans"), ('{"a": [}', "not JSON")])
def test_faults_are_named(tmp_path: Path, line: str, match: str) -> None:
    with pytest.raises(InputError, match=match):
        wt.meta.read_spans(write(tmp_path / "s.jsonl", line + "\n"))


def test_a_segment_may_not_be_there_twice(tmp_path: Path) -> None:
    with pytest.raises(AlignmentError, match="there twice"):
        wt.meta.read_spans(write(tmp_path / "s.jsonl", 2 * (HEAD + "[]}\n")))


def test_files_that_do_not_belong_together(tmp_path: Path) -> None:
    gold, = wt.meta.read_spans(write(tmp_path / "m.tsv", MQM))

    def computed(**changes: object) -> Annotations:
        line = {"system": "A", "doc": "d", "segment": 1, "text": "fine", "spans": []} | changes
        return wt.meta.read_spans(write(tmp_path / "s.jsonl", json.dumps(line)))[0]

    assert any("2 of 3 segments" in note for note in wt.meta.evaluate_spans(gold, [computed()]).notes)
    with pytest.raises(AlignmentError, match="another output"):
        wt.meta.evaluate_spans(gold, [computed(text="another")])
    with pytest.raises(AlignmentError, match="no segment is in all files"):
        wt.meta.evaluate_spans(gold, [computed(system="B")])
    scores_only = wt.meta.evaluate_spans(gold, [computed(spans=None, score=0.5)])
    assert np.isnan(scores_only["characters"].values[0]) and scores_only["characters"].ranks == (None,)


@pytest.mark.slow
def test_spans_of_xcomet(tmp_path: Path) -> None:
    pytest.importorskip("transformers")
    model = Path(__file__).parents[1] / "oracle" / "neural" / "models" / "xcomet"
    texts = ("The cat was asleep on the mat.", "She was tired.", "Then the dog came in.")
    corpus = wt.Corpus("c", ("de", "en"), (wt.Document("d", texts, {"r": texts}),))
    results = wt.score(
        wt.Loaded(corpus, (wt.Output("A", {"d": texts}),), ()),
        [f"comet@{model}", "chrf"],
        out=tmp_path / "run",
        significance=wt.Significance(),
    )
    xcomet, chrf = wt.meta.read_spans(tmp_path / "run")
    scores = results[xcomet.name]["A"]
    marked = [facts["spans"] if facts else None for facts in scores.details]
    assert any(marked), "the small model marks nothing"
    assert [[(s.start, s.end) for s in mark.spans or ()] for mark in xcomet.marks] == [
        list(dict.fromkeys((span["start"], span["end"]) for span in each or ())) for each in marked]
    assert [mark.score for mark in xcomet.marks] == pytest.approx(scores.at("segment").tolist())
    assert all(mark.spans is None for mark in chrf.marks)
    found = wt.meta.evaluate_spans(xcomet, [chrf, xcomet])
    assert found["characters"].value(xcomet.name) == 1.0 and np.isnan(found["characters"].value(chrf.name))

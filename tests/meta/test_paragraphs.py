"""Paragraphs: windows of one rater, counts, provenance, texts, several raters; direct and averaged scores of them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from tests.meta import evalset_folder
from wholetext.demo import load
from wholetext.errors import AlignmentError, InputError
from wholetext.io import Loaded
from wholetext.io.formats import evalset
from wholetext.io.formats.evalset import EvalSet
from wholetext.meta.evaluate import MetaTasks, meta_evaluate, paragraph_sets
from wholetext.meta.judgments import Ratings, find_ratings, gather, raw_mqm
from wholetext.meta.paragraphs import Windows, curves, paragraph_set, paragraphs, texts, write_jsonl
from wholetext.meta.participants import Selection, read_participants
from wholetext.meta.tasks import MetricTests
from wholetext.registry import BUILTIN
from wholetext.scoring.evaluate import score


def rated(places: dict[str, list[int]], system: str = "A") -> Ratings:
    """Ratings 10·place + number of the rater, for rater → places."""
    rows = [(system, ("d", place), rater, 10.0 * place + i)
            for i, (rater, many) in enumerate(places.items()) for place in many]
    return gather("mqm", rows)


def test_windows_are_greedy_and_break_at_gaps() -> None:
    result = paragraphs(rated({"r": [0, 1, 2, 3, 4, 6, 7, 8]}), Windows(2))
    assert [p.start for p in result] == [0, 2, 6]
    assert [p.score for p in result] == [10.0, 50.0, 130.0]
    assert [p.score for p in paragraphs(rated({"r": [0, 1]}), Windows(2, total="mean"))] == [5.0]


def test_raters_are_never_mixed() -> None:
    ratings = rated({"r1": [0, 1, 2], "r2": [1, 2, 3]})
    each = paragraphs(ratings, Windows(2))
    assert [(p.rater, p.start) for p in each] == [("r1", 0), ("r2", 1)]
    first = paragraphs(ratings, Windows(2, "first"))
    assert [(p.rater, p.start) for p in first] == [("r1", 0), ("r2", 2)]
    mean = paragraphs(ratings, Windows(2, "mean"))
    assert [(p.start, p.score) for p in mean] == [(0, 0.0 + 10.5), (2, 20.5 + 31.0)]
    assert paragraphs(rated({"r1": [0], "r2": [1]}), Windows(2)) == []


@settings(deadline=None)
@given(st.sets(st.integers(0, 14)), st.integers(1, 5))
def test_equals_the_walk_of_the_paper(places: set[int], k: int) -> None:
    starts, at = [], 0
    while at + k <= 15:
        if all(at + i in places for i in range(k)):
            starts.append(at)
            at += k
        else:
            at += 1
    result = paragraphs(rated({"r": sorted(places)}), Windows(k)) if places else []
    assert [p.start for p in result] == starts
    if places:
        assert [p.start for p in paragraphs(rated({"r": sorted(places)}), Windows(k, "first"))] == starts


def test_items_line_up_over_systems() -> None:
    rated_by = ("A", "r1", range(4)), ("B", "r2", range(4)), ("B", "r3", range(2)), ("C", "r1", range(1, 3))
    rows = [(system, ("d", i), rater, float(i)) for system, rater, many in rated_by for i in many]
    result = paragraphs(gather("mqm", rows), Windows(2))
    chosen = paragraph_set(result, ["A", "B", "C"])
    assert chosen.items == (("d", 0), ("d", 2))
    assert chosen.alone == 1  # ("d", 1) of C
    np.testing.assert_array_equal(chosen.gold.values, [[1.0, 5.0], [1.0, 5.0], [np.nan, np.nan]])


def test_texts_and_provenance(tmp_path: Path) -> None:
    folder = evalset_folder.make(tmp_path)
    loaded = evalset.read(folder, "de-en")
    source = find_ratings(EvalSet.open(folder, "de-en"), "mqm")
    result = paragraphs(source.ratings, Windows(2))
    chosen = paragraph_set(result, evalset_folder.SYSTEMS, [doc.id for doc in loaded.corpus.docs])
    made = texts(loaded, chosen.items, 2)
    assert [doc.id for doc in made.corpus.docs[:2]] == ["doc0:1-2", "doc0:3-4"]
    assert made.corpus.docs[0].refs["refA"] == (" ".join(evalset_folder.REF[:2]),)
    assert made.corpus.docs[0].meta["k"] == "2"
    assert made.outputs[0].docs["doc0:1-2"] == (" ".join(evalset_folder.outputs()["alpha"][:2]),)
    write_jsonl(tmp_path / "p.jsonl", result)
    first = json.loads((tmp_path / "p.jsonl").read_text().splitlines()[0])
    assert (first["system"], first["doc"], first["start"], first["k"], first["rater"]) == ("alpha", "doc0", 0, 2, "ann")
    elsewhere = [paragraph for system in "AB" for paragraph in paragraphs(rated({"r": [0, 1]}, system), Windows(2))]
    strange = paragraph_set(elsewhere, ["A", "B"])
    with pytest.raises(AlignmentError, match="no document 'd'"):
        texts(loaded, strange.items, 2)


COUNTS = {"mqm_ted_ende.tsv": [7406, 3605, 2348, 1706, 1339, 1082, 896, 750, 633, 567],
          "mqm_ted_zhen.tsv": [7935, 3853, 2499, 1818, 1426, 1128, 943, 800, 665, 590]}


@pytest.mark.data
@pytest.mark.parametrize("name", COUNTS)
def test_paragraph_counts_of_ted(name: str, data: Path, golden: Path) -> None:
    source = raw_mqm(data / "evalsets" / "wmt21.tedtalks" / "human-scores" / "raw" / name)
    assert [len(paragraphs(source.ratings, Windows(k))) for k in range(1, 11)] == COUNTS[name]
    if name == "mqm_ted_ende.tsv":
        expected = json.loads((golden / "mqm" / "mqm_ted_ende.json").read_text())
        first = paragraphs(source.ratings, Windows(3))[:20]
        rows = [[p.system, p.doc, p.start + 1, p.k, p.rater, p.score] for p in first]
        assert rows == expected["paragraphs_k3_first_20"]
        total = sum(p.score for p in paragraphs(source.ratings, Windows(10)))
        assert total == pytest.approx(expected["paragraphs_k10_all_sum"], abs=1e-9)


@pytest.mark.data
def test_paragraph_counts_from_a_ratings_table(data: Path, golden: Path) -> None:
    expected = json.loads((golden / "mqm" / "paragraph_counts_wmt21.tedtalks.en-ru.json").read_text())
    source = find_ratings(EvalSet.open(data / "evalsets" / "wmt21.tedtalks", "en-ru"), "mqm-sev")
    assert [len(paragraphs(source.ratings, Windows(k))) for k in range(1, 11)] == expected["counts_k1_10"]
    four = paragraphs(source.ratings, Windows(4))
    assert [[p.system, p.doc, p.start, p.k, p.rater, p.score] for p in four[:10]] == expected["first_10_k4"]
    assert sum(p.score for p in four) == pytest.approx(expected["sum_k4"], abs=1e-9)


@pytest.mark.data
def test_paragraph_counts_that_the_paper_printed(data: Path) -> None:
    """WMT21 news en-de, table 3: 15 outputs, each with the windows that a segment rated by anybody gives."""
    published = [7905, 3825, 2460, 1800, 1395, 1140, 870, 765, 660, 585]
    ratings = find_ratings(EvalSet.open(data / "evalsets" / "wmt21.news.mqm", "en-de"), "mqm").ratings
    counts = [[p.system for p in paragraphs(ratings, Windows(k, "mean"))] for k in range(1, 11)]
    whole = [system for system in ratings.systems if counts[0].count(system) == 527]
    assert len(whole) == 6  # the others lack one to three ratings in the release
    for system in whole:
        assert [15 * names.count(system) for names in counts] == published


def test_the_joiner_is_an_option(tmp_path: Path) -> None:
    """Deutsch et al. do not say what joins sentences: by language unless a user says otherwise."""
    folder = evalset_folder.make(tmp_path)
    first, second = evalset_folder.REF[:2]
    for joiner, expected in (("auto", f"{first} {second}"), ("space", f"{first} {second}"), ("none", first + second)):
        paragraph_sets(folder, "de-en", [2], joiner=joiner, out=tmp_path / joiner)
        made = evalset.read(tmp_path / joiner / "wmt22.small.k2", "de-en")
        assert made.corpus.docs[0].refs["refA"] == (expected,)
    direct = [meta_evaluate(folder, metrics=["chrf++"], tests=MetricTests(draws=0), lengths=[2], joiner=joiner)
              .curves["wmt22.small de-en"][0].pearson for joiner in ("space", "none")]
    assert direct[0] != direct[1]  # a word at each end is another


# ---------------------------------------------------------------- direct and averaged scores

NEEDS_WEIGHTS = {"bleurt", "llm-prob", "moverscore", "comet", "prism", "bartscore", "metricx"}  # not bundled
ENCODERS = {"bertscore", "sbert", "mover", "ds-focus", "ds-sent"}
VIEWS = ("context(prev=2):chrf", "context(prev=1,next=1,hyp=own):bertscore@minilm",
         "context(prev=1,source=shuffled):bertscore@minilm", "context(prev=1,source=other):bertscore@minilm",
         "slide(size=1):bleu", "slide(size=3,step=1,partial=include):chrf", "slide(size=2,partial=weighted):ter",
         "slide(tokens=40):bertscore@minilm", "paragraph(size=2):chrf", "whole:bleu", "whole:chrf",
         "whole:bertscore@minilm", "whole:blonde", "whole:rouge", "doc-wt-mini")


def every_metric() -> list[str]:
    """Specs of all metrics that run here without a server or large weights, and of all views."""
    unfit = NEEDS_WEIGHTS | {"blonde-plus", "terms"}  # need annotations, a glossary
    names = [name for name in BUILTIN if name not in unfit and not name.startswith("judge")]
    settings = {"learned": "learned@wt-mini", "meteor": "meteor(synonyms=false)"}
    specs = [f"{name}@minilm" if name in ENCODERS else settings.get(name, name) for name in names]
    return [*specs, *VIEWS]


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The German-English demo as an EvalSet, with a rating of each sentence of each system."""
    corpus, outputs = load("de-en")
    folder = tmp_path_factory.mktemp("demo") / "demo"
    evalset.write(folder, Loaded(corpus, outputs, ()))
    rng = np.random.default_rng(3)
    size = sum(map(len, corpus.docs))
    (folder / "human-scores").mkdir(exist_ok=True)
    (folder / "human-scores" / "de-en.mqm.seg.score").write_text(evalset_folder.score_lines(
        {output.system: (-25 * rng.random(size)).tolist() for output in outputs}))
    return folder


@pytest.mark.long
@pytest.mark.parametrize("spec", every_metric())
def test_a_sentence_is_its_own_paragraph(spec: str, demo: Path) -> None:
    """At k = 1 direct and averaged scores are the same, whatever the metric and the view read."""
    where = read_participants(EvalSet.open(demo, "de-en"), Selection())
    ratings = find_ratings(EvalSet.open(demo, "de-en"), "mqm").ratings
    direct, average = curves(where, ratings, [spec], [Windows(1)])
    assert (direct.mode, average.mode) == ("direct", "average")
    same = [getattr(direct, name) == pytest.approx(getattr(average, name), abs=1e-6, nan_ok=True)
            for name in ("accuracy", "acc_eq", "pearson")]
    assert all(same), (direct, average)
    assert np.isnan(direct.direct_average) or direct.direct_average == pytest.approx(1.0, abs=1e-6)


@pytest.mark.long
@pytest.mark.parametrize("spec", ["whole:chrf", "rc", "context(prev=2,hyp=own):bertscore@minilm"])
def test_an_average_is_over_single_sentences(spec: str, demo: Path) -> None:
    """The mean of what the metric says of each sentence when there is no other text."""
    where = read_participants(EvalSet.open(demo, "de-en"), Selection(domains=("news", "story")))
    ratings = find_ratings(EvalSet.open(demo, "de-en"), "mqm").ratings
    _, average = curves(where, ratings, [spec], [Windows(2)])
    corpus, outputs = load("de-en")
    refs, srcs = {doc.id: doc.refs["human"] for doc in corpus.docs}, {doc.id: doc.src or () for doc in corpus.docs}
    hyps = {output.system: output.docs for output in outputs}
    sampled = {run.doc for run in where.runs if where.kept[run.start]}
    rated = [part for part in paragraphs(ratings, Windows(2)) if part.doc in sampled]
    means = []
    for part in rated:
        alone = [score([hyps[part.system][part.doc][i]], spec, refs=[refs[part.doc][i]], srcs=[srcs[part.doc][i]],
                       langs="de-en")[spec]["hyp"] for i in range(part.start, part.start + 2)]
        means.append(np.mean([scores.at("segment")[0] for scores in alone]))
    assert average.pearson == pytest.approx(np.corrcoef(means, [part.score for part in rated])[0, 1], abs=1e-6)


def test_curves_are_of_the_same_selection_as_the_tasks(tmp_path: Path) -> None:
    """Domains and systems restrict the paragraphs too, and their number."""
    folder = evalset_folder.make(tmp_path)

    def at_one(**chosen: object) -> tuple[float, float, int, int]:
        meta = meta_evaluate(folder, metrics=["chrf"], tasks=MetaTasks(tasks=("seg:pearson",)), lengths=[1],
                             tests=MetricTests(draws=0), selection=Selection(**chosen))  # type: ignore[arg-type]
        (point, _), (task,) = meta.curves["wmt22.small de-en"], meta.results
        return point.pearson, task.value("chrf"), point.paragraphs, point.items

    for chosen, count, items in (({}, 31, 8), ({"domains": ("news",)}, 19, 5), ({"domains": ("talks",)}, 12, 3),
                                 ({"systems": ("alpha", "beta", "gamma")}, 23, 8),
                                 ({"domains": ("talks",), "systems": ("alpha", "gamma")}, 6, 3)):
        curve, task, many, places = at_one(**chosen)
        assert curve == pytest.approx(task, abs=1e-12)
        assert (many, places) == (count, items)


# ---------------------------------------------------------------- which human scores


def direct_assessment(tmp_path: Path) -> Path:
    """An EvalSet whose standardised scores are the raw ones turned round, so that nobody can confuse them."""
    folder = evalset_folder.make(tmp_path)
    human = folder / "human-scores"
    (human / "de-en.mqm.raters.tsv").unlink()
    (human / "de-en.mqm.seg.score").unlink()
    raw = {system: [None if value is None else 90 + value for value in row]
           for system, row in evalset_folder.gold().items()}
    (human / "de-en.wmt-raw.seg.score").write_text(evalset_folder.score_lines(raw))
    z = {system: [None if value is None else (90 - value) / 10 for value in row] for system, row in raw.items()}
    (human / "de-en.wmt-z.seg.score").write_text(evalset_folder.score_lines(z))
    return folder


def test_direct_assessments_are_averaged_as_z_scores(tmp_path: Path) -> None:
    folder = direct_assessment(tmp_path)
    assert paragraph_sets(folder, lengths=[2]).gold == "wmt-z"
    assert paragraph_sets(folder, lengths=[2], gold="wmt-raw").gold == "wmt-raw"

    def golds(lengths: list[int], gold: str | None = None) -> tuple[set[str], set[str]]:
        meta = meta_evaluate(folder, metrics=["chrf"], lengths=lengths, tests=MetricTests(draws=0),
                             selection=Selection(golds=(gold,) if gold else ()))
        return {task.gold for task in meta.results}, {p.gold for many in meta.curves.values() for p in many}

    assert golds([1, 2]) == ({"wmt-z"}, {"wmt-z"})
    assert golds([1, 2], "wmt-raw") == ({"wmt-raw"}, {"wmt-raw"})
    assert golds([]) == ({"wmt-raw"}, set())


def aspects(tmp_path: Path) -> Path:
    """An EvalSet with two kinds of human scores, one for the first document only."""
    folder = evalset_folder.make(tmp_path)
    rng = np.random.default_rng(4)
    for name, size in (("coherence", 8), ("fluency", 5)):
        rows: dict[str, list[float | None]] = {
            system: [round(100 * rng.random()) if i < size else None for i in range(8)]
            for system in evalset_folder.SYSTEMS}
        (folder / "human-scores" / f"de-en.{name}.seg.score").write_text(evalset_folder.score_lines(rows))
    return folder


def test_several_golds_are_several_tasks(tmp_path: Path) -> None:
    folder, names = aspects(tmp_path), ("coherence", "fluency")
    tests = MetricTests(draws=0)
    both = meta_evaluate(folder, metrics=["chrf", "good"], tasks=MetaTasks(between=True), tests=tests,
                         selection=Selection(golds=names), lengths=[1, 2], out=tmp_path / "out")
    single = [meta_evaluate(folder, metrics=["chrf", "good"], selection=Selection(golds=(name,)), lengths=[1, 2],
                            tests=tests) for name in names]
    expected = [(task.gold, str(task.task), task.metrics, task.values)
                for meta in single for task in meta.results]
    assert [(task.gold, str(task.task), task.metrics, task.values)
            for task in both.results] == expected
    assert {gold for gold, *_ in expected} == set(names)
    assert both.curves["wmt22.small de-en"] == [p for meta in single for p in meta.curves["wmt22.small de-en"]]
    assert [where for where, *_ in both.between][::2] == [f"wmt22.small de-en {name}" for name in names]
    judged = [(tmp_path / "out" / name / "metric-scores" / "de-en" / "chrf-refA.seg.score").read_text().count("None")
              for name in names]
    assert judged == [0, 12]  # 4 systems × 3 segments of the second document
    with pytest.raises(InputError, match="no human scores 'beauty'"):
        meta_evaluate(folder, metrics=["chrf"], selection=Selection(golds=("coherence", "beauty")), tests=tests)

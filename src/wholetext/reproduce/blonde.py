"""Experiments of Jiang et al. 2022: BWB, its errors, and BlonDe beside other metrics."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path

import numpy as np

from wholetext.annotation.relative_ranking import ranking_items, read_rankings, write_items
from wholetext.demo import load
from wholetext.io.assembly import Loaded
from wholetext.io.detect import read
from wholetext.io.formats.bwb import error_types
from wholetext.io.text import write_lines
from wholetext.meta import MetaTasks, MetricTests, Selection, meta_evaluate
from wholetext.metrics.blonde.categories import Profile
from wholetext.metrics.blonde.metric import Blonde, DBlonde
from wholetext.metrics.blonde.units import CATEGORIES
from wholetext.reproduce.catalogue import Cell
from wholetext.reproduce.experiment import Experiment, Result
from wholetext.scoring.evaluate import Options, score
from wholetext.scoring.results import Results
from wholetext.scoring.significance.paired import between_metrics, paired_t

# systems of the demo, by what takes their place in a small BWB
_STANDS_FOR = {"loopy": "smt", "literal": "sent", "patchwork": "ctx", "coherent": "pe"}


def _bwb(experiment: Experiment) -> Path:
    if experiment.small and experiment.folder is None:
        experiment.notes.append("the books are the bundled demo, their errors marked by BlonDe")
        return _small_bwb()
    return experiment.path(experiment.entry.data[0])


def corpus_statistics(experiment: Experiment) -> Result:
    """Documents, sentences and words (thousands, of the reference) of the test set."""
    loaded = read(_bwb(experiment))
    refs = [segment for doc in loaded.corpus.docs for part in doc.refs.values() for segment in part]
    words = sum(len(segment.split()) for segment in refs) / 1000
    values = {"documents": len(loaded.corpus), "sentences": len(refs), "words (thousands)": words}
    return ("test",), {row: (float(value),) for row, value in values.items()}


def error_statistics(experiment: Experiment) -> Result:
    """Sentences with errors of each type, and their share in percent."""
    sentences, counts = error_types(_bwb(experiment))
    return ("sentences", "%"), {
        kind: (float(number), 100 * number / sentences) for kind, number in counts.items()
    }


def blonde_counts(experiment: Experiment) -> Result:
    """BlonDe of counts: a row per output, with BlonDe's precision, recall, F1 and d-BlonDe's F1.

    Settings: ``counts``, row → category → matches, of the reference, of the output. Names of rows
    that begin with ``paper:`` are scored with the paper's profile.
    """
    rows: dict[str, tuple[Cell, ...]] = {}
    for row, counts in experiment.setting("counts", {}).items():
        profile: Profile = "paper" if row.startswith("paper:") else "reference"
        values = []
        for metric in (Blonde(profile=profile), DBlonde(profile=profile)):
            features = len(metric.outputs) // 3 - 1 - len(metric.factors)
            stats = np.zeros((len(CATEGORIES) + features, 3))
            for category, three in counts.items():
                stats[CATEGORIES.index(category)] = three
            scores = dict(zip(metric.outputs, metric.reduce(stats.reshape(-1)).tolist()))
            values.append([100 * scores[name] for name in ("precision", "recall", "f1")])
        (p, r, f), (_, _, d) = values
        rows[row] = (p, r, f, d) if "ngram1" in counts else (None, None, None, d)
    return ("BlonDe P", "BlonDe R", "BlonDe F1", "BlonD-D F1"), rows


def _scored(experiment: Experiment) -> tuple[Results, dict[str, tuple[str, str]]]:
    """Score BWB; row → (spec, output). The setting ``outputs`` names outputs other than the score."""
    outputs = experiment.setting("outputs", {})
    named = {row: (spec, outputs.get(row, "")) for row, spec in experiment.entry.metrics.items()}
    results = score(
        read(_bwb(experiment)),
        list(dict.fromkeys(spec for spec, _ in named.values())),
        options=experiment.options,
    )
    experiment.notes += results.notes
    specs = dict(zip(dict.fromkeys(spec for spec, _ in named.values()), results.scores))
    return results, {row: (specs[spec], output) for row, (spec, output) in named.items()}


def system_means(experiment: Experiment) -> Result:
    """Mean document scores: a row per metric, a column per system."""
    results, named = _scored(experiment)
    systems = [name for name in experiment.setting("systems", []) if name in results.systems]
    rows: dict[str, tuple[Cell, ...]] = {}
    for row, (spec, output) in named.items():
        scores = [results.scores[spec][system] for system in systems]
        columns = [own.outputs.index(output) if output else 0 for own in scores]
        rows[row] = tuple(
            float(np.nanmean(own.table("doc")[:, at])) for own, at in zip(scores, columns)
        )
    return tuple(systems), rows


def system_t(experiment: Experiment) -> Result:
    """Paired t-statistics over documents: a row per metric, a column per two systems.

    Settings: ``pairs``, a list of [column, first system, second system].
    """
    results, named = _scored(experiment)
    pairs = experiment.setting("pairs", [])
    rows: dict[str, tuple[Cell, ...]] = {}
    for row, (spec, output) in named.items():
        by_system = results.scores[spec]
        tests = [paired_t(by_system[second], by_system[first]) for _, first, second in pairs]
        rows[row] = tuple(
            next(test.t for test in own if output in ("", test.category)) for own in tests
        )
    return tuple(column for column, _, _ in pairs), rows


def metric_correlations(experiment: Experiment) -> Result:
    """Absolute Pearson's r of document scores: a row and a column per metric."""
    results, named = _scored(experiment)
    table = np.abs(between_metrics({row: results.scores[spec] for row, (spec, _) in named.items()}))
    return tuple(named), dict(zip(named, map(tuple, table.tolist())))


def human_correlations(experiment: Experiment) -> Result:
    """Absolute Pearson's r with people: a row per metric, a column per place.

    Settings: ``where``, a list of {column, data, langs, task, gold}. The note says which metrics
    Williams' test does not find worse than another.
    """
    entry, columns = experiment.entry, list[str]()
    rows: dict[str, list[Cell]] = {row: [] for row in entry.metrics}
    for place in experiment.setting("where", []):
        bundled = experiment.small and experiment.folder is None
        meta = meta_evaluate(
            experiment.path(place["data"]),
            () if bundled else (place["langs"],),
            tuple(dict.fromkeys(entry.metrics.values())),
            MetaTasks(tasks=(place["task"],), williams=True),
            selection=Selection(golds=() if bundled else (place["gold"],)),
            tests=MetricTests(draws=0),
            options=experiment.options,
        )
        (test,) = meta.williams
        best = [
            name
            for name, worse in zip(test.metrics, np.any(test.p < 0.05, axis=0).tolist())
            if not worse
        ]
        experiment.notes += [*meta.notes, f"{place['column']}: not outperformed: {', '.join(best)}"]
        columns.append(place["column"])
        values = dict(zip(test.metrics, test.pearson))
        for row, spec in entry.metrics.items():
            rows[row].append(values.get(spec))
    return tuple(columns), {row: tuple(values) for row, values in rows.items()}


def ranking_kappa(experiment: Experiment) -> Result:
    """Cohen's kappa of raters who ranked the same items: a row per pair, a column per unit.

    The data set is a folder with UNIT.jsonl (answers) and UNIT.key.jsonl.
    """
    units = ("sentences", "documents")
    rows: dict[str, list[Cell]] = {}
    folder = _small_rankings() if experiment.small and experiment.folder is None else None
    if folder:
        experiment.notes.append("raters are chrF and BLEU, not people")
    for column, unit in enumerate(units):
        place = folder or experiment.path(experiment.entry.data[0])
        rankings = read_rankings(place / f"{unit}.jsonl", place / f"{unit}.key.jsonl")
        for (one, two), (kappa, _) in rankings.kappa.items():
            rows.setdefault(f"{one}-{two}", [None, None])[column] = kappa
    return units, {row: tuple(values) for row, values in rows.items()}


# ---------------------------------------------------------------- stand-ins


_KEPT: list[tempfile.TemporaryDirectory[str]] = []


def _folder(name: str) -> Path:
    _KEPT.append(tempfile.TemporaryDirectory(prefix=f"wholetext-{name}-"))
    return Path(_KEPT[-1].name)


@cache
def _small_bwb() -> Path:
    """Write the demo in BWB's layout; errors are what BlonDe's categories miss in ``sent``."""
    root, (corpus, outputs) = _folder("bwb"), load("zh-en")
    by_name = {_STANDS_FOR[output.system]: output.docs for output in outputs}
    marked = score(
        Loaded(corpus, [output for output in outputs if output.system == "literal"]),
        "sentence:blonde(mean=occurring)",
        options=Options(cache=False),
    )
    (scores,) = next(iter(marked.scores.values())).values()
    table = scores.table("row")
    kinds = {"4": "entity", "5": "tense", "2": "pronoun", "6": "ngram1"}
    columns = {digit: scores.outputs.index(kind) for digit, kind in kinds.items()}
    row = 0
    for number, doc in enumerate(corpus.docs, 1):
        lines, place = list[str](), root / "test" / "Book1"
        for text in by_name["sent"][doc.id]:
            digits = [d for d, at in columns.items() if table[row, at] < (0.4 if d == "6" else 1)]
            word = next(iter(doc.refs.values()))[len(lines)].split()[0]
            spans = [f"1,{word}, {word} <n/0,1>"] if row % 5 == 0 else []
            lines.append("\t".join([text, *(digits or ["0"]), *spans]))
            row += 1
        write_lines(place / f"{number}.chs_re.txt", doc.src or ())
        write_lines(place / f"{number}.ref_re.txt", next(iter(doc.refs.values())))
        write_lines(place / f"{number}.an.txt", lines)
        for system, ending in (("sent", "sent_re.txt"), ("ctx", "ctx_re.txt"), ("pe", "pe.txt")):
            write_lines(place / f"{number}.{ending}", by_name[system][doc.id])
        smt = root / "SMT_Hiero" / "Book1" / f"{number}.chs_re.txt.SMT"
        write_lines(smt, by_name["smt"][doc.id])
    return root


@cache
def _small_rankings() -> Path:
    """Items of the demo, ranked by two metrics in the place of raters."""
    folder, loaded = _folder("rankings"), Loaded(*load("de-en"))
    results = score(loaded, ["sentence:chrf", "sentence:bleu"], options=Options(cache=False))
    starts = dict(zip(loaded.corpus.ids, np.cumsum([0, *loaded.corpus.sizes.tolist()]).tolist()))
    for unit in ("sentences", "documents"):
        items = ranking_items(results, unit="sentences" if unit == "sentences" else "documents")
        write_items(folder / f"{unit}.items.jsonl", items)
        (folder / f"{unit}.items.key.jsonl").rename(folder / f"{unit}.key.jsonl")
        answers = []
        for item in items:
            doc, start = item.id.rsplit("#", 1)
            at = starts[doc] + int(start)
            for spec, by_system in results.scores.items():
                ranks = {
                    letter: -float(
                        by_system[name].at("row")[at : at + len(item.options[letter])].mean()
                    )
                    for letter, name in item.systems.items()
                }
                answers.append(json.dumps({"item": item.id, "rater": spec, "ranks": ranks}))
        write_lines(folder / f"{unit}.jsonl", answers)
    return folder


KINDS: Mapping[str, Callable[[Experiment], Result]] = {
    "bwb-statistics": corpus_statistics,
    "bwb-errors": error_statistics,
    "blonde-counts": blonde_counts,
    "bwb-means": system_means,
    "bwb-t": system_t,
    "bwb-metrics": metric_correlations,
    "bwb-people": human_correlations,
    "ranking-kappa": ranking_kappa,
}

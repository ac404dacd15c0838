"""Results of a run, and run folders: written by `score`, read by later commands without a model."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import ItemsView, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import numpy as np

from wholetext import slices
from wholetext.errors import InputError, RunError, count, known
from wholetext.files.output_folder import OwnFolder, replacing_folder, restore
from wholetext.files.parsing import reading
from wholetext.files.storage import sha256
from wholetext.notebook.display import (
    HTML_SYSTEMS,
    MOST,
    html_table,
    printed,
    shortened,
    text_table,
)
from wholetext.notebook.frames import Level, Tabular
from wholetext.notes import Note, merged
from wholetext.registry import label, scorer
from wholetext.scoring.controls import Control
from wholetext.scoring.engine import trait
from wholetext.scoring.finding import finding
from wholetext.scoring.run_files import (
    AGAIN,
    DAMAGED,
    FORMAT,
    numbers,
    plain,
    read_details,
    read_file,
    read_head,
    read_stats,
    read_texts,
    restored,
    seal,
    write_results,
    write_stats,
    write_texts,
)
from wholetext.scoring.significance.compare import Comparison, Significance
from wholetext.types import Corpus, Metric, Output, Scores, Signature
from wholetext.version import __version__

if TYPE_CHECKING:
    import altair

_NUMBERS = ("start", "stop", "weight", "segment", "score")  # columns


@dataclass(frozen=True, eq=False, repr=False)
class Results(Tabular):
    """Everything a run produced: spec → system → Scores, with the texts and the notes."""

    corpus: Corpus
    outputs: tuple[Output, ...]
    scores: Mapping[str, Mapping[str, Scores]]
    warnings: tuple[str, ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict)  # requests, distinct, cached, computed
    # system → suspicious texts
    flags: Mapping[str, Sequence[Mapping[str, Any]]] = field(default_factory=dict)
    significance: Significance | None = None  # how systems were compared, if they were
    comparisons: Mapping[str, Comparison] = field(default_factory=dict)  # by spec
    environment: Mapping[str, str] = field(default_factory=dict)  # device, versions of packages
    controls: tuple[Control, ...] = ()  # nonsense and its scores, outside the comparisons

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """Notes on the run and on its scores, without repetitions."""
        names = self.labels
        of_scores = merged(
            {
                names[spec]: {system: scores.notes for system, scores in by_system.items()}
                for spec, by_system in self.scores.items()
            }
        )
        return tuple(dict.fromkeys((*self.warnings, *of_scores)))

    def narrowed(self, specs: Sequence[str]) -> Results:
        """The results of some metrics, without notes on the scores of others."""
        of_scores = replace(self, warnings=()).notes
        return replace(
            self,
            scores={spec: self.scores[spec] for spec in specs},
            warnings=tuple(note for note in self.warnings if note not in of_scores),
        )

    @cached_property
    def labels(self) -> dict[str, str]:
        """Spec → short name, as tables show it; two that would look the same keep their specs."""
        short = {spec: label(spec) for spec in self.scores}
        shared = Counter(short.values())
        return {spec: name if shared[name] == 1 else spec for spec, name in short.items()}

    @cached_property
    def standings(self) -> Mapping[str, Comparison]:
        """The comparisons by spec; without tests, intervals alone, where systems were not compared."""
        if self.comparisons.keys() >= self.scores.keys():
            return self.comparisons
        alone = self.significance or Significance(draws=0)
        return {spec: alone.compare(by_system) for spec, by_system in self.scores.items()}

    @property
    def finding(self) -> str:
        """What the tests of the run show, in one sentence."""
        baseline = None if self.significance is None else self.significance.baseline
        return finding(
            {self.title(self.standings[spec]): self.standings[spec] for spec in self.scores},
            baseline,
        )

    def title(self, comparison: Comparison) -> str:
        """Name a column: the metric, and the output where it is not the score itself."""
        name = self.labels.get(comparison.metric, comparison.metric)
        return name if comparison.main else f"{name} {comparison.output}"

    def references(self, spec: str) -> tuple[str, ...]:
        """Names of the references that a metric used."""
        return next(iter(self[spec].values())).references

    @property
    def systems(self) -> tuple[str, ...]:
        """Names of the systems, in the order of the outputs."""
        return tuple(output.system for output in self.outputs)

    @property
    def score(self) -> float:
        """The score, where one system was scored with one metric."""
        every = [scores for by_system in self.scores.values() for scores in by_system.values()]
        if len(every) != 1:
            raise RunError(
                f"this has {len(every)} scores, not one", next='results["chrf"]["my-system"].score'
            )
        return every[0].score

    def __getitem__(self, spec: str) -> Mapping[str, Scores]:
        """System → scores under a spec; aliases and spelled-out defaults are understood."""
        spec = spec if spec in self.scores else scorer(spec).spec
        return self.scores[known("metric", spec, self.scores, error=RunError)]

    def __iter__(self) -> Iterator[str]:
        """Iterate over the specs, as a mapping does."""
        return iter(self.scores)

    def __len__(self) -> int:
        return len(self.scores)

    def __contains__(self, spec: object) -> bool:
        return spec in self.scores or (isinstance(spec, str) and scorer(spec).spec in self.scores)

    def items(self) -> ItemsView[str, Mapping[str, Scores]]:
        """(spec, system → scores) of every metric."""
        return self.scores.items()

    def save(self, folder: Path | str, *, overwrite: bool = False) -> None:
        """Write a run folder, as `wholetext score --out` does."""
        write_run(self, folder, overwrite=overwrite)

    @classmethod
    def load(cls, folder: Path | str) -> Results:
        """Read a run folder; the same as ``wholetext.open_run``."""
        return open_run(folder)

    def by_domain(self, spec: str, output: str | None = None) -> dict[str, dict[str, float]]:
        """System → domain (``meta["domain"]``) → score of its documents, or another output."""
        domains = np.array([doc.meta.get("domain", "") for doc in self.corpus.docs])
        by_system = {}
        for system, scores in self[spec].items():
            column, totals = scores.outputs.index(output) if output else 0, scores.totals()
            with np.errstate(invalid="ignore", divide="ignore"):
                by_system[system] = {
                    name: float(scores.reduce(totals[domains == name].sum(axis=0))[..., column])
                    for name in dict.fromkeys(domains.tolist())
                    if name
                }
        return by_system

    def columns(self, level: Level = "doc") -> Mapping[str, Any]:
        """Columns of a table: metric, system, place and ``score`` of every metric and system.

        Further outputs (precision, categories …) differ between metrics:
        ``results[spec][system].columns()`` has them.
        """
        parts = [
            scores.columns(level)
            for by_system in self.scores.values()
            for scores in by_system.values()
        ]
        names = list(
            dict.fromkeys(
                name for part in parts for name in list(part)[: list(part).index("score") + 1]
            )
        )
        return {
            name: np.concatenate(
                [
                    np.asarray(part[name], dtype=None if name in _NUMBERS else object)
                    for part in parts
                ]
            )
            for name in names
        }

    def _leaderboard(self) -> tuple[str, list[str], list[list[str]]]:
        """Title of the run, head of the table, and a line per system, best first."""
        corpus = self.corpus
        langs = f", {'-'.join(corpus.langs)}" if any(corpus.langs) else ""
        title = (
            f"{shortened(corpus.id, 80)}{langs}: {count(len(self.outputs), 'system')}, "
            f"{count(len(self.scores), 'metric')}, {count(len(corpus), 'document')}, "
            f"{count(int(corpus.sizes.sum()), 'segment')}"
        )
        head, order = ["system"], list(self.systems)
        for spec, by_system in self.scores.items():
            first = next(iter(by_system.values()))
            references = f" ({', '.join(first.references)})" if first.references else ""
            head.append(f"{self.labels[spec]} {'↑' if first.higher_is_better else '↓'}{references}")
            if len(head) == 2:
                order = [standing.system for standing in self.standings[spec].standings]
        rows = [[system, *(self._cell(spec, system) for spec in self.scores)] for system in order]
        return title, head, rows

    def _cell(self, spec: str, system: str) -> str:
        """A score with its interval, and its rank cluster where it was tested."""
        places, standing = self.scores[spec][system].places, self.standings[spec][system]
        half = standing.interval.half_width
        cell = printed(standing.score, places) + (
            f" ±{printed(half, places)}" if half == half else ""
        )
        return f"{cell} #{standing.rank}" if standing.rank else cell

    def _legend(self, rows: list[list[str]]) -> str:
        """Explain the signs that the cells have."""
        cells = "".join(cell for row in rows for cell in row[1:])
        signs = {"±": "± is a 95 % interval", "#": "# the rank cluster"}
        return "; ".join(text for sign, text in signs.items() if sign in cells)

    def __repr__(self) -> str:
        title, head, rows = self._leaderboard()
        lines = [f"Results of {title}", *wrap(self.finding, 80, break_on_hyphens=False)]
        lines += [text_table(head, rows), self._legend(rows)]
        lines += [f"{count(len(self.notes), 'note')}: see .notes"] if self.notes else []
        return shortened("\n".join(filter(None, lines)), MOST)

    def _repr_html_(self) -> str:
        title, head, rows = self._leaderboard()
        title += f" (the first {HTML_SYSTEMS} systems)" if len(rows) > HTML_SYSTEMS else ""
        caption = ". ".join(filter(None, [title, self._legend(rows)]))
        caption = f"{caption}. {self.finding}" if self.finding else caption
        return html_table(head, rows[:HTML_SYSTEMS], caption, self.notes)

    def plot(self, kind: str = "leaderboard", metric: str | None = None) -> altair.TopLevelMixin:
        """An altair chart of the run (extra ``report``).

        ``kind`` is ``leaderboard``, ``compare``, ``documents``, ``distribution``, ``scatter`` or
        ``categories``; the metric is the first unless named.
        """
        plot = slices.load("wholetext.reporting.figures:plot")  # of a higher layer
        chart: altair.TopLevelMixin = plot(self, kind, metric)
        return chart


def write_run(
    results: Results,
    folder: Path | str,
    more: Mapping[str, str] | None = None,
    *,
    overwrite: bool = True,
) -> None:
    """Write a run folder, with ``more`` text files by name.

    An older run is replaced as a whole or not at all; files that wholetext did not write stay.
    """
    with replacing_folder(Path(folder), RUN, overwrite=overwrite) as staged:
        for name, text in (more or {}).items():
            (staged / name).write_text(text, "utf-8")
        write_texts(staged / "texts.jsonl", results.corpus, results.outputs)
        write_results(staged / "results.jsonl", results.scores)
        metrics = []
        for i, (spec, by_system) in enumerate(results.scores.items()):
            write_stats(staged / f"stats{i}.npz", by_system)
            details = [list(scores.details) for scores in by_system.values()]
            if any(details):
                (staged / f"details{i}.json").write_text(
                    json.dumps(details, ensure_ascii=False), "utf-8"
                )
            first = next(iter(by_system.values()))
            metrics.append(
                {
                    "spec": spec,
                    "systems": list(by_system),
                    "details": any(details),
                    "outputs": first.outputs,
                    "higher_is_better": first.higher_is_better,
                    "range": [str(bound) for bound in first.range],
                    "notes": first.stated,
                    "signatures": [dict(scores.signature) for scores in by_system.values()],
                }
            )
        groups = [getattr(note, "group", "") for note in results.warnings]
        comparison = {
            "settings": results.significance,
            "outcomes": list(results.comparisons.values()),
        }
        head = {
            "format": FORMAT,
            "wholetext": __version__,
            "corpus": results.corpus.id,
            "langs": results.corpus.langs,
            "documents": len(results.corpus.docs),
            "standard": results.corpus.standard,
            "systems": results.systems,
            "metrics": metrics,
            "warnings": results.warnings,
            **({"groups": groups} if any(groups) else {}),
            "counts": results.counts,
            "flags": results.flags,
            "comparison": plain(comparison) if results.significance else {},
            "environment": dict(results.environment),
            **({"controls": plain(results.controls)} if results.controls else {}),
            "files": {path.name: sha256(path) for path in sorted(staged.iterdir())},
        }
        (staged / "run.json").write_text(seal(head), "utf-8")


def run_file(folder: Path, name: str) -> Path:
    """Path of a file in a run folder, restored first if a command was interrupted."""
    restore(folder, RunError)
    return folder / name


def _written(folder: Path) -> dict[str, str] | None:
    """List the files of an earlier run in a folder; None if run.json is not from wholetext."""
    with suppress(OSError, ValueError, TypeError, RecursionError):
        head = json.loads((folder / "run.json").read_bytes())
        if {"wholetext", "format", "systems", "metrics"} <= set(head):
            return {"run.json": "", **head.get("files", {})}
    return None


# stores of 0.2 in Parquet are replaced, but not read
_NAMES = re.compile(
    r"(run|grid|judge-check|stress)\.json|(texts|results)\.(jsonl|parquet)|stats\d+\.(npz|parquet)|"
    r"details\d+\.json|stress\.jsonl"
)
RUN = OwnFolder("run folder", _NAMES, _written, RunError)


def open_run(folder: Path | str) -> Results:
    """Read a run folder back: the same Results, without computing anything."""
    if not isinstance(folder, (str, Path)):
        raise InputError(f"expected a folder, got {type(folder).__name__}", next='open_run("run")')
    while True:
        opened = _identity(Path(folder))
        try:
            return _read_run(Path(folder))
        except RunError:
            if opened == _identity(Path(folder)):  # otherwise it was replaced while it was read
                raise


def _identity(folder: Path) -> tuple[int, int, int] | None:
    """Tell a folder from one that replaced it, which may have the same inode."""
    restore(folder, RunError)
    with suppress(OSError):
        status = folder.stat()
        return status.st_dev, status.st_ino, status.st_ctime_ns
    return None


def _read_run(folder: Path) -> Results:
    if not os.path.isdir(folder):  # noqa: PTH112 - pathlib raises where a name is too long
        is_file = os.path.isfile(folder)  # noqa: PTH113
        raise RunError(
            "this is a file, not a run folder" if is_file else "there is no such folder",
            where=str(folder),
            next="give a folder that `wholetext score --out` wrote",
        )
    head = read_head(folder)
    with reading(str(folder / "run.json"), *DAMAGED):
        digests, path = head.get("files") or {}, folder / "texts.jsonl"
        corpus, outputs = read_texts(read_file(path, digests), path, head)
        scores = {
            entry["spec"]: _read_scores(folder, i, entry, digests, corpus)
            for i, entry in enumerate(head["metrics"])
        }
        groups = head.get("groups") or [""] * len(head["warnings"])
        significance, comparisons = None, dict[str, Comparison]()
        if head.get("comparison"):
            damaged = "the stored comparison is damaged"
            with reading(str(folder), "score again", RunError, damaged):
                significance, comparisons = restored(head["comparison"])
                for entry in head["metrics"]:
                    systems = {place.system for place in comparisons[entry["spec"]].standings}
                    if systems != set(entry["systems"]):
                        raise ValueError(f"it compares other systems under {entry['spec']}")
        return Results(
            corpus,
            outputs,
            scores,
            tuple(
                Note("stored", text, group=group) if group else text
                for text, group in zip(head["warnings"], groups)
            ),
            head["counts"],
            head["flags"],
            significance,
            comparisons,
            head.get("environment") or {},
            tuple(
                Control(entry["name"], entry["text"], numbers(entry["scores"]))
                for entry in head.get("controls") or ()
            ),
        )


def _read_scores(
    folder: Path, i: int, entry: Mapping[str, Any], digests: Mapping[str, str], corpus: Corpus
) -> dict[str, Scores]:
    """Scores of the ``i``-th metric by system."""
    parsed = scorer(entry["spec"])
    metric = parsed.metric
    if type(metric).reduce is not Metric.reduce:  # otherwise its model need not be there
        metric = metric.resolve(corpus.langs)
    path = folder / f"stats{i}.npz"
    every = read_stats(read_file(path, digests), path, entry, corpus, metric)
    details: list[list[Any]] = [[]] * len(every)
    if entry["details"]:
        path = folder / f"details{i}.json"
        sizes = [len(stats) for _, stats, _ in every]
        details = read_details(read_file(path, digests), path, sizes)
    return {
        system: Scores(
            metric=entry["spec"],
            system=system,
            rows=every[j][0],
            stats=every[j][1],
            reduce=metric.reduce,
            reduce_rows=metric.reduce_rows,
            reduce_docs=trait(metric, "reduce_docs"),
            outputs=tuple(entry["outputs"]),
            higher_is_better=entry["higher_is_better"],
            range=(float(entry["range"][0]), float(entry["range"][1])),
            signature=Signature(entry["signatures"][j], parsed.chosen),
            lost=every[j][2],
            stated=tuple(entry.get("notes") or ()),
            decimals=metric.decimals,
            details=tuple(details[j]),
        )
        for j, system in enumerate(entry["systems"])
    }


def damaged_details(scores: Scores) -> AbstractContextManager[None]:
    """Report damaged details where they are used: only their metric knows their shape."""
    what = f"the details of {scores.metric} for {scores.system} are damaged"
    return reading("", AGAIN, RunError, what)

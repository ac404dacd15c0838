"""`wholetext explain`: which spans of a document matched, are missing or are extra, system beside reference."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from wholetext.cli import options as inputs

if TYPE_CHECKING:
    from wholetext.errors import MetricError
    from wholetext.metrics.blonde.reasons import Reasons
    from wholetext.metrics.blonde.spans import Compared
    from wholetext.scoring.results import Results
    from wholetext.types import Scores

Doc = Annotated[str | None, typer.Option("--doc", help="Document id (default: the document with the lowest score).")]
System = Annotated[str | None, typer.Option("--system", help="System (required if there are several).")]
Metric = Annotated[
    str | None, typer.Option("-m", "--metric", help="blonde, d-blonde or blonde-plus (default: the first in the run).")
]
Ref = Annotated[str | None, typer.Option("--ref", help="Reference to show (default: the first).")]
All = Annotated[bool, typer.Option("--all", help="Also show segments without errors.")]


def explain(
    input: Annotated[str | None, typer.Argument(help="Run folder, or any input of `wholetext score`.")] = None,
    doc: Doc = None,
    system: System = None,
    metric: Metric = None,
    ref: Ref = None,
    all_: All = False,
    format: inputs.TableOrJson = "table",
    json_: inputs.Json = False,
    sources: inputs.Sources = None,
    translations: inputs.Translations = None,
    references: inputs.References = None,
    docs: inputs.Docs = None,
    langs: inputs.Langs = None,
    reader: inputs.Reader = None,
) -> None:
    """Explain the score of a document: matching, missing and extra tenses, pronouns, entities and markers."""
    import json

    from wholetext.scoring.results import run_file

    if input is not None and run_file(Path(input), "run.json").exists():
        from wholetext.scoring.evaluate import open_run

        results = open_run(input)
    else:
        chosen = inputs.Chosen(langs, reader=reader)
        loaded = inputs.load(input, (sources, translations, references, docs), chosen)
        inputs.warn(loaded.warnings)
        results = _texts(loaded)
    found = Explained(results, metric, system, doc, ref)
    inputs.warn(found.notes)
    if json_ or format == "json":
        print(json.dumps(found.as_json(), ensure_ascii=False, indent=1))
    else:
        from wholetext.cli.tables.side_by_side import show

        show(found, every=all_)


def _texts(loaded: Any) -> Results:
    """Texts that nothing has scored yet."""
    from wholetext.scoring.results import Results

    return Results(loaded.corpus, tuple(loaded.outputs), {}, tuple(loaded.warnings))


def _first(results: Results) -> str:
    """The run's first metric of the family; texts without a run get ``blonde``."""
    from wholetext.errors import MetricError
    from wholetext.registry import scorer

    family = [spec for spec in results.scores if "blonde" in scorer(spec).metric.name]
    if results.scores and not family:
        raise MetricError(f"the run has no BlonDe scores (it has {', '.join(results.scores)})",
                          next="name one to compute it now: explain RUN -m d-blonde")
    return family[0] if family else "blonde"


class Explained:
    """One document of one system under one metric."""

    def __init__(
        self, results: Results, metric: str | None, system: str | None, doc: str | None, ref: str | None
    ) -> None:
        from wholetext.metrics.blonde.spans import compared
        from wholetext.registry import scorer
        from wholetext.scoring.results import damaged_details

        self.results, self.spec = results, scorer(metric or _first(results)).spec
        self.computed = self.spec not in results.scores  # now, not read from the run
        self.notes: tuple[str, ...] = ()
        self.system = _choose("system", system, results.systems, only=True)
        ids = [one.id for one in results.corpus.docs]
        if doc is not None:
            _choose("document", doc, ids)
        self.scores = self._scores(doc)
        self.doc = doc or self._lowest()
        place = ids.index(self.doc)
        refs = used(self.scores.signature["refs"], results.corpus.references)
        self.ref = _choose("reference", ref or next(iter(refs), None), refs)
        output = next(one for one in results.outputs if one.system == self.system)
        texts = output.docs[self.doc], results.corpus.docs[place].refs[self.ref]
        details = self._details()
        with damaged_details(self.scores):
            self.segments: tuple[Compared, ...] = compared(details, *texts, which=refs.index(self.ref))
        self.reason: str = next((detail["reason"] for _, detail in details if "reason" in detail), "")
        self.reasons: Reasons = self._reasons()

    def _details(self) -> list[tuple[int, Mapping[str, Any]]]:
        """(first segment, detail) of each row of the document."""
        rows = self.scores.rows
        own = rows.of(rows.docs.index(self.doc))
        details = [(int(rows.start[own.start + i]), one or {}) for i, one in enumerate(self.scores.details[own])]
        if not all("blonde" in detail for _, detail in details) or not details:
            raise self._unexplained()
        return details

    def _unexplained(self) -> MetricError:
        from wholetext.errors import MetricError

        return MetricError(f"{self.spec} leaves no spans to explain", next="use -m blonde, d-blonde or blonde-plus")

    def _reasons(self) -> Reasons:
        from wholetext.metrics.blonde.metric import Blonde
        from wholetext.metrics.blonde.reasons import reasons
        from wholetext.registry import scorer

        metric = scorer(self.spec).metric.resolve(self.results.corpus.langs)
        if not isinstance(metric, Blonde):
            raise self._unexplained()
        totals = self.scores.totals()[self.scores.rows.docs.index(self.doc)]
        return reasons(metric.recipe, totals, document_score=self.scores.signature.get("document_score", "as-corpus"))

    def _scores(self, doc: str | None) -> Scores:
        """From the run where it has the metric, else computed now, for no more than is asked."""
        from dataclasses import replace

        from wholetext.registry import scorer
        from wholetext.scoring.evaluate import evaluate

        results = self.results
        if self.spec in results.scores:
            return results.scores[self.spec][self.system]
        corpus = results.corpus
        if doc is not None and not scorer(self.spec).metric.surveys:  # annotation files go by line: they need them all
            corpus = replace(corpus, docs=tuple(one for one in corpus.docs if one.id == doc))
        outputs = [output for output in results.outputs if output.system == self.system]
        made = evaluate(corpus, outputs, [self.spec])
        said = (f"{self.spec} is not in the run: computed now, and not kept there",) if results.scores else ()
        self.notes = (*said, *made.warnings)
        return made.scores[self.spec][self.system]

    def _lowest(self) -> str:
        import numpy as np

        values = self.scores.at("doc")
        return self.scores.rows.docs[int(np.nanargmin(values)) if not np.isnan(values).all() else 0]

    def values(self) -> dict[str, float]:
        """The document's outputs; undefined ones are NaN."""
        row = self.scores.table("doc")[self.scores.rows.docs.index(self.doc)]
        return dict(zip(self.scores.outputs, row.tolist()))

    def as_json(self) -> dict[str, Any]:
        scores = {name: None if value != value else value for name, value in self.values().items()}
        return {"document": self.doc, "system": self.system, "reference": self.ref, "metric": self.spec,
                "scores": scores, "computed": self.computed, "reason": self.reason or None,
                "why": self.reasons.as_json(), "signature": str(self.scores.signature),
                "segments": [segment.as_json() for segment in self.segments]}


def used(listed: str, known: Sequence[str]) -> list[str]:
    """The references that a signature lists, in the order of the spans; names may have commas in them."""
    found: dict[int, list[str]] = {len(listed) + 1: []}  # where a name begins → the names from there to the end
    for at in reversed([0, *(i + 1 for i, sign in enumerate(listed) if sign == ",")]):
        for name in known:
            rest = found.get(at + len(name) + 1)
            if rest is not None and name not in rest and f"{listed},".startswith(f"{name},", at):
                found[at] = [name, *rest]
                break
    return found.get(0, [])


def _choose(what: str, name: str | None, known: Any, *, only: bool = False) -> str:
    from wholetext.errors import InputError, did_you_mean

    if name is None and only and len(known) == 1:
        return str(known[0])
    if name not in known:
        said = f"there is no {what} {name!r}" if name else f"which {what}?"
        shown = ", ".join(known[:12]) + (" …" if len(known) > 12 else "")
        raise InputError(said, next=did_you_mean(name or "", list(known)) or f"{what}s: {shown or 'none'}")
    return str(name)

"""Why a document has its score: spans that match the reference, are missing or are extra."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from wholetext import slices
from wholetext.errors import InputError, MetricError, choices, known
from wholetext.io import Loaded
from wholetext.metrics.blonde.explain import (
    Compared,
    MatchedSpan,
    Reasons,
    compared,
    occurring,
    reasons,
)
from wholetext.metrics.blonde.metric import Blonde
from wholetext.notebook.display import brief
from wholetext.registry import scorer
from wholetext.scoring.evaluate import score
from wholetext.scoring.results import Results, damaged_details
from wholetext.types import Scores
from wholetext.views import glue_of, stretches


@dataclass(frozen=True, eq=False)
class Explained:
    """One document of one system under one metric."""

    scores: Scores
    doc: str
    ref: str
    segments: tuple[Compared, ...]
    reason: str  # why the score is undefined, or ""
    reasons: Reasons | None  # what BlonDe's factors counted; other metrics have only spans
    computed: bool  # now, not read from the run
    notes: tuple[str, ...]
    __repr__ = brief

    @property
    def spec(self) -> str:
        """The canonical spec of the metric."""
        return self.scores.metric

    @property
    def system(self) -> str:
        """The system whose output is explained."""
        return self.scores.system

    def values(self) -> dict[str, float]:
        """The document's outputs; undefined ones are NaN."""
        row = self.scores.table("doc")[self.scores.rows.docs.index(self.doc)]
        return dict(zip(self.scores.outputs, row.tolist()))

    def as_json(self) -> dict[str, Any]:
        """Plain values; undefined scores are null."""
        scores = {name: None if value != value else value for name, value in self.values().items()}
        return {
            "document": self.doc,
            "system": self.system,
            "reference": self.ref,
            "metric": self.spec,
            "scores": scores,
            "computed": self.computed,
            "reason": self.reason or None,
            "why": self.reasons and asdict(self.reasons),
            "signature": str(self.scores.signature),
            "segments": [asdict(segment) for segment in self.segments],
        }


def explain(
    results: Results,
    metric: str | None = None,
    *,
    system: str | None = None,
    doc: str | None = None,
    ref: str | None = None,
) -> Explained:
    """Show spans of a document that match a reference, are missing or extra, and their effect.

    By default the first BlonDe metric of the run (else the first that marks spans, else the first), its first
    reference, and the document with the lowest score: for BlonDe, the lowest mean over the
    categories that occur. A metric that is not in the run is computed for this document only. What
    other metrics mark with ``run.detail(i, spans=…)`` is shown as extra, by severity. A metric that
    marks nothing is explained by rules, for English outputs: pronouns, tenses, connectives, names,
    order and coverage that do not fit the document or its reference.
    """
    spec, corpus = scorer(metric or _first(results)).spec, results.corpus
    if system is None and len(results.systems) > 1:
        raise InputError("which system?", next=choices("", results.systems))
    system = known("system", system or results.systems[0], results.systems)
    if doc is not None:
        known("document", doc, corpus.ids)
    scores, notes = _scores(results, spec, system, doc)
    measure, why = scorer(spec).metric, None
    # other metrics may not be installed any more
    blonde = measure.resolve(corpus.langs) if isinstance(measure, Blonde) else None
    if doc is None:
        values = occurring(blonde, scores.totals()) if blonde else scores.at("doc")
        doc = scores.rows.docs[int(np.nanargmin(values)) if not np.isnan(values).all() else 0]
    refs = [name for name in scores.signature["refs"].split(",") if name in corpus.references]
    ref = known("reference", ref or refs[0], refs) if refs or ref else ""
    outputs = {output.system: output for output in results.outputs}
    texts = outputs[system].docs[doc], corpus.docs[corpus.ids.index(doc)].refs.get(ref, ())
    rows = scores.rows.of(scores.rows.docs.index(doc))
    details = [
        (int(start), detail or {})
        for start, detail in zip(scores.rows.start[rows], scores.details[rows])
    ]  # first segment and facts of each row
    with damaged_details(scores):
        if blonde and details and all("blonde" in facts for _, facts in details):
            segments = compared(details, *texts, which=refs.index(ref))
            why = reasons(blonde, scores.totals()[scores.rows.docs.index(doc)])
        elif _marks_spans(scores):
            segments = _marked(details, *texts, glue_of(corpus.langs[1], scores))
        else:
            segments = _findings(spec, *texts, corpus.langs[1])
    reason = next((facts["reason"] for _, facts in details if "reason" in facts), "")
    return Explained(scores, doc, ref, segments, reason, why, spec not in results.scores, notes)


def _marks_spans(scores: Scores) -> bool:
    return any("spans" in facts for facts in scores.details if facts)


def _marked(
    details: Sequence[tuple[int, Mapping[str, Any]]],
    hyp: Sequence[str],
    ref: Sequence[str],
    glue: str,
) -> tuple[Compared, ...]:
    """Segments with the spans ``{start, end, severity}`` that a metric marked in each row."""
    # overlapping windows may repeat a span
    extra: list[dict[MatchedSpan, None]] = [{} for _ in hyp]
    for first, detail in details:
        for span in detail.get("spans", ()):
            why = ": ".join(str(span[key]) for key in ("category", "reason") if span.get(key))
            severity, ends = str(span.get("severity", "")), (int(span["start"]), int(span["end"]))
            for place, start, end in stretches(hyp[first:], glue, *ends):
                text = hyp[first + place][start:end]
                extra[first + place][MatchedSpan(severity, why, text, start, end)] = None
    return _with_extra(hyp, ref, extra)


def _with_extra(
    hyp: Sequence[str], ref: Sequence[str], extra: Sequence[Iterable[MatchedSpan]]
) -> tuple[Compared, ...]:
    """Segments beside their reference, with spans of the output marked."""
    beside = [*ref, *[""] * len(hyp)]
    return tuple(
        Compared(i + 1, text, beside[i], (), (), (), tuple(extra[i])) for i, text in enumerate(hyp)
    )


def _findings(spec: str, hyp: Sequence[str], ref: Sequence[str], lang: str) -> tuple[Compared, ...]:
    """Segments with what does not fit the document, for metrics that mark no spans."""
    find = slices.hook("findings")
    by_segment = find(hyp, ref, lang) if find else None
    if by_segment is None:
        raise MetricError(
            f"{spec} leaves no spans to explain",
            next="use -m blonde, d-blonde or blonde-plus; other metrics are explained for English "
            "outputs beside a reference with the same segments",
        )
    return _with_extra(
        hyp,
        ref,
        [
            [
                MatchedSpan(
                    finding.kind, finding.why, text[finding.start : finding.end], *finding[1:3]
                )
                for finding in findings
            ]
            for text, findings in zip(hyp, by_segment)
        ],
    )


def _first(results: Results) -> str:
    """The run's first BlonDe metric, else its first with spans, else its first; ``blonde`` without a run."""
    family = [spec for spec in results.scores if "blonde" in scorer(spec).metric.name]
    family += [
        spec
        for spec, by_system in results.scores.items()
        if any(map(_marks_spans, by_system.values()))
    ]
    return next(iter((*family, *results.scores)), "blonde")


def _scores(
    results: Results, spec: str, system: str, doc: str | None
) -> tuple[Scores, tuple[str, ...]]:
    """From the run where it has the metric, else computed now; with notes on what was computed."""
    if spec in results.scores:
        return results.scores[spec][system], ()
    corpus = results.corpus
    if doc is not None and not scorer(spec).metric.surveys:
        # annotation files go by line: metrics that read them need all documents
        corpus = replace(corpus, docs=tuple(each for each in corpus.docs if each.id == doc))
    outputs = [output for output in results.outputs if output.system == system]
    computed = score(Loaded(corpus, outputs), [spec])
    notes = [f"{spec} is not in the run: computed now, and not kept there"]
    return computed.scores[spec][system], (*notes[: len(results.scores)], *computed.warnings)

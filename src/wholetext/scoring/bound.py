"""Bound metrics: a metric and a view for a corpus, with requests, cache key and signature."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from wholetext import plugins
from wholetext.errors import AlignmentError, InputError, MetricError, TextTooLong, count
from wholetext.models.device import pick_device
from wholetext.registry import BUILTIN, Scorer
from wholetext.scoring.engine import Engine, trait
from wholetext.scoring.nulls import check_worst, null_counts, scored_text
from wholetext.text import joiner
from wholetext.types import (
    ALL,
    Corpus,
    Document,
    Excerpt,
    IntArray,
    Metric,
    Output,
    Request,
    Rows,
    Signature,
)
from wholetext.version import __version__
from wholetext.views import VIEWS, Context, Sides, Span, View, lenders, without_context

Only = Mapping[str, NDArray[np.bool_]]  # document → (segments,)


def check(corpus: Corpus, outputs: Sequence[Output]) -> None:
    """Check that every output has every document, and that names are unique."""
    wrong: list[object] = [] if isinstance(corpus, Corpus) else [corpus]
    listed = isinstance(outputs, Sequence)
    wrong += [item for item in outputs if not isinstance(item, Output)] if listed else [outputs]
    if wrong:
        raise InputError(
            f"expected a Corpus and a list of Output, got {type(wrong[0]).__name__}",
            next="score(read(FILE), …), or score(texts, …, refs=…)",
        )
    if not corpus.docs or not outputs:
        raise AlignmentError(
            "there is no output to score" if corpus.docs else "there are no documents",
            where=corpus.id,
            next="give at least one system (-t; in a file outputs or hyp:SYSTEM, see `wholetext help formats`)",
        )
    systems = [output.system for output in outputs]
    for what, names in (("outputs", systems), ("documents", corpus.ids)):
        name, times = Counter(names).most_common(1)[0]
        if times > 1:
            raise AlignmentError(
                f"several {what} are called {name!r}",
                where=corpus.id,
                next="give each a unique name",
            )
    for output in outputs:
        gone = [doc for doc in corpus.ids if doc not in output.docs]
        if gone:
            raise AlignmentError(
                f"{count(len(gone), 'document', 'are')} missing, first {gone[0]!r}",
                where=f"system {output.system}",
            )


@dataclass(frozen=True)
class BoundMetric:
    """A metric bound to a corpus and its outputs, ready to run."""

    scorer: Scorer
    metric: Metric  # with every auto parameter resolved
    corpus: Corpus
    outputs: tuple[Output, ...]
    sides: Sides
    engine: Engine
    lenders: Mapping[str, Document]  # of wrong context, for ``context(source=other)``
    only: Only | None = None  # segments to score; rows that touch none of them are left out

    def cut(self, doc: Document, output: Output) -> tuple[list[Span], list[Request]]:
        """Cut a document of a system into rows and a request for each."""
        texts = scored_text(self.metric, output, doc.id) if output.nulls else output.docs[doc.id]
        sides = self.sides
        if doc.id in self.lenders:
            other = self.lenders[doc.id]
            sides = dataclasses.replace(sides, other=(other, output.docs[other.id]))
        if trait(self.metric, "rivals"):  # the other outputs in place of the references
            others = [other for other in self.outputs if other.system != output.system]
            refs = {other.system: other.docs[doc.id] for other in others}
            doc = dataclasses.replace(doc, refs=refs)
            sides = dataclasses.replace(sides, refs=tuple(refs))
        spans, requests = self.scorer.view.cut(doc, texts, sides)
        if trait(self.metric, "by_domain") and (domain := doc.meta.get("domain")):
            requests = [dataclasses.replace(request, domain=domain) for request in requests]
        if self.only is None:
            return spans, requests
        requested = self.only[doc.id]
        kept = [i for i, (start, stop, _) in enumerate(spans) if requested[start:stop].any()]
        return [spans[i] for i in kept], [requests[i] for i in kept]

    @cached_property
    def corpus_hash(self) -> str:
        """Hash of the documents with the references in use, whatever their names and order."""
        digest = hashlib.blake2b(digest_size=6)
        for doc in self.corpus.docs:
            refs = sorted(doc.refs[name] for name in self.sides.context_refs)
            digest.update(json.dumps([doc.id, doc.src, refs]).encode())
        return digest.hexdigest()

    def signature(
        self, output: Output, rows: Rows, lost: IntArray, outcomes: Mapping[str, object]
    ) -> Signature:
        """Make the signature of an output's scores; ``outcomes`` are known after measuring."""
        view, metric = self.scorer.view, self.metric
        items: dict[str, object] = {"metric": metric.name, "view": view.name}
        items |= {f"view.{key}": value for key, value in settings_of(view).items()}
        items |= settings_of(metric)
        items |= {"langs": "-".join(self.corpus.langs), "refs": ",".join(self.sides.refs) or "none"}
        if (
            isinstance(view, Context)
            and not self.sides.refs
            and (lent := view.borrowed(self.sides))
        ):
            items |= {"context_refs": ",".join(lent)}
        if not trait(metric, "remote") and self.sides.count is not None:
            items |= {"dtype": self.engine.dtype}
        if trait(metric, "rivals"):
            items |= {"rivals": ",".join(output.system for output in self.outputs)}
        if output.realigned:
            how = sorted(set(output.realigned.values()))
            omitted, added = null_counts(output)
            nulls = f" omitted={omitted} added={added}" if output.nulls else ""
            part = f"{len(output.realigned)}/{len(self.corpus)}"
            items |= {"realigned": f"{part} {' '.join(how)}{nulls}"}
        covered = rows.covered
        items |= {"rows": len(rows.doc), "dropped": f"{int((~covered).sum())}/{len(covered)}"}
        items |= {"lost_context": int(lost[0]), "lost_focus": int(lost[1])}
        items |= {**outcomes, "corpus": self.corpus_hash, "wholetext": __version__}
        return Signature(items, self.scorer.chosen)


def bind(
    parsed: Scorer,
    corpus: Corpus,
    outputs: Sequence[Output],
    engine: Engine,
    refs: tuple[str, ...] | None,
    remote: bool = False,
    only: Only | None = None,
) -> BoundMetric:
    """Bind a scorer to a corpus; raise an error if something that the metric needs is missing.

    ``remote``: models run elsewhere, so their device need not be here.
    """
    metric = parsed.metric.annotated(corpus.annotations).resolve(corpus.langs)
    if trait(metric, "rivals") and len(outputs) < 2:
        raise MetricError(
            f"{metric.name} compares systems, and there is only one",
            where=corpus.id,
            next="give the outputs of two systems or more",
        )
    if any(output.nulls for output in outputs):
        check_worst(metric, outputs)
    view, sides = parsed.view, sides_of(metric, corpus, refs, engine)
    placed = (engine.device, engine.dtype) != ("auto", "fp32")
    if placed and not remote and not trait(metric, "remote") and sides.count is not None:
        pick_device(engine.device, engine.dtype)  # refused also where every score is in the cache
    for output in outputs:  # now, not after hours of other metrics
        try:
            for doc in corpus.docs:
                view.check(doc, output.docs[doc.id], sides)
        except AlignmentError as fault:
            where = f"system {output.system}, {fault.where}"
            what = f"{parsed.spec}: {fault.what}"
            raise AlignmentError(what, where=where, next=fault.next) from None
    if not any(view.spans(size) for size in corpus.sizes.tolist()):
        raise MetricError(
            f"{parsed.spec} leaves no row to score: every document is shorter than the window",
            where=corpus.id,
            next="use a smaller size, or partial=include",
        )
    lending: Mapping[str, Document] = {}
    if isinstance(view, Context) and view.source == "other":
        lending = lenders(corpus.docs, view.seed, view.prev + view.next)
    return BoundMetric(parsed, metric, corpus, tuple(outputs), sides, engine, lending, only)


def sides_of(
    metric: Metric, corpus: Corpus, chosen: tuple[str, ...] | None, engine: Engine
) -> Sides:
    """Choose the sides that the metric reads; raise an error if one that it needs is missing."""
    refs = chosen if chosen is not None else corpus.standard or corpus.references
    refs = corpus.references if refs == (ALL,) else refs
    unknown = [name for name in refs if name not in corpus.references]
    if unknown:
        raise AlignmentError(
            f"not every document has the reference {unknown[0]!r}",
            where=corpus.id,
            next=f"references: {', '.join(corpus.references) or 'none'}",
        )
    if "ref" in metric.needs and not refs:
        some = " for every document" if any(doc.refs for doc in corpus.docs) else ""
        raise MetricError(
            f"{metric.name} needs a reference, and there is none{some}",
            where=corpus.id,
            next="give one (-r, in Python refs=), or use a metric that needs none "
            "(`wholetext list --no-ref`)",
        )
    if "src" in metric.needs and not corpus.has_source:
        raise MetricError(
            f"{metric.name} needs the source, and there is none",
            where=corpus.id,
            next="give it (-s, in Python srcs=)",
        )

    def tokens(request: Request) -> int:
        """Count the tokens of the text itself, without markers, whether or not they fit."""
        return sum(
            fit.tokens - fit.special + fit.lost_context + fit.lost_focus
            for fit in metric.fits([request], engine) or ()
        )

    uses = metric.needs | metric.wants
    return Sides(
        langs=corpus.langs,
        src="src" in uses and corpus.has_source,
        refs=refs if "ref" in uses else (),
        context_refs=refs,
        count=None if metric.fits([], engine) is None else tokens,
        own_context=trait(metric, "own_context"),
    )


def refuse_losses(work: BoundMetric) -> None:
    """Under ``overflow=error``: stop before any model runs if any text would be cut."""
    for doc in work.corpus.docs:
        for output in work.outputs:
            spans, requests = work.cut(doc, output)
            for (start, stop, _), fit in zip(spans, work.metric.fits(requests, work.engine) or ()):
                if fit.lost_context or fit.lost_focus:
                    raise TextTooLong(
                        f"{work.scorer.spec}: {fit.lost_focus} scored and {fit.lost_context} context tokens "
                        "do not fit the model",
                        where=f"document {doc.id}, segments {start + 1}–{stop}, system {output.system}",
                        next="use a smaller view (context, slide), or --overflow warn to cut and count",
                    )


def references(work: BoundMetric) -> Iterator[tuple[Excerpt, ...]]:
    """Yield the references of every segment that the metric reads, for its survey."""
    glue = joiner(work.corpus.langs[1])
    for doc in work.corpus.docs:
        for segments in zip(*(doc.refs[name] for name in work.sides.refs)):
            yield tuple(without_context((segment,), glue) for segment in segments)


def salt_of(work: BoundMetric, survey: object = None) -> str:
    """Hash everything besides the request that can change its statistics."""
    metric, engine = work.metric, work.engine
    survey = "" if survey is None else hashlib.blake2b(repr(survey).encode()).hexdigest()
    facts = [
        metric.name,
        settings_of(metric),
        work.corpus.langs,
        engine.dtype,
        survey,
        type(metric).__module__,
        __version__,
        "notes in rows",
    ]
    return hashlib.blake2b(json.dumps(facts).encode(), digest_size=16).hexdigest()


def settings_of(thing: Metric | View) -> dict[str, str]:
    """Parameters and further facts as signatures spell them, with the package of a plug-in."""
    values = {f.name: getattr(thing, f.name) for f in dataclasses.fields(thing)}  # type: ignore[arg-type]
    settings = {
        name: str(value).lower() if value is None or isinstance(value, bool) else str(value)
        for name, value in values.items()
    }
    settings |= thing.facts() if isinstance(thing, Metric) else {}
    if thing.name not in BUILTIN and thing.name not in VIEWS:
        group = plugins.METRICS if isinstance(thing, Metric) else plugins.VIEWS
        package = plugins.origin(group, thing.name)
        settings |= {"plugin": package} if package else {}
    return settings

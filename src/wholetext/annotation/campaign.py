"""Pearmut campaigns: documents of a run for human evaluation, with error spans of a metric.

Pearmut (Zouhar & Kocmi 2026, arXiv 2601.02933) shows a document as a list of items, here one per
segment. Under ESA an item has the output of one system, under cESA those of all systems side by
side. Spans that are filled in (ESA-AI, Zouhar et al. 2025, arXiv 2406.12419) are confirmed, changed
or deleted by the annotators.
"""

from __future__ import annotations

import html
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from wholetext.errors import AlignmentError, InputError, count
from wholetext.notebook.display import brief
from wholetext.scoring.explain import explain
from wholetext.scoring.results import Results
from wholetext.types import Document

Protocol = Literal["ESA", "cESA"]
SEVERITIES = {"minor": "minor", "major": "major", "critical": "major", "neutral": "neutral"}
_ORDER = (None, "neutral", "minor", "major")
_MARKUP = re.compile(  # what Pearmut shows as media or formats
    r"^<(?:audio|video|img|iframe)\s|</?(?:b|strong|em|i|br|h[123]|p)\s*/?>", re.IGNORECASE
)
_NOTES = {
    "critical": ("critical error", "filled in as major: ESA has no critical errors"),
    "open": ("span", "without severity: annotators must choose one"),
    "joined": ("span", "joined with one that it overlaps"),
    "markup": (
        "text",
        "with HTML tags: Pearmut may show them as formatting or media, and then counts characters "
        "of error spans differently; check these texts before annotators open them",
    ),
}
_NOT_ID = re.compile(r"[^\w.#-]+")


@dataclass(frozen=True)
class Campaign:
    """A campaign: JSON for ``pearmut add``, and what was left out or changed on the way."""

    content: dict[str, Any]
    notes: tuple[str, ...] = ()
    __repr__ = brief


def make_campaign(
    results: Results,
    documents: Sequence[str] | Mapping[str, float] | None = None,
    *,
    protocol: Protocol = "ESA",
    spans: str | None = "auto",
    users: int = 1,
    name: str | None = None,
) -> Campaign:
    """Make a campaign of these documents of a run (all by default), in this order.

    ``documents`` may also be document → weight (``Sample.weights``); weights come back with the
    annotations. ``spans`` is the metric of the run whose error spans are filled in: ``"auto"``
    takes the first that marks any, None fills in none. Spans of BlonDe have no severity, which
    annotators then choose. All ``users`` share the documents.
    """
    by_id = {doc.id: doc for doc in results.corpus.docs}
    chosen = list(by_id) if documents is None else list(dict.fromkeys(documents))
    unknown = [doc for doc in chosen if doc not in by_id]
    if protocol not in get_args(Protocol) or users < 1 or unknown:
        raise InputError(
            f"no campaign by the protocol {protocol!r} for {count(users, 'user')} with "
            f"{', '.join(map(repr, unknown)) or 'these documents'}",
            next=f"give documents of the run, a protocol of {', '.join(get_args(Protocol))}, and "
            "at least one user",
        )
    weights = documents if isinstance(documents, Mapping) else {}
    make = _Campaign(results, _metric(results, spans), weights)
    groups = [results.systems] if protocol == "cESA" else [(system,) for system in results.systems]
    data = [make.document(by_id[doc], group) for doc in chosen for group in groups]
    title = name or f"{results.corpus.id}-{'-'.join(filter(None, results.corpus.langs))}-{protocol}"
    content = {
        "info": {"assignment": "single-stream", "protocol": protocol, "users": users},
        "campaign_id": _NOT_ID.sub("_", title).strip("._") or "campaign",
        "data": data,
    }
    return Campaign(content, make.notes(spans))


def _metric(results: Results, spans: str | None) -> str | None:
    """Return the spec of the metric whose spans are filled in."""
    if spans is None:
        return None
    if spans != "auto":
        return next(iter(results[spans].values())).metric
    marking = (
        spec
        for spec, by_system in results.scores.items()
        for scores in by_system.values()
        if any("spans" in (facts or {}) for facts in scores.details)
    )
    return next(marking, None)


@dataclass
class _Campaign:
    """Builder of a campaign, which counts what its notes must say."""

    results: Results
    spec: str | None
    weights: Mapping[str, float]
    seen: Counter[str] = field(default_factory=Counter)

    def document(self, doc: Document, systems: Sequence[str]) -> list[dict[str, Any]]:
        """Make the items of one document, one per segment.

        ``doc`` and ``seg`` come back with the annotations.
        """
        outputs = {output.system: output.docs[doc.id] for output in self.results.outputs}
        texts = {system: outputs[system] for system in systems}
        if any(len(segments) != len(doc) for segments in texts.values()):
            raise AlignmentError(
                f"outputs of {', '.join(texts)} are segmented differently from document {doc.id!r}",
                next="align them with `wholetext align`, and score them again",
            )
        marked = {system: self._spans(doc, system) for system in systems}
        items = []
        for i in range(len(doc)):
            item: dict[str, Any] = {"item_id": f"{doc.id}#{i}", "doc": doc.id, "seg": i}
            item |= {"weight": self.weights[doc.id]} if doc.id in self.weights else {}
            item |= {} if i else {"instructions": _instructions(self.results.corpus.langs, doc)}
            item |= {} if doc.src is None else {"src": doc.src[i]}
            item["tgt"] = {system: segments[i] for system, segments in texts.items()}
            shown = (item.get("src", ""), *item["tgt"].values())
            self.seen["markup"] += sum(bool(_MARKUP.search(text)) for text in shown)
            if self.spec is not None:
                item["error_spans"] = {system: marked[system][i] for system in systems}
            items.append(item)
        return items

    def _spans(self, doc: Document, system: str) -> list[list[dict[str, Any]]]:
        """List what the metric marked in each segment, in Pearmut's form."""
        if self.spec is None:
            return []
        by_system = self.results.scores[self.spec]
        if any(scores.details for scores in by_system.values()) and not any(
            by_system[system].details
        ):  # nothing marked
            return [[]] * len(doc)
        marked = []
        for segment in explain(self.results, self.spec, system=system, doc=doc.id).segments:
            places = units(segment.hyp)
            marks = []
            for span in segment.extra:
                category = span.category.lower()
                severity = SEVERITIES.get(category)
                self.seen["critical"] += category == "critical"
                self.seen["open"] += severity is None
                mark: dict[str, Any] = {
                    "start_i": places[span.start],
                    "end_i": places[span.end] - 1,
                    "severity": severity,
                    "category": None if severity else span.category or None,
                }
                marks += [mark] if mark["start_i"] <= mark["end_i"] else []
            marked.append(self._apart(marks))
        return marked

    def _apart(self, marks: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
        """Join overlapping spans with the higher severity: Pearmut shows one per character."""
        done: list[dict[str, Any]] = []
        for mark in sorted(marks, key=lambda span: (span["start_i"], span["end_i"])):
            if done and mark["start_i"] <= done[-1]["end_i"]:
                self.seen["joined"] += 1
                done[-1]["end_i"] = max(done[-1]["end_i"], mark["end_i"])
                done[-1]["severity"] = max(done[-1]["severity"], mark["severity"], key=_ORDER.index)
            else:
                done.append(mark)
        self.seen["spans"] += len(done)
        return done

    def notes(self, spans: str | None) -> tuple[str, ...]:
        """Say what those who run the campaign should know; ``spans`` is the metric requested."""
        notes = []
        if spans == "auto" and not self.spec:
            notes.append("the run has no metric that marks error spans: no spans are filled in")
        if self.spec:
            filled = count(self.seen["spans"], "span")
            notes.append(f"error spans of {self.spec}: {filled} filled in")
        if not self.results.corpus.has_source:
            notes.append("the corpus has no source: annotators see outputs alone")
        return *notes, *counted(_NOTES, self.seen)


def counted(notes: Mapping[str, tuple[str, str]], seen: Mapping[str, int]) -> tuple[str, ...]:
    """Render the notes, kind → (noun, rest of the sentence), of what was seen at least once."""
    return tuple(
        f"{count(seen[kind], noun)} {text}" for kind, (noun, text) in notes.items() if seen[kind]
    )


def _instructions(langs: tuple[str, str], doc: Document) -> str:
    """Write the instructions above a document, with those that the systems were given."""
    known = f" from {langs[0]} to {langs[1]}" if all(langs) else ""
    lines = [f"Evaluate the translation{known}.", doc.meta.get("evaluation_instruction", "")]
    told = doc.meta.get("prompt_instruction", "")
    lines += [f"The systems were told: {told}"] if told else []
    return "<br>".join(html.escape(line, quote=False) for line in lines if line)


def units(text: str) -> list[int]:
    """Return Pearmut's position of each character and of the end: UTF-16 units without breaks."""
    places = [0]
    for char in text:
        places.append(places[-1] + (char != "\n") + (char > "\uffff"))
    return places


def characters(places: Sequence[int], first: int, last: int) -> tuple[int, int] | None:
    """Convert Pearmut's units ``first`` to ``last`` to ``start:end`` of the text.

    None if the span lies after the text, on a token such as ``[missing]``.
    """
    if first >= places[-1]:
        return None
    return bisect_right(places, first) - 1, min(bisect_right(places, last), len(places) - 1)

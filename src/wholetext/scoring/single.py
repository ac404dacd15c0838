"""Scores of single texts that do not depend on one another: rewards, and small requests of the server."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np

from wholetext import slices
from wholetext.errors import AlignmentError, InputError, SpecError, WholetextWarning, known
from wholetext.flags.degenerate import copied, side_by_side, wrong_language, wrong_script
from wholetext.io.formats.lines import from_texts
from wholetext.io.text import clean
from wholetext.registry import scorer
from wholetext.scoring.engine import trait
from wholetext.scoring.evaluate import Options, score
from wholetext.scoring.nulls import null_note, worst_of
from wholetext.signature import Signature
from wholetext.text.answers import stripped_answer
from wholetext.types import Scores
from wholetext.views import Context

EXAMPLE = '{"hyp": "He came late.", "src": "Er kam spät.", "refs": ["He was late."]}'
# facts of a signature that depend on which texts are scored together
OF_THE_BATCH = {"rows", "dropped", "lost_context", "lost_focus", "resegmented", "corpus"}


class ScoredText(NamedTuple):
    """A text to score: segments of the output, the source and the references."""

    hyp: tuple[str, ...]
    src: tuple[str, ...] | None
    refs: tuple[tuple[str, ...], ...]
    segment: bool  # every side is a string: scored as a segment, not as a document


@dataclass(frozen=True)
class Treatment:
    """What is done to texts before they are scored."""

    langs: str = ""
    strip: bool = False  # remove reasoning, preamble and fence of an answer
    # the score of text in another language than the target's, copied source or nothing at all
    language: Literal["worst", "null"] | None = None
    align: bool = False  # align the output with the segments of source and references

    def __post_init__(self) -> None:
        if self.language is not None:
            known("language", self.language, ("worst", "null"))
        if self.language and not self.langs:
            raise InputError("the language cannot be checked: it is unknown", next="add langs")


@dataclass(frozen=True)
class TextScores:
    """Scores under one metric, one per text; None where it is undefined or the text is barred."""

    metric: str
    scores: list[float | None]
    higher_is_better: bool
    signature: str
    notes: tuple[str, ...]  # what the metric states about itself


def read_texts(entries: Sequence[Any], align: bool = False) -> list[ScoredText]:
    """Check texts of the form ``{"hyp": …, "src": …, "refs": […]}``; sides are strings or lists."""
    texts = []
    for at, entry in enumerate(entries, 1):
        where = f"text {at}"
        sides = dict(entry) if isinstance(entry, Mapping) else {}
        src, refs = sides.get("src"), sides.get("refs") or []
        refs = [refs] if isinstance(refs, str) else refs
        named = {"hyp"} <= sides.keys() <= {"hyp", "src", "refs"}
        if not named or not isinstance(refs, (list, tuple)):
            what = "a text has hyp, and may have src and a list of refs"
            raise InputError(what, where=where, next=f"write {EXAMPLE}")
        every = [sides["hyp"], *([] if src is None else [src]), *refs]
        hyp, *others = (_segments(side, where) for side in every)
        if len({len(side) for side in (others if align else (hyp, *others))}) > 1:
            raise AlignmentError(
                "hyp, src and refs have different numbers of segments",
                where=where,
                next="cut src and refs into the same segments; hyp may differ under align",
            )
        segment = all(isinstance(side, str) for side in every)
        own_src = None if src is None else others[0]
        texts.append(ScoredText(hyp, own_src, tuple(others[src is not None :]), segment))
    return texts


def _segments(side: Any, where: str) -> tuple[str, ...]:
    segments = (side,) if isinstance(side, str) else side
    listed = isinstance(segments, (list, tuple)) and segments
    if not listed or not all(isinstance(segment, str) for segment in segments):
        raise InputError(
            "hyp, src and each of refs is a string or a list of segments, which are strings",
            where=where,
            next=f"write {EXAMPLE}",
        )
    for segment in segments:
        clean(segment, where)
    return tuple(segments)


def independent(spec: str) -> str:
    """The canonical spec of a metric whose scores do not depend on the other texts."""
    parsed = scorer(spec)
    metric, view = parsed.metric, parsed.view
    other = isinstance(view, Context) and view.source == "other"
    alone = trait(metric, "cacheable") or trait(metric, "remote")
    if metric.surveys or trait(metric, "rivals") or other or not alone:
        raise SpecError(
            "scores of this metric depend on the other texts of a corpus",
            where=spec,
            next="score a corpus with it (`wholetext score`, or `documents` of POST /v1/score)",
        )
    return parsed.spec


def score_texts(
    texts: Sequence[ScoredText],
    metrics: Sequence[str],
    how: Treatment,
    options: Options | None = None,
) -> tuple[list[TextScores], list[list[str]]]:
    """Scores by metric, and notes by text; equal texts get equal scores, whatever the others are.

    A segment gets its segment score, a document its document score, as in `wholetext score`.
    """
    specs = list(dict.fromkeys(map(independent, metrics)))
    worst = {
        spec: worst_of(scorer(spec).metric) if how.language == "worst" else None for spec in specs
    }
    notes: list[list[str]] = [[] for _ in texts]
    columns: dict[str, list[float | None]] = {spec: [None] * len(texts) for spec in specs}
    about: dict[str, Scores] = {}
    shapes: dict[tuple[bool, int], dict[int, ScoredText]] = {}
    for at, text in enumerate(texts):
        text = _prepared(text, how, notes[at])
        shapes.setdefault((text.src is None, len(text.refs)), {})[at] = text
    for group in shapes.values():
        for at, reason in _barred(group, how).items() if how.language else ():
            del group[at]
            notes[at].append(f"{reason}: scored as {how.language}")
            for spec in specs:
                columns[spec][at] = worst[spec]
        for spec, scores in _scored(group, specs, how, options).items() if group else ():
            about[spec] = scores
            _distribute(scores, group, columns[spec], notes)
    return [_described(spec, columns[spec], about.get(spec)) for spec in specs], notes


def _prepared(text: ScoredText, how: Treatment, notes: list[str]) -> ScoredText:
    """Strip and align one text; alone, since alignment learns from everything that it sees."""
    if how.strip:
        cleaned, removed = stripped_answer("\n".join(text.hyp))
        if removed:
            notes.append(f"removed: {', '.join(removed)}")
            lines = tuple(filter(None, map(str.strip, cleaned.split("\n"))))
            text = text._replace(hyp=(cleaned,) if len(text.hyp) == 1 or not lines else lines)
    other = text.src or next(iter(text.refs), text.hyp)
    if how.align and len(other) != len(text.hyp):
        align, settings = (
            slices.required(name, "alignment") for name in ("align", "align-options")
        )
        loaded = from_texts(**_sides([text]), langs=how.langs or None)
        [output] = align(loaded.corpus, loaded.outputs, settings()).outputs
        [segments] = output.docs.values()
        notes.append(f"aligned with {len(other)} segments; {null_note(output)}".rstrip("; "))
        text = text._replace(hyp=segments)
    elif len(other) != len(text.hyp):
        raise AlignmentError(
            f"{len(text.hyp)} segments are left of hyp, and src and refs have {len(other)}",
            next="set align",
        )
    return text


def _sides(texts: Sequence[ScoredText]) -> dict[str, Any]:
    """Texts as documents, in the arguments of ``from_texts`` and ``score``."""
    refs = zip(*(text.refs for text in texts))
    return {
        "hyps": [text.hyp for text in texts],
        "srcs": None if texts[0].src is None else [text.src for text in texts],
        "refs": {f"ref{number}": list(docs) for number, docs in enumerate(refs)},
    }


def _barred(group: Mapping[int, ScoredText], how: Treatment) -> dict[int, str]:
    """Texts that are empty, in another language or script, or copies of the source; and why."""
    places = list(group)
    whole = [
        text._replace(
            hyp=(" ".join(text.hyp),),
            src=None if text.src is None else (" ".join(text.src),),
            refs=tuple((" ".join(ref),) for ref in text.refs),
        )
        for text in group.values()
    ]
    loaded = from_texts(**_sides(whole), langs=how.langs)
    texts = side_by_side(loaded.corpus, loaded.outputs[0])
    reasons = {at: "no text" for at, text in enumerate(texts.hyp) if not text.strip()}
    for reason in (copied(texts), wrong_script(texts), wrong_language(texts)):
        reasons = {**reason, **reasons}
    return {places[at]: why for at, why in reasons.items()}


def _scored(
    group: Mapping[int, ScoredText], specs: Sequence[str], how: Treatment, options: Options | None
) -> dict[str, Scores]:
    options = replace(options or Options(cache=False), flags=False, align=None)
    sides = _sides(list(group.values()))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", WholetextWarning)  # notes are returned, by text
        results = score(sides.pop("hyps"), specs, **sides, langs=how.langs or None, options=options)
    return {spec: next(iter(by_system.values())) for spec, by_system in results.items()}


def _distribute(
    scores: Scores,
    group: Mapping[int, ScoredText],
    column: list[float | None],
    notes: list[list[str]],
) -> None:
    """Give each text its score, and notes on what was cut or is undefined."""
    by_segment, by_document = scores.at("segment"), scores.at("doc")
    starts = np.cumsum(scores.rows.sizes) - scores.rows.sizes
    for number, (at, text) in enumerate(group.items()):
        value = float(by_segment[starts[number]] if text.segment else by_document[number])
        column[at] = value if np.isfinite(value) else None
        if column[at] is None:
            notes[at].append(f"{scores.metric}: undefined")
        if (
            scores.lost is not None
            and (lost := scores.lost[scores.rows.of(number)].sum(axis=0)).any()
        ):
            notes[at].append(
                f"{scores.metric}: {lost[1]} scored and {lost[0]} context tokens do not fit the model"
            )


def _described(spec: str, column: list[float | None], scores: Scores | None) -> TextScores:
    if scores is None:  # every text is barred
        return TextScores(spec, column, scorer(spec).metric.higher_is_better, "", ())
    facts = {key: value for key, value in scores.signature.items() if key not in OF_THE_BATCH}
    return TextScores(spec, column, scores.higher_is_better, str(Signature(facts)), scores.stated)

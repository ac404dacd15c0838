"""From texts to what BlonDe compares: the analysed segments of an output beside those of its references."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from wholetext.errors import AlignmentError, InputError
from wholetext.metrics.blonde.annotation_files import Checkpoints, find_names, find_phrases
from wholetext.metrics.blonde.counts import Unit, ngrams_of, pooled
from wholetext.metrics.blonde.occurrences import Finder, Occurrence
from wholetext.taggers.analysis import Analysis
from wholetext.types import Request

Pair = tuple[Unit, Sequence[Unit]]


@dataclass(frozen=True, eq=False)
class Lines:
    """Annotation files go by line: this finds the lines of a document by the place of its references in the corpus."""

    references: tuple[str, ...]  # every reference segment: document by document, reference by reference
    annotations: Sequence[Checkpoints] = ()
    names: Sequence[Checkpoints] = ()
    _starts: dict[str, list[int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for place, text in enumerate(self.references):
            self._starts.setdefault(text, []).append(place)

    def of(self, request: Request) -> tuple[Sequence[Checkpoints], Sequence[Checkpoints]]:
        """The lines of annotations and of names for each segment of a request (empty where there is no such file)."""
        if not (self.annotations or self.names):
            return (), ()
        many = len(request.refs)
        for what, lines in (("annotation", self.annotations), ("name", self.names)):
            if lines and len(lines) * many != len(self.references):
                raise InputError(f"there are {len(lines)} {what} lines for {len(self.references) // many} segments",
                                 next="an annotation file has one line for each segment, in order")
        wanted = tuple(part for view in request.refs for part in view.parts)
        size, (first, _) = len(wanted) // many, request.refs[0].focus
        for place in self._starts.get(wanted[0] if wanted else "", ()):
            if self.references[place : place + len(wanted)] == wanted:
                begin = place // many + first
                stop = begin + size - first
                return self.annotations[begin:stop], self.names[begin:stop]
        raise InputError("the annotation lines of a text are unknown: its references are not one piece of the corpus",
                         next="use annotation files with the view whole")


@dataclass(frozen=True, eq=False)
class Reader:
    """Makes units of segments; a segment that many systems share is read once."""

    finder: Finder
    analyses: Mapping[str, Analysis]
    lines: Lines
    ngrams: bool = True
    by_document: bool = False
    lowercase: bool = False
    _units: dict[str, Unit] = field(default_factory=dict)

    def pairs(self, request: Request) -> list[Pair]:
        """Output and references side by side, segment by segment or as whole documents."""
        hyp, refs = request.hyp[0].scored, [view.scored for view in request.refs]
        annotations, names = self.lines.of(request)
        sides = [self._segments(parts, annotations, names, is_ref=i > 0) for i, parts in enumerate((hyp, *refs))]
        if self.by_document:
            whole = [pooled(side) for side in sides]
            return [(whole[0], whole[1:])]
        for parts in refs:
            if len(parts) != len(hyp):
                raise AlignmentError(
                    f"blonde compares segment by segment, but the output has {len(hyp)} and the reference {len(parts)} "
                    f"in the document that begins {' '.join(parts)[:60]!r}",
                    next="line them up with `wholetext align`, or use blonde(clip_scope=document)",
                )
        return [(units[0], units[1:]) for units in zip(*sides)]

    def _segments(
        self, parts: Sequence[str], annotations: Sequence[Checkpoints], names: Sequence[Checkpoints], *, is_ref: bool
    ) -> list[Unit]:
        units = []
        for index, part in enumerate(parts):
            unit = self._unit(part)
            found = [one for _, one in unit.found]
            if names:
                line = names[index] if index < len(names) else {}
                found = [one for one in found if one.category != "entity"]
                found += find_names(part, line, as_counted=is_ref)
            if index < len(annotations):
                found += find_phrases(part, annotations[index])
            units.append(Unit(tuple((index, one) for one in found), unit.ngrams))
        return units

    def _unit(self, part: str) -> Unit:
        if part not in self._units:
            analysis = self.analyses[part.lower() if self.lowercase else part]
            found: tuple[Occurrence, ...] = self.finder.find(analysis)
            grams = ngrams_of([token.text for token in analysis.tokens]) if self.ngrams else ()
            self._units[part] = Unit(tuple((0, one) for one in found), grams)
        return self._units[part]

"""Changed versions of documents: every change at every dose, and reasons for those refused."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice

from wholetext.errors import InputError, MissingExtra, ModelError, count
from wholetext.notebook.display import brief
from wholetext.scoring.bound import check
from wholetext.scoring.evaluate import Options
from wholetext.stress.change import Change, Edit, Kind, Refused, Site, Text, applied
from wholetext.stress.doses import Dose, ordered
from wholetext.stress.known_changes import chosen
from wholetext.text import code_of, joiner
from wholetext.text.taggers.analysis import Analyser, Analysis, Layer, analyser_for
from wholetext.types import Corpus, Output

DOSES = ("1", "50%", "all")


@dataclass(frozen=True)
class StressOptions:
    """Changes, doses and text of a stress test, and the resampling of documents."""

    changes: tuple[str, ...] | None = None  # all of them by default
    doses: tuple[str, ...] = DOSES  # 1: one place; 50%: half of the places; all
    seed: int = 12345
    text: str | None = None  # the reference or system whose text is changed; chosen unless named
    draws: int = 1_000  # bootstrap resamples of documents

    def __post_init__(self) -> None:
        for name, value in (("changes", self.changes), ("doses", self.doses)):
            if isinstance(value, str):
                raise InputError(
                    f"{name} is a tuple of names, not {value!r}", next=f"write {name}=({value!r},)"
                )
        if not self.doses or self.changes == ():
            raise InputError(
                "no dose was given" if not self.doses else "no change was named",
                next="leave it out for the default",
            )
        for dose in self.doses:
            Dose(dose)  # fail before the texts are tagged
        if not isinstance(self.seed, int) or self.seed < 0 or self.draws < 1:
            raise InputError(
                "seed must be an integer from 0 up, and draws at least 1",
                next="leave them out for the defaults",
            )


@dataclass(frozen=True)
class Changed:
    """A document with one change at one dose, and its edits."""

    doc: str
    change: str
    kind: Kind
    dose: str
    segments: tuple[str, ...]
    edits: tuple[Edit, ...]
    made: int  # sites that were changed
    sites: int  # sites where it is possible
    __repr__ = brief


@dataclass(frozen=True, eq=False)
class Perturbed:
    """The changed versions of a text, and counts of refused documents by change and reason."""

    original: Output
    langs: tuple[str, str]
    items: tuple[Changed, ...]
    refused: Mapping[str, Mapping[str, int]]
    kinds: Mapping[str, Kind]  # of every requested change, in order
    tagger: str = ""  # its id; "" where none was used
    documents: int = 0
    notes: tuple[str, ...] = field(default=())
    __repr__ = brief

    def outputs(self) -> dict[tuple[str, str], Output]:
        """(change, dose) → the text with this change in every document where it was made."""
        by_dose: dict[tuple[str, str], dict[str, tuple[str, ...]]] = {}
        for item in self.items:
            by_dose.setdefault((item.change, item.dose), {})[item.doc] = item.segments
        return {
            (change, dose): Output(f"{change} @ {dose}", {**self.original.docs, **docs})
            for (change, dose), docs in by_dose.items()
        }


def perturb(
    corpus: Corpus,
    output: Output,
    settings: StressOptions | None = None,
    options: Options | None = None,
) -> Perturbed:
    """Make every change at every dose in the documents of an output.

    The changes of a document depend on the seed, the change and the document alone (``foreign`` also
    on the other documents). ``options`` say whether and where the tagger's analyses are cached.
    """
    settings, options = settings or StressOptions(), options or Options()
    check(corpus, [output])
    changes = chosen(settings.changes)
    texts = _Texts(corpus, output, changes, options)
    items: list[Changed] = []
    refused: dict[str, Counter[str]] = {}
    for change in changes:
        why = refused.setdefault(change.name, Counter())
        obstacle = texts.obstacle(change)
        if obstacle:
            why[obstacle] += len(corpus)
            continue
        for text in texts.texts:
            try:
                items += _doses(change, text, settings)
            except Refused as fault:
                why[str(fault)] += 1
    kinds = {change.name: change.kind for change in changes}
    said: dict[str, list[str]] = {}  # changes refused for the same reason share a note
    for name, why in refused.items():
        if why:
            said.setdefault(_note(name, items, why, len(corpus)), []).append(name)
    notes = tuple(f"{', '.join(names)}: {text}" for text, names in said.items())
    return Perturbed(
        output, corpus.langs, tuple(items), refused, kinds, texts.tagger, len(corpus), notes
    )


def _doses(change: Change, text: Text, settings: StressOptions) -> list[Changed]:
    """Change a document at every dose; the sites of a dose are a subset of those of a larger one."""
    # seeded by a string, which is hashed in the same way on every machine
    rng = random.Random(f"{settings.seed}/{change.name}/{text.doc}")
    order: Sequence[Site] = ordered(change.sites(text, rng), rng, change.in_a_row)
    items = []
    for dose in map(Dose, settings.doses):
        made = dose.of(len(order))
        segments, edits = applied(text.segments, order[:made])
        if segments == text.segments:
            raise Refused("the change would leave the text as it is")
        items.append(
            Changed(
                text.doc, change.name, change.kind, dose.name, segments, edits, made, len(order)
            )
        )
    return items


class _Texts:
    """The documents of a corpus, tagged once for all changes."""

    def __init__(
        self, corpus: Corpus, output: Output, changes: Sequence[Change], options: Options
    ) -> None:
        self.given, self.lang = corpus.langs[1], code_of(corpus.langs[1])
        self.docs = [(doc, tuple(output.docs[doc])) for doc in corpus.ids]
        self.analyser, self.missing = self._analyser(changes)
        self.tagger = self.analyser.id if self.analyser else ""
        self.analyses: list[tuple[Analysis, ...]] = [() for _ in self.docs]
        if self.analyser is not None:
            self.analyses = _tagged(
                self.analyser, [segments for _, segments in self.docs], corpus.langs, options
            )
        segments = [one for _, one in self.docs]
        self.texts = [
            Text(
                doc,
                self.lang,
                own,
                self.analyses[at],
                [*segments[:at], *segments[at + 1 :]],
                joiner(self.given),
            )
            for at, (doc, own) in enumerate(self.docs)
        ]

    def obstacle(self, change: Change) -> str:
        """The reason why a change cannot be made in any document, or ""."""
        if change.languages is not None and not self.given:
            return "the language of the text is not stated (-l SRC-TGT, in Python langs=)"
        if change.languages is not None and self.lang not in change.languages:
            languages = ", ".join(sorted(change.languages))
            return f"made in {languages} only, and the text is in {self.given}"
        if not change.layers:
            return ""
        if self.analyser is None:
            return self.missing
        lacking = sorted(change.layers - self.analyser.layers)
        return (
            f"the tagger {self.analyser.id} gives no {' and no '.join(lacking)}" if lacking else ""
        )

    def _analyser(self, changes: Sequence[Change]) -> tuple[Analyser | None, str]:
        layers: frozenset[Layer] = frozenset().union(
            *(one.layers for one in changes if one.languages is None or self.lang in one.languages)
        )
        if not layers:
            return None, ""
        try:
            return analyser_for(self.lang, layers=layers), ""
        except (MissingExtra, ModelError) as fault:
            return None, f"{fault.what} ({fault.next})"


def _tagged(
    analyser: Analyser, docs: Sequence[tuple[str, ...]], langs: tuple[str, str], options: Options
) -> list[tuple[Analysis, ...]]:
    with options.computer(langs) as computer:
        analyses = iter(computer.engine.map(analyser, list(chain(*docs))))
        return [tuple(islice(analyses, len(segments))) for segments in docs]


def _note(change: str, items: Sequence[Changed], why: Mapping[str, int], documents: int) -> str:
    made = len({one.doc for one in items if one.change == change})
    reasons = "; ".join(
        f"{reason} ({number:,})"
        for reason, number in sorted(why.items(), key=lambda item: -item[1])
    )
    if not made:
        return f"made in no document: {reasons}"
    return f"made in {made:,} of {count(documents, 'document')}; not made: {reasons}"

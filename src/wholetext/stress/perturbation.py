"""Changed versions of documents: every change at every dose, and reasons for those refused."""

from __future__ import annotations

import math
import random
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice

from wholetext.errors import InputError, MissingExtra, ModelError, count
from wholetext.notebook.display import brief
from wholetext.scoring.bound import check
from wholetext.scoring.evaluate import Options
from wholetext.stress.change import (
    Change,
    Edit,
    Kind,
    NotApplicable,
    TaggedText,
    applied,
    chosen_changes,
)
from wholetext.text import code_of, joiner
from wholetext.text.taggers.analysis import Analyser, Analysis, Layer, analyser_for
from wholetext.types import Corpus, Output

DOSES = ("1", "50%", "all")
_DOSE = re.compile(r"all|[1-9][0-9]{0,4}|(?:[1-9][0-9]?|100)%")


@dataclass(frozen=True)
class StressOptions:
    """Changes, doses and text of a stress test, and the resampling of documents."""

    changes: tuple[str, ...] | None = None  # all of them by default
    doses: tuple[str, ...] = DOSES  # 1: one place; 50%: half of the places; all
    seed: int = 12345
    text: str | None = None  # the reference or system whose text is changed; chosen unless named
    draws: int = 1_000  # bootstrap resamples of documents

    def __post_init__(self) -> None:
        wrong = [dose for dose in self.doses if not _DOSE.fullmatch(str(dose))]
        for value in (self.doses, self.changes):
            if wrong or isinstance(value, str) or value == () or self.seed < 0 or self.draws < 1:
                raise InputError(
                    f"there is no dose {wrong[0]!r}" if wrong else f"wrong settings: {self}",
                    next="changes and doses are tuples of names; a dose is a number of places (1), "
                    "a share of them (50%) or all; seed is 0 or more, draws 1 or more",
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
    items: tuple[Changed, ...]
    refused: Mapping[str, Mapping[str, int]]
    kinds: Mapping[str, Kind]  # of every requested change, in order
    tagger: str = ""  # its id; "" where none was used
    notes: tuple[str, ...] = field(default=())
    __repr__ = brief

    def outputs(self) -> dict[tuple[str, str], Output]:
        """Return the text with each (change, dose), made in every document where it is possible."""
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

    The changes of a document depend on the seed, the change and the document alone (``foreign``
    also on the other documents). ``options`` say whether and where the tagger's analyses are
    cached.
    """
    settings, options = settings or StressOptions(), options or Options()
    check(corpus, [output])
    changes = chosen_changes(settings.changes)
    language, items = corpus.langs[1], list[Changed]()
    analyser, missing = _analyser(changes, code_of(language))
    texts = _texts(corpus, output, analyser, options)
    refused: dict[str, Counter[str]] = {}
    for change in changes:
        reasons = refused.setdefault(change.name, Counter())
        for text in texts:
            try:
                _check_possible(change, language, missing)
                items += _doses(change, text, settings)
            except NotApplicable as fault:
                reasons[str(fault)] += 1
    return Perturbed(
        output,
        tuple(items),
        refused,
        {change.name: change.kind for change in changes},
        analyser.id if analyser else "",
        tuple(_notes(items, refused, len(corpus))),
    )


def _doses(change: Change, text: TaggedText, settings: StressOptions) -> list[Changed]:
    """Change a document at every dose; the sites of a dose are among those of a larger one."""
    # seeded by a string, which is hashed in the same way on every machine
    rng = random.Random(f"{settings.seed}/{change.name}/{text.doc}")
    sites = change.sites(text, rng)
    if change.in_a_row:  # a run that grows
        start = rng.randrange(len(sites))
        order = [*sites[start:], *reversed(sites[:start])]
    else:
        order = rng.sample(sites, len(sites))
    items = []
    for dose in settings.doses:
        made = sites_of_dose(dose, len(order))
        segments, edits = applied(text.segments, order[:made])
        if segments == text.segments:
            raise NotApplicable("the change would leave the text as it is")
        items.append(
            Changed(text.doc, change.name, change.kind, dose, segments, edits, made, len(order))
        )
    return items


def sites_of_dose(dose: str, sites: int) -> int:
    """Count the sites that a dose changes; a share is rounded up."""
    if dose.isdigit():
        return min(sites, int(dose))
    return math.ceil(sites * int(dose.replace("all", "100%")[:-1]) / 100)


def _analyser(changes: Sequence[Change], lang: str) -> tuple[Analyser | None, str]:
    """Return the tagger that the changes of this language need, or why there is none."""
    layers: frozenset[Layer] = frozenset().union(
        *(change.layers for change in changes if lang in (change.languages or {lang}))
    )
    try:
        return analyser_for(lang, layers=layers, needs=layers) if layers else None, ""
    except (MissingExtra, ModelError) as fault:
        return None, f"{fault.what} ({fault.next})"


def _texts(
    corpus: Corpus, output: Output, analyser: Analyser | None, options: Options
) -> list[TaggedText]:
    """Tag the documents of an output, once for all changes."""
    docs = [tuple(output.docs[doc]) for doc in corpus.ids]
    analyses: list[tuple[Analysis, ...]] = [() for _ in docs]
    if analyser is not None:
        with options.computer(corpus.langs) as computer:
            tagged = iter(computer.engine.map(analyser, list(chain(*docs))))
            analyses = [tuple(islice(tagged, len(segments))) for segments in docs]
    lang, glue = code_of(corpus.langs[1]), joiner(corpus.langs[1])
    return [
        TaggedText(doc, lang, docs[at], analyses[at], [*docs[:at], *docs[at + 1 :]], glue)
        for at, doc in enumerate(corpus.ids)
    ]


def _check_possible(change: Change, language: str, missing: str) -> None:
    """Raise if a change cannot be made in any document."""
    if change.languages is not None and code_of(language) not in change.languages:
        languages = ", ".join(sorted(change.languages))
        raise NotApplicable(
            f"made in {languages} only, and the text is in {language or 'no stated language (-l)'}"
        )
    if missing and change.layers:
        raise NotApplicable(missing)


def _notes(
    items: Sequence[Changed], refused: Mapping[str, Counter[str]], documents: int
) -> Iterator[str]:
    """Note every change that was refused; changes refused for the same reasons share a note."""
    names: dict[str, list[str]] = {}
    for name, reasons in refused.items():
        made = len({item.doc for item in items if item.change == name})
        listed = "; ".join(f"{reason} ({number:,})" for reason, number in reasons.most_common())
        begin = f"made in {made:,} of {count(documents, 'document')}; not made"
        note = f"{begin if made else 'made in no document'}: {listed}"
        if reasons:
            names.setdefault(note, []).append(name)
    return (f"{', '.join(same)}: {note}" for note, same in names.items())

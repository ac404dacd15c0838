"""Parsed input → a validated corpus and outputs: the checks that all formats share.

``assemble`` takes documents, ``of_documents`` columns of documents; ``load`` cuts columns of
segments into documents.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby, takewhile, zip_longest
from typing import Any

from wholetext.errors import AlignmentError, InputError, choices, count, did_you_mean, known
from wholetext.io.text import at
from wholetext.notebook.display import brief
from wholetext.text import pair_of, same_language
from wholetext.types import ALL, Corpus, Document, Judgments, Output

BARE = "there is neither a source nor a reference: only metrics of the output alone make sense"
Langs = str | tuple[str, str] | None
Segments = tuple[str, ...]


@dataclass(frozen=True)
class Loaded:
    """A corpus, the output of each system, and warnings of the reader."""

    corpus: Corpus
    outputs: Sequence[Output]
    warnings: tuple[str, ...] = ()
    # documents left out: of another language pair
    others: frozenset[str] = field(default=frozenset(), repr=False)
    judgments: Sequence[Judgments] = field(default=(), repr=False, compare=False)  # human scores
    __repr__ = brief

    def __iter__(self) -> Iterator[Any]:
        """``corpus, outputs, warnings = …``."""
        return iter((self.corpus, self.outputs, self.warnings))

    def keep(
        self, systems: Sequence[str] | None = None, refs: Sequence[str] | None = None
    ) -> Loaded:
        """Select systems and references by name, in this order (None keeps all).

        References that are named are all used, as are all of them by the name ``all``.
        """
        corpus, outputs = self.corpus, self.outputs
        if refs is not None:
            every = list(dict.fromkeys(name for doc in corpus.docs for name in doc.refs))
            requested = every if list(refs) == [ALL] and ALL not in every else refs
            names = [known("reference", name, every, where=corpus.id) for name in requested]
            corpus = replace(
                corpus,
                standard=(),
                docs=tuple(
                    replace(doc, refs={name: doc.refs[name] for name in names if name in doc.refs})
                    for doc in corpus.docs
                ),
            )
        if systems is not None:
            by_name = {output.system: output for output in outputs}
            outputs = tuple(
                by_name[known("system", name, by_name, where=corpus.id)]
                for name in dict.fromkeys(systems)
            )
        return replace(self, corpus=corpus, outputs=outputs)


def pair(langs: Langs, where: str = "") -> tuple[str, str]:
    """``"de-en"`` or ``("de", "en")`` → ``("de", "en")``; None → two unknown languages."""
    if langs is None:
        return ("", "")
    if isinstance(langs, (tuple, list)) and len(langs) == 2:
        return (langs[0], langs[1])
    try:
        return pair_of(langs if isinstance(langs, str) else "")
    except ValueError:
        raise InputError(
            f"a language pair is written like de-en, not {langs!r}",
            where=where,
            next="give it with -l or langs=",
        ) from None


def chosen_pair(langs: Langs, pairs: Sequence[str], where: str) -> str:
    """Find a pair such as ``de-en`` in any style of codes; None chooses the only one."""
    requested = pair(langs)
    name = "-".join(requested) if langs is not None else "".join(pairs[:1])
    same = [known for known in pairs if all(map(same_language, requested, pair(known)))]
    if name not in pairs and len(same) == 1:
        return same[0]
    if name not in pairs or (langs is None and len(pairs) > 1):
        raise InputError(
            f"there is no language pair {name} here"
            if langs is not None
            else f"there are several language pairs here: {', '.join(pairs) or 'none'}",
            where=where,
            next=choices(name, pairs) if langs is not None else "choose one with -l",
        )
    return name


def assemble(
    corpus: Corpus, outputs: Iterable[Output], warnings: Iterable[str] = (), where: str = ""
) -> Loaded:
    """Check corpus and outputs against each other; order documents as in the corpus."""
    outputs = tuple(outputs)
    place = where or corpus.id
    bare = bool(outputs) and all(doc.src is None and not doc.refs for doc in corpus.docs)
    systems = [output.system for output in outputs]
    if not corpus.docs:
        raise InputError(
            "there is no text here", where=place, next="check that this is the file you meant"
        )
    for kind, names in (("document id", corpus.ids), ("system name", systems)):
        if twice := [name for name, number in Counter(names).items() if number > 1]:
            raise InputError(
                f"the {kind} {twice[0]!r} is used twice",
                where=place,
                next="rename one of the two (a system is named after its file)",
            )
    notes = [*warnings, *_check_documents(corpus, place, bare)]
    ordered = []
    for output in outputs:
        notes += _check_output(corpus, output, place)
        ordered.append(replace(output, docs={doc: output.docs[doc] for doc in corpus.ids}))
    if bare:
        notes.append(BARE)
        sizes = {doc: len(segments) for doc, segments in outputs[0].docs.items()}
        corpus = replace(
            corpus, docs=tuple(replace(doc, src=("",) * sizes[doc.id]) for doc in corpus.docs)
        )
    return Loaded(corpus, tuple(ordered), tuple(dict.fromkeys(notes)))


def check_read_back(written: Loaded, read: Callable[[], Loaded], where: str) -> Loaded:
    """Read what was written; raise where texts, ids or names come back as others."""
    try:
        back = read()
    except InputError as fault:
        raise InputError(
            f"this corpus would not be read back: {fault.what}",
            where=where,
            next="write JSONL, which keeps every text",
        ) from fault
    theirs = _texts(back)
    for (place, side), texts in _texts(written).items():
        pairs = zip_longest(texts, theirs.get((place, side), ()), fillvalue="")
        for i, (text, other) in enumerate(pairs, 1):
            if text != other:
                segment = f", segment {i} of {side}" if side else ""
                raise not_read_back(f"{place}{segment}", text, other, where)
    return back


def _texts(loaded: Loaded) -> dict[tuple[str, str], Sequence[str]]:
    """Return ids and names, and the segments of each side of each document."""
    systems = [output.system for output in loaded.outputs]
    texts = {("among the documents", ""): loaded.corpus.ids, ("among the systems", ""): systems}
    for doc in loaded.corpus.docs:
        sides = {"the source": doc.src or ()}
        sides |= {f"reference {name!r}": text for name, text in doc.refs.items()}
        sides |= {f"the output of {o.system!r}": o.docs[doc.id] for o in loaded.outputs}
        texts |= {(f"document {doc.id!r}", side): segments for side, segments in sides.items()}
    return texts


def not_read_back(place: str, text: str, other: str, where: str) -> InputError:
    """Make the error for a text that a format cannot hold."""
    return InputError(
        f"{place}: {_excerpt(text, other)} would be read back as {_excerpt(other, text)}",
        where=where,
        next="change this text, or write JSONL, which keeps every text",
    )


def _excerpt(text: str, other: str) -> str:
    """Quote a text around its first difference from another."""
    same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(text, other)))
    start = max(0, same - 20)
    return repr(("…" if start else "") + text[start:][:60])


def _check_documents(corpus: Corpus, where: str, bare: bool) -> list[str]:
    """Check documents; return notes on sides that are unused because documents lack them."""
    for doc in corpus.docs:
        sides = {f"reference {name!r}": segments for name, segments in doc.refs.items()}
        sides |= {} if doc.src is None else {"the source": doc.src}
        sizes = {side: len(segments) for side, segments in sides.items()}
        if len(set(sizes.values())) > 1 or (not len(doc) and not bare):
            raise AlignmentError(
                f"document {doc.id!r} has no segments, or other numbers of them by side: "
                f"{', '.join(f'{side} {size}' for side, size in sizes.items()) or 'no text'}",
                where=where,
                next="references need the same segments as the source: align or join them first",
            )
    total, sources = len(corpus.docs), sum(doc.src is not None for doc in corpus.docs)
    counts = Counter(name for doc in corpus.docs for name in doc.refs)
    notes = [
        f"reference {name!r} is there for {number} of {total} documents only and is not used"
        for name, number in counts.items()
        if number < total
    ]
    if 0 < sources < total:
        notes.append(f"{total - sources} of {total} documents have no source, so none is used")
    return notes


def _check_output(corpus: Corpus, output: Output, where: str) -> list[str]:
    ids = dict(zip(corpus.ids, corpus.sizes.tolist()))
    unknown = [doc for doc in output.docs if doc not in ids]
    missing = [doc for doc in ids if not output.docs.get(doc)]
    if unknown or missing:
        names = unknown or missing
        what = f"a document {names[0]!r} that the corpus does not have"
        more = f" (and {len(names) - 1} more)" if len(names) > 1 else ""
        raise AlignmentError(
            f"the output of {output.system!r} "
            f"{f'has {what}' if unknown else f'lacks document {names[0]!r}'}{more}",
            where=where,
            next=(did_you_mean(unknown[0], list(ids)[:2000]) if unknown else "")
            or "every output has the documents of the corpus; one empty segment stands for a "
            "document without text, and --system names the systems to keep",
        )
    other = [doc for doc, size in ids.items() if size and len(output.docs[doc]) != size]
    if not other:
        return []
    return [
        f"the output of {output.system!r} has another number of segments than the corpus in "
        f"{len(other)} of {count(len(ids), 'document')} (first: {other[0]!r}, "
        f"{len(output.docs[other[0]])} instead of {ids[other[0]]})"
    ]


@dataclass(frozen=True)
class Column:
    """A source, reference or output, and the file it is from."""

    kind: str  # src, ref, hyp, ids
    name: str
    texts: Sequence[Any]  # a string per segment, or a tuple of them per document
    where: str


@dataclass(frozen=True)
class DocumentRun:
    """Segments ``start:stop`` are one document."""

    doc: str
    start: int
    stop: int
    meta: Mapping[str, str] = field(default_factory=dict)


def without_blank_end(column: Column, size: int, notes: list[str]) -> Column:
    """Leave out blank lines at the end beyond ``size`` segments, with a note."""
    end = len(column.texts)
    while end > size and not column.texts[end - 1].strip():
        end -= 1
    if end == len(column.texts):
        return column
    blank = count(len(column.texts) - end, "blank line", "are")
    notes.append(f"{column.where}: {blank} left out at the end of the file")
    return replace(column, texts=column.texts[:end])


def length(
    columns: Sequence[Column],
    remedy: str = "source, references and outputs must be parallel, line by line",
    noun: str = "line",
) -> int:
    """Return the common number of entries; columns that differ are an AlignmentError."""
    first, *others = columns
    size = len(first.texts)
    for other in others:
        if len(other.texts) != size:
            line = min(size, len(other.texts)) + 1
            entries = count(len(other.texts), "document id" if other.kind == "ids" else noun)
            raise AlignmentError(
                f"found {entries}, but {first.where} has {count(size, noun)}",
                where=at(other.where, line) if noun == "line" else other.where,
                next=remedy,
            )
    return size


def load(
    columns: Sequence[Column],
    runs: Sequence[DocumentRun],
    corpus: str,
    langs: Langs,
    notes: Sequence[str],
    where: str,
) -> Loaded:
    """Cut columns of segments into documents."""
    notes, size = [*notes], runs[-1].stop if runs else 0
    columns = [without_blank_end(column, size, notes) for column in columns]
    length(columns)
    length(
        [columns[0], Column("ids", "", range(size), where)],
        "give one document id per line of text",
    )
    cut = [
        replace(column, texts=[tuple(column.texts[run.start : run.stop]) for run in runs])
        for column in columns
    ]
    return of_documents(cut, runs, corpus, langs, notes, where)


def of_documents(
    columns: Sequence[Column],
    runs: Sequence[DocumentRun],
    corpus: str,
    langs: Langs,
    notes: Iterable[str],
    where: str,
) -> Loaded:
    """Assemble columns that have an entry per document: its segments."""
    ids = [run.doc for run in runs]
    remedy = "every side needs the same number of documents"
    length([*columns, Column("docs", "", ids, "docs")], remedy, "document")
    texts: dict[str, dict[str, Sequence[Segments]]] = {"src": {}, "ref": {}, "hyp": {}}
    for column in columns:
        texts[column.kind][column.name] = column.texts
    src = texts["src"].get("")
    docs = tuple(
        Document(
            run.doc,
            src[i] if src else None,
            {name: part[i] for name, part in texts["ref"].items()},
            run.meta,
        )
        for i, run in enumerate(runs)
    )
    outputs = [Output(name, dict(zip(ids, part))) for name, part in texts["hyp"].items()]
    return assemble(Corpus(corpus, pair(langs), docs), outputs, notes, where)


def runs_of(
    ids: Iterable[str], where: str, *, lines: Sequence[int] = (), domains: bool = False
) -> tuple[list[DocumentRun], list[str]]:
    """Make documents of one id per segment: each stretch of equal ids is a document.

    An id that recurs after another document starts a new document with a suffixed id, with a note.
    ``lines`` are the line numbers of the ids where these are not 1, 2, 3 …; with ``domains`` an id
    may be ``DOMAIN<tab>ID``.
    """
    pairs = (entry.rpartition("\t") if domains else ("", "", entry) for entry in ids)
    entries = ((domain.strip(), doc.strip()) for domain, _, doc in pairs)
    runs, copies, again = list[DocumentRun](), Counter[str](), list[str]()
    stop = 0
    for (domain, doc), group in groupby(entries):
        start, stop = stop, stop + sum(1 for _ in group)
        line = lines[start] if lines else start + 1
        if not doc or "\t" in domain:
            raise InputError(
                "there is no document id here",
                where=at(where, line),
                next="write one document id per segment, or DOMAIN<tab>ID",
            )
        name = doc
        while name in copies:
            copies[doc] += 1
            name = f"{doc}#{copies[doc]}"
        copies[name] = 1
        if name != doc:
            again.append(
                f"{at(where, line)}: document id {doc!r} comes back after another document "
                f"and is taken as a new document {name!r}"
            )
        runs.append(DocumentRun(name, start, stop, {"domain": domain} if domain else {}))
    if len(again) > 1:
        again[0] += f" ({len(again)} such in all)"
    return runs, again[:1]

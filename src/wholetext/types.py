"""Data types: frozen values without I/O.

Documents and outputs are texts; a Request is *what* is scored, a Row *where* a number belongs.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol, TypeVar, get_args

import numpy as np

from wholetext.errors import InputError, MetricError, count, known, listed
from wholetext.notebook.display import brief, printed, shortened
from wholetext.notebook.frames import Level as Level, Tabular
from wholetext.notes import UNITS, Note, row_notes
from wholetext.signature import Signature as Signature

if TYPE_CHECKING:
    from numpy.typing import NDArray

    FloatArray = NDArray[np.float64]
    IntArray = NDArray[np.int64]
else:  # annotations are never evaluated for arrays, and numpy.typing costs a tenth of the start-up
    FloatArray = IntArray = np.ndarray

ALL = "all"  # in place of names of references
Side = Literal["src", "hyp", "ref"]
In = TypeVar("In", bound=Hashable)
Out = TypeVar("Out")
In_contra = TypeVar("In_contra", bound=Hashable, contravariant=True)
Out_co = TypeVar("Out_co", covariant=True)


# ---------------------------------------------------------------- requests and rows


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A part of a text: ``parts[focus]`` is scored, the rest is context; ``glue`` joins parts."""

    parts: tuple[str, ...]
    focus: tuple[int, int]
    glue: str = " "

    @property
    def scored(self) -> tuple[str, ...]:
        """The segments that are scored."""
        return self.parts[self.focus[0] : self.focus[1]]

    @property
    def before(self) -> tuple[str, ...]:
        """The context before the scored segments."""
        return self.parts[: self.focus[0]]

    @property
    def after(self) -> tuple[str, ...]:
        """The context after the scored segments."""
        return self.parts[self.focus[1] :]

    @property
    def text(self) -> str:
        """The scored segments as one string, without context."""
        return self.glue.join(self.parts[self.focus[0] : self.focus[1]])


@dataclass(frozen=True, slots=True)
class Request:
    """What one number is computed from. Equal requests get equal scores.

    ``hyp`` holds one view, or one per reference where the hypothesis borrows each reference's
    context.
    """

    hyp: tuple[Excerpt, ...]
    src: Excerpt | None = None
    refs: tuple[Excerpt, ...] = ()
    domain: str = ""  # of the document, for metrics with the trait ``by_domain``

    def pairs(self) -> Iterator[tuple[Excerpt, Excerpt]]:
        """(hypothesis view, reference view) for each reference."""
        hyps = self.hyp if len(self.hyp) == len(self.refs) else self.hyp[:1] * len(self.refs)
        return zip(hyps, self.refs)


@dataclass(frozen=True, slots=True)
class Row:
    """Where a number belongs: segments ``start:stop`` of a document, and its weight in averages."""

    doc: str
    start: int
    stop: int
    weight: float = 1.0


@dataclass(frozen=True, eq=False)
class Rows(Sequence[Row]):
    """All rows of a corpus under one view, by column, in the order of its documents."""

    docs: tuple[str, ...]  # document ids
    sizes: IntArray  # (docs,) segments per document
    doc: IntArray  # (rows,) index into docs
    start: IntArray  # (rows,)
    stop: IntArray  # (rows,)
    weight: FloatArray  # (rows,)
    unrequested: NDArray[np.bool_] | None = None  # (segments,) not to be scored

    def __len__(self) -> int:
        return len(self.doc)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        at = range(len(self))[index]
        return Row(
            self.docs[int(self.doc[at])],
            int(self.start[at]),
            int(self.stop[at]),
            float(self.weight[at]),
        )

    def __repr__(self) -> str:
        segments, docs = int(self.sizes.sum()), len(self.docs)
        return f"<{count(len(self), 'row')} of {count(segments, 'segment')}, {count(docs, 'document')}>"

    def of(self, doc: int) -> slice:
        """The rows of the ``doc``-th document."""
        return slice(
            int(np.searchsorted(self.doc, doc, "left")),
            int(np.searchsorted(self.doc, doc, "right")),
        )

    @cached_property
    def covered(self) -> NDArray[np.bool_]:
        """(segments,) whether a row covers the segment or it was not requested; others were dropped."""
        covered = self.coverage() > 0
        return np.asarray(covered if self.unrequested is None else covered | self.unrequested)

    def coverage(self, values: FloatArray | None = None) -> FloatArray:
        """(segments, …) sum of (rows, …) ``values``, by default 1, over the rows of a segment."""
        offset = np.concatenate([[0], np.cumsum(self.sizes)])[self.doc]  # (rows,)
        add = np.ones(len(self.doc)) if values is None else values
        edge = np.zeros((int(self.sizes.sum()) + 1, *add.shape[1:]))
        np.add.at(edge, offset + self.start, add)
        if np.all(self.stop - self.start == 1):  # the common case, and exact: no cancellation
            return edge[:-1]
        np.add.at(edge, offset + self.stop, -add)
        return np.cumsum(edge, axis=0)[:-1]

    def by_segment(self, table: FloatArray) -> FloatArray:
        """(segments, outputs) the mean over the rows that cover a segment and have a score."""
        scored = ~np.isnan(table)
        count = np.round(self.coverage(scored.astype(float)))
        with np.errstate(invalid="ignore", divide="ignore"):
            return self.coverage(np.where(scored, table, 0.0)) / np.where(count > 0, count, np.nan)

    def places(self, level: str) -> dict[str, Any]:
        """Columns that locate the items of a level: document, and rows or segments in it."""
        names = np.array(self.docs, dtype=object)
        if level == "row":
            return {
                "doc": names[self.doc],
                "start": self.start,
                "stop": self.stop,
                "weight": self.weight,
            }
        if level == "segment":
            inside = [np.arange(size) for size in self.sizes] or [np.zeros(0, dtype=np.int64)]
            return {"doc": np.repeat(names, self.sizes), "segment": np.concatenate(inside)}
        return {"doc": names} if level == "doc" else {}


@dataclass(frozen=True)
class Nulls:
    """Omissions and additions in one document of an output, and how scores treat them.

    ``count``: as text like any other (left-out segments are empty, added text is part of a
    segment); ``worst``: each scores the metric's worst and stays in the mean; ``drop``: it is left
    out of the mean.
    """

    POLICIES: ClassVar = ("count", "worst", "drop")

    omitted: tuple[int, ...] = ()  # segments that nothing translates
    added: tuple[
        tuple[int, int, str], ...
    ] = ()  # segment, how many sentences it has more, its text without them
    policy: Literal["count", "worst", "drop"] = "count"

    def without_additions(self, segments: Sequence[str]) -> tuple[str, ...]:
        """The segments of the document without the sentences that translate nothing."""
        rest = {at: text for at, _, text in self.added}
        return tuple(rest.get(at, segment) for at, segment in enumerate(segments))


# ---------------------------------------------------------------- texts


def _segments(
    texts: Mapping[str, Iterable[str]], what: str, where: str
) -> dict[str, tuple[str, ...]]:
    """Check texts by name, each a list of strings."""
    if not isinstance(texts, Mapping):
        raise InputError(
            f"expected {what} → segments, got {type(texts).__name__}",
            where=where,
            next=f"write {{{what}: [text, …]}}",
        )
    checked = {}
    for name, text in texts.items():
        segments = tuple(text) if isinstance(text, Iterable) else (text,)
        wrong = [kind for kind in set(map(type, segments)) if not issubclass(kind, str)]
        if isinstance(text, str) or wrong:
            fault = f"and one is of the type {wrong[0].__name__}" if wrong else "not one string"
            raise InputError(
                f"segments are a list of strings, {fault}",
                where=f"{where}, {what} {name}".rstrip(),
                next='write [text], and "" for a segment without text',
            )
        checked[name] = segments
    return checked


@dataclass(frozen=True)
class Document:
    """One document: its segments in the source (None: there is no source) and in each reference."""

    id: str
    src: tuple[str, ...] | None
    refs: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    meta: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.src is not None:
            src = _segments({"": self.src}, "source", f"document {self.id}")[""]
            object.__setattr__(self, "src", src)
        object.__setattr__(self, "refs", _segments(self.refs, "reference", f"document {self.id}"))

    def __len__(self) -> int:
        """Number of segments (of the source; of the first reference where there is no source)."""
        return len(self.src if self.src is not None else next(iter(self.refs.values()), ()))

    def __hash__(self) -> int:
        return hash((self.id, self.src))

    __repr__ = brief


@dataclass(frozen=True)
class Corpus:
    """Documents in order, with the source and target language codes (``""`` where unknown)."""

    id: str
    langs: tuple[str, str]
    docs: tuple[Document, ...]
    ids: tuple[str, ...] = field(init=False, repr=False, compare=False)  # of the documents
    sizes: IntArray = field(init=False, repr=False, compare=False)  # (documents,) segments
    # that every document has, in order of first appearance
    references: tuple[str, ...] = field(init=False, repr=False, compare=False)
    # whether every document has a source; one of empty segments is a placeholder
    has_source: bool = field(init=False, repr=False, compare=False)
    # human annotations beside the texts: parameter of a metric → file or folder
    annotations: Mapping[str, str] = field(default_factory=dict, compare=False, hash=False)
    # references that metrics use unless others are chosen; empty: all of them
    standard: tuple[str, ...] = field(default=(), compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "docs", tuple(self.docs))
        if not all(isinstance(doc, Document) for doc in self.docs):
            raise InputError(
                "docs is a list of Document",
                where=str(self.id),
                next='write Document("id", ["source"], {"ref": [""]})',
            )
        langs = tuple(self.langs) if isinstance(self.langs, (tuple, list)) else ()
        if list(map(type, langs)) != [str, str]:
            raise InputError(
                f"langs is a pair of language codes, not {self.langs!r}",
                where=str(self.id),
                next='write ("de", "en"), or ("", "") where they are not known',
            )
        object.__setattr__(self, "langs", langs)
        object.__setattr__(self, "ids", tuple(doc.id for doc in self.docs))
        object.__setattr__(self, "sizes", np.array(list(map(len, self.docs)), dtype=np.int64))
        first = self.docs[0].refs if self.docs else ()
        names = tuple(name for name in first if all(name in doc.refs for doc in self.docs))
        object.__setattr__(self, "references", names)
        sources = [doc.src for doc in self.docs]
        has_source = None not in sources and any(any(source or ()) for source in sources)
        object.__setattr__(self, "has_source", has_source)

    def __len__(self) -> int:
        return len(self.docs)

    def __repr__(self) -> str:
        langs = f"{'-'.join(self.langs)}, " if any(self.langs) else ""
        sides = [
            *(["source"] if self.has_source else []),
            *(f"reference {shortened(name, 48)}" for name in self.references),
        ]
        return (
            f"Corpus({shortened(self.id, 80)!r}, {langs}{count(len(self), 'document')}, "
            f"{count(int(self.sizes.sum()), 'segment')}: {listed(sides, 5) or 'no texts'})"
        )


@dataclass(frozen=True)
class Output:
    """The output of one system: document id → segments, whose number may differ from the source's."""

    system: str
    docs: Mapping[str, tuple[str, ...]]
    realigned: Mapping[str, str] = field(
        default_factory=dict, compare=False
    )  # document id → how it was aligned
    nulls: Mapping[str, Nulls] = field(
        default_factory=dict, compare=False
    )  # document id → what has no counterpart

    def __post_init__(self) -> None:
        object.__setattr__(self, "docs", _segments(self.docs, "document", f"system {self.system}"))

    def __hash__(self) -> int:
        return hash((self.system, frozenset(self.docs)))

    def __repr__(self) -> str:
        realigned = f", {len(self.realigned)} of them aligned" if self.realigned else ""
        size = count(sum(map(len, self.docs.values())), "segment")
        return f"Output({shortened(self.system, 80)!r}, {count(len(self.docs), 'document')}{realigned}, {size})"


# ---------------------------------------------------------------- scores and judgments


@dataclass(frozen=True, eq=False)
class Scores(Tabular):
    """One system under one metric: additive statistics by row, and how totals become scores."""

    metric: str  # canonical spec
    system: str
    rows: Rows
    stats: FloatArray  # (rows, k)
    reduce: Callable[[FloatArray], FloatArray]  # (..., k) totals → (..., outputs)
    reduce_rows: Callable[
        [FloatArray], FloatArray
    ]  # the same for single rows (sentence BLEU differs from corpus BLEU)
    outputs: tuple[str, ...]
    higher_is_better: bool
    range: tuple[float, float]
    signature: Signature
    details: tuple[Mapping[str, Any] | None, ...] = ()  # per row, or empty
    lost: IntArray | None = None  # (rows, 2) context and scored tokens that did not fit the model
    stated: tuple[str, ...] = ()  # what the metric states about itself; ``notes`` has it too
    reduce_docs: Callable[[FloatArray], FloatArray] | None = (
        None  # totals of documents; ``reduce`` where None
    )
    decimals: int | None = None  # of a printed score; by the range unless given

    @property
    def places(self) -> int:
        """Decimals of a printed score: two on scales such as 0–100, else four."""
        if self.decimals is not None:
            return self.decimals
        return 2 if any(10 <= abs(bound) < np.inf for bound in self.range) else 4

    @property
    def references(self) -> tuple[str, ...]:
        """Names of the references that were used."""
        names = self.signature.get("refs", "none")
        return () if names == "none" else tuple(names.split(","))

    @property
    def notes(self) -> tuple[Note, ...]:
        """Notes on cut and dropped text, undefined rows, and by the metric itself.

        Notes are made from data stored with the scores: cached or not, they are the same.
        """
        scores = self.table("row")[:, 0] if len(self.stats) else np.zeros(0)
        unit = UNITS.get(self.signature.get("view", ""), "segments")
        notes = row_notes(self.stated, scores, self.lost, self.details, unit)
        covered = self.rows.covered
        if not covered.all():
            text = "text that fills no window is not scored; partial=include scores it"
            notes.append(Note("dropped", text, "", int((~covered).sum()), len(covered)))
        return tuple(notes)

    def table(self, level: Level) -> FloatArray:
        """(items, outputs) at a level; NaN where an item has no row or no defined score."""
        if level == "row":
            return self.reduce_rows(self.stats)
        if level == "segment":
            return self.rows.by_segment(self.table("row"))
        if level == "doc":
            table = (self.reduce_docs or self.reduce)(self.totals())
            table[np.bincount(self.rows.doc, minlength=len(self.rows.docs)) == 0] = np.nan
            return table
        known("level", level, get_args(Level), error=MetricError)
        return self.reduce(self.totals().sum(axis=0))[None, :]

    def at(self, level: Level, output: str | None = None) -> FloatArray:
        """(items,) scores at a level: the main output, or ``output`` (``precision``, a category …)."""
        return self.table(level)[:, 0 if output is None else self.column(output)]

    def column(self, output: str) -> int:
        """The column of an output in tables; the first is the score itself."""
        known("output", output, self.outputs, where=self.metric, error=MetricError)
        return self.outputs.index(output)

    @property
    def score(self) -> float:
        """The corpus score."""
        return float(self.at("corpus")[0])

    def totals(self) -> FloatArray:
        """(docs, k) weighted sums of the statistics by document, as resampling draws them."""
        doc = self.rows.doc
        totals = np.zeros((len(self.rows.docs), self.stats.shape[1]))
        starts = np.flatnonzero(np.diff(doc, prepend=-1))
        weighted = self.stats * self.rows.weight[:, None]
        totals[doc[starts]] = np.add.reduceat(weighted, starts, axis=0)
        return totals

    def columns(self, level: Level = "doc") -> Mapping[str, Any]:
        """Metric, system, place, ``score`` and the further outputs, as the columns of a table."""
        table = self.table(level)
        return {
            "metric": [self.metric] * len(table),
            "system": [self.system] * len(table),
            **self.rows.places(level),
            **dict(zip(("score", *self.outputs[1:]), table.T)),
        }

    def __repr__(self) -> str:
        score = printed(self.score if len(self.rows) else None, self.places)
        return f"Scores({shortened(self.metric, 200)!r}, {shortened(self.system, 80)!r}, {score}, {self.rows!r})"


@dataclass(frozen=True, eq=False)
class Judgments:
    """Human scores: ``values[system, item]`` at one level; NaN, and only NaN, means not judged."""

    scheme: str  # mqm, da, esa …
    level: Literal["seg", "doc", "domain", "sys"]
    systems: tuple[str, ...]
    values: FloatArray  # (systems, items)
    items: tuple[str, ...] = ()  # names of the items where they have any
    higher_is_better: bool = True
    __repr__ = brief


# ---------------------------------------------------------------- metrics and backends


@dataclass(frozen=True, slots=True)
class Fit:
    """How an input fits a model, by its tokenizer: tokens read (``special``: markers), tokens lost."""

    tokens: int
    special: int = 0
    lost_context: int = 0
    lost_focus: int = 0


class Backend(Protocol[In_contra, Out_co]):
    """The model behind a metric: In = Excerpt for encoders, Request for cross-encoders.

    A backend may have more methods. ``pack(output) -> bytes`` and ``unpack(data)``: outputs are
    cached between runs, by id and (JSON-ready) input. ``spread(work, batches)`` runs batches in
    parallel and yields ``work(batch)`` of each, in order. ``arrive(inputs, keep)`` passes each
    output to ``keep(input, output)`` when it arrives, to be cached at once.
    """

    id: str  # name, revision, dtype: cache key and part of the signature

    def fit(self, x: In_contra) -> Fit:
        """Tokenizer only; loads no weights."""

    def run(self, batch: Sequence[In_contra]) -> Sequence[Out_co]:
        """One output per input; must not depend on what else is in the batch."""


class OutOfMemory(Exception):
    """Raised by a backend when a batch does not fit; the engine halves the batch and retries."""


class Runtime(Protocol):
    """The interface of the engine that a metric uses while it measures."""

    langs: tuple[str, str]
    device: str  # auto, cpu, cuda, mps
    dtype: str  # fp32, bf16, fp16
    survey: Any  # what Metric.survey returned, or None
    calls: Any  # judges.chat.Calls: how services are called, and what the calls came to

    def map(self, backend: Backend[In, Out], inputs: Sequence[In]) -> list[Out]:
        """Backend outputs in input order; distinct inputs run once, in batches of a token budget."""

    def stored(self, backend: Backend[In, Out], inputs: Sequence[In]) -> dict[In, Out]:
        """Cached outputs by input; ``map`` computes the others."""

    def resource(self, key: Hashable, make: Callable[[], Out]) -> Out:
        """Something expensive (a loaded model, a tagger), made once per process and shared."""

    def detail(self, index: int, **facts: Any) -> None:
        """Attach JSON-ready facts (spans, cuts) to the ``index``-th request."""

    def warn(self, message: str, index: int | None = None) -> None:
        """Add a note about the ``index``-th request, or about all; it is cached with the rows."""


class Metric:
    """A metric: a frozen dataclass whose fields are its parameters. Subclasses write ``measure``.

    Defaults make a metric whose score is the mean of row scores; corpus-style metrics override
    ``reduce``. Judges, metrics with a tokenizer and pairwise metrics declare more, which
    ``scoring.engine.TRAITS`` lists.
    """

    name: ClassVar[str]
    summary: ClassVar[str] = ""
    view: ClassVar[str] = "sentence"  # the view unless the spec names another
    needs: frozenset[Side] = frozenset({"hyp", "ref"})
    wants: frozenset[Side] = frozenset()  # used when present, never demanded
    higher_is_better: bool = True
    range: tuple[float, float] = (0.0, 1.0)
    outputs: tuple[str, ...] = ("score",)  # the first is the score
    decimals: int | None = (
        None  # of a printed score: two where the range ends at 10 or more, else four, unless given
    )

    def measure(self, requests: Sequence[Request], run: Runtime) -> FloatArray:
        """(n, k) additive statistics, one row per request."""
        raise MetricError(
            f"{type(self).__name__} cannot measure", next="write its measure(requests, run) method"
        )

    def reduce(self, totals: FloatArray) -> FloatArray:
        """(..., k) totals of statistics → (..., outputs); by default the means of ``mean_stats``."""
        n = totals.shape[-1] // 2
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(totals[..., :n] / totals[..., n:])

    def reduce_rows(self, stats: FloatArray) -> FloatArray:
        """The same for single rows, where a metric defines its segment score differently."""
        return self.reduce(stats)

    def annotated(self, annotations: Mapping[str, str]) -> Metric:
        """Adopt human annotations that lie beside the texts: parameter → file or folder."""
        return self

    def resolve(self, langs: tuple[str, str]) -> Metric:
        """Settle every ``auto`` parameter for these languages, as the signature prints it."""
        return self

    def facts(self) -> Mapping[str, str]:
        """Further facts for the signature: model revision, tagger and version, library version."""
        return {}

    def notes(self, langs: tuple[str, str]) -> tuple[str, ...]:
        """Notes on all scores of the metric, whatever the texts; called on every run."""
        return ()

    def fits(self, requests: Sequence[Request], run: Runtime) -> list[Fit] | None:
        """How each request fits the model (tokenizer only), or None where nothing can be cut."""
        return None

    def survey(self, references: Iterable[tuple[Excerpt, ...]], run: Runtime) -> Any:
        """One pass over the references of all segments before any row (idf), if ``surveys``."""
        return None

    surveys: bool = False


def mean_stats(scores: FloatArray | Sequence[float] | Sequence[Sequence[float]]) -> FloatArray:
    """Row scores, (n,) or (n, outputs) → (n, 2·outputs) statistics: values, counts (0 for NaN)."""
    values = np.asarray(scores, dtype=np.float64)
    values = values.reshape(len(values), -1)
    known = ~np.isnan(values)
    return np.concatenate([np.where(known, values, 0.0), known.astype(np.float64)], axis=1)

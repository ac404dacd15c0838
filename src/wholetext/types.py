"""Data types: frozen values without I/O; a Row is *where* a number belongs, a Request *what* is scored."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Protocol, TypeVar, runtime_checkable

import numpy as np

from wholetext.errors import MetricError
from wholetext.notebook.display import brief, printed, shortened
from wholetext.notebook.frames import Tabular
from wholetext.notes import Evidence, Note, notes_of
from wholetext.rows import Excerpt as Excerpt
from wholetext.rows import FloatArray as FloatArray
from wholetext.rows import IntArray as IntArray
from wholetext.rows import Nulls as Nulls
from wholetext.rows import Request as Request
from wholetext.rows import Row as Row
from wholetext.rows import Rows as Rows
from wholetext.signature import Signature as Signature
from wholetext.texts import Corpus as Corpus
from wholetext.texts import Document as Document
from wholetext.texts import Output as Output

Level = Literal["row", "segment", "doc", "corpus"]
Side = Literal["src", "hyp", "ref"]
In = TypeVar("In", bound=Hashable)
Out = TypeVar("Out")
In_contra = TypeVar("In_contra", bound=Hashable, contravariant=True)
Out_co = TypeVar("Out_co", covariant=True)


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
    def notes(self) -> tuple[Note, ...]:
        """Notes on cut and dropped text, undefined rows, and by the metric itself.

        Notes are made from data stored with the scores: cached or not, they are the same.
        """
        scores = self.at("row") if len(self.rows) else np.zeros(0)
        evidence = Evidence(self.stated, scores, self.lost, self.details)
        return notes_of(evidence, self.rows, self.signature.get("view", ""))

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
        if level == "corpus":
            return self.reduce(self.totals().sum(axis=0))[None, :]
        raise MetricError(
            f"there is no level {level!r}", next="a level is one of row, segment, doc, corpus"
        )

    def at(self, level: Level, output: str | None = None) -> FloatArray:
        """(items,) scores at a level: the main output, or ``output`` (``precision``, a category …)."""
        if output is not None and output not in self.outputs:
            raise MetricError(
                f"{self.metric} has no output {output!r}", next=f"it has {', '.join(self.outputs)}"
            )
        column = 0 if output is None else self.outputs.index(output)
        return self.table(level)[:, column]

    @property
    def score(self) -> float:
        """The corpus score."""
        return float(self.at("corpus")[0])

    def totals(self) -> FloatArray:
        """(docs, k) weighted sums of the statistics by document, as resampling draws them."""
        even, doc = bool((self.rows.weight == 1).all()), self.rows.doc
        totals = np.zeros((len(self.rows.docs), self.stats.shape[1]))
        starts = np.flatnonzero(np.diff(doc, prepend=-1))
        weighted = self.stats if even else self.stats * self.rows.weight[:, None]
        totals[doc[starts]] = np.add.reduceat(weighted, starts, axis=0)
        return totals

    def columns(self, level: Level = "doc") -> Mapping[str, Any]:
        """Metric, system, place, ``score`` and the further outputs, as the columns of a table."""
        table, place = self.table(level), self.rows.places(level)
        names = ("score", *self.outputs[1:])
        return {
            "metric": [self.metric] * len(table),
            "system": [self.system] * len(table),
            **place,
            **dict(zip(names, table.T)),
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
    """The heavy lifting behind a metric: In = View for encoders, Request for cross-encoders."""

    id: str  # name, revision, dtype: cache key and part of the signature

    def fit(self, x: In_contra) -> Fit:
        """Tokenizer only; loads no weights."""
        ...

    def run(self, batch: Sequence[In_contra]) -> Sequence[Out_co]:
        """One output per input; must not depend on what else is in the batch."""
        ...


@runtime_checkable
class Cacheable(Protocol):
    """A backend whose outputs are cached between runs, by its id and the (JSON-ready) input."""

    def pack(self, output: Any) -> bytes: ...

    def unpack(self, data: bytes) -> Any: ...


@runtime_checkable
class ParallelBackend(Protocol):
    """A backend that runs batches in parallel and yields ``work(batch)`` of each, in order."""

    def spread(self, work: Callable[[Any], Any], batches: Sequence[Any]) -> Iterator[Any]: ...


@runtime_checkable
class ArrivingBackend(Protocol):
    """A backend that passes each output to ``keep`` when it arrives, to be cached at once."""

    def arrive(self, inputs: Sequence[Any], keep: Callable[[Any, Any], None]) -> list[Any]: ...


class OutOfMemory(Exception):
    """Raised by a backend when a batch does not fit; the engine halves the batch and retries."""


class Runtime(Protocol):
    """What a metric may ask of the engine while it measures."""

    langs: tuple[str, str]
    device: str  # auto, cpu, cuda, mps
    dtype: str  # fp32, bf16, fp16
    survey: Any  # what Metric.survey returned, or None
    calls: Any  # backends.chat.calls.Calls: how services are called, and what the calls came to

    def map(self, backend: Backend[In, Out], inputs: Sequence[In]) -> list[Out]:
        """Backend outputs in input order; distinct inputs run once, in batches of a token budget."""
        ...

    def stored(self, backend: Backend[In, Out], inputs: Sequence[In]) -> dict[In, Out]:
        """Cached outputs by input; ``map`` computes the others."""
        ...

    def resource(self, key: Hashable, make: Callable[[], Out]) -> Out:
        """Something expensive (a loaded model, a tagger), made once per process and shared."""
        ...

    def detail(self, index: int, **facts: Any) -> None:
        """Attach JSON-ready facts (spans, cuts) to the ``index``-th request."""
        ...

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

    def survey(self, references: Iterable[Excerpt], run: Runtime) -> Any:
        """One pass over all references before any row (idf), for metrics that set ``surveys``."""
        return None

    surveys: bool = False


def mean_stats(scores: FloatArray | Sequence[float] | Sequence[Sequence[float]]) -> FloatArray:
    """Row scores, (n,) or (n, outputs) → (n, 2·outputs) statistics: values, counts (0 for NaN)."""
    values = np.asarray(scores, dtype=np.float64)
    values = values.reshape(len(values), -1)
    known = ~np.isnan(values)
    return np.concatenate([np.where(known, values, 0.0), known.astype(np.float64)], axis=1)

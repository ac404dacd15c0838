"""Summaries with human ratings by aspect: SummEval, NeR18 (Newsroom) and files like theirs.

A line of SummEval (Fabbri et al. 2021) has ``id model_id decoded references expert_annotations
turker_annotations`` and perhaps ``text``, the article. Other JSONL has ``id system summary`` and
``scores`` (a number per aspect) or ``expert`` and ``turker`` (a list of such, by rater). Newsroom's
CSV (Grusky et al. 2018) has a row per rater. Articles and references that a file lacks are read
from ``NAME.docs.jsonl`` beside it: ``id src references`` (or ``reference``).
"""

from __future__ import annotations

import csv
import html
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from wholetext.errors import InputError
from wholetext.io.assembly import Langs, Loaded, assemble, chosen_pair, pair
from wholetext.io.columns import Columns
from wholetext.io.formats.evalset import EvalSet
from wholetext.io.formats.jsonl import objects
from wholetext.io.formats.judged import JudgedFile
from wholetext.io.text import FilePath, TextFile, at, clean, opened
from wholetext.types import Corpus, Document, Judgments, Output

PAIR = "en-en"
_JSON = (
    re.compile(r'"(?:decoded|summary)"\s*:'),
    re.compile(r'"(?:expert_annotations|expert|scores)"\s*:'),
)
_CSV = frozenset({"ArticleID", "System", "SystemSummary"})
_RATERS = {"expert_annotations": "", "expert": "", "turker_annotations": "turker-"}
_RATERS |= {"turker": "turker-", "scores": ""}  # field → prefix of the aspects' names


def recognise(file: TextFile) -> bool:
    """Tell rated summaries by the keys of JSON or the columns of CSV."""
    head = file.head()
    if head.startswith("{"):
        return all(key.search(head) for key in _JSON)
    return _CSV.issubset(next(csv.reader(head.splitlines()[:1]), []))


def read(file: TextFile, langs: Langs = None) -> Loaded:
    """Read articles, references and summaries."""
    return open_summaries(file.path, langs).load()


@dataclass
class _Rated:
    """Everything a file says, by document and system."""

    sources: dict[str, str | None] = field(default_factory=dict)
    refs: dict[str, list[str]] = field(default_factory=dict)
    texts: dict[str, dict[str, str]] = field(default_factory=dict)  # system → document → summary
    # (aspect, system, document) → by rater
    ratings: dict[tuple[str, str, str], list[float]] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class RatedSummaries(JudgedFile):
    """A file of rated summaries in the role of an EvalSet; a segment is a summary.

    Human scores are named after their aspect; those of crowd workers, where there are experts too,
    ``turker-ASPECT``.
    """

    lower: bool = False  # lower-cased texts, as DiscoScore reads them
    first: int | None = None  # only so many documents

    @property
    def set_name(self) -> str:
        aspects = {name for name, _ in self.human_names}
        if {"consistency", "turker-consistency"} <= aspects:
            return "summeval"
        return "ner18" if "informativeness" in aspects else "summaries"

    @cached_property
    def _loaded(self) -> Loaded:
        """The texts; human scores are means over raters, NaN where nobody rated a summary."""
        rated, missing = self._rated, [math.nan]
        ids, systems = list(rated.sources)[: self.first], tuple(rated.texts)

        def text(words: str) -> tuple[str]:
            return (words.lower() if self.lower else words,)

        docs = []
        for doc in ids:
            source = rated.sources[doc]
            refs = {f"ref{i}": text(ref) for i, ref in enumerate(rated.refs.get(doc, ()))}
            docs.append(Document(doc, None if source is None else text(source), refs))
        outputs = [
            Output(system, {doc: text(texts[doc]) for doc in ids if doc in texts})
            for system, texts in rated.texts.items()
        ]
        judgments = [
            Judgments(
                aspect,
                "seg",
                systems,
                np.array(
                    [
                        [np.mean(rated.ratings.get((aspect, s, doc), missing)) for doc in ids]
                        for s in systems
                    ]
                ),
            )
            for aspect in dict.fromkeys(aspect for aspect, _, _ in rated.ratings)
        ]
        corpus = Corpus(self.root.name, pair(self.langs), tuple(docs))
        return replace(assemble(corpus, outputs, where=str(self.root)), judgments=judgments)

    @cached_property
    def _rated(self) -> _Rated:
        rated = _Rated()
        with opened(self.root) as file:
            is_csv = not file.head().startswith("{")
            for line, fields in _rows(file) if is_csv else objects(file):
                _add(rated, fields, at(file.name, line))
        beside = self.root.with_name(_document_file(self.root.name))
        if beside.is_file():
            with opened(beside) as file:
                for line, fields in objects(file):
                    _add_document(rated, fields, at(file.name, line))
        if not rated.ratings:
            raise InputError(
                "nobody rated these summaries",
                where=str(self.root),
                next="a rating is a field such as expert_annotations or scores "
                "(`wholetext help formats`)",
            )
        return rated


def open_judged(
    source: FilePath | EvalSet, langs: Langs = None, columns: Columns | None = None
) -> EvalSet:
    """Open an EvalSet folder, a file of rated summaries, or a table with human scores."""
    if isinstance(source, EvalSet) or not Path(source).is_file():
        return EvalSet.open(source, langs)
    with opened(source) as file:
        rated = recognise(file) and not columns
    return open_summaries(source, langs) if rated else JudgedFile.read(source, langs, columns)


def open_summaries(path: FilePath, langs: Langs = None) -> RatedSummaries:
    """Open a file of rated summaries; other files are an InputError."""
    with opened(path) as file:
        if not recognise(file):
            raise InputError(
                "this is not a file of rated summaries",
                where=file.name,
                next="name the folder that has sources, system-outputs and human-scores, or the "
                "JSONL file of SummEval or NeR18 (`wholetext help formats`)",
            )
    return RatedSummaries(Path(path), chosen_pair(langs, (PAIR,), str(path)), (PAIR,))


def _document_file(name: str) -> str:
    stem = re.sub(r"(\.summaries)?\.(jsonl|csv)(\.gz)?$", "", name)
    return f"{stem}.docs.jsonl"


def _rows(file: TextFile) -> Iterator[tuple[int, dict[str, Any]]]:
    """Rows of Newsroom's CSV as objects; texts are encoded as HTML there."""
    reader = csv.DictReader(line + "\n" for line in file.lines())
    for row in reader:
        scores = {
            name.removesuffix("Rating").lower(): value
            for name, value in row.items()
            if name and name.endswith("Rating") and value
        }
        yield (
            reader.line_num,
            {
                "id": row["ArticleID"],
                "system": row["System"],
                "summary": html.unescape(row["SystemSummary"] or ""),
                "text": html.unescape(row.get("ArticleText") or "") or None,
                "scores": scores,
            },
        )


def _add(rated: _Rated, fields: Mapping[str, Any], where: str) -> None:
    """Add a summary; several lines of one are several raters."""
    doc, system = _name(fields.get("id")), _name(fields.get("model_id", fields.get("system")))
    summary = fields.get("decoded", fields.get("summary"))
    if not (doc and system and isinstance(summary, str)):
        raise InputError(
            "a rated summary needs the fields id, system (model_id) and summary (decoded)",
            where=where,
            next=f"this line has {', '.join(fields)}",
        )
    _check_texts((doc, system, summary), where)
    if rated.texts.setdefault(system, {}).setdefault(doc, summary) != summary:
        raise InputError(f"system {system!r} has two summaries of {doc!r}", where=where)
    _add_document(rated, {**fields, "src": fields.get("src", fields.get("text"))}, where)
    for key, prefix in _RATERS.items():
        raters = fields.get(key) or []
        for rating in [raters] if isinstance(raters, Mapping) else raters:
            for aspect, value in _numbers(rating, where).items():
                rated.ratings.setdefault((prefix + aspect, system, doc), []).append(value)


def _name(value: object) -> str:
    """A name: a text or an integer."""
    return str(value) if isinstance(value, (str, int)) and not isinstance(value, bool) else ""


def _check_texts(texts: Iterable[object], where: str) -> None:
    for text in texts:
        if not isinstance(text, str):
            raise InputError(
                f"{str(text)[:60]!r} is not a text",
                where=where,
                next='write "src": "text" and "references": ["text"]',
            )
        clean(text, where)


def _numbers(rating: object, where: str) -> dict[str, float]:
    try:
        values: dict[str, Any] = dict(rating)  # type: ignore[call-overload]
        numbers = {aspect: float(value) for aspect, value in values.items()}
        known = not any(isinstance(value, bool) for value in values.values())
        if not known or not all(map(math.isfinite, numbers.values())):
            raise ValueError
        return numbers
    except (TypeError, ValueError, OverflowError):
        raise InputError(
            f"{str(rating)[:60]!r} is not a number per aspect",
            where=where,
            next='write {"coherence": 4, "fluency": 5}',
        ) from None


def _add_document(rated: _Rated, fields: Mapping[str, Any], where: str) -> None:
    doc = _name(fields.get("id"))
    if doc not in rated.sources and "system" not in fields and "model_id" not in fields:
        return  # an article of which there is no summary
    source = fields.get("src")
    rated.sources[doc] = rated.sources.get(doc) if source is None else source
    listed = fields.get("references") or fields.get("reference") or []
    refs = listed if isinstance(listed, list) else [listed]
    _check_texts((*([] if source is None else [source]), *refs), where)
    if refs and rated.refs.setdefault(doc, refs) != refs:
        raise InputError(
            f"{doc!r} has other references than before",
            where=where,
            next="every summary of a document has the same references",
        )

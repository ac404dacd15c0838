"""EvalSet folders of mt-metrics-eval: texts, documents and scores by language pair.

sources/LP.txt  documents/LP.docs  references/LP.NAME.txt  system-outputs/LP/NAME.txt
human-scores/LP.NAME.LEVEL.score  metric-scores/LP/NAME-REF.LEVEL.score

Texts may be compressed (.gz).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Any

from wholetext import slices
from wholetext.errors import AlignmentError, InputError, choices, count
from wholetext.io.assembly import (
    Column,
    DocumentRun,
    Langs,
    Loaded,
    chosen_pair,
    load,
    not_read_back,
    runs_of,
)
from wholetext.io.formats.scores import Names, ScoreLevel, read_scores, score_names, write_table
from wholetext.io.text import (
    FilePath,
    TextFile,
    file_name,
    is_folder,
    opened,
    read_lines,
    write_lines,
)
from wholetext.types import Judgments

MISSING = "[No translation supplied]"
NO_DOMAIN = "all"  # stands for a domain where there is none
_PARTS = ("sources", "documents", "references", "system-outputs", "human-scores", "metric-scores")
_CODE = re.compile(r"[A-Za-z0-9]+([_.@-][A-Za-z0-9]+)*")


def recognise(file: TextFile) -> bool:
    """Accept every folder, so that ``read`` can report what is missing."""
    return is_folder(file)


@dataclass(frozen=True, eq=False)
class EvalSet:
    """A folder in the layout of mt-metrics-eval, opened for one language pair.

    Every directory is listed, and every file of texts or documents read, at most once.
    """

    root: Path
    langs: str
    pairs: tuple[str, ...]  # all language pairs of the folder

    @classmethod
    def open(cls, folder: FilePath | EvalSet, langs: Langs = None) -> EvalSet:
        """Open a folder; ``langs`` may be left out if it has only one language pair."""
        if isinstance(folder, EvalSet) and langs in (None, folder.langs):
            return folder
        root = Path(folder.root if isinstance(folder, EvalSet) else folder)
        pairs = language_pairs(root)
        return cls(root, chosen_pair(langs, pairs, str(root)), pairs)

    @property
    def name(self) -> str:
        """Name of the folder and language pair, e.g. ``wmt21.news zh-en``."""
        return f"{self.root.name} {self.langs}"

    @property
    def set_name(self) -> str:
        """Name by which conventions of the test set are known."""
        return self.root.resolve().name

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on how the set was read, which its scores do not repeat."""
        return ()

    @property
    def systems(self) -> tuple[str, ...]:
        """Systems that have an output, including references that were judged as systems."""
        return tuple(self._outputs)

    @property
    def references(self) -> tuple[str, ...]:
        """Names of the references."""
        return tuple(self._references)

    @property
    def standard(self) -> tuple[str, ...]:
        """Names of the references that metrics use: the set's standard one, else the first."""
        choose: Any = slices.hook("standard-references")
        first = self.references[:1]
        return choose(self.set_name, self.langs, self.references) if choose else first

    @property
    def documents(self) -> tuple[DocumentRun, ...]:
        """Documents with their domains and spans of segments, in order; needs no texts."""
        return self._documents[0]

    @property
    def domains(self) -> tuple[str, ...]:
        """Domains in the order in which they appear."""
        return tuple(dict.fromkeys(run.meta.get("domain", NO_DOMAIN) for run in self.documents))

    @cached_property
    def human_files(self) -> dict[str, Path]:
        """Files of human scores and ratings of the pair, by name without the pair."""
        prefix = f"{self.langs}."
        listing = entries(self.root / "human-scores")
        return {p.name[len(prefix) :]: p for p in listing if p.name.startswith(prefix)}

    @cached_property
    def metric_files(self) -> dict[str, Path]:
        """Files of metric scores of the pair, by name."""
        return {p.name: p for p in entries(self.root / "metric-scores" / self.langs)}

    @property
    def human_names(self) -> Names:
        """(name, level) of every file of human scores, e.g. ``("mqm", "seg")``."""
        return score_names(self.human_files)

    @property
    def metric_names(self) -> Names:
        """(label, level) of every file of metric scores, e.g. ``("BLEU-refA", "sys")``."""
        return score_names(self.metric_files)

    def human(self, name: str, level: ScoreLevel) -> Judgments:
        """Human scores of every judged system, in the order of the file; NaN where not judged."""
        path = self._score_file(self.human_files, "human-scores", name, level)
        return read_scores(path, name, level, items=self.items(level), gaps=True)

    def metric_scores(
        self, label: str, level: ScoreLevel, systems: Sequence[str] | None = None
    ) -> Judgments:
        """Scores of a metric, in the order of the file or of ``systems``, which must all be there.

        Strict where mt-metrics-eval fills in zeros: a system without an output, an output (other
        than a reference's) without scores, a score that is not a finite number, or too few or too
        many of them are errors.
        """
        path = self._score_file(self.metric_files, f"metric-scores/{self.langs}", label, level)
        scores = read_scores(path, label, level, items=self.items(level), gaps=False)
        extra = [s for s in scores.systems if self.systems and s not in self.systems]
        required = list(systems or (s for s in self.systems if s not in self.references))
        missing = [system for system in required if system not in scores.systems]
        if extra or missing:
            raise AlignmentError(
                f"there are scores of {extra[0]!r}, which has no output here"
                if extra
                else f"there are no scores of {', '.join(map(repr, missing))}",
                where=str(path),
                next="score every system that has an output, or name those you want",
            )
        if systems is None:
            return scores
        rows = [scores.systems.index(system) for system in required]
        return Judgments(label, level, tuple(required), scores.values[rows], scores.items)

    def items(self, level: ScoreLevel) -> Sequence[str] | int:
        """What a level scores: documents, domains, or the number of segments; 0 if unknown."""
        if level == "sys" or not self._docs.is_file():
            return 0
        if level == "seg":
            return self.documents[-1].stop
        return self.domains if level == "domain" else [run.doc for run in self.documents]

    def load(self) -> Loaded:
        """Source, references and outputs.

        Lines are right-stripped. A line ``[No translation supplied]`` is a missing text: it is
        kept as empty text, and a warning counts such lines by system.
        """
        return self._loaded

    @cached_property
    def _loaded(self) -> Loaded:
        source = _listed(self.root / "sources", self.langs).get("")
        if source is None:
            raise InputError(
                f"this EvalSet has no texts for {self.langs}: there is no sources/{self.langs}.txt",
                where=str(self.root),
                next="its scores can be read without them (wholetext meta)",
            )
        notes: list[str] = []
        standard = self.standard
        names = [*standard, *(name for name in self.references if name not in standard)]
        columns = [
            _column("src", "", source, notes),
            *(_column("ref", ref, self._references[ref], notes) for ref in names),
            *(_column("hyp", system, path, notes) for system, path in self._outputs.items()),
        ]
        runs, more = self._documents
        notes = [*more, *notes]
        loaded = load(columns, runs, self.root.name, self.langs, notes, str(self._docs))
        return replace(loaded, corpus=replace(loaded.corpus, standard=standard))

    @cached_property
    def _outputs(self) -> dict[str, Path]:
        return _listed(self.root / "system-outputs" / self.langs, "")

    @cached_property
    def _references(self) -> dict[str, Path]:
        return _listed(self.root / "references", f"{self.langs}.")

    @property
    def _docs(self) -> Path:
        return self.root / "documents" / f"{self.langs}.docs"

    @cached_property
    def _documents(self) -> tuple[tuple[DocumentRun, ...], list[str]]:
        with opened(self._docs) as file:
            # the two columns are separated by a tab or by a space
            ids = (
                line if "\t" in line else "\t".join(line.split(None, 1)) for line in file.lines()
            )
            runs, notes = runs_of(ids, file.name, domains=True)
        runs = [replace(run, meta={}) if run.meta == {"domain": NO_DOMAIN} else run for run in runs]
        if not runs:
            raise InputError(
                "this file names no documents",
                where=file.name,
                next="write DOMAIN<tab>DOCUMENT per segment",
            )
        return tuple(runs), notes

    def _score_file(
        self, files: Mapping[str, Path], folder: str, name: str, level: ScoreLevel
    ) -> Path:
        path = files.get(f"{name}.{level}.score")
        if path is None:
            raise self.no_scores(name, level, score_names(files), folder)
        return path

    def no_scores(self, name: str, level: str, known: Names, folder: str = "") -> InputError:
        """The error for scores that are not there."""
        names = [".".join(entry) for entry in known]
        return InputError(
            f"there are no scores '{name}.{level}' here",
            where=str(self.root / folder),
            next=choices(f"{name}.{level}", names),
        )


def language_pairs(folder: FilePath) -> tuple[str, ...]:
    """Return the language pairs of an EvalSet: of its documents, sources, scores and outputs."""
    root = Path(folder)
    if not root.exists():
        raise InputError("there is no such folder", where=str(root), next="check the path")
    if not any(is_folder(root / part) for part in _PARTS):
        raise InputError(
            "this is not an EvalSet folder",
            where=str(root),
            next=f"it should have some of {', '.join(_PARTS)}; `compare`, `explain` and `report` "
            "read run folders, `score` reads files (`wholetext help formats`)",
        )
    names = [
        p.name.split(".")[0] for part in ("documents", "sources") for p in entries(root / part)
    ]
    names += [p.name for part in ("metric-scores", "system-outputs") for p in entries(root / part)]
    return tuple(sorted({name for name in names if "-" in name}))


def read(folder: FilePath, langs: Langs = None) -> Loaded:
    """Read the texts of one language pair, which may be left out if there is only one."""
    return EvalSet.open(folder, langs).load()


def write(folder: FilePath, loaded: Loaded) -> None:
    """Write a corpus and its outputs; every output needs the segments of the corpus."""
    corpus, root, docs = loaded.corpus, Path(folder), loaded.corpus.docs
    name = "-".join(corpus.langs)
    names = (*corpus.ids, *(doc.meta.get("domain", "") for doc in docs))
    blank = [text for text in names if "\t" in text or text != text.strip()]
    # codes are part of file names: they must not lead to another folder
    if blank or not all(map(_CODE.fullmatch, corpus.langs)):
        raise InputError(
            f"the name of a document or domain, {blank[0]!r}, has tabs or blanks around it"
            if blank
            else "an EvalSet is written for a pair of language codes, and this corpus has none",
            where=str(root),
            next="rename it, or write JSONL" if blank else "give the languages, e.g. -l de-en",
        )
    for output, doc in product(loaded.outputs, docs):
        if len(output.docs[doc.id]) != len(doc):
            raise AlignmentError(
                f"document {doc.id!r} has other segments in the output of {output.system!r}",
                where=str(root),
                next="align it first, or write JSONL",
            )
    ids = [
        f"{doc.meta.get('domain') or NO_DOMAIN}\t{doc.id}" for doc in docs for _ in range(len(doc))
    ]
    if all(doc.src is not None for doc in docs):  # also an empty placeholder
        texts = {doc.id: doc.src or () for doc in docs}
        _write_texts(root / "sources" / f"{name}.txt", texts, "the source")
    write_lines(root / "documents" / f"{name}.docs", ids)
    for ref in corpus.references:
        path = root / "references" / f"{name}.{file_name(ref)}.txt"
        _write_texts(path, {doc.id: doc.refs[ref] for doc in docs}, f"reference {ref!r}")
    for output in loaded.outputs:
        path = root / "system-outputs" / name / f"{file_name(output.system)}.txt"
        texts = {doc.id: output.docs[doc.id] for doc in docs}
        _write_texts(path, texts, f"the output of {output.system!r}")
    for judgments in loaded.judgments:
        path = root / "human-scores" / f"{name}.{file_name(judgments.scheme)}"
        write_table(
            f"{path}.{judgments.level}.score", judgments.systems, judgments.values, gaps=True
        )


def _write_texts(path: Path, texts: Mapping[str, Sequence[str]], side: str) -> None:
    """Write the segments of all documents; what would be read back as another text is an error."""
    lines = list[str]()
    for doc, segments in texts.items():
        for i, text in enumerate(segments, 1):
            back = _text(text.split("\n", 1)[0])
            back = back if lines else back.removeprefix("\ufeff")  # a mark of the file
            if back != text:
                place = f"document {doc!r}, segment {i} of {side}"
                raise not_read_back(place, text, back, str(path))
            lines.append(text)
    write_lines(path, lines)


def entries(folder: Path) -> list[Path]:
    """List a folder, sorted, without hidden files; empty where it does not exist."""
    return sorted(folder.glob("[!.]*"))


def _listed(folder: Path, prefix: str) -> dict[str, Path]:
    """Map NAME to the file ``PREFIX`` + NAME + ``.txt`` (or ``.txt.gz``)."""
    files: dict[str, Path] = {}
    for entry in entries(folder):
        name = entry.name.removesuffix(".gz")
        if name.endswith(".txt") and name.startswith(prefix):
            files[name[len(prefix) : -len(".txt")]] = entry
    return dict(sorted(files.items()))


def _column(kind: str, name: str, path: Path, notes: list[str]) -> Column:
    """Read the lines of a text; missing translations become empty, with a note."""
    lines = read_lines(path)
    missing = [i for i, line in enumerate(lines) if line.rstrip() == MISSING]
    if missing:
        notes.append(
            f"{path.name}: {count(len(missing), 'segment', 'have')} no translation, "
            f"taken as empty text (first: line {missing[0] + 1})"
        )
    return Column(kind, name, list(map(_text, lines)), str(path))


def _text(line: str) -> str:
    """Return the text of a line, as mt-metrics-eval reads it."""
    line = line.rstrip()
    return "" if line == MISSING else line

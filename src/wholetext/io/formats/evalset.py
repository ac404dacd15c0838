"""EvalSet folders of mt-metrics-eval: texts and documents by language pair. Scores are in ``scores.py``.

sources/LP.txt  documents/LP.docs  references/LP.NAME.txt  system-outputs/LP/NAME.txt    (.jsonl and .gz also)
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from wholetext.errors import AlignmentError, InputError, choices, count
from wholetext.files.parsing import read_json
from wholetext.io.assembly import Langs, Loaded, among
from wholetext.io.segments import Column, DocumentRun, length, load, runs_of
from wholetext.io.text import (
    FilePath,
    TextFile,
    at,
    clean,
    file_name,
    is_folder,
    opened,
    write_lines,
)

MISSING = "[No translation supplied]"
_PARTS = ("sources", "documents", "references", "system-outputs", "human-scores", "metric-scores")
_CODE = re.compile(r"[A-Za-z0-9]+([_.@-][A-Za-z0-9]+)*")
_ENDS = (".txt", ".txt.gz", ".jsonl", ".jsonl.gz")


def recognise(file: TextFile) -> bool:
    """Every folder is taken for an EvalSet, so that ``read`` can report what is missing."""
    return is_folder(file)


def pairs(folder: FilePath) -> tuple[str, ...]:
    """The language pairs of an EvalSet, from its documents and sources."""
    root = _root(folder)
    names = [
        entry.name.split(".")[0]
        for part in ("documents", "sources")
        for entry in entries(root / part)
    ]
    names += [
        entry.name for part in ("metric-scores", "system-outputs") for entry in entries(root / part)
    ]
    return tuple(sorted({name for name in names if "-" in name}))


def systems(folder: FilePath, langs: Langs) -> tuple[str, ...]:
    """Names of the systems that have an output here (human ones too: references that were judged)."""
    root = _root(folder)
    return tuple(_listed(root / "system-outputs" / language_pair(root, langs), ""))


def references(folder: FilePath, langs: Langs) -> tuple[str, ...]:
    """Names of the references."""
    root = _root(folder)
    return tuple(_listed(root / "references", f"{language_pair(root, langs)}."))


def documents(folder: FilePath, langs: Langs) -> tuple[DocumentRun, ...]:
    """The documents with their domains, in order; the texts are not needed."""
    return tuple(_documents(_root(folder), language_pair(folder, langs))[0])


def read(folder: FilePath, langs: Langs = None) -> Loaded:
    """Source, references and outputs of one language pair (which may be left out if there is only one).

    Lines are right-stripped. A line ``[No translation supplied]`` is a missing text: it is kept as empty text,
    and a warning counts such lines by system.
    """
    root = _root(folder)
    name = language_pair(root, langs)
    source = _listed(root / "sources", name).get("")
    if source is None:
        raise InputError(
            f"this EvalSet has no texts for {name}: there is no sources/{name}.txt",
            where=str(root),
            next="its scores can be read without them (wholetext meta)",
        )
    notes: list[str] = []
    refs, hyps = (
        _listed(root / "references", f"{name}."),
        _listed(root / "system-outputs" / name, ""),
    )
    columns = [
        _column("src", "", source, notes),
        *(_column("ref", ref, path, notes) for ref, path in refs.items()),
        *(_column("hyp", system, path, notes) for system, path in hyps.items()),
    ]
    lines = length(columns)
    runs, more = _documents(root, name)
    if runs[-1].stop != lines:
        raise AlignmentError(
            f"documents/{name}.docs has {count(runs[-1].stop, 'line')} but {source.name} has {lines}",
            where=str(root),
            next="the files of an EvalSet have one line per segment",
        )
    return load(columns, runs, root.name, name, [*more, *notes], str(root))


def write(folder: FilePath, loaded: Loaded) -> None:
    """The same folder from a corpus and outputs; every text needs the segments of the corpus."""
    corpus, root, docs = loaded.corpus, Path(folder), loaded.corpus.docs
    name = "-".join(corpus.langs)
    if not all(corpus.langs):
        raise InputError(
            "an EvalSet is written for a language pair, and this corpus has none",
            where=str(root),
            next="give the languages, e.g. -l de-en",
        )
    for code in corpus.langs:
        if not _CODE.fullmatch(code):  # part of file names: it must not lead to another folder
            raise InputError(
                f"{code!r} is not the code of a language",
                where=str(root),
                next="give codes such as de, en_US",
            )
    for output in loaded.outputs:
        for doc in docs:
            if len(output.docs[doc.id]) != len(doc):
                raise AlignmentError(
                    f"document {doc.id!r} has other segments in the output of {output.system!r}",
                    where=str(root),
                    next="align it first, or write JSONL",
                )
    ids = [
        _two_names(doc.meta.get("domain") or "all", doc.id, root)
        for doc in docs
        for _ in range(len(doc))
    ]
    if all(doc.src is not None for doc in docs):  # also an empty placeholder
        write_lines(
            root / "sources" / f"{name}.txt", (text for doc in docs for text in doc.src or ())
        )
    write_lines(root / "documents" / f"{name}.docs", ids)
    for ref in corpus.references:
        write_lines(
            root / "references" / f"{name}.{file_name(ref)}.txt",
            (text for doc in docs for text in doc.refs[ref]),
        )
    for output in loaded.outputs:
        write_lines(
            root / "system-outputs" / name / f"{file_name(output.system)}.txt",
            (text for doc in docs for text in output.docs[doc.id]),
        )


def language_pair(folder: FilePath, langs: Langs) -> str:
    """``de-en``, checked against the folder; the only pair if none is requested."""
    there = pairs(folder)
    if langs is None:
        if len(there) == 1:
            return there[0]
        raise InputError(
            f"this EvalSet has several language pairs: {', '.join(there) or 'none'}",
            where=str(folder),
            next=f"choose one, e.g. -l {there[0]}" if there else "",
        )
    name = among(langs, there)
    if name not in there:
        raise InputError(
            f"this EvalSet has no language pair {name}",
            where=str(folder),
            next=choices(name, there),
        )
    return name


def _root(folder: FilePath) -> Path:
    root = Path(folder)
    if os.path.isfile(root):  # noqa: PTH113 - pathlib raises where a name is too long
        raise InputError(
            "this is a file, and human scores are read from EvalSet folders",
            where=str(root),
            next="write its texts with wholetext.io.formats.evalset.write(FOLDER, wholetext.read(FILE)), "
            "and human scores to FOLDER/human-scores/LANGS.NAME.seg.score (docs/formats.md)",
        )
    if not is_folder(root):
        raise InputError("there is no such folder", where=str(root), next="check the path")
    if (root / "run.json").is_file():
        raise InputError(
            "this is a run folder, not an EvalSet with human scores",
            where=str(root),
            next="`compare`, `explain` and `report` read it; `score` takes the texts it was made of, "
            "`meta` an EvalSet folder",
        )
    if not any(is_folder(root / part) for part in _PARTS):
        raise InputError(
            "this folder is not an EvalSet",
            where=str(root),
            next=f"it should have {', '.join(_PARTS)}",
        )
    return root


def entries(folder: Path) -> list[Path]:
    """What is in a folder, sorted; nothing where it does not exist."""
    try:
        return sorted(entry for entry in folder.iterdir() if not entry.name.startswith("."))
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise InputError(f"cannot read this folder: {error.strerror}", where=str(folder)) from None


def _documents(root: Path, name: str) -> tuple[list[DocumentRun], list[str]]:
    with opened(root / "documents" / f"{name}.docs") as file:
        # the two columns are parted by a tab or by a space
        ids = (line if "\t" in line else "\t".join(line.split(None, 1)) for line in file.lines())
        runs, notes = runs_of(ids, file.name, domains=True)
    if not runs:
        raise InputError(
            "this file names no documents",
            where=file.name,
            next="write DOMAIN<tab>DOCUMENT per segment",
        )
    return runs, notes


def _listed(folder: Path, prefix: str) -> dict[str, Path]:
    """name → file for ``PREFIX`` + NAME + ``.txt`` (or another end)."""
    found: dict[str, Path] = {}
    for entry in entries(folder):
        end = next((end for end in _ENDS if entry.name.endswith(end)), "")
        if end and entry.name.startswith(prefix):
            name = entry.name[len(prefix) : -len(end)]
            if name in found:
                raise InputError(
                    f"two files contain {name!r}: {found[name].name} and {entry.name}",
                    where=str(folder),
                    next="keep one of them",
                )
            found[name] = entry
    return dict(sorted(found.items()))


def _column(kind: str, name: str, path: Path, notes: list[str]) -> Column:
    """The lines of a text."""
    with opened(path) as file:
        if ".jsonl" in path.suffixes:
            key = {"src": "source", "ref": "target", "hyp": "hypothesis"}[kind]
            lines = [
                _field(line, key, at(file.name, number))
                for number, line in enumerate(file.lines(), 1)
            ]
        else:
            lines = [line.rstrip() for line in file.lines()]
    missing = [i for i, line in enumerate(lines) if line == MISSING]
    for i in missing:
        lines[i] = ""
    if missing:
        notes.append(
            f"{path.name}: {count(len(missing), 'segment', 'have')} no translation, taken as empty text "
            f"(first: line {missing[0] + 1})"
        )
    return Column(kind, name, lines, str(path))


def _field(line: str, key: str, where: str) -> str:
    value = read_json(line, where=where)
    text = value.get(key) if isinstance(value, dict) else None
    if not isinstance(text, str):
        raise InputError(f"there is no text {key!r} in this line", where=where)
    return clean(text, where)


def _two_names(domain: str, doc: str, root: Path) -> str:
    for name in (domain, doc):
        if "\t" in name or "\n" in name or name != name.strip() or not name:
            raise InputError(
                f"the document id or domain {name!r} cannot be written to an EvalSet",
                where=str(root),
                next="leave out tabs, line breaks and blanks around it, or write JSONL",
            )
    return f"{domain}\t{doc}"

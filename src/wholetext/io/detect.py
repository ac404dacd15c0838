"""``read``: files → Loaded. The format is detected from the content unless it is named."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, Protocol

from wholetext.errors import InputError
from wholetext.io.assembly import BARE, Column, Langs, Loaded, assemble, length
from wholetext.io.formats import find, lines, read as read_format, recognise, wmt
from wholetext.io.formats.lines import LineFiles, named
from wholetext.io.records import key_of, load as load_records
from wholetext.io.text import FilePath, TextFile, is_folder, opened, shown, stem
from wholetext.types import Output


class DataFrame(Protocol):
    """A table with named columns, listed by ``columns`` or ``column_names`` (datasets)."""

    def __getitem__(self, name: Any, /) -> Any: ...

    def __len__(self) -> int: ...


def read(
    source: FilePath | LineFiles | Sequence[FilePath] | DataFrame,
    *,
    langs: Langs = None,
    systems: Sequence[str] | None = None,
    refs: Sequence[str] | None = None,
    format: str | None = None,
    segments: str = "auto",
) -> Loaded:
    """Read a corpus and the outputs of systems.

    ``source`` is a JSONL, TSV or WMT XML file (``-``: standard input), an EvalSet folder,
    ``sacrebleu:NAME``, or ``LineFiles``. A list is a corpus followed by outputs for it:
    ``["sacrebleu:wmt22", "sysA.txt"]``. ``langs`` is the language pair (``"de-en"``); ``systems``
    and ``refs`` choose by name, ``refs=["all"]`` all references of an EvalSet, of which metrics use
    the standard one by default. Without ``systems``, an output that only repeats a chosen reference
    (as in EvalSets) is left out, with a note. Files of WMT25/26 may be in a folder, with or without
    the test set; ``segments`` is how their documents are divided: ``auto``, ``p``, ``lines``,
    ``json`` or ``none``. A DataFrame or ``datasets.Dataset`` has one row per segment and the
    columns of a TSV.
    """
    if format is not None:
        find(format)
    names = None if isinstance(source, LineFiles) else columns_of(source)
    if names is not None:
        loaded = _table(source, names, langs)
    else:
        files = source if isinstance(source, LineFiles) else _files(source)
        parallel = files.src is not None or files.refs or files.docs is not None
        if files.corpus is not None and parallel:
            raise InputError(
                "source, references and document ids are given twice: "
                "as separate files and in the corpus",
                where=shown(files.corpus),
                next="give one of them; only outputs can be added to a corpus",
            )
        if parallel or (files.corpus is None and not _starts_with_wmt(files, format)):
            loaded = lines.read(files, langs)
        else:
            loaded = _with_corpus(files, langs, format, segments, systems)
    if systems is not None or refs is not None:
        loaded = loaded.keep(systems, refs)
    return loaded if systems is not None else _without_references(loaded)


def columns_of(source: object) -> list[Any] | None:
    """Return the column names of a table; None if it is not a table."""
    if isinstance(source, (str, bytes, Sequence)) or not hasattr(source, "__getitem__"):
        return None
    names = getattr(source, "column_names", None)
    names = getattr(source, "columns", None) if names is None else names
    if isinstance(names, dict):  # datasets.DatasetDict: split → names
        raise InputError(
            f"this has several parts: {', '.join(map(str, names))}",
            next="choose one of them: dataset['test']",
        )
    return list(names) if isinstance(names, Iterable) else None


def _table(table: Any, names: Sequence[Any], langs: Langs) -> Loaded:
    """Read one segment (or document) per row; the columns are those of a TSV."""
    labels = [str(name).strip() for name in names]
    kinds = [key_of(label) for label in labels]
    if not any(key and key[0] in ("hyp", "hyps") for key in kinds):
        raise InputError(
            f"no column has the output of a system: {', '.join(labels)}",
            where="table",
            next="call a column hyp or hyp:SYSTEM (docs/formats.md)",
        )
    if ("hyp", "") in kinds and ("system", "") not in kinds:
        labels[kinds.index(("hyp", ""))] = "hyp:hyp"
    rows = zip(*(table[name] for name in names))
    numbered = ((i, dict(zip(labels, row))) for i, row in enumerate(rows))
    return load_records(numbered, "table", langs)


def _files(source: object) -> LineFiles:
    if isinstance(source, (str, os.PathLike)):
        return LineFiles(corpus=source)
    if not isinstance(source, Sequence):
        raise InputError(
            f"expected a file, a folder or a list of files, got {type(source).__name__}",
            next='read("corpus.jsonl"), read(LineFiles(src=…, hyps=…, refs=…))',
        )
    return LineFiles(corpus=source[0] if source else None, hyps=source[1:])


def _starts_with_wmt(files: LineFiles, format: str | None) -> bool:
    """Tell whether the first output is a file or folder of WMT."""
    if not files.hyps or format not in (None, "wmt"):
        return False
    first = next(iter(files.hyps.items() if isinstance(files.hyps, Mapping) else files.hyps))
    path = first[1] if isinstance(first, tuple) else first
    if is_folder(path):
        return True
    with opened(path) as file:
        return path != "-" and wmt.recognise(file)


def _with_corpus(
    files: LineFiles, langs: Langs, format: str | None, segments: str, systems: Sequence[str] | None
) -> Loaded:
    """Read a corpus, or outputs of WMT alone (the first defines the documents), then outputs.

    If every one of ``systems`` has a file, other files are not read, so their faults do not matter.
    """
    notes: list[str] = []
    corpus, hyps = _without_folders(files, langs, notes)
    if systems is not None and hyps.keys() >= set(systems):
        hyps = {name: hyps[name] for name in systems}
    first = ""
    if corpus is None:
        first = next(iter(hyps))
        corpus = hyps.pop(first)
    with opened(corpus) as file:
        kind = format or recognise(file)
        if segments != "auto" and kind != "wmt":
            raise InputError(
                f"segments={segments} divides documents of WMT's files, and this is read as {kind}",
                where=file.name,
                next="leave --segments (segments=) out, or force the format: --reader wmt",
            )
        options = {"segments": segments, "system": first} if kind == "wmt" else {}
        loaded = read_format(kind, file, langs, **options)
    loaded = replace(loaded, warnings=(*notes, *loaded.warnings))
    for name, path in hyps.items():
        loaded = _with_outputs(loaded, name, path, segments)
    return loaded


def _without_folders(
    files: LineFiles, langs: Langs, notes: list[str]
) -> tuple[FilePath | None, dict[str, FilePath]]:
    """Return the corpus and named outputs; a folder of WMT stands for its files."""
    corpus, hyps = files.corpus, list[FilePath | tuple[str, FilePath]]()
    if corpus is not None and is_folder(corpus):
        tests, inside, left = wmt.folder(corpus, langs)
        if tests or inside:
            corpus, hyps = tests, [*inside]
            notes += left
    for entry in files.hyps.items() if isinstance(files.hyps, Mapping) else files.hyps:
        if isinstance(entry, tuple) or not is_folder(entry):
            hyps.append(entry)
            continue
        tests, inside, left = wmt.folder(entry, langs)
        if tests or not inside:
            raise InputError(
                "there is a test set in this folder of outputs, or no system file of WMT with "
                "documents of the language pair",
                where=shown(entry),
                next="give the test set as the corpus, and check -l",
            )
        hyps += inside
        notes += left
    return corpus, named(hyps)


def _with_outputs(loaded: Loaded, name: str, path: FilePath, segments: str) -> Loaded:
    """Add a file of outputs: JSONL, TSV or XML by document id, plain lines by position.

    ``name`` is the system's, unless the file itself names its systems.
    """
    corpus, notes, left_out = loaded.corpus, loaded.warnings, loaded.others - {*loaded.corpus.ids}
    with opened(path) as file:
        file.head()  # a folder or a test set is not an output
        kind = recognise(file)
        if kind == "lines":
            outputs = [_lines(file, loaded, name)]
        else:
            options = {"segments": segments, "corpus": corpus, "system": name}
            langs = corpus.langs if all(corpus.langs) else None
            more = read_format(kind, file, langs, **(options if kind == "wmt" else {}))
            outputs = [
                replace(
                    output,
                    system=name if output.system == stem(path) else output.system,
                    docs={doc: text for doc, text in output.docs.items() if doc not in left_out},
                )
                for output in more.outputs
            ]
            if kind == "wmt":
                metas = {doc.id: wmt.about_output(doc) for doc in more.corpus.docs}
                documents = (
                    replace(doc, meta={**doc.meta, **metas.get(doc.id, {})}) for doc in corpus.docs
                )
                corpus = replace(corpus, docs=tuple(documents))
                notes = (*notes, *(note for note in more.warnings if note != BARE))
    if not outputs:
        raise InputError(
            "there is no output of a system in this file",
            where=shown(path),
            next="outputs are called hypothesis or outputs (JSONL), hyp:SYSTEM (TSV), <hyp> (XML)",
        )
    outputs = [*loaded.outputs, *outputs]
    return replace(assemble(corpus, outputs, notes, shown(path)), others=loaded.others)


def _lines(file: TextFile, loaded: Loaded, name: str) -> Output:
    """Cut plain lines into the documents of the corpus, in its order."""
    sizes = dict(zip(loaded.corpus.ids, loaded.corpus.sizes.tolist()))
    column = Column("hyp", name, list(file.lines()), file.name)
    length([Column("src", "", range(sum(sizes.values())), "the corpus"), column])
    texts = iter(column.texts)
    return Output(name, {doc: tuple(islice(texts, size)) for doc, size in sizes.items()})


def _without_references(loaded: Loaded) -> Loaded:
    docs = loaded.corpus.docs
    copies = [
        output.system
        for output in loaded.outputs
        if output.system in loaded.corpus.references
        and all(output.docs[doc.id] == doc.refs[output.system] for doc in docs)
    ]
    if not copies or len(copies) == len(loaded.outputs):
        return loaded
    others = tuple(output for output in loaded.outputs if output.system not in copies)
    note = (
        f"not scored as systems, because they are references: {', '.join(copies)} "
        "(--system NAME scores one)"
    )
    return replace(loaded, outputs=others, warnings=(*loaded.warnings, note))

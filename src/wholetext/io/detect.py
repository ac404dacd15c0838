"""``read``: files → Loaded. The format is detected from the content unless it is named."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

from wholetext.errors import InputError
from wholetext.files.parsing import read_json
from wholetext.io.assembly import Langs, Loaded, assemble
from wholetext.io.columns import Columns
from wholetext.io.formats import find, jsonl, lines, read as read_format, recognise, wmt
from wholetext.io.formats.lines import LineFiles, align_command, named
from wholetext.io.outputs import of_lines, with_output
from wholetext.io.records import load as load_records
from wholetext.io.text import FilePath, is_folder, opened, shown


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
    columns: Columns | None = None,
    resegmented: bool = False,
) -> Loaded:
    """Read a corpus and the outputs of systems.

    ``source`` is a JSONL, JSON, CSV, TSV, .xlsx or WMT XML file (``-``: standard input), an EvalSet
    folder, ``sacrebleu:NAME``, or ``LineFiles``. A list is a corpus followed by outputs for it:
    ``["sacrebleu:wmt22", "sysA.txt"]``. ``langs`` is the language pair (``"de-en"``); ``systems``
    and ``refs`` choose by name, ``refs=["all"]`` all references of an EvalSet, of which metrics use
    the standard one by default. Without ``systems``, an output that only repeats a chosen reference
    (as in EvalSets) is left out, with a note. Files of WMT25/26 may be in a folder, with or without
    the test set; ``segments`` is how their documents are divided: ``auto``, ``p``, ``lines``,
    ``json`` or ``none``. A DataFrame or ``datasets.Dataset`` has one row per segment and the
    columns of a table. ``columns`` says which column (or key) holds what, by name or by number from
    1: ``{"source": "German", "output": ["GPT-4", "DeepL"]}``. With ``resegmented``, plain text of
    an output may have other line breaks than the corpus; its documents must be told apart.
    """
    if format is not None:
        find(format)
    names = None if isinstance(source, LineFiles) else columns_of(source)
    if names is not None:
        loaded = _table(source, names, langs, columns)
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
            loaded = _beside_lines(files, langs, segments, columns, resegmented)
        else:
            how = segments, columns, resegmented
            loaded = _with_corpus(files, langs, format, systems, *how)
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


def _table(
    table: Any, names: Sequence[Any], langs: Langs, columns: Columns | None = None
) -> Loaded:
    """Read one segment (or document) per row; the columns are those of a table in a file."""
    labels = [str(name).strip() for name in names]
    rows = zip(*(table[name] for name in names))
    numbered = ((i, dict(zip(labels, row))) for i, row in enumerate(rows))
    loaded = load_records(numbered, "table", langs, columns=columns)
    if not loaded.outputs:
        raise InputError(
            f"no column has the output of a system: {', '.join(labels)}",
            where="table",
            next='call a column hyp or hyp:SYSTEM, or name it: columns={"output": NAME}',
        )
    named = (replace(o, system="hyp") if o.system == "table" else o for o in loaded.outputs)
    return replace(loaded, outputs=tuple(named))


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
    path = next(iter(named(files.hyps).values()))
    if is_folder(path):
        return True
    with opened(path) as file:
        return path != "-" and wmt.recognise(file)


def _beside_lines(
    files: LineFiles, langs: Langs, segments: str, columns: Columns | None, resegmented: bool
) -> Loaded:
    """Read plain files of source and references, and outputs of any kind."""
    _, hyps, notes = _without_folders(files, langs)
    sided = files.src is not None or files.refs
    plain = {name: path for name, path in hyps.items() if not sided or _is_plain(path, columns)}
    loaded, free, first = lines.read_parallel(replace(files, hyps=plain), langs)
    notes = [*notes, *loaded.warnings]
    outputs = [
        of_lines(loaded.corpus, column, resegmented, notes, align_command(files), first)
        for column in free
    ]
    loaded = assemble(loaded.corpus, [*loaded.outputs, *outputs], notes, first)
    for name, path in hyps.items():
        if name not in plain:
            loaded = with_output(loaded, name, path, segments=segments, columns=columns)
    place = {name: i for i, name in enumerate(hyps)}
    ordered = sorted(loaded.outputs, key=lambda output: place.get(output.system, len(place)))
    return replace(loaded, outputs=tuple(ordered))


def _is_plain(path: FilePath, columns: Columns | None = None) -> bool:
    """Tell whether an output beside plain files is plain text itself, not records or a folder."""
    if is_folder(path):
        return False
    if not os.path.isfile(path):  # noqa: PTH113 - standard input and pipes are read only once
        return True
    with opened(path) as file:
        head = file.head()
        named = Path(file.path.removesuffix(".gz")).suffix in (".csv", ".tsv", ".xlsx")
        if not (named or columns or head.startswith(("{", "[", "<"))):
            return True
        kind = recognise(file)
        if kind in ("jsonl", "wmt"):
            line, end, _ = head.partition("\n")
            return bool(end) and line.startswith("{") and not _has_text(line)
        return kind in ("lines", "summaries") or (kind == "table" and not (named or columns))


def _has_text(line: str) -> bool:
    try:
        values = list(read_json(line).values())
    except (InputError, AttributeError):
        return False
    return any(isinstance(value, (str, list, dict)) for value in values)


def _with_corpus(
    files: LineFiles,
    langs: Langs,
    format: str | None,
    systems: Sequence[str] | None,
    segments: str,
    columns: Columns | None,
    resegmented: bool,
) -> Loaded:
    """Read a corpus, or outputs of WMT alone (the first defines the documents), then outputs.

    If every one of ``systems`` has a file, other files are not read, so their faults do not matter.
    """
    corpus, hyps, notes = _without_folders(files, langs)
    if systems is not None and hyps.keys() >= set(systems):
        hyps = {name: hyps[name] for name in systems}
    first = ""
    if corpus is None:
        first = next(iter(hyps))
        corpus = hyps.pop(first)
    with opened(corpus) as file:
        kind = format or recognise(file)
        if columns and kind not in ("jsonl", "table"):
            kind = "jsonl" if jsonl.recognise(file) else "table"
        if segments != "auto" and kind != "wmt":
            raise InputError(
                f"segments={segments} divides documents of WMT's files, and this is read as {kind}",
                where=file.name,
                next="leave --segments (segments=) out, or force the format: --reader wmt",
            )
        options: dict[str, Any] = {"segments": segments, "system": first}
        loaded = read_format(kind, file, langs, columns=columns, outputs=not hyps, **options)
    loaded = replace(loaded, warnings=(*notes, *loaded.warnings))
    for name, path in hyps.items():
        loaded = with_output(loaded, name, path, segments=segments, resegmented=resegmented)
    return loaded


def _without_folders(
    files: LineFiles, langs: Langs
) -> tuple[FilePath | None, dict[str, FilePath], list[str]]:
    """Return the corpus, named outputs and notes; a folder of WMT stands for its files."""
    corpus, hyps, notes = files.corpus, list[FilePath | tuple[str, FilePath]](), list[str]()
    if corpus is not None and is_folder(corpus):
        tests, inside, left = wmt.folder(corpus, langs)
        if tests or inside:
            corpus, hyps, notes = tests, [*inside], left
    for entry in files.hyps.items() if isinstance(files.hyps, Mapping) else files.hyps:
        if isinstance(entry, tuple) or not is_folder(entry):
            hyps.append(entry)
            continue
        tests, inside, left = wmt.folder(entry, langs)
        alone = corpus is None and files.src is None and not files.refs
        if tests or (alone and not inside):
            raise InputError(
                "there is a test set in this folder of outputs, or no system file of WMT with "
                "documents of the language pair",
                where=shown(entry),
                next="give the test set as the corpus, and check -l",
            )
        hyps += inside or [entry]  # not WMT's: a file per document
        notes += left
    return corpus, named(hyps), notes


def _without_references(loaded: Loaded) -> Loaded:
    """Leave out outputs that only repeat a reference, unless all do."""
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

"""``read``: files → Loaded. The format is detected from the content unless it is named."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import islice

from wholetext.errors import InputError
from wholetext.io import formats
from wholetext.io.assembly import BARE, Langs, Loaded, assemble
from wholetext.io.formats import lines, wmt
from wholetext.io.formats.lines import LineFiles, Named, named
from wholetext.io.segments import Column, length
from wholetext.io.tables import DataFrame, columns_of, read_table
from wholetext.io.text import FilePath, is_folder, opened, shown, stem
from wholetext.types import Output


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
    and ``refs`` choose by name. Without ``systems``, an output that only repeats a chosen reference
    (as in EvalSets) is left out, with a note. Files of WMT25/26 may be in a folder, with or without
    the test set; ``segments`` is how their documents are divided: ``auto``, ``p``, ``lines``,
    ``json`` or ``none``. A DataFrame or ``datasets.Dataset`` has one row per segment and the
    columns of a TSV.
    """
    if format is not None:
        formats.find(format)
    names = columns_of(source)
    if names is not None:
        loaded = read_table(source, names, langs)
    else:
        files = _files(source)
        if files.corpus is not None or (format in (None, "wmt") and _starts_with_wmt(files)):
            loaded = _with_corpus(files, langs, format, segments, systems)
        else:
            loaded = lines.read(files, langs)
    loaded = loaded.keep(systems, refs)
    return loaded if systems is not None else _without_references(loaded)


def _files(source: object) -> LineFiles:
    if isinstance(source, LineFiles):
        return source
    if isinstance(source, (str, os.PathLike)):
        return LineFiles(corpus=source)
    if not isinstance(source, Sequence):
        raise InputError(
            f"expected a file, a folder or a list of files, got {type(source).__name__}",
            next='read("corpus.jsonl"), read(LineFiles(src=…, hyps=…, refs=…))',
        )
    return LineFiles(corpus=source[0] if source else None, hyps=source[1:])


def _with_corpus(
    files: LineFiles, langs: Langs, format: str | None, segments: str, systems: Sequence[str] | None
) -> Loaded:
    """Read a corpus, or outputs of WMT alone (the first defines the documents), then outputs.

    If every one of ``systems`` has a file, other files are not read, so their faults do not matter.
    """
    if files.src is not None or files.refs or files.docs is not None:
        raise InputError(
            "source, references and document ids are given twice: "
            "as separate files and in the corpus",
            where=shown(files.corpus or ""),
            next="give one of them; only outputs can be added to a corpus",
        )
    corpus, notes = files.corpus, list[str]()
    hyps = _named(files.hyps, langs, notes)
    if corpus is not None and format in (None, "wmt") and is_folder(corpus):
        tests, inside, left = wmt.folder(corpus, langs)
        if tests or inside:
            corpus, hyps = tests, {**named(inside), **hyps}
            notes += left
    if systems is not None and hyps.keys() >= set(systems):
        hyps = {name: hyps[name] for name in systems}
    first = ""
    if corpus is None:
        first = next(iter(hyps))
        corpus = hyps.pop(first)
    with opened(corpus) as file:
        kind = format or formats.recognise(file)
        if segments != "auto" and kind != "wmt":
            raise InputError(
                f"segments={segments} divides documents of WMT's files, and this is read as {kind}",
                where=file.name,
                next="leave --segments (segments=) out, or force the format: --reader wmt",
            )
        options = {"segments": segments, "system": first} if kind == "wmt" else {}
        loaded = formats.read(kind, file, langs, **options)
    loaded = replace(loaded, warnings=(*notes, *loaded.warnings))
    for name, path in hyps.items():
        loaded = _with_outputs(loaded, name, path, segments)
    return loaded


def _starts_with_wmt(files: LineFiles) -> bool:
    """Tell whether there are only outputs, and the first is a file or folder of WMT."""
    if files.src is not None or files.refs or files.docs is not None or not files.hyps:
        return False
    first = next(iter(files.hyps.items() if isinstance(files.hyps, Mapping) else files.hyps))
    path = first[1] if isinstance(first, tuple) else first
    if is_folder(path):
        return True
    with opened(path) as file:
        return path != "-" and wmt.recognise(file)


def _named(files: Named, langs: Langs, notes: list[str]) -> dict[str, FilePath]:
    """Map names to files; a folder stands for its system files of the language pair."""
    if isinstance(files, Mapping):
        return dict(files)
    entries = list[FilePath | tuple[str, FilePath]]()
    for entry in files:
        if isinstance(entry, tuple) or not is_folder(entry):
            entries.append(entry)
            continue
        tests, inside, left = wmt.folder(entry, langs)
        if tests or not inside:
            raise InputError(
                "there is a test set in this folder of outputs, or no system file of WMT with "
                "documents of the language pair",
                where=shown(entry),
                next="give the test set as the corpus, and check -l",
            )
        entries += inside
        notes += left
    return named(entries)


def _with_outputs(loaded: Loaded, name: str, path: FilePath, segments: str) -> Loaded:
    """Add a file of outputs: JSONL, TSV or XML by document id, plain lines by position.

    ``name`` is the system's, unless the file itself names its systems.
    """
    outputs, where, corpus, notes = list[Output](), shown(path), loaded.corpus, loaded.warnings
    with opened(path) as file:
        file.head()  # a folder or a test set is not an output
        kind = formats.recognise(file)
        if kind == "lines":
            sizes = [len(doc) for doc in corpus.docs]
            column = Column("hyp", name, list(file.lines()), where)
            length([Column("src", "", range(sum(sizes)), "the corpus"), column])
            left = iter(column.texts)  # in the order of the corpus
            docs = {doc: tuple(islice(left, size)) for doc, size in zip(corpus.ids, sizes)}
            outputs.append(Output(name, docs))
        else:
            wmt_options = {"segments": segments, "corpus": corpus, "system": name}
            options = wmt_options if kind == "wmt" else {}
            more = formats.read(kind, file, corpus.langs if all(corpus.langs) else None, **options)
            left_out = loaded.others.difference(corpus.ids)
            for output in more.outputs:
                docs = {doc: text for doc, text in output.docs.items() if doc not in left_out}
                system = name if output.system == stem(path) else output.system
                outputs.append(replace(output, system=system, docs=docs))
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
            where=where,
            next="outputs are called hypothesis or outputs (JSONL), hyp:SYSTEM (TSV), <hyp> (XML)",
        )
    done = assemble(corpus, (*loaded.outputs, *outputs), notes, where)
    return replace(done, others=loaded.others)


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

"""``read``: whatever the user hands over → Loaded. The format is recognised by content; ``format`` forces it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace

from wholetext.errors import AlignmentError, InputError, did_you_mean
from wholetext.io.assembly import Langs, Loaded, assemble
from wholetext.io.files import LineFiles, named
from wholetext.io.formats import evalset, jsonl, lines, sacrebleu_sets, tsv, wmt_xml
from wholetext.io.text import FilePath, TextFile, is_folder, opened, shown, stem
from wholetext.types import Output

FORMATS = ("lines", "tsv", "jsonl", "xml", "evalset", "sacrebleu")
_FILES = {"tsv": tsv.read, "jsonl": jsonl.read, "xml": wmt_xml.read}


def read(source: FilePath | LineFiles | Sequence[FilePath], *, langs: Langs = None,
         systems: Sequence[str] | None = None, refs: Sequence[str] | None = None, format: str | None = None) -> Loaded:
    """Read a corpus and the outputs of systems.

    ``source`` is one JSONL, TSV or WMT XML file (``-``: standard input), an EvalSet folder, ``sacrebleu:NAME``, or
    ``LineFiles``. A list is a corpus followed by outputs for it: ``["sacrebleu:wmt22", "sysA.txt"]``. ``langs`` is the
    language pair (``"de-en"``); ``systems`` and ``refs`` choose by name. Without ``systems``, an output that only
    repeats a chosen reference (EvalSets have such) is left out, with a warning.
    """
    if format is not None and format not in FORMATS:
        raise InputError(f"there is no format {format!r}",
                         next=did_you_mean(format, list(FORMATS)) or f"formats are {', '.join(FORMATS)}")
    if isinstance(source, (str, os.PathLike)):
        files = LineFiles(corpus=source)
    elif isinstance(source, LineFiles):
        files = source
    elif not isinstance(source, Sequence):
        raise InputError(f"expected a file, a folder or a list of files, got {type(source).__name__}",
                         next='read("corpus.jsonl"), read(LineFiles(src=…, hyps=…, refs=…))')
    else:
        files = LineFiles(corpus=source[0] if source else None, hyps=source[1:])
    if files.corpus is None:
        loaded = lines.read(files, langs)
    else:
        if files.src is not None or files.refs or files.docs is not None:
            raise InputError("source, references and document ids are given twice: apart, and in the corpus",
                             where=shown(files.corpus), next="give one of them; only outputs can be added to a corpus")
        loaded = _corpus(files.corpus, langs, format)
        for name, path in named(files.hyps).items():
            loaded = _with_outputs(loaded, name, path)
    loaded = loaded.keep(systems, refs)
    return loaded if systems is not None else _without_references(loaded)


def recognise(file: TextFile) -> str:
    """The format of a file, from its first bytes."""
    head = file.head().decode("utf-8", errors="replace").lstrip()
    if head.startswith("<"):
        return "xml"
    if head.startswith("{"):
        return "jsonl"
    if head.startswith("version https://git-lfs"):
        raise InputError("this is a Git LFS pointer, not the file itself", where=file.name, next="git lfs pull")
    return "tsv" if tsv.looks_like(head.split("\n", 1)[0]) else "lines"


def _corpus(source: FilePath, langs: Langs, format: str | None) -> Loaded:
    name = os.fspath(source)
    if format == "sacrebleu" or (format is None and name.startswith(sacrebleu_sets.PREFIX)):
        return sacrebleu_sets.read(name.removeprefix(sacrebleu_sets.PREFIX), langs)
    if format == "evalset" or (format is None and is_folder(name)):
        return evalset.read(source, langs)
    with opened(source) as file:
        kind = format or recognise(file)
        if kind in _FILES:
            return _FILES[kind](file, langs)
    raise InputError("this looks like plain lines of text, which do not say what they are", where=shown(source),
                     next="give source, outputs and references apart (-s, -t, -r), or force the format (--reader)")


def _with_outputs(loaded: Loaded, name: str, path: FilePath) -> Loaded:
    """The corpus with one more file of outputs: JSONL, TSV or XML by document id, plain lines by position.

    ``name`` is the system's, unless the file itself names the systems in it.
    """
    outputs: list[Output] = []
    with opened(path) as file:
        kind = recognise(file)
        if kind in _FILES:
            more = _FILES[kind](file, loaded.corpus.langs if all(loaded.corpus.langs) else None)
            known = {doc.id for doc in loaded.corpus.docs}
            for output in more.outputs:
                docs = {doc: text for doc, text in output.docs.items() if doc in known or doc not in loaded.others}
                system = name if output.system == stem(path) else output.system
                outputs.append(replace(output, system=system, docs=docs))
        else:
            outputs.append(_parallel(loaded, list(file.lines()), shown(path), name))
    if not outputs:
        raise InputError("there is no output of a system in this file", where=shown(path),
                         next="outputs are called hypothesis or outputs (JSONL), hyp:SYSTEM (TSV), <hyp> (XML)")
    done = assemble(loaded.corpus, (*loaded.outputs, *outputs), loaded.warnings, shown(path))
    return replace(done, others=loaded.others)


def _parallel(loaded: Loaded, texts: list[str], where: str, system: str) -> Output:
    """Lines that stand in the order of the corpus."""
    docs = loaded.corpus.docs
    wanted = sum(len(doc) for doc in docs)
    if len(texts) != wanted:
        raise AlignmentError(f"this has {len(texts)} lines, but the corpus has {wanted} segments", where=where,
                             next="write one line per segment; outputs with other sentence breaks go in JSONL")
    start, cut = 0, {}
    for doc in docs:
        cut[doc.id] = tuple(texts[start : start + len(doc)])
        start += len(doc)
    return Output(system, cut)


def _without_references(loaded: Loaded) -> Loaded:
    docs = loaded.corpus.docs
    copies = [output.system for output in loaded.outputs if output.system in loaded.corpus.references
              and all(output.docs[doc.id] == doc.refs[output.system] for doc in docs)]
    if not copies or len(copies) == len(loaded.outputs):
        return loaded
    kept = tuple(output for output in loaded.outputs if output.system not in copies)
    note = f"left out as outputs, being references here: {', '.join(copies)} (name them to score them)"
    return replace(loaded, outputs=kept, warnings=(*loaded.warnings, note))

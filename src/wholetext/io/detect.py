"""``read``: files → Loaded. The format is detected from the content unless ``format`` names it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice

from wholetext.errors import AlignmentError, InputError, count
from wholetext.io import formats
from wholetext.io.assembly import Langs, Loaded, assemble
from wholetext.io.formats import lines
from wholetext.io.formats.lines import LineFiles, named
from wholetext.io.text import FilePath, opened, shown, stem
from wholetext.types import Output


def read(source: FilePath | LineFiles | Sequence[FilePath], *, langs: Langs = None,
         systems: Sequence[str] | None = None, refs: Sequence[str] | None = None, format: str | None = None) -> Loaded:
    """Read a corpus and the outputs of systems.

    ``source`` is one JSONL, TSV or WMT XML file (``-``: standard input), an EvalSet folder, ``sacrebleu:NAME``, or
    ``LineFiles``. A list is a corpus followed by outputs for it: ``["sacrebleu:wmt22", "sysA.txt"]``. ``langs`` is the
    language pair (``"de-en"``); ``systems`` and ``refs`` choose by name. Without ``systems``, an output that only
    repeats a chosen reference (EvalSets have such) is left out, with a warning.
    """
    if format is not None:
        formats.find(format)
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
        with opened(files.corpus) as file:
            loaded = formats.read(format or formats.recognise(file), file, langs)
        for name, path in named(files.hyps).items():
            loaded = _with_outputs(loaded, name, path)
    loaded = loaded.keep(systems, refs)
    return loaded if systems is not None else _without_references(loaded)


def _with_outputs(loaded: Loaded, name: str, path: FilePath) -> Loaded:
    """The corpus with one more file of outputs: JSONL, TSV or XML by document id, plain lines by position.

    ``name`` is the system's, unless the file itself names the systems in it.
    """
    outputs, where = list[Output](), shown(path)
    with opened(path) as file:
        file.head()  # a folder or a test set is not an output
        kind = formats.recognise(file)
        if kind == "lines":
            texts, wanted = list(file.lines()), sum(len(doc) for doc in loaded.corpus.docs)
            if len(texts) != wanted:
                raise AlignmentError(f"this has {count(len(texts), 'line')}, but the corpus has "
                                     f"{count(wanted, 'segment')}", where=where,
                                     next="write one line per segment; outputs with other sentence breaks go in JSONL")
            left = iter(texts)  # in the order of the corpus
            outputs.append(Output(name, {doc.id: tuple(islice(left, len(doc))) for doc in loaded.corpus.docs}))
        else:
            more = formats.read(kind, file, loaded.corpus.langs if all(loaded.corpus.langs) else None)
            known = {doc.id for doc in loaded.corpus.docs}
            for output in more.outputs:
                docs = {doc: text for doc, text in output.docs.items() if doc in known or doc not in loaded.others}
                system = name if output.system == stem(path) else output.system
                outputs.append(replace(output, system=system, docs=docs))
    if not outputs:
        raise InputError("there is no output of a system in this file", where=where,
                         next="outputs are called hypothesis or outputs (JSONL), hyp:SYSTEM (TSV), <hyp> (XML)")
    done = assemble(loaded.corpus, (*loaded.outputs, *outputs), loaded.warnings, where)
    return replace(done, others=loaded.others)


def _without_references(loaded: Loaded) -> Loaded:
    docs = loaded.corpus.docs
    copies = [output.system for output in loaded.outputs if output.system in loaded.corpus.references
              and all(output.docs[doc.id] == doc.refs[output.system] for doc in docs)]
    if not copies or len(copies) == len(loaded.outputs):
        return loaded
    kept = tuple(output for output in loaded.outputs if output.system not in copies)
    note = f"left out as outputs, being references here: {', '.join(copies)} (name them to score them)"
    return replace(loaded, outputs=kept, warnings=(*loaded.warnings, note))

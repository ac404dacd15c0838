"""Test sets by name, through sacrebleu, which downloads each once and keeps it (in ~/.sacrebleu)."""

from __future__ import annotations

from typing import Any

from wholetext.errors import InputError, did_you_mean
from wholetext.io.assembly import Langs, Loaded, assemble, pair
from wholetext.io.segments import Column, DocumentRun, TextColumns, runs_of
from wholetext.io.text import read_lines
from wholetext.types import Corpus

PREFIX = "sacrebleu:"


def names() -> tuple[str, ...]:
    """Every test set that sacrebleu knows."""
    from sacrebleu.dataset import DATASETS

    return tuple(sorted(DATASETS))


def read(name: str, langs: Langs) -> Loaded:
    """Source, the references sacrebleu uses, and document ids where the set has them. There are no outputs in it."""
    from sacrebleu.dataset import DATASETS

    if name not in DATASETS:
        raise InputError(f"sacrebleu has no test set {name!r}",
                         next=did_you_mean(name, list(DATASETS)) or "sacrebleu --list shows them all")
    there = sorted(DATASETS[name].langpairs)
    if langs is None:
        raise InputError(f"test set {name} needs a language pair", next=f"choose one with -l: {', '.join(there)}")
    lp = "-".join(pair(langs))
    if lp not in there:
        raise InputError(f"test set {name} has no language pair {lp}",
                         next=did_you_mean(lp, there) or f"it has {', '.join(there)}")
    files = _files(name, lp)
    columns = TextColumns(Column("", read_lines(files["src"]), files["src"]),
                      tuple(Column(field.replace(":", ""), read_lines(path), path)
                            for field, path in files.items() if field.startswith("ref")))
    length, notes = columns.length(), list[str]()
    if "docid" in files:
        runs, notes = runs_of(read_lines(files["docid"]), files["docid"])
    else:
        runs = [DocumentRun("doc1", 0, length)]
        notes.append(f"test set {name} has no document ids: all {length} segments are taken as one document")
    corpus = Corpus(name, pair(langs), columns.documents(runs))
    return assemble(corpus, (), notes, f"{name} {lp}")


def _files(name: str, lp: str) -> dict[str, str]:
    """field (src, ref:A, docid …) → file; of the references only those that sacrebleu scores against."""
    from sacrebleu.dataset import DATASETS

    try:
        dataset: Any = DATASETS[name]
        files = dict(zip(dataset.fieldnames(lp), map(str, dataset.get_files(lp))))
        refs = {str(path) for path in dataset.get_reference_files(lp)}
    except (Exception, SystemExit) as error:  # sacrebleu exits, asserts, or passes on what network and tarfile say
        raise InputError(f"sacrebleu could not fetch test set {name} {lp}: {str(error) or type(error).__name__}",
                         next="without a network here, fetch it elsewhere and copy ~/.sacrebleu: "
                              f"sacrebleu -t {name} -l {lp} --echo src") from None
    return {field: path for field, path in files.items() if not field.startswith("ref") or path in refs}

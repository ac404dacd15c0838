"""Test sets by name, through sacrebleu, which downloads each once (to ~/.sacrebleu)."""

from __future__ import annotations

import os
from typing import Any

from wholetext.errors import InputError, count, did_you_mean
from wholetext.io.assembly import (
    Column,
    DocumentRun,
    Langs,
    Loaded,
    chosen_pair,
    load,
    runs_of,
)
from wholetext.io.text import FilePath, TextFile, read_lines

PREFIX = "sacrebleu:"


def recognise(file: TextFile) -> bool:
    """Tell whether this is ``sacrebleu:NAME``, which is not a file."""
    return file.path.startswith(PREFIX)


def read(source: FilePath, langs: Langs = None) -> Loaded:
    """Read source, the references that sacrebleu uses, and document ids, if any; no outputs."""
    from sacrebleu.dataset import DATASETS

    name = os.fspath(source).removeprefix(PREFIX)
    if name not in DATASETS:
        raise InputError(
            f"sacrebleu has no test set {name!r}",
            next=did_you_mean(name, list(DATASETS)) or "sacrebleu --list shows them all",
        )
    pairs = sorted(DATASETS[name].langpairs)
    lp = chosen_pair(langs, pairs, f"test set {name}")
    files = _files(DATASETS[name], name, lp)
    columns = [Column("src", "", read_lines(files["src"]), files["src"])]
    columns += [
        Column("ref", field.replace(":", ""), read_lines(path), path)
        for field, path in files.items()
        if field.startswith("ref")
    ]
    segments, notes = len(columns[0].texts), list[str]()
    if "docid" in files:
        runs, notes = runs_of(read_lines(files["docid"]), files["docid"])
    else:
        runs = [DocumentRun("doc1", 0, segments)]
        notes.append(
            f"test set {name} has no document ids: "
            f"all {count(segments, 'segment', 'are')} taken as one document"
        )
    return load(columns, runs, name, langs, notes, f"{name} {lp}")


def _files(dataset: Any, name: str, lp: str) -> dict[str, str]:
    """Map fields (src, ref:A, docid …) to files; only references that sacrebleu scores with."""
    try:
        files = dict(zip(dataset.fieldnames(lp), map(str, dataset.get_files(lp))))
        refs = {str(path) for path in dataset.get_reference_files(lp)}
    except (
        Exception,
        SystemExit,
    ) as error:  # sacrebleu exits, asserts, or passes on errors of network and tarfile
        raise InputError(
            f"sacrebleu could not fetch test set {name} {lp}: {str(error) or type(error).__name__}",
            next="without a network here, fetch it elsewhere and copy ~/.sacrebleu: "
            f"sacrebleu -t {name} -l {lp} --echo src",
        ) from None
    return {
        field: path for field, path in files.items() if not field.startswith("ref") or path in refs
    }

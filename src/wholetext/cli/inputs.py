"""The options by which verbs are given texts, and how those become a corpus and outputs."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from wholetext.io import Loaded

Input = Annotated[str | None, typer.Argument(help="One JSONL, TSV or WMT XML file, or an EvalSet folder (with -l).")]
Sources = Annotated[str | None, typer.Option("-s", "--sources", help="Source text, one segment per line.")]
Translations = Annotated[
    list[str] | None, typer.Option("-t", "--translations", help="Outputs, one file per system (name=FILE names it).")
]
References = Annotated[list[str] | None, typer.Option("-r", "--references", help="References, one file each.")]
Docs = Annotated[str | None, typer.Option("-d", "--docs", help="Document id of each line.")]
Langs = Annotated[str | None, typer.Option("-l", "--langs", help="Language pair, e.g. de-en.")]
TestSet = Annotated[str | None, typer.Option("--test-set", help="A sacrebleu test set for source and references.")]
Reader = Annotated[
    str | None, typer.Option("--reader", help="Force the input format: lines, jsonl, tsv, xml, evalset.")
]
Systems = Annotated[list[str] | None, typer.Option("--system", help="Only these systems (repeatable).")]
RefNames = Annotated[list[str] | None, typer.Option("--ref", help="Only these references, by name (repeatable).")]
Metrics = Annotated[
    list[str], typer.Option("-m", "--metric", help="What to measure: [view:]metric[@model] (repeatable).")
]

SPREAD = {"-t", "--translations", "-r", "--references"}  # take several values, as COMET's do: -t a.txt b.txt


def spread(argv: list[str]) -> list[str]:
    """``-t a b`` → ``-t a -t b``: options that take files take as many as follow."""
    out: list[str] = []
    current = ""
    for word in argv:
        if word in SPREAD:
            current = word
        elif word.startswith("-") and word != "-":
            current = ""
            out.append(word)
        elif current:
            out += [current, word]
        else:
            out.append(word)
    return out


def load(
    input: str | None, files: tuple[str | None, list[str] | None, list[str] | None, str | None],
    langs: str | None, reader: str | None = None, test_set: str | None = None,
) -> Loaded:
    """Read what the options name: one file or folder, parallel files, or a test set."""
    from wholetext.errors import InputError
    from wholetext.io import LineFiles, read

    sources, translations, references, docs = files
    corpus = input or (f"sacrebleu:{test_set}" if test_set else None)
    if corpus is None and not any(files):
        raise InputError("nothing to read",
                         next="wholetext score -s src.txt -t sys.txt -r ref.txt -d docs.txt -m chrf, "
                         "or wholetext score corpus.jsonl -m chrf; `wholetext demo` shows a whole run")
    if corpus is not None and any((sources, references, docs)):
        raise InputError("a whole corpus and parallel files (-s, -r, -d) were given", where=corpus,
                         next="give the corpus with outputs (-t) only, or parallel files only")
    if corpus is not None:
        return read([corpus, *(translations or [])], langs=langs, format=reader)
    return read(LineFiles(src=sources, hyps=named(translations), refs=named(references), docs=docs), langs=langs)


def named(paths: list[str] | None) -> dict[str, str] | list[str]:
    """``name=FILE`` entries as a mapping; plain paths are named after their files."""
    from pathlib import Path

    if not paths or not any("=" in path and not Path(path).exists() for path in paths):
        return paths or []
    pairs = [path.partition("=")[::2] if "=" in path and not Path(path).exists() else (Path(path).stem, path)
             for path in paths]
    return dict(pairs)


def warn(notes: tuple[str, ...] | list[str]) -> None:
    """Say something that the user should know, on stderr."""
    for note in notes:
        print(f"warning: {note}", file=sys.stderr)

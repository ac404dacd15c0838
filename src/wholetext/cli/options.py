"""The options by which verbs are given texts, and how those become a corpus and outputs."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from wholetext.cli.terminal import printable
from wholetext.errors import InputError

if TYPE_CHECKING:
    from wholetext.io import Loaded

Input = Annotated[str | None, typer.Argument(help="One JSONL, TSV or WMT XML file, or an EvalSet folder (with -l).")]
Sources = Annotated[str | None, typer.Option("-s", "--sources", help="Source text, one segment per line.")]
Translations = Annotated[
    list[str] | None,
    typer.Option("-t", "--translations", help="Outputs, one file per system (name=FILE names it); also for INPUT."),
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
Json = Annotated[bool, typer.Option("--json", help="Short for -f json.")]
TableOrJson = Annotated[Literal["table", "json"], typer.Option("-f", "--format", help="How to print.")]

SPREAD = {"-t", "--translations", "-r", "--references"}  # take several values, as COMET's do: -t a.txt b.txt


def spread(argv: list[str]) -> list[str]:
    """``-t a b`` → ``-t a -t b``: options that take files take as many as follow."""
    out: list[str] = []
    current = ""
    for word, following in zip(argv, [*argv[1:], "--"]):
        if word in SPREAD:
            if following.startswith("-") and following != "-":
                raise InputError(f"{word} is given without a file", next=f"write {word} FILE …, or leave it out")
            current = word
        elif word.startswith("-") and word != "-":
            current = ""
            out.append(word)
        elif current:
            out += [current, word]
        else:
            out.append(word)
    return out


@dataclass(frozen=True)
class Chosen:
    """Which of what was read is wanted: a language pair, systems and references by name, and how to read it."""

    langs: str | None = None
    systems: list[str] | None = None
    refs: list[str] | None = None
    reader: str | None = None


def load(
    input: str | None, files: tuple[str | None, list[str] | None, list[str] | None, str | None],
    chosen: Chosen, test_set: str | None = None,
) -> Loaded:
    """Read what the options name: one file or folder or a test set (with further outputs, -t), or parallel files."""
    from wholetext.io import LineFiles, read

    sources, translations, references, docs = files
    if input is not None and test_set is not None:
        raise InputError("both INPUT and --test-set were given", where=input, next="give one of them")
    corpus = f"sacrebleu:{test_set}" if test_set is not None else input
    if corpus is None and not any((sources, translations, references, docs)):
        raise InputError("nothing to read",
                         next="wholetext score -s src.txt -t sys.txt -r ref.txt -d docs.txt -m chrf, "
                         "or wholetext score corpus.jsonl -m chrf; `wholetext demo` shows a whole run")
    given = LineFiles(src=sources, hyps=named(translations), refs=named(references), docs=docs, corpus=corpus)
    return read(given, langs=chosen.langs, systems=chosen.systems or None, refs=chosen.refs or None,
                format=chosen.reader)


def named(paths: list[str] | None) -> list[str | tuple[str, str]]:
    """``name=FILE`` entries as pairs; plain paths are named after their files."""
    import os.path

    exists = os.path.exists  # pathlib's raises where a name is too long
    return [(path.partition("=")[0], path.partition("=")[2]) if "=" in path and not exists(path) else path
            for path in paths or ()]


def warn(notes: tuple[str, ...] | list[str]) -> None:
    """Say something that the user should know, on stderr."""
    for note in notes:
        print(f"warning: {printable(note)}", file=sys.stderr)

"""Input options shared by the verbs, and how they are read into a corpus and outputs."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from wholetext.cli.terminal import printable
from wholetext.errors import InputError
from wholetext.io.formats import BUILTIN, names

if TYPE_CHECKING:
    from wholetext.io import Loaded

Input = Annotated[str | None, typer.Argument(help="JSONL, TSV or WMT XML file, or EvalSet folder (with -l).")]
Sources = Annotated[str | None, typer.Option("-s", "--sources", help="Source file, one segment per line.")]
Translations = Annotated[
    list[str] | None,
    typer.Option("-t", "--translations", help="System outputs, one file per system (FILE or NAME=FILE)."),
]
References = Annotated[list[str] | None, typer.Option("-r", "--references", help="Reference files.")]
Docs = Annotated[str | None, typer.Option("-d", "--docs", help="File with one document id per line.")]
Langs = Annotated[str | None, typer.Option("-l", "--langs", help="Language pair, e.g. de-en.")]
TestSet = Annotated[
    str | None, typer.Option("--test-set", help="sacreBLEU test set to take source and references from.")
]
# looking for plug-ins takes time, so they are named only where help is asked for
_FORMATS = ", ".join(names() if {"-h", "--help"} & {*sys.argv} else BUILTIN)
Reader = Annotated[str | None, typer.Option("--reader", help=f"Input format (default: detected): {_FORMATS}.")]
Systems = Annotated[list[str] | None, typer.Option("--system", help="Restrict to these systems (repeatable).")]
RefNames = Annotated[
    list[str] | None, typer.Option("--ref", help="Restrict to these references, by name (repeatable).")
]
Metrics = Annotated[
    list[str], typer.Option("-m", "--metric", help="Metric to compute: [view:]metric[@model] (repeatable).")
]
Json = Annotated[bool, typer.Option("--json", help="Same as -f json.")]
TableOrJson = Annotated[Literal["table", "json"], typer.Option("-f", "--format", help="Output format.")]

SPREAD = {"-t", "--translations", "-r", "--references"}  # take several values, as COMET's do: -t a.txt b.txt


def spread(argv: list[str]) -> list[str]:
    """``-t a b`` → ``-t a -t b``: options that take files accept several values."""
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
    """What to select from the input: language pair, systems, references; and the input format."""

    langs: str | None = None
    systems: list[str] | None = None
    refs: list[str] | None = None
    reader: str | None = None


def load(
    input: str | None, files: tuple[str | None, list[str] | None, list[str] | None, str | None],
    chosen: Chosen, test_set: str | None = None,
) -> Loaded:
    """Read the input: one file, folder or test set (more outputs by -t), or parallel files."""
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
    """Print warnings to stderr."""
    for note in notes:
        print(f"warning: {printable(note)}", file=sys.stderr)

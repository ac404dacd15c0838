"""Broken input files, made from valid ones by seed, and the one thing that must hold: a result or a WholetextError.

    python tests/io/fuzzing.py 0 20000      seeds 0 to 19999 through the readers
    python tests/io/fuzzing.py 0 20000 5    every 5th also through `wholetext score`
"""

from __future__ import annotations

import contextlib
import io
import json
import random
import shutil
import sys
import tempfile
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.io.fuzz_breaks import BREAKS
from tests.io.fuzz_valid import valid_corpus, write_evalset, write_lines_files, write_segments, write_wmt, write_xml
from wholetext.errors import WholetextError
from wholetext.io import LineFiles, Loaded, read
from wholetext.io.formats import jsonl, tsv
from wholetext.io.formats.scores import human_names, human_scores, metric_names, metric_scores


@dataclass(frozen=True)
class Case:
    """One broken input: what to read, and how it came about."""

    name: str
    source: Path | LineFiles | list[Path]
    format: str | None = None
    langs: str | None = None


def case(seed: int, folder: Path) -> Case:
    """The case of a seed: a valid input with one of its files broken once or twice."""
    rng = random.Random(seed)
    loaded = valid_corpus(rng)
    kind = rng.choice(["lines", "lines", "tsv", "jsonl", "segments", "wmt", "xml", "evalset"])
    source: Path | LineFiles | list[Path]
    if kind == "lines":
        source = write_lines_files(folder, loaded, rng)
    elif kind == "wmt":
        source = write_wmt(folder, loaded)
    elif kind == "evalset":
        source = folder / "set"
        write_evalset(source, loaded, rng)
    else:
        source = folder / f"corpus.{kind}"
        writers: dict[str, Callable[[], None]] = {
            "tsv": lambda: tsv.write(folder / "corpus.tsv", loaded),
            "jsonl": lambda: jsonl.write(folder / "corpus.jsonl", loaded),
            "xml": lambda: write_xml(folder / "corpus.xml", loaded),
            "segments": lambda: write_segments(folder / "corpus.segments", loaded, rng),
        }
        writers[kind]()
    victim = rng.choice(sorted(path for path in folder.rglob("*") if path.is_file()))
    names = []
    for _ in range(rng.choice([1, 1, 1, 2])):
        breaker = rng.choice(BREAKS)
        victim.write_bytes(breaker(victim.read_bytes(), rng))
        names.append(breaker.__name__)
    if rng.random() < 0.02:
        victim.unlink()
        names.append("removed")
    forced = {"segments": "jsonl"}.get(kind, kind)
    format = rng.choice([None, None, None, forced, forced, rng.choice(["lines", "tsv", "jsonl", "xml", "evalset"])])
    langs = "de-en" if kind == "evalset" else rng.choice([None, "de-en"])
    return Case(f"seed {seed}: {kind}, {victim.name}, {'+'.join(names)}", source, format, langs)


def attempt(case: Case, score: bool = False) -> str:
    """Read (and score) a case: "read" or "refused"; anything but a WholetextError passes through."""
    if score:
        command_line(case)
    try:
        loaded = read(case.source, langs=case.langs, format=case.format)
        if isinstance(case.source, Path) and case.source.is_dir():
            scores_of(case.source)
    except WholetextError as error:
        assert str(error).strip()
        return "refused"
    check(loaded)
    return "read"


def scores_of(folder: Path) -> None:
    for name, level in human_names(folder, "de-en"):
        human_scores(folder, "de-en", name, level)
    for label, level in metric_names(folder, "de-en"):
        metric_scores(folder, "de-en", label, level)


def check(loaded: Loaded) -> None:
    """What is read can be relied on."""
    ids = [doc.id for doc in loaded.corpus.docs]
    assert ids and len(set(ids)) == len(ids)
    for doc in loaded.corpus.docs:
        assert len(doc) > 0 and all(len(text) == len(doc) for text in doc.refs.values())
    for output in loaded.outputs:
        assert list(output.docs) == ids and all(output.docs.values())
    texts = [text for doc in loaded.corpus.docs for side in (doc.src or (), *doc.refs.values()) for text in side]
    texts += [text for output in loaded.outputs for segments in output.docs.values() for text in segments]
    for text in texts:
        assert "\0" not in text and text.encode("utf-8") is not None


def command_line(case: Case) -> None:
    """`wholetext score` on the same files: it prints JSON and ends with 0, or a message and 2."""
    from wholetext.cli.main import main

    words = ["score", "-m", "whole:chrf", "-m", "bleu", "--draws", "50", "-f", "json", "--no-cache", *options(case)]
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main(words)
            code: object = 0
        except SystemExit as end:
            code = end.code or 0
    assert "Traceback" not in err.getvalue(), err.getvalue()
    if code == 0:
        json.loads(out.getvalue())
    else:
        said = f"\n{err.getvalue()}"  # what the reader noticed may come first
        assert code == 2 and "\nerror: " in said, (code, said)


def options(case: Case) -> list[str]:
    """How the command line is given a case."""
    source, langs = case.source, ["-l", case.langs] if case.langs else []
    if isinstance(source, LineFiles):
        refs = ["-r", *map(str, source.refs)] if source.refs else []
        docs = ["-d", str(source.docs)] if source.docs else []
        return ["-s", str(source.src), "-t", *map(str, source.hyps), *refs, *docs, *langs]
    first, *others = map(str, source if isinstance(source, list) else [source])
    return [first, *(["-t", *others] if others else []), *(["--reader", case.format] if case.format else []), *langs]


def run(seeds: range, score_every: int = 0) -> Iterator[tuple[str, str]]:
    """(case, outcome) for each seed; a crash is an outcome too, with its traceback."""
    for seed in seeds:
        folder = Path(tempfile.mkdtemp(prefix="fuzz"))
        name = f"seed {seed}"
        try:
            made = case(seed, folder)
            name = made.name
            yield name, attempt(made, score=bool(score_every) and seed % score_every == 0)
        except Exception:
            yield name, traceback.format_exc()
        finally:
            shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    outcomes: Counter[str] = Counter()
    start, stop, every = (*map(int, sys.argv[1:]), 0)[:3]
    for name, outcome in run(range(start, stop), every):
        if outcome not in ("read", "refused"):
            print(name, outcome, sep="\n")
            outcome = "crashed"
        outcomes[outcome] += 1
    print(dict(outcomes))
    sys.exit(outcomes["crashed"] > 0)

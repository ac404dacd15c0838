"""Completion in the shell: metrics, views and models; systems and documents of the run or texts typed before."""

from __future__ import annotations

import os
import re
import shlex
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, redirect_stdout, suppress
from pathlib import Path
from typing import Any, TextIO

import typer

from wholetext.cli.spelling import spread
from wholetext.errors import WholetextError

VARIABLE = "_WHOLETEXT_COMPLETE"  # set by the shell's script: what it asks for
_BREAKS = re.compile("[:@=]+")  # bash makes words of their own of these
_LARGEST = 20 << 20  # bytes of a file that is read to complete a name


def complete_metrics(ctx: typer.Context, incomplete: str) -> list[str]:
    """Metrics, aliases and views; metrics after ``view:``, models after ``metric@``, more metrics after a comma. After
    a run folder, its metrics."""
    from wholetext.models.catalogue import CATALOGUE
    from wholetext.registry import names, view_names

    done = re.match(r"(?:.*,(?![^(]*\)))?", incomplete)[0]  # type: ignore[index]  # metrics before the last comma
    rest = incomplete[len(done) :]
    if there := _metrics_of(ctx):
        return [done + name for name in there]
    if "@" in rest:
        metric = re.sub(r"^.*:|\(.*", "", rest.partition("@")[0])
        models = [one.name for one in CATALOGUE if metric in one.used_by] or [
            one.name for one in CATALOGUE
        ]
        return [f"{done}{rest.partition('@')[0]}@{model}" for model in models]
    view = rest[: rest.rfind(":") + 1]
    offered = [view + name for name in names()] + (
        [] if view else [f"{name}:" for name in view_names()]
    )
    return [done + name for name in offered]


def _metrics_of(ctx: typer.Context) -> list[str]:
    """The metrics of the run folder typed before; none where there is none."""
    from wholetext.files.parsing import file_bytes, read_json

    for path in _paths(ctx):
        with suppress(WholetextError, OSError, ValueError, KeyError, TypeError):
            found = read_json(file_bytes(path / "run.json"))
            return [str(one["spec"]) for one in found["metrics"]]
    return []


def _paths(ctx: typer.Context) -> list[Path]:
    """Run folders or corpora typed so far."""
    given = (
        ctx.params.get("run"),
        ctx.params.get("input"),
        *(ctx.params.get("runs") or ()),
        *ctx.args,
    )
    return [Path(name) for name in given if name]


def complete_names() -> list[str]:
    """What ``show`` explains: metrics, aliases and views."""
    from wholetext.registry import names, view_names

    return [*names(), *view_names()]


def complete_models() -> list[str]:
    from wholetext.models.catalogue import CATALOGUE

    return [one.name for one in CATALOGUE]


def complete_systems(ctx: typer.Context) -> list[str]:
    """Systems of a run folder, of ``-t`` files, or of a corpus."""
    files = ctx.params.get("translations") or ()
    given = [name.partition("=")[0] if "=" in name else Path(name).stem for name in files]
    return _quoted(given or _typed_before(ctx)[1])


def complete_documents(ctx: typer.Context) -> list[str]:
    """Documents of a run folder or a corpus."""
    return _quoted(_typed_before(ctx)[0])


def _typed_before(ctx: typer.Context) -> tuple[list[str], list[str]]:
    """Documents and systems of the run folder or corpus typed so far; none where it is large or cannot be read."""
    from wholetext.files.parsing import file_bytes, read_json
    from wholetext.io import read

    for path in _paths(ctx):
        with suppress(WholetextError, OSError, ValueError, KeyError, TypeError, AttributeError):
            if (path / "run.json").is_file() and (path / "texts.jsonl").stat().st_size < _LARGEST:
                lines = file_bytes(path / "texts.jsonl").splitlines()
                return (
                    [str(read_json(line)["doc"]) for line in lines],
                    [str(system) for system in read_json(file_bytes(path / "run.json"))["systems"]],
                )
            if path.is_file() and path.stat().st_size < _LARGEST:
                loaded = read(path, langs=ctx.params.get("langs"))
                return [doc.id for doc in loaded.corpus.docs], [
                    output.system for output in loaded.outputs
                ]
    return [], []


def _quoted(names: Iterable[str]) -> list[str]:
    return [shlex.quote(str(name)) for name in names]


@contextmanager
def completing() -> Iterator[None]:
    """While the shell asks for completions: words as ``spread`` makes them.

    bash cuts words at ``:``, ``@`` and ``=``, and wants only what follows there (after ``@`` with it).
    """
    typed = ""
    if "COMP_WORDS" in os.environ:
        words, typed = _joined(
            os.environ["COMP_WORDS"].split("\n")[: int(os.environ["COMP_CWORD"]) + 1]
        )
        words = _spread(words)
        os.environ |= {"COMP_WORDS": "\n".join(words), "COMP_CWORD": str(len(words) - 1)}
    elif "_TYPER_COMPLETE_ARGS" in os.environ:
        line = os.environ["_TYPER_COMPLETE_ARGS"]
        ended = line.endswith(" ")
        words = _spread([*line.split(), *([""] if ended else [])])
        os.environ["_TYPER_COMPLETE_ARGS"] = " ".join(words)
    shortened: Any = _Shortened(sys.stdout, typed)
    with redirect_stdout(shortened):
        yield


def _spread(words: list[str]) -> list[str]:
    try:
        return [*words[:1], *spread(words[1:])]
    except WholetextError:  # `-m` is the last word so far
        return words


def _joined(words: list[str]) -> tuple[list[str], str]:
    """Words of bash joined again where it cut them, and what of the last one is left of the cut."""
    joined: list[str] = []
    glue, cut = False, ""
    for word in words:
        alone = _BREAKS.fullmatch(word) is not None
        if joined and (alone or glue):
            cut = joined[-1] + (word if alone else "")
            joined[-1] += word
        else:
            joined.append(word)
            cut = ""
        glue = alone
    return joined, cut.removesuffix("@")  # which is part of what readline replaces


class _Shortened:
    """Standard output that leaves out ``typed`` where a line begins with it."""

    def __init__(self, inner: TextIO, typed: str) -> None:
        self.inner, self.typed = inner, typed

    def write(self, text: str) -> int:
        lines = [line.removeprefix(self.typed) for line in text.split("\n")]
        return self.inner.write("\n".join(lines))

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

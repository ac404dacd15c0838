"""Shell completion: metrics, views, models, and the systems and documents of a run or a corpus."""

from __future__ import annotations

import json
import os
import re
import shlex
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stdout, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import typer

from wholetext.cli.spelling import spread
from wholetext.errors import WholetextError

if TYPE_CHECKING:
    from wholetext.types import Document, Output

VARIABLE = "_WHOLETEXT_COMPLETE"  # set by the completion script of the shell
_BREAKS = re.compile("[:@=]+")  # bash splits words at these
_LARGEST = 20 << 20  # bytes of a file that is read to complete a name


def complete_metrics(ctx: typer.Context, incomplete: str) -> list[str]:
    """Offer metrics, aliases and views; the metrics of the run folder typed before, if any.

    After ``view:`` metrics are offered, after ``metric@`` models, after a comma more metrics.
    """
    from wholetext.models.catalogue import entries
    from wholetext.registry import names, view_names

    previous = re.match(r"(?:.*,(?![^(]*\)))?", incomplete)[0]  # type: ignore[index]
    current = incomplete[len(previous) :]
    for path in _paths(ctx):
        with suppress(WholetextError, OSError, ValueError, KeyError, TypeError):
            run = json.loads((path / "run.json").read_bytes())
            return [previous + entry["spec"] for entry in run["metrics"]]
    if "@" in current:
        head = current.partition("@")[0]
        metric = re.sub(r"^.*:|\(.*", "", head)
        models = [model.name for model in entries() if metric in model.used_by]
        return [f"{previous}{head}@{model}" for model in models or complete_models()]
    view = current[: current.rfind(":") + 1]
    views = [] if view else [f"{name}:" for name in view_names()]
    return [previous + name for name in (*(view + name for name in names()), *views)]


def complete_names() -> list[str]:
    """Offer metrics, aliases and views."""
    from wholetext.registry import names, view_names

    return [*names(), *view_names()]


def complete_models() -> list[str]:
    from wholetext.models.catalogue import entries

    return [model.name for model in entries()]


def complete_systems(ctx: typer.Context) -> list[str]:
    """Offer the systems of ``-t`` files, of a run folder or of a corpus."""
    files = ctx.params.get("translations") or ()
    names = [name.partition("=")[0] if "=" in name else Path(name).stem for name in files]
    return [shlex.quote(name) for name in names or (output.system for output in _texts(ctx)[1])]


def complete_documents(ctx: typer.Context) -> list[str]:
    """Offer the documents of a run folder or of a corpus."""
    return [shlex.quote(doc.id) for doc in _texts(ctx)[0]]


def _paths(ctx: typer.Context) -> list[Path]:
    """Run folders or corpora typed so far."""
    names = (ctx.params.get("run"), ctx.params.get("input"), *(ctx.params.get("runs") or ()))
    return [Path(name) for name in (*names, *ctx.args) if name]


def _texts(ctx: typer.Context) -> tuple[Sequence[Document], Sequence[Output]]:
    """Read the documents and outputs of what was typed so far, unless it is large."""
    from wholetext.io import read

    for path in _paths(ctx):
        file = path / "texts.jsonl" if path.is_dir() else path
        with suppress(WholetextError, OSError):
            if file.stat().st_size < _LARGEST:
                loaded = read(file, langs=ctx.params.get("langs"))
                return loaded.corpus.docs, loaded.outputs
    return (), ()


@contextmanager
def completing() -> Iterator[None]:
    """Adapt completion to ``spread``, and to bash, which splits words at ``:``, ``@`` and ``=``.

    bash expects only what follows the last of these (an ``@`` included).
    """
    typed = ""
    if "COMP_WORDS" in os.environ:
        words = os.environ["COMP_WORDS"].split("\n")[: int(os.environ["COMP_CWORD"]) + 1]
        words, typed = _joined(words)
        words = _spread(words)
        os.environ |= {"COMP_WORDS": "\n".join(words), "COMP_CWORD": str(len(words) - 1)}
    elif "_TYPER_COMPLETE_ARGS" in os.environ:
        line = os.environ["_TYPER_COMPLETE_ARGS"]
        words = _spread([*line.split(), *([""] if line.endswith(" ") else [])])
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
    """Join the words that bash split; also return what precedes the last split of the last word."""
    joined: list[str] = []
    glue, typed = False, ""
    for word in words:
        is_break = _BREAKS.fullmatch(word) is not None
        if joined and (is_break or glue):
            typed = joined[-1] + (word if is_break else "")
            joined[-1] += word
        else:
            joined.append(word)
            typed = ""
        glue = is_break
    return joined, typed.removesuffix("@")  # readline replaces the @ itself


class _Shortened:
    """Standard output without the prefix ``typed`` of lines."""

    def __init__(self, inner: TextIO, typed: str) -> None:
        self.inner, self.typed = inner, typed

    def write(self, text: str) -> int:
        lines = [line.removeprefix(self.typed) for line in text.split("\n")]
        return self.inner.write("\n".join(lines))

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

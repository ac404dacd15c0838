"""The page: data in compressed blocks, our scripts and styles inline, and a policy that lets nothing else in."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from wholetext.errors import MissingExtra, WriteError
from wholetext.files.parsing import printable
from wholetext.files.storage import write_file
from wholetext.reporting.analysis import RunAnalysis
from wholetext.reporting.panels import Study
from wholetext.reporting.texts import Faults, blocks, choose, gather
from wholetext.version import __version__

SCRIPTS = ("dom.js", "data.js", "color.js", "charts.js", "grids.js", "leaderboard.js", "documents.js", "marks.js",
           "document.js", "segment.js", "compare.js", "studies.js", "main.js")
GENERATOR = b'<meta name="generator" content="wholetext '
STYLES = ("theme.css", "page.css", "charts.css", "tables.css", "document.css", "screens.css")


@dataclass(frozen=True)
class PageOptions:
    """What a reader of the report may want otherwise."""

    title: str = ""
    segments: int = 5_000  # texts in the file, at most


def write_report(
    analysis: RunAnalysis | None, studies: Sequence[Study], path: Path, choices: PageOptions | None = None
) -> int:
    """Write the page of a run, of studies, or of both; returns its size in bytes."""
    page = render(analysis, studies, choices or PageOptions()).encode("utf-8", "surrogatepass")
    refuse_foreign(path)
    write_file(path, page)
    return len(page)


def refuse_foreign(path: Path) -> None:
    """An error where the page would replace a file that is no report of ours."""
    try:
        with path.open("rb") as file:
            if not path.is_file() or GENERATOR in file.read(4096) or os.fstat(file.fileno()).st_size == 0:
                return
    except OSError:  # not there, or not readable: writing says what is wrong
        return
    raise WriteError("this file is not a report of wholetext, and would be replaced", where=str(path),
                     next="choose another file with -o")


def render(analysis: RunAnalysis | None, studies: Sequence[Study], choices: PageOptions) -> str:
    """The page as text."""
    try:
        import jinja2
    except ImportError:
        raise MissingExtra("jinja2", "report") from None
    parts: dict[str, Any] = {"head": {}} if analysis is None else _parts(analysis, choices)
    only = studies[0].title if len(studies) == 1 else "Studies"
    title = choices.title or (analysis.results.corpus.id if analysis else only)
    parts["head"] |= {"title": title, "version": __version__, "studies": [study.plain() for study in studies]}
    script, style = (_joined(names) for names in (SCRIPTS, STYLES))
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined, keep_trailing_newline=True,
                                     finalize=_shown)
    return environment.from_string(_asset("template.html")).render(
        head=parts["head"], blocks={name: packed(value) for name, value in parts.items()},
        script=_markup(script), style=_markup(style), script_hash=_hash(script), style_hash=_hash(style),
    )


def _shown(value: Any) -> Any:
    """Names in the page itself, with control characters and direction marks shown; markup of ours stays as it is."""
    return printable(value) if type(value) is str else value


def _parts(analysis: RunAnalysis, choices: PageOptions) -> dict[str, Any]:
    """Every block of the page by name: ``head`` at once, ``metric0`` … and ``text0`` … when they are looked at."""
    results, corpus = analysis.results, analysis.results.corpus
    parts: dict[str, Any] = {"head": {}, **{f"metric{i}": one for i, one in enumerate(analysis.breakdowns)}}
    material, drawn = gather(results, analysis.systems), choose(results, choices.segments)
    place: dict[int, int] = {}
    for number, block in enumerate(blocks(material, drawn)):
        place |= dict.fromkeys(block, number)
        parts[f"text{number}"] = {str(doc): value for doc, value in block.items()}
    parts["head"] = {
        "corpus": corpus.id, "langs": list(corpus.langs), "references": list(corpus.references),
        "systems": list(analysis.systems), "baseline": analysis.baseline, "alpha": analysis.testing.alpha,
        "metrics": list(analysis.standings), "notice": drawn.notice,
        "docs": [[doc.id, len(doc), place.get(i, -1)] for i, doc in enumerate(corpus.docs)],
        "warnings": list(results.notes), "faults": [_counted(faults) for faults in material.faults],
    }
    return parts


def _counted(faults: Sequence[Faults]) -> dict[str, int]:
    """Suspicious segments of one system by kind, over all documents, whether or not their texts are in the file."""
    return dict(Counter(kind for doc in faults for segment, kind, _ in doc if segment >= 0))


# ---------------------------------------------------------------- packing


def packed(value: Any) -> str:
    """JSON, gzipped, as base64: nothing in it can close an element or be read as a script."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return base64.b64encode(gzip.compress(text.encode("utf-8", "surrogatepass"), 9, mtime=0)).decode("ascii")


def _joined(names: Sequence[str]) -> str:
    return "\n".join(_asset(name) for name in names)


def _asset(name: str) -> str:
    return (resources.files("wholetext.reporting") / "assets" / name).read_text("utf-8")


def _hash(text: str) -> str:
    """The name of an inline script or style in a Content-Security-Policy."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")


def _markup(text: str) -> Any:
    """Our own script or style, which must reach the page as it is."""
    from markupsafe import Markup

    return Markup(text)  # files of this package, no data in them

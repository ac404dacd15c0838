"""The page: data in compressed blocks, our scripts and styles inline, and a policy that lets nothing else in."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any

from wholetext.errors import MissingExtra, RunError, WholetextError, did_you_mean
from wholetext.registry import Scorer, scorer
from wholetext.report.panels import Study
from wholetext.report.standings import Testing, breakdown, standing
from wholetext.report.texts import Faults, blocks, choose, gather
from wholetext.results import Results
from wholetext.version import __version__

SCRIPTS = ("dom.js", "data.js", "color.js", "charts.js", "grids.js", "leaderboard.js", "documents.js", "marks.js",
           "document.js", "segment.js", "compare.js", "studies.js", "main.js")
STYLES = ("theme.css", "page.css", "charts.css", "tables.css", "document.css", "screens.css")


@dataclass(frozen=True)
class Choices:
    """What a reader of the report may want otherwise."""

    title: str = ""
    baseline: str | None = None  # the system that marks refer to; the best of each metric unless given
    segments: int = 5_000  # texts in the file, at most
    testing: Testing = field(default_factory=Testing)


def write_report(results: Results | None, studies: Sequence[Study], path: Path, choices: Choices | None = None) -> int:
    """Write the page; returns its size in bytes."""
    page = render(results, studies, choices or Choices()).encode("utf-8", "surrogatepass")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(page)
    except OSError as fault:
        raise WholetextError(f"the report cannot be written ({fault.strerror})", where=str(path),
                             next="choose another place with -o") from fault
    return len(page)


def render(results: Results | None, studies: Sequence[Study], choices: Choices) -> str:
    """The page as text."""
    try:
        import jinja2
    except ImportError:
        raise MissingExtra("jinja2", "report") from None
    parts = _parts(results, choices) if results is not None else {"head": {}}
    parts["head"] |= {"title": _title(results, studies, choices), "version": __version__,
                      "studies": [study.plain() for study in studies]}
    script, style = (_joined(names) for names in (SCRIPTS, STYLES))
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined, keep_trailing_newline=True)
    template = environment.from_string(_asset("template.html"))
    return template.render(
        head=parts["head"], blocks={name: packed(value) for name, value in parts.items()},
        script=_markup(script), style=_markup(style), script_hash=_hash(script), style_hash=_hash(style),
    )


def _parts(results: Results, choices: Choices) -> dict[str, Any]:
    """Every block of the page by name: ``head`` at once, ``metric0`` … and ``text0`` … when they are looked at."""
    systems = _order(results)
    if choices.baseline is not None and choices.baseline not in systems:
        near = did_you_mean(choices.baseline, systems) or f"the systems are {', '.join(systems)}"
        raise RunError(f"there is no system {choices.baseline!r}", next=near)
    parts: dict[str, Any] = {"head": {}}
    metrics = []
    scorers = [scorer(spec) for spec in results.scores]
    for i, scores in enumerate(results.scores.values()):
        metrics.append(standing(scores, systems, choices.testing) | {"without": _without(scorers, i)})
        parts[f"metric{i}"] = breakdown(scores, systems, choices.testing)
    material, drawn = gather(results, systems), choose(results, choices.segments)
    place: dict[int, int] = {}
    for number, block in enumerate(blocks(material, drawn)):
        place |= dict.fromkeys(block, number)
        parts[f"text{number}"] = {str(doc): value for doc, value in block.items()}
    corpus = results.corpus
    parts["head"] = {
        "corpus": corpus.id, "langs": list(corpus.langs), "references": list(corpus.references),
        "systems": systems, "baseline": None if choices.baseline is None else systems.index(choices.baseline),
        "alpha": choices.testing.alpha, "metrics": metrics, "notice": drawn.notice,
        "docs": [[doc.id, len(doc), place.get(i, -1)] for i, doc in enumerate(corpus.docs)],
        "warnings": list(results.warnings), "faults": [_counted(faults) for faults in material.faults],
    }
    return parts


def _counted(faults: Sequence[Faults]) -> dict[str, int]:
    """Suspicious segments of one system by kind, over all documents, whether or not their texts are in the file."""
    return dict(Counter(kind for doc in faults for segment, kind, _ in doc if segment >= 0))


def _order(results: Results) -> list[str]:
    """Systems best first by the first metric; undefined scores last."""
    first = next(iter(results.scores.values()), {})
    if not first:
        raise RunError("the run has no scores", next="score at least one system with one metric")
    sign = -1 if next(iter(first.values())).higher_is_better else 1
    return sorted(first, key=lambda name: (first[name].score != first[name].score, sign * first[name].score, name))


def _without(scorers: Sequence[Scorer], at: int) -> int | None:
    """For a metric read with context: the same metric without, if the run has it."""
    if scorers[at].view.name != "context":
        return None
    found = [i for i, one in enumerate(scorers) if one.view.name == "sentence" and one.metric == scorers[at].metric]
    return found[0] if found else None


def _title(results: Results | None, studies: Sequence[Study], choices: Choices) -> str:
    if choices.title:
        return choices.title
    return results.corpus.id if results is not None else " · ".join(study.title for study in studies)


# ---------------------------------------------------------------- packing


def packed(value: Any) -> str:
    """JSON, gzipped, as base64: nothing in it can close an element or be read as a script."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return base64.b64encode(gzip.compress(text.encode("utf-8", "surrogatepass"), 9, mtime=0)).decode("ascii")


def _joined(names: Sequence[str]) -> str:
    return "\n".join(_asset(name) for name in names)


def _asset(name: str) -> str:
    return (resources.files("wholetext.report") / "assets" / name).read_text("utf-8")


def _hash(text: str) -> str:
    """The name of an inline script or style in a Content-Security-Policy."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")


def _markup(text: str) -> Any:
    """Our own script or style, which must reach the page as it is."""
    from markupsafe import Markup

    return Markup(text)  # files of this package, no data in them

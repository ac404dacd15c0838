"""docs/metrics.md: every metric with formula, paper, parameters, range, cost and when to use it; made by `make docs`.

What the code knows comes from the registry, as in `wholetext show`; formula, cost and use from tools/metric_facts.toml.
"""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

FACTS = Path(__file__).resolve().parent / "metric_facts.toml"
HEAD = """# Metrics

Made by `make docs` from the metrics themselves; `wholetext show NAME` prints the same in a terminal. Every metric can
be put under every [view](concepts.md): `context(prev=2):bertscore`. [Which metric for which question](which-metric.md)
helps to choose. ↑ higher is better, ↓ lower; sides in brackets are used when given; *model* is the size of what is
downloaded by default.

"""


def page() -> str:
    """The reference of all built-in metrics."""
    from wholetext.files.parsing import read_toml
    from wholetext.registry import BUILTIN, catalogue

    facts = read_toml(FACTS.read_bytes())
    rows = [_row(name, anchor) for name, anchor in zip(BUILTIN, _anchors(list(BUILTIN)))]
    table = ["| metric | | reads | range | model |", "|---|---|---|---|---|", *rows, ""]
    aliases = ["## Aliases", "", "In any case: `COMET-22` is `comet-22`.", "", "| you write | it is |", "|---|---|"]
    aliases += [f"| `{alias}` | `{spec}` |" for alias, spec in sorted(catalogue()["aliases"].items())]
    sections = [_section(name, facts.get(name, {})) for name in BUILTIN]
    return HEAD + "\n".join([*table, *aliases, ""]) + "\n" + "\n".join(sections)


def _entry(name: str) -> dict[str, Any]:
    from wholetext.registry import catalogue

    entry: dict[str, Any] = catalogue()["metrics"][name]
    return entry


def _range(name: str) -> str:
    from wholetext.registry import metric_class

    bounds = metric_class(name).range
    arrow = "↑" if _entry(name)["higher_is_better"] else "↓"
    if not isinstance(bounds, tuple):
        return f"as its settings say {arrow}"
    return f"{bounds[0]:g} … {bounds[1]:g} {arrow}".replace("inf", "∞").replace("-", "−")


def _reads(name: str) -> str:
    found = _entry(name)
    sides = [side for side in ("src", "hyp", "ref") if side in found["needs"]]
    return ", ".join([*sides, *(f"({side})" for side in found["wants"])])


def _row(name: str, link: str) -> str:
    from wholetext.models.catalogue import entries
    from wholetext.registry import ALIASES

    names = {name, *(alias for alias, spec in ALIASES.items() if name in spec.replace("@", ":").split(":"))}
    sizes = {round(one.gigabytes, 1) or 0.1 for one in entries() if names & {*one.used_by} and one.gigabytes > 0.01}
    size = " to ".join(f"{size:g}" for size in sorted({min(sizes), max(sizes)})) + " GB" if sizes else ""
    return f"| [`{name}`](#{link}) | {_entry(name)['summary']} | {_reads(name)} | {_range(name)} | {size} |"


def _anchors(names: list[str]) -> list[str]:
    """The anchors of headings: letters, digits and hyphens; a second one of the same name is numbered."""
    found: list[str] = []
    for name in names:
        plain = "".join(letter for letter in name if letter.isalnum() or letter == "-")
        found.append(f"{plain}-{found.count(plain)}" if plain in found else plain)
    return found


def _section(name: str, facts: dict[str, str]) -> str:
    from wholetext.cli.about import _hint as hint
    from wholetext.registry import explanations, metric_class, parameters

    kind = metric_class(name)
    prose = (inspect.getdoc(kind) or "").replace("``", "`")
    view = kind.view if isinstance(kind.view, str) else str(kind.view)
    more = [] if not facts else ["```text", facts["formula"].strip(), "```", "", f"**Use it for.** {facts['when']}", "",
                                 f"**Paper.** {facts['paper']}.  ", f"**Cost.** {facts['cost']}.  "]  # fmt: skip
    lines = [f"## {name}", "", prose, "", *more,
             f"**Range.** {_range(name)}. **Reads.** {_reads(name)}. **View.** `{view}` unless another is given.", ""]
    said, rows = explanations(kind), []
    for key, (takes, default) in parameters(kind).items():
        plain = default is None or isinstance(default, bool)
        shown = str(default).lower() if plain else default if default != "" else '""'
        choice = hint(takes).replace("|", "\\|")
        rows.append(f"| `{key}` | `{shown}` | {choice} | {said[key].replace('|', chr(92) + '|')} |")
    table = ["| parameter | default | takes | |", "|---|---|---|---|", *rows, ""] if rows else []
    return "\n".join([*lines, *table])

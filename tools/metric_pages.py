"""docs/metrics.md: every metric with formula, paper, parameters, range, cost and when to use it; made by `make docs`.

What the code knows comes from the registry, as in `wholetext list`; formula, cost and use from tools/metric_facts.toml.
"""

from __future__ import annotations

import inspect
import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

FACTS = Path(__file__).resolve().parent / "metric_facts.toml"
HEAD = """# Metrics

Made by `make docs`; `wholetext list NAME` prints the same, with the paper behind each parameter.
[Which metric for which question](which-metric.md) helps to choose. Every metric goes with every
[view](concepts.md): `context(prev=2):bertscore`. ↑ higher is better, ↓ lower; sides in brackets are optional; *model*
is the size of what is downloaded by default. The view is `sentence`, and the core suffices,
unless an entry says otherwise.

"""
TITLE = re.compile(r"([A-Z][^;,*]*(?:, [A-Z][^;,*]*)? \d{4}), \*([^*]+)\*")  # authors and year, title
SOURCE = re.compile(  # a parenthesis that only cites
    r" \((?:[^()]*, )?(?:[A-Z][\w.]*(?: et al\.| (?:&|and) \w+)? \d{4}[a-z]?(?:, (?:§|[Ee]qs?\.) ?[\d.–]+)?(?:; )?)+\)")
BRIEF = {"bartscore", "bertscore", "bleurt", "blonde", "learned", "meteor", "metricx", "moverscore", "prism",
         "terms"}  # formula, parameters or their own page say the rest  # fmt: skip
SHARED = """## Shared parameters

Metrics list them under *Also*, with their defaults.
"""


def page() -> str:
    """The reference of all built-in metrics."""
    from wholetext.files.parsing import read_toml
    from wholetext.registry import BUILTIN, catalogue

    facts = read_toml(FACTS.read_bytes())
    rows = [_row(name, anchor) for name, anchor in zip(BUILTIN, _anchors(list(BUILTIN)))]
    table = ["|metric||reads|range|model|", "|---|---|---|---|---|", *rows, ""]
    names: dict[str, list[str]] = {}
    for alias, spec in sorted(catalogue()["aliases"].items()):
        names.setdefault(spec, []).append(f"`{alias}`")
    aliases = ["## Aliases", "", "Names ignore case: `COMET-22` is `comet-22`.", ""]
    aliases += [f"- {', '.join(written)}: `{spec}`" for spec, written in names.items()]
    number = Counter(line for name in BUILTIN for line, _ in _parameters(name).values())
    shared = {line: key for name in BUILTIN for key, (line, _) in _parameters(name).items() if number[line] > 1}
    listed: dict[str, str] = {}
    sections = [_section(name, facts.get(name, {}), shared, listed) for name in BUILTIN]
    common = [SHARED, *sorted(shared, key=lambda line: shared[line]), ""]
    return HEAD + "\n".join([*table, *aliases, ""]) + "\n" + "\n".join([*sections, *common])


def _parameters(name: str) -> dict[str, tuple[str, str]]:
    """Parameter → its explanation as an entry of a list, and its default."""
    from wholetext.cli.about import _hint as hint
    from wholetext.registry import explanations, metric_class, parameters

    kind = metric_class(name)
    said, lines = explanations(kind), {}
    for key, (takes, default) in parameters(kind).items():
        plain = default is None or isinstance(default, bool)
        shown = str(default).lower() if plain else default if default != "" else '""'
        choices = [] if hint(takes) == "true | false" else hint(takes).split(" | ")
        text = SOURCE.sub("", said[key]).replace(" (wholetext)", "")
        text = text.replace(" (wholetext help taggers)", " ([taggers](taggers.md))")
        unsaid = [one for one in choices if not re.search(rf"(?<!\w){re.escape(one)}(?!\w)", text)]
        values = f" ({', '.join(choices)})" if len(choices) > 1 and len(unsaid) > 1 else ""
        lines[key] = (f"- `{key}`: {text}{values}", f"{key}={shown}")
    return lines


def _entry(name: str) -> dict[str, Any]:
    from wholetext.registry import catalogue

    entry: dict[str, Any] = catalogue()["metrics"][name]
    return entry


def _range(name: str) -> str:
    from wholetext.registry import metric_class

    bounds = metric_class(name).range
    arrow = "↑" if _entry(name)["higher_is_better"] else "↓"
    if not isinstance(bounds, tuple):
        return f"by its settings {arrow}"
    return f"{bounds[0]:g}…{bounds[1]:g} {arrow}".replace("inf", "∞").replace("-", "−")


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
    return f"|[`{name}`](#{link})|{_entry(name)['summary']}|{_reads(name)}|{_range(name)}|{size}|"


def _anchors(names: list[str]) -> list[str]:
    """The anchors of headings: letters, digits and hyphens; a second one of the same name is numbered."""
    found: list[str] = []
    for name in names:
        plain = "".join(letter for letter in name if letter.isalnum() or letter == "-")
        found.append(f"{plain}-{found.count(plain)}" if plain in found else plain)
    return found


def _section(name: str, facts: dict[str, str], shared: Mapping[str, str], before: dict[str, str]) -> str:
    """The entry of a metric; `before`: lists of shared parameters of earlier metrics, which are not repeated."""
    from wholetext.registry import metric_class

    kind = metric_class(name)
    prose = (inspect.getdoc(kind) or "").replace("``", "`")
    prose = prose.partition("\n\n")[0] if name in BRIEF else prose
    view = kind.view if isinstance(kind.view, str) else str(kind.view)
    lines = [f"## {name}", "", prose, ""]
    if facts:
        paper = TITLE.sub(r"\1", facts["paper"])
        authors = re.findall(r"[A-Z][^;,]*? \d{4}", paper.replace("&", "and"))
        cited = all(name in prose.replace("&", "and") for name in authors)
        said = facts["cost"] == "core, no model" or facts["when"].lower().startswith(facts["cost"])
        cost = "" if said else f" **Cost**: {facts['cost']}."
        use = f"{facts['when']}{cost}" + ("" if cited else f" **Paper**: {paper}.")
        lines += ["```text", facts["formula"].strip(), "```", ""] if facts["formula"] else []
        lines += [use.strip(), ""] if use.strip() else []
    lines += [] if view == "sentence" else [f"View: `{view}`.", ""]
    listed = _parameters(name).values()
    own = [line.replace(f"`{default.partition('=')[0]}`", f"`{default}`", 1)
           for line, default in listed if line not in shared]  # fmt: skip
    also = ", ".join(f"`{default}`" for line, default in listed if line in shared)
    if also.count("`, `") > 2:
        first = before.setdefault(also, name)
        also = also if first == name else f"the parameters of [{first}](#{first})"
    return "\n".join([*lines, *own, *([""] if own else []), *([f"Also {also}.", ""] if also else [])])

"""Writes what is generated again: the references of the command line and of Python, the notes."""

from __future__ import annotations

import inspect
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import MISSING, fields, is_dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent


COMMANDS = """# Command line

Made by `make docs`. `wholetext COMMAND --help` prints the same, `--help-all` with rare options, `wholetext help TOPIC`
a page of this documentation. Options that several commands share are explained once,
[at the end](#shared-options), in groups: *input*, *models*, *tests*. Several metrics are `-m METRIC METRIC`
or `-m METRIC,METRIC`; `--json` is `-f json`.
"""
SHARED = "## Shared options\n"
GROUPS = {
    "input": ("INPUT", "--sources", "--translations", "--references", "--docids", "--langs", "--test-set", "--reader",
              "--columns", "--system", "--segments"),
    "models": ("--no-cache", "--device", "--dtype", "--batch-tokens", "--on", "--workers", "--gpus", "--endpoint",
               "--parallel", "--timeout", "--prices", "--budget"),
    "tests": ("--resample", "--test", "--draws", "--seed", "--alpha"),
}  # fmt: skip
OFTEN = 2  # commands that have an option in the same words: explained once


def command_reference() -> str:
    """Every verb's help as Markdown."""
    from wholetext.cli.help import EXAMPLES, entries, examples
    from wholetext.cli.main import build

    commands = dict(sorted(leaves(build())))
    options = {name: tuple(entries(command)) for name, command in commands.items()}
    number = Counter(_option(entry) for listed in options.values() for entry in listed)
    shared = {line: entry for listed in options.values() for entry in listed
              if number[line := _option(entry)] >= OFTEN}  # fmt: skip
    lines = [COMMANDS]
    for name, command in commands.items():
        text = str(inspect.getdoc(command.default_command)).partition(EXAMPLES)[0].rstrip()
        lines += [f"## wholetext {name}", "", text, ""]
        first = examples(command)[0] if examples(command) else f"wholetext {name}"
        lines += ["```text", first, "```", ""] if first != f"wholetext {name}" else []
        own = [_option(entry) for entry in options[name] if _option(entry) not in shared]
        also = _grouped([_short(entry) for entry in options[name] if _option(entry) in shared])
        lines += [*own, ""] if own else []
        lines += [f"Also {', '.join(also)}.", ""] if also else []
    order = sorted(shared, key=lambda line: _short(shared[line]).lstrip("-").casefold())
    parts = {title: [line for line in order if _short(shared[line]) in names] for title, names in GROUPS.items()}
    parts["others"] = [line for line in order if not any(line in part for part in parts.values())]
    ends: list[str] = []
    for title, part in parts.items():
        ends += [f"### {title.capitalize()}", "", *part, ""]
    return "\n".join([*lines, SHARED, *ends])


def _grouped(names: list[str]) -> list[str]:
    """Shared options as a command lists them: a group of which it has all by its title."""
    whole = [title for title, group in GROUPS.items() if {*group} <= {*names}]
    inside = {name for title in whole for name in GROUPS[title]}
    return [*(f"*{title}*" for title in whole), *(f"`{name}`" for name in names if name not in inside)]


def leaves(app: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Every command that has options, also inside groups, with its name."""
    for word in app:
        if not word.startswith("-"):
            name, command = f"{path} {word}".strip(), app[word]
            yield from [(name, command)] if command.default_command else leaves(command, name)


def _short(entry: Any) -> str:
    """The name by which a command lists a shared option."""
    return str(entry.takes if entry.positional else entry.names[-1])


def _option(entry: Any) -> str:
    """An option or argument as an entry of a list."""
    names = entry.takes if entry.positional else ", ".join(entry.names)
    takes = "" if entry.positional or not entry.takes else f" {entry.takes.replace(' | ', '|')}"
    default = f" Default: `{entry.default}`." if entry.default else ""
    text = entry.text.replace(": -m METRIC METRIC, or METRIC,METRIC.", ".").replace("; --json is -f json.", ".")
    text = text.replace(" (default: 0.05).", ". Default: `0.05`.")
    return f"- `{names}{takes}`: {text}{default}"


API = """# Python

Everything the command line can do is a function of `wholetext` or of one of its packages. Made by `make docs`;
large results and settings are listed without their fields (`help(wt.Options)` has them).

```python
import wholetext as wt

wt.score(["A cat sat."], "chrf", refs=["The cat sat."]).score      # 61.08…
```

|command|Python|
|---|---|
|`score`|`read` or `from_texts`, then `score`; `integrations.log_run`|
|`rank`|`ranking.rank`|
|`annotate sample`|`annotation.sample`, then `annotation.make_campaign`|
|`annotate read`|`annotation.read_pearmut`, then `annotation.write_judgments`|
|`compare`|`open_run`, then `compare`|
|`gate`|`gate`|
|`report`, `explain`|`report`, `plot`; `explain`|
|`score --plan`, `score --sweep`|`plan`; `sweep`, `scoring.write_sweep`|
|`align`, `convert`|`alignment.align`, `write`; `read`, `write`|
|`meta agreement`, `meta paragraphs`|`meta.meta_evaluate`, `meta.paragraph_sets`|
|`explain --features`|`meta.discriminativeness`|
|`meta spans`|`meta.read_spans`, then `meta.evaluate_spans` or `meta.rater_spans`|
|`meta contrast`|`meta.read_contrast_set`, then `meta.contrast`|
|`meta judges`|`judges.judge_check`, `judges.write_judge_check`|
|`meta stress`|`stress.stress`, `stress.write_stress`; `stress.perturb` (documents alone), `stress.list_changes`|
|`reproduce`|`reproduce.papers`, `reproduce.reproduce`|
|`pick`|`pick.pick`, `pick.filter_bitext`|
|`serve`|`serving.serve`|
|`train`|`training.make_recipe`, then `training.train`|
|`list`, `cache`|`list_metrics`, `scoring.Cache`|
|`models`|`models.list_models`, `models.show_model`, `models.fetch_model`, `models.verify_model`|
"""
PACKAGES = ("wholetext", "wholetext.scoring", "wholetext.alignment", "wholetext.annotation", "wholetext.integrations",
            "wholetext.judges", "wholetext.meta", "wholetext.models", "wholetext.ranking", "wholetext.reproduce",
            "wholetext.pick", "wholetext.serving", "wholetext.terms",
            "wholetext.stress", "wholetext.training", "wholetext.errors")  # fmt: skip


def api_page() -> str:
    """Every public name with its signature and the first line of its docstring."""
    parts = [API]
    for package in map(import_module, PACKAGES):
        names = getattr(package, "__all__", None) or sorted(
            name for name, value in vars(package).items() if isinstance(value, type) and issubclass(value, Exception)
            and not (package.__name__ != "wholetext" and name in ("WholetextError", "WholetextWarning"))
        )  # fmt: skip
        entries = [_entry(name, getattr(package, name)) for name in names if name not in ("__version__", "FloatArray")]
        parts.append(f"## {package.__name__}\n\n" + "\n".join(entries) + "\n")
    return "\n".join(parts)


def _entry(name: str, value: Any) -> str:
    error = isinstance(value, type) and issubclass(value, (Exception, Warning))
    made = isinstance(value, type) and is_dataclass(value) and _is_large_result(value)
    line = f"{inspect.getdoc(value)}\n\n".split("\n\n")[0].replace("\n", " ").replace("``", "`")
    return f"- `{name if error or made else _signature(name, value)}`: {line}"


def _is_large_result(kind: Any) -> bool:
    """Whether a dataclass is made by functions rather than by users, or has too many fields to list."""
    required = [one for one in fields(kind) if one.default is MISSING and one.default_factory is MISSING]
    return (len(fields(kind)) > 4 and len(required) > 1) or len(fields(kind)) > 8


def _signature(name: str, found: Any) -> str:
    """Names and defaults; where a type is a Protocol or has no signature of its own, the name alone."""
    try:
        signature = inspect.signature(found)
    except ValueError:
        return name
    plain = [one.replace(annotation=inspect.Parameter.empty) for one in signature.parameters.values()]
    if any(one.kind is one.VAR_POSITIONAL for one in plain):
        return name
    text = str(inspect.Signature(plain))
    text = re.sub(r"\((?:'[^']*', ){3,}'[^']*'\)", "…", text)
    return name + re.sub(r"<factory>|<class '\w+'>|<function .*? at 0x[0-9a-f]+>", "…", text)


def _made_by(module: str) -> Callable[[], str]:
    """The page that a module of tools/ makes."""

    def page() -> str:
        sys.path.insert(0, str(ROOT))
        made: str = import_module(f"tools.{module}").page()
        return made

    return page


# page of docs/ → what writes it
PAGES: dict[str, Callable[[], str]] = {
    "cli.md": command_reference,
    "api.md": api_page,
    "metrics.md": _made_by("metric_pages"),
    "notes.md": _made_by("note_cases"),
    "recipes.md": _made_by("recipe_cases"),
    "troubleshooting.md": _made_by("mistake_cases"),
}


def main() -> int:
    stale = {name: text for name, make in PAGES.items() if _written(name) != (text := make())}
    if "--check" in sys.argv:
        return int(bool(stale))
    for name, text in stale.items():
        (ROOT / "docs" / name).write_text(text, "utf-8")
    return 0


def _written(name: str) -> str:
    """The page as it is now."""
    path = ROOT / "docs" / name
    return path.read_text("utf-8") if path.exists() else ""


if __name__ == "__main__":
    sys.exit(main())

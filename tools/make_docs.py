"""Writes what is generated again: the references of the command line and of Python, the type stub, the notes."""

from __future__ import annotations

import inspect
import re
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent


def command_reference() -> str:
    """Every verb's help as Markdown."""
    from wholetext.cli.main import VERBS, command, function

    lines = ["# Command line", "", "Made by `make docs` from the commands themselves.", ""]
    for name in sorted(VERBS):
        found = command(name, function(name))
        lines += _section(f"wholetext {name}", found)
        for sub, inner in sorted(getattr(found, "commands", {}).items()):
            lines += _section(f"wholetext {name} {sub}", inner)
    return "\n".join(lines)


def _section(title: str, command: object) -> list[str]:
    lines = [f"## {title}", "", (command.help or "").strip(), ""]  # type: ignore[attr-defined]
    rows = []
    for param in command.params:  # type: ignore[attr-defined]
        option = param.param_type_name == "option"
        names = ", ".join(param.opts) if option else param.name.upper()
        choices = getattr(param.type, "choices", None)
        kind = " \\| ".join(map(str, choices or _kind(param).split("|")))
        default = "" if param.default in (None, False, (), []) or callable(param.default) else f"`{param.default}`"
        if names != "--help":
            rows.append(f"| `{names}` | {kind} | {default} | {getattr(param, 'help', '') or ''} |")
    return [*lines, "| option | takes | default | |", "|---|---|---|---|", *rows, ""] if rows else lines


def _kind(param: Any) -> str:
    """What an option takes, in a word."""
    return str(param.metavar or param.type.name) if param.param_type_name == "option" else str(param.type.name)


API = """# Python

Everything the command line can do is a function of `wholetext`. Made by `make docs` from the functions themselves.

| command | Python |
|---|---|
| `score` | `read` or `from_texts`, then `make_run`, `log_run`; `score`, `evaluate` and `score_texts` for scores alone |
| `rank` | `rank` |
| `sample` | `sample`, then `make_campaign` |
| `annotations` | `read_pearmut`, then `write_judgments` |
| `compare` | `open_run`, then `compare_run`; `compare` for the scores of one metric |
| `gate` | `gate` |
| `report`, `explain` | `report`, `plot`; `explain` |
| `plan`, `sweep`, `align` | `plan`; `sweep`, `write_sweep`; `align`, `write` |
| `meta`, `paragraphs`, `features` | `meta_evaluate`, `paragraph_sets`, `discriminativeness` |
| `spans` | `read_spans`, then `evaluate_spans` or `rater_spans` |
| `contrast` | `read_contrast_set`, then `contrast` |
| `judge-check` | `judge_check`, `write_judge_check` |
| `stress` | `wholetext.stress.stress`, `write_stress`; `perturb` for the changed documents alone, `list_changes` |
| `serve` | `serve` |
| `train` | `make_recipe`, then `train` |
| `list`, `cache` | `list_metrics`, `Cache` |
| `models` | `list_models`, `show_model`, `fetch_model`, `verify_model` |
"""


def api_page() -> str:
    """Every public name with its signature and the first line of its docstring."""
    import wholetext

    sections: dict[str, list[str]] = {"Functions": [], "Classes": [], "Errors": []}
    for name in wholetext.__all__:
        found = getattr(wholetext, name)
        if name in ("__version__", "FloatArray"):
            continue
        error = isinstance(found, type) and issubclass(found, (Exception, Warning))
        kind = "Errors" if error else "Classes" if isinstance(found, type) else "Functions"
        line = f"{inspect.getdoc(found)}\n\n".split("\n\n")[0].replace("\n", " ").replace("``", "`")
        sections[kind].append(f"### {name}\n" + ("" if error else f"`{_signature(name, found)}`\n\n") + f"{line}\n")
    parts = [API, *(f"## {title}\n\n" + "\n".join(entries) for title, entries in sections.items())]
    return "\n".join(parts)


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
    return name + re.sub(r"<factory>|<class '\w+'>|<function .*? at 0x[0-9a-f]+>", "…", text)


def type_stub() -> str:
    """The public names as type checkers and editors see them."""
    import wholetext

    lines = ['"""Made by `make docs` from the table of public names in __init__.py."""', ""]
    for module, names in sorted(wholetext._PUBLIC.items()):
        lines += [f"from wholetext.{module} import {name} as {name}" for name in names]
    return "\n".join([*lines, "from wholetext.version import __version__ as __version__", ""])


def notes_page() -> str:
    """Every note that a run can carry."""
    sys.path.insert(0, str(ROOT / "tools"))
    from note_cases import page

    return page()


def metrics_page() -> str:
    """Every metric: formula, paper, parameters, range, cost, use."""
    sys.path.insert(0, str(ROOT / "tools"))
    from metric_pages import page

    return page()


def troubleshooting_page() -> str:
    """Typical mistakes and how they are answered, each run now."""
    sys.path.insert(0, str(ROOT / "tools"))
    from mistake_cases import page

    return page()


def main() -> int:
    pages = {ROOT / "docs" / "cli.md": command_reference(), ROOT / "docs" / "api.md": api_page(),
             ROOT / "docs" / "metrics.md": metrics_page(), ROOT / "docs" / "notes.md": notes_page(),
             ROOT / "docs" / "troubleshooting.md": troubleshooting_page(),
             ROOT / "src" / "wholetext" / "__init__.pyi": type_stub()}  # fmt: skip
    if "--check" in sys.argv:
        return int(any(not page.exists() or page.read_text("utf-8") != text for page, text in pages.items()))
    for page, text in pages.items():
        page.write_text(text, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

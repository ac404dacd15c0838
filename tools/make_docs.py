"""Writes what is generated again: the command line reference and the page of notes."""

from __future__ import annotations

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


def notes_page() -> str:
    """Every note that a run can carry."""
    sys.path.insert(0, str(ROOT / "tools"))
    from note_cases import page

    return page()


def main() -> int:
    pages = {ROOT / "docs" / "cli.md": command_reference(), ROOT / "docs" / "notes.md": notes_page()}
    if "--check" in sys.argv:
        return int(any(not page.exists() or page.read_text("utf-8") != text for page, text in pages.items()))
    for page, text in pages.items():
        page.write_text(text, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

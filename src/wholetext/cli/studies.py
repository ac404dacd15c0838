"""The end of every study command: a picture beside its JSON, and the next step."""

from __future__ import annotations

import shlex
from pathlib import Path

from wholetext.cli import terminal
from wholetext.errors import MissingExtra


def finish(out: Path | None, name: str, format: str = "table") -> None:
    """Draw the picture of the study that was written to ``out``; below a table, name the files."""
    lines = ["next: -f json for everything; --out FOLDER for a picture and a report"]
    if out is not None:
        folder = shlex.quote(terminal.printable(str(out)))
        try:
            from wholetext.reporting.figures import write_picture

            picture = write_picture(out / name)
            lines = [f"picture: {terminal.printable(str(picture))}"] if picture else []
        except MissingExtra:
            lines = ["no picture: it needs the extra `report` (altair); the report draws the same"]
        lines.append(f"next: wholetext report {folder}")
    if format == "table":
        print("\n" + "\n".join(lines))

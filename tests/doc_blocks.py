"""The code blocks of README.md and docs/: their language, text, and why one is not run."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
MARK = r"(?:^<!-- (?:not run: (?P<why>[^\n]+)|needs: (?P<needs>\w+)) -->\n)?"
BLOCK = re.compile(MARK + r"^(?P<indent> *)```(?P<info>[^\n]*)\n(?P<text>.*?)^(?P=indent)```$", re.M | re.S)
LANGUAGES = {"sh", "python", "text", "toml", "json", "xml", "{toctree}"}


@dataclass(frozen=True)
class Block:
    page: Path
    language: str
    text: str
    why: str | None  # it is not run
    needs: str | None  # it is run where this package is installed


def blocks(page: Path) -> list[Block]:
    found = BLOCK.finditer(page.read_text("utf-8"))
    return [Block(page, one["info"].split(" ")[0], one["text"], one["why"], one["needs"]) for one in found]


ALL = [block for page in PAGES for block in blocks(page)]
RUN = sorted({block.page for block in ALL if block.language in ("sh", "python") and block.why is None})


def commands(text: str) -> list[list[str]]:
    """The commands of a shell block: a line each, or several joined by &&; comments are left out."""
    found: list[list[str]] = []
    for line in text.replace("\\\n", " ").splitlines():
        found.append([])
        for word in shlex.split(line, comments=True):
            if word == "&&":
                found.append([])
            else:
                found[-1].append(word)
    return [command for command in found if command]

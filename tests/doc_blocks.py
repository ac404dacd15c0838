"""The code blocks of README.md and docs/: their language, text, and why one is not run."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
MARK = r"(?:^<!-- (?:not run: (?P<why>[^\n]+)|needs: (?P<needs>\w+)|data: (?P<data>[^\n]+)) -->\n)?"
BLOCK = re.compile(MARK + r"^(?P<indent> *)```(?P<info>[^\n]*)\n(?P<text>.*?)^(?P=indent)```$", re.M | re.S)
LANGUAGES = {"sh", "python", "text", "toml", "json", "xml", "{toctree}"}


@dataclass(frozen=True)
class Block:
    page: Path
    language: str
    text: str
    why: str | None  # it is not run
    needs: str | None  # it is run where this package is installed
    data: tuple[str, ...]  # it is run where the folder of real data has these files
    name: str  # the file that it shows
    next_line: bool = False  # it begins on the line after another block: output of its commands


def blocks(page: Path) -> list[Block]:
    found, end, made = BLOCK.finditer(page.read_text("utf-8")), -1, []
    for one in found:
        follows = one.start() == end + 1
        language, _, name = one["info"].partition(" ")
        data = tuple((one["data"] or "").split())
        made.append(Block(page, language, one["text"], one["why"], one["needs"], data, name, follows))
        end = one.end()
    return made


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


def unprinted(shown: str, printed: str) -> list[str]:
    """Lines of a block of output that a command did not print, in this order; … stands for anything."""
    rest, missing = [line.rstrip() for line in printed.splitlines()], []
    for line in shown.splitlines():
        if line.strip() in ("", "…"):
            continue
        pattern = re.compile(re.escape(line.rstrip()).replace("…", ".*"))
        place = next((place for place, candidate in enumerate(rest) if pattern.fullmatch(candidate)), None)
        if place is None:
            missing.append(line)
        else:
            rest = rest[place + 1 :]
    return missing

"""Counts the words of the documentation by section of the site, and names paragraphs of more than 100 words.

``python tools/count_words.py``: every word of a Markdown file counts, those of tables and code too (as ``wc -w``).
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
LONG = 100
SECTION = re.compile(r"```\{toctree\}\n:caption: (.+?)\n.*?\n\n(.+?)\n```", re.S)


def sections() -> dict[str, list[Path]]:
    """Caption of a section of docs/index.md → its pages that are files of docs/."""
    listed = SECTION.findall((DOCS / "index.md").read_text("utf-8"))
    pages = {caption: [DOCS / f"{name}.md" for name in names.split()] for caption, names in listed}
    return {caption: [page for page in files if page.exists()] for caption, files in pages.items()}


def words(page: Path) -> int:
    return len(page.read_text("utf-8").split())


def long_paragraphs(page: Path) -> list[str]:
    """The beginnings of paragraphs and list items of more than 100 words; tables and code are left out."""
    prose = re.sub(r"^ *```.*?^ *```$", "", page.read_text("utf-8"), flags=re.M | re.S)
    parts = re.split(r"\n\s*\n|\n(?=- |\d+\. |\|)", prose)
    return [part[:60] for part in parts if len(part.split()) > LONG and not part.lstrip().startswith("|")]


def main() -> int:
    pages = sections()
    for caption, files in pages.items():
        each = ", ".join(f"{page.stem} {words(page):,}" for page in files)
        print(f"{caption:12} {sum(map(words, files)):7,}   {each}")
    print(f"{'all':12} {sum(words(page) for page in DOCS.rglob('*.md')):7,}")
    everything = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]
    paragraphs = [(page, text) for page in everything for text in long_paragraphs(page)]
    for page, text in paragraphs:
        print(f"{page.relative_to(ROOT)}: more than {LONG} words: {text!r}")
    return int(bool(paragraphs))


if __name__ == "__main__":
    sys.exit(main())

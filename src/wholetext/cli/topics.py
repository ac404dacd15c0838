"""`wholetext help TOPIC`: pages of the documentation in the terminal.

The wheel has copies of these pages of docs/ (pyproject.toml, force-include); a checkout reads docs/.
"""

from __future__ import annotations

import re
import textwrap
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from wholetext.cli.terminal import columns
from wholetext.errors import InputError, known

PAGES = (Path(__file__).parents[1] / "pages", Path(__file__).parents[3] / "docs")
TOPICS = {
    "align": "outputs with other sentence breaks",
    "blonde": "BlonDe: categories and their tables",
    "concepts": "views, context and windows",
    "contrast": "contrastive sets",
    "degenerate": "flags: degenerate output, lost formats",
    "formats": "files that are read and written",
    "integrations": "harnesses, training loops, experiment trackers",
    "judges": "LLM judges: servers, prices, settings",
    "meta": "metrics against human judgments",
    "models": "models: downloading, licences, devices",
    "neural": "metrics with a model: inputs, context, limits",
    "papers": "reproduced tables and figures of the papers",
    "pick": "the best of several candidates, filtering of bitext",
    "plugins": "metrics, formats and commands of your own",
    "ranking": "one ranking from many metrics",
    "sampling": "documents for people to judge",
    "serve": "the web page and its addresses",
    "significance": "tests, intervals, rank clusters",
    "stress": "controlled errors",
    "sweeps": "grids of context and window sizes",
    "taggers": "taggers by language",
    "terms": "glossaries and consistent terms",
    "train": "training a metric",
    "troubleshooting": "messages and what to do",
}
_FIXED = re.compile(r"(^ *```.*?^ *```$|^ *\|[^\n]*$)", re.DOTALL | re.MULTILINE)  # code, tables
_COMMENT = re.compile(r"<!--.*?-->\n?", re.DOTALL)
_WRAP = re.compile(
    r"^(- |\d+\. |)(?!#|- |\d+\. )\S.*(?:\n(?!#|- |\d+\. )\S.*|\n +\S.*)*", re.MULTILINE
)
_LINK = re.compile(r"!?\[([^]]*)\]\((?!http)([^)]*)\)")


def help_(
    topic: Annotated[str, Parameter(help="Topic, or a command (default: list the topics).")] = "",
    /,
) -> None:
    """Read about a topic: formats, judges, taggers and others.

    Examples:
        wholetext help
        wholetext help formats
        wholetext help score
    """
    from wholetext.cli.main import COMMANDS, main

    if not topic:
        print("Topics:")
        for name, text in TOPICS.items():
            print(f"  {name:<16} {text}")
        print(
            "\n`wholetext help TOPIC` prints one, `wholetext help COMMAND` the help of a command."
        )
    elif topic in TOPICS:
        print(page(topic))
        if topic in COMMANDS:
            print(f"\n`wholetext {topic} --help` shows examples and options.")
    else:
        known("topic", topic, [*TOPICS, *COMMANDS], where="wholetext help")
        main([topic, "--help"])


def page(topic: str) -> str:
    """The page of a topic as plain text: without comments and targets of links, prose wrapped."""
    path = next((p for folder in PAGES if (p := folder / f"{topic}.md").is_file()), None)
    if path is None:
        raise InputError(f"the page {topic} is not installed", next="reinstall wholetext")
    text = _LINK.sub(r"\1", _COMMENT.sub("", path.read_text("utf-8"))).strip()
    parts = _FIXED.split(text)
    return "".join(part if at % 2 else _WRAP.sub(_wrapped, part) for at, part in enumerate(parts))


def _wrapped(paragraph: re.Match[str]) -> str:
    """Wrap a paragraph or an entry of a list to the terminal."""
    indent = " " * len(paragraph[1])
    text = " ".join(paragraph[0].split())
    return textwrap.fill(text, columns(), subsequent_indent=indent, break_on_hyphens=False)

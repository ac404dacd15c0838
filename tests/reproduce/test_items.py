"""What docs/papers.md says one can type for an item of the papers exists: metrics, commands, options, entries."""

from __future__ import annotations

import re
from functools import cache

import pytest
import tomllib

from tests.in_process import call
from tools import papers_page
from wholetext.cli.main import VERBS
from wholetext.registry import scorer
from wholetext.reproduce import papers

ITEMS = {f"{letter}: {name}": (letter, status)
         for letter, table in tomllib.loads((papers_page.FOLDER / "items.toml").read_text("utf-8")).items()
         for name, status in table.items()}
WORDS = {"wmt-z", "wmt-raw", "runs = 5"}  # names of golds, settings of recipes
GROUPS = {"meta": "agreement", "annotate": "read"}  # the command that a group stands for where none is named


@cache
def options_of(command: str) -> frozenset[str]:
    capsys = options_of.capsys  # type: ignore[attr-defined]
    code, out, _ = call(capsys, *command.split(), "--help-all")
    assert code == 0, f"{command} is no command"
    return frozenset(re.findall(r"(?<![\w-])--?[a-z][\w-]*", out))


@pytest.mark.parametrize("item", ITEMS)
def test_what_an_item_names_exists(item: str, capsys: pytest.CaptureFixture[str]) -> None:
    options_of.capsys = capsys  # type: ignore[attr-defined]
    letter, status = ITEMS[item]
    for code in re.findall(r"`([^`]+)`", status):
        first, *rest = code.split()
        if first == "reproduce":
            assert rest[1] in papers()[rest[0]].entries
        elif code in papers()[letter].entries or code in WORDS:
            continue
        elif first in {verb.split()[0] for verb in VERBS}:
            command = " ".join([first, *rest[:1]])
            if command not in VERBS:
                command = f"{first} {GROUPS[first]}" if first in GROUPS else first
            assert {word for word in rest if word.startswith("-")} <= options_of(command), code
            for spec in rest[rest.index("-m") + 1:] if "-m" in rest else ():
                scorer(spec)
        elif "…" not in code:
            spec = code.replace("METRIC", "chrf")
            scorer(spec)

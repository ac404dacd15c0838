"""Old names of commands and options, answered with the new ones and the user's own arguments."""

from __future__ import annotations

import shlex
from collections.abc import Mapping

from wholetext.errors import InputError

COMMANDS = {
    "plan": "score --plan",
    "sweep": "score",
    "features": "explain --features",
    "show": "list",
    "contrast": "meta contrast",
    "stress": "meta stress",
    "spans": "meta spans",
    "judge-check": "meta judges",
    "paragraphs": "meta paragraphs",
    "sample": "annotate sample",
    "annotations": "annotate read",
}
_GRID = {
    f"--{axis}": f"{axis}=" for axis in ("context", "window", "hyp", "source", "step", "partial")
}
# Command → old option → new one; `axis=` becomes a setting of --sweep.
OPTIONS: Mapping[str, Mapping[str, str]] = {
    "": {"--docs": "--docids", "--width": "--decimals"},
    "score": _GRID,
    "compare": {"--output": "--component"},
    "report": {"--segments": "--max-segments"},
    "align": {"--all": "--realign", "--to": "--align-to"},
    "meta": {**_GRID, "--test-set": "--conventions"},
    "meta agreement": {**_GRID, "--test-set": "--conventions"},
    "meta contrast": {"--documents": "--context-from", "--split": "--intra"},
    "meta stress": {},
    "meta spans": {"--raters": "--compare-raters"},
    "meta judges": {"--samples": "--answers"},
    "meta paragraphs": {"--tokens": "--tokenizer"},
    "annotate sample": {
        "--documents": "--number",
        "--method": "--by",
        "--controls": "--control-share",
        "--no-source": "--hide-source",
    },
    "train": {"--human": "--gold", "--rate": "--learning-rate"},
    "reproduce": {"--check": "--needs"},
}


def modern(words: list[str]) -> list[str]:
    """The same command line with the names of today; equal to ``words`` where none is old."""
    command = COMMANDS.get(words[0], words[0]).split()
    rest = words[1:]
    path = " ".join([*command, *rest[:1]]) if command == words[:1] else " ".join(command[:2])
    names = next((OPTIONS[key] for key in (path, command[0]) if key in OPTIONS), {})
    names = {**OPTIONS[""], **names}
    line, settings = list[str](), list[str]()
    while rest:
        word = rest.pop(0)
        name, equals, value = word.partition("=")
        new = names.get(name, name) if name.startswith("--") else name
        if new.endswith("="):
            settings.append(new + (value if equals else "".join(rest[:1])))
            rest = rest if equals else rest[1:]
        else:
            line.append(new + equals + value)
    return [*command, *line, *(["--sweep", *settings] if settings else [])]


def error(words: list[str], current: list[str]) -> InputError:
    """Tell the new name, and the whole command to type instead."""
    old = words[0] if words[0] in COMMANDS else next(w for w in words if w not in current)
    kind = "command" if old == words[0] else "option"
    return InputError(
        f"the {kind} {old} has another name now",
        where="wholetext",
        next=f"write: {shlex.join(['wholetext', *current])}",
    )

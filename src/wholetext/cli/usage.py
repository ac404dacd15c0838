"""Usage errors found by typer, in the form of every other error: what, where, the next step."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from wholetext.errors import InputError, did_you_mean


def usage_error(fault: Exception, argv: Sequence[str]) -> InputError | None:
    """The error to show instead of an exception of typer's parser; None for other exceptions."""
    format_message = getattr(
        fault, "format_message", None
    )  # of the parser's exceptions, whichever version it is
    if format_message is None:
        return None
    context: Any = getattr(fault, "ctx", None)
    where = context.command_path if context else " ".join(["wholetext", *argv[:1]])
    listed = f"`{where} -h` lists the options"
    options = [name for one in context.command.params for name in one.opts] if context else []
    if type(fault).__name__ == "NoSuchOption":
        word = str(getattr(fault, "option_name", ""))
        near = (
            did_you_mean(word, [name for name in options if name.startswith("--")])
            if word[:2] == "--"
            else ""
        )
        return InputError(f"there is no option {word}", where=where, next=near or listed)
    said, _, near = (
        format_message().rstrip(".").replace("argument(s)", "argument").partition(". Did you mean ")
    )
    if extra := re.fullmatch(r"Got unexpected extra arguments? \((.*)\)", said):
        if {"-t", "-r"} <= {*options}:
            listed = (
                "outputs are given with -t FILE …, references with -r FILE, sources with -s FILE"
            )
        elif option := _option_before(extra[1].split()[0], argv):
            listed = f"{option} takes one value, and is repeated for several: {option} A {option} B"
        return InputError(f"unexpected argument {extra[1]}", where=where, next=listed)
    if said.startswith("No such command"):
        listed = f"`{where} -h` lists the commands"
    return InputError(
        said[:1].lower() + said[1:], where=where, next=f"did you mean {near}" if near else listed
    )


def _option_before(word: str, argv: Sequence[str]) -> str:
    """The option whose value directly precedes a word, or ""."""
    at = argv.index(word) if word in argv else 0
    return (
        argv[at - 2]
        if at > 2 and argv[at - 2].startswith("-") and not argv[at - 1].startswith("-")
        else ""
    )


def asks_for_help(fault: Exception) -> bool:
    """Whether a command group was called without a subcommand: the message is its help."""
    return type(fault).__name__ == "NoArgsIsHelpError"

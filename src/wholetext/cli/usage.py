"""Usage errors of typer in the form of all other errors: what, where, the next step."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from wholetext.errors import InputError, did_you_mean


def usage_error(fault: Exception, argv: Sequence[str]) -> InputError | None:
    """Translate an exception of typer's parser; None for any other exception."""
    format_message = getattr(fault, "format_message", None)  # only the parser's exceptions have it
    if format_message is None:
        return None
    context: Any = getattr(fault, "ctx", None)
    where = context.command_path if context else " ".join(["wholetext", *argv[:1]])
    options = [name for one in context.command.params for name in one.opts] if context else []
    hint = f"`{where} -h` lists the options"
    if type(fault).__name__ == "NoSuchOption":
        option = str(getattr(fault, "option_name", ""))
        long = [name for name in options if name.startswith("--")]
        near = did_you_mean(option, long) if option.startswith("--") else ""
        return InputError(f"there is no option {option}", where=where, next=near or hint)
    message = format_message().rstrip(".").replace("argument(s)", "argument")
    message, _, near = message.partition(". Did you mean ")
    if extra := re.fullmatch(r"Got unexpected extra arguments? \((.*)\)", message):
        message = f"unexpected argument {extra[1]}"
        if {"-t", "-r"} <= {*options}:
            hint = "outputs are given with -t FILE …, references with -r FILE, sources with -s FILE"
        elif option := _option_before(extra[1].split()[0], argv):
            hint = f"{option} takes one value, and is repeated for several: {option} A {option} B"
    elif message.startswith("No such command"):
        hint = f"`{where} -h` lists the commands"
    return InputError(
        message[:1].lower() + message[1:],
        where=where,
        next=f"did you mean {near}" if near else hint,
    )


def _option_before(word: str, argv: Sequence[str]) -> str:
    """Find the option whose value directly precedes a word; "" if there is none."""
    at = argv.index(word) if word in argv else 0
    before = at > 2 and argv[at - 2].startswith("-") and not argv[at - 1].startswith("-")
    return argv[at - 2] if before else ""

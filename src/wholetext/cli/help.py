"""Help in plain text: commands by purpose, options by subject.

``--help`` leaves out rare options; ``--help-all`` has them. The placeholder of an option's value is
the first word in capitals between backquotes in its help: "Source `FILE`, one segment per line."
"""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args, get_origin

if TYPE_CHECKING:
    from cyclopts import App

# One line of 80 columns for each command; `wholetext COMMAND --help` has its docstring.
COMMANDS = {
    "Score and compare systems": {
        "score": "Score systems on whole documents",
        "compare": "Show differences between systems, intervals and p-values",
        "gate": "Exit with code 1 if a system got significantly worse",
        "rank": "Rank systems by several metrics at once (AutoRank)",
        "report": "Write an HTML report of a run",
        "explain": "Explain the score of a document",
        "plan": "Show what would be scored, without running models",
        "sweep": "Score over a grid of context or window sizes",
        "align": "Align outputs that have other sentence breaks",
        "convert": "Write a corpus in another format",
        "features": "Compare discourse features of outputs and references",
    },
    "Evaluate metrics, use human judgments": {
        "meta": "Evaluate metrics against human scores",
        "contrast": "Evaluate metrics on a contrastive set",
        "stress": "Test metrics with controlled errors",
        "spans": "Evaluate the error spans of metrics",
        "judge-check": "Check LLM judges for bias and consistency",
        "paragraphs": "Split rated documents into paragraphs",
        "sample": "Choose documents for human annotation",
        "annotations": "Read the annotations of a Pearmut campaign",
        "train": "Train a metric on human scores",
        "reproduce": "Compute tables and figures of the papers again",
    },
    "Other": {
        "demo": "Score the bundled documents",
        "serve": "Run a local web page for scoring",
        "list": "List metrics, aliases and views",
        "show": "Explain a metric or a view",
        "models": "List, download and verify models",
        "cache": "Show or clear the cache of scores",
    },
}
_BY_TYPE = {"int": "N", "float": "NUMBER", "str": "NAME", "Path": "PATH", "bool": ""}
_NO_DEFAULT: tuple[Any, ...] = (None, False, "", [], (), inspect.Parameter.empty)
_PLACEHOLDER = re.compile("`([A-Z]+)`")
_INDENT = 26  # column of the explanations


class OptionHelp(NamedTuple):
    """An option or argument of a command, as help lists it."""

    names: tuple[str, ...]
    takes: str  # placeholder of its value, "" for a flag
    default: str
    text: str
    section: str
    rare: bool
    positional: bool
    required: bool


def overview(sections: Mapping[str, Mapping[str, str]]) -> str:
    """Help of ``wholetext`` itself: commands and what they do, by section."""
    lines = [
        "Usage: wholetext COMMAND [OPTIONS]",
        "",
        "Judge translations and other generated text as whole documents.",
    ]
    width = max(len(name) for section in sections.values() for name in section)
    for title, section in sections.items():
        if section:
            lines += ["", f"{title}:"]
            lines += [f"  {name:<{width}}  {text}" for name, text in section.items()]
    lines += [
        "",
        "Start with `wholetext demo`. `wholetext list` names the metrics,",
        "`wholetext COMMAND --help` the options of a command. Others: --version,",
        "--debug (tracebacks), --install-completion (of the shell).",
    ]
    return "\n".join(lines)


def of_command(app: App, path: str, width: int, everything: bool = False) -> str:
    """Help of a command with options, or of one with subcommands."""
    if app.default_command is None:
        lines = [f"Usage: {path} COMMAND [OPTIONS]", "", app.help, "", "Commands:"]
        for name in app:
            if not name.startswith("-"):
                text = str(inspect.getdoc(app[name].default_command)).partition("\n")[0]
                lines.append(f"  {name:<10}  {text.rstrip('.')}")
        return "\n".join(lines)
    listed = list(entries(app))
    arguments = [e.takes if e.required else f"[{e.takes}]" for e in listed if e.positional]
    lines = [" ".join(["Usage:", path, *arguments, "[OPTIONS]"]), ""]
    for paragraph in (inspect.getdoc(app.default_command) or "").split("\n\n"):
        lines += [*textwrap.wrap(paragraph, width, break_on_hyphens=False), ""]
    shown = [entry for entry in listed if everything or not entry.rare]
    for title in dict.fromkeys(entry.section for entry in shown):
        lines.append(f"{title}:")
        for entry in shown:
            if entry.section == title:
                lines += _lines(entry, width)
        lines.append("")
    if len(shown) < len(listed):
        lines.append(f"{len(listed) - len(shown)} more options: {path} --help-all")
    return "\n".join(lines).rstrip()


def entries(app: App) -> Iterator[OptionHelp]:
    """The arguments and options of a command, in its order."""
    for argument in app.assemble_argument_collection():
        if argument.names == ("*",):  # a group of options, which follow
            continue
        parameter, positional = argument.parameter, argument.index is not None
        text, default = parameter.help or "", argument.field_info.default
        groups = [str(getattr(group, "name", group)) for group in parameter.group or ()]  # type: ignore[union-attr]
        yield OptionHelp(
            argument.names,
            _placeholder(argument),
            "" if argument.required or default in _NO_DEFAULT else str(default),
            _PLACEHOLDER.sub(r"\1", text),
            next((name for name in groups if name not in ("Parameters", "Arguments")), "Options"),
            parameter.show is False,
            positional,
            argument.required,
        )


def _placeholder(argument: Any) -> str:
    """Name the value of an option or argument: its choices, a word of its help, or its type."""
    kind, positional = argument.hint, argument.index is not None
    choices = [get_args(part) for part in (kind, *get_args(kind)) if get_origin(part) is Literal]
    word = _PLACEHOLDER.search(argument.parameter.help or "")
    if choices:
        name = "|".join(map(str, choices[0]))
    elif word:
        name = word[1]
    elif positional:
        name = argument.name.lstrip("-").upper()
    else:
        name = _BY_TYPE.get(_scalar(kind), "VALUE")
    several = argument.parameter.consume_multiple or (positional and get_origin(kind) is list)
    return f"{name} …" if several else name


def _scalar(kind: Any) -> str:
    """Name the type of a value: that of the items of a list, without None."""
    parts = [part for part in get_args(kind) if part is not type(None)]
    return _scalar(parts[0]) if parts else getattr(kind, "__name__", "")


def _lines(entry: OptionHelp, width: int) -> list[str]:
    """An option and what it does, wrapped with a hanging indent."""
    text = f"{entry.text} [{entry.default}]" if entry.default else entry.text
    if entry.required and not entry.positional:
        text += " (required)"
    names = () if entry.positional else (", ".join(entry.names),)
    head = f"  {' '.join([*names, entry.takes])}".rstrip()
    lines = textwrap.wrap(text, width - _INDENT, break_on_hyphens=False)
    if len(head) <= _INDENT - 2:
        head = f"{head:<{_INDENT}}{lines.pop(0)}"
    return [head, *(" " * _INDENT + line for line in lines)]

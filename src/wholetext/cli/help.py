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

from wholetext.errors import count

if TYPE_CHECKING:
    from cyclopts import App

# One line of 80 columns for each command; `wholetext COMMAND --help` has its docstring. Those without
# a title are hidden. A name without a command, of a slice that is absent, is not listed.
COMMANDS = {
    "Score and compare systems": {
        "score": "Score systems on whole documents",
        "compare": "Show differences between systems, intervals and p-values",
        "explain": "Explain the score of a document",
        "report": "Write an HTML report of a run",
        "rank": "Rank systems by several metrics at once (AutoRank)",
        "gate": "Exit with code 1 if a system got significantly worse",
        "align": "Align outputs that have other sentence breaks",
        "pick": "Choose the best of several candidates, or lines of bitext",
        "convert": "Write a corpus in another format",
    },
    "Evaluate and train metrics": {
        "meta": "Evaluate metrics: human scores, contrast, stress, spans, judges",
        "train": "Train a metric on human scores",
        "annotate": "Choose documents for people to judge, read their judgments",
        "reproduce": "Compute tables and figures of the papers again",
    },
    "Other": {
        "list": "List metrics, aliases and views, or explain one",
        "models": "List, download and verify models",
        "serve": "Run a local web page for scoring",
        "demo": "Score the bundled documents",
        "help": "Read about a topic: formats, judges, taggers …",
    },
    "": {"cache": "Show or clear the cache of scores"},
}
GROUPS = {
    "meta": "Evaluate metrics. `meta PATH` is `meta agreement PATH`; a folder named like a command is "
    "written `./spans`.",
    "annotate": "Choose documents for people to judge, and read their judgments.",
}
DEFAULTS = {"meta": "agreement"}  # command of a group that is run where none is named
EXAMPLES = "Examples:\n"  # section of a docstring: one command per line
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
        "`wholetext COMMAND --help` shows examples and options. Others: --version,",
        "--debug (tracebacks), --install-completion (of the shell).",
    ]
    return "\n".join(lines)


def of_command(app: App, path: str, width: int, everything: bool = False) -> str:
    """Help of a command with options, or of one with subcommands."""
    if app.default_command is None:
        introduction = textwrap.wrap(app.help, width, break_on_hyphens=False)
        lines = [f"Usage: {path} COMMAND [OPTIONS]", "", *introduction, "", "Commands:"]
        for name in app:
            if not name.startswith("-"):
                text = str(inspect.getdoc(app[name].default_command)).partition("\n")[0]
                lines.append(f"  {name:<10}  {text.rstrip('.')}")
        lines += ["", f"`{path} COMMAND --help` has examples and options."]
        return "\n".join(lines)
    listed = list(entries(app))
    arguments = [e.takes if e.required else f"[{e.takes}]" for e in listed if e.positional]
    lines = [" ".join(["Usage:", path, *arguments, "[OPTIONS]"]), ""]
    for paragraph in (inspect.getdoc(app.default_command) or "").split("\n\n"):
        if paragraph.startswith(EXAMPLES):
            lines += ["Examples:", *(f"  {line}" for line in examples(app)), ""]
        else:
            lines += [*textwrap.wrap(paragraph, width, break_on_hyphens=False), ""]
    shown = [entry for entry in listed if everything or not entry.rare]
    for title in dict.fromkeys(entry.section for entry in shown):
        lines.append(f"{title}:")
        for entry in shown:
            if entry.section == title:
                lines += _lines(entry, width)
        lines.append("")
    if len(shown) < len(listed):
        lines.append(f"{count(len(listed) - len(shown), 'more option')}: {path} --help-all")
    return "\n".join(lines).rstrip()


def examples(app: App) -> list[str]:
    """The command lines that the docstring of a command shows."""
    text = (inspect.getdoc(app.default_command) or "").partition(EXAMPLES)[2]
    return [line.strip() for line in text.split("\n\n")[0].split("\n") if line.strip()]


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
            "" if argument.required or default in _NO_DEFAULT or default is True else str(default),
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
    listed = [name for name in entry.names if name[:-1] not in entry.names]  # no plural
    names = () if entry.positional else (", ".join(listed),)
    head = f"  {' '.join([*names, entry.takes])}".rstrip()
    lines = textwrap.wrap(text, width - _INDENT, break_on_hyphens=False)
    if len(head) <= _INDENT - 2:
        head = f"{head:<{_INDENT}}{lines.pop(0)}"
    return [head, *(" " * _INDENT + line for line in lines)]

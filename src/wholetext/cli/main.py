"""The `wholetext` command: the table of commands; errors become messages and exit codes here."""

from __future__ import annotations

import gc
import os
import re
import sys
import warnings
from contextlib import redirect_stdout
from typing import TYPE_CHECKING, Any

from wholetext import plugins, slices
from wholetext.cli import help, renamed
from wholetext.cli.terminal import Guarded, columns, printable
from wholetext.errors import InputError, WholetextError, WholetextWarning, did_you_mean
from wholetext.version import __version__

if TYPE_CHECKING:
    from cyclopts import App, CycloptsError

# Command → its function, or cyclopts app if it has subcommands; imported when used, so that help
# is fast. `group command` is a subcommand. Slices add theirs.
VERBS = {
    "score": "wholetext.cli.score:score",
    "compare": "wholetext.cli.runs:compare",
    "gate": "wholetext.cli.runs:gate",
    "report": "wholetext.cli.runs:report",
    "explain": "wholetext.cli.runs:explain",
    "convert": "wholetext.cli.convert:convert",
    "list": "wholetext.cli.about:list_",
    "models": "wholetext.cli.about:models",
    "demo": "wholetext.cli.score:demo",
    "help": "wholetext.cli.topics:help_",
    "cache": "wholetext.cli.about:cache",
    **slices.added("commands"),
}
COMMANDS = list(dict.fromkeys(name.partition(" ")[0] for name in VERBS))  # groups count as one
SCORING = {"score", "meta", "explain", "demo"}  # commands that cache finished rows
HELP = {"-h", "--help", "--help-all"}
SHORTHANDS = {"--json": ("-f", "json"), "--latex": ("-f", "latex")}
# options of sacrebleu and COMET → what to write here
OTHER_TOOLS = {
    "-i": "outputs are given with -t FILE …, references with -r FILE",
    "--input": "outputs are given with -t FILE …, references with -r FILE",
    "-tok": "it is an argument of the metric: -m 'bleu(tokenize=zh)'",
    "--tokenize": "it is an argument of the metric: -m 'bleu(tokenize=zh)'",
    "-lc": "it is an argument of the metric: -m 'bleu(lowercase=true)'",
    "--lowercase": "it is an argument of the metric: -m 'bleu(lowercase=true)'",
    "--smooth-method": "it is an argument of the metric: -m 'bleu(smooth=floor)'",
    "--chrf-word-order": "it is an argument of the metric: -m 'chrf(word_order=2)', or -m chrf++",
    "--paired-bs": "systems are always tested in pairs: --test bootstrap --baseline NAME",
    "--paired-ar": "systems are always tested in pairs: --test randomization --baseline NAME",
    "--paired-bs-n": "it is called --draws here",
    "--paired-ar-n": "it is called --draws here",
    "-ci": "95 % intervals are always printed",
    "--confidence": "95 % intervals are always printed",
    "--confidence-n": "the number of bootstrap resamples is --draws with --test bootstrap",
    "--num-refs": "several references are given as files: -r refA.txt refB.txt",
    "--detail": "scores of documents and segments are in results.jsonl of --out FOLDER",
    "--citation": "`wholetext list METRIC` names the papers of a metric and of its parameters",
    "--list": "`wholetext list` lists metrics; test sets are those of sacrebleu: --test-set wmt21",
    "-sl": "scores of segments are in results.jsonl of --out FOLDER",
    "--sentence-level": "scores of segments are in results.jsonl of --out FOLDER",
    "--only_system": "-b prints scores of systems only",
    "--to_json": "-f json prints JSON: wholetext score … -f json > FILE",
    "--model": "it is part of the metric: -m comet@MODEL",
    "--batch_size": "it is called --batch-tokens here; COMET's 16 segments are about 1024 tokens",
    "--disable_cache": "it is called --no-cache here",
    "--num_workers": "it is called --workers here (processes)",
    "--accelerator": "it is called --device here (cpu, cuda)",
    "--model_storage_path": "models are read from the cache of the Hugging Face Hub: set HF_HOME",
    "--enable-context": "context is a view: -m doc-comet, or 'context(prev=2):comet@MODEL'",
    "--lang": "the language pair is given with -l, such as -l de-en",
    "--seed_everything": "it is called --seed here",
}


def build(plugin: str = "") -> App:
    """Make the cyclopts app of the command line, with the command of a plug-in if it is named."""
    from cyclopts import App

    app = App(
        "wholetext",
        help="Judge translations and other generated text as whole documents.",
        help_flags=(),
        version_flags=(),
    )
    for name, place in VERBS.items():
        group, _, word = name.rpartition(" ")
        if group and group not in app:
            app.command(App(group, help=help.GROUPS.get(group, ""), help_flags=()))
        (app[group] if group else app).command(place, name=word)
    if plugin:
        verb: Any = plugins.load(plugins.VERBS)[plugin]()
        app.command(verb, name=plugin)
    return app


def sections() -> dict[str, dict[str, str]]:
    """List the available commands by section of help, plug-ins with their packages."""
    listed = {
        title: {name: text for name, text in section.items() if name in COMMANDS}
        for title, section in help.COMMANDS.items()
    }
    others = {
        name: str(slices.load(place).__doc__).split("\n")[0]
        for name, place in VERBS.items()
        if " " not in name and not any(name in section for section in help.COMMANDS.values())
    }
    added = {
        name: f"Plug-in of {plugins.origin(plugins.VERBS, name)}"
        for name in plugins.load(plugins.VERBS)
        if name not in COMMANDS
    }
    listed.pop("")  # hidden
    return {**listed, "Further commands": others, "Plug-ins": added}


def main(argv: list[str] | None = None) -> None:
    """Run the command line; errors become messages on stderr.

    The exit code is 2 after an error of the user's, 1 after an unexpected one.
    """
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # ? where the encoding has no ±
    if argv is None:  # the process is ours
        gc.set_threshold(50_000, 20, 100)  # few reference cycles here: saves 5 % of `score`
    words = sys.argv[1:] if argv is None else argv
    debug = "--debug" in words  # before or after the command
    words = [part for word in words for part in SHORTHANDS.get(word, (word,)) if word != "--debug"]
    code = 0
    try:
        guard: Any = Guarded(sys.stdout)
        with warnings.catch_warnings(), redirect_stdout(guard):
            warnings.simplefilter("ignore", WholetextWarning)  # commands print notes themselves
            code = _run(words)
    except BrokenPipeError:  # the pipe was closed; exit quietly
        sys.stderr.close()
    except KeyboardInterrupt:
        cached = not SCORING.isdisjoint(words[:1]) and "--no-cache" not in words
        resume = ": finished rows are cached; run the same command again to resume"
        print("interrupted" + (resume if cached else ""), file=sys.stderr)
        code = 130
    except Exception as fault:
        if debug:
            raise
        print(f"error: {_message(fault)}", file=sys.stderr)
        code = 2 if isinstance(fault, WholetextError) else 1
    raise SystemExit(code)


def _run(words: list[str]) -> int:
    """Run a command; return the exit code."""
    first = words[0] if words else ""
    if first in {"", *HELP}:
        print(help.overview(sections()), file=sys.stdout if first else sys.stderr)
        return 0 if first else 2
    if first == "--version":
        print(f"wholetext {__version__}")
        return 0
    if first == "--install-completion":
        print(f"completion is installed: {build().install_completion()}; start a new shell")
        return 0
    verbs = COMMANDS if first in COMMANDS else [*COMMANDS, *plugins.load(plugins.VERBS)]
    line = _with_default(words) if first in help.DEFAULTS else words
    if first not in verbs:
        _refuse_renamed(words)
        kind = "option" if first.startswith("-") else "command"
        raise InputError(
            f"there is no {kind} {first!r}",
            where="wholetext",
            next=did_you_mean(first, verbs) or "`wholetext --help` lists the commands",
        )
    if other := next((word for word in words if first == "score" and word in OTHER_TOOLS), ""):
        raise InputError(
            f"{other} is an option of another tool",
            where="wholetext score",
            next=OTHER_TOOLS[other],
        )
    from cyclopts import CycloptsError

    app = build("" if first in COMMANDS else first)
    path, apps, rest = app.parse_commands(line)
    help_requested = HELP.intersection(rest)
    if help_requested or (apps[-1].default_command is None and not rest):
        stream = sys.stdout if help_requested else sys.stderr
        name = " ".join(("wholetext", *path))
        print(help.of_command(apps[-1], name, columns(), "--help-all" in rest), file=stream)
        return 0 if help_requested else 2
    try:
        function, bound, _ = app.parse_args(
            line, print_error=False, exit_on_error=False, verbose=False
        )
    except CycloptsError as fault:
        _refuse_renamed(words)
        raise usage_error(fault) from None
    try:
        function(*bound.args, **bound.kwargs)
    finally:
        for group in bound.arguments.values():
            if "executor" in getattr(group, "__dict__", ()):  # cached: it was used
                group.executor.close()
    return 0


def _refuse_renamed(words: list[str]) -> None:
    """Raise if a command line that cannot be read has names of earlier versions."""
    current = renamed.modern(words)
    if current != words and words[0] not in plugins.load(plugins.VERBS):
        raise renamed.error(words, current)


def _with_default(words: list[str]) -> list[str]:
    """Insert the command that a group runs where none is named: `meta PATH`."""
    group = words[0]
    commands = [name.partition(" ")[2] for name in VERBS if name.startswith(f"{group} ")]
    default = help.DEFAULTS[group]
    if default not in commands or not words[1:] or words[1] in {*commands, *HELP}:
        return words
    near = did_you_mean(words[1], commands)
    if near and not os.path.exists(words[1]):  # noqa: PTH110 - pathlib raises on long names
        raise InputError(
            f"there is no command and no file {words[1]!r}", where=f"wholetext {group}", next=near
        )
    return [group, default, *words[1:]]


def usage_error(fault: CycloptsError) -> InputError:
    """Convert a mistake in options and arguments to the form of all other errors."""
    import cyclopts

    where = " ".join(["wholetext", *(fault.command_chain or ())])
    step = f"`{where} -h` lists the options"
    if isinstance(fault, cyclopts.UnknownOptionError):
        option = fault.token.keyword or fault.token.value
        known = [name for argument in fault.argument_collection for name in argument.names]
        near = did_you_mean(option, [name for name in known if name.startswith("--")])
        what, step = f"there is no option {option}", (option.startswith("--") and near) or step
    elif isinstance(fault, cyclopts.UnknownCommandError):
        what = f"there is no command {(fault.unused_tokens or [''])[0]!r}"
        step = f"`{where} -h` lists the commands"
    elif isinstance(fault, cyclopts.UnusedCliTokensError):
        what = f"unexpected argument {(fault.unused_tokens or [''])[0]}"
        if where == "wholetext score":
            step = "outputs are given with -t FILE …, references with -r FILE, sources with -s FILE"
    elif isinstance(fault, cyclopts.MissingArgumentError) and fault.argument:
        name = fault.keyword or fault.argument.name
        present = fault.keyword or fault.argument.tokens
        if fault.argument.index is not None:
            name = name.lstrip("-").upper()
        what = f"{name} requires a value" if present else f"{name} is missing"
    else:
        what, _, choices = str(fault).rstrip(".").partition(". Choose from: ")
        what = what[:1].lower() + what[1:]
        step = f"choose from {choices}" if choices else step
    return InputError(what, where=where, next=step)


def _message(fault: Exception) -> str:
    """Tell a user what went wrong, with control characters escaped."""
    if isinstance(fault, WholetextError):
        # a name may contain a line break
        return re.sub(r"\n(?! )", "\n  ", printable(str(fault), keep="\n"))
    reason = f"{type(fault).__name__}: {printable(str(fault))}".removesuffix(": ")
    memory = isinstance(fault, MemoryError)
    remedy = "give it more memory, or fewer texts" if memory else "please report it"
    return f"wholetext failed unexpectedly: {reason}\n  → {remedy}; --debug shows where it happened"


if __name__ == "__main__":
    main()

"""The `wholetext` command: the table of commands; errors become messages and exit codes here."""

from __future__ import annotations

import gc
import os
import re
import sys
import warnings
from contextlib import nullcontext
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperGroup

from wholetext import plugins, slices
from wholetext.cli.completion import VARIABLE, completing
from wholetext.cli.help import COMMANDS, Sectioned
from wholetext.cli.options import flattened, sections
from wholetext.cli.spelling import spread
from wholetext.cli.terminal import complain, guarded, printable
from wholetext.cli.usage import usage_error
from wholetext.errors import InputError, PluginError, WholetextError, WholetextWarning, did_you_mean
from wholetext.version import __version__

# Command → its function, or typer app if it has subcommands; imported when used, so that help is
# fast. Slices add theirs.
CORE_VERBS = {
    "score": "wholetext.cli.score:score",
    "compare": "wholetext.cli.runs:compare",
    "gate": "wholetext.cli.runs:gate",
    "report": "wholetext.cli.runs:report",
    "explain": "wholetext.cli.runs:explain",
    "plan": "wholetext.cli.score:plan",
    "sweep": "wholetext.cli.score:sweep",
    "list": "wholetext.cli.about:list_",
    "show": "wholetext.cli.about:show",
    "demo": "wholetext.cli.score:demo",
    "models": "wholetext.cli.about:models",
    "cache": "wholetext.cli.about:cache",
}
VERBS = CORE_VERBS | slices.added("commands")
# commands that cache finished rows
SCORING = {"score", "sweep", "meta", "contrast", "judge-check", "stress", "demo", "features"}
_COMPLETION = {"--install-completion", "--show-completion"}
INTERRUPTED = 130  # exit code of typer after Ctrl-C


class Verbs(TyperGroup):
    """The commands, with those of plug-ins; each is imported when it is used."""

    def list_commands(self, ctx: Any) -> list[str]:
        return [*VERBS, *(name for name in plugins.load(plugins.VERBS) if name not in VERBS)]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name in self.commands:  # typer asks several times
            return self.commands[cmd_name]
        if cmd_name in VERBS:
            self.commands[cmd_name] = command(cmd_name, function(cmd_name))
        elif cmd_name in (added := plugins.load(plugins.VERBS)):
            self.commands[cmd_name] = command(cmd_name, added[cmd_name]())
        return self.commands.get(cmd_name)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name = args[0]
        known = ctx.resilient_parsing or name.startswith("-") or self.get_command(ctx, name)
        if not known:
            raise InputError(
                f"there is no command {name!r}",
                where="wholetext",
                next=did_you_mean(name, self.list_commands(ctx))
                or "`wholetext --help` lists the commands",
            )
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """List commands by purpose, those of plug-ins with their packages, others by docstring."""
        names = self.list_commands(ctx)
        added = {
            name: f"Plug-in of {plugins.origin(plugins.VERBS, name)}"
            for name in names
            if name not in VERBS
        }
        placed = {name for verbs in COMMANDS.values() for name in verbs} | set(added)
        others = {
            name: str(function(name).__doc__).split("\n")[0] for name in names if name not in placed
        }
        width = max(map(len, names))
        for title, verbs in {**COMMANDS, "Further commands": others, "Plug-ins": added}.items():
            lines = [(name.ljust(width), text) for name, text in verbs.items() if name in names]
            if lines:
                with formatter.section(title):
                    formatter.write_dl(lines)


def function(verb: str) -> Any:
    """Import the function of a command of this package, or its app of subcommands."""
    return slices.load(VERBS[verb])


def command(verb: str, target: Any) -> Any:
    """Make a command of a function with options, or of an app of subcommands."""
    app = target
    if not isinstance(target, typer.Typer):
        if not callable(target):
            raise PluginError(
                f"the verb {verb!r} of {plugins.origin(plugins.VERBS, verb)} is not a function",
                next="a verb is a function whose parameters are typer's options, or a typer app",
            )
        app = typer.Typer(add_completion=False, rich_markup_mode=None)
        titled = type("Titled", (Sectioned,), {"sections": sections(target)})
        app.command(verb, cls=titled)(flattened(target))
    made = typer.main.get_command(app)
    made.name = verb
    made.short_help = next((verbs[verb] for verbs in COMMANDS.values() if verb in verbs), None)
    return made


def _version(requested: bool) -> None:
    if requested:
        print(f"wholetext {__version__}")
        raise typer.Exit


def build() -> typer.Typer:
    """Make the typer app of the whole command line."""
    app = typer.Typer(
        name="wholetext",
        cls=Verbs,
        help="Judge translations and other generated text as whole documents.",
        no_args_is_help=True,
        add_completion=True,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
        rich_markup_mode=None,  # plain help: rich would double the start-up time
        epilog="Start with `wholetext demo`. `wholetext list` names the metrics, "
        "`wholetext VERB --help` the options.",
    )

    @app.callback()
    def top(
        version: Annotated[
            bool,
            typer.Option("--version", callback=_version, is_eager=True, help="Print the version."),
        ] = False,
        debug: Annotated[
            bool,
            typer.Option("--debug", help="Show the traceback of an error; also after the command."),
        ] = False,
    ) -> None:
        """Judge translations and other generated text as whole documents."""

    return app


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
    words = [word for word in words if word != "--debug"]
    try:
        _run(words)
    except WholetextError as fault:
        if debug:
            raise
        _fail(fault)
    except BrokenPipeError:  # the pipe was closed; exit quietly
        sys.stderr.close()
        raise SystemExit(0) from None
    except SystemExit as leaving:
        if leaving.code == INTERRUPTED:
            print(f"interrupted{_resume(words)}", file=sys.stderr)
        raise
    except Exception as fault:
        if type(fault).__name__ == "NoArgsIsHelpError":  # its message is the help
            print(fault, file=sys.stderr)
            raise SystemExit(2) from None
        if mistake := usage_error(fault, words):
            _fail(mistake)
        if debug:
            raise
        _fail_unexpectedly(fault)


def _run(words: list[str]) -> NoReturn:
    coloured = _COMPLETION.intersection(words[:1])  # a message of typer's
    with warnings.catch_warnings(), nullcontext() if coloured else guarded():
        warnings.simplefilter("ignore", WholetextWarning)  # commands print notes themselves
        if VARIABLE in os.environ:
            with completing():
                build()(prog_name="wholetext")
        code = build()(spread(words), prog_name="wholetext", standalone_mode=False)
        raise SystemExit(code if isinstance(code, int) else 0)


def _resume(words: list[str]) -> str:
    """Tell what is left of an interrupted command."""
    if SCORING.isdisjoint(words[:1]):
        return ""
    if "--no-cache" in words:
        return ": nothing was cached (--no-cache)"
    return ": finished rows are cached; run the same command again to resume"


def _fail(fault: WholetextError) -> NoReturn:
    message = printable(str(fault), keep="\n")
    message = re.sub(r"\n(?! )", "\n  ", message)  # a name may contain a line break
    complain(f"error: {message}")
    raise SystemExit(2) from None


def _fail_unexpectedly(fault: Exception) -> NoReturn:
    reason = f"{type(fault).__name__}: {printable(str(fault))}".removesuffix(": ")
    memory = isinstance(fault, MemoryError)
    remedy = "give it more memory, or fewer texts" if memory else "please report it"
    complain(
        f"error: wholetext failed unexpectedly: {reason}\n"
        f"  → {remedy}; --debug shows where it happened"
    )
    raise SystemExit(1) from None


if __name__ == "__main__":
    main()

"""The `wholetext` command: the table of verbs; errors are turned into messages and exit codes here."""

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
from wholetext.cli.usage import asks_for_help, usage_error
from wholetext.errors import InputError, PluginError, WholetextError, WholetextWarning, did_you_mean
from wholetext.version import __version__

# verb → where its function or (for verbs with sub-verbs) typer app is; slices add theirs.
# They import what they need when called, so that help stays fast.
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
# verbs whose finished rows are in the cache
SCORING = {"score", "sweep", "meta", "contrast", "judge-check", "stress", "demo", "features"}
_COMPLETION = {"--install-completion", "--show-completion"}
INTERRUPTED = 130  # how typer leaves after Ctrl-C


class Verbs(TyperGroup):
    """The verbs, and those of plug-ins: each is imported when it is used, and made once."""

    def __init__(self, *given: Any, **options: Any) -> None:
        super().__init__(*given, **options)
        self._made: dict[str, Any] = {}

    def list_commands(self, ctx: Any) -> list[str]:
        return [*VERBS, *(name for name in plugins.load(plugins.VERBS) if name not in VERBS)]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name not in self._made:  # typer asks several times
            if cmd_name in VERBS:
                self._made[cmd_name] = command(cmd_name, function(cmd_name))
            elif cmd_name in (added := plugins.load(plugins.VERBS)):
                self._made[cmd_name] = command(cmd_name, added[cmd_name]())
        return self._made.get(cmd_name)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name = args[0]
        if (
            not ctx.resilient_parsing
            and not name.startswith("-")
            and self.get_command(ctx, name) is None
        ):
            raise InputError(
                f"there is no command {name!r}",
                where="wholetext",
                next=did_you_mean(name, self.list_commands(ctx))
                or "`wholetext --help` lists the commands",
            )
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """List verbs by what they are for, those of plug-ins by their packages, any other by its docstring."""
        names = self.list_commands(ctx)
        placed = {name for verbs in COMMANDS.values() for name in verbs}
        added = {
            name: f"Plug-in of {plugins.origin(plugins.VERBS, name)}"
            for name in names
            if name not in VERBS
        }
        others = {
            name: str(function(name).__doc__).split("\n")[0]
            for name in names
            if name not in placed | {*added}
        }
        width = max(map(len, names))
        for title, verbs in {**COMMANDS, "Further commands": others, "Plug-ins": added}.items():
            lines = [(name.ljust(width), text) for name, text in verbs.items() if name in names]
            if lines:
                with formatter.section(title):
                    formatter.write_dl(lines)


def function(verb: str) -> Any:
    """The function of a verb of this package, or its app of sub-verbs."""
    return slices.load(VERBS[verb])


def command(verb: str, found: Any) -> Any:
    """A function with options, or an app of sub-verbs, as a command."""
    app = found
    if not isinstance(found, typer.Typer):
        if not callable(found):
            raise PluginError(
                f"the verb {verb!r} of {plugins.origin(plugins.VERBS, verb)} is not a function",
                next="a verb is a function whose parameters are typer's options, or a typer app",
            )
        app = typer.Typer(add_completion=False, rich_markup_mode=None)
        titled = type("Titled", (Sectioned,), {"sections": sections(found)})
        app.command(verb, cls=titled)(flattened(found))
    made = typer.main.get_command(app)
    made.name = verb
    made.short_help = next(
        (verbs[verb] for verbs in COMMANDS.values() if verb in verbs), made.short_help
    )
    return made


def _version(wanted: bool) -> None:
    if wanted:
        print(f"wholetext {__version__}")
        raise typer.Exit


def build() -> typer.Typer:
    """The whole command line as a typer app."""
    app = typer.Typer(
        name="wholetext",
        cls=Verbs,
        help="Judge translations and other generated text as whole documents.",
        no_args_is_help=True,
        add_completion=True,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
        rich_markup_mode=None,  # plain help: rich would double the start-up time
        epilog="Start with `wholetext demo`. `wholetext list` names the metrics, `wholetext VERB --help` the options.",
    )

    @app.callback()
    def top(
        version: Annotated[
            bool,
            typer.Option("--version", callback=_version, is_eager=True, help="Print the version."),
        ] = False,
        debug: Annotated[
            bool, typer.Option("--debug", help="Show the traceback of an error.")
        ] = False,
    ) -> None:
        """Judge translations and other generated text as whole documents."""

    return app


def main(argv: list[str] | None = None) -> None:
    """Entry point: run, and turn every error into a message on stderr (exit code 2; 1 for an internal error)."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a terminal that is not UTF-8 gets ? for ±, not a fault
            stream.reconfigure(errors="replace")
    if argv is None:  # the CLI owns the process and its children
        os.environ.setdefault("WHOLETEXT_SPACY_WITHOUT_TORCH", "1")
        gc.set_threshold(
            50_000, 20, 100
        )  # texts and requests are no cycles: looking for some took 5 % of `score`
    words = sys.argv[1:] if argv is None else argv
    given, debug = (
        [word for word in words if word != "--debug"],
        "--debug" in words,
    )  # it may also follow the verb
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", WholetextWarning)  # verbs print notes themselves
            with (
                nullcontext() if _COMPLETION.intersection(given[:1]) else guarded()
            ):  # typer's message has colours
                if VARIABLE in os.environ:
                    with completing():
                        build()(prog_name="wholetext")
                code = build()(spread(given), prog_name="wholetext", standalone_mode=False)
                raise SystemExit(
                    code if isinstance(code, int) else 0
                )  # what a verb returns is no exit code
    except WholetextError as fault:
        if debug:
            raise
        _say(fault)
    except BrokenPipeError:  # the reader of a pipe went away: nothing to say
        sys.stderr.close()
        raise SystemExit(0) from None
    except SystemExit as leaving:
        if leaving.code == INTERRUPTED:
            kept = ": finished rows are cached; run the same command again to resume"
            kept = ": nothing was cached (--no-cache)" if "--no-cache" in given else kept
            print(f"interrupted{kept if SCORING.intersection(given[:1]) else ''}", file=sys.stderr)
        raise
    except Exception as fault:
        if asks_for_help(fault):
            print(fault, file=sys.stderr)
            raise SystemExit(2) from None
        if mistake := usage_error(fault, given):
            _say(mistake)
        if debug:
            raise
        _say_unexpected(fault)


def _say(fault: WholetextError) -> NoReturn:
    said = re.sub(
        r"\n(?! )", "\n  ", printable(str(fault), keep="\n")
    )  # a line break in a name starts no new line
    complain(f"error: {said}")
    raise SystemExit(2) from None


def _say_unexpected(fault: Exception) -> NoReturn:
    reason = f"{type(fault).__name__}: {printable(str(fault))}".removesuffix(": ")
    remedy = (
        "give it more memory, or fewer texts"
        if isinstance(fault, MemoryError)
        else "please report it"
    )
    complain(
        f"error: wholetext failed unexpectedly: {reason}\n  → {remedy}; --debug shows where it happened"
    )
    raise SystemExit(1) from None


if __name__ == "__main__":
    main()

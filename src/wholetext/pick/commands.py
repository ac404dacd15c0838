"""`wholetext pick`: the best of several candidates, or the best lines of bitext."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from wholetext.cli import options, terminal
from wholetext.cli.options import option
from wholetext.cli.terminal import number, warn
from wholetext.errors import InputError, count

if TYPE_CHECKING:
    from wholetext.io import Loaded
    from wholetext.pick.choose import Picks


def pick(
    files: options.Files = options.Files(),
    *,
    metric: Annotated[
        str,
        option("-m", "--metric", help="`METRIC` without references, or the utility with --mbr."),
    ],
    out: Annotated[
        Path | None, option("-o", "--out", help="`FILE` for the chosen texts, a segment per line.")
    ] = None,
    mbr: Annotated[
        bool,
        option("--mbr", help="Choose by expected utility, every candidate being a reference."),
    ] = False,
    by: Annotated[
        Literal["segment", "document"], option("--by", help="The unit of choice.")
    ] = "segment",
    judge: Annotated[
        str | None,
        option(
            "--judge",
            help="`METRIC` with references that judges the choice (default: chrf, where there "
            "are references).",
        ),
    ] = None,
    least: Annotated[
        float | None,
        option("--min", help="Filter bitext (-s, -t): keep lines with at least this `SCORE`."),
    ] = None,
    share: Annotated[
        float | None,
        option("--share", help="Filter bitext: keep this `SHARE` of the lines, 0 to 1."),
    ] = None,
    plan: Annotated[bool, option("--plan", help="Instead, show how much would be scored.")] = False,
    overwrite: Annotated[
        bool, option("--overwrite", rare=True, help="Overwrite an existing output file.")
    ] = False,
    chosen: options.Chosen = options.Chosen(),
    execution: options.Execution = options.Execution(),
    format: options.TableOrJson = "table",
) -> None:
    """Choose the best of several candidates for each segment or document, or filter bitext.

    Candidates are the outputs of systems, or lines {"src": …, "candidates": [ … ]}.

    Examples:
        wholetext pick -s src.txt -t a.txt b.txt c.txt -m kiwi -o best.txt
        wholetext pick nbest.jsonl -m chrf --mbr -o best.txt
        wholetext pick -s src.txt -t tgt.txt -m comet-qe --share 0.5 -o kept.tsv
    """
    if out is not None:
        options.refuse_existing(out, files, overwrite)
    if least is not None or share is not None:
        _filter(files, metric, out, least, share, chosen, execution, format)
        return
    loaded = _load(files, chosen)
    if plan:
        _show_plan(loaded, metric, mbr, by)
        return
    from wholetext.files.storage import write_file
    from wholetext.pick.choose import pick as choose

    if judge is None and loaded.corpus.references:
        judge = "chrf"
    with execution.executor:
        picks = choose(loaded, metric, mbr=mbr, by=by, judge=judge, options=execution.options())
    if out is not None:
        lines = [text for doc in loaded.corpus.docs for text in picks.output.docs[doc.id]]
        write_file(out, "".join(" ".join(line.splitlines()) + "\n" for line in lines))
    if format == "json":
        terminal.print_json(picks.as_json())
        return
    _show(picks)
    warn(picks.notes)
    if out is not None:
        print(f"\nwritten: {out}")


def _load(files: options.Files, chosen: options.Chosen) -> Loaded:
    from wholetext.pick.candidates import is_candidates, read_candidates

    if files.input is not None and Path(files.input).is_file() and is_candidates(files.input):
        return read_candidates(files.input, chosen.langs)
    return options.load(files, chosen)


def _show_plan(loaded: Loaded, metric: str, mbr: bool, by: str) -> None:
    segments = sum(len(loaded.outputs[0].docs[doc.id]) for doc in loaded.corpus.docs)
    candidates = len(loaded.outputs)
    pairs = segments * candidates**2 if mbr else segments * candidates
    texts = len({text for output in loaded.outputs for doc in output.docs.values() for text in doc})
    print(
        f"{count(segments if by == 'segment' else len(loaded.corpus.docs), by)}, "
        f"{count(candidates, 'candidate')} each: {metric} scores {pairs:,} "
        f"{'pairs of candidates' if mbr else 'outputs'} ({texts:,} different texts)"
    )


def _show(picks: Picks) -> None:
    console = terminal.console(80)
    how = "the highest expected " if picks.mbr else ""
    print(f"{count(len(picks.choices), picks.by)}, chosen by {how}{picks.metric}")
    shares = sorted(picks.shares().items(), key=lambda item: -item[1])
    terminal.print_blocks(
        ["candidate", "chosen"],
        [[name, f"{share:.1%}"] for name, share in shares if share],
        1,
        console,
    )
    if gain := picks.gain:
        digits = 2 if abs(gain.oracle) >= 2 else 4
        values = [number(value, digits) for value in (gain.random, gain.chosen, gain.oracle)]
        share = (gain.chosen - gain.random) / ((gain.oracle - gain.random) or float("nan"))
        terminal.print_blocks(
            [f"mean {gain.metric}", "random", "chosen", "oracle", "share of the gain"],
            [["", *values, f"{share:.0%}" if share == share else "–"]],
            1,
            console,
        )


def _filter(
    files: options.Files,
    metric: str,
    out: Path | None,
    least: float | None,
    share: float | None,
    chosen: options.Chosen,
    execution: options.Execution,
    format: str,
) -> None:
    from wholetext.pick.bitext import filter_bitext

    if files.sources is None or len(files.translations or ()) != 1 or out is None:
        raise InputError(
            "a filter reads two parallel files and writes a third",
            next="wholetext pick -s src.txt -t tgt.txt -m METRIC --share 0.5 -o kept.tsv",
        )
    with execution.executor:
        done = filter_bitext(
            files.sources,
            (files.translations or [""])[0],
            metric,
            out,
            least=least,
            share=share,
            langs=chosen.langs,
            options=execution.options(),
        )
    if format == "json":
        terminal.print_json({**vars(done), "out": str(out)})
        return
    print(f"{done.kept:,} of {count(done.lines, 'line')} kept, {metric} from {done.threshold:.4f}")
    if done.undefined:
        warn([f"{count(done.undefined, 'line', 'have')} no score and are left out"])
    if done.resumed:
        print(f"{count(done.resumed, 'line')} were scored by an earlier run")
    print(f"\nwritten: {out}, scores of all lines: {out}.scores (float32)")

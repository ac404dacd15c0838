"""The commands `meta agreement`, `contrast`, `spans`, `paragraphs`, and `explain --features`."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast

from cyclopts import Parameter

from wholetext.cli import options, studies, terminal
from wholetext.cli.options import option, several
from wholetext.cli.terminal import progress_bar, warn
from wholetext.errors import InputError, count

if TYPE_CHECKING:
    from wholetext.io import Loaded
    from wholetext.meta.contrastive.decisions import ContrastAccuracy, ContrastResults
    from wholetext.meta.evaluate import ParagraphSets
    from wholetext.meta.judgments import Ratings
    from wholetext.meta.raters import Measurement
    from wholetext.views import Joiner


_ALPHA = 0.05  # of the sentence about McNemar's test


def agreement(
    evalset: Annotated[
        list[Path],
        Parameter(
            help="`EVALSET` folder (mt-metrics-eval; several are pooled), table with a column of "
            "human scores, or file of rated summaries."
        ),
    ],
    /,
    *,
    langs: Annotated[
        list[str] | None,
        several("-l", "--langs", help="Language `PAIR`, e.g. zh-en."),
    ] = None,
    metric: Annotated[
        list[str] | None,
        options.metrics_option("Stored metrics, or metrics to compute: [view:]metric[@model]"),
    ] = None,
    ensemble: Annotated[
        list[str] | None,
        several(
            "--ensemble",
            rare=True,
            help="`MEAN` of the scores of several metrics, e.g. 'rc + bleu'.",
        ),
    ] = None,
    stored: Annotated[bool, option("--stored", help="Also evaluate all stored metrics.")] = False,
    scores: Annotated[
        list[Path] | None,
        several(
            "--scores",
            help="`FILE` of precomputed scores: NAME-REF.LEVEL.score, WMT25's SYSTEM.jsonl, a folder of them "
            "or a run folder; {set} and {langs} are filled in (repeatable).",
        ),
    ] = None,
    primary: Annotated[
        bool | None,
        option(
            "--primary",
            negative="--no-primary",
            rare=True,
            help="Only primary submissions of stored metrics (default with --tasks).",
        ),
    ] = None,
    level: Annotated[
        list[str] | None,
        several("--level", help="`LEVEL` whose default tasks to run: sys, domain, doc, seg."),
    ] = None,
    task: Annotated[
        list[str] | None,
        several(
            "--task", rare=True, help="`TASK`, LEVEL:STATISTIC[/AVERAGE], e.g. seg:kendall/item."
        ),
    ] = None,
    tasks: Annotated[
        str | None,
        option("--tasks", help="Official WMT task list: wmt21 … wmt24, wmt24pp or wmt25."),
    ] = None,
    sweep: options.SweepGrid = None,
    k: options.LengthsIfAny = None,
    raters: Annotated[
        Literal["each", "first", "mean"],
        option("--raters", rare=True, help="How to combine several raters of a segment."),
    ] = "each",
    joiner: options.Joiner = "auto",
    gold: options.Golds = None,
    ref: Annotated[
        list[str] | None,
        several("--ref", help="Reference that metrics use (default: the standard one)."),
    ] = None,
    close_ref: Annotated[
        list[str] | None,
        several("--close-ref", rare=True, help="Near-duplicate references to exclude."),
    ] = None,
    human: Annotated[
        bool | None,
        option(
            "--human",
            negative="--no-human",
            rare=True,
            help="Include human translations as systems (--tasks: as in that year).",
        ),
    ] = None,
    outliers: Annotated[
        bool, option("--outliers", rare=True, help="Include the outlier systems that WMT excludes.")
    ] = False,
    domain: Annotated[
        list[str] | None, several("--domain", rare=True, help="Restrict to these domains.")
    ] = None,
    sample: Annotated[
        int,
        option("--sample", low=0, rare=True, help="Number of judged documents to use; 0 = all."),
    ] = 0,
    system: options.Systems = None,
    columns: options.Columns = None,
    conventions: Annotated[
        str,
        option(
            "--conventions",
            rare=True,
            help="WMT test set whose conventions apply, if the folder was renamed.",
        ),
    ] = "",
    all_segments: Annotated[
        bool,
        option("--all-segments", rare=True, help="Score also segments without human scores."),
    ] = False,
    allow_missing: Annotated[
        bool,
        option(
            "--allow-missing",
            rare=True,
            help="Exclude what is missing from score files, with a warning.",
        ),
    ] = False,
    interval: Annotated[
        Literal["documents", "systems", "both"] | None,
        option("--interval", help="Add 95 % bootstrap confidence intervals over these units."),
    ] = None,
    between: Annotated[
        bool,
        option(
            "--between", rare=True, help="Also correlations between metrics, and between golds."
        ),
    ] = False,
    paired_t: Annotated[
        bool,
        option(
            "--paired-t", rare=True, help="Also t-tests between metrics, paired over the tasks."
        ),
    ] = False,
    williams: Annotated[
        bool,
        option(
            "--williams", rare=True, help="Also Williams' test between correlations of metrics."
        ),
    ] = False,
    draws: options.TestDraws = 1000,
    block: Annotated[
        int,
        option(
            "--block",
            low=0,
            rare=True,
            help="Early-stopping interval, in draws; 0 = never stop early.",
        ),
    ] = 0,
    micro: Annotated[
        bool,
        option(
            "--micro", rare=True, help="Weight rows (items, systems) by their number of scores."
        ),
    ] = False,
    nan: Annotated[
        Literal["skip", "zero"],
        option("--nan", rare=True, help="Undefined correlations: skip them, or count them as 0."),
    ] = "skip",
    weigh_by: Annotated[
        str,
        option(
            "--weigh-by",
            rare=True,
            help="Distribute the weights evenly over `LEVELS` of langs, level, statistic, in this order.",
        ),
    ] = "",
    seed: options.Seed = 12345,
    alpha: options.Alpha = 0.05,
    out: Annotated[
        Path | None,
        option("-o", "--out", help="Output `FOLDER` for meta.json and the computed scores."),
    ] = None,
    format: options.Format = "table",
    execution: options.Execution = options.Execution(),
    quiet: options.Quiet = False,
) -> None:
    """Evaluate metrics against human judgments.

    Prints agreement, significance clusters, chance levels and pair counts.

    Examples:
        wholetext meta agreement wmt22 -l en-de --stored -m chrf
        wholetext meta agreement wmt22 -l en-de --tasks wmt22 --stored
        wholetext meta wmt21.tedtalks -l en-de -m bertscore --k 1..10
        wholetext meta wmt21.tedtalks -l en-de -m comet --sweep context=0..3
    """
    from wholetext.files.parsing import integer
    from wholetext.io.columns import parse_columns
    from wholetext.meta import (
        MetaTasks,
        MetricSelection,
        MetricTests,
        Selection,
        meta_evaluate,
    )
    from wholetext.meta.grid import GridAxes, read_sizes
    from wholetext.meta.paragraphs import read_lengths
    from wholetext.meta.tables import render

    axes = options.sweep_settings(sweep or ())
    grid = GridAxes(
        read_sizes(",".join(axes.get("context", ())) or None, 0, "context"),
        tuple(axes.get("hyp", ("ref",))),
        tuple(axes.get("source", ("same",))),
        read_sizes(",".join(axes.get("window", ())) or None, 1, "window"),
        tuple(integer(step, low=1, where="--sweep step=") for step in axes.get("step", ())),
        tuple(cast(Any, axes.get("partial", ("drop",)))),
    )
    with progress_bar(quiet) as progress:
        results = meta_evaluate(
            evalset,
            langs or (),
            MetricSelection(
                tuple(metric or ()),
                stored,
                tuple(ensemble or ()),
                tuple(scores or ()),
                primary,
                "drop" if allow_missing else "error",
            ),
            MetaTasks(
                tuple(level or ()),
                tuple(task or ()),
                tasks,
                micro,
                nan == "zero",
                tuple(filter(None, weigh_by.split(","))),
                between,
                paired_t,
                williams,
            ),
            selection=Selection(
                golds=tuple(gold or ()),
                refs=tuple(ref) if ref else None,
                close_refs=tuple(close_ref or ()),
                human=human,
                outliers=outliers,
                domains=tuple(domain or ()),
                systems=tuple(system or ()),
                all_segments=all_segments,
                test_set=conventions,
                sample=sample,
                seed=seed,
            ),
            tests=MetricTests(draws, seed, alpha, block, interval),
            lengths=read_lengths(k) if k else (),
            raters=raters,
            joiner=joiner,
            grid=grid if sweep else None,
            options=execution.options(progress=progress),
            out=out,
            columns=parse_columns(columns) if columns else None,
        )
    render(results, format)
    studies.finish(out, "meta.json", format)


def paragraphs(
    evalset: Annotated[Path, Parameter(help="EvalSet folder with ratings of individual raters.")],
    /,
    *,
    langs: options.Langs = None,
    k: options.Lengths = "1..10",
    gold: options.Golds = None,
    ratings: Annotated[
        Path | None,
        option(
            "--ratings",
            "--mqm-tsv",
            help="Ratings as WMT published them: `FILE` of MQM (TSV) or DA (CSV, folder).",
        ),
    ] = None,
    mqm_weights: Annotated[
        str,
        option(
            "--mqm-weights",
            help="Error `WEIGHTS` for --ratings: standard, wmt22, or major=5,minor=1 …",
        ),
    ] = "standard",
    raters: Annotated[
        Literal["each", "first", "mean"],
        option("--raters", help="How to combine several raters of a segment."),
    ] = "each",
    joiner: options.Joiner = "auto",
    scale: Annotated[
        Literal["nominal", "ordinal", "interval", "ratio"] | None,
        option(
            "--agreement",
            help="Print how well raters agree: Krippendorff's alpha on this scale; each pair.",
        ),
    ] = None,
    tokenizer: Annotated[
        str | None,
        option(
            "--tokenizer",
            help="Print lengths in tokens of this `MODEL`, SentencePiece file or tokenizer.json.",
        ),
    ] = None,
    limit: Annotated[
        int,
        option("--limit", low=1, help="Tokens of output and reference beyond which text is cut."),
    ] = 1024,
    out: Annotated[
        Path | None,
        option("-o", "--out", help="Output `FOLDER`; one EvalSet per length."),
    ] = None,
) -> None:
    """Split rated documents into paragraphs, with their scores.

    A paragraph is k segments scored by one rater.

    Examples:
        wholetext meta paragraphs wmt21.tedtalks -l en-de --k 1..10 -o paragraphs
        wholetext meta paragraphs wmt21.tedtalks -l en-de --agreement interval
    """
    from wholetext.meta.evaluate import paragraph_sets
    from wholetext.meta.paragraphs import read_lengths

    lengths = read_lengths(k)
    names: list[str | None] = list(dict.fromkeys(gold or [])) or [None]
    for name in names:
        folder = out / name if out and name and len(names) > 1 else out
        sets = paragraph_sets(
            evalset,
            langs,
            lengths,
            gold=name,
            ratings=ratings,
            mqm_weights=mqm_weights,
            raters=raters,
            joiner=joiner,
            out=folder,
        )
        rated_by = sets.source.ratings
        warn([sets.source.note] if sets.source.note else [])
        last = f"{len(sets.rated[-1]):,} of {count(lengths[-1], 'segment')}"
        print(
            f"{count(len(rated_by.raters), 'rater')} of {count(len(rated_by.systems), 'system')}: "
            f"{len(sets.rated[0]):,} paragraphs of {count(lengths[0], 'segment')}"
            f"{f', {last}' if len(lengths) > 1 else ''}.\n"
            f"{len(rated_by):,} {sets.gold} ratings of {sets.source.path}"
        )
        if scale:
            _print_agreement(rated_by, scale)
        terminal.print_tsv(
            ("k", "paragraphs", "items", "items of one system only"),
            [
                (length, len(rated), len(chosen.items), chosen.alone)
                for length, rated, chosen in zip(lengths, sets.rated, sets.sets)
            ],
        )
        if tokenizer:
            _print_lengths(evalset, langs, sets, tokenizer, limit, joiner)


def _print_lengths(
    evalset: Path, langs: str | None, sets: ParagraphSets, tokens: str, limit: int, joiner: Joiner
) -> None:
    from wholetext.io.formats.evalset import EvalSet
    from wholetext.meta.token_lengths import token_lengths
    from wholetext.models.token_counter import token_counter

    loaded, counter = EvalSet.open(evalset, langs).load(), token_counter(tokens)
    rows = []
    for rated in filter(None, sets.rated):
        lengths = token_lengths(loaded, rated, counter, joiner)
        over = lengths.over(limit)
        share = f"{100 * over / len(rated):.1f} %"
        rows.append([rated[0].k, *(f"{value:g}" for value in lengths.quartiles()), over, share])
    print(f"tokens of {tokens}")
    terminal.print_tsv(("k", "25th", "50th", "75th", f"over {limit}", "share"), rows)


def _print_agreement(ratings: Ratings, scale: Measurement) -> None:
    from wholetext.meta.raters import rater_pairs, reliability

    print(f"Krippendorff's alpha ({scale}): {reliability(ratings, scale):.4f}")
    head = ["rater 1", "rater 2", "items", "Pearson", "kappa", "pairs of outputs", "ordered alike"]
    rows = [
        [
            *(pair.first, pair.second, pair.items, f"{pair.pearson:.4f}", f"{pair.kappa:.4f}"),
            *(pair.pairs, f"{pair.pair_agreement:.4f}"),
        ]
        for pair in rater_pairs(ratings)
    ]
    terminal.print_tsv(head, rows)


def spans(
    gold: Annotated[
        str,
        Parameter(
            help="Human error spans: MQM TSV, WMT25 TSV, .seg.rating file of an EvalSet, or JSONL."
        ),
    ],
    predicted: Annotated[
        list[str] | None,
        Parameter(help="Error spans of metrics: run folders or files (FILE or NAME=FILE)."),
    ] = None,
    /,
    *,
    metric: Annotated[
        list[str] | None, options.metrics_option("Restrict run folders to these metrics")
    ] = None,
    compare_raters: Annotated[
        bool, option("--compare-raters", help="Compare the raters of GOLD with each other.")
    ] = False,
    credit: Annotated[
        float,
        option("--credit", low=0, high=1, help="Credit of a match with the wrong severity."),
    ] = 0.5,
    threshold: Annotated[
        float,
        option("--threshold", help="Lowest human score (ESA) of an error-free segment."),
    ] = 85.0,
    free_at: Annotated[
        float | None,
        option("--free-at", help="Lowest metric score of a segment predicted to be error-free."),
    ] = None,
    draws: options.TestDraws = 10_000,
    seed: options.Seed = 12345,
    alpha: options.Alpha = 0.05,
    format: options.TableOrJson = "table",
) -> None:
    """Evaluate the error spans of metrics against those of people.

    Also predictions of error-free segments; with significance tests by document.

    Examples:
        wholetext meta spans mqm_ted_ende.tsv run
        wholetext meta spans mqm_ted_ende.tsv xcomet=spans.jsonl judge=judge.jsonl
        wholetext meta spans mqm_ted_ende.tsv --compare-raters
    """
    from wholetext.meta import SpanOptions, evaluate_spans, rater_spans, read_spans
    from wholetext.meta.tables import render_raters, render_spans

    how = SpanOptions(credit, threshold, free_at, draws, seed, alpha)
    people, *more = read_spans(*_file_and_name(options.named([gold])[0]))
    if more:
        raise InputError(
            "GOLD is a run folder with several metrics",
            where=gold,
            next="give a file of human spans",
        )
    if compare_raters:
        render_raters(*rater_spans(people, how), format)
        return
    predictions = [
        annotations
        for argument in options.named(predicted)
        for annotations in read_spans(*_file_and_name(argument), metric or ())
    ]
    render_spans(evaluate_spans(people, predictions, how), format)


def _file_and_name(argument: str | tuple[str, str]) -> tuple[str, str]:
    return (argument, "") if isinstance(argument, str) else (argument[1], argument[0])


def contrast(
    set: Annotated[
        str,
        Parameter(
            help="Contrastive set: JSONL, or JSON of ContraPro or DiscEvalMT.",
        ),
    ],
    /,
    *,
    metric: Annotated[
        list[str] | None,
        options.metrics_option(
            "Metric to evaluate (reference-free, unless the set has references)"
        ),
    ] = None,
    scores: Annotated[
        list[str] | None,
        several("--scores", help="`FILE` of precomputed scores, or NAME=FILE."),
    ] = None,
    minimize: Annotated[
        bool, option("--minimize", help="Lower is better in --scores files.")
    ] = False,
    context_from: Annotated[
        Path | None,
        option("--context-from", help="Line-aligned documents with the context: `FOLDER` or TSV."),
    ] = None,
    context: Annotated[
        int,
        option("--context", low=0, help="Number of context sentences to take from --context-from."),
    ] = 3,
    langs: options.Langs = None,
    intra: Annotated[
        Literal["distance", "flag"],
        option("--intra", help="What is inside a sentence: distance 0, or the item's flag."),
    ] = "distance",
    format: options.TableOrJson = "table",
    out: Annotated[
        Path | None, option("-o", "--out", help="Output `FOLDER` for contrast.json.")
    ] = None,
    execution: options.Execution = options.Execution(),
) -> None:
    """Evaluate metrics on a contrastive set.

    Prints accuracy by group with confidence intervals, and McNemar's test.

    Examples:
        wholetext meta contrast anaphora.json -m comet-qe doc-comet-qe
        wholetext meta contrast contrapro.json --context-from documents -m comet-qe
        wholetext meta contrast pronouns.jsonl --scores mymodel=losses.txt --minimize
    """
    from wholetext.io.assembly import pair
    from wholetext.meta import contrast as run, read_contrast_set

    if not metric and not scores:
        raise InputError(
            "nothing to judge", where=set, next="name a metric (-m) or a file of scores (--scores)"
        )
    items = read_contrast_set(set, pair(langs) if langs else None, context_from, context)
    warn(items.warnings)
    results = run(
        items,
        metric or (),
        options.named(scores),
        higher_is_better=not minimize,
        split=intra,
        options=execution.options(),
        out=out,
    )
    for decisions in results.decisions:
        warn(decisions.warnings)
    if format == "json":
        terminal.print_json(results.as_json())
    else:
        _accuracies(results)
    studies.finish(out, "contrast.json", format)


def _accuracies(results: ContrastResults) -> None:
    """Print the finding and a row per metric; groups and margins are in JSON and report."""
    from wholetext.meta.contrastive.decisions import groups, overall
    from wholetext.meta.tables import print_page

    totals = [(decisions.metric, overall(decisions)) for decisions in results.decisions]
    totals.sort(key=lambda entry: -entry[1].accuracy)
    rows = [
        [
            metric,
            f"{100 * total.accuracy:.1f}",
            f"[{100 * total.low:.1f}, {100 * total.high:.1f}]",
            f"{total.ties:,}",
            f"{total.undefined:,}",
        ]
        for metric, total in totals
    ]
    total = totals[0][1]
    kinds = [*groups(results.decisions[0], results.split)]
    by = f" -f json and the report have it by {terminal.listed(kinds, most=9)}." if kinds else ""
    footer = (
        f"{count(total.total, 'item')}; random scores without ties reach "
        f"{100 * total.chance:.1f} %. Ties and undefined scores are errors; intervals are "
        f"Wilson's.{by}"
    )
    head = ("metric", "right, in %", "95 %", "ties", "undefined")
    finding = _contrast_finding(results, [metric for metric, _ in totals], total)
    print_page(finding, [("", head, rows, 1)], [footer])


def _contrast_finding(results: ContrastResults, names: list[str], total: ContrastAccuracy) -> str:
    """Say which metric is right most often, whether by chance, and which ones it beats."""
    best, *others = names  # best first
    share = f"{100 * total.accuracy:.1f} % of {count(total.total, 'item')}"
    side = "above" if total.low > total.chance else "no better than"
    side = "below" if total.high < total.chance else side
    chance = f"{side} chance ({100 * total.chance:.1f} %)"
    if not others:
        return f"{best} is right in {share}, {chance}."
    p = {frozenset((test.first, test.second)): test.p for test in results.tests}
    clear = [name for name in others if p.get(frozenset((best, name)), 1.0) <= _ALPHA]
    tied = [name for name in others if name not in clear]
    tests = [f"significantly more often than {terminal.listed(clear)}"] if clear else []
    if tied:
        than = "but not than" if clear else "but not significantly more often than"
        tests.append(f"{than} {terminal.listed(tied)}")
    return f"{best} is right most often, in {share}, {chance}; {', '.join(tests)} (McNemar's test)."


def features(
    loaded: Loaded, metric: list[str] | None, foci: bool, pairs: bool, format: str
) -> None:
    """Compare discourse features of outputs and references for each document."""
    from wholetext.meta.features import (
        FEATURES,
        discriminativeness,
        feature_pairs,
        focus_statistics,
    )
    from wholetext.scoring.comparison import plain

    if foci:
        statistics = asdict(focus_statistics(loaded.corpus, loaded.outputs))
        if format == "json":
            terminal.print_json(statistics)
        for name, value in statistics.items() if format == "table" else ():
            print(f"{name.replace('_', ' '):14} {value:.4g}")
        return
    if pairs:
        rows = [
            (points.feature, *place, hyp, ref)
            for points in feature_pairs(loaded.corpus, loaded.outputs, metric or FEATURES)
            for place, hyp, ref in zip(points.places, points.hyp.tolist(), points.ref.tolist())
        ]
        terminal.print_tsv(("feature", "system", "document", "reference", "hyp", "ref"), rows)
        return
    comparisons = discriminativeness(loaded.corpus, loaded.outputs, metric or FEATURES)
    if format == "json":  # undefined is null
        terminal.print_json(plain(comparisons))
        return
    head = [
        "feature",
        "system",
        "output",
        "reference",
        "ref lower",
        "equal",
        "ref higher",
        "pairs",
        "identical",
    ]
    cells = [
        [
            *(row.feature, row.system, f"{row.hyp:.4f}", f"{row.ref:.4f}"),
            *(f"{100 * share:.1f} %" for share in (row.below, row.equal, row.above)),
            *(str(row.pairs), str(row.identical)),
        ]
        for row in comparisons
    ]
    console = terminal.console(80)
    terminal.print_blocks(head, cells, 2, console)
    terminal.print_footer(
        "Shares of (document, reference) pairs; pairs of equal texts are left out.", console
    )

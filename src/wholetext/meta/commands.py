"""The commands of the slice: `meta`, `paragraphs`, `spans`, `contrast`, `features`."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from wholetext.cli import options, studies, terminal
from wholetext.cli.options import option, several
from wholetext.cli.terminal import progress_bar, warn
from wholetext.errors import InputError, count

if TYPE_CHECKING:
    from wholetext.meta.contrastive.decisions import ContrastAccuracy, ContrastResults
    from wholetext.meta.evaluate import ParagraphSets
    from wholetext.meta.judgments import Ratings
    from wholetext.meta.raters import Measurement
    from wholetext.views import Joiner


_ALPHA = 0.05  # of the sentence about McNemar's test


def meta(
    evalset: Annotated[
        list[Path],
        Parameter(
            help="`EVALSET` folder (mt-metrics-eval) or file of rated summaries; several are pooled."
        ),
    ],
    /,
    *,
    langs: Annotated[
        list[str] | None,
        several("-l", "--langs", help="Language pair, e.g. zh-en."),
    ] = None,
    metric: Annotated[
        list[str] | None,
        options.metrics_option("Stored metrics, or metrics to compute: [view:]metric[@model]"),
    ] = None,
    ensemble: Annotated[
        list[str] | None,
        several("--ensemble", help="Mean of the scores of several metrics, e.g. 'rc + bleu'."),
    ] = None,
    stored: Annotated[bool, option("--stored", help="Also evaluate all stored metrics.")] = False,
    scores: Annotated[
        list[Path] | None,
        several(
            "--scores",
            help="Precomputed scores: NAME-REF.LEVEL.score, WMT25's SYSTEM.jsonl, a folder of them "
            "or a run folder; {set} and {langs} are filled in (repeatable).",
        ),
    ] = None,
    primary: Annotated[
        bool | None,
        option(
            "--primary",
            negative="--no-primary",
            help="Only primary submissions of stored metrics (default with --tasks).",
        ),
    ] = None,
    level: Annotated[
        list[str] | None,
        several("--level", help="Level whose default tasks to run: sys, domain, doc, seg."),
    ] = None,
    task: Annotated[
        list[str] | None,
        several("--task", help="Task, LEVEL:STATISTIC[/AVERAGE], e.g. seg:kendall/item."),
    ] = None,
    tasks: Annotated[
        str | None,
        option("--tasks", help="Official WMT task list: wmt21 … wmt24, wmt24pp or wmt25."),
    ] = None,
    context: Annotated[
        str | None,
        option("--context", help="Grid of context sizes: 0..9, 0,2 or the largest, 9."),
    ] = None,
    hyp: Annotated[
        list[str] | None,
        several("--hyp", help="Context of the output in the grid: ref (default), own."),
    ] = None,
    source: Annotated[
        list[str] | None,
        several("--source", help="Origin of the context: same (default), shuffled, other."),
    ] = None,
    window: Annotated[
        str | None,
        option("--window", help="Grid of window sizes: 1..10, 2,6 or the largest, 10."),
    ] = None,
    step: Annotated[
        list[int] | None, several("--step", low=1, help="Stride of the windows (default: all).")
    ] = None,
    partial: Annotated[
        list[Literal["drop", "include", "weighted"]] | None,
        several("--partial", help="Incomplete windows: drop (default), include, weighted."),
    ] = None,
    k: options.LengthsIfAny = None,
    raters: Annotated[
        Literal["each", "first", "mean"],
        option("--raters", help="How to combine several raters of a paragraph."),
    ] = "each",
    joiner: options.Joiner = "auto",
    gold: options.Golds = None,
    ref: Annotated[
        list[str] | None,
        several("--ref", help="Reference used by the metrics (default: the standard one)."),
    ] = None,
    close_ref: Annotated[
        list[str] | None, several("--close-ref", help="Near-duplicate references to exclude.")
    ] = None,
    human: Annotated[
        bool | None,
        option(
            "--human",
            negative="--no-human",
            help="Include human translations as systems (--tasks: as in that year).",
        ),
    ] = None,
    outliers: Annotated[
        bool, option("--outliers", help="Include the outlier systems that WMT excludes.")
    ] = False,
    domain: Annotated[
        list[str] | None, several("--domain", help="Restrict to these domains.")
    ] = None,
    sample: Annotated[
        int,
        option("--sample", low=0, help="Number of judged documents to sample; 0 = all."),
    ] = 0,
    system: options.Systems = None,
    test_set: Annotated[
        str,
        option(
            "--test-set", help="WMT test set whose conventions apply, if the folder was renamed."
        ),
    ] = "",
    all_segments: Annotated[
        bool,
        option("--all-segments", help="Score all segments, not only those with human scores."),
    ] = False,
    allow_missing: Annotated[
        bool,
        option("--allow-missing", help="Exclude what is missing from score files, with a warning."),
    ] = False,
    interval: Annotated[
        Literal["documents", "systems", "both"] | None,
        option("--interval", help="Add 95 % bootstrap confidence intervals over these units."),
    ] = None,
    between: Annotated[
        bool,
        option("--between", help="Also report correlations between metrics, and between golds."),
    ] = False,
    paired_t: Annotated[
        bool, option("--paired-t", help="Also t-tests between metrics, paired over the tasks.")
    ] = False,
    williams: Annotated[
        bool,
        option("--williams", help="Also Williams' test between the correlations of metrics."),
    ] = False,
    draws: options.TestDraws = 1000,
    block: Annotated[
        int,
        option("--block", low=0, help="Early-stopping interval, in draws; 0 = never stop early."),
    ] = 0,
    micro: Annotated[
        bool,
        option("--micro", help="Weight rows (items, systems) by their number of scores."),
    ] = False,
    nan: Annotated[
        Literal["skip", "zero"],
        option("--nan", help="Undefined correlations: skip them, or count them as 0."),
    ] = "skip",
    weigh_by: Annotated[
        str,
        option(
            "--weigh-by",
            help="Distribute the weights evenly over langs, level, statistic, in this order.",
        ),
    ] = "",
    seed: options.Seed = 12345,
    alpha: options.Alpha = 0.05,
    out: Annotated[
        Path | None,
        option("-o", "--out", help="Folder for meta.json and the computed scores."),
    ] = None,
    format: options.Format = "table",
    execution: options.Execution = options.Execution(),
    quiet: options.Quiet = False,
) -> None:
    """Evaluate metrics against human judgments: agreement, significance clusters, chance levels, pair counts."""
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

    selection = Selection(
        golds=tuple(gold or ()),
        refs=tuple(ref) if ref else None,
        close_refs=tuple(close_ref or ()),
        human=human,
        outliers=outliers,
        domains=tuple(domain or ()),
        systems=tuple(system or ()),
        all_segments=all_segments,
        test_set=test_set,
        sample=sample,
        seed=seed,
    )
    tests = MetricTests(draws, seed, alpha, block, interval)
    even_by = tuple(filter(None, weigh_by.split(",")))
    requested = MetaTasks(
        tuple(level or ()),
        tuple(task or ()),
        tasks,
        micro,
        nan == "zero",
        even_by,
        between,
        paired_t,
        williams,
    )
    selected = MetricSelection(
        tuple(metric or ()),
        stored,
        tuple(ensemble or ()),
        tuple(scores or ()),
        primary,
        "drop" if allow_missing else "error",
    )
    lengths = read_lengths(k) if k else ()
    grid = GridAxes(
        read_sizes(context, 0, "--context"),
        tuple(hyp or ("ref",)),
        tuple(source or ("same",)),
        read_sizes(window, 1, "--window"),
        tuple(step or ()),
        tuple(partial or ("drop",)),
    )
    with progress_bar(quiet) as progress:
        results = meta_evaluate(
            evalset,
            langs or (),
            selected,
            requested,
            selection=selection,
            tests=tests,
            lengths=lengths,
            raters=raters,
            joiner=joiner,
            grid=grid if context or window else None,
            options=execution.options(progress=progress),
            out=out,
        )
    render(results, format)
    studies.finish(out, "meta.json", format)


def paragraphs(
    evalset: Annotated[Path, Parameter(help="EvalSet folder with ratings of individual raters.")],
    /,
    *,
    langs: Annotated[str | None, option("-l", "--langs", help="Language pair, e.g. zh-en.")] = None,
    k: options.Lengths = "1..10",
    gold: options.Golds = None,
    mqm_tsv: Annotated[
        Path | None,
        option("--mqm-tsv", help="Read the ratings from this TSV of MQM annotations."),
    ] = None,
    mqm_weights: Annotated[
        str,
        option(
            "--mqm-weights",
            help="Error weights for --mqm-tsv: standard, wmt22, or major=5,minor=1 …",
        ),
    ] = "standard",
    raters: Annotated[
        Literal["each", "first", "mean"],
        option("--raters", help="How to combine several raters of a segment."),
    ] = "each",
    joiner: options.Joiner = "auto",
    agreement: Annotated[
        Literal["nominal", "ordinal", "interval", "ratio"] | None,
        option(
            "--agreement",
            help="Print how well raters agree: Krippendorff's alpha on this scale; each pair.",
        ),
    ] = None,
    tokens: Annotated[
        str | None,
        option(
            "--tokens",
            help="Print lengths in tokens of this SentencePiece file, tokenizer.json or model.",
        ),
    ] = None,
    limit: Annotated[
        int,
        option("--limit", low=1, help="Tokens of output and reference beyond which text is cut."),
    ] = 1024,
    out: Annotated[
        Path | None,
        option("-o", "--out", help="Output folder; one EvalSet per length."),
    ] = None,
) -> None:
    """Split rated documents into paragraphs of k segments scored by one rater, and write them with their scores."""
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
            mqm_tsv=mqm_tsv,
            mqm_weights=mqm_weights,
            raters=raters,
            joiner=joiner,
            out=folder,
        )
        ratings = sets.source.ratings
        warn([sets.source.note] if sets.source.note else [])
        last = f"{len(sets.rated[-1]):,} of {count(lengths[-1], 'segment')}"
        print(
            f"{count(len(ratings.raters), 'rater')} of {count(len(ratings.systems), 'system')}: "
            f"{len(sets.rated[0]):,} paragraphs of {count(lengths[0], 'segment')}"
            f"{f', {last}' if len(lengths) > 1 else ''}.\n"
            f"{len(ratings):,} {sets.gold} ratings of {sets.source.path}"
        )
        if agreement:
            _print_agreement(ratings, agreement)
        print("k\tparagraphs\titems\titems of one system only")
        for length, rated, chosen in zip(lengths, sets.rated, sets.sets):
            print(f"{length}\t{len(rated)}\t{len(chosen.items)}\t{chosen.alone}")
        if tokens:
            _print_lengths(evalset, langs, sets, tokens, limit, joiner)


def _print_lengths(
    evalset: Path, langs: str | None, sets: ParagraphSets, tokens: str, limit: int, joiner: Joiner
) -> None:
    from wholetext.io.formats.evalset import EvalSet
    from wholetext.meta.token_lengths import token_lengths
    from wholetext.models.token_counter import token_counter

    loaded, counter = EvalSet.open(evalset, langs).load(), token_counter(tokens)
    print(f"tokens of {tokens}\nk\t25th\t50th\t75th\tover {limit}\tshare")
    for rated in filter(None, sets.rated):
        lengths = token_lengths(loaded, rated, counter, joiner)
        quartiles, over = [f"{value:g}" for value in lengths.quartiles()], lengths.over(limit)
        share = f"{100 * over / len(rated):.1f} %"
        print(terminal.tsv_row([rated[0].k, *quartiles, over, share]))


def _print_agreement(ratings: Ratings, scale: Measurement) -> None:
    from wholetext.meta.raters import rater_pairs, reliability

    print(f"Krippendorff's alpha ({scale}): {reliability(ratings, scale):.4f}")
    print("rater 1\trater 2\titems\tPearson\tkappa\tpairs of outputs\tordered alike")
    for pair in rater_pairs(ratings):
        values = [f"{value:.4f}" for value in (pair.pearson, pair.kappa, pair.pair_agreement)]
        cells = [pair.first, pair.second, pair.items, *values[:2], pair.pairs, values[2]]
        print(terminal.tsv_row(cells))


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
    raters: Annotated[
        bool, option("--raters", help="Compare the raters of GOLD with each other.")
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
    """Evaluate error spans and error-free segments of metrics against human annotations, with tests by document."""
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
    if raters:
        render_raters(*rater_spans(people, how), format)
        return
    predictions = [
        annotations
        for argument in options.named(predicted)
        for annotations in read_spans(*_file_and_name(argument), metric or ())
    ]
    if not predictions:
        raise InputError(
            "there are no metrics to evaluate",
            where=gold,
            next="give their spans after GOLD, or --raters to compare its raters with each other",
        )
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
        several("--scores", help="Precomputed scores, NAME=FILE."),
    ] = None,
    minimize: Annotated[
        bool, option("--minimize", help="Lower is better in --scores files.")
    ] = False,
    documents: Annotated[
        Path | None,
        option("--documents", help="Line-aligned documents with the context (folder or TSV)."),
    ] = None,
    context: Annotated[
        int,
        option("--context", low=0, help="Number of context sentences to take from --documents."),
    ] = 3,
    langs: options.Langs = None,
    split: Annotated[
        Literal["distance", "flag"],
        option("--split", help="Define intra-sentential by distance 0 or by the item's flag."),
    ] = "distance",
    format: options.TableOrJson = "table",
    out: Annotated[
        Path | None, option("-o", "--out", help="Write contrast.json into this folder.")
    ] = None,
    execution: options.Execution = options.Execution(),
) -> None:
    """Evaluate metrics on a contrastive set: accuracy by group, confidence intervals, McNemar's test."""
    from wholetext.io.assembly import pair
    from wholetext.meta import contrast as run, read_contrast_set

    if not metric and not scores:
        raise InputError(
            "nothing to judge", where=set, next="name a metric (-m) or a file of scores (--scores)"
        )
    items = read_contrast_set(set, pair(langs) if langs else None, documents, context)
    warn(items.warnings)
    results = run(
        items,
        metric or (),
        options.named(scores),
        higher_is_better=not minimize,
        split=split,
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

    console, rows = terminal.console(80), []
    totals = [overall(decisions) for decisions in results.decisions]
    for decisions, total in zip(results.decisions, totals):
        missed = [f"{total.ties:,}", f"{total.undefined:,}"]
        interval = f"[{100 * total.low:.1f}, {100 * total.high:.1f}]"
        rows.append([decisions.metric, f"{100 * total.accuracy:.1f}", interval, *missed])
    order = sorted(range(len(rows)), key=lambda at: -totals[at].accuracy)
    terminal.print_finding(_contrast_finding(results, totals, order), console)
    terminal.print_blocks(
        ["metric", "right, in %", "95 %", "ties", "undefined"],
        [rows[at] for at in order],
        1,
        console,
    )
    kinds = [kind for kind, parts in groups(results.decisions[0], results.split).items() if parts]
    terminal.print_footer(
        f"{count(totals[0].total, 'item')}; random scores without ties reach "
        f"{100 * totals[0].chance:.1f} %. Ties and undefined scores are errors; intervals are "
        f"Wilson's. -f json and the report have it by {terminal.listed(kinds, 9)}.",
        console,
    )


def _contrast_finding(
    results: ContrastResults, totals: list[ContrastAccuracy], order: list[int]
) -> str:
    """Which metric is right most often, whether by chance, and which ones it beats."""
    best, names = order[0], [decisions.metric for decisions in results.decisions]
    total = totals[best]
    share = f"{100 * total.accuracy:.1f} % of {count(total.total, 'item')}"
    side = "above" if total.low > total.chance else "no better than"
    side = "below" if total.high < total.chance else side
    chance = f"{side} chance ({100 * total.chance:.1f} %)"
    if len(names) == 1:
        return f"{names[0]} is right in {share}, {chance}."
    p = {frozenset((test.first, test.second)): test.p for test in results.tests}
    others = [names[at] for at in order[1:]]
    clear = [name for name in others if p.get(frozenset((names[best], name)), 1.0) <= _ALPHA]
    beaten = f"significantly more often than {terminal.listed(clear)}" if clear else ""
    open_ = [name for name in others if name not in clear]
    than = "but not than" if clear else "but not significantly more often than"
    tied = f"{than} {terminal.listed(open_)}" if open_ else ""
    tests = ", ".join(filter(None, (beaten, tied)))
    return f"{names[best]} is right most often, in {share}, {chance}; {tests} (McNemar's test)."


def features(
    files: options.Files = options.Files(),
    *,
    metric: Annotated[
        list[str] | None,
        options.metrics_option("Discourse feature of one text: freq, conn, rc, lc"),
    ] = None,
    foci: Annotated[
        bool, option("--foci", help="Count sentences, foci and repeated foci instead.")
    ] = False,
    pairs: Annotated[
        bool, option("--pairs", help="Print both values of every pair instead, as TSV.")
    ] = False,
    chosen: options.Chosen = options.Chosen(),
    format: options.TableOrJson = "table",
) -> None:
    """Compare discourse features of outputs and references for each document."""
    from rich.text import Text

    from wholetext.meta.features import (
        FEATURES,
        discriminativeness,
        feature_pairs,
        focus_statistics,
    )
    from wholetext.scoring.comparison import plain

    loaded = options.load(files, chosen)
    warn(loaded.warnings)
    if foci:
        statistics = asdict(focus_statistics(loaded.corpus, loaded.outputs))
        if format == "json":
            terminal.print_json(statistics)
        for name, value in statistics.items() if format == "table" else ():
            print(f"{name.replace('_', ' '):14} {value:.4g}")
        return
    if pairs:
        print(terminal.tsv_row(("feature", "system", "document", "reference", "hyp", "ref")))
        for points in feature_pairs(loaded.corpus, loaded.outputs, metric or FEATURES):
            for place, hyp, ref in zip(points.places, points.hyp.tolist(), points.ref.tolist()):
                print(terminal.tsv_row((points.feature, *place, hyp, ref)))
        return
    comparisons = discriminativeness(loaded.corpus, loaded.outputs, metric or FEATURES)
    if format == "json":  # undefined is null
        terminal.print_json(plain([asdict(comparison) for comparison in comparisons]))
        return
    columns = ("output", "reference", "ref lower", "equal", "ref higher", "pairs", "identical")
    console, cells = terminal.console(80), []
    for comparison in comparisons:
        shares = (
            f"{100 * share:.1f} %"
            for share in (comparison.below, comparison.equal, comparison.above)
        )
        cells.append(
            [
                comparison.feature,
                comparison.system,
                f"{comparison.hyp:.4f}",
                f"{comparison.ref:.4f}",
                *shares,
                str(comparison.pairs),
                str(comparison.identical),
            ]
        )
    terminal.print_blocks(["feature", "system", *columns], cells, 2, console)
    console.print(
        Text(
            "\nShares of (document, reference) pairs; pairs of equal texts are left out.",
            style="dim",
        )
    )

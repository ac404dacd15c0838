"""`wholetext paragraphs EVALSET`: paragraph data from sentence ratings, as EvalSet folders or JSONL."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

if TYPE_CHECKING:
    from wholetext.io import Loaded
    from wholetext.meta.judgments.sources import Source


def paragraphs(
    evalset: Annotated[Path, typer.Argument(help="EvalSet folder with ratings of individual raters.")],
    langs: Annotated[str | None, typer.Option("-l", "--langs", help="Language pair, e.g. zh-en.")] = None,
    k: Annotated[str, typer.Option("--k", help="Paragraph lengths in segments, e.g. 1..10 or 1,5,10.")] = "1..10",
    gold: Annotated[
        str | None, typer.Option("--gold", help="Human scores to use, by name (default: MQM if available).")
    ] = None,
    mqm_tsv: Annotated[
        Path | None, typer.Option("--mqm-tsv", help="Read the ratings from this TSV of MQM annotations.")
    ] = None,
    mqm_weights: Annotated[
        str, typer.Option("--mqm-weights", help="Error weights for --mqm-tsv: standard, wmt22, or major=5,minor=1 …")
    ] = "standard",
    raters: Annotated[
        Literal["each", "first", "mean"], typer.Option("--raters", help="How to combine several raters of a segment.")
    ] = "each",
    agreement: Annotated[
        Literal["nominal", "ordinal", "interval", "ratio"] | None,
        typer.Option("--agreement", help="Print how well raters agree: Krippendorff's alpha on this scale; each pair."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", help="Output folder; one EvalSet or JSONL file per length.")
    ] = None,
    format: Annotated[Literal["evalset", "jsonl"], typer.Option("-f", "--format", help="Output format.")] = "evalset",
) -> None:
    """Split rated documents into paragraphs of k segments scored by one rater, and write them with their scores."""
    from wholetext.cli.judging.meta import read_lengths
    from wholetext.cli.options import warn
    from wholetext.io.formats.evalset import language_pair, read
    from wholetext.io.formats.scores import human_names
    from wholetext.meta.conventions import standard_gold
    from wholetext.meta.judgments.mqm import read_weights
    from wholetext.meta.judgments.raters import rater_pairs, reliability
    from wholetext.meta.judgments.sources import find_ratings, raw_mqm
    from wholetext.meta.paragraphs import Windows
    from wholetext.meta.paragraphs import paragraphs as cut

    lengths = read_lengths(k)
    pair = language_pair(evalset, langs)
    name = gold or standard_gold(list(dict.fromkeys(name for name, _ in human_names(evalset, pair)))) or "mqm"
    source = raw_mqm(mqm_tsv, read_weights(mqm_weights)) if mqm_tsv else find_ratings(evalset, pair, name)
    warn([source.note] if source.note else [])
    loaded = read(evalset, pair) if out is not None else None
    print(f"{name} ratings of {source.path}: {len(source.ratings)} by {len(source.ratings.raters)} raters, "
          f"{len(source.ratings.systems)} systems")
    if agreement:
        print(f"Krippendorff's alpha ({agreement}): {reliability(source.ratings, agreement):.4f}")
        print("rater 1\trater 2\titems\tPearson\tkappa\tpairs of outputs\tordered alike")
        for one in rater_pairs(source.ratings):
            print(f"{one.one}\t{one.two}\t{one.items}\t{one.pearson:.4f}\t{one.kappa:.4f}\t{one.pairs}\t"
                  f"{one.pair_agreement:.4f}")
    print("k\tparagraphs\titems\titems of one system only")
    for length in lengths:
        found = cut(source.ratings, Windows(length, raters, source.total))
        shape = _write(out, loaded, (source, name, pair), found, format)
        print(f"{length}\t{len(found)}\t{shape}")


def _write(
    out: Path | None, loaded: Loaded | None, about: tuple[Source, str, str], found: list, format: str  # type: ignore[type-arg]
) -> str:
    """Write one length; how many items it has, and how many were left out of the EvalSet."""
    from wholetext.errors import WriteError
    from wholetext.files.output_folder import changing, shared_kind
    from wholetext.io.formats import evalset
    from wholetext.io.formats.scores import write_table
    from wholetext.meta.agreement.measures import system_means
    from wholetext.meta.paragraphs import lined_up, texts, write_jsonl

    source, name, pair = about
    order = [doc.id for doc in loaded.corpus.docs] if loaded else []
    chosen = lined_up(found, source.ratings.systems, order)
    if out is not None and loaded is not None and found:
        folder = f"{loaded.corpus.id}.k{found[0].k}"
        with changing(out, shared_kind("folder of paragraphs", WriteError)) as staged:
            if format == "jsonl":
                write_jsonl(staged / f"{folder}.{pair}.jsonl", found, loaded)
            else:
                evalset.write(staged / folder, texts(loaded, chosen))
                scores = staged / folder / "human-scores"
                values, systems = chosen.gold.values, chosen.gold.systems
                write_table(scores / f"{pair}.{name}.seg.score", systems, values, gaps=True)
                write_table(scores / f"{pair}.{name}.sys.score", systems, system_means(values)[:, None], gaps=True)
                write_jsonl(scores / f"{pair}.{name}.paragraphs.jsonl", found)
    return f"{len(chosen.items)}\t{chosen.alone}"

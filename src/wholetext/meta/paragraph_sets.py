"""Paragraph data from sentence ratings, as EvalSet folders or JSONL; `wholetext paragraphs` is this."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from wholetext.errors import WriteError
from wholetext.files.output_folder import changing, shared_kind
from wholetext.io.assembly import Loaded
from wholetext.io.formats import evalset as folders
from wholetext.io.formats.scores import human_names, write_table
from wholetext.meta.agreement.measures import system_means
from wholetext.meta.conventions import standard_gold
from wholetext.meta.judgments.mqm import read_weights
from wholetext.meta.judgments.sources import Source, find_ratings, raw_mqm
from wholetext.meta.paragraphs import (
    ParagraphSet,
    RatedParagraph,
    Raters,
    Windows,
    lined_up,
    paragraphs,
    texts,
    write_jsonl,
)


@dataclass(frozen=True, eq=False)
class ParagraphSets:
    """Paragraphs of each length, from the ratings of one kind of human scores."""

    gold: str
    source: Source
    rated: tuple[Sequence[RatedParagraph], ...]  # per length
    sets: tuple[ParagraphSet, ...]


def paragraph_sets(
    evalset: Path | str, langs: str | None = None, lengths: Sequence[int] = range(1, 11), *, gold: str | None = None,
    mqm_tsv: Path | str | None = None, mqm_weights: str = "standard", raters: Raters = "each",
    out: Path | str | None = None, format: Literal["evalset", "jsonl"] = "evalset",
) -> ParagraphSets:
    """Split rated documents into paragraphs of so many segments scored by one rater (Deutsch et al. 2023).

    With ``out`` one EvalSet folder or JSONL file per length is written there.
    """
    pair = folders.language_pair(evalset, langs)
    name = gold or standard_gold(list(dict.fromkeys(name for name, _ in human_names(evalset, pair)))) or "mqm"
    source = raw_mqm(mqm_tsv, read_weights(mqm_weights)) if mqm_tsv else find_ratings(evalset, pair, name)
    loaded = None if out is None else folders.read(evalset, pair)
    order = [doc.id for doc in loaded.corpus.docs] if loaded else []
    rated = tuple(paragraphs(source.ratings, Windows(length, raters, source.total)) for length in lengths)
    found = ParagraphSets(name, source, rated, tuple(lined_up(one, source.ratings.systems, order) for one in rated))
    if out is not None and loaded is not None:
        _write(found, loaded, Path(out), pair, format)
    return found


def _write(found: ParagraphSets, loaded: Loaded, out: Path, pair: str, format: str) -> None:
    for rated, chosen in zip(found.rated, found.sets):
        if not rated:
            continue
        folder = f"{loaded.corpus.id}.k{chosen.k}"
        with changing(out, shared_kind("folder of paragraphs", WriteError)) as staged:
            if format == "jsonl":
                write_jsonl(staged / f"{folder}.{pair}.jsonl", rated, loaded)
                continue
            folders.write(staged / folder, texts(loaded, chosen))
            scores, values, systems = staged / folder / "human-scores", chosen.gold.values, chosen.gold.systems
            write_table(scores / f"{pair}.{found.gold}.seg.score", systems, values, gaps=True)
            write_table(scores / f"{pair}.{found.gold}.sys.score", systems, system_means(values)[:, None], gaps=True)
            write_jsonl(scores / f"{pair}.{found.gold}.paragraphs.jsonl", rated)
